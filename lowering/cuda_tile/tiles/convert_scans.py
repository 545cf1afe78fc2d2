"""`scan`: within a thread, then between the lanes of a warp by shuffles, then between warps through
shared memory.

It goes from the lowest bit of the dimension's coordinate up: what the halves of every group of
elements have in front of them is known, and their totals; the total of the first half comes in
front of the second. What a thread's elements have in front of them is combined with each of them at
last.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops.aggregate import ScanOp
from tilewright.dialects.integers import integer_of
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.lowering.cuda_tile.tiles.convert_folds import (
    Columns,
    Fold,
    find_body,
    folded_layout,
)
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable, finds
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, TileLayout


@finds
def _scanned(op: ScanOp, table: LayoutTable) -> TileLayout:
    find_body(op, table)
    return folded_layout(op, table)


@lowers
def _scan(op: ScanOp, kernel: EntryLowering) -> None:
    layout = folded_layout(op, kernel.table)
    for result, column in zip(op.results, _Scan(op, kernel, layout).scanned(), strict=True):
        kernel.place(result, layout, column)


class _Scan(Fold):
    def __init__(self, op: ScanOp, kernel: EntryLowering, layout: TileLayout):
        super().__init__(op, kernel, layout)
        self.backwards = bool(integer_of(op.reverse))
        numbers: Any = op.identities
        self.identities: list[Any] = [number.value.data for number in numbers.data]

    def scanned(self) -> Columns:
        """Every element folded with those in front of it."""
        layout, kernel = self.layout, self.kernel
        operands = [kernel.elements(operand, layout) for operand in self.op.operands]
        rows = [list(row) for row in zip(*operands, strict=True)]
        first = [
            kernel.constant(number, row.type)
            for number, row in zip(self.identities, rows[0], strict=True)
        ]
        folded = [self.combined(row, first) for row in rows]
        totals, self._before = list(folded), [first] * len(rows)
        for bit in self.dimension:
            if bit not in layout.registers:
                self._between_threads(totals, layout.threads.index(bit))
            elif self._before[-1] is first:
                self._in_registers(folded, totals, bit)
            else:
                self._in_registers(self._before, totals, bit)
        if self._before[-1] is not first:
            folded = list(map(self.combined, folded, self._before))
        return [list(column) for column in zip(*folded, strict=True)]

    def _in_registers(
        self, folded: list[list[SSAValue]], totals: list[list[SSAValue]], bit: int
    ) -> None:
        at = self.layout.register_at
        for place in self.layout.places:
            if place >> bit & 1:
                continue
            low, high = at[place], at[place | 1 << bit]
            first, second = (high, low) if self.backwards else (low, high)
            total = self.combined(totals[second], totals[first])
            folded[second] = self.combined(folded[second], totals[first])
            totals[first] = totals[second] = total

    def _between_threads(self, totals: list[list[SSAValue]], thread_bit: int) -> None:
        """Of registers that have the same in front of them, and the same total, once."""
        emitter, is_set = self.kernel.emitter, self.kernel.threads.is_set(thread_bit)
        others = self._others(totals, thread_bit)
        moved = dict[tuple[SSAValue, ...], tuple[list[SSAValue], list[SSAValue]]]()
        for i, (own, other) in enumerate(zip(list(totals), others, strict=True)):
            key = (*self._before[i], *own)
            if key not in moved:
                behind = zip(self._before[i], self.combined(self._before[i], other), strict=True)
                before = [
                    emitter.select(is_set, x, y) if self.backwards else emitter.select(is_set, y, x)
                    for x, y in behind
                ]
                upper, lower = (
                    (own, other) if self.commutes else self.ordered(own, other, thread_bit)
                )
                first, second = (upper, lower) if self.backwards else (lower, upper)
                moved[key] = before, self.combined(second, first)
            self._before[i], totals[i] = moved[key]

    def _others(self, totals: list[list[SSAValue]], thread_bit: int) -> list[list[SSAValue]]:
        """The totals of the thread whose number differs in a bit."""
        if thread_bit < WARP_BITS:
            once = dict.fromkeys(map(tuple, totals))
            sent = {row: self.across_lanes(row, thread_bit) for row in once}
            return [sent[tuple(row)] for row in totals]
        layout, emitter = self.layout, self.kernel.emitter
        bit = layout.threads[thread_bit]
        assert bit is not None
        # Registers that differ in a lower bit have one total by now.
        lower = [own for own in layout.registers if own in self.dimension and own < bit]
        mask, own = sum(1 << one for one in lower), layout.without(lower)
        both = TileLayout(
            tuple(None if i == thread_bit else at for i, at in enumerate(own.threads)),
            (*own.registers, bit),
        )
        is_set = self.kernel.threads.is_set(thread_bit)
        columns: Columns = []
        for column in zip(*totals, strict=True):
            sent = [column[layout.register_at[place]] for place in own.places]
            moved = self.kernel.scratch.converted(own, sent, both)
            columns.append(
                [
                    emitter.select(
                        is_set,
                        moved[both.register_at[place & ~mask]],
                        moved[both.register_at[place & ~mask | 1 << bit]],
                    )
                    for place in layout.places
                ]
            )
        return [list(row) for row in zip(*columns, strict=True)]
