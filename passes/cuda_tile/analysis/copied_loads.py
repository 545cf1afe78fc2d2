"""Loads by `cp.async`: how their tiles lie in stages, which loops share."""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, may_leave
from tilewright.dialects.frozen import entity, factory, frozen_entity
from tilewright.passes.cuda_tile.analysis.computed_again import (
    Load,
    LoopSlice,
    is_same,
    without_tokens,
)
from tilewright.passes.cuda_tile.analysis.find_pipelines import Pipelines
from tilewright.passes.cuda_tile.analysis.tensor_maps import (
    reads_only,
)
from tilewright.passes.cuda_tile.layouts.find_layouts import order_of
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, blocked
from tilewright.passes.cuda_tile.layouts.mma_layouts import (
    Multiplication,
)
from tilewright.passes.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import in_tensor_memory


@frozen_entity
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
    kept: CopiedLoad | None = None
    """A load of an earlier loop that has copied the tiles, where there are as many stages."""

    def layout(self, thread_bits: int) -> TileLayout:
        """The elements that each thread copies."""
        run, above = self.order.run, self.order.above
        order = order_of(self.op.results[0], run, above, thread_bits, self.run)
        if order[: self.run] != [*run[: self.run]]:  # a copy's elements are neighbours
            order = [*run, *above]
        return blocked(order, thread_bits, self.run)


@entity
class CopiedLoop(LoopSlice):
    """The loads of a loop, in `stages`."""

    loop: ForOp
    loads: list[CopiedLoad] = factory(list)
    stages: int = 0
    trailing: bool = False
    """True where `wgmma`s that read a stage may be in flight while the next iteration begins."""
    alone: bool = False
    """True where they are, of CTAs that take tile after tile, each on a multiprocessor."""
    kept: CopiedLoop | None = None
    """The loop before it in whose stages it finds tiles, where there is one."""
    last: ForOp | None = None
    """The last loop that finds tiles in its stages."""

    @property
    def stage(self) -> int:
        """The bytes of a stage."""
        return sum(load.order.bytes for load in self.loads)

    @property
    def bytes(self) -> int:
        """The shared memory that it takes."""
        return self.stages * sum(load.order.bytes for load in self.loads if load.kept is None)

    @property
    def ahead(self) -> int:
        """The iterations that copies are ahead: all stages of what a thread reads alone, of loops
        that load nothing else."""
        others = sum(isinstance(op, Load) for op in self.loop.region.walk()) - len(self.loads)
        return self.stages - (not self.private or others > 0) - self.trailing

    @property
    def tall(self) -> bool:
        """True where tiles have several rows."""
        return all(load.order.above for load in self.loads)

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
        if may_leave(block) or self.trailing > self.alone:
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
        number, elements = self.matrices.index(load), self.stages * load.order.elements
        return number, len([*enclosing(self.loop, ForOp)]), elements, load.order.width, load.element


LineKey = tuple[int, int, int, int, Attribute]


@entity
class CopiedLoads:
    """The loads of a kernel that come by `cp.async`, by loop; why others do not; and the layouts in
    which threads read those that are not multiplied as they lie."""

    by_loop: dict[ForOp, CopiedLoop] = factory(dict)
    refused: dict[Operation, str] = factory(dict)
    read: dict[Operation, TileLayout] = factory(dict)
    crowded: dict[ForOp, int] = factory(dict)
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


def keep_stages(loops: list[CopiedLoop]) -> None:
    """Let loops find what they load in the stages of an earlier one of their block, if they have as
    many; until the last one of these no other's are kept."""
    until = 0
    for i, own in enumerate(loops):
        for j, later in enumerate(loops[i + 1 :], i + 1) if i >= until else ():
            kept = _kept(own, later)
            if kept != later.loads:
                later.loads, later.kept = kept, own
                own.last, until = later.loop, j + 1


def _kept(own: CopiedLoop, later: CopiedLoop) -> list[CopiedLoad]:
    """The loads of a later loop, with those of an earlier one whose tiles are theirs."""
    first, second = own.loop, later.loop
    bounds = zip(first.operands[:3], second.operands[:3], strict=True)
    if not (
        own.private and later.private and first.parent is second.parent
        and own.stages == later.stages and first.unsigned_cmp == second.unsigned_cmp
        and all(is_same(*pair) for pair in bounds)
    ):  # fmt: skip
        return later.loads
    numbers = first.region.block.args[0], second.region.block.args[0]
    return [
        next((replace(load, kept=x) for x in own.loads if _is_kept(x, load, numbers)), load)
        for load in later.loads
    ]


def _is_kept(own: CopiedLoad, later: CopiedLoad, numbers: tuple[SSAValue, SSAValue]) -> bool:
    """True of a load whose tile another one has loaded in the iteration of the same number."""
    x, y = own.op, later.op
    return (
        type(x) is type(y)
        and (own.order, own.run) == (later.order, later.run)
        and x.properties == y.properties
        and reads_only(y.token)
        and all(
            is_same(*pair, numbers)
            for pair in zip(without_tokens(x), without_tokens(y), strict=True)
        )
    )
