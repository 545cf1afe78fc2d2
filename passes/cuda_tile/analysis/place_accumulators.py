"""Which multiplications are made by `tcgen05.mma`, and in which columns of tensor memory their
accumulators are.

What a loop carries, what it comes from and what is added to it have the same columns, so that MMAs
add to what is there. Whether that is so decides no result: a value that somebody reads after its
columns have been written anew is loaded before (`kernel.tensor_memory`).

Products of 64 rows have lanes 0 to 15 of each warp, or lanes 16 to 31, with their A: two of them
share columns.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.utils.disjoint_set import DisjointSet

from tilewright.dialects.ancestors import ancestors, descendants, users
from tilewright.dialects.cuda_tile.ops.control_flow import (
    ContinueOp,
    ForOp,
    IfOp,
    YieldOp,
)
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFScaledOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.lattice.tmem import (
    COLUMNS,
    DATACENTER_BLACKWELL,
    LANE_STRIDE,
    LANES,
    WINDOW,
)
from tilewright.dialects.frozen import entity
from tilewright.dialects.sequences import numbered
from tilewright.passes.cuda_tile.analysis.facts import is_zero
from tilewright.passes.cuda_tile.analysis.find_pipelines import (
    Pipelines,
    is_trailing,
)
from tilewright.passes.cuda_tile.analysis.hints import hint
from tilewright.passes.cuda_tile.analysis.loaded_operands import loaded_by
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.shared_blocks import SharedBlocks
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS
from tilewright.passes.cuda_tile.layouts.mma_layouts import (
    Multiplication,
    factors_in,
    multiplications,
    product_types,
)
from tilewright.passes.cuda_tile.layouts.passed_values import passed_on
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    ACCUMULATORS,
    OPERAND,
    PAIR,
    SCALE_FACTORS,
    Accumulators,
    accumulators_of,
    extents_of,
    packed_operand,
    products_in,
    scale_columns,
    tensor_core_atom,
)


def place_accumulators(entry: EntryOp, arch: Target | None) -> None:
    """Give the accumulators of multiplications their columns, as `cute.accumulators` says; what
    has none is multiplied otherwise. What a text says of columns is decided anew."""
    for op in entry.walk():
        for name in (ACCUMULATORS, SCALE_FACTORS, OPERAND, PAIR):
            op.attributes.pop(name, None)
    if arch is None or not arch.supports(DATACENTER_BLACKWELL):
        return
    refused: dict[Operation, str] = {}
    places, room = _dealt(entry, arch, refused), _room(entry, arch)
    while room < COLUMNS and any(place.address is None for place, _ in places):
        # Fewer CTAs than hinted, each with more columns, multiply more than MMAs of warps.
        room = min(2 * room, COLUMNS)
        places = _dealt(entry, arch, refused, room)
    for op, why in refused.items():
        _refuse(op, why)
    for place, taken in places:
        for op in place.products:
            if place.address is None:
                _refuse(op, f"{place.columns} columns more than {taken} of {room} are taken")
                continue
            if place.is_short:
                why = f"{place.columns + operand_columns(op)} columns more than {taken}"
                why = f"A of '{op.name}' is in shared memory: {why} of {room} are taken"
                remark(op, "tensor-memory", why)
            op.attributes[ACCUMULATORS] = IntegerAttr(place.address, i32)
            end = place.address + place.columns
            if place.scales:
                op.attributes[SCALE_FACTORS] = IntegerAttr(end - place.scales, i32)
            if place.operand and operand_columns(op):
                op.attributes[OPERAND] = IntegerAttr(end - place.operand, i32)


def is_short_of_columns(entry: EntryOp, arch: Target) -> bool:
    """True where there are too few columns for accumulators and A that threads compute."""
    return any(place.is_short for place, _ in _dealt(entry, arch))


def lacks_columns(entry: EntryOp, arch: Target) -> bool:
    """True where there are too few columns for accumulators."""
    return any(place.address is None for place, _ in _dealt(entry, arch))


def _room(entry: EntryOp, arch: Target) -> int:
    return COLUMNS // max(hint(entry, "occupancy", arch) or 1, 1)


def _dealt(
    entry: EntryOp,
    arch: Target,
    refused: dict[Operation, str] | None = None,
    room: int | None = None,
) -> list[tuple[_AccumulatorPlace, int]]:
    """The places of products, each beside the columns that were taken before it; why others are
    `refused` one. By default the room of a CTA is as the kernel hints."""
    if not arch.supports(DATACENTER_BLACKWELL):
        return []
    refused, leaves = {} if refused is None else refused, _leaves_late(entry)
    for op in multiplications(entry):
        if (why := _why_none(op, entry, arch, leaves)) is not None:
            refused[op] = why
    products = [op for op in multiplications(entry) if op not in refused]
    dealt: list[tuple[_AccumulatorPlace, int]] = []
    room = room or _room(entry, arch)
    ends = {0: 0, WINDOW // 2: 0}  # The columns that are taken, by the first lane of a warp.
    for place in _places(entry, products) if products else ():
        lane = min(ends, key=ends.__getitem__) if place.is_halved else 0
        taken = ends[lane] if place.is_halved else max(ends.values())
        dealt.append((place, taken))
        others: dict[int | None, list[_AccumulatorPlace]] = {}
        for other, _ in dealt[:-1]:
            others.setdefault(other.address, []).append(other)
        others.pop(None, None)
        for address, sharing in others.items():
            if all(other.may_be_shared_with(place, entry) for other in sharing):
                place.address = address
                break
        else:
            if taken + place.columns > room >= taken + place.columns - place.operand:
                place.is_short = place.operand > 0
                place.columns, place.operand = place.columns - place.operand, 0
            if taken + place.columns <= room:
                place.address = lane * LANE_STRIDE + taken
                for half in [lane] if place.is_halved else ends:
                    ends[half] = taken + place.columns
    return dealt


def forget_accumulators(entry: EntryOp, why: str) -> bool:
    """Take the columns away again; whether there were any."""
    products = [op for op in entry.walk() if op.attributes.pop(ACCUMULATORS, None) is not None]
    for op in products:
        op.attributes.pop(OPERAND, None)
        op.attributes.pop(PAIR, None)
    for op in products:
        _refuse(op, why)
    return bool(products)


def _refuse(op: Operation, why: str) -> None:
    remark(op, "tensor-memory", f"'{op.name}' has no accumulators in tensor memory: {why}")


@entity
class _AccumulatorPlace:
    """Columns that the accumulators of some products share, of one shape and type."""

    form: tuple[object, str]
    columns: int
    members: list[SSAValue]
    products: list[Multiplication]
    scales: int
    is_halved: bool
    """They are in half of the lanes."""
    operand: int = 0
    """The columns of A that threads store, behind the others."""
    is_short: bool = False
    """There are no such columns left."""
    address: int | None = None

    def may_be_shared_with(self, other: _AccumulatorPlace, entry: EntryOp) -> bool:
        """True where one is used behind the other, and each element, of A too, by the same thread:
        threads store what is added to, and A, without a barrier."""
        if (self.form, self.operand) != (other.form, other.operand):
            return False
        block = _common_block([*self.products, *other.products], entry)
        (begins, ends), (others_begin, others_end) = self._span(block), other._span(block)
        return ends < others_begin or others_end < begins

    def _span(self, block: Block) -> tuple[int, int]:
        """Where in a block their use begins and ends."""
        order = numbered(block.ops)
        if any(member.owner is block for member in self.members):
            return 0, len(order)  # carried by the loop
        ops = *self.products, *users(*self.members)
        inner = map(block.find_ancestor_op_in_block, ops)
        places = [len(order) if op is None else order[op] for op in inner]
        return min(places), max(places)


def _places(entry: EntryOp, products: list[Multiplication]) -> list[_AccumulatorPlace]:
    values, shared = _shared_columns(entry)
    alone = SharedBlocks.of(entry).ctas == 1  # A pair's 64 rows are in all lanes.
    places: dict[tuple[SSAValue, str], _AccumulatorPlace] = {}
    for op in products:
        types = product_types(op)
        assert types is not None
        columns = Accumulators(extents_of(op), types[2], 0, WARP_BITS).columns
        key = shared.find(op.result), f"{types[2]}{isinstance(op, MmaFScaledOp)}"
        scales, operand = scale_columns(op), operand_columns(op)
        form = extents_of(op), key[1]
        members = [value for value in values if shared.find(value) is key[0]]
        halved = alone and extents_of(op)[1] < LANES
        made = _AccumulatorPlace(form, columns + scales, members, [], scales, halved)
        place = places.setdefault(key, made)
        more = max(operand - place.operand, 0)
        place.columns, place.operand = place.columns + more, place.operand + more
        place.products.append(op)
    return list(places.values())


def _common_block(products: list[Multiplication], entry: EntryOp) -> Block:
    """The innermost block that all products are in."""
    block, inner = entry.body.block, products[0].parent
    while inner is not None and inner is not block:
        if all(map(inner.find_ancestor_op_in_block, products)):
            return inner
        holder = inner.parent_op()
        inner = None if holder is None else holder.parent
    return block


def accumulator_columns(entry: EntryOp) -> int:
    """The columns of tensor memory that a kernel's accumulators take."""
    return max(
        (
            own.column + own.columns + max(scale_columns(op), _operand_end(op, own))
            for op in descendants(entry, Multiplication)
            if (own := accumulators_of(op, WARP_BITS)) is not None
        ),
        default=0,
    )


