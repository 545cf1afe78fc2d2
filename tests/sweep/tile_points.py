"""Points of ops of tiles: which elements an operand may have, which of them agree, and the cases of
attributes are rows of an op's definition; what these leave open is asked of its verifier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import permutations, product
from typing import Any

from point import Frame, Point, verified
from swept_shapes import PRODUCTS, SHAPES, Shape
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import OptPropertyDef
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.accepts import IntegerOf, ListOf
from tilewright.dialects.cuda_tile.attributes import ChoiceAttr
from tilewright.dialects.cuda_tile.constraints import POINTER_TILE, TILE, NumberOf
from tilewright.dialects.cuda_tile.element_types import ELEMENTS, NUMBERS, types_of
from tilewright.dialects.cuda_tile.ops.conversions import Reinterpretation
from tilewright.dialects.cuda_tile.ops.matrix_multiply import Mma
from tilewright.dialects.cuda_tile.ops.memory import MemoryOp
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp
from tilewright.dialects.cuda_tile.types import PointerType, TileType, TokenType
from tilewright.dialects.declared_format import groups
from tilewright.dialects.field_counts import Arity
from tilewright.dialects.op_facts import SEGMENTS


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


def _groups(names: Sequence[str], *agreements: str) -> dict[str, str]:
    """For each name the first of those that agree with it."""
    first = {name: name for name in names}
    for group in (group for some in agreements for group in groups(some)):
        heads = {first[name] for name in group}
        head = min(heads, key=list(names).index)
        first = {name: head if other in heads else other for name, other in first.items()}
    return first


def tile_of(shape: Shape, element: Attribute) -> TileType | None:
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


def typings(op: type[CudaTileOp]) -> Iterator[dict[str, TileType]]:
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
                 if (type_ := tile_of(shape, e)) and accepts.takes(type_)]  # fmt: skip
        known = domains.setdefault(heads[name], list(dict.fromkeys(takes)))
        domains[heads[name]] = [element for element in known if element in takes]
    for shapes in _shapes(op, names):
        if len(domains) == 1 and not _fits(op, names, shapes, next(iter(domains.values()))):
            continue
        for some in product(*domains.values()):
            of = dict(zip(domains, some, strict=True))
            if issubclass(op, MemoryOp) and len({getattr(e, "pointee_type", e) for e in some}) > 2:
                continue
            types = {name: tile_of(shapes[name], of[heads[name]]) for name in names}
            if all(types.values()):
                yield {name: type_ for name, type_ in types.items() if type_}


def _fits(
    op: type[CudaTileOp], names: list[str], shapes: dict[str, Shape], elements: list[Attribute]
) -> bool:
    """True where some of the first types of elements have an op of these shapes."""
    for element in elements[1:3] or elements:
        types = {name: tile_of(shapes[name], element) for name in names}
        if all(types.values()):
            frames = framed(op, {name: type_ for name, type_ in types.items() if type_})
            if any(verified(point, one) for point, choices in frames for one in choices):
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
def properties_of(op: type[CudaTileOp], rank: int) -> Sequence[dict[str, Attribute]]:
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


def framed(op: type[CudaTileOp], types: dict[str, TileType]) -> Iterator[Frame]:
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
        yield Point(op, operands, results, turned=turned), properties_of(op, rank)
