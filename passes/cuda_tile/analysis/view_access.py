"""The tiles of a view in memory: which dimension runs along neighbours, how many of them one access
may move, and which edges need no mask."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd

from xdsl.ir import SSAValue

from tilewright.dialects.ancestors import users
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.ops.core import CatOp, ReshapeOp
from tilewright.dialects.cuda_tile.ops.memory import StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import (
    ANYWHERE,
    NAN_FLAG,
    LoadViewTkoOp,
    MakeGatherScatterViewOp,
    MakePartitionViewOp,
    MakeStridedViewOp,
    MakeTensorViewOp,
    MakeView,
    StoreViewTkoOp,
    ViewAccess,
)
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    GatherScatterViewType,
    MappedView,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    TileType,
    TileView,
)
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.dialects.frozen import frozen
from tilewright.passes.cuda_tile.analysis.facts import ANYTHING, divisor, pointee_bytes
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.layouts.elements import element_of, scalar_type, tile_type
from tilewright.passes.cuda_tile.layouts.find_layouts import (
    FINDERS,
    LayoutTable,
    order_of,
)
from tilewright.passes.cuda_tile.layouts.layouts import (
    TileLayout,
    above,
    dim_bits,
    joined_bits,
    log2,
)

WIDEST = 16
"""The most bytes that one access moves."""
PADDING_WORD = "padding_word"
"""Attribute of a load: what lies outside of the tensor, where no `padding_value` says it."""
CACHE = "cache"
"""Attribute of a load: how caches keep it, in PTX's words."""

Extent = int | SSAValue


@frozen
class TileDimension:
    """A dimension of a view's tiles: the elements of a tile along it, those from one index to the
    next, the tensor's size and stride, and whether tiles lie within the tensor for sure."""

    extent: int
    step: int
    size: Extent
    stride: Extent
    within: bool
    gathered: bool

    @property
    def size_divisor(self) -> int:
        """A divisor of the tensor's size."""
        return _divisor(self.size)

    @property
    def stride_divisor(self) -> int:
        """A divisor of its stride."""
        return _divisor(self.stride)


def _divisor(extent: Extent) -> int:
    if isinstance(extent, int):
        return extent & -extent if extent else ANYTHING
    return divisor(extent)


def tensor_of(view: SSAValue) -> MakeTensorViewOp:
    """The tensor that a view cuts into tiles, or that a tensor view is."""
    while not isinstance(view.owner, MakeTensorViewOp):
        owner = view.owner
        assert isinstance(owner, MakeView | AssumeOp)
        view = owner.operands[0]
    return view.owner


def extents_of(tensor: MakeTensorViewOp) -> tuple[list[Extent], list[Extent]]:
    """The sizes and strides of a tensor."""
    type_ = tensor.result.type
    assert isinstance(type_, TensorViewType)
    return (
        _filled(type_.shape, list(tensor.dynamic_shape)),
        _filled(type_.strides, list(tensor.dynamic_strides)),
    )


def _filled(static: tuple[int, ...], dynamic: list[SSAValue]) -> list[Extent]:
    rest = iter(dynamic)
    return [next(rest) if extent == DYNAMIC else extent for extent in static]


MAKES: dict[type[TileView], type[MakeView]] = {
    PartitionViewType: MakePartitionViewOp,
    StridedViewType: MakeStridedViewOp,
    GatherScatterViewType: MakeGatherScatterViewOp,
}
"""The op that makes a view, by the view's type."""


def view_like(
    view: TileView, tensor: TensorViewType, axis: int, extent: int, step: int,
    padding: PaddingValue | None = None,
) -> TileView:  # fmt: skip
    """The view of a tensor whose tiles differ from another's along an axis: in their extent, and,
    where tiles are strided, in the step from one to the next."""
    shape = tuple(extent if i == axis else x for i, x in enumerate(view.tile_shape))
    match view:
        case StridedViewType():
            steps = tuple(step if i == axis else x for i, x in enumerate(view.traversal_strides))
            return StridedViewType.get(shape, steps, tensor, view.dim_map, padding)
        case GatherScatterViewType():
            return GatherScatterViewType.get(shape, tensor, view.sparse_dim, padding)
        case _:
            assert isinstance(view, PartitionViewType)
            return PartitionViewType.get(shape, tensor, view.dim_map, padding)


def pads_zero(op: ViewAccess) -> bool:
    """True where a load gives zero outside of the tensor."""
    zero = op.view_type.padding_value in (None, PaddingValue.ZERO)
    return zero and PADDING_WORD not in op.attributes and NAN_FLAG not in op.attributes


def tile_dimensions(op: ViewAccess) -> list[TileDimension]:
    """The dimensions of the tile of an access."""
    anywhere = ANYWHERE in op.attributes
    return dimensions_of(op.view_type, tensor_of(op.view), op.within, anywhere=anywhere)  # type: ignore[attr-defined]


def dimensions_of(
    view: TileView, tensor: MakeTensorViewOp, within: tuple[bool, ...], *, anywhere: bool = False
) -> list[TileDimension]:
    """The dimensions of the tiles of a view, where an index names one, unless it is `anywhere`."""
    sizes, strides = extents_of(tensor)
    along = view.dim_map if isinstance(view, MappedView) else range(view.index_rank)
    sparse = view.sparse_dim if isinstance(view, GatherScatterViewType) else None
    dimensions: list[TileDimension] = []
    for i, (extent, axis) in enumerate(zip(view.tile_shape, along, strict=True)):
        step, size = extent, sizes[axis]
        if isinstance(view, StridedViewType):
            step = view.traversal_strides[i]
        elif sparse is not None:
            step = 1
        whole = not anywhere and step == extent and _divisor(size) % extent == 0
        inside = i != sparse and (whole or within[i])
        dimensions.append(TileDimension(extent, step, size, strides[axis], inside, i == sparse))
    return dimensions


