"""How ops lie in bytecode: derived from their definitions, for every version.

    op = opcode  result types  flags  properties  operands  regions

Result types are counted where an operand or a result is variadic. Each optional property and, in
ops with segments, each optional operand has a bit of the flags, by the version it came in, then
properties before operands; a unit property is nothing but its bit. Operands are counted by segment,
or all together where there are no segments and their number varies.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from functools import cache
from typing import Any, cast

from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    AllOf,
    AttrConstraint,
    AttrSizedOperandSegments,
    BaseAttr,
    OptOperandDef,
    OptPropertyDef,
    PropertyDef,
    SingleBlockRegionDef,
    VarResultDef,
)

from tilewright.dialects.cuda_tile.attributes import (
    AssumePredicateAttr,
    ChoiceAttr,
    OptimizationHintsAttr,
)
from tilewright.dialects.cuda_tile.constraints import ARRAY, InstanceOf, IntegerOf, ListOf, NumberOf
from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.cuda_tile.ops import OPS
from tilewright.dialects.cuda_tile.ops.facts import Arity, arity_of
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp
from tilewright.dialects.cuda_tile.types import TOKEN
from tilewright.dialects.cuda_tile.versions import Version


class PropertyKind(Enum):
    """How a property is encoded."""

    UNIT = auto()
    STRING = auto()
    SYMBOL = auto()
    TYPE = auto()
    INTEGER = auto()
    CHOICE = auto()
    NUMBER = auto()
    I32S = auto()
    BOOLS = auto()
    ARRAY = auto()
    HINTS = auto()
    ELEMENTS = auto()
    TAGGED = auto()


CLASSES: dict[type[Attribute], PropertyKind] = {
    UnitAttr: PropertyKind.UNIT,
    StringAttr: PropertyKind.STRING,
    SymbolRefAttr: PropertyKind.SYMBOL,
    FunctionType: PropertyKind.TYPE,
    OptimizationHintsAttr: PropertyKind.HINTS,
    ElementsAttr: PropertyKind.ELEMENTS,
    AssumePredicateAttr: PropertyKind.TAGGED,
}
"""The encoding of attributes of a class."""


def _kind(constraint: AttrConstraint) -> tuple[PropertyKind, Any]:
    """The encoding of the attributes that a constraint takes, and what else it needs to know."""
    match constraint:
        case IntegerOf(width=width):
            return PropertyKind.INTEGER, width
        case NumberOf(enum=enum):
            return PropertyKind.NUMBER, enum
        case ListOf(width=width):
            return (PropertyKind.BOOLS if width == 1 else PropertyKind.I32S), None
        case BaseAttr(attr=class_) if issubclass(class_, ChoiceAttr):
            return PropertyKind.CHOICE, cast(Any, class_)
        case InstanceOf(type=class_) | BaseAttr(attr=class_):
            return CLASSES[class_], None
        case AllOf(attr_constrs=(first, *_)):
            return _kind(first)
        case _:
            assert constraint is ARRAY, constraint
            return PropertyKind.ARRAY, None


@dataclass(frozen=True, slots=True)
class Property:
    """A property in one version: where the version has it not, `available` is false and it must
    be missing or what `default` says. `bit` is its bit in the flags if it is optional."""

    name: str
    kind: PropertyKind
    detail: Any
    since: Version
    available: bool
    default: Attribute | None
    bit: int | None


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand in one version; `bit` is its bit in the flags if it is an optional segment."""

    name: str
    arity: Arity
    since: Version
    available: bool
    bit: int | None


@dataclass(frozen=True, slots=True)
class Encoding:
    """How an op lies in the bytecode of one version.

    `results` is the number of result types, None where the op says it; `counted_results` and
    `counted_operands` whether a count stands before them; `missing_results` are the types of the
    results that the version does not have. `regions` says of each whether it may be empty.
    """

    op: type[CudaTileOp]
    since: Version
    results: int | None
    counted_results: bool
    missing_results: tuple[Attribute, ...]
    has_flags: bool
    known_flags: int
    properties: tuple[Property, ...]
    operands: tuple[Operand, ...]
    segments: bool
    counted_operands: bool
    regions: tuple[bool, ...]


@cache
def formats(version: Version) -> Mapping[int, Encoding]:
    """The format of every op of a version, by its opcode."""
    return {op.opcode: _format(op, version) for op in OPS if op.since <= version}


def _since(op: type[CudaTileOp], name: str) -> Version:
    return op.later.get(name, op.since)


def _optional(definition: PropertyDef) -> bool:
    """True where a property has a bit in the flags; lists of booleans are all false where
    missing."""
    return (
        isinstance(definition, OptPropertyDef)
        and definition.default_value is None
        and not (isinstance(definition.constr, ListOf) and definition.constr.width == 1)
    )


def _bits(op: type[CudaTileOp], segments: bool) -> dict[str, int]:
    """The bit of each optional field in the flags."""
    names = [name for name, d in op.definition.properties.items() if _optional(d)]
    if segments:
        names += [name for name, d in op.definition.operands if isinstance(d, OptOperandDef)]
    accessors = _accessors(op)
    names.sort(key=lambda name: _since(op, accessors.get(name, name)))
    return {name: bit for bit, name in enumerate(names)}


def _accessors(op: type[CudaTileOp]) -> Mapping[str, str]:
    """The Python name of each property that is called otherwise."""
    return {name: accessor for accessor, (name, _) in op.definition.accessor_names.items()}


def _format(op: type[CudaTileOp], version: Version) -> Encoding:
    definition = op.definition
    segments = any(isinstance(o, AttrSizedOperandSegments) for o in definition.options)
    bits, accessors = _bits(op, segments), _accessors(op)
    properties: list[Property] = []
    for name, d in definition.properties.items():
        if name == AttrSizedOperandSegments.attribute_name:
            continue
        since = _since(op, accessors.get(name, name))
        kind, detail = _kind(d.constr)
        properties.append(
            Property(name, kind, detail, since, since <= version, d.default_value, bits.get(name))
        )
    operands = tuple(
        Operand(name, arity_of(d), _since(op, name), _since(op, name) <= version, bits.get(name))
        for name, d in definition.operands
    )
    variadic_results = any(isinstance(d, VarResultDef) for _, d in definition.results)
    later = [name for name, _ in definition.results if _since(op, name) > version]
    optional = [f.since for f in (*properties, *operands) if f.bit is not None]
    return Encoding(
        op,
        op.since,
        None if variadic_results else len(definition.results) - len(later),
        variadic_results or any(operand.arity is Arity.ANY for operand in operands),
        (TOKEN,) * len(later),
        bool(optional) and min(optional) <= version,
        sum(1 << f.bit for f in (*properties, *operands) if f.bit is not None and f.available),
        tuple(properties),
        operands,
        segments,
        not segments and any(operand.arity is not Arity.ONE for operand in operands),
        tuple(not isinstance(d, SingleBlockRegionDef) for _, d in definition.regions),
    )
