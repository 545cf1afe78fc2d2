"""Tile blocks that several CTAs compute, as `num_cta_in_cga` hints, where registers of one are too
few, or a launch has few blocks: each CTA has its part of every tile that has to do with a product.

A kernel stays whole where CTAs would store the same, or one would access what another one writes.
The rewritten entry is Tile IR: with a grid of so many times the blocks along x, one for each CTA,
it computes the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import UnitAttr, i32
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.cuda_tile.enums import MemoryOrderingSemantics, Signedness
from tilewright.dialects.cuda_tile.ops import core, integer
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
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target
from tilewright.dialects.cute_nvgpu.lattice.tmem import DATACENTER_BLACKWELL
from tilewright.dialects.ptx.control_flow import BLOCK_CTAS
from tilewright.passes.cuda_tile.analysis.cost_model import (
    ctas_of_tiles,
    ctas_wanted,
    products_of,
    small_axis,
)
from tilewright.passes.cuda_tile.analysis.hints import hint
from tilewright.passes.cuda_tile.analysis.pair_products import may_be_folded, pair_axis
from tilewright.passes.cuda_tile.analysis.place_accumulators import lacks_columns
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.shared_blocks import MOST_OF_CLUSTER, SharedBlocks
from tilewright.passes.cuda_tile.analysis.split_dimensions import (
    SplitTiles,
    UnsplitError,
    passed_on,
)
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak, reads_only
from tilewright.passes.cuda_tile.analysis.view_access import tensor_of
from tilewright.passes.cuda_tile.layouts.elements import shape_of, tile_type
from tilewright.passes.cuda_tile.layouts.layouts import log2
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication, multiplications
from tilewright.passes.cuda_tile.scheduling.part_accesses import access_part, counted_part
from tilewright.passes.cuda_tile.scheduling.share_blocks import shared_by

_CLUSTERS = target("sm_90")
_MOST = 16
"""The CTAs of a tile block, pairs of which multiply."""
_RELAXED = MemoryOrderingSemantics.RELAXED
_ROWS, _TALL = 64, 128
"""The rows of a CTA's part at least, and from which on rows are split rather than columns."""

MATRICES = -1
"""The dimension in front of rows and columns."""

_KNOWN = (
    PureOp, AssumeOp, ReduceOp, ScanOp, ForOp, LoopOp, IfOp, LoadViewTkoOp, StoreViewTkoOp,
    LoadPtrTkoOp, StorePtrTkoOp, AssertOp, BreakOp, ContinueOp, YieldOp, ReturnOp, EntryOp,
    GetIndexSpaceShapeOp, GetTensorShapeOp,
)  # fmt: skip
AxisOf = Callable[[int, int, int], int | None]
"""Along which dimension a product is split, by its rows, columns and the parts: None, along
none."""

Atomic = AtomicRMWTkoOp | AtomicCASTkoOp | AtomicRedViewTkoOp


def split_blocks(entry: EntryOp, arch: Target | None) -> None:
    """Split the tile block of an entry as it hints, and say so in its attributes, once."""
    if arch is None or BLOCK_CTAS in entry.attributes:
        return
    hinted = hint(entry, "num_cta_in_cga", arch)
    ctas = hinted
    if ctas is None:
        ctas = 2 if lacks_columns(entry, arch) else ctas_wanted(entry, arch)
    if ctas == 1:
        if hinted is None:
            _share(entry, arch)
        return
    while ctas > 1:
        try:
            _split(entry, arch, ctas)
        except UnsplitError as why:
            if hinted is not None:
                remark(entry, "hint", f"num_cta_in_cga = {ctas} is not honoured: {why}")
                return
            ctas //= 2
        else:
            return


def _split(entry: EntryOp, arch: Target, ctas: int) -> None:
    """Split a tile block between so many CTAs."""
    pairs = arch.supports(DATACENTER_BLACKWELL)
    if not arch.supports(_CLUSTERS) or ctas > (_MOST if pairs else MOST_OF_CLUSTER):
        raise UnsplitError(f"the target has no clusters of {ctas}")
    axes: list[AxisOf] = [_axis, _of_matrices]
    if pairs:
        # CTAs that multiply as pairs share rows.
        axes = [_pair_axis if may_be_folded(multiplications(entry)) else _axis]
    _rewrite(_split_along(entry, ctas, axes), SharedBlocks(ctas))


def _split_along(entry: EntryOp, ctas: int, axes: Sequence[AxisOf]) -> SplitTiles:
    """The tiles of an entry, split along the first of some dimensions of its products along which
    they can be. Raises UnsplitError, which says why not along the first of all."""
    failed: list[UnsplitError] = []
    for axis_of in axes:
        split = SplitTiles(entry, ctas)
        try:
            check_ops(entry)
            split.copy_cheap()
            split_products(split, axis_of)
            check_parts(split)
        except UnsplitError as why:
            failed.append(why)
        else:
            return split
    raise failed[0]


def _share(entry: EntryOp, arch: Target) -> None:
    """Split a block of a small grid, or whose tiles threads that multiply by themselves have no
    registers for, into as many parts as there may be."""
    ctas, axes = ctas_of_tiles(entry, arch), [_of_matrices, _of_longer]
    if products_of(entry, arch):
        ctas, axes = shared_by(entry), [small_axis]
    while ctas > 1:
        try:
            _rewrite(_split_along(entry, ctas, axes), SharedBlocks(ctas, clustered=False))
        except UnsplitError:
            ctas //= 2
        else:
            return


