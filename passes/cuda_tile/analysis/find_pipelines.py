"""Which loads come by TMA, ahead of their use: those whose tiles warpgroups multiply.

In a loop a load is ahead by stages: where a tile lies must follow from the loop's variable and from
what is known before the loop, and nothing in the loop may have written it. What is loaded once,
before any loop, has one stage.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from xdsl.ir import Attribute, BlockArgument, Operation

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp, may_leave
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, StoreViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import shared_memory_limit
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.dialects.frozen import entity, factory
from tilewright.passes.cuda_tile.analysis.computed_again import LoopSlice, needed_ahead
from tilewright.passes.cuda_tile.analysis.cost_model import is_asynchronous, tiled_products
from tilewright.passes.cuda_tile.analysis.facts import trips_of
from tilewright.passes.cuda_tile.analysis.hints import hint, latency
from tilewright.passes.cuda_tile.analysis.load_groups import LoadGroup, StagedLoad
from tilewright.passes.cuda_tile.analysis.loaded_operands import (
    halved_dimension,
    is_readable,
    loaded_by,
    readers_of,
)
from tilewright.passes.cuda_tile.analysis.permute_products import paired_rows
from tilewright.passes.cuda_tile.analysis.recurrences import is_recurrent
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.shared_blocks import SharedBlocks
from tilewright.passes.cuda_tile.analysis.specialized_warps import needed_for_copies
from tilewright.passes.cuda_tile.analysis.stages import (
    IN_FLIGHT_OF_FEW_ROWS,
    STORED,
    copy_stages,
    has_few_rows,
    is_alone,
    stages_and_ctas,
)
from tilewright.passes.cuda_tile.analysis.tensor_maps import TMA, BoxedAccess, boxed_load
from tilewright.passes.cuda_tile.layouts.elements import scalar_type
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication, factors_in
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import PAIR, in_tensor_memory
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import PERMUTED, TRANSPOSED, is_added

_MBARRIER = 8
"""The bytes of an mbarrier."""
_FEWEST = 3
"""The stages that loads beside products leave to loops that do nothing but add these up."""
_SHORT = 4
"""The iterations up to which a CTA waits for memory before and behind its loop so long that another
one is to multiply meanwhile."""
NO_STAGES = "shared memory has no room for two stages"
"""Why loads of a loop have none."""


@entity
class LoadPipeline(LoopSlice):
    """The loads of a loop, or of the kernel before any loop, where `loop` is none."""

    loop: ForOp | None
    groups: list[LoadGroup]
    stages: int = 1

    @property
    def loads(self) -> list[BoxedAccess]:
        """The loads of all groups."""
        return [load for group in self.groups for load in group.loads]

    @property
    def is_around(self) -> bool:
        """True where loops within its loop multiply what it loads."""
        return any(group.around for group in self.groups)

    @property
    def trailing(self) -> list[Operation]:
        """The multiplications that are in flight while the next iteration begins."""
        products = dict.fromkeys(group.product for group in self.groups if not group.by_warps)
        loop = self.loop
        if loop is None:
            return []
        return [op for op in products if is_trailing(op, loop) and not in_tensor_memory(op)]

    @property
    def shape(self) -> tuple[tuple[int, bool, tuple[tuple[int, int, Attribute], ...]], ...]:
        """The memory that it takes, and who fills and releases it: loops of one shape, one after
        the other, share it."""
        return tuple(
            (
                group.ctas,
                group.released_by_mma,
                tuple((load.order.elements, load.order.width, load.element) for load in group.all),
            )
            for group in self.groups
        )


@entity
class Pipelines:
    """The pipelines of a kernel, and why other loads have none."""

    by_loop: dict[ForOp | None, LoadPipeline] = factory(dict)
    refused: dict[Operation, str] = factory(dict)
    ctas: int = 1
    """The CTAs that share a multiprocessor."""
    cluster: int = 1
    """The CTAs that load for each other."""

    def loads(self) -> list[BoxedAccess]:
        """All of their loads."""
        return [load for _, group in self.groups for load in group.loads]

    @property
    def groups(self) -> list[tuple[LoadPipeline, LoadGroup]]:
        """All of their groups."""
        return [(own, group) for own in self.by_loop.values() for group in own.groups]

    @property
    def gathers(self) -> bool:
        """True where threads of a warpgroup copy, too."""
        return any(group.gathered for _, group in self.groups)

    def _places(self) -> Iterator[tuple[LoadPipeline, LoadGroup, StagedLoad]]:
        return ((*place, load) for place in self.groups for load in place[1].all)

    def of(self, load: Operation) -> tuple[LoadPipeline, LoadGroup, StagedLoad] | None:
        """Where a load belongs to."""
        return next((place for place in self._places() if place[2].op is load), None)

    def refuse_around(self, refused: Callable[[LoadGroup], bool], why: str) -> None:
        """Load nothing ahead for loops within the one of a load where a group is such."""
        for own in [own for own in self.by_loop.values() if own.is_around]:
            if any(map(refused, own.groups)):
                del self.by_loop[own.loop]
                self.refuse(own.loads, why)

    def refuse(self, loads: Iterable[BoxedAccess], why: str) -> None:
        """Say why some loads have no pipeline."""
        self.refused.update(dict.fromkeys((load.op for load in loads), why))

    @property
    def bytes(self) -> int:
        """The shared memory of stages and their mbarriers."""
        first = [ring[0] for ring in self.rings()]
        return sum(one.stages * _stage(one) for one in first)

    def rings(self) -> list[list[LoadPipeline]]:
        """The pipelines in sets that share memory: of one shape, and none within another one."""
        rings: list[list[LoadPipeline]] = []
        for pipeline in self.by_loop.values():
            ring = next((ring for ring in rings if _fits(pipeline, ring)), None)
            if ring is None:
                rings.append([pipeline])
            else:
                ring.append(pipeline)
        return rings


def _fits(pipeline: LoadPipeline, ring: list[LoadPipeline]) -> bool:
    return all(
        pipeline.loop is not None
        and other.loop is not None
        and pipeline.shape == other.shape
        and not pipeline.loop.is_ancestor(other.loop)
        and not other.loop.is_ancestor(pipeline.loop)
        for other in ring
    )


Stores = Mapping[StoreViewTkoOp, BoxedAccess]
"""The stores that TMA makes."""


def find_pipelines(
    entry: EntryOp, arch: Target | None, stored: Stores, beside: int, copied: int = 0
) -> Pipelines:
    """The pipelines of a kernel, which leave so much shared memory at least, and so much for each
    stage that threads copy; of a block that CTAs share, what several of them need they load for
    each other."""
    plan, blocks = Pipelines(), SharedBlocks.of(entry)
    products = tiled_products(entry, arch)
    if not products or arch is None or not arch.supports(TMA):
        return plan
    for product in products:
        by_warps = not is_asynchronous(product, arch)
        for operand in factors_in(product):
            source = loaded_by(operand)
            if source is None or not isinstance(load := source.load, LoadViewTkoOp):
                continue
            if plan.of(load) is not None or load in plan.refused:
                continue
            paired = PAIR in product.attributes
            ctas = 1 if by_warps or paired else blocks.loading(load)
            half = halved_dimension(product) if paired and operand is product.rhs else None
            permuted = PERMUTED in product.attributes and operand is product.rhs
            pairs = paired_rows(product) if permuted else None
            boxed = boxed_load(load, arch, ctas, half, pairs)
            if by_warps and isinstance(boxed, BoxedAccess) and boxed.is_multiplied:
                # States of 32 x 32 by chunks of sequences: 101 us by cp.async, 123 by TMA (H200).
                boxed = "MMAs of warps read it, and a stride is a multiple of a parameter"
            if isinstance(boxed, str):
                plan.refused[load] = boxed
                continue
            direct = not by_warps and is_readable(
                boxed.order, source, operand, product, rounded=boxed.is_rounded
            )
            if not direct and operand not in product.operands[:2]:
                plan.refused[load] = (
                    "scale factors do not lie as tcgen05.cp takes them, four of "
                    "each of the rows r, r + 32, r + 64 and r + 96 in 16 bytes"
                )
                continue
            own = LoadGroup(product, by_threads=not direct, by_warps=by_warps)
            why = _add(boxed, own, entry, plan)
            if why is not None:
                plan.refused[load] = why
    _add_others(entry, arch, plan)
    for pipeline, group in plan.groups:
        if group.around and pipeline.loop is not None:
            _find_reading_loop(group, pipeline.loop)
        else:
            _find_readers(group, pipeline.loop)
    plan.refuse_around(lambda group: not group.alone, "not only products of loops within read it")
    if any(is_asynchronous(product, arch) for product in products):
        beside = max(beside, max(_stored(entry, stored), default=0) + _staged(plan))
    _choose_stages(entry, arch, plan, beside, copied)
    plan.cluster = max((max(group.ctas, 1 + group.paired) for _, group in plan.groups), default=1)
    return plan


def _add_others(entry: EntryOp, arch: Target, plan: Pipelines) -> None:
    """Give other loads of loops that multiply their places, if a warp of its own that copies knows
    those, too."""
    copied = [load.op for load in plan.loads()]
    alone = needed_for_copies(entry, copied) is not None
    for loop, pipeline in plan.by_loop.items():
        for load in () if loop is None else loop.region.block.ops:
            if not isinstance(load, LoadViewTkoOp) or load in plan.refused or plan.of(load):
                continue
            if load in pipeline.slice:
                continue
            group, why = pipeline.groups[0], boxed_load(load, arch)
            if alone and needed_for_copies(entry, [*copied, load]) is None:
                why = "another warp cannot know where it lies"
            elif isinstance(why, BoxedAccess):
                own = LoadGroup(
                    group.product, by_threads=True, by_warps=group.by_warps, beside=True
                )
                why = _add(why, own, entry, plan)
            if why is not None:
                plan.refused[load] = why


def _find_readers(group: LoadGroup, loop: ForOp | None) -> None:
    """Find out who reads what a group loads; what is loaded once for MMAs in tensor memory all of
    them may read."""
    readers = [op for load in group.loads for op in readers_of(load.op.tile)]
    if all(load.is_rounded for load in group.loads):
        readers = [use.operation for op in readers for use in op.results[0].uses]
    block = group.product.parent
    placed = in_tensor_memory(group.product)
    own = [
        op
        for op in readers
        if isinstance(op, Multiplication)
        and in_tensor_memory(op) is placed
        and (op.parent is block or (placed and loop is None))
    ]
    group.at_once = len(own) == len(readers)
    group.alone = group.at_once and not group.by_threads
    if block is not None and (beside := [op for op in own if op.parent is block]):
        group.product = max(beside, key=block.get_operation_index)
    if loop is not None:
        trails = is_trailing(group.product, loop) and not in_tensor_memory(group.product)
        group.trailing = group.alone and trails


def _find_reading_loop(group: LoadGroup, loop: ForOp) -> None:
    """Find out whether only products by warpgroups of loops within a loop read what a group loads,
    and the last one."""
    block = loop.region.block
    places = dict[int, Operation]()
    for op in (op for load in group.loads for op in readers_of(load.op.tile)):
        inner = op.parent_op()
        if (
            not isinstance(op, Multiplication)
            or not isinstance(inner, ForOp)
            or inner.parent is not block
            or in_tensor_memory(op)
            or is_trailing(op, inner)
        ):
            return
        places[block.get_operation_index(inner)] = op
    group.alone, group.product = True, places[max(places)]


def _add(boxed: BoxedAccess, own: LoadGroup, entry: EntryOp, plan: Pipelines) -> str | None:
    """Give a load its place, in a group like its own; else why it has none."""
    parent = boxed.op.parent_op()
    loop = parent if isinstance(parent, ForOp) else None
    if loop is None and (parent is not entry or own.by_threads):
        return "it is in a branch, or in a loop of unknown length, or read once"
    needed: dict[Operation, None] | str = {}
    if loop is not None:
        if may_leave(loop.region.block):
            return "its loop has iterations that end early"
        needed = needed_ahead(boxed.op.index, loop)
        own.around = own.product.parent is not boxed.op.parent
        beside = any(isinstance(op, Multiplication) for op in loop.region.block.ops)
        if own.around and (beside or boxed.ctas > 1 or own.by_warps or own.by_threads):
            return "its product is in another block"
        if isinstance(needed, str):
            return needed
    pipeline = plan.by_loop.setdefault(loop, LoadPipeline(loop, []))
    groups = [group for group in pipeline.groups if loop is not None and group.waits_as(own)]
    if not groups:
        pipeline.groups.append(own)
    (*groups, own)[0].loads.append(boxed)
    if loop is not None:
        pipeline.extend(needed, loop)
    return None


def is_trailing(product: Operation, loop: ForOp) -> bool:
    """True of a multiplication that adds to what the loop carries, whose result goes on to the next
    iteration alone."""
    (result,) = product.results
    last, acc = loop.region.block.last_op, product.operands[2]
    if not isinstance(last, ContinueOp) or not result.has_one_use():
        return False
    if isinstance(product, MmaFOp) and is_added(product):
        return False
    if not isinstance(acc, BlockArgument) or acc.block is not loop.region.block:
        return False
    place = acc.index - 1
    return acc.has_one_use() and last.operands[place] is result


def _choose_stages(entry: EntryOp, arch: Target, plan: Pipelines, beside: int, copied: int) -> None:
    """Give loops their stages; those without room have none, nor has what is loaded once."""
    if (once := plan.by_loop.get(None)) is not None:
        while once.groups and beside + _stage(once) > shared_memory_limit(arch):
            plan.refuse(once.groups.pop().loads, "shared memory has no room for it")
        beside += _room(once)
        if not once.groups:
            del plan.by_loop[None]
    for own in [own for own in plan.by_loop.values() if own.is_around]:
        if beside + _stage(own) > shared_memory_limit(arch):
            plan.refuse_around(own.groups.__contains__, "shared memory has no room for it")
        else:
            beside += _stage(own)
    if not _stages_found(entry, arch, plan, beside, copied):
        for pipeline in plan.by_loop.values():
            for group in pipeline.groups:
                if group.beside:
                    plan.refuse(group.loads, "shared memory has no room for its stages")
            pipeline.groups = [group for group in pipeline.groups if not group.beside]
        _stages_found(entry, arch, plan, beside, copied)
    for pipeline in [own for own in plan.by_loop.values() if own.loop is not None]:
        for load in pipeline.loads:
            wanted = hint(load.op, "latency", arch)
            if wanted is not None and pipeline.stages < wanted + 1:
                remark(load.op, "hint", f"latency = {wanted} is not honoured: {pipeline.stages} "
                       f"stages, not {wanted + 1}, are what pays or has room")  # fmt: skip
        if pipeline.stages == 0:
            del plan.by_loop[pipeline.loop]
            plan.refuse(pipeline.loads, NO_STAGES)


def _stages_found(entry: EntryOp, arch: Target, plan: Pipelines, beside: int, copied: int) -> bool:
    """Find the stages of loops; False where loads beside products leave too few."""
    rings = [ring for ring in plan.rings() if ring[0].loop and not ring[0].is_around]
    total = sum(_room(ring[0]) for ring in rings)
    pipelines = [pipeline for ring in rings for pipeline in ring]
    groups = [(group, own.loop) for own in pipelines for group in own.groups]
    alone = all(loop is not None and is_trailing(group.product, loop) for group, loop in groups)
    few = not pipelines
    for pipeline in pipelines:
        in_flight = latency((load.op for load in pipeline.loads), arch)
        if any(group.by_warps for group in pipeline.groups):
            if rows := alone and in_flight is None and has_few_rows(entry, arch):
                in_flight = IN_FLIGHT_OF_FEW_ROWS
            pipeline.stages = copy_stages(
                entry, arch, total, beside, in_flight, streams=False, alone=rows
            ) or int(_are_in_turn(pipeline) and beside + total < shared_memory_limit(arch))
        else:
            pipeline.stages, plan.ctas = stages_and_ctas(
                entry, arch, total, beside, alone=alone, latency=in_flight, copied=copied,
                recurrent=any(loop is not None and is_recurrent(loop) for _, loop in groups),
            )  # fmt: skip
        most = 2 if pipeline.loop is None else max(trips_of(pipeline.loop), 2)
        pipeline.stages, least = min(pipeline.stages, most), min(_FEWEST if alone else 2, most)
        few |= pipeline.stages < least
        few |= most <= _SHORT and is_alone(arch, beside + pipeline.stages * total + STORED)
    return not few or not any(group.beside for group, _ in groups)


def _are_in_turn(pipeline: LoadPipeline) -> bool:
    """True where MMAs of warps read the loads of a loop one after the other: one stage is copied to
    while another one is read."""
    groups = pipeline.groups
    return len(groups) > 1 and all(group.by_warps and group.at_once for group in groups)


def _stage(pipeline: LoadPipeline) -> int:
    return _room(pipeline) + 2 * _MBARRIER * len(pipeline.groups)


def _room(pipeline: LoadPipeline) -> int:
    return sum(load.order.bytes for group in pipeline.groups for load in group.all)


def _staged(plan: Pipelines) -> int:
    """The shared memory in which threads lay down what they have converted."""
    own = [group for _, group in plan.groups if group.by_threads and not group.beside]
    staged = (group.loads for group in own if TRANSPOSED not in group.product.attributes)
    return max((sum(load.order.bytes for load in loads) for loads in staged), default=0)


def _stored(entry: EntryOp, stored: Stores) -> Iterator[int]:
    for op in descendants(entry, StoreViewTkoOp):
        tile = op.tile.type
        assert isinstance(tile, TileType)
        size = tile.elements * bytes_of(scalar_type(op, tile.element_type))
        yield min(size, STORED) if op in stored else size
