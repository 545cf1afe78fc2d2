"""The values of an op's fields as one list, as xDSL makes it of a definition."""

from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import SSAValues
from xdsl.irdl import (
    AttrSizedOperandSegments,
    OpDef,
    OperandDef,
    OptionalDef,
    ParsePropInAttrDict,
    ResultDef,
    VariadicDef,
)

_LISTS = frozenset((list, tuple, SSAValues))

Counts = Sequence[tuple[int, int]]
"""How many values each field may have at least and at most."""


class Arity(Enum):
    """How many values an operand or a result stands for."""

    ONE = (1, 1)
    OPTIONAL = (0, 1)
    ANY = (0, 1 << 30)

    @classmethod
    def of(cls, field: OperandDef | ResultDef) -> "Arity":
        """That of a field of a definition."""
        if isinstance(field, OptionalDef):
            return cls.OPTIONAL
        return cls.ANY if isinstance(field, VariadicDef) else cls.ONE

    @property
    def words(self) -> str:
        """The number as diagnostics say it."""
        return {Arity.ONE: "1", Arity.OPTIONAL: "0 or 1", Arity.ANY: "any number of"}[self]


class FieldCounts(NamedTuple):
    """Those of operands and of results, and where the numbers of operands stand, if anywhere:
    among the `properties` or the `attributes`."""

    operands: Counts
    results: Counts
    sizes: str | None


def field_counts(definition: OpDef) -> FieldCounts | None:
    """Those of a definition; None where an op has more than values, attributes and single
    successors."""
    options = [
        (type(option), getattr(option, "as_property", None))
        for option in definition.options
        if not isinstance(option, ParsePropInAttrDict)
    ]
    several = any(isinstance(field, VariadicDef) for _, field in definition.successors)
    if definition.regions or several or len(options) > 1:
        return None
    if options and options[0][0] is not AttrSizedOperandSegments:
        return None
    operands, results = (
        [Arity.of(field).value for _, field in fields]
        for fields in (definition.operands, definition.results)
    )
    where = {True: "properties", False: "attributes"}
    return FieldCounts(operands, results, where[bool(options[0][1])] if options else None)


def flattened(
    given: Sequence[Any], counts: Counts, kind: type
) -> tuple[list[Any], tuple[int, ...]] | None:
    """The values of fields and how many each has; None where they are not as they should be."""
    values: list[Any] = []
    sizes: list[int] = []
    if len(given) != len(counts):
        return None
    for one, (least, most) in zip(given, counts, strict=True):
        if type(one) in _LISTS:
            if not least <= len(one) <= most:
                return None
            values += one
            sizes.append(len(one))
        elif one is not None:
            values.append(one)
            sizes.append(1)
        elif least == 0 and most == 1:
            sizes.append(0)
        else:
            return None
    for own in {*map(type, values)}:
        if not issubclass(own, kind):
            return None
    return values, tuple(sizes)


@cache
def segments(sizes: tuple[int, ...]) -> DenseArrayBase:
    """The attribute of numbers of operands."""
    return DenseArrayBase.from_list(i32, sizes)
