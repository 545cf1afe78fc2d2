"""Atomic accesses to elements of 8 and 16 bits: by comparing and swapping the 16 bits that they are
in, again where another thread came between."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerType, i1, i8
from xdsl.ir import Attribute, Block, Region, SSAValue

from tilewright.dialects.cuda_tile.enums import MemoryScope
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel
from tilewright.lowering.cuda_tile.layouts.layouts import TileLayout
from tilewright.lowering.cuda_tile.memory.access import Access

_I16 = IntegerType(16)
_FORM = "cas.b16"

Update = Callable[[int, SSAValue], SSAValue]
"""The new element of a register, from the one that memory has."""


def updated(
    op: MemoryOp, accesses: Sequence[Access], layout: TileLayout, element: Attribute,
    otherwise: Sequence[SSAValue], kernel: Kernel, update: Update | None = None,
) -> list[SSAValue]:  # fmt: skip
    """The elements that memory has, which an update replaces; of registers that are not accessed
    others."""
    own, scope = kernel.threads.first_of(layout), "sys" if op.scope is MemoryScope.SYS else "gpu"
    size = address.bytes_of(element)
    results: dict[int, SSAValue] = {}
    for access in accesses:
        condition = kernel.both(own, access.condition)
        for i, register in enumerate(access.registers):
            place = _Place(access, access.offset + i * size, element, condition, scope, kernel)
            word = place.swapped(None, None)
            if update is not None:
                word = place.loop(word, lambda old, register=register: update(register, old))
            old = place.element_of(word)
            if condition is not None:
                old = kernel.emitter.select(condition, old, otherwise[register])
            results[register] = old
    return [results[register] for register in range(layout.count)]


class _Place:
    """The 16 bits that an element is in, or half of which it is."""

    def __init__(
        self, access: Access, offset: int, element: Attribute, condition: SSAValue | None,
        scope: str, kernel: Kernel,
    ) -> None:  # fmt: skip
        self.element, self.condition, self.scope, self.kernel = element, condition, scope, kernel
        self.address, self.offset = access.address, offset
        self.shift: SSAValue | None = None
        if address.bytes_of(element) == 1:
            emitter, width = kernel.emitter, 64
            at = emitter.binary("add", access.address, emitter.constant(offset, width))
            odd = emitter.binary("and", at, emitter.constant(1, width))
            self.address, self.offset = emitter.binary("xor", at, odd), 0
            bits = emitter.binary("shl", odd, emitter.constant(3, width))
            self.shift = kernel.emit(arith.TruncIOp, [bits], _I16)

    def swapped(self, old: SSAValue | None, new: SSAValue | None) -> SSAValue:
        """The word that is there, replaced where it is the old one; without one, looked at."""
        zero = self.kernel.constant(0, _I16)
        words = [zero if old is None else old, zero if new is None else new]
        otherwise = None if self.condition is None else words[0]
        atomic = address.AtomicOp(
            self.address, words, _I16, _FORM, self.scope, self.offset,
            predicate=self.condition, otherwise=otherwise,
        )  # fmt: skip
        return self.kernel.emitter.emit(atomic)

    def loop(self, word: SSAValue, update: Callable[[SSAValue], SSAValue]) -> SSAValue:
        """Replace the element, until no other thread came between; the word that was there."""
        emitter = self.kernel.emitter
        before, after = Block(arg_types=[_I16]), Block(arg_types=[_I16])
        outer = emitter.enter(before)
        old = before.args[0]
        got = self.swapped(old, self._with(old, update(self.element_of(old))))
        emitter.add(scf.ConditionOp(emitter.compare("ne", got, old), got))
        emitter.leave(outer)
        after.add_op(scf.YieldOp(*after.args))
        return emitter.emit(scf.WhileOp([word], [_I16], Region(before), Region(after)))

    def element_of(self, word: SSAValue) -> SSAValue:
        """The element in a word."""
        kernel = self.kernel
        if self.shift is None:
            return self._as(word, self.element)
        octet = kernel.emit(arith.TruncIOp, [kernel.emitter.binary("shr", word, self.shift)], i8)
        if self.element == i1:
            return kernel.emit(arith.TruncIOp, [octet], i1)
        return self._as(octet, self.element)

    def _with(self, word: SSAValue, element: SSAValue) -> SSAValue:
        """The word, the element in its place."""
        kernel = self.kernel
        if self.shift is None:
            return self._as(element, _I16)
        octet = element
        if element.type != i1:
            octet = self._as(element, i8)
        wide = kernel.emit(arith.ExtUIOp, [octet], _I16)
        mask = kernel.emit(arith.ShLIOp, [kernel.constant(0xFF, _I16), self.shift], _I16)
        rest = kernel.emitter.binary("xor", mask, kernel.constant(-1, _I16))
        moved = kernel.emit(arith.ShLIOp, [wide, self.shift], _I16)
        return kernel.emitter.binary("or", kernel.emitter.binary("and", word, rest), moved)

    def _as(self, value: SSAValue, type_: Attribute) -> SSAValue:
        return value if value.type == type_ else self.kernel.emit(arith.BitcastOp, [value], type_)
