"""Rules of views: tensors in memory, the tiles they are cut into, loads and stores of those."""

from functools import partial
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.ops.multimem import (
    MultimemLoadReduceViewTkoOp,
    MultimemStoreViewTkoOp,
)
from tilewright.dialects.cuda_tile.ops.views import (
    GetIndexSpaceShapeOp,
    GetTensorShapeOp,
    LoadViewTkoOp,
    MakeGatherScatterViewOp,
    MakePartitionViewOp,
    MakeStridedViewOp,
    MakeTensorViewOp,
    StoreViewTkoOp,
)
from tilewright.dialects.cuda_tile.types import DYNAMIC, TensorViewType, TileView
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.cuda_tile.accesses import Kind
from tilewright.lowering.interpreter.cuda_tile.blocks import (
    Compute,
    Preparation,
    Step,
    acting,
    computes,
    runs,
    taking_poison,
)
from tilewright.lowering.interpreter.cuda_tile.elements import (
    Element,
    Tile,
    as_unsigned,
    element_of,
    unsigned,
)
from tilewright.lowering.interpreter.cuda_tile.footprints import Footprint
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.lost_values import check_all_kept
from tilewright.lowering.interpreter.cuda_tile.memory_access import (
    Ordering,
    load,
    store,
    store_computed,
    unwritten,
)
from tilewright.lowering.interpreter.cuda_tile.pieces import Unstored
from tilewright.lowering.interpreter.cuda_tile.poison import (
    PADDING,
    UNINITIALIZED,
    AnyTile,
    Marks,
    Poisoned,
    determined,
    marked,
    marks_of,
    tile_of,
    united,
    with_marks,
)
from tilewright.lowering.interpreter.cuda_tile.rules.pointwise import result_element
from tilewright.lowering.interpreter.cuda_tile.values import (
    Rows,
    TensorView,
    TiledView,
    Value,
    merged,
)
from tilewright.lowering.interpreter.cuda_tile.view_places import Numbers, places
from tilewright.lowering.interpreter.errors import Fault, first_of


@computes
def _make_tensor_view(op: MakeTensorViewOp) -> Compute:
    assert isinstance(op.result.type, TensorViewType)
    type_ = op.result.type
    element = element_of(type_.element_type)
    shapes = len(op.dynamic_shape)
    static_shape, static_strides = (np.array([numbers]) for numbers in (type_.shape, type_.strides))

    def run(base: Tile, *dynamic: Tile) -> TensorView:
        shape = _filled(static_shape, dynamic[:shapes])
        return TensorView(element, base, shape, _filled(static_strides, dynamic[shapes:]))

    return run


def _filled(static: Numbers, dynamic: tuple[Tile, ...]) -> Numbers:
    """Numbers [blocks or 1, rank]: the static ones, and in place of `?` the dynamic, unsigned."""
    if not dynamic:
        return static
    numbers = np.repeat(static, max(map(len, dynamic)), axis=0)
    for axis, column in zip(np.flatnonzero(static[0] == DYNAMIC), dynamic, strict=True):
        numbers[:, axis] = as_unsigned(column)
    return numbers


@computes(MakePartitionViewOp, MakeStridedViewOp, MakeGatherScatterViewOp)
def _make_view(op: Operation) -> Compute:
    type_ = op.results[0].type
    assert isinstance(type_, TileView)

    return partial(TiledView, type_)


@computes(GetTensorShapeOp, GetIndexSpaceShapeOp)
def _extents(op: Operation) -> Compute:
    dtype = result_element(op).dtype if op.results else np.dtype(np.int32)

    def run(view: TensorView | TiledView) -> Any:
        return _columns(view.shape if isinstance(view, TensorView) else view.index_space(), dtype)

    return run


def _columns(numbers: Numbers, dtype: np.dtype[Any]) -> Any:
    """Extents as numbers of a type, which are unsigned. A fault where it does not hold them."""
    most = np.iinfo(unsigned(dtype)).max if dtype != np.bool_ else 1
    if numbers.size and (row := first_of(numbers > most)) is not None:
        raise Fault(
            f"expected extents of at most {most}, which the result holds, got {numbers[row].max()}",
            row if len(numbers) > 1 else None,
        )
    columns = tuple(numbers[:, i].astype(dtype) for i in range(numbers.shape[1]))
    return columns[0] if len(columns) == 1 else columns


_PADDINGS = {
    PaddingValue.ZERO: 0.0,
    PaddingValue.NEG_ZERO: -0.0,
    PaddingValue.NAN: np.nan,
    PaddingValue.POS_INF: np.inf,
    PaddingValue.NEG_INF: -np.inf,
}


