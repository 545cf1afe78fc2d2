"""Loads by `cp.async`, ahead of their use: stages in shared memory, one barrier for each iteration.

    copy 0, 1, .. stages - 2
    for k:   wait until this thread's copies of k are there; barrier: all threads' are, and all have
             read k - 1; copy k + stages - 1 to where that was; multiply k

Every thread copies its part, and closes a group for every iteration, whether there is one to copy
for or not. The stages are the beginning of the memory in which tiles change layout, which outside
of the loop is free for that.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cute_nvgpu.ops import address, copy
from tilewright.dialects.cute_nvgpu.types.fragments import Cache
from tilewright.lowering.cuda_tile.analysis.find_copied_loads import (
    CopiedLoad,
    CopiedLoads,
    CopiedLoop,
)
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel
from tilewright.lowering.cuda_tile.kernel.shared_tiles import StageTile
from tilewright.lowering.cuda_tile.layouts.shared_order import CHUNK
from tilewright.lowering.cuda_tile.layouts.threads import scaled
from tilewright.lowering.cuda_tile.memory.access import Access
from tilewright.lowering.cuda_tile.memory.convert_views import tile_accesses
from tilewright.lowering.cuda_tile.pipelines.convert_pipelines import Range, at_iteration


class CopyRing:
    """The stages of a loop, which carries where in its memory the one of its iteration begins."""

    def __init__(self, plan: CopiedLoop, kernel: Kernel) -> None:
        self.plan, self.kernel = plan, kernel
        self.start: SSAValue = kernel.emitter.constant(0, 32)
        self.base = self.start
        self.bounds: Range | None = None

    @property
    def _last(self) -> int:
        return (self.plan.stages - 1) * self.plan.stage

    def before_loop(self, bounds: Range) -> None:
        """Begin to fill all stages but one."""
        kernel, emitter, plan = self.kernel, self.kernel.emitter, self.plan
        self.bounds, self.base = bounds, kernel.scratch.take(plan.bytes)
        kernel.scratch.reserved += plan.bytes
        number = bounds.lower
        for stage in range(plan.stages - 1):
            if stage:
                number = emitter.binary("add", number, bounds.step)
            self._copy(number, emitter.constant(stage * plan.stage, 32))
        self.start = emitter.constant(0, 32)

    def begin(self, start: SSAValue, number: SSAValue) -> None:
        """Begin an iteration: its stage is full, and the one before is filled anew."""
        kernel, emitter, bounds = self.kernel, self.kernel.emitter, self.bounds
        assert bounds is not None
        self.start, ahead = start, self.plan.stages - 1
        emitter.add(copy.CpAsyncWaitGroupOp(ahead - 1))
        kernel.scratch.barrier()
        first = emitter.compare("eq", start, emitter.constant(0, 32))
        less = emitter.binary("sub", start, emitter.constant(self.plan.stage, 32))
        before = emitter.select(first, emitter.constant(self._last, 32), less)
        far = kernel.constant(ahead, number.type)
        number = emitter.binary("add", number, emitter.binary("mul", bounds.step, far))
        self._copy(number, before)

    def next(self) -> SSAValue:
        """Where the stage of the next iteration begins."""
        emitter = self.kernel.emitter
        last = emitter.compare("eq", self.start, emitter.constant(self._last, 32))
        more = emitter.binary("add", self.start, emitter.constant(self.plan.stage, 32))
        return emitter.select(last, emitter.constant(0, 32), more)

    def after_loop(self) -> None:
        """Give the memory back, to which copies of zeros may be on their way."""
        self.kernel.emitter.add(copy.CpAsyncWaitGroupOp(0))
        self.kernel.scratch.reserved -= self.plan.bytes

    # --- copies ---

    def _copy(self, number: SSAValue, start: SSAValue) -> None:
        """Copy what the iteration of a number loads to a stage: zeros where there is none."""
        kernel, emitter, bounds = self.kernel, self.kernel.emitter, self.bounds
        assert bounds is not None
        runs = emitter.compare("lt", number, bounds.upper)
        at = emitter.binary("add", self.base, start)

        def build() -> None:
            offset = 0
            for load in self.plan.loads:
                self._copy_tile(load, at, offset, runs)
                offset += load.order.bytes

        at_iteration(kernel, self.plan.loop, self.plan.slice, number, build)
        emitter.add(copy.CpAsyncCommitGroupOp())

    def _copy_tile(self, load: CopiedLoad, base: SSAValue, offset: int, runs: SSAValue) -> None:
        kernel, emitter = self.kernel, self.kernel.emitter
        kernel.at(load.op)
        layout, order = load.layout(kernel.table.thread_bits), load.order.order
        place = kernel.scratch.places(base, layout.threads, order)
        size = order.size << load.run
        cache = Cache.CG if size == CHUNK else Cache.CA

        def build() -> None:
            for access in tile_accesses(load.op, layout, kernel, load.run):
                at, inside = place(layout.places[access.registers[0]])
                reads, zero = kernel.both(runs, access.condition), emitter.constant(0, 32)
                assert reads is not None
                fill = emitter.select(reads, self._bytes(access, order.size), zero)
                emitter.add(
                    address.CpAsyncOp(
                        at, access.address, access.offset, size, cache, inside + offset, fill=fill
                    )
                )

        own = kernel.threads.first_of(layout)
        if own is None:
            build()
        else:
            emitter.when(own, build)

    def _bytes(self, access: Access, size: int) -> SSAValue:
        """The bytes of a copy that lie within the tensor."""
        emitter, count = self.kernel.emitter, len(access.registers)
        if (left := access.left) is None:
            return emitter.constant(count * size, 32)
        width = left.type.bitwidth  # type: ignore[attr-defined]
        most = emitter.constant(count, width)
        some = self.kernel.emit(arith.MinUIOp, [left, most], left.type)
        return scaled(emitter, emitter.resized(some, width, 32), size)

    def tile(self, load: CopiedLoad) -> StageTile:
        """The tile of a load in this iteration."""
        emitter, offset = self.kernel.emitter, 0
        for own in self.plan.loads:
            if own is load:
                break
            offset += own.order.bytes
        base = emitter.binary("add", self.base, self.start)
        if offset:
            base = emitter.binary("add", base, emitter.constant(offset, 32))
        element = self.kernel.scalar_type(load.op, load.op.tile)
        return StageTile(base, load.order.order, element)


class CopyRings:
    """The loops of a kernel whose loads come by `cp.async`."""

    def __init__(self, plan: CopiedLoads, kernel: Kernel) -> None:
        self._kernel = kernel
        self._rings = {loop: CopyRing(own, kernel) for loop, own in plan.by_loop.items()}

    @classmethod
    def in_kernel(cls, kernel: Kernel) -> CopyRings:
        """Those of a kernel."""
        assert isinstance(kernel.copied, CopyRings)
        return kernel.copied

    def of(self, loop: ForOp) -> CopyRing | None:
        """The ring of a loop."""
        return self._rings.get(loop)

    def load(self, op: LoadViewTkoOp) -> StageTile | None:
        """The tile of a load that was made ahead; None of any other."""
        loop = op.parent_op()
        ring = self._rings.get(loop) if isinstance(loop, ForOp) else None
        own = None if ring is None else next((own for own in ring.plan.loads if own.op is op), None)
        return None if ring is None or own is None else ring.tile(own)
