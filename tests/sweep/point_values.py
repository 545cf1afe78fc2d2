"""The numbers that operands of a point are: such that the op is defined on them, and exact in any
order of sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from point import Point

from tilewright.dialects.cuda_tile.ops.matrix_multiply import Mma
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import DYNAMIC, GatherScatterViewType, TileType, TileView

DTYPES: dict[str, Any] = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "tf32": np.float32, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "fnv8E5M3FNU": np.uint8,
}  # fmt: skip
FLOATS = ("f16", "bf16", "f32", "f64")
FURTHEST, APART = 128, 512
"""The elements that `offset` goes ahead at most, and those behind what an operand's pointers name:
for several of these."""
APPROXIMATE = (
    "atan2", "cos", "cosh", "exp", "exp2", "fpowi", "log", "log2", "pow", "rsqrt", "sin", "sinh",
    "tan", "tanh",
)  # fmt: skip
ULPS = 16
"""Between two approximations, each within 8 ulps (docs/math.md)."""
COARSE = 1 << 14
"""`approx` of f32: 11 bits, and what is tiny beside 1 may be zero."""


def tolerance(point: Point) -> int:
    """The ulps by which levels may differ."""
    if "rounding<approx>" in point.name:
        return COARSE
    return ULPS * (point.op.name[10:] in APPROXIMATE or "rounding<full>" in point.name)


def drawn(rng: np.random.Generator, element: str, count: int, ordinary: bool = False) -> Any:
    """Elements of every kind; floats of which a quarter is any bits, or none if `ordinary`."""
    dtype = np.dtype(DTYPES[element])
    if dtype == np.bool_:
        return rng.integers(0, 2, count).astype(np.bool_)
    words = rng.integers(0, 256, count * dtype.itemsize, dtype=np.uint8).view(dtype)
    if element in (*FLOATS, "tf32") or (ordinary and element in ("f8E4M3FN", "f8E5M2")):
        usual = (rng.standard_normal(count) * 4).astype(dtype)
        words = usual if ordinary else np.where(np.arange(count) % 4 == 3, words, usual)
    if element == "tf32":
        words = (words.view(np.uint32) & 0xFFFFE000).view(np.float32)
    return words


@dataclass(frozen=True)
class OperandValues:
    """The numbers of a point's operands."""

    point: Point
    rng: np.random.Generator

    def of(self, name: str, i: int, type_: TileType, count: int) -> Any:
        """So many elements of an operand."""
        point, element = self.point, shown(type_.element_type)
        op = point.op.name.removeprefix("cuda_tile.")
        overflow: Any = dict(point.properties).get("overflow")
        if overflow is not None and overflow.data != "none":
            result: Any = point.results[0]
            stored = DTYPES["i8" if element == "i4" else element]
            if op == "negi" or "i1" in (element, shown(result.element_type)):
                return np.zeros(count, stored)
            return self.rng.integers(0, 4, count).astype(stored) + stored(
                4 * ((op, name) == ("subi", "lhs"))
            )
        if element in ("i4", "f4E2M1FN"):
            return drawn(self.rng, "i8", count)
        if name == "indices":
            tiles: list[Any] = [types[0] for types in point.operands if types]
            whole, part = (tiles[0], point.results[0]) if op == "extract" else tiles[1::-1]
            return np.full(count, whole.shape[i] // part.shape[i] - 1, np.int32)
        if name == "index":
            return self.index(i, type_)
        if name == "offset":
            ahead = np.arange(count) % FURTHEST
            # A true i1 is one back.
            return ahead % 4 == 3 if element == "i1" else ahead.astype(DTYPES[element])
        if name == "mask" and op.startswith("load") and not point.operands[2]:
            return np.ones(count, np.bool_)
        words = drawn(self.rng, element, count)
        if (op, name) in (("divi", "rhs"), ("remi", "rhs")):
            return words | True if element == "i1" else (words & 63) | 1
        if (op, name) in (("shli", "rhs"), ("shri", "rhs")):
            return words & words.dtype.type(8 * words.itemsize - 1 if element != "i1" else 0)
        if (op, name) == ("fpowi", "exponent"):
            return (words % 7).astype(words.dtype) if element != "i1" else words
        combine = point.combine and point.combine.op.name
        if "scale" in name:
            first = {"f8E8M0FNU": 126, "fnv8E5M3FNU": 120}.get(element, 56)
            return (self.rng.integers(0, 4, count) + first).astype(np.uint8).view(words.dtype)
        if combine in ("cuda_tile.maxf", "cuda_tile.minf"):
            return drawn(self.rng, element, count, ordinary=True)
        if combine == "cuda_tile.mulf":
            return (self.rng.integers(0, 2, count) * 2 - 1).astype(words.dtype)
        if element[0] in "bft" and (combine or issubclass(point.op, Mma)):
            return self.rng.choice(np.array([0, 0, 0, 1, -1]), count).astype(words.dtype)
        return words

    def index(self, i: int, type_: TileType) -> Any:
        """Where an access is: behind the first tile where what is there is defined."""
        view = self.view_type
        step = getattr(view, "traversal_strides", view.tile_shape)[i]
        along = getattr(view, "dim_map", range(view.index_rank))[i]
        size, extent = sizes_of(view)[along], view.tile_shape[i]
        dtype: Any = DTYPES[shown(type_.element_type)]
        if isinstance(view, GatherScatterViewType) and i == view.sparse_dim:
            most = min(size, np.iinfo(dtype).max + 1)
            return self.rng.permutation(most)[: type_.elements].astype(dtype)
        open_ = view.padding_value is None and "load" in self.point.op.name
        inside = step + extent <= size
        bounded = "inbounds" in dict(self.point.properties)
        place = (inside or not (open_ or bounded)) and step < size
        return np.array([place], dtype)

    @property
    def view_type(self) -> TileView:
        """The view of an access."""
        views = [t for types in self.point.operands for t in types if isinstance(t, TileView)]
        return views[0]


def sizes_of(view: TileView) -> list[int]:
    """The sizes of its tensor."""
    mapped = getattr(view, "dim_map", range(view.index_rank))
    shape = [0] * view.index_rank
    for extent, along in zip(view.tile_shape, mapped, strict=True):
        shape[along] = extent
    return [extent + 3 if size == DYNAMIC else size
            for extent, size in zip(shape, view.tensor_view.shape, strict=True)]  # fmt: skip