def padding_of(view: TileView, element: Element) -> Any:
    """The element that a load gives outside of the tensor; zero where Tile IR leaves it open."""
    value = _PADDINGS[view.padding_value or PaddingValue.ZERO]
    return np.asarray(value).astype(element.dtype)


@frozen
class LeftOpen:
    """The numbers of what a load of a view leaves undefined; None for what it does not."""

    padding: int | None
    uninitialized: int | None

    def marking(self, footprint: Footprint, tile: Tile) -> AnyTile:
        """The tiles of a footprint with their marks."""
        if self.uninitialized is not None and (empty := unwritten(footprint)) is not None:
            inside = footprint.inside()
            marks = marked(empty, self.uninitialized)
            if self.padding is not None and inside is not None:
                marks = united([marks, marked(~inside, self.padding)])
            return with_marks(tile, marks)
        rows = footprint.partial()
        if self.padding is None or (rows is not None and not len(rows)):
            return tile
        inside = footprint.inside(rows)
        return tile if inside is None else with_marks(tile, marked(~inside, self.padding), rows)


def _known_index(
    view: TiledView, index: tuple[AnyTile, ...]
) -> tuple[tuple[Tile, ...], Marks | None]:
    """An index that is determined, and the marks of the tile's rows whose number was not: in place
    of it is one that no tensor has, as Tile IR reads none of those."""
    sparse = view.sparse_dim
    rows = None if sparse is None else index[sparse]
    if not isinstance(rows, Poisoned):
        return tuple(determined(number, "indices") for number in index), None
    assert sparse is not None
    known = np.where(marks_of(rows), rows.tile.dtype.type(-1), rows.tile)
    rest = (*index[:sparse], known, *index[sparse + 1 :])
    rank = len(view.type.tile_shape)
    extents = [-1 if axis == sparse else 1 for axis in range(rank)]
    marks = marks_of(rows).reshape(len(rows), *extents)
    return tuple(determined(number, "indices") for number in rest), marks


def _last(tile: Tile, footprint: Footprint) -> Tile:
    """The tile that stays where several blocks store into one place: the last block's."""
    return tile[-1:] if len(footprint.low) == 1 else tile


# One device has one copy of a multicast object: its reduction is that copy.
@runs
def _load(op: LoadViewTkoOp | MultimemLoadReduceViewTkoOp, preparation: Preparation) -> Step:
    ordering, count, flag = Ordering(op, Kind.READ), len(op.index), op.nan_flag
    open_padding = op.view.type.padding_value is None  # type: ignore[attr-defined]
    left_open = LeftOpen(
        preparation.left_open(op, PADDING) if open_padding else None,
        preparation.left_open(op, UNINITIALIZED),
    )

    def run(frame: Frame, view: TiledView, *rest: Any) -> tuple[AnyTile, int]:
        own = token = rest[count] if len(rest) > count else 0
        element = view.tensor.element
        nan = flag is not None and bool(np.any(cast("Tile", frame[flag])))
        padding = element.dtype.type(np.nan) if nan else padding_of(view.type, element)
        parts: list[tuple[Rows, Value]] = []
        numbers, gathered = _known_index(view, rest[:count])
        for place in places(frame, op, view, numbers):
            own |= ordering.note(place.of(frame), place.footprint, token)
            tiles = load(place.footprint, element, padding)
            rows = np.arange(frame.count) if place.rows is None else place.rows
            parts.append((rows, left_open.marking(place.footprint, tiles)))
        result: Any = merged(parts, np.arange(frame.count))
        if gathered is not None:
            result = with_marks(tile_of(result), united([marks_of(result), gathered]))
        return result, own

    return taking_poison(acting(op, run))


@runs
def _store(op: StoreViewTkoOp | MultimemStoreViewTkoOp, _: Preparation) -> Step:
    ordering = Ordering(op, Kind.WRITE)
    tile_value, view_value, indices, token_value = op.tile, op.view, tuple(op.index), op.token

    def run(frame: Frame, *_: Any) -> int:
        view: Any = frame[view_value]
        tile: Any = frame[tile_value]
        element = view.tensor.element
        own = token = frame.optional(token_value, 0)
        numbers = tuple(determined(frame[value], "indices") for value in indices)
        for place in places(frame, op, view, numbers):
            footprint, some = place.footprint, place.of(frame)
            own |= ordering.note(some, footprint, token)
            if isinstance(tile, Unstored):
                if store_computed(footprint, element, tile):
                    continue
                tile = tile.tile()
            part = _last(place.part_of(tile, "values to store", frame.count), footprint)
            store(footprint, element, part)
            check_all_kept(some, op, footprint, part)
        return own

    step = taking_poison(acting(op, run))
    step.stores = (id(tile_value),)
    return step
