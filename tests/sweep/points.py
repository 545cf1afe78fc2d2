"""Every op of Tile IR with the types, attributes and shapes that it takes, by its definition.

Which elements an operand may have, which of them agree, and the cases of attributes are rows of the
definition; what these leave open is asked of the op's verifier. What it takes is a point.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import permutations, product
from math import prod
from typing import Any

import numpy as np
from swept_shapes import BY_HAND, PRODUCTS, SHAPES, Shape
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    UnitAttr,
)
from xdsl.ir import Attribute
from xdsl.irdl import OptPropertyDef
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.test_value import create_ssa_value

from tilewright.dialects.cuda_tile.attributes import ChoiceAttr
from tilewright.dialects.cuda_tile.constraints import (
    POINTER_TILE,
    TILE,
    IntegerOf,
    ListOf,
    NumberOf,
)
from tilewright.dialects.cuda_tile.dialect import CUDA_TILE
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, ELEMENTS, NUMBERS, types_of
from tilewright.dialects.cuda_tile.elements import ElementsAttr, dtype_of
from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.ops.aggregate import Aggregate, ScanOp
from tilewright.dialects.cuda_tile.ops.conversions import Reinterpretation
from tilewright.dialects.cuda_tile.ops.core import ConstantOp
from tilewright.dialects.cuda_tile.ops.elementwise import BinaryFloat, BinaryInteger
from tilewright.dialects.cuda_tile.ops.facts import SEGMENTS, Arity
from tilewright.dialects.cuda_tile.ops.matrix_multiply import Mma
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cuda_tile.ops.operation import OPS, CudaTileOp
from tilewright.dialects.cuda_tile.ops.views import Extents, MakeView, ViewAccess
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import (
    DYNAMIC,
    GatherScatterViewType,
    PartitionViewType,
    PointerType,
    StridedViewType,
    TensorViewType,
    TileType,
    TileView,
    TokenType,
)

assert CUDA_TILE  # whose import registers OPS


@dataclass(frozen=True)
class Point:
    """An op with the types of its operands, none where an optional one is missing, of its
    results, and its properties; of a fold the op that combines; `turned` operands lie in memory
    with their last dimensions exchanged."""

    op: type[CudaTileOp]
    operands: tuple[tuple[Attribute, ...], ...]
    results: tuple[Attribute, ...]
    properties: tuple[tuple[str, Attribute], ...] = ()
    combine: Point | None = None
    turned: tuple[bool, ...] = ()

    def __reduce__(self) -> Any:
        # Pickle does not find the classes of ops in their modules.
        parts = self.operands, self.results, self.properties, self.combine, self.turned
        return _point, (self.op.name, *parts)

    @property
    def name(self) -> str:
        """The op and what tells the point from others."""
        words = [self.op.name.removeprefix("cuda_tile.")]
        words += [f"{name}={value}".replace("#cuda_tile.", "") for name, value in self.properties
                  if name != SEGMENTS]  # fmt: skip
        words += [self.combine.name] if self.combine else []
        types = ["-" if not types else "*".join(map(shown, types)) for types in self.operands]
        words += [", ".join(types), "->", ", ".join(map(shown, self.results))]
        return " ".join((*words, *("turned" for _ in range(any(self.turned)))))

    @property
    def elements(self) -> frozenset[str]:
        """The types of numbers that it is about."""
        types = [*self.results, *(type_ for types in self.operands for type_ in types)]
        kinds = [getattr(getattr(type_, "tensor_view", type_), "element_type", None)
                 for type_ in types]  # fmt: skip
        return frozenset(shown(getattr(kind, "pointee_type", kind)) for kind in kinds if kind)

    def features(self) -> list[Any]:
        """Everything that tells it from another point of its op, in parts; of a fold, the rest
        follows."""
        given = [(name, getattr(value, "is_splat", value)) for name, value in self.properties
                 if name != "identities"]  # fmt: skip
        parts: list[Any] = [self.combine and self.combine.op, self.turned, *given]
        results, first = () if self.combine else self.results, None
        for place, types in enumerate((*self.operands, *((type_,) for type_ in results))):
            parts.append((place, len(types)))
            for type_ in types[:1]:
                parts += [(place, *part) for part in _parts(type_)]
                shape = getattr(type_, "tile_shape", getattr(type_, "shape", None))
                if shape is not None:
                    first = first or shape
                    parts.append((place, "shape", _beside(first, shape)))
        return parts


def _beside(first: Shape, shape: Shape) -> Any:
    """How a shape differs from the first of an op: in rank, or from which dimension on, and by how
    much; that as it is."""
    if shape is first or len(shape) != len(first):
        return shape if shape is first else len(shape) - len(first)
    changes = [extent / own for own, extent in zip(first, shape, strict=True)]
    others = [axis for axis, change in enumerate(changes) if change != 1]
    return (*others[:1], "by", prod(changes))


def _point(name: str, *parts: Any) -> Point:
    return Point({op.name: op for op in OPS}[name], *parts)


def _parts(type_: Attribute) -> list[tuple[Any, ...]]:
    """Everything that tells a type from others, in parts."""
    if isinstance(type_, TileType):
        return [("element", type_.element_type)]
    if isinstance(type_, TensorViewType):
        return [(type_.shape[0] == DYNAMIC, type_.strides[-1] == 1)]
    if not isinstance(type_, TileView):
        return []
    tensor, by = type_.tensor_view, getattr(type_, "traversal_strides", (0,))[0]
    kind = "dynamic" if tensor.shape[0] == DYNAMIC else tensor.shape[0] % 2
    order = getattr(type_, "dim_map", (0,))[0], getattr(type_, "sparse_dim", -1)
    return [
        ("element", tensor.element_type), (type_.name, type_.padding_value), (type_.name, *order),
        (kind, tensor.strides[-1] == 1), ("by", by if by == 3 else by / type_.tile_shape[0]),
    ]  # fmt: skip


# --- types ---


def _elements(few: bool) -> Iterator[Attribute]:
    """The types of numbers, and pointers to all of them or to a few."""
    yield from (row.type for row in ELEMENTS)
    yield from (PointerType.get(type_) for type_ in (types_of("f32", "i8") if few else NUMBERS))


def _related(shape: Shape) -> list[Shape]:
    """A shape, and others that an op might make of it or take beside it."""
    some: dict[Shape, None] = {shape: None}
    for i, extent in enumerate(shape):
        for other in {1, extent * 2, max(extent // 2, 1), max(extent // 4, 1), extent * 4}:
            some[(*shape[:i], other, *shape[i + 1 :])] = None
        some[(*shape[:i], *shape[i + 1 :])] = some[(*shape[:i], 1, *shape[i:])] = None
    some.update(dict.fromkeys(permutations(shape)) if len(shape) < 5 else {})
    count = 1
    for extent in shape:
        count *= extent
    some.update({(count,): None, (count * 8,): None, (max(count // 8, 1),): None})
    return list(some)


def _groups(names: Sequence[str], *agreements: Iterable[Sequence[str]]) -> dict[str, str]:
    """For each name the first of those that agree with it."""
    first = {name: name for name in names}
    for group in (group for some in agreements for group in some):
        heads = {first[name] for name in group}
        head = min(heads, key=list(names).index)
        first = {name: head if other in heads else other for name, other in first.items()}
    return first


def _tile(shape: Shape, element: Attribute) -> TileType | None:
    try:
        return TileType.get(shape, element)
    except VerifyException:
        return None


def _shapes(op: type[CudaTileOp], names: Sequence[str]) -> Iterator[dict[str, Shape]]:
    """Shapes of the operands and results of these names, as far as these say."""
    if issubclass(op, Mma):
        for batch, (m, n, k), block in product(((), (2,)), PRODUCTS, (16, 32)):
            of = {"lhs": (m, k), "rhs": (k, n), "lhs_scale": (m, k // block),
                  "rhs_scale": (k // block, n)}  # fmt: skip
            if block == 16 or (op.name.endswith("scaled") and k >= block):
                yield {name: (*batch, *of.get(name, (m, n))) for name in names}
        return
    heads = _groups(names, op.SAME_TYPES, op.SAME_SHAPES)
    scalars = {name for name in names if not op.facts.place[name].accepts.takes(_ONE)
               and op.facts.place[name].accepts.words.startswith("a scalar")}  # fmt: skip
    free = sorted({head for name, head in heads.items() if name not in scalars}, key=names.index)
    for shape in SHAPES:
        for some in product(*([_related(shape), [shape]][name == free[0]] for name in free)):
            if op.SAME_RANKS and len({len(one) for one in some}) > 1:
                continue
            of = dict(zip(free, some, strict=True))
            yield {name: () if name in scalars else of[heads[name]] for name in names}


_ONE = TileType.get((2,), types_of("i32")[0])


def _typings(op: type[CudaTileOp]) -> Iterator[dict[str, TileType]]:
    """Types of all operands and results that are tiles, by name."""
    fields = [f for f in (*op.facts.operands, *op.facts.results) if "token" not in f.accepts.words]
    names = [field.name for field in fields]
    if not names:
        yield {}
        return
    heads = _groups(names, op.SAME_TYPES, op.SAME_ELEMENTS)
    domains: dict[str, list[Attribute]] = {}
    for name in names:
        accepts = op.facts.place[name].accepts
        several = accepts in (TILE, POINTER_TILE) and not issubclass(
            op, MemoryOp | Reinterpretation
        )
        takes = [e for e in _elements(several) for shape in ((2,), ())
                 if (type_ := _tile(shape, e)) and accepts.takes(type_)]  # fmt: skip
        known = domains.setdefault(heads[name], list(dict.fromkeys(takes)))
        domains[heads[name]] = [element for element in known if element in takes]
    for shapes in _shapes(op, names):
        if len(domains) == 1 and not _fits(op, names, shapes, next(iter(domains.values()))):
            continue
        for some in product(*domains.values()):
            of = dict(zip(domains, some, strict=True))
            if issubclass(op, MemoryOp) and len({getattr(e, "pointee_type", e) for e in some}) > 2:
                continue
            types = {name: _tile(shapes[name], of[heads[name]]) for name in names}
            if all(types.values()):
                yield {name: type_ for name, type_ in types.items() if type_}


def _fits(
    op: type[CudaTileOp], names: list[str], shapes: dict[str, Shape], elements: list[Attribute]
) -> bool:
    """True where some of the first types of elements have an op of these shapes."""
    for element in elements[1:3] or elements:
        types = {name: _tile(shapes[name], element) for name in names}
        if all(types.values()):
            frames = _framed(op, {name: type_ for name, type_ in types.items() if type_})
            if any(_verified(point, one) for point, choices in frames for one in choices):
                return True
    return False


# --- attributes ---


def _cases(constraint: Any, rank: int) -> list[Attribute]:
    """The values of a property that are tried."""
    base = getattr(constraint, "attr", None)
    if base is UnitAttr:
        return [UnitAttr()]
    if base is not None and issubclass(base, ChoiceAttr):
        return [base(case) for case in base.CHOICES]
    if isinstance(constraint, NumberOf):
        return [IntegerAttr(case.number, 32) for case in constraint.enum]
    if isinstance(constraint, IntegerOf):
        return [IntegerAttr(n, constraint.width) for n in range(min(rank, 1 << constraint.width))]
    if isinstance(constraint, ListOf):
        lists = [(1,) * rank] if constraint.width == 1 else list(permutations(range(rank)))
        type_ = IntegerType(constraint.width)
        return [DenseArrayBase.from_list(type_, list(one)) for one in lists[:24]]
    return []


@cache
def _properties(op: type[CudaTileOp], rank: int) -> Sequence[dict[str, Attribute]]:
    choices: dict[str, list[Attribute | None]] = {}
    for name, definition in op.facts.definition.properties.items():
        if name in (SEGMENTS, "optimization_hints"):
            continue
        choices[name] = [*_cases(definition.constr, rank)]
        if isinstance(definition, OptPropertyDef) and definition.default_value is None:
            choices[name].append(None)
    return [{name: value for name, value in zip(choices, some, strict=True) if value is not None}
            for some in product(*choices.values())]  # fmt: skip


# --- points ---

Properties = dict[str, Attribute]
Frame = tuple[Point, Sequence[Properties]]
"""A point without properties, and those that it may have, which its verifier looks at."""


def _verified(point: Point, properties: Properties) -> Point | None:
    """The point with these properties where the verifier takes it."""
    if point.op.facts.segmented:
        sizes = [len(types) for types in point.operands]
        properties = {**properties, SEGMENTS: DenseArrayBase.from_list(IntegerType(32), sizes)}
    whole = replace(point, properties=tuple(properties.items()))
    values = [create_ssa_value(type_) for types in point.operands for type_ in types]
    made = point.op.create(operands=values, result_types=point.results, properties={**properties})
    try:
        if point.combine is None:
            made.verify_()
        else:
            made.verify_types()
    except VerifyException:
        return None
    return whole


def _framed(op: type[CudaTileOp], types: dict[str, TileType]) -> Iterator[Frame]:
    """An op of tiles, whose optional operands are there or not."""
    missing = [field.name for field in op.facts.operands if field.arity is Arity.OPTIONAL]
    turns: Any = list(product((False, True), repeat=2)) if issubclass(op, Mma) else [()]
    rank = max((type_.rank for type_ in types.values()), default=2)
    results = tuple(types.get(field.name, TokenType()) for field in op.facts.results)
    for flags, turned in product(product((True, False), repeat=len(missing)), turns):
        there = dict(zip(missing, flags, strict=True))
        operands = tuple(
            (types.get(field.name, TokenType()),)
            * (rank if field.arity is Arity.ANY else there.get(field.name, True))
            for field in op.facts.operands
        )
        yield Point(op, operands, results, turned=turned), _properties(op, rank)


def _combines(element: Attribute) -> Iterator[Point]:
    """Ops of two numbers that may be reduced with."""
    scalar = _tile((), element)
    for op in OPS if scalar else ():
        if issubclass(op, BinaryFloat | BinaryInteger) and op.name[10:] not in _UNORDERED:
            frame = Point(op, ((scalar,), (scalar,)), (scalar,))
            for properties in _properties(op, 0):
                overflow: Any = properties.get("overflow")
                point = _verified(frame, properties)
                if point is not None and (overflow is None or overflow.data == "none"):
                    yield point


_UNORDERED = ("subf", "divf", "remf", "subi", "divi", "remi", "shli", "shri")


def _folds(op: type[CudaTileOp]) -> Iterator[Frame]:
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


def _views(shape: Shape, element: Attribute) -> Iterator[Callable[[], TileView]]:
    """Views of tiles of a shape: of every kind, of tensors of several orders and sizes."""
    rank, kinds = len(shape), ["twice", "odd", "dynamic"]
    kinds += ["even"] * (shown(element) == "f4E2M1FN")
    orders = [tuple(range(rank)), tuple(reversed(range(rank)))][: 1 + (rank > 1)]
    for kind, order, mapped in product(kinds, orders, orders):
        more = 4 if kind == "even" else 3
        sizes = [extent * 2 if kind == "twice" else extent + more for extent in shape]
        strides, step = [0] * rank, 1
        for axis in reversed(order):
            strides[axis], step = step, step * sizes[axis]
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


def _accesses(op: type[CudaTileOp], few: random.Random | None) -> Iterator[Frame]:
    indices = types_of("i32", "i64", "i8", "i16")
    for element in NUMBERS:
        first, choices = _access(op, next(_views((16,), element))(), indices[0], True)
        legal = [_scalars(some) for some in choices if _verified(first, some)]
        for shape in SHAPES[1:] if legal else ():
            views = list(_views(shape, element)) if _tile(shape, element) else []
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
    choices = [properties for properties in _properties(op, view.index_rank)
               if not (bounded and "inbounds" in properties)]  # fmt: skip
    return Point(op, operands, results), choices


def _extents(op: type[CudaTileOp], few: random.Random | None) -> Iterator[Frame]:
    for shape, index in product(SHAPES[1:], types_of("i32", "i64", "i8", "i16")):
        views = list(_views(shape, types_of("f32")[0]))
        for made in few.sample(views, 12) if few else views:
            with suppress(VerifyException):
                view = made()
                numbers = (TileType.get((), index),) * view.index_rank
                for source in (view, view.tensor_view):
                    yield Point(op, ((source,),), numbers), [{}]


def _constants(op: type[CudaTileOp]) -> Iterator[Frame]:
    rng = np.random.default_rng(3)
    for shape, element in product(SHAPES, NUMBERS):
        if (tile := _tile(shape, element)) is not None:
            dtype, bits = dtype_of(element), ELEMENT_OF[element].bits
            words = rng.integers(0, 256, (tile.elements, dtype.itemsize), np.uint8)
            words &= (1 << min(bits, 8)) - 1
            lists = [ElementsAttr.of_array(tile, some.view(dtype)) for some in (words, words[:1])]
            yield Point(op, (), (tile,)), [{"value": elements} for elements in lists]


def _frames(op: type[CudaTileOp], few: random.Random | None = None) -> Iterator[Frame]:
    if issubclass(op, Aggregate):
        return _folds(op)
    if issubclass(op, ViewAccess | Extents):
        return (_accesses if issubclass(op, ViewAccess) else _extents)(op, few)
    if op is ConstantOp:
        return _constants(op)
    return (frame for types in _typings(op) for frame in _framed(op, types))


def points(name: str) -> Iterator[Point]:
    """All points of an op."""
    for frame, choices in _frames(swept()[name]):
        for properties in choices:
            if (point := _verified(frame, properties)) is not None:
                yield point


def swept() -> dict[str, type[CudaTileOp]]:
    """The ops that have points, by name."""
    named = {op.name.removeprefix("cuda_tile."): op for op in OPS}
    return {name: op for name, op in named.items()
            if name not in BY_HAND and not issubclass(op, MakeView)}  # fmt: skip


IDLE = 1000
"""So many frames without a new pair end the search for others."""


def pairs(name: str, seed: int = 0) -> list[Point]:
    """Points of an op such that, nearly, every two of the parts by which points differ meet."""
    rng = random.Random(f"{name} {seed}")
    frames = list(_frames(swept()[name], rng))
    rng.shuffle(frames)
    numbers: dict[Any, int] = {}
    seen: set[tuple[int, int]] = set()
    chosen, idle = list[Point](), 0
    for frame, choices in frames:
        idle += 1
        if idle > IDLE:
            break
        for properties in rng.sample(choices, min(3, len(choices))):
            point = replace(frame, properties=tuple(properties.items()))
            parts = [numbers.setdefault(part, len(numbers)) for part in point.features()]
            met = {(a, b) for i, a in enumerate(parts) for b in parts[: i + 1]}
            if not met <= seen and (whole := _verified(frame, properties)) is not None:
                seen.update(met)
                idle = 0
                chosen.append(whole)
    return chosen
