"""Entries whose tiles are split: whether they can be, and what they are for a part."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.enums import MemoryOrderingSemantics
from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp, ScanOp
from tilewright.dialects.cuda_tile.ops.control_flow import (
    AssertOp,
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LoopOp,
    ReturnOp,
    YieldOp,
)
from tilewright.dialects.cuda_tile.ops.memory import (
    AtomicCASTkoOp,
    AtomicRMWTkoOp,
    GridDependency,
    JoinTokensOp,
    LoadPtrTkoOp,
    MakeTokenOp,
    MemoryOp,
    StorePtrTkoOp,
)
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import (
    AtomicRedViewTkoOp,
    GetIndexSpaceShapeOp,
    GetTensorShapeOp,
    LoadViewTkoOp,
    StoreViewTkoOp,
    ViewAccess,
)
from tilewright.passes.cuda_tile.analysis.split_dimensions import SplitTiles, UnsplitError
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak, reads_only
from tilewright.passes.cuda_tile.analysis.view_access import tensor_of
from tilewright.passes.cuda_tile.layouts.elements import shape_of, tile_type
from tilewright.passes.cuda_tile.layouts.mma_layouts import multiplications
from tilewright.passes.cuda_tile.layouts.passed_values import passed_on
from tilewright.passes.cuda_tile.scheduling.part_accesses import access_part, as_part

AxisOf = Callable[[int, int, int], int | None]
"""Along which dimension a product is split, by its rows, columns and the parts: None, along
none."""

Atomic = AtomicRMWTkoOp | AtomicCASTkoOp | AtomicRedViewTkoOp


_KNOWN = (
    PureOp, AssumeOp, ReduceOp, ScanOp, ForOp, LoopOp, IfOp, LoadViewTkoOp, StoreViewTkoOp,
    LoadPtrTkoOp, StorePtrTkoOp, AssertOp, BreakOp, ContinueOp, YieldOp, ReturnOp, EntryOp,
    GetIndexSpaceShapeOp, GetTensorShapeOp, GridDependency,
)  # fmt: skip


def split_entry(
    entry: EntryOp, parts: int, spread: Callable[[SplitTiles], object],
    *, in_loops: bool = False, folds: bool = False,
) -> SplitTiles:  # fmt: skip
    """The tiles of an entry in so many parts, where `spread` splits some: for CTAs that have a part
    each, or for loops over them. Raises UnsplitError where the entry is to stay whole."""
    split = SplitTiles(entry, parts, folds)
    _check_ops(entry, in_loops=in_loops)
    split.copy_cheap()
    spread(split)
    check_parts(split)
    return split


def spread_longest(split: SplitTiles, tiles: Iterable[SSAValue]) -> None:
    """Split tiles along their longest dimensions that can be."""
    for tile in tiles:
        if tile not in split.axes:
            shape = shape_of(tile)
            split.spread_along(tile, sorted(range(len(shape)), key=lambda i: -shape[i]))


def split_products(split: SplitTiles, axis_of: AxisOf) -> None:
    """Split every product, and all that is stored."""
    products = multiplications(split.entry)
    if not products:
        raise UnsplitError("the kernel multiplies no matrices")
    for product in [op.result for op in products]:
        if product in split.axes:
            continue
        *_, rows, columns = shape_of(product)
        axis = axis_of(rows, columns, split.parts)
        place = -1 if axis is None else tile_type(product).rank - 2 + axis
        if place < 0:
            raise UnsplitError(f"a product of {rows}x{columns} is too small")
        split.spread(product, place)
    for op in descendants(split.entry, StoreViewTkoOp | StorePtrTkoOp):
        stored = op.tile if isinstance(op, StoreViewTkoOp) else op.value
        if stored not in split.axes:
            raise UnsplitError("each CTA would store the same")


def _check_ops(entry: EntryOp, *, in_loops: bool) -> None:
    """Raise where CTAs would do twice what is to be done once, or would need an order; loops of one
    CTA have atomics, and accesses that are not weak where these come after no other."""
    stores = False
    for op in entry.walk():
        if not (isinstance(op, _KNOWN) or (in_loops and isinstance(op, Atomic))):
            raise UnsplitError(f"'{op.name}' is for one CTA")
        if isinstance(op, StoreViewTkoOp | StorePtrTkoOp | Atomic):
            stores, seen = True, set[SSAValue]()
            if not _follows_itself(op.token, op, seen):
                raise UnsplitError("a store comes after another access")
            first = all(x.owner is op or not isinstance(x.owner, MemoryOp) for x in seen)
            may_be_first = first or op.ordering is MemoryOrderingSemantics.RELAXED
            if not (is_weak(op) or (in_loops and may_be_first)):
                raise UnsplitError("a store is not weak")
    for op in entry.walk():
        if isinstance(op, LoadViewTkoOp | LoadPtrTkoOp) and stores and (
            not (is_weak(op) or (in_loops and _is_first(op.token))) or not reads_only(op.token)
        ):  # fmt: skip
            raise UnsplitError("a load comes after a write, or is not weak")


def _is_first(token: SSAValue | None) -> bool:
    return token is None or isinstance(token.owner, MakeTokenOp)


def check_parts(split: SplitTiles) -> None:
    """Raise where one part may be stored to where another one has yet to be loaded from: a store
    comes after loads, but not of the same part."""
    for op in descendants(split.entry, StoreViewTkoOp | StorePtrTkoOp | Atomic):
        seen: set[SSAValue] = set()
        _follows_itself(op.token, op, seen)
        for load in {token.owner for token in seen if isinstance(token.owner, MemoryOp)}:
            if load is not op and _place(load, split) != _place(op, split):
                raise UnsplitError("a store comes after a load of another part")


def _place(op: Operation, split: SplitTiles) -> tuple[object, ...]:
    """Where the part of a tile is that an op accesses."""
    if not isinstance(op, ViewAccess):
        return op.operands[0], split.axes.get(op.operands[0])
    type_ = op.view_type
    order = type_.tile_shape, getattr(type_, "dim_map", ()), getattr(type_, "traversal_strides", ())
    # Each reader of a constant has one of its own.
    places: list[SSAValue] = list(op.index)  # type: ignore[attr-defined]
    index = [x.owner.elements if isinstance(x.owner, core.ConstantOp) else x for x in places]
    return tensor_of(op.view), order, *index, split.axes.get(op.accessed)  # type: ignore[attr-defined]


def rewrite_parts(split: SplitTiles, number: SSAValue) -> list[Operation]:
    """Rewrite an entry for the part of a number; the accesses to parts of tiles."""
    parts: list[Operation] = []
    for op in list(split.entry.walk()):
        if isinstance(op, ViewAccess) and op.accessed in split.axes:
            access_part(op, split.axes[op.accessed], split.parts, number)
            parts.append(op)
    for value in split.axes:
        if isinstance(made := value.owner, AssumeOp):
            value.replace_all_uses_with(made.value)
            continue
        uses = list(value.uses)
        part = as_part(value, split.type_of(value), number)
        for use in uses if isinstance(made, core.IotaOp) else ():
            use.operation.operands[use.index] = part
    return parts


def _follows_itself(token: SSAValue | None, store: Operation, seen: set[SSAValue]) -> bool:
    """True where nothing but loads, and a store itself in an earlier iteration, is before a
    token: the parts of its tiles that a CTA stores are the same each time."""
    if token is None or token in seen:
        return True
    seen.add(token)
    owner = token.block.parent_op() if isinstance(token, BlockArgument) else token.owner
    match owner:
        case MakeTokenOp():
            return True
        case JoinTokensOp():
            return all(_follows_itself(one, store, seen) for one in owner.tokens)
        case LoadViewTkoOp() | LoadPtrTkoOp() | GridDependency():
            return _follows_itself(owner.token, store, seen)
        case StoreViewTkoOp() | AtomicRMWTkoOp() | AtomicCASTkoOp() | AtomicRedViewTkoOp():
            return owner is store and _follows_itself(owner.token, store, seen)
        case ForOp() | LoopOp() | IfOp():
            return all(
                _follows_itself(value, store, seen)
                for column in passed_on(owner) if token in column for value in column
            )  # fmt: skip
        case _:
            return False
