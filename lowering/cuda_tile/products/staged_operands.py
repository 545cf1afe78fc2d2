"""An operand of MMAs in shared memory: its order there, and the words that fragments are made of.

Where 16 bytes of it are neighbours along K, or 16-bit elements neighbours along M or N,
matrices come by ldmatrix, from lines that a swizzle keeps apart; otherwise word by word, or by
elements where these are no narrower.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute_nvgpu.ops import address, fragment
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.frozen import frozen
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.shared_tiles import Registers
from tilewright.lowering.emit.emitter import Emitter
from tilewright.lowering.emit.registers import from_elements, sliced
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, TileLayout, log2, spread
from tilewright.passes.cuda_tile.layouts.mma_layouts import MmaLayouts
from tilewright.passes.cuda_tile.layouts.shared_order import CHUNK, SharedOrder, rows_of_chunks

_WORD, _HALF = 4, 2
_MATRIX_BITS = 2
"""The matrices of one ldmatrix, as bits of their number."""

Words = Callable[[int, int], SSAValue]
"""Some words, from one on, as a fragment."""


@frozen
class StagedOperand:
    """An operand of MMAs; `by_matrices` if ldmatrix loads it, transposed if `trans`."""

    layouts: MmaLayouts
    operand: str
    element: Attribute
    order: SharedOrder
    by_matrices: bool
    trans: bool

    @classmethod
    def of(
        cls, layouts: MmaLayouts, operand: str, source: TileLayout, element: Attribute
    ) -> StagedOperand:
        """The best order for an operand that threads write in a layout."""
        size = address.bytes_of(element)
        depth, rows, batch = layouts.bits(operand)
        first = source.registers[0] if source.registers else -1
        chunk = log2(max(CHUNK // size, 1))
        trans = size == 2 and first in rows and len(rows) >= chunk
        if size <= _WORD and (trans or len(depth) >= chunk):
            run, above = (rows, depth) if trans else (depth, rows)
            order = rows_of_chunks(run, [*above, *batch], size)
            return cls(layouts, operand, element, order, True, trans)
        low = depth[: log2(max(_WORD // size, 1))]
        count = len(depth) + len(rows) + len(batch)
        rest = [bit for bit in range(count) if bit not in low]
        order = SharedOrder({bit: i for i, bit in enumerate([*low, *rest])}, size)
        return cls(layouts, operand, element, order, False, False)

    @classmethod
    def lying(
        cls, layouts: MmaLayouts, operand: str, order: SharedOrder, element: Attribute
    ) -> StagedOperand | None:
        """An operand that lies in shared memory in an order; None where it is to be laid down
        anew."""
        size, (depth, rows, _) = order.size, layouts.bits(operand)

        def is_lowest(run: Sequence[int], bits: int) -> bool:
            return [order.position[bit] for bit in run[:bits]] == list(range(bits))

        chunk, word = log2(max(CHUNK // size, 1)), log2(max(_WORD // size, 1))
        trans = size == _HALF and is_lowest(rows, chunk)
        by_matrices = size <= _WORD and (trans or is_lowest(depth, chunk))
        if not by_matrices and not is_lowest(depth, word):
            return None
        return cls(layouts, operand, element, order, by_matrices, trans)

    @property
    def low(self) -> int:
        """The bits that number the elements of a word."""
        return log2(max(_WORD // self.order.size, 1))

    def fragments(self, base: SSAValue, kernel: EntryLowering) -> OperandFragments:
        """The fragments, loaded from an address on."""
        words = self._matrices(base, kernel) if self.by_matrices else self._words(base, kernel)
        count = self.layouts.values(self.operand) >> self.low

        def own(number: int) -> SSAValue:
            return words(number * count, count)

        return OperandFragments(self.layouts, self.operand, own, kernel.emitter)

    def _words(self, base: SSAValue, kernel: EntryLowering) -> Words:
        emitter, layout, low = kernel.emitter, self.layouts.layout(self.operand), self.low
        element, order = self.element, self.order
        if low:
            layout = TileLayout(layout.threads, layout.registers[low:])
            element = i32
            above = {bit: at - low for bit, at in order.position.items() if at >= low}
            order = SharedOrder(above, _WORD)
        word = kernel.scratch.lazily(base, layout, element, order)

        def run(first: int, count: int) -> SSAValue:
            type_ = FragmentType.get(count, element)
            return from_elements([word(first + i) for i in range(count)], type_, emitter)

        return run

    def _matrices(self, base: SSAValue, kernel: EntryLowering) -> Words:
        emitter, layout, low = kernel.emitter, self.layouts.layout(self.operand), self.low
        depth, *_ = self.layouts.bits(self.operand)
        registers = layout.registers[low:]
        rows: Sequence[int | None] = layout.threads[2:WARP_BITS]
        if self.trans:
            rows = (layout.registers[0], *layout.threads[:2])
        # What one MMA multiplies, then what the next one does.
        own = log2(self.layouts.values(self.operand) >> low)
        above = sorted(registers[own:], key=lambda bit: bit in depth)
        matrices = (*registers[:own], *above)[:_MATRIX_BITS]
        idle = (None,) * (_MATRIX_BITS - len(matrices))
        threads = (*rows, *matrices, *idle, *layout.threads[WARP_BITS:])
        place = kernel.scratch.places(base, threads, self.order)
        type_ = FragmentType.get(1 << len(matrices), i32)
        loads: dict[int, SSAValue] = {}

        def run(first: int, width: int) -> SSAValue:
            number = spread(first, registers)
            inside = sum((number >> bit & 1) << i for i, bit in enumerate(matrices))
            number -= spread(inside, matrices)
            if number not in loads:
                at, offset = place(number)
                load = address.LdmatrixOp(at, type_, offset, trans=self.trans or None)
                loads[number] = emitter.emit(load)
            return sliced(loads[number], inside, width, FragmentType.get(width, i32), emitter)

        return run


class OperandFragments:
    """The fragments of an operand by what is known of their coordinates, made where they are first
    needed: registers are not for all of K."""

    def __init__(
        self,
        layouts: MmaLayouts,
        operand: str,
        words: Callable[[int], SSAValue],
        emitter: Emitter,
    ):
        element: Any = layouts.atom.element(operand)  # type: ignore[arg-type]
        self._type = FragmentType.of(element, layouts.values(operand))
        self._emitter, self._words = emitter, words
        self._numbers = {place: number for number, place in enumerate(layouts.fragments(operand))}
        self._made: dict[tuple[int, ...], SSAValue] = {}
        self.registers = len(self._numbers) * layouts.values(operand) * element.bits // 32
        """Those of all of them."""

    @property
    def steps(self) -> list[int]:
        """The coordinates along K."""
        return sorted({k for *_, k in self._numbers})

    @property
    def all(self) -> Registers:
        """All of them, made now."""
        return {place: self[place] for place in self._numbers}

    def __getitem__(self, place: tuple[int, int, int, int]) -> SSAValue:
        if place not in self._made:
            value = self._words(self._numbers[place])
            if value.type != self._type:
                value = self._emitter.emit(fragment.CastOp(value, self._type))
            self._made[place] = value
        return self._made[place]
