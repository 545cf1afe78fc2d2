"""The types that ops take and give, in the words of CuTe IR's diagnostics."""

from dataclasses import replace

from xdsl.dialects.builtin import VectorType, i1, i16, i32, i64
from xdsl.ir import Attribute

from tilewright.dialects.accepts import Accepts, InstanceOf, instance_of
from tilewright.dialects.cute.types.algebra import (
    ComposedLayoutType,
    CoordType,
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


def _is_scalar(type_: Attribute) -> bool:
    """True of integers, and of int_tuples without modes."""
    if isinstance(type_, IntTupleType):
        return not isinstance(type_.typed.value, tuple)
    return type_ in (i32, i64)


INT_TUPLE = instance_of("Scalar integer or recursive tuple of integers", IntTupleType)
COORD = instance_of(
    "Scalar integer, underscore wildcard, or recursive tuple of coordinates", CoordType
)
SHAPE = instance_of("Scalar integer or recursive tuple of shape extents", ShapeType)
STRIDE = instance_of("Scalar or recursive tuple of stride elements", StrideType)
LAYOUT = instance_of("CuTe layout: a shape/stride pair", LayoutType)
TILE = instance_of("CuTe tile: a recursive sequence of layouts and underscores", TileType)
COMPOSED = instance_of("CuTe composed layout: A ∘ offset ∘ B", ComposedLayoutType)
BOOL = Accepts("1-bit signless integer", lambda type_: type_ == i1, i1)
SCALARS = Accepts("variadic of 32/64-bit signless integer", lambda type_: type_ in (i32, i64))
INTEGER = Accepts("variadic of i32, i64, or depth-0 !cute.int_tuple", _is_scalar)


def either(*choices: InstanceOf) -> InstanceOf:
    """Any of these, described as ODS does where nobody gives the union a name."""
    return named(" or ".join(choice.words for choice in choices), *choices)


def named(words: str, *choices: InstanceOf) -> InstanceOf:
    """Any of these, under a name."""
    return instance_of(words, *(type_ for choice in choices for type_ in choice.types))


SWIZZLE = instance_of("CuTe swizzle: S<num_bits, num_base, num_shift>", SwizzleType)
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


def also(accepted: InstanceOf, *others: InstanceOf) -> InstanceOf:
    """Others as well, of which the words, NVIDIA's, say nothing."""
    return named(accepted.words, accepted, *others)


MEMREF = instance_of("!cute.memref", MemRefType)
COORD_TENSOR = instance_of("!cute.coord_tensor", CoordTensorType)
TENSOR = instance_of("!cute.memref or !cute.coord_tensor", MemRefType, CoordTensorType)
TILED_MMA = instance_of("!cute.tiled_mma", TiledMmaType)
TILED_COPY = instance_of("!cute.tiled_copy", TiledCopyType)
THREAD = Accepts("i32, i64, or depth-0 !cute.int_tuple", _is_scalar)
LAYOUT_OR_TENSOR = also(ANY_LAYOUT, TENSOR)
SLICEABLE_OR_TENSOR = also(SLICEABLE, TENSOR)
INDEXABLE_OR_TENSOR = also(INDEXABLE, TENSOR)
SHAPED_OR_TENSOR = also(SHAPED, TENSOR)
SIZED_OR_TENSOR = also(SIZED, TENSOR)
PIPELINE = instance_of("!cute.pipeline", PipelineType)
COPIER = instance_of("!cute.tiled_copy or !cute.tma_copy", TiledCopyType, TmaCopyType)
USE = Accepts("i32", lambda type_: type_ == i32)
I32 = replace(USE, only=i32)
"""As a result, whose type there is no need to say."""
TILES = named("!cute.shape or !cute.int_tuple", SHAPE, INT_TUPLE)
TILER = named("!cute.shape or !cute.tile", SHAPE, TILE)


def _coords(words: str, *types: type[Attribute]) -> Accepts:
    """Coordinates; an integer by itself is one as well."""
    return Accepts(words, lambda type_: isinstance(type_, types) or type_ in (i32, i64))


TILE_COORD = _coords("!cute.coord, !cute.int_tuple, i32 or i64", CoordType, IntTupleType)
LIMITS = _coords("!cute.shape, !cute.coord, !cute.int_tuple", ShapeType, CoordType, IntTupleType)
MASK = Accepts("i16", lambda type_: type_ == i16)
POLICY = Accepts("i64", lambda type_: type_ == i64)
ELEMENT = Accepts("an element", lambda type_: True)
VECTOR = instance_of("a vector", VectorType)