def tile_bytes(load: LoadViewTkoOp) -> int:
    """The bytes of memory that a tile takes."""
    return tile_type(load.tile).elements * pointee_bytes(tensor_of(load.view).base)


def contiguous(dimensions: list[TileDimension]) -> int | None:
    """The dimension along which a tile's elements are neighbours."""
    fitting = [
        i
        for i, dimension in enumerate(dimensions)
        if dimension.stride == 1 and not dimension.gathered
    ]
    return max(fitting, key=lambda i: dimensions[i].extent, default=None)


def run_bits(op: ViewAccess, dimensions: list[TileDimension], *, divided: bool = False) -> int:
    """The neighbours that one access moves, as bits of their number; `divided` where some of them
    may lie within the tensor and others outside."""
    along = contiguous(dimensions)
    if along is None:
        return 0
    tensor, size = tensor_of(op.view), _size(op)  # type: ignore[attr-defined]
    aligned = gcd(WIDEST, max(divisor(tensor.base), divisor(op.view)))  # type: ignore[attr-defined]
    indices: list[SSAValue] = list(op.index)  # type: ignore[attr-defined]
    for i, (dimension, index) in enumerate(zip(dimensions, indices, strict=True)):
        stride = size * _divisor(dimension.stride)
        first = dimension.step * (1 if dimension.gathered else divisor(index))
        if i == along:
            aligned = gcd(aligned, size * first, size * dimension.extent)
            if not (dimension.within or divided):
                aligned = gcd(aligned, size * dimension.size_divisor)
        elif dimension.extent > 1 and not dimension.gathered:
            aligned = gcd(aligned, stride)
        else:
            aligned = gcd(aligned, stride * first)
    return log2(max(aligned // size, 1))


def _size(op: ViewAccess) -> int:
    """The bytes of an element in memory."""
    element = tensor_of(op.view).result.type.element_type  # type: ignore[attr-defined]
    return max(ELEMENT_OF[element].bits // 8, 1)


def access_layout(op: ViewAccess, table: LayoutTable) -> TileLayout:
    """The layout in which the threads of a warp access neighbours, in runs as wide as may be."""
    dimensions = tile_dimensions(op)
    along = contiguous(dimensions)
    _remark_width(op, dimensions)
    bits = dim_bits(op.view_type.tile_shape)
    own, others = () if along is None else bits[along], above(bits, along)
    run = run_bits(op, dimensions)
    if op.results[1:] and own[:1] == range(1):
        # Beside narrower elements a thread loads as many neighbours as of those: both have one
        # layout then.
        beside = [run_bits(x, tile_dimensions(x)) for x in _loaded_beside(op.results[0])]
        run = max(run, min(max(beside, default=0), log2(2 * WIDEST // _size(op))))
    order = [*own, *others]
    if op.results[1:]:
        run = min([run, *_stored_runs(op.results[0])])
        order = order_of(op.results[0], own, others, table.thread_bits, run)
    return table.dealt(order, run)


def _loaded_beside(tile: SSAValue) -> Iterator[LoadViewTkoOp]:
    """The loads of the tiles that are read with a tile, or with what is computed of it, element by
    element; any may be reshaped."""
    seen, count = {tile}, tile_type(tile).elements
    for value in (pending := [tile]):
        if isinstance(value.owner, LoadViewTkoOp):
            yield value.owner
        for op in (value.owner, *users(value)):
            moves = type(op) in FINDERS and not isinstance(op, ReshapeOp)
            if moves or not isinstance(op, PureOp):
                continue
            for x in (*op.operands, *op.results):
                if x not in seen and isinstance(x.type, TileType) and x.type.elements == count:
                    seen.add(x)
                    pending.append(x)


def _stored_runs(tile: SSAValue) -> Iterator[int]:
    """The bits of the neighbours of a tile that one access stores where each becomes several, of
    tiles joined element by element: lanes then store what lies side by side."""
    seen = {tile}
    for value, bits in (todo := [(tile, 0)]):
        for op in users(value):
            if isinstance(op, StoreViewTkoOp | StorePtrTkoOp):
                if bits:
                    yield max(
                        log2(WIDEST // bytes_of(scalar_type(op, element_of(value)))) - bits, 0
                    )
            elif op.results and op.results[0] not in seen and (
                isinstance(op, ReshapeOp | CatOp) or (type(op) not in FINDERS and not op.regions)
            ):  # fmt: skip
                own = isinstance(op, CatOp) and joined_bits(op)[0] == 0
                seen.add(op.results[0])
                todo.append((op.results[0], bits + own))


def _remark_width(op: ViewAccess, dimensions: list[TileDimension]) -> None:
    """Say why accesses move less than they may."""
    along, shape, size = contiguous(dimensions), op.view_type.tile_shape, _size(op)
    if along is None:
        remark(op, "vector", f"'{op.name}' moves one element at a time: no dimension of the tensor "
               "is known to have stride 1")  # fmt: skip
        return
    moved, most = size << run_bits(op, dimensions), min(WIDEST, size * shape[along])
    if moved < most:
        proven = f"the address, the strides and dimension {along} of the tensor"
        remark(op, "vector", f"'{op.name}' moves {moved} bytes at a time, not {most}: no more is "
               f"proven of {proven}")  # fmt: skip
