"""The legal operands, results and properties of ops, each with the words that say so."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute

from tilewright.dialects.accepts import Accepts, ChoiceOf, choice_of, one_of
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

# --- types ---


def tiles_of(elements: Sequence[Attribute], rank: int | None = None) -> Accepts:
    """Tiles of some types of numbers, of one rank or of all."""
    allowed = frozenset(elements)
    only = TileType.get((), elements[0]) if rank == 0 and len(elements) == 1 else None
    what = "scalar tile" if rank == 0 else "tile"

    def takes(type_: Attribute) -> bool:
        return (
            isinstance(type_, TileType)
            and type_.element_type in allowed
            and (rank is None or type_.rank == rank)
        )

    words = f"a {what} of {one_of([shown(element) for element in elements])}"
    return Accepts(words, takes, only)


def is_pointer_tile(type_: Attribute) -> bool:
    """A type is a tile of pointers."""
    return isinstance(type_, TileType) and isinstance(type_.element_type, PointerType)


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
POINTER_TILE = Accepts("a tile of pointers", is_pointer_tile)
SCALAR_INT = tiles_of(INTEGERS, 0)
SCALAR_I1 = tiles_of(types_of("i1"), 0)
SCALAR_I32 = tiles_of(types_of("i32"), 0)
SCALAR_POINTER = Accepts(
    "a scalar tile of a pointer",
    lambda type_: is_pointer_tile(type_) and isinstance(type_, TileType) and not type_.rank,
)
TENSOR_VIEW = Accepts("a tensor_view", lambda type_: isinstance(type_, TensorViewType))
TILE_VIEW = Accepts(
    "a partition_view, strided_view or gather_scatter_view",
    lambda type_: isinstance(type_, TileView),
)
TOKEN = Accepts("a token", lambda type_: isinstance(type_, TokenType), TokenType())


# --- properties ---


@dataclass(frozen=True, kw_only=True)
class NumberOf(ChoiceOf):
    """A case of an enum as an i32: its number."""

    enum: type[TileEnum]


def number_of(enum: type[TileEnum]) -> NumberOf:
    """The i32 numbers of the cases of an enum."""
    choice = choice_of({case.value: case.number for case in enum})
    return NumberOf(choice.words, choice.takes, cases=choice.cases, enum=enum)
