"""The choices that attributes name. The position of a case is its number in text and bytecode."""

from functools import cache
from typing import Self, TypeVar

from xdsl.utils.str_enum import StrEnum

_Enum = TypeVar("_Enum", bound="TileEnum")


class TileEnum(StrEnum):
    """Words in the order of their numbers, from 0."""

    __hash__ = str.__hash__

    @property
    def number(self) -> int:
        """Its number in generic text and in bytecode."""
        return list(type(self)).index(self)

    @classmethod
    def of_number(cls, number: int) -> Self | None:
        """The case of a number, or None."""
        return _cases(cls).get(number)


@cache
def _cases(enum: type[_Enum]) -> dict[int, _Enum]:
    return dict(enumerate(enum))


class Signedness(TileEnum):
    """How integers are read."""

    UNSIGNED = "unsigned"
    SIGNED = "signed"


class IntegerOverflow(TileEnum):
    """Which overflow does not happen."""

    NONE = "none"
    NSW = "no_signed_wrap"
    NUW = "no_unsigned_wrap"
    NW = "no_wrap"


class RoundingMode(TileEnum):
    """How a result that is no number of its type becomes one."""

    NEAREST_EVEN = "nearest_even"
    ZERO = "zero"
    NEGATIVE_INF = "negative_inf"
    POSITIVE_INF = "positive_inf"
    APPROX = "approx"
    FULL = "full"
    NEAREST_INT_TO_ZERO = "nearest_int_to_zero"
    NEAREST_AWAY = "nearest_away"


class ComparisonOrdering(TileEnum):
    """The result of a comparison with NaN: false if ordered, true if not."""

    UNORDERED = "unordered"
    ORDERED = "ordered"


class ComparisonPredicate(TileEnum):
    """The relation of two operands."""

    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    LESS_THAN = "less_than"
    LESS_THAN_OR_EQUAL = "less_than_or_equal"
    GREATER_THAN = "greater_than"
    GREATER_THAN_OR_EQUAL = "greater_than_or_equal"


class AtomicRMWMode(TileEnum):
    """An atomic operation on what memory holds."""

    AND = "and"
    OR = "or"
    XOR = "xor"
    ADD = "add"
    ADDF = "addf"
    MAX = "max"
    MIN = "min"
    UMAX = "umax"
    UMIN = "umin"
    XCHG = "xchg"


class MultimemReductionKind(TileEnum):
    """How the copies of a multicast object are reduced. Since 13.5."""

    ADD = "add"
    MIN = "min"
    MAX = "max"
    AND = "and"
    OR = "or"
    XOR = "xor"
    UMIN = "umin"
    UMAX = "umax"


class MemoryScope(TileEnum):
    """Who else may access the memory at the same time."""

    TL_BLK = "tl_blk"
    DEVICE = "device"
    SYS = "sys"


class MemoryOrderingSemantics(TileEnum):
    """The access of others to the memory, and what is ordered by that."""

    WEAK = "weak"
    RELAXED = "relaxed"
    ACQUIRE = "acquire"
    RELEASE = "release"
    ACQ_REL = "acq_rel"


class PaddingValue(TileEnum):
    """The elements that loads give outside of a tensor."""

    ZERO = "zero"
    NEG_ZERO = "neg_zero"
    NAN = "nan"
    POS_INF = "pos_inf"
    NEG_INF = "neg_inf"


class PtrAttr(TileEnum):
    """The kind of memory of a pointer or a tensor view. Since 13.4."""

    NONE = "none"
    UNICAST = "unicast"
    MULTICAST = "multicast"


class SymbolVisibility(TileEnum):
    """Who may name a global."""

    PUBLIC = "public"
    PRIVATE = "private"
