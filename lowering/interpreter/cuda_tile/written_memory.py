"""Which memory a kernel may write: what its stores can reach, from the arguments on.

Loads from memory that no store reaches need no copy, and no race can be there.
"""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.module import EntryOp, GetGlobalOp
from tilewright.dialects.cuda_tile.types import PointerType, TensorViewType, TileType, TileView

ANYTHING = "*"
"""Memory that the analysis cannot name."""

_DESTINATIONS = {
    "store_ptr_tko": "destination",
    "atomic_rmw_tko": "pointers",
    "atomic_cas_tko": "pointers",
    "store_view_tko": "view",
    "atomic_red_view_tko": "view",
    "multimem_store_view_tko": "view",
    "multimem_reduce_view_tko": "view",
}
Origins = frozenset[int | str]
_NOWHERE: Origins = frozenset()


def written_memory(entry: EntryOp, ops: Sequence[Operation]) -> Origins:
    """The arguments (by number) and globals (by name) that a kernel of these ops may write;
    `ANYTHING` where addresses come from elsewhere."""
    origins: dict[SSAValue, Origins] = {
        argument: frozenset({i})
        for i, argument in enumerate(entry.body.block.args)
        if _addresses(argument)
    }
    loops = any(op.name in ("cuda_tile.for", "cuda_tile.loop") for op in ops)
    changed = True
    while changed:
        changed = False
        for op in ops:
            changed |= _flow(op, origins)
        changed &= loops  # all else hands values on to what comes later
    written: set[int | str] = set()
    for op in ops:
        field = _DESTINATIONS.get(op.name.removeprefix("cuda_tile."))
        if field is not None:
            written |= origins.get(getattr(op, field), _NOWHERE)
    return frozenset(written)


def _flow(op: Operation, origins: dict[SSAValue, Origins]) -> bool:
    """Hand the origins of an op's operands on. Returns whether any grew."""
    if isinstance(op, GetGlobalOp):
        return _grow(origins, op.result, frozenset({op.name_.string_value()}))
    if op.name == "cuda_tile.int_to_ptr":
        return _grow(origins, op.results[0], frozenset({ANYTHING}))
    known = [origins[value] for value in op.operands if value in origins]
    if not known:
        return False
    reached = known[0].union(*known[1:])
    targets: list[SSAValue] = [*op.results]
    for region in op.regions:
        for block in region.blocks:
            targets += block.args
    # What leaves a region by its terminator comes out of an op around it, or into its next turn.
    outer = op.parent_op() if op.next_op is None else None
    while outer is not None and not isinstance(outer, EntryOp):
        targets += outer.results
        for region in outer.regions:
            targets += [] if region.first_block is None else list(region.first_block.args)
        outer = outer.parent_op()
    grown = [_grow(origins, target, reached) for target in targets if _addresses(target)]
    return any(grown)


def _addresses(value: SSAValue) -> bool:
    """True where a value can name memory."""
    type_ = value.type
    if isinstance(type_, TileType):
        return isinstance(type_.element_type, PointerType)
    return isinstance(type_, TensorViewType | TileView)


def _grow(origins: dict[SSAValue, Origins], value: SSAValue, more: Origins) -> bool:
    before = origins.get(value, _NOWHERE)
    origins[value] = before | more
    return not more <= before