def _operand_end(op: Multiplication, own: Accumulators) -> int:
    """The columns behind accumulators up to the end of A."""
    packed = packed_operand(op, WARP_BITS) if OPERAND in op.attributes else None
    return 0 if packed is None else packed.column + packed.columns - own.column - own.columns


def accumulator_stages(entry: EntryOp, arch: Target, plan: Pipelines) -> int:
    """Between how many stages of columns sums of tiles alternate: two where a loop goes over tiles,
    each of whose sums begin at zero and add what TMA loads for MMAs alone, and there is room."""
    products = products_in(entry)
    taken = 2 * accumulator_columns(entry)
    stored = any(OPERAND in op.attributes for op in products)
    if stored or len({op.parent for op in products}) != 1 or taken > _room(entry, arch):
        return 1
    alone = are_multiplied_alone(entry, plan)
    return 2 if alone and all(_begins_with_its_tile(op, entry) for op in products) else 1


def are_multiplied_alone(entry: EntryOp, plan: Pipelines) -> bool:
    """True where TMA loads A and B of the products in tensor memory for their MMAs and nobody
    else, but A that threads store there."""
    products = products_in(entry)
    stored = {factors_in(op)[0] for op in products if OPERAND in op.attributes}
    for source in (loaded_by(x) for op in products for x in factors_in(op) if x not in stored):
        planned = None if source is None else plan.of(source.load)
        if planned is None or not planned[1].released_by_mma:
            return False
    return True


