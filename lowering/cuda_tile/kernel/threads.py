"""The number of the thread in its CTA, and what follows from its bits."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import gpu
from xdsl.ir import SSAValue

from tilewright.dialects.frozen import entity
from tilewright.lowering.emit.emitter import Emitter
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, log2


@entity
class ThreadNumber:
    """Arithmetic on the thread's number, as i32."""

    _emitter: Emitter
    among: int | None = None
    """Of how many threads, a power of two, it is the number, where they are not all."""

    @property
    def number(self) -> SSAValue:
        """The number of the thread."""
        number = self._emitter.resized(self._emitter.of_launch(gpu.ThreadIdOp), None, 32)
        return number if self.among is None else self._emitter.binary("and", number, self.among - 1)

    @property
    def is_first(self) -> SSAValue:
        """True in the first thread."""
        return self._emitter.compare("eq", self.number, 0)

    def total(self, weights: Sequence[int]) -> SSAValue | None:
        """The sum of the weights of the bits of the number that are set; None for zero. Bits in a
        row whose weights double are moved together."""
        emitter, total = self._emitter, None
        i = 0
        while i < len(weights):
            end = i + 1
            while end < len(weights) and weights[end] == 2 * weights[end - 1]:
                end += 1
            if weights[i]:
                part = self.bits(i, None if end == len(weights) else end)
                part = scaled(emitter, part, weights[i])
                total = part if total is None else emitter.binary("add", total, part)
            i = end
        return total

    def turned(self, weights: Sequence[int]) -> SSAValue | None:
        """The exclusive or of the weights of the bits of the number that are set, each a power of
        two; None for zero."""
        once = [0 if weight in weights[:i] else weight for i, weight in enumerate(weights)]
        left = [weight - own for weight, own in zip(weights, once, strict=True)]
        total = self.total(once)
        if total is not None and (again := self.turned(left)) is not None:
            return self._emitter.binary("xor", total, again)
        return total

    def bits(self, first: int, end: int | None) -> SSAValue:
        """Some bits of the number, as a number."""
        emitter, part = self._emitter, self.number
        if first:
            part = emitter.binary("shr", part, first)
        if end is not None:
            part = emitter.binary("and", part, (1 << (end - first)) - 1)
        return part

    def is_set(self, bit: int) -> SSAValue:
        """True where a bit of the number is set."""
        return self._emitter.compare("ne", self._masked(1 << bit), 0)

    def first_of(self, layout: TileLayout) -> SSAValue | None:
        """True where the thread is the first of those that hold the same; None where none do."""
        return self.matches(layout.idle, 0)

    def matches(self, mask: int, bits: int) -> SSAValue | None:
        """True where the bits of a mask are those; None where there are none."""
        if not mask:
            return None
        return self._emitter.compare("eq", self._masked(mask), bits)

    def _masked(self, mask: int) -> SSAValue:
        return self._emitter.binary("and", self.number, mask)


def scaled(emitter: Emitter, value: SSAValue, factor: int) -> SSAValue:
    """A number times a constant."""
    if factor == 1:
        return value
    if factor > 0 and factor & (factor - 1) == 0:
        return emitter.binary("shl", value, log2(factor))
    return emitter.binary("mul", value, factor)
