"""Atomic operations on elements of 16 bits that no instruction of the target has: by comparing and
swapping, again where another thread came between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.frozen import entity
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import bitcast
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.memory.access import MaskedAccess
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout

_I16 = IntegerType(16)
_FORM = "cas.b16"

Update = Callable[[int, SSAValue], SSAValue]
"""The new element of a register, from the one that memory has."""


def updated(
    semantics: str, accesses: Iterable[MaskedAccess], layout: TileLayout, element: Attribute,
    otherwise: Sequence[SSAValue], kernel: EntryLowering, update: Update,
) -> list[SSAValue]:  # fmt: skip
    """The elements that memory has, which an update replaces; of registers that are not accessed
    others."""
    own, size = kernel.threads.first_of(layout), address.bytes_of(element)
    results: dict[int, SSAValue] = {}
    for access in accesses:
        condition = kernel.both(own, access.condition)
        for i, register in enumerate(access.registers):
            place = _Place(
                access.address, access.offset + i * size, element, condition, semantics, kernel
            )
            word = place.swapped(None, None)
            word = place.loop(word, lambda old, register=register: update(register, old))
            old = bitcast(kernel, word, element)
            if condition is not None:
                old = kernel.emitter.select(condition, old, otherwise[register])
            results[register] = old
    return [results[register] for register in range(layout.count)]


@entity
class _Place:
    """The 16 bits of an element in memory."""

    address: SSAValue
    offset: int
    element: Attribute
    condition: SSAValue | None
    semantics: str
    kernel: EntryLowering

    def swapped(self, old: SSAValue | None, new: SSAValue | None) -> SSAValue:
        """The word that is there, replaced where it is the old one; without one, looked at."""
        zero = self.kernel.constant(0, _I16)
        words = [zero if old is None else old, zero if new is None else new]
        otherwise = None if self.condition is None else words[0]
        atomic = address.AtomicOp(
            self.address, words, _I16, _FORM, self.offset, predicate=self.condition,
            otherwise=otherwise, semantics=self.semantics,
        )  # fmt: skip
        return self.kernel.emitter.emit(atomic)

    def loop(self, word: SSAValue, update: Callable[[SSAValue], SSAValue]) -> SSAValue:
        """Replace the element, until no other thread came between; the word that was there."""
        kernel, emitter = self.kernel, self.kernel.emitter

        def swap(old: SSAValue) -> None:
            new = bitcast(kernel, update(bitcast(kernel, old, self.element)), _I16)
            got = self.swapped(old, new)
            emitter.add(scf.ConditionOp(emitter.compare("ne", got, old), got))

        def again(old: SSAValue) -> None:
            emitter.add(scf.YieldOp(old))

        before, after = (emitter.region(build, _I16) for build in (swap, again))
        return emitter.emit(scf.WhileOp([word], [_I16], before, after))
