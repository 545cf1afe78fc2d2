"""The products of loops that are computed an iteration late, in flight while threads compute what
the next one multiplies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod

from xdsl.ir import BlockArgument, Operation

from tilewright.dialects.ancestors import users
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.frozen import factory, frozen, frozen_entity
from tilewright.passes.cuda_tile.analysis.cost_model import (
    copier_registers,
    ctas_beside,
    has_room_beside_operands,
    late_registers,
    products_of,
    raised_registers,
    registers_left,
    thread_count,
)
from tilewright.passes.cuda_tile.analysis.facts import is_zero
from tilewright.passes.cuda_tile.analysis.find_pipelines import LoadPipeline, Pipelines
from tilewright.passes.cuda_tile.analysis.load_groups import LoadGroup
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import bytes_of_name
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import (
    TRANSPOSED,
    WarpgroupLayouts,
    is_added,
    operands_of,
)

_LEAST_DEPTH = 64
"""The columns of A from which on MMAs take longer than it takes to put them off."""


@frozen_entity
class LateMultiplication:
    """A product, its layouts, what the loop carries that it adds to, and the load of B; that of the
    product in front of it where that is computed an iteration early."""

    op: MmaFOp
    layouts: WarpgroupLayouts
    sums: BlockArgument
    group: LoadGroup
    early: LoadGroup | None


@frozen
class LateProducts:
    """Those of a kernel, by their loops, and what the threads that compute have to raise their
    registers to; 0 where they have enough. Where more CTAs share a multiprocessor without them,
    there are none, and it `is_shared`; `on_time` are those that would be late, in whose flight
    registers let threads compute what they do not need. `room` are the registers that are left to a
    thread of one loop: of two, ptxas spills. `following` are the loops that go on with what others
    have put off."""

    by_loop: dict[ForOp, LateMultiplication]
    registers: int = 0
    is_shared: bool = False
    on_time: Sequence[MmaFOp] = ()
    room: int = 0
    following: Mapping[Operation | None, ForOp] = factory(dict)


def find_late_products(
    entry: EntryOp, arch: Target, plan: Pipelines, table: LayoutTable
) -> LateProducts:
    """The late products of a kernel in which a warp of its own copies."""
    by_loop, registers = dict(_by_loop(plan, table)), None
    operands = register_operands(entry, arch, table)
    added = max(map(_added, by_loop.values()), default=0)
    if by_loop:
        registers = late_registers(entry, arch, plan.ctas, operands, plan.bytes, added)
    if registers is not None:
        room = registers_left(entry, arch, registers, operands + added)
        pairs, following = pairwise(by_loop) if added else (), dict[Operation | None, ForOp]()
        following |= {one: other for one, other in pairs if _goes_on(one, other, plan)}
        room = room if len(by_loop) == 1 else 0
        return LateProducts(by_loop, registers, room=room, following=following)
    beside = ctas_beside(entry, arch, plan.bytes) if by_loop else 1
    roomy = has_room_beside_operands(entry, arch, max(beside, plan.ctas), operands + added)
    on_time = [late.op for late in by_loop.values() if roomy]
    raised = copier_registers(entry, arch, plan.ctas)
    if any(TRANSPOSED in op.attributes for op in products_of(entry, arch)):
        raised = raised_registers(entry, arch, plan.ctas, operands)
    return LateProducts({}, raised or 0, beside > plan.ctas, on_time)


def _goes_on(first: ForOp, second: ForOp, plan: Pipelines) -> bool:
    """True of a loop that begins with all that the one in front of it leaves, in blocks in turn:
    by themselves they have no registers for it."""
    return (
        first.next_op is second
        and isinstance(first.parent_op(), ForOp)
        and [*second.init_values] == [*first.results]
        and {*users(*first.results)} == {second}
        and plan.by_loop[first].shape == plan.by_loop[second].shape
    )


def _added(late: LateMultiplication) -> int:
    """The registers of a thread for a product that is added to others once it is complete."""
    return late.layouts.layout("C").count if is_added(late.op) else 0


def register_operands(entry: EntryOp, arch: Target, table: LayoutTable) -> int:
    """The registers of a thread for A of a product by warpgroups that takes it from there."""
    sizes = [
        prod(shape_of(a)) * bytes_of_name(layouts.atom.element("A").name)
        for op in products_of(entry, arch)
        if isinstance(layouts := table.products.get(op.result), WarpgroupLayouts)
        and (a := operands_of(op)["A"])
        and (layouts.takes(table.of(a)) or TRANSPOSED in op.attributes)
    ]
    return max(sizes, default=0) // 4 // thread_count(entry, arch)


def _by_loop(plan: Pipelines, table: LayoutTable) -> Iterator[tuple[ForOp, LateMultiplication]]:
    for loop, pipeline in plan.by_loop.items():
        late = None if loop is None else _late(loop, pipeline, plan, table)
        if loop is not None and late is not None:
            yield loop, late


def _late(
    loop: ForOp, pipeline: LoadPipeline, plan: Pipelines, table: LayoutTable
) -> LateMultiplication | None:
    """The second of two products: threads compute A of it, TMA alone loads in the loop, which
    carries nothing else of its result. One that is only added to is in flight as it is."""
    block = loop.region.block
    products = [op for op in block.ops if isinstance(op, Multiplication)]
    if len(products) != 2 or not all(
        isinstance(table.products.get(op.result), WarpgroupLayouts) for op in products
    ):
        return None
    first, op = products
    layouts, uses = table.products[op.result], list(op.result.uses)
    group = next((group for group in pipeline.groups if group.product is op), None)
    if (
        not isinstance(op, MmaFOp)
        or not isinstance(layouts, WarpgroupLayouts)
        or (is_added(op) and not layouts.is_added_once)
        or shape_of(op.lhs)[-1] < _LEAST_DEPTH
        or not layouts.takes(table.of(op.lhs))
        or len(uses) != 1
        or uses[0].operation is not block.last_op
        or group is None
        or not group.alone
        or group.trailing
        or len(group.loads) != 1
        or any(isinstance(x, MemoryOp) and plan.of(x) is None for x in loop.walk())
    ):
        return None
    sums = block.args[1 + uses[0].index]
    later = all(
        use.operation.parent is block and first.is_before_in_block(use.operation)
        for use in sums.uses
    )
    early = next((group for group in pipeline.groups if group.product is first), None)
    as_held = table.of(op.lhs).threads == layouts.layout("A").threads
    if not (is_added(op) and as_held and early and _may_be_early(first, early, loop)):
        early = None
    return LateMultiplication(op, layouts, sums, group, early) if later else None


def _may_be_early(op: Multiplication, group: LoadGroup, loop: ForOp) -> bool:
    """True of a product from nothing of what a loop does not change and one load: its registers are
    free where a product behind it is added to others."""
    outer = op.lhs.owner.parent if isinstance(op.lhs.owner, Operation) else op.lhs.owner
    return (
        is_zero(op.acc)
        and not is_added(op)
        and group.alone
        and not group.trailing
        and len(group.all) == 1
        and outer is not None
        and not loop.is_ancestor(outer)
    )
