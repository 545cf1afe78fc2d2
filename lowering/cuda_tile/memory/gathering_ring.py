"""Rings whose stages a warpgroup fills: one of its threads by TMA, and all of them by `cp.async`,
with rows that lie wherever numbers say.

    for k:   wait until the stage is empty; copy a part of the rows; thread 0: copy boxes; the rows
             arrive at the stage's mbarrier themselves
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops.core import BroadcastOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cute_nvgpu.ops import address, mbarrier
from tilewright.lowering.cuda_tile.kernel.loop_part import Range
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.lowering.cuda_tile.memory.copied_tile import copy_tile
from tilewright.lowering.cuda_tile.pipelines.ring import Ring, StagePlace, at_iteration
from tilewright.passes.cuda_tile.analysis.computed_again import SCALAR, places_of
from tilewright.passes.cuda_tile.analysis.copied_loads import CopiedLoad
from tilewright.passes.cuda_tile.analysis.cost_model import WARPGROUP
from tilewright.passes.cuda_tile.analysis.load_groups import LoadGroup
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, broadcast_bits


class GatheringRing(Ring):
    """Such a ring."""

    fillers = 1 + WARPGROUP

    @property
    def _gathered(self) -> list[CopiedLoad]:
        """The loads of the loop that threads copy."""
        groups = self.pipeline.groups
        return [x for group in groups for x in group.gathered if isinstance(x, CopiedLoad)]

    def find_places(self, bounds: Range) -> None:
        """In front of the loop, compute what says where tiles lie and is the same in it."""
        loop, kernel = self.pipeline.loop, self.kernel
        assert loop is not None

        def build() -> None:
            for load in self._gathered:
                layout = load.layout(kernel.table.thread_bits)
                for value in places_of(load.op):
                    for rows, own in _found_rows(value, layout):
                        kernel.place(rows, own.dealt, kernel.elements(rows, own.dealt))
                    kernel.elements(value, layout)

        at_iteration(kernel, loop, self.pipeline.slice, bounds.lower, build)

    def _fill(self, group: LoadGroup, place: StagePlace) -> None:
        emitter = self.kernel.emitter
        for load in self._gathered:
            base = emitter.emit(address.AddressOp(self._lines[load]))
            start = scaled(emitter, place.stage, load.order.bytes)
            copy_tile(load, emitter.binary("add", base, start), None, self.kernel)
        emitter.when(self.kernel.threads.is_first, partial(super()._fill, group, place))
        full, _ = self._barriers[group]
        emitter.add(mbarrier.CpAsyncArriveOp(full, [self._index(place.stage)], noinc=True))


def _found_rows(value: SSAValue, layout: TileLayout) -> Iterator[tuple[SSAValue, TileLayout]]:
    """The tiles by whose numbers, which are loaded, all of a tile in a layout lies, and their own
    layouts: each thread computes some, and lanes tell each other."""
    op = value.owner
    if not isinstance(op, SCALAR):
        return
    if isinstance(op, BroadcastOp):
        layout = layout.renumbered(broadcast_bits(shape_of(op.source), shape_of(op.result)))
        if layout.registers and _is_loaded(op.source):
            yield op.source, layout
            return
    for operand in op.operands:
        yield from _found_rows(operand, layout)


def _is_loaded(value: SSAValue) -> bool:
    """True of a tile of numbers that are loaded, or are computed of such."""
    op = value.owner
    return isinstance(op, LoadPtrTkoOp) or (
        isinstance(op, SCALAR) and any(_is_loaded(x) for x in op.operands if shape_of(x))
    )
