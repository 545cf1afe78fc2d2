"""The legal operands, results and properties of ops, each with the words that say so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Attribute
from xdsl.irdl import AttrConstraint, IntConstraint, VerificationContext
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.element_types import (
    FLOATS,
    I4,
    INTEGERS,
    NUMBERS,
    WIDE_FLOATS,
    types_of,
)
from tilewright.dialects.cuda_tile.enums import TileEnum
from tilewright.dialects.cuda_tile.type_text import PREFIX, shown
from tilewright.dialects.cuda_tile.types import (
    PointerType,
    TensorViewType,
    TileType,
    TileView,
    TokenType,
)


@dataclass(frozen=True)
class Accepts(AttrConstraint):
    """A set of types or attributes, and the words for it."""

    words: str
    takes: Callable[[Attribute], bool]

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not self.takes(attr):
            raise VerifyException(f"expected {self.words}, got {shown(attr)}")

    def mapping_type_vars(  # pyright: ignore
        self, type_var_mapping: Mapping[TypeVar, AttrConstraint | IntConstraint]
    ) -> Any:
        return self


def one_of(words: Sequence[str]) -> str:
    """Words as a sentence lists them: `a, b or c`."""
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


# --- types ---


def tiles_of(elements: Sequence[Attribute], rank: int | None = None) -> Accepts:
    """Tiles of some types of numbers, of one rank or of all."""
    allowed = frozenset(elements)
    what = "scalar tile" if rank == 0 else "tile"

    def takes(type_: Attribute) -> bool:
        return (
            isinstance(type_, TileType)
            and type_.element_type in allowed
            and (rank is None or type_.rank == rank)
        )

    return Accepts(f"a {what} of {one_of([shown(element) for element in elements])}", takes)


def _is_pointer_tile(type_: Attribute) -> bool:
    return isinstance(type_, TileType) and isinstance(type_.element_type, PointerType)


ANY = Accepts("any type", lambda type_: True)
VALUE = Accepts(
    "a number or a value of this dialect",
    lambda type_: type_ in NUMBERS or type_.name.startswith(PREFIX),
)
TILE = Accepts("a tile", lambda type_: isinstance(type_, TileType))
FLOAT_TILE = tiles_of(WIDE_FLOATS)
ANY_FLOAT_TILE = tiles_of(FLOATS)
INT_TILE = tiles_of(INTEGERS)
ANY_INT_TILE = tiles_of((*INTEGERS, I4))
NUMBER_TILE = tiles_of(NUMBERS)
ANY_NUMBER_TILE = tiles_of((*NUMBERS, I4))
I1_TILE = tiles_of(types_of("i1"))
I8_TILE = tiles_of(types_of("i8"))
I64_TILE = tiles_of(types_of("i64"))
POINTER_TILE = Accepts("a tile of pointers", _is_pointer_tile)
SCALAR_INT = tiles_of(INTEGERS, 0)
SCALAR_I1 = tiles_of(types_of("i1"), 0)
SCALAR_I32 = tiles_of(types_of("i32"), 0)
SCALAR_POINTER = Accepts(
    "a scalar tile of a pointer",
    lambda type_: _is_pointer_tile(type_) and isinstance(type_, TileType) and not type_.rank,
)
TENSOR_VIEW = Accepts("a tensor_view", lambda type_: isinstance(type_, TensorViewType))
TILE_VIEW = Accepts(
    "a partition_view, strided_view or gather_scatter_view",
    lambda type_: isinstance(type_, TileView),
)
TOKEN = Accepts("a token", lambda type_: isinstance(type_, TokenType))

UNIQUE: dict[Accepts, Attribute] = {
    TOKEN: TokenType(),
    SCALAR_I1: TileType.get((), IntegerType(1)),
    SCALAR_I32: TileType.get((), IntegerType(32)),
}
"""The one type that each of these takes."""


# --- properties ---


@dataclass(frozen=True)
class InstanceOf(Accepts):
    """Attributes of a class."""

    type: type[Attribute]


@dataclass(frozen=True)
class IntegerOf(Accepts):
    """Integers of a width."""

    width: int


@dataclass(frozen=True)
class ListOf(Accepts):
    """Dense lists of integers of a width: `array<i32: 1, 0>`."""

    width: int


@dataclass(frozen=True)
class NumberOf(Accepts):
    """A choice as an i32: its number."""

    enum: type[TileEnum]


def instance_of(type_: type[Attribute], words: str) -> InstanceOf:
    """Attributes of a class."""
    return InstanceOf(words, lambda attribute: isinstance(attribute, type_), type_)


def integer(width: int, least: int | None = None) -> IntegerOf:
    """Integers of a width, of `least` or more."""
    type_ = IntegerType(width)

    def takes(attribute: Any) -> bool:
        return (  # pyright: ignore
            isinstance(attribute, IntegerAttr)
            and attribute.type == type_  # pyright: ignore
            and (least is None or attribute.value.data >= least)
        )

    return IntegerOf(
        f"an i{width}" + ("" if least is None else f" of {least} or more"), takes, width
    )


def list_of(width: int) -> ListOf:
    """Dense lists of integers of a width."""
    type_ = IntegerType(width)

    def takes(attribute: Any) -> bool:
        return isinstance(attribute, DenseArrayBase) and bool(attribute.elt_type == type_)  # pyright: ignore

    return ListOf(f"an array of i{width}", takes, width)


def number_of(enum: type[TileEnum]) -> NumberOf:
    """The i32 numbers of the cases of an enum."""

    def takes(attribute: Any) -> bool:
        return (  # pyright: ignore
            isinstance(attribute, IntegerAttr)
            and attribute.type == IntegerType(32)  # pyright: ignore
            and enum.of_number(attribute.value.data) is not None
        )

    cases = [f"{case.number} ({case.value})" for case in enum]
    return NumberOf(f"an i32 that is {one_of(cases)}", takes, enum)


ARRAY = Accepts("an array of attributes", lambda attribute: isinstance(attribute, ArrayAttr))