def split_products(split: SplitTiles, axis_of: AxisOf) -> None:
    """Split every product, and all that is stored."""
    ops = list(split.entry.walk())
    products = [op.results[0] for op in ops if isinstance(op, Multiplication)]
    if not products:
        raise UnsplitError("the kernel multiplies no matrices")
    for product in products:
        if product in split.axes:
            continue
        *_, rows, columns = shape_of(product)
        axis = axis_of(rows, columns, split.parts)
        place = -1 if axis is None else tile_type(product).rank - 2 + axis
        if place < 0:
            raise UnsplitError(f"a product of {rows}x{columns} is too small")
        split.spread(product, place)
    for op in ops:
        if isinstance(op, StoreViewTkoOp | StorePtrTkoOp):
            stored = op.tile if isinstance(op, StoreViewTkoOp) else op.value
            if stored not in split.axes:
                raise UnsplitError("each CTA would store the same")


def _axis(rows: int, columns: int, parts: int) -> int | None:
    """Rows are split where enough are left to each CTA, else columns."""
    if rows >= _TALL * parts or columns < _ROWS * parts <= rows:
        return 0
    return 1 if columns >= _ROWS * parts else None


def _of_matrices(*_: int) -> int:
    return MATRICES


def _of_longer(rows: int, columns: int, _: int) -> int:
    return int(columns > rows)


def _pair_axis(rows: int, columns: int, parts: int) -> int | None:
    """Rows are split where the two multiply together."""
    axis = pair_axis(rows, columns, parts)
    return _axis(rows, columns, parts) if axis is None else axis


def check_ops(entry: EntryOp, *, by_turns: bool = False) -> None:
    """Raise where CTAs would do twice what is to be done once, or would need an order; turns of one
    CTA have atomics, and accesses that are not weak where these come after no other."""
    stores = False
    for op in entry.walk():
        if not (isinstance(op, _KNOWN) or (by_turns and isinstance(op, Atomic))):
            raise UnsplitError(f"'{op.name}' is for one CTA")
        if isinstance(op, StoreViewTkoOp | StorePtrTkoOp | Atomic):
            stores, seen = True, set[SSAValue]()
            if not _follows_itself(op.token, op, seen):
                raise UnsplitError("a store comes after another access")
            first = all(x.owner is op or not isinstance(x.owner, MemoryOp) for x in seen)
            if not (is_weak(op) or (by_turns and (first or op.ordering is _RELAXED))):
                raise UnsplitError("a store is not weak")
    for op in entry.walk():
        if isinstance(op, LoadViewTkoOp | LoadPtrTkoOp) and stores and (
            not (is_weak(op) or (by_turns and _is_first(op.token))) or not reads_only(op.token)
        ):  # fmt: skip
            raise UnsplitError("a load comes after a write, or is not weak")


def _is_first(token: SSAValue | None) -> bool:
    return token is None or isinstance(token.owner, MakeTokenOp)


def check_parts(split: SplitTiles) -> None:
    """Raise where one part may be stored to where another one has yet to be loaded from: a store
    comes after loads, but not of the same part."""
    for op in split.entry.walk():
        if isinstance(op, StoreViewTkoOp | StorePtrTkoOp | Atomic):
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


def _rewrite(split: SplitTiles, blocks: SharedBlocks) -> None:
    """Rewrite an entry for a CTA's part of its blocks."""
    blocks.mark(split.entry)
    for op in rewrite_parts(split, _number(split)):
        op.attributes[SharedBlocks.PART] = UnitAttr()


def rewrite_parts(split: SplitTiles, number: SSAValue) -> list[Operation]:
    """Rewrite an entry for the part of a number; the accesses to parts of tiles."""
    parts: list[Operation] = []
    for op in list(split.entry.walk()):
        if isinstance(op, ViewAccess) and op.accessed in split.axes:
            access_part(op, split.axes[op.accessed], split.parts, number)
            parts.append(op)
    for value in split.axes:
        made, type_ = value.owner, split.type_of(value)
        if isinstance(made, core.ConstantOp):
            made.properties["value"] = ElementsAttr(type_, made.elements.data)
        if isinstance(made, AssumeOp):
            value.replace_all_uses_with(made.value)
            continue
        uses = list(value.uses)
        Rewriter.replace_value_with_new_type(value, type_)
        if isinstance(made, core.IotaOp):
            total = counted_part(made, number)
            for use in uses:
                use.operation.operands[use.index] = total
    return parts


def _number(split: SplitTiles) -> SSAValue:
    """The number of the CTA among those of its block; blocks are numbered without it."""
    for op in list(split.entry.walk()):
        if isinstance(op, core.GetTileBlockIdOp | core.GetNumTileBlocksOp):
            after, uses = TileBuilder(op, InsertPoint.after(op)), list(op.results[0].uses)
            operands = [op.results[0], after.constant(log2(split.parts), i32)]
            own = after.add(integer.ShRIOp, operands, signedness=Signedness.UNSIGNED)
            for use in uses:
                use.operation.operands[use.index] = own
    at = TileBuilder(split.entry, InsertPoint.at_start(split.entry.body.block))
    own = at.insert(core.GetTileBlockIdOp.create(result_types=[TileType.get((), i32)] * 3))
    return at.add(integer.AndIOp, [own.results[0], at.constant(split.parts - 1, i32)])


def _follows_itself(token: SSAValue | None, store: Operation, seen: set[SSAValue]) -> bool:
    """True where nothing but loads, and a store itself in an earlier turn of a loop, is before a
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
        case LoadViewTkoOp() | LoadPtrTkoOp():
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
