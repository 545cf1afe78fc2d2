"""How ops lie in bytecode: derived from their definitions, for every version.

    op = opcode  result types  flags  properties  operands  regions

Result types are counted where an operand or a result is variadic. Each optional property and, in
ops with segments, each optional operand has a bit of the flags, by the version it came in, then
properties before operands; a unit property is nothing but its bit. Operands are counted by segment,
or all together where there are no segments and their number varies.
"""

from collections.abc import Mapping
from functools import cache

from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    OptOperandDef,
    OptPropertyDef,
    PropertyDef,
    SingleBlockRegionDef,
    VarResultDef,
)

from tilewright.dialects.accepts import ListOf
from tilewright.dialects.cuda_tile.bytecode.codecs import Codec, codec_of
from tilewright.dialects.cuda_tile.ops import OPS
from tilewright.dialects.cuda_tile.ops.module import EntryOp, GlobalOp, ModuleOp
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp
from tilewright.dialects.cuda_tile.types import TOKEN
from tilewright.dialects.cuda_tile.versions import Version
from tilewright.dialects.field_counts import Arity
from tilewright.dialects.frozen import frozen

SIZES = {Arity.ONE: 1, Arity.ANY: None}


@frozen
class Property:
    """A property in one version: where the version has it not, `available` is false and it must
    be missing or what `default` says. `mask` is its bit in the flags if it is optional, else 0."""

    name: str
    codec: Codec
    since: Version
    available: bool
    default: Attribute | None
    mask: int


@frozen
class Operand:
    """An operand in one version; `mask` is its bit in the flags if it is an optional segment."""

    name: str
    arity: Arity
    since: Version
    available: bool
    mask: int


@frozen
class Encoding:
    """How an op lies in the bytecode of one version.

    `results` is the number of result types, None where the op says it; `counted_results` and
    `counted_operands` whether a count stands before them; `missing_results` are the types of the
    results that the version does not have. `available` are the properties it has. `sizes` are
    the numbers of values of the operands of an op with segments: where it depends on a bit of the
    flags that bit negated, None where a count says it. `regions` says of each whether it may be
    empty.
    """

    op: type[CudaTileOp]
    results: int | None
    counted_results: bool
    missing_results: tuple[Attribute, ...]
    has_flags: bool
    known_flags: int
    properties: tuple[Property, ...]
    available: tuple[Property, ...]
    operands: tuple[Operand, ...]
    sizes: tuple[int | None, ...]
    least_operands: int
    segments: bool
    counted_operands: bool
    regions: tuple[bool, ...]


@cache
def formats(version: Version) -> Mapping[int, Encoding]:
    """The format of every op of a version that a kernel may hold, by its opcode: what is around
    them has sections of its own."""
    inside = (op for op in OPS if op.since <= version and op not in (ModuleOp, EntryOp, GlobalOp))
    return {op.opcode: _format(op, version) for op in inside}


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


def _masks(op: type[CudaTileOp], segments: bool) -> dict[str, int]:
    """The flag of each optional field."""
    names = [name for name, d in op.definition.properties.items() if _optional(d)]
    if segments:
        names += [name for name, d in op.definition.operands if isinstance(d, OptOperandDef)]
    accessors = _accessors(op)
    names.sort(key=lambda name: _since(op, accessors.get(name, name)))
    return {name: 1 << bit for bit, name in enumerate(names)}


def _accessors(op: type[CudaTileOp]) -> Mapping[str, str]:
    """The Python name of each property that is called otherwise."""
    return {name: accessor for accessor, (name, _) in op.definition.accessor_names.items()}


def _format(op: type[CudaTileOp], version: Version) -> Encoding:
    definition = op.definition
    segments = any(isinstance(o, AttrSizedOperandSegments) for o in definition.options)
    masks, accessors = _masks(op, segments), _accessors(op)
    properties: list[Property] = []
    for name, d in definition.properties.items():
        if name == AttrSizedOperandSegments.attribute_name:
            continue
        since = _since(op, accessors.get(name, name))
        codec, mask = codec_of(d.constr, d.default_value), masks.get(name, 0)
        properties.append(Property(name, codec, since, since <= version, d.default_value, mask))
    operands = tuple(
        Operand(
            name, Arity.of(d), _since(op, name), _since(op, name) <= version, masks.get(name, 0)
        )
        for name, d in definition.operands
    )
    variadic_results = any(isinstance(d, VarResultDef) for _, d in definition.results)
    later = [name for name, _ in definition.results if _since(op, name) > version]
    optional = [f.since for f in (*properties, *operands) if f.mask]
    return Encoding(
        op,
        None if variadic_results else len(definition.results) - len(later),
        variadic_results or any(operand.arity is Arity.ANY for operand in operands),
        (TOKEN,) * len(later),
        bool(optional) and min(optional) <= version,
        sum(f.mask for f in (*properties, *operands) if f.available),
        tuple(properties),
        tuple(property_ for property_ in properties if property_.available),
        operands,
        tuple(SIZES.get(operand.arity, -operand.mask) for operand in operands),
        sum(operand.arity is Arity.ONE for operand in operands),
        segments,
        not segments and any(operand.arity is not Arity.ONE for operand in operands),
        tuple(not isinstance(d, SingleBlockRegionDef) for _, d in definition.regions),
    )
