"""Points of the ops that combine many elements into one: `reduce` and `scan`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from point import Frame, Point, verified
from swept_shapes import SHAPES
from tile_points import properties_of, tile_of
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute

from tilewright.dialects.cuda_tile.element_types import ELEMENTS
from tilewright.dialects.cuda_tile.ops.aggregate import ScanOp
from tilewright.dialects.cuda_tile.ops.elementwise import BinaryFloat, BinaryInteger
from tilewright.dialects.cuda_tile.ops.operation import OPS, CudaTileOp
from tilewright.dialects.cuda_tile.types import TileType


def _combines(element: Attribute) -> Iterator[Point]:
    """Ops of two numbers that may be reduced with."""
    scalar = tile_of((), element)
    for op in OPS if scalar else ():
        if issubclass(op, BinaryFloat | BinaryInteger) and op.name[10:] not in _UNORDERED:
            frame = Point(op, ((scalar,), (scalar,)), (scalar,))
            for properties in properties_of(op, 0):
                overflow: Any = properties.get("overflow")
                point = verified(frame, properties)
                if point is not None and (overflow is None or overflow.data == "none"):
                    yield point


_UNORDERED = ("subf", "divf", "remf", "subi", "divi", "remi", "shli", "shri")


def folds(op: type[CudaTileOp]) -> Iterator[Frame]:
    for row, count in product(ELEMENTS, (1, 2)):
        number: Any = IntegerAttr if isinstance(row.type, IntegerType) else FloatAttr
        for combine, shape in product(_combines(row.type), SHAPES[1:]):
            tile = TileType.get(shape, row.type)
            identities = ArrayAttr([number(identity_of(combine), row.type)] * count)
            for dim in range(len(shape)):
                result = TileType.get((*shape[:dim], *shape[dim + 1 :]), row.type)
                result = tile if op is ScanOp else result
                fixed = {"dim": IntegerAttr(dim, 32), "identities": identities}
                ways = [{**fixed, "reverse": IntegerAttr(way, 1)} for way in (0, 1)]
                properties: Any = ways if op is ScanOp else [fixed]
                yield Point(op, ((tile,) * count,), (result,) * count, (), combine), properties


def identity_of(combine: Point) -> Any:
    """The number that leaves others as they are."""
    element: Any = combine.results[0].element_type  # type: ignore[attr-defined]
    bits = getattr(element, "bitwidth", 0)
    signed = "<unsigned>" not in str(combine.properties) and combine.op.name[10:] in (
        "maxi",
        "mini",
    )
    least, most = (
        (-(1 << bits - 1), (1 << bits - 1) - 1) if signed and bits else (0, (1 << bits) - 1)
    )
    known = {"mulf": 1.0, "muli": 1, "andi": (1 << bits) - 1, "maxf": -np.inf, "minf": np.inf,
             "maxi": least, "mini": most}  # fmt: skip
    return known.get(combine.op.name[10:], 0 if bits else 0.0)
