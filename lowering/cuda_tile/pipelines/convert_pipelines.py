"""The rings of a kernel: who copies, who waits, and what loops carry of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.dialects import gpu
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, may_leave
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cute_nvgpu.ops import cluster, mbarrier, sync
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile
from tilewright.lowering.cuda_tile.kernel.warpgroup_groups import MmaGroup
from tilewright.lowering.cuda_tile.pipelines.ring import Ring, StagePlace
from tilewright.passes.cuda_tile.analysis.find_pipelines import Pipelines
from tilewright.passes.cuda_tile.analysis.load_groups import LoadGroup
from tilewright.passes.cuda_tile.analysis.loaded_operands import loaded_by
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import WarpgroupLayouts
from tilewright.passes.cuda_tile.scheduling.unordered_loads import UNWRITTEN, promised


class Rings:
    """The rings of a kernel."""

    def __init__(self, plan: Pipelines, kernel: EntryLowering, made: type[Ring]):
        self.plan, self._kernel = plan, kernel
        self.all = [made(pipelines, kernel) for pipelines in plan.rings()]
        if not self.all:
            return
        emitter = kernel.emitter
        emitter.when(kernel.threads.is_first, self._initialise)
        if plan.cluster == 1:
            emitter.add(gpu.BarrierOp())
        else:
            meet(kernel)

    def _initialise(self) -> None:
        for ring in self.all:
            ring.prefetch()
            ring.initialise(1 << (self._kernel.table.thread_bits - WARP_BITS))
        self._kernel.emitter.add(mbarrier.FenceMbarrierInitOp())

    @classmethod
    def in_kernel(cls, kernel: EntryLowering) -> Rings:
        """Those of a kernel."""
        assert isinstance(kernel.ahead, Rings)
        return kernel.ahead

    def of(self, loop: ForOp | None) -> Ring | None:
        """The ring of a loop's loads."""
        for ring in self.all:
            for pipeline in ring.pipelines:
                if pipeline.loop is loop:
                    ring.pipeline = pipeline
                    return ring
        return None

    def carried_by(self, holder: Operation | None) -> list[Ring]:
        """The rings that move on in a loop or a branch."""
        return [
            ring
            for ring in self.all
            if any(
                pipeline.loop is not None and holder and holder.is_ancestor(pipeline.loop)
                for pipeline in ring.pipelines
            )
        ]

    def read(self, product: Operation, flight: MmaGroup) -> None:
        """Say which MMAs a product is."""
        for ring in self._running():
            ring.read(product, flight)

    def _running(self) -> list[Ring]:
        return [ring for ring in self.all if ring.pipeline.loop is not None]

    def commit(self, product: Operation) -> None:
        """Let what was loaded for a product be free once its MMAs are complete."""
        for ring in self._running():
            ring.commit(product)

    def issued(self, product: Operation) -> None:
        """Go on behind a product's MMAs."""
        for ring in self._running():
            ring.issued(product)

    def wait_for_before(self, product: Operation) -> None:
        """Wait until a product's MMAs of the iteration before are complete."""
        for ring in self._running():
            ring.wait_for_before(product)

    def load(self, op: LoadViewTkoOp | LoadPtrTkoOp) -> SharedTile | None:
        """The tile of a load that is made ahead; None of any other."""
        planned = self.plan.of(op)
        if planned is None:
            return None
        pipeline, group, load = planned
        ring = next(ring for ring in self.all if pipeline in ring.pipelines)
        if pipeline.loop is None and op is group.loads[-1].op and ring.produces:
            first = ring.copies()
            self._kernel.emitter.when(first, partial(ring.copy, group, ring.place, fresh=True))
        tile = ring.tile(group, load)
        ordered = op.result_token.first_use is not None
        awaited = ordered and self._is_awaited(op, group)
        if awaited:
            promised(op, "holds up no store")
        if group.around or (ordered and not awaited):
            tile.ready()
        return tile

    def read_by_threads(self, operand: SSAValue) -> None:
        """Say of an operand's stages that threads read them."""
        source = loaded_by(operand)
        planned = None if source is None else self.plan.of(source.load)
        if planned is not None:
            planned[1].alone = False

    def _is_awaited(self, op: Operation, group: LoadGroup) -> bool:
        """True of a load that no store has to wait for, but an MMA of its block, or of warpgroups
        in a loop of that, which is entered behind the wait."""
        product, layouts = group.product, self._kernel.table.products
        loop, block = product.parent_op(), op.parent
        if UNWRITTEN not in op.attributes or group.beside or block is None or may_leave(block):
            return False
        return product.parent is block or (
            isinstance(loop, ForOp)
            and loop.parent is block
            and isinstance(layouts.get(product.results[0]), WarpgroupLayouts)
            and any(
                (source := loaded_by(value)) is not None
                and source.load is op
                and not loop.is_ancestor(value.owner)
                for value in product.operands[:2]
            )
        )

    def produce(self, op: LoadViewTkoOp | LoadPtrTkoOp) -> None:
        """Copy for a load, by the thread that does nothing else: a group with its last load."""
        planned = self.plan.of(op)
        if planned is None:
            return
        pipeline, group, _ = planned
        ring = next(ring for ring in self.all if pipeline in ring.pipelines)
        if op is group.last:
            ring.copy(group, ring.place, fresh=pipeline.loop is None)

    def restart(self) -> None:
        """Begin anew, as those who read stages."""
        for ring in self.all:
            ring.produces, ring.place = False, ring.first


def meet(kernel: EntryLowering) -> None:
    """Wait for all threads of the cluster."""
    for op in (sync.WarpSyncOp, cluster.ArriveOp, cluster.WaitOp):
        kernel.emitter.add(op())


def places_of(rings: Sequence[Ring]) -> list[SSAValue]:
    """Where rings are: what loops carry."""
    return [value for ring in rings for value in (ring.place.stage, ring.place.parity)]


def place_rings(rings: Sequence[Ring], values: Sequence[SSAValue]) -> None:
    """Say where rings are now."""
    for i, ring in enumerate(rings):
        ring.place = StagePlace(values[2 * i], values[2 * i + 1])