def _begins_with_its_tile(op: Operation, entry: EntryOp) -> bool:
    """True of a product whose sums begin anew with each iteration of the one outer loop."""
    loop, begun, result = op.parent_op(), op.operands[2], op.results[0]
    if isinstance(loop, ForOp) and loop.parent_op() is not entry and is_trailing(op, loop):
        (place,) = (use.index for use in result.uses)
        begun, result, loop = loop.init_values[place], loop.results[place], loop.parent_op()
    return (
        isinstance(loop, ForOp)
        and loop.parent_op() is entry
        and is_zero(begun)
        and not any(isinstance(use.operation, ContinueOp) for use in result.uses)
    )


def operand_columns(op: Multiplication) -> int:
    """The columns of A that threads compute, which they store to tensor memory."""
    packed = packed_operand(op, WARP_BITS)
    return 0 if packed is None or loaded_by(op.lhs) is not None else packed.columns


def _why_none(op: Multiplication, entry: EntryOp, arch: Target, leaves: bool) -> str | None:
    if tensor_core_atom(op, arch) is None:
        return "tcgen05.mma multiplies no such types, or no tiles as small"
    if leaves:
        return "a branch leaves a loop, or the kernel behind a multiplication"
    if not all(isinstance(holder, ForOp) for holder in ancestors(op, entry)):
        return "it is in a branch, or in a loop of unknown length"
    return None


def _leaves_late(entry: EntryOp) -> bool:
    """True where a branch does not go on behind its `if`, but those that leave the kernel before
    it multiplies."""
    multiplies = False
    for op in entry.body.block.ops:
        for inner in op.walk():
            multiplies |= isinstance(inner, Multiplication)
            if isinstance(inner, IfOp) and (multiplies or inner is not op):
                blocks = [region.block for region in inner.regions if region.blocks]
                if any(not isinstance(block.last_op, YieldOp) for block in blocks):
                    return True
    return False


def _shared_columns(entry: EntryOp) -> tuple[list[SSAValue], DisjointSet[SSAValue]]:
    """The values of multiplications and loops, and which had better be in the same columns."""
    joined: list[tuple[SSAValue, SSAValue]] = []
    for op in entry.walk():
        if isinstance(op, Multiplication):
            joined.append((op.result, op.acc if _may_be_there(op.acc) else op.result))
        elif isinstance(op, ForOp):
            for initial, argument, *others in passed_on(op):
                if isinstance(argument.type, TileType):
                    there = filter(_may_be_there, (initial, *others))
                    joined += [(value, argument) for value in there]
    values = [*dict.fromkeys(value for pair in joined for value in pair)]
    shared = DisjointSet(values)
    for one, other in joined:
        shared.union(one, other)
    return values, shared


def _may_be_there(value: SSAValue) -> bool:
    """True of a result of a multiplication, and of a value that a loop carries."""
    return isinstance(value, BlockArgument) or isinstance(value.owner, Multiplication | ForOp)
