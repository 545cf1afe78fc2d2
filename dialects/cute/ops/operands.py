"""The types that ops take and give, in the words of CuTe IR's diagnostics."""

from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType, i1, i32, i64
from xdsl.ir import Attribute

from tilewright.dialects.cute.types.algebra import (
    ComposedLayoutType,
    CoordType,
    CuteType,
    IntTupleType,
    LayoutType,
    ShapeType,
    StrideType,
    SwizzleType,
    TileType,
)
from tilewright.dialects.cute.types.pipeline import PipelineType
from tilewright.dialects.cute.types.tensors import CoordTensorType, MemRefType
from tilewright.dialects.cute.types.tiled import TiledCopyType, TiledMmaType
from tilewright.dialects.cute.types.tma import TmaCopyType


@dataclass(frozen=True, slots=True)
class Accepts:
    """The types that an operand or a result may have."""

    description: str
    types: tuple[type[Attribute], ...]

    def takes(self, type_: Attribute) -> bool:
        """True for a type among them."""
        return isinstance(type_, self.types)

    @property
    def only(self) -> type[CuteType] | None:
        """The one type there is, which the text may then leave unnamed."""
        if len(self.types) == 1 and issubclass(self.types[0], CuteType) and type(self) is Accepts:
            return self.types[0]
        return None


@dataclass(frozen=True, slots=True)
class AcceptsIntegers(Accepts):
    """Integers of some widths; where int_tuples are among the types, those without modes."""

    integers: tuple[IntegerType, ...]

    def takes(self, type_: Attribute) -> bool:
        if isinstance(type_, IntTupleType) and IntTupleType in self.types:
            return not isinstance(type_.typed.value, tuple)
        return type_ in self.integers


INT_TUPLE = Accepts("Scalar integer or recursive tuple of integers", (IntTupleType,))
COORD = Accepts(
    "Scalar integer, underscore wildcard, or recursive tuple of coordinates", (CoordType,)
)
SHAPE = Accepts("Scalar integer or recursive tuple of shape extents", (ShapeType,))
STRIDE = Accepts("Scalar or recursive tuple of stride elements", (StrideType,))
LAYOUT = Accepts("CuTe layout: a shape/stride pair", (LayoutType,))
TILE = Accepts("CuTe tile: a recursive sequence of layouts and underscores", (TileType,))
COMPOSED = Accepts("CuTe composed layout: A ∘ offset ∘ B", (ComposedLayoutType,))
BOOL = AcceptsIntegers("1-bit signless integer", (), (i1,))
SCALARS = AcceptsIntegers("variadic of 32/64-bit signless integer", (), (i32, i64))
INTEGER = AcceptsIntegers(
    "variadic of i32, i64, or depth-0 !cute.int_tuple", (IntTupleType,), (i32, i64)
)


def either(*choices: Accepts) -> Accepts:
    """Any of these, described as ODS does where nobody gives the union a name."""
    description = " or ".join(choice.description for choice in choices)
    return Accepts(description, tuple(t for choice in choices for t in choice.types))


def named(description: str, *choices: Accepts) -> Accepts:
    """Any of these, under a name."""
    return Accepts(description, tuple(t for choice in choices for t in choice.types))


