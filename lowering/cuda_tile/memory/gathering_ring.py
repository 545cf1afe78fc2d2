"""Rings whose stages a warpgroup fills: one of its threads by TMA, and all of them by `cp.async`,
with rows that lie wherever numbers say.

    for k:   wait until the stage is empty; thread 0: copy boxes;  copy a part of the rows; wait for
             one's own copies of k - 1, then each warp says that these are there
"""

from __future__ import annotations

from functools import partial

from tilewright.dialects.cute_nvgpu.ops import address, copy
from tilewright.lowering.cuda_tile.kernel.loop_part import Range
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.lowering.cuda_tile.memory.copied_tile import copy_tile
from tilewright.lowering.cuda_tile.pipelines.ring import Ring, StagePlace, at_iteration
from tilewright.lowering.emit.mbarriers import release_stage
from tilewright.passes.cuda_tile.analysis.computed_again import places_of
from tilewright.passes.cuda_tile.analysis.cost_model import WARP, WARPGROUP
from tilewright.passes.cuda_tile.analysis.find_copied_loads import CopiedLoad
from tilewright.passes.cuda_tile.analysis.load_groups import LoadGroup


class GatheringRing(Ring):
    """Such a ring."""

    fillers = 1 + WARPGROUP // WARP

    @property
    def _behind(self) -> int:
        """The iterations whose copies a thread has in flight beside one's own."""
        return int(self.stages > 2)

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
                    kernel.elements(value, layout)

        at_iteration(kernel, loop, self.pipeline.slice, bounds.lower, build)

    def _fill(self, group: LoadGroup, place: StagePlace) -> None:
        emitter = self.kernel.emitter
        emitter.when(self.kernel.threads.is_first, partial(super()._fill, group, place))
        for load in self._gathered:
            base = emitter.emit(address.AddressOp(self._lines[load]))
            start = scaled(emitter, place.stage, load.order.bytes)
            copy_tile(load, emitter.binary("add", base, start), None, self.kernel)
        emitter.add(copy.CpAsyncCommitGroupOp())
        self._filled(group, place, self._behind, self._behind)

    def _filled(self, group: LoadGroup, place: StagePlace, by: int, pending: int) -> None:
        """Wait for all but so many of the thread's copies; the stage so many uses before is full,
        where the loop has had as many iterations."""
        emitter, bounds = self.kernel.emitter, self.range
        assert bounds is not None
        emitter.add(copy.CpAsyncWaitGroupOp(pending))
        (full, _), stage = self._barriers[group], place.stage
        if by:
            stage = self._moved(place, self.stages - by).stage
        far = emitter.binary("mul", bounds.step, by)
        first = emitter.binary("add", bounds.lower, far)
        below = emitter.binary("sub", first, 1)
        release = partial(release_stage, full, self._index(stage), 1, emitter, generic=True)
        emitter.when(emitter.compare("lt", below, bounds.number), release)

    def fill_last(self, bounds: Range) -> None:
        """Behind the loop, say that the last stages are full."""
        emitter = self.kernel.emitter
        behind = emitter.binary("add", bounds.upper, emitter.binary("sub", bounds.step, 1))
        self.range = bounds.at(behind)
        for group in self.pipeline.groups:
            for i in range(self._behind, 0, -1):
                self._filled(group, self.place, i, i - 1)
