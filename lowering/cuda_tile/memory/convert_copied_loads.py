"""Loads by `cp.async`, ahead of their use: stages in shared memory, one barrier for each iteration.

    copy 0, 1, .. stages - 2
    for k:   wait until this thread's copies of k are there; barrier: all threads' are, and all have
             read k - 1; issue MMAs of k; copy k + stages - 1 to where that was; wait for the MMAs

Every thread copies its part, and closes a group for every iteration, whether there is one to copy
for or not. Where MMAs of k - 1 may read its stage still, those of k - 2 do not: copies are one
iteration less ahead. Where those in tensor memory may, they are waited for behind those of k. Where
every thread reads what it has copied there is no barrier, and, in loops that load nothing else,
copies are one iteration more ahead: a thread fills a stage anew that it has read. The stages are
the beginning of the memory in which tiles change layout, which outside of the loop is free for
that; those that MMAs read as they lie have their own. Where a later loop loads the same tiles it
has the same stages, and copies none if there was one for each iteration:

    for k in (a to b step s):  ..     if a + stages s < b: copy as above
                                      for k in (a to b step s):  ..
"""

from __future__ import annotations

from functools import partial

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import chip_of
from tilewright.dialects.cute_nvgpu.ops import address, wgmma_sync
from tilewright.dialects.cute_nvgpu.ops.copy import CpAsyncCommitGroupOp, CpAsyncWaitGroupOp
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, LoweredTile, PlacedTile
from tilewright.lowering.cuda_tile.kernel.loop_part import LoopPart, Range
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile, StageTile
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.lowering.cuda_tile.kernel.warpgroup_groups import MmaGroup
from tilewright.lowering.cuda_tile.memory.convert_views import prefetch_ahead
from tilewright.lowering.cuda_tile.memory.copied_tile import copy_tile
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Rings
from tilewright.lowering.cuda_tile.pipelines.ring import at_iteration
from tilewright.passes.cuda_tile.analysis.copied_loads import (
    CopiedLoad,
    CopiedLoads,
    CopiedLoop,
    LineKey,
)
from tilewright.passes.cuda_tile.analysis.find_copied_loads import Load
from tilewright.passes.cuda_tile.analysis.prefetched_loads import AHEAD
from tilewright.passes.cuda_tile.analysis.stages import is_alone
from tilewright.passes.cuda_tile.layouts.shared_matrices import ALIGNMENT