SWIZZLE = Accepts("CuTe swizzle: S<num_bits, num_base, num_shift>", (SwizzleType,))
ANY = named("any CuTe type", INT_TUPLE, COORD, SHAPE, STRIDE, LAYOUT, TILE, COMPOSED, SWIZZLE)
ANY_LAYOUT = named("!cute.layout or !cute.composed_layout", LAYOUT, COMPOSED)
INNER = named("!cute.layout or !cute.swizzle", LAYOUT, SWIZZLE)
INDEXABLE = named(
    "!cute.shape, !cute.int_tuple, !cute.coord, !cute.stride, !cute.tile, !cute.layout, "
    "or !cute.composed_layout",
    *(SHAPE, INT_TUPLE, COORD, STRIDE, TILE, LAYOUT, COMPOSED),
)
SLICEABLE = named(
    "!cute.shape, !cute.stride, !cute.coord, !cute.int_tuple, !cute.layout, "
    "or !cute.composed_layout",
    *(SHAPE, STRIDE, COORD, INT_TUPLE, LAYOUT, COMPOSED),
)
ANY_TUPLE = named(
    "!cute.shape, !cute.stride, !cute.coord, !cute.int_tuple, or !cute.tile",
    *(SHAPE, STRIDE, COORD, INT_TUPLE, TILE),
)
TUPLE_OR_LAYOUT = named(
    "!cute.int_tuple, !cute.coord, !cute.stride, !cute.shape, !cute.layout, "
    "or !cute.composed_layout",
    *(INT_TUPLE, COORD, STRIDE, SHAPE, LAYOUT, COMPOSED),
)
ARITH_TUPLE = named("!cute.int_tuple or !cute.shape", INT_TUPLE, SHAPE)
DIVIDER = named("!cute.layout, !cute.tile, or !cute.shape", LAYOUT, TILE, SHAPE)
COMPOSITION_RHS = named("!cute.layout, !cute.shape, or !cute.tile", LAYOUT, SHAPE, TILE)
COTARGET = named("!cute.layout or !cute.shape", LAYOUT, SHAPE)
CEIL_DIVISOR = named("!cute.int_tuple, !cute.shape, or !cute.tile", INT_TUPLE, SHAPE, TILE)
COMPARED = named("!cute.int_tuple, !cute.shape, or !cute.coord", INT_TUPLE, SHAPE, COORD)
EQUATED = named(
    "!cute.int_tuple, !cute.shape, !cute.coord, !cute.stride, or !cute.layout",
    *(INT_TUPLE, SHAPE, COORD, STRIDE, LAYOUT),
)
SHAPED = either(LAYOUT, COMPOSED, TILE)
CASTABLE = either(SHAPE, STRIDE, COORD, INT_TUPLE)
SIZED = either(SHAPE, INT_TUPLE, LAYOUT, COMPOSED)
PRODUCIBLE = either(INT_TUPLE, SHAPE)
SLOTS = named("variadic of any CuTe type", ANY)


# --- tensors, and what works on them --------------------------------------------------------------


def also(accepted: Accepts, *others: Accepts) -> Accepts:
    """Others as well, of which the description, NVIDIA's, says nothing."""
    return Accepts(accepted.description, (*accepted.types, *(t for x in others for t in x.types)))


MEMREF = Accepts("!cute.memref", (MemRefType,))
COORD_TENSOR = Accepts("!cute.coord_tensor", (CoordTensorType,))
TENSOR = Accepts("!cute.memref or !cute.coord_tensor", (MemRefType, CoordTensorType))
TILED_MMA = Accepts("!cute.tiled_mma", (TiledMmaType,))
TILED_COPY = Accepts("!cute.tiled_copy", (TiledCopyType,))
THREAD = AcceptsIntegers("i32, i64, or depth-0 !cute.int_tuple", (IntTupleType,), (i32, i64))
LAYOUT_OR_TENSOR = also(ANY_LAYOUT, TENSOR)
SLICEABLE_OR_TENSOR = also(SLICEABLE, TENSOR)
INDEXABLE_OR_TENSOR = also(INDEXABLE, TENSOR)
SHAPED_OR_TENSOR = also(SHAPED, TENSOR)
SIZED_OR_TENSOR = also(SIZED, TENSOR)
PIPELINE = Accepts("!cute.pipeline", (PipelineType,))
COPIER = Accepts("!cute.tiled_copy or !cute.tma_copy", (TiledCopyType, TmaCopyType))
USE = AcceptsIntegers("i32", (), (i32,))
TILES = named("!cute.shape or !cute.int_tuple", SHAPE, INT_TUPLE)
TILER = named("!cute.shape or !cute.tile", SHAPE, TILE)


@dataclass(frozen=True, slots=True)
class AcceptsCoords(Accepts):
    """Coordinates; an integer by itself is one as well."""

    def takes(self, type_: Attribute) -> bool:
        return isinstance(type_, self.types) or type_ in (i32, i64)


@dataclass(frozen=True, slots=True)
class AcceptsElements(Accepts):
    """Upstream types, which the op compares with its tensor's; any where none are named."""

    def takes(self, type_: Attribute) -> bool:
        return not self.types or isinstance(type_, self.types)


TILE_COORD = AcceptsCoords("!cute.coord, !cute.int_tuple, i32 or i64", (CoordType, IntTupleType))
LIMITS = AcceptsCoords("!cute.shape, !cute.coord, !cute.int_tuple", (ShapeType, *TILE_COORD.types))
