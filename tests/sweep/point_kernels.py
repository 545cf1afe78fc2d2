"""The kernel of a point: every operand from memory, every result to memory."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from point import Point
from xdsl.dialects.builtin import IntegerType

sys.path.insert(0, str(Path(__file__).parents[1] / "lowering" / "interpreter" / "cuda_tile"))

from tile_ir import entry, row

from tilewright.dialects.cuda_tile.ops.matrix_multiply import Mma
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    GatherScatterViewType,
    PointerType,
    TensorViewType,
    TileType,
    TileView,
    TokenType,
)

DTYPES: dict[str, Any] = {
    "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "tf32": np.float32, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu, "fnv8E5M3FNU": np.uint8,
}  # fmt: skip
FLOATS = ("f16", "bf16", "f32", "f64")
APART = 128
"""Elements behind what an operand's pointers name, for `offset` to reach."""


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


@dataclass
class PointKernel:
    """The text of a point's kernel on its way, and what it is run on."""

    point: Point
    rng: np.random.Generator
    lines: list[str] = field(default_factory=list[str])
    parameters: list[str] = field(default_factory=list[str])
    args: list[Any] = field(default_factory=list[Any])

    def __post_init__(self) -> None:
        point = self.point
        names = [
            self.operand(place.name, number, i, type_)
            for number, (place, types) in enumerate(
                zip(point.op.facts.operands, point.operands, strict=True)
            )
            for i, type_ in enumerate(types)
        ]
        results = [f"%r{i}" for i in range(len(point.results))]
        body = "" if point.combine is None else self._body(point.combine, len(results))
        self.lines.append(f"    {_generic(point, results, names, body)}")
        for name, type_ in zip(results, point.results, strict=True):
            self.keep(name, type_)

    @property
    def text(self) -> str:
        """The module."""
        return entry(", ".join(self.parameters), "\n".join(self.lines))

    def emit(self, text: str) -> str:
        """A new value."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"    {name} = {text}")
        return name

    def parameter(self, element: str, array: Any) -> str:
        """A pointer to an array."""
        name = f"%p{len(self.args)}"
        self.parameters.append(f"{name}: tile<ptr<{element}>>")
        self.args.append(array)
        return name

    def number(self, value: int, element: str = "i32") -> str:
        """A scalar that the kernel is given."""
        name = f"%p{len(self.args)}"
        self.parameters.append(f"{name}: tile<{element}>")
        self.args.append(DTYPES[element](value))
        return name

    # --- operands ---

    def operand(self, name: str, place: int, i: int, type_: Any) -> str:
        """A value of a type for an operand."""
        if isinstance(type_, TokenType):
            return self.emit("make_token : token")
        if isinstance(type_, TileView):
            return self.view(type_)
        if isinstance(type_, TensorViewType):
            sizes = enumerate(type_.shape)
            return self.tensor(type_, [5 + n if size == DYNAMIC else size for n, size in sizes])
        if self.point.op.name.endswith("int_to_ptr"):
            pointer: Any = self.point.results[0]
            at = self.pointers(pointer)
            return self.emit(f"ptr_to_int {at} : {shown(pointer)} -> {shown(type_)}")
        if self.point.op.name.endswith("ptr_to_ptr"):
            wide: Any = self.point.results[0]
            at = self.pointers(wide)
            return self.emit(f"ptr_to_ptr {at} : {shown(wide)} -> {shown(type_)}")
        if isinstance(type_.element_type, PointerType):
            return self.pointers(type_)
        if place < len(self.point.turned) and self.point.turned[place]:
            order = [*range(type_.rank - 2), type_.rank - 1, type_.rank - 2]
            turned = TileType.get(tuple(type_.shape[i] for i in order), type_.element_type)
            source = self.loaded(turned, self.values(name, i, type_))
            return self.emit(f"permute {source} {order} : {shown(turned)} -> {shown(type_)}")
        return self.loaded(type_, self.values(name, i, type_))

    def values(self, name: str, i: int, type_: TileType) -> Any:
        """The elements of an operand, such that the op is defined on them, and exact in any order
        of sums."""
        point, element = self.point, shown(type_.element_type)
        op, count = point.op.name.removeprefix("cuda_tile."), type_.elements
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
            return np.array([whole.shape[i] // part.shape[i] - 1], np.int32)
        if name == "index":
            return self.index(i, type_)
        if name == "offset":
            return (np.arange(count) % APART).astype(DTYPES[element])
        if name == "mask" and op.startswith("load") and not point.operands[2]:
            return np.ones(count, np.bool_)
        words = drawn(self.rng, element, count)
        if (op, name) in (("divi", "rhs"), ("remi", "rhs")):
            return words | True if element == "i1" else (words & 63) | 1
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
        size, extent = self.sizes(view)[along], view.tile_shape[i]
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

    @staticmethod
    def sizes(view: TileView) -> list[int]:
        """The sizes of its tensor."""
        mapped = getattr(view, "dim_map", range(view.index_rank))
        shape = [0] * view.index_rank
        for extent, along in zip(view.tile_shape, mapped, strict=True):
            shape[along] = extent
        return [extent + 3 if size == DYNAMIC else size
                for extent, size in zip(shape, view.tensor_view.shape, strict=True)]  # fmt: skip

    def view(self, view: TileView) -> str:
        """A view of a tensor of its own."""
        whole = self.tensor(view.tensor_view, self.sizes(view))
        return self.emit(f"make_{view.name.removeprefix('cuda_tile.')} {whole} : {shown(view)}")

    def tensor(self, tensor: TensorViewType, sizes: list[int]) -> str:
        """A tensor of its own, of so many elements along each dimension."""
        element, rank, given = shown(tensor.element_type), len(sizes), tensor.strides
        rows = rank < 2 or given[-1] == 1
        strides, step = [0] * rank, 1
        for axis in reversed(range(rank)) if rows else range(rank):
            strides[axis], step = step, step * sizes[axis]
        half = element == "f4E2M1FN"
        stored = "i8" if half else element
        base = self.parameter(stored, drawn(self.rng, stored, -(-step // (1 + half))))
        if half:
            base = self.emit(f"ptr_to_ptr {base} : tile<ptr<i8>> -> tile<ptr<f4E2M1FN>>")
        words: list[str] = []
        for what, known, shape in (("shape", tensor.shape, sizes), ("strides", given, strides)):
            texts = [self.number(actual) if extent == DYNAMIC else str(extent)
                     for extent, actual in zip(known, shape, strict=True)]  # fmt: skip
            words.append(f"{what} = [{', '.join(texts)}]")
        dynamic = "tile<i32> -> " if DYNAMIC in (*tensor.shape, *given) else ""
        return self.emit(f"make_tensor_view {base}, {', '.join(words)} : {dynamic}{shown(tensor)}")

    def pointers(self, type_: TileType) -> str:
        """Pointers to elements side by side."""
        pointer: Any = type_.element_type
        element, count = shown(pointer.pointee_type), type_.elements
        stored = "i8" if element == "f4E2M1FN" else element
        name = self.parameter(stored, drawn(self.rng, stored, count + APART))
        if stored != element:
            return self.emit(f"ptr_to_ptr {name} : tile<ptr<i8>> -> {shown(type_)}")
        return self.row(name, element, type_)

    def row(self, pointer: str, element: str, type_: TileType) -> str:
        """Pointers to elements side by side, as a tile of a shape."""
        name = f"a{len(self.lines)}"
        self.lines.append(row(name, pointer[1:], element, type_.elements))
        flat = f"tile<{type_.elements}xptr<{element}>>"
        return self.emit(f"reshape %{name} : {flat} -> tile<{_dims(type_)}ptr<{element}>>")

    def loaded(self, type_: TileType, array: Any) -> str:
        """A tile of numbers from memory."""
        element, count = shown(type_.element_type), type_.elements
        octets = element in ("i4", "f4E2M1FN")
        if element == "f4E2M1FN":
            array = array[: (count + 1) // 2]
            source = self.loaded(TileType.get((count // 2,), _I8.element_type), array)
            flat = f"tile<{count}x{element}>"
            wide = self.emit(f"unpack {source} : tile<{count // 2}xi8> -> {flat}")
            return self.emit(f"reshape {wide} : {flat} -> {shown(type_)}")
        if octets:
            source = self.loaded(type_.with_element(_I8.element_type), array)
            return self.emit(f"trunci {source} : tile<{_dims(type_)}i8> -> {shown(type_)}")
        at = self.row(self.parameter(element, array), element, type_)
        return self.load(at, type_)

    def load(self, at: str, type_: TileType) -> str:
        """A tile through pointers."""
        name = f"%l{len(self.lines)}"
        pointers = f"tile<{_dims(type_)}ptr<{shown(type_.element_type)}>>"
        self.lines.append(f"    {name}, {name}t = load_ptr_tko weak {at} : {pointers} -> "
                          f"{shown(type_)}, token")  # fmt: skip
        return name

    # --- results ---

    def keep(self, name: str, type_: Any) -> None:
        """Store a result."""
        if isinstance(type_, TokenType):
            return
        if self.point.op.name.endswith("ptr_to_int"):
            given: Any = self.point.operands[0][0]
            name = self.emit(f"int_to_ptr {name} : {shown(type_)} -> {shown(given)}")
            type_ = given
        if isinstance(type_.element_type, PointerType):
            pointee = type_.element_type.pointee_type
            if shown(pointee) == "f4E2M1FN":
                octets = type_.with_element(PointerType.get(_I8.element_type))
                name = self.emit(f"ptr_to_ptr {name} : {shown(type_)} -> {shown(octets)}")
                pointee = _I8.element_type
            type_ = type_.with_element(pointee)
            name = self.load(name, type_)
        element, count = shown(type_.element_type), type_.elements
        if element == "f4E2M1FN":
            flat = self.emit(f"reshape {name} : {shown(type_)} -> tile<{count}x{element}>")
            name = self.emit(f"pack {flat} : tile<{count}x{element}> -> tile<{count // 2}xi8>")
            type_ = TileType.get((count // 2,), _I8.element_type)
        if element == "i4":
            octets = type_.with_element(_I8.element_type)
            name = self.emit(f"exti {name} signed : {shown(type_)} -> {shown(octets)}")
            type_ = octets
        element = shown(type_.element_type)
        at = self.parameter(element, np.zeros(type_.elements, DTYPES[element]))
        at = self.row(at, element, type_)
        self.emit(
            f"store_ptr_tko weak {at}, {name} : tile<{_dims(type_)}ptr<{element}>>, "
            f"{shown(type_)} -> token"
        )

    @staticmethod
    def _body(combine: Point, count: int) -> str:
        scalar = str(combine.results[0])
        arguments = ", ".join(f"%e{i}: {scalar}, %f{i}: {scalar}" for i in range(count))
        lines = [_generic(combine, [f"%g{i}"], [f"%e{i}", f"%f{i}"], "") for i in range(count)]
        given, types = ", ".join(f"%g{i}" for i in range(count)), ", ".join([scalar] * count)
        return " ({\n    ^bb0(" + arguments + "):\n      " + "\n      ".join(lines) + (
            f'\n      "cuda_tile.yield"({given}) : ({types}) -> ()\n    }})')  # fmt: skip


_I8 = TileType.get((), IntegerType(8))


def _dims(type_: TileType) -> str:
    return "".join(f"{extent}x" for extent in type_.shape)


def _generic(point: Point, results: list[str], operands: list[str], body: str) -> str:
    """An op in MLIR's generic form."""
    properties = ", ".join(
        f'"{name}"' if str(value) == "unit" else f'"{name}" = {value}'
        for name, value in point.properties
    )
    types = ", ".join(str(type_) for types in point.operands for type_ in types)
    listed = ", ".join(map(str, point.results))
    given = f"{', '.join(results)} = " if results else ""
    return (
        f'{given}"{point.op.name}"({", ".join(operands)}) <{{{properties}}}>{body} : '
        f"({types}) -> ({listed})"
    )
