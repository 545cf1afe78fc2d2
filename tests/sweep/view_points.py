"""Points of the ops on views: views of every kind, of tensors of several orders and sizes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import product
from math import prod

from point import Frame, Point, Properties, verified
from swept_shapes import PITCH, SHAPES, Shape
from tile_points import properties_of, tile_of
from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, NUMBERS, types_of
from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    GatherScatterViewType,
    PartitionViewType,
    StridedViewType,
    TensorViewType,
    TileType,
    TileView,
    TokenType,
)


def _views(shape: Shape, element: Attribute) -> Iterator[Callable[[], TileView]]:
    """Views of tiles of a shape: of every kind, of tensors of several orders and sizes."""
    rank, kinds = len(shape), ["twice", "odd", "dynamic", "pitched"]
    kinds += ["even"] * (shown(element) == "f4E2M1FN")
    orders = [tuple(range(rank)), tuple(reversed(range(rank)))][: 1 + (rank > 1)]
    for kind, order, mapped in product(kinds, orders, orders):
        more = 4 if kind == "even" else 3
        sizes = [extent * 2 if kind == "twice" else extent + more for extent in shape]
        strides, step = [0] * rank, 1
        for axis in reversed(order):
            strides[axis], step = step, step * sizes[axis]
            step = -(-step // PITCH) * PITCH if kind == "pitched" else step
        if kind == "dynamic":
            sizes, strides = [DYNAMIC] * rank, [s if s == 1 else DYNAMIC for s in strides]
        tile = tuple(shape[i] for i in mapped)
        tensor = TensorViewType.get(element, tuple(sizes), tuple(strides))
        traversals = [tuple(by) for by in ([max(e // 2, 1) for e in tile], [e * 2 for e in tile],
                                           [3] * rank)]  # fmt: skip
        for padding in (None, *PaddingValue):
            yield partial(PartitionViewType.get, tile, tensor, mapped, padding)
            for by in traversals:
                yield partial(StridedViewType.get, tile, by, tensor, mapped, padding)
            for axis in range(rank):
                yield partial(GatherScatterViewType.get, shape, tensor, axis, padding)


def accesses(op: type[CudaTileOp], few: random.Random | None) -> Iterator[Frame]:
    indices = types_of("i32", "i64", "i8", "i16")
    for element in NUMBERS:
        first, choices = _access(op, next(_views((16,), element))(), indices[0], True)
        legal = [_scalars(some) for some in choices if verified(first, some)]
        for shape in SHAPES[1:] if legal else ():
            views = list(_views(shape, element)) if tile_of(shape, element) else []
            for view in few.sample(views, min(len(views), 24)) if few else views:
                variants = list(product(indices, (True, False)))
                for index, there in few.sample(variants, 2) if few else variants:
                    with suppress(VerifyException):
                        point, choices = _access(op, view(), index, there)
                        # Rows that are named one by one want so many numbers.
                        if _rows(point) <= 1 << ELEMENT_OF[index].bits - 1:
                            yield point, [some for some in choices if _scalars(some) in legal]


def _rows(point: Point) -> int:
    place = [field.name for field in point.op.facts.operands].index("index")
    return max(prod(getattr(type_, "shape", ())) for type_ in point.operands[place])


def _scalars(properties: Properties) -> Properties:
    """Those that have no element for each dimension."""
    return {name: value for name, value in properties.items()
            if not isinstance(value, DenseArrayBase)}  # fmt: skip


def _access(op: type[CudaTileOp], view: TileView, index: Attribute, there: bool) -> Frame:
    """An op on a view, with indices of a type and a token or none."""
    tile = view.tile_type
    listed: list[Attribute] = [TileType.get((), index)] * view.index_rank
    if isinstance(view, GatherScatterViewType):
        listed[view.sparse_dim] = TileType.get((view.tile_shape[view.sparse_dim],), index)
    of: dict[str, tuple[Attribute, ...]] = {
        "view": (view,), "index": tuple(listed), "tile": (tile,), "value": (tile,),
        "token": (TokenType(),) * there}  # fmt: skip
    operands = tuple(of[field.name] for field in op.facts.operands)
    results = tuple(tile if field.name == "tile" else TokenType() for field in op.facts.results)
    dynamic = view.tensor_view.shape[0] == DYNAMIC
    bounded = dynamic or any(size % extent for size, extent in zip(
        sorted(view.tensor_view.shape), sorted(view.tile_shape), strict=True))  # fmt: skip
    choices = [properties for properties in properties_of(op, view.index_rank)
               if not (bounded and "inbounds" in properties)]  # fmt: skip
    return Point(op, operands, results), choices


def extents(op: type[CudaTileOp], few: random.Random | None) -> Iterator[Frame]:
    for shape, index in product(SHAPES[1:], types_of("i32", "i64", "i8", "i16")):
        views = list(_views(shape, types_of("f32")[0]))
        for made in few.sample(views, 12) if few else views:
            with suppress(VerifyException):
                view = made()
                numbers = (TileType.get((), index),) * view.index_rank
                for source in (view, view.tensor_view):
                    yield Point(op, ((source,),), numbers), [{}]