class CopyRing(LoopPart):
    """The stages of a loop, which carries the number of its iteration's."""

    def __init__(self, plan: CopiedLoop, kernel: EntryLowering):
        self.plan, self.kernel = plan, kernel
        self.stage: SSAValue = kernel.emitter.constant(0, 32)
        self.bounds: Range | None = None
        self.flying: list[MmaGroup] = []
        self._lines: dict[CopiedLoad, SSAValue] = {}
        self._bases: dict[CopiedLoad, SSAValue] = {}
        self._keeps = plan.last is not None or plan.kept is not None
        """True where stages that no iteration copies to keep their tiles."""
        self._again: SSAValue | None = None
        self._taken = plan.bytes - plan.stages * sum(load.order.bytes for load in plan.matrices)

    def place(self, lines: dict[LineKey, SSAValue], bases: dict[CopiedLoad, SSAValue]) -> None:
        """Take the memory that MMAs read, or share what another loop has taken; `bases` are the
        addresses of all loops' stages."""
        emitter, stages, self._bases = self.kernel.emitter, self.plan.stages, bases
        for load in self.plan.matrices:
            if (key := self.plan.line(load)) not in lines:
                order = load.order
                type_ = order.line(load.element, stages * order.bytes // order.order.size)
                alignment = IntegerAttr(ALIGNMENT, i64)
                lines[key] = emitter.emit(memref.AllocOp([], [], type_, alignment))
            self._lines[load] = lines[key]
            self._bases[load] = emitter.emit(address.AddressOp(lines[key]))

    def before(self, bounds: Range) -> None:
        """Begin to fill all stages but those that are read."""
        kernel, emitter, plan = self.kernel, self.kernel.emitter, self.plan
        if plan.awaited is not None:
            kernel.tensor.wait()
        self.bounds, base, offset = bounds, kernel.scratch.take(self._taken), 0
        kernel.scratch.reserved += self._taken
        if plan.kept is not None:
            far = kernel.constant(plan.stages, bounds.lower.type)
            last = emitter.binary("add", bounds.lower, emitter.binary("mul", bounds.step, far))
            self._again = emitter.compare("lt", last, bounds.upper)
        for load in plan.loads:
            if load.kept is not None:
                self._bases[load] = self._bases[load.kept]
            elif load not in self._lines:
                self._bases[load] = emitter.binary("add", base, offset)
                offset += plan.stages * load.order.bytes
            if load.op.token in kernel.values:
                kernel.order.before(kernel.token_of(load.op), writes=False)
        if self._again is not None and all(load.kept is not None for load in plan.loads):
            emitter.when(self._again, partial(self._fill, bounds))
        else:
            self._fill(bounds)
        self.carried = [emitter.constant(0, 32)]

    def _fill(self, bounds: Range) -> None:
        emitter, number = self.kernel.emitter, bounds.lower
        for stage in range(self.plan.ahead):
            if stage:
                number = emitter.binary("add", number, bounds.step)
            self._copy(number, emitter.constant(stage, 32))
            emitter.add(CpAsyncCommitGroupOp())

    def begin(self, bounds: Range) -> None:
        """Begin an iteration: its stage is full, and the one before is filled anew."""
        kernel, emitter = self.kernel, self.kernel.emitter
        (self.stage,), self.bounds = self.carried, bounds
        emitter.add(CpAsyncWaitGroupOp(self.plan.ahead - 1))
        if self._lines:
            emitter.add(wgmma_sync.FenceProxyAsyncOp(space="shared::cta"))
        if not self.plan.private:
            kernel.scratch.barrier()
        if self.plan.multiplied is None and self.plan.ahead < self.plan.stages:
            self._refill(bounds)

    def flights(self) -> dict[Operation, MmaGroup]:
        """The MMAs that are in flight from one iteration to the next."""
        product = self.plan.multiplied if self.plan.alone else None
        return {} if product is None else {product: MmaGroup()}

    def issued(self, product: Operation, group: MmaGroup | None = None) -> None:
        """Go on behind the MMAs of a product, of a group."""
        if product is self.plan.multiplied and self.bounds is not None:
            self.flying = [group] if self.plan.alone and group is not None else []
            if self.plan.awaited is not None:
                Rings.in_kernel(self.kernel).wait_for_before(product)
            self._refill(self.bounds)

    def read(self, load: CopiedLoad) -> LoweredTile:
        """The tile of a load in this iteration; behind the last one that threads read themselves
        the stage is filled anew."""
        tile = self._tile(load)
        if load is self.plan.loads[-1] and self.plan.ahead == self.plan.stages:
            assert self.bounds is not None
            self._refill(self.bounds)
        return tile

    def _refill(self, bounds: Range) -> None:
        """Fill a stage anew that is free, for a later iteration."""
        kernel, emitter = self.kernel, self.kernel.emitter
        stage, ahead = self.stage, self.plan.ahead
        if back := self.plan.stages - ahead:
            wraps = emitter.compare("lt", stage, back)
            less = emitter.binary("sub", stage, back)
            more = emitter.binary("add", stage, ahead)
            stage = emitter.select(wraps, more, less)
        far = kernel.constant(ahead, bounds.number.type)
        number = emitter.binary("add", bounds.number, emitter.binary("mul", bounds.step, far))
        copy = partial(self._copy, number, stage)
        if self._keeps:
            emitter.when(emitter.compare("lt", number, bounds.upper), copy)
        else:
            copy()
        emitter.add(CpAsyncCommitGroupOp())

    def end(self) -> None:
        """Go on to the stage of the next iteration."""
        emitter = self.kernel.emitter
        last = emitter.compare("eq", self.stage, self.plan.stages - 1)
        more = emitter.binary("add", self.stage, 1)
        self.carried = [emitter.select(last, emitter.constant(0, 32), more)]

    def after(self, bounds: Range) -> None:
        """Give the memory back, to which copies of zeros may be on their way."""
        self._prefetch(bounds)
        self.kernel.emitter.add(CpAsyncWaitGroupOp(0))
        plan, scratch = self.plan, self.kernel.scratch
        if plan.last is None:
            scratch.reserved -= self._taken
        if plan.kept is not None and plan.kept.last is plan.loop:
            scratch.reserved -= plan.kept.bytes

    def _prefetch(self, bounds: Range) -> None:
        """Ask for the lines of a block to come, half of those that stay in stages, where a CTA has
        a multiprocessor: of the one that it will have next."""
        kernel, emitter, plan, arch = self.kernel, self.kernel.emitter, self.plan, self.kernel.arch
        if arch is None or plan.last is None or not is_alone(arch, plan.bytes):
            return
        far = max(AHEAD, plan.bytes * chip_of(divmod(arch.number, 10)).count)
        loads = [load.op for load in plan.loads if load.op in kernel.prefetched]
        number = bounds.lower
        for _ in range(plan.stages // 2 if loads else 0):
            for op in loads:
                assert isinstance(op, LoadViewTkoOp)
                build = partial(prefetch_ahead, op, kernel, far)
                at_iteration(kernel, plan.loop, plan.slice, number, build)
            number = emitter.binary("add", number, bounds.step)

    # --- copies ---

    def _copy(self, number: SSAValue, stage: SSAValue) -> None:
        """Copy what the iteration of a number loads to a stage: zeros where there is none."""
        kernel, emitter, bounds = self.kernel, self.kernel.emitter, self.bounds
        assert bounds is not None
        runs = emitter.compare("lt", number, bounds.upper)

        def build() -> None:
            for load in self.plan.loads:
                stepwise = not load.private and load not in self._lines
                again = runs if load.kept is None else kernel.both(runs, self._again)
                copy_tile(
                    load, self._base(load, stage), again, kernel, stepwise=stepwise,
                    keeps=self._keeps,
                )  # fmt: skip

        kernel.guard = runs
        at_iteration(kernel, self.plan.loop, self.plan.slice, number, build)
        kernel.guard = None

    def _base(self, load: CopiedLoad, stage: SSAValue) -> SSAValue:
        """The address of a load's tile in a stage."""
        start = scaled(self.kernel.emitter, stage, load.order.bytes)
        return self.kernel.emitter.binary("add", self._bases[load], start)

    def _tile(self, load: CopiedLoad) -> LoweredTile:
        emitter, order = self.kernel.emitter, load.order
        if load not in self._lines:
            tile = StageTile(self._base(load, self.stage), order.order, load.element)
            if not load.private:
                return tile
            layout = load.layout(self.kernel.table.thread_bits)
            elements = tuple(tile.elements_in(layout, self.kernel))
            return PlacedTile(layout, elements, load.element)
        start = scaled(emitter, self.stage, order.bytes // order.order.size)
        start = emitter.resized(start, 32, None)
        return SharedTile(self._lines[load], start, order, load.element, lambda: None)


class CopyRings:
    """The loops of a kernel whose loads come by `cp.async`."""

    def __init__(self, plan: CopiedLoads, kernel: EntryLowering):
        self._kernel = kernel
        self._rings = {loop: CopyRing(own, kernel) for loop, own in plan.by_loop.items()}
        lines: dict[LineKey, SSAValue] = {}
        bases: dict[CopiedLoad, SSAValue] = {}
        for ring in self._rings.values():
            ring.place(lines, bases)

    @classmethod
    def in_kernel(cls, kernel: EntryLowering) -> CopyRings:
        """Those of a kernel."""
        assert isinstance(kernel.copied, CopyRings)
        return kernel.copied

    def of(self, loop: ForOp) -> CopyRing | None:
        """The ring of a loop."""
        return self._rings.get(loop)

    def issued(self, product: Operation, group: MmaGroup | None = None) -> None:
        """Go on behind a product's MMAs."""
        for ring in self._rings.values():
            ring.issued(product, group)

    def load(self, op: Load) -> LoweredTile | None:
        """The tile of a load that was made ahead; None of any other."""
        loop = op.parent_op()
        ring = self._rings.get(loop) if isinstance(loop, ForOp) else None
        own = None if ring is None else next((own for own in ring.plan.loads if own.op is op), None)
        return None if ring is None or own is None else ring.read(own)

    def reads(self, op: Load) -> bool:
        """True of a load that each thread has waited for its own part of alone."""
        loop = op.parent_op()
        ring = self._rings.get(loop) if isinstance(loop, ForOp) else None
        return ring is not None and ring.plan.private
