"""Loads by `cp.async` as they are planned: the stages of each loop."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Attribute, Operation

from tilewright.dialects.ancestors import ancestors
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, IfOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.passes.cuda_tile.analysis.computed_again import LoopSlice
from tilewright.passes.cuda_tile.analysis.find_pipelines import Pipelines
from tilewright.passes.cuda_tile.layouts.find_layouts import order_of
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, blocked
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import in_tensor_memory

Load = LoadViewTkoOp | LoadPtrTkoOp


@dataclass(frozen=True, eq=False)
class CopiedLoad:
    """A load by `cp.async`: how its tile lies in a stage, and the neighbours of one copy, as bits
    of their number; the `product` whose MMAs read the stage as it lies, `private` where every
    thread reads what it has copied."""

    op: Load
    order: MatrixOrder
    run: int
    element: Attribute
    product: Multiplication | None = None
    private: bool = False
    beside: bool = False
    """True of a load beside a product, which gives way where memory is short."""
    again: CopiedLoad | None = None
    """The load of an earlier loop in whose stages the same tiles are, if there were no more of them
    than stages."""

    def layout(self, thread_bits: int) -> TileLayout:
        """The elements that each thread copies."""
        run, above = self.order.run, self.order.above
        order = order_of(self.op.results[0], run, above, thread_bits, self.run)
        if order[: self.run] != [*run[: self.run]]:  # a copy's elements are neighbours
            order = [*run, *above]
        return blocked(order, thread_bits, self.run)


@dataclass(eq=False)
class CopiedLoop(LoopSlice):
    """The loads of a loop, in `stages`."""

    loop: ForOp
    loads: list[CopiedLoad] = field(default_factory=list[CopiedLoad])
    stages: int = 0
    trailing: bool = False
    """True where `wgmma`s that read a stage may be in flight while the next iteration begins."""
    alone: bool = False
    """True where they are, of CTAs that take tile after tile, each on a multiprocessor."""
    is_kept: bool = False
    """True where stages stay for later loops."""

    @property
    def stage(self) -> int:
        """The bytes of a stage."""
        return sum(load.order.bytes for load in self.loads)

    @property
    def bytes(self) -> int:
        """The shared memory that it takes."""
        return self.stages * self.stage

    @property
    def ahead(self) -> int:
        """The iterations that copies are ahead."""
        return self.stages - 1 - self.trailing

    @property
    def tall(self) -> bool:
        """True where tiles have several rows."""
        return all(load.order.above for load in self.loads)

    @property
    def finds(self) -> bool:
        """True where tiles may be in stages of earlier loops."""
        return any(load.again is not None for load in self.loads)

    @property
    def private(self) -> bool:
        """True where no thread reads what another one copies."""
        return all(load.private for load in self.loads)

    @property
    def matrices(self) -> list[CopiedLoad]:
        """The loads that MMAs read as they lie, each in memory of its own."""
        return [load for load in self.loads if load.product is not None]

    @property
    def multiplied(self) -> Multiplication | None:
        """The last product that reads a stage as it lies: once its MMAs are issued, threads copy to
        a stage whose own are complete; None beside TMA, or where an iteration may end early."""
        block = self.loop.region.block
        leaves = any(isinstance(op, IfOp) and op.leaves for op in block.ops)
        if leaves or self.trailing > self.alone:
            return None
        products = [load.product for load in self.loads if load.product is not None]
        own = [op for op in products if op.parent is block]
        return max(own, key=block.get_operation_index, default=None)

    @property
    def awaited(self) -> Multiplication | None:
        """That product where it is in tensor memory: threads wait for the MMAs before its own."""
        product = self.multiplied
        return None if product is None or not in_tensor_memory(product) else product

    def line(self, load: CopiedLoad) -> LineKey:
        """The memory of such a load, which loops that do not run within one another share."""
        around = [op for op in ancestors(self.loop) if isinstance(op, ForOp)]
        number = self.matrices.index(load)
        return (
            number,
            len(around),
            self.stages * load.order.elements,
            load.order.width,
            load.element,
        )


LineKey = tuple[int, int, int, int, Attribute]


@dataclass(eq=False)
class CopiedLoads:
    """The loads of a kernel that come by `cp.async`, by loop; why others do not; and the layouts in
    which threads read those that are not multiplied as they lie."""

    by_loop: dict[ForOp, CopiedLoop] = field(default_factory=dict[ForOp, CopiedLoop])
    refused: dict[Operation, str] = field(default_factory=dict[Operation, str])
    read: dict[Operation, TileLayout] = field(default_factory=dict[Operation, TileLayout])
    crowded: dict[ForOp, int] = field(default_factory=dict[ForOp, int])
    """The bytes of a stage of loops for whose stages there is no room."""

    @property
    def loads(self) -> set[Operation]:
        """All of them."""
        return {load.op for own in self.by_loop.values() for load in own.loads}

    @property
    def bytes(self) -> int:
        """The shared memory that loops take, one within another."""
        return max((self.within(loop) for loop in self.by_loop), default=0)

    def stage_beside(self, plan: Pipelines) -> int:
        """The bytes of a stage in a loop for which TMA fills stages too."""
        stages = self.crowded | {loop: own.stage for loop, own in self.by_loop.items()}
        return max((stages.get(loop, 0) for loop in plan.by_loop if loop), default=0)

    @property
    def beside(self) -> int:
        """The part of that which is no memory in which tiles change layout."""
        lines: dict[LineKey, int] = {}
        for own in self.by_loop.values():
            lines |= {own.line(load): own.stages * load.order.bytes for load in own.matrices}
        return sum(lines.values())

    def within(self, loop: ForOp) -> int:
        """The bytes of the stages that are there in a loop, with those of the loops around it."""
        return sum(own.bytes for other, own in self.by_loop.items() if other.is_ancestor(loop))
