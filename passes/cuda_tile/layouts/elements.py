"""The scalars that elements of tiles are in a thread."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float32Type,
    FloatAttr,
    FloatTF32Type,
    IntegerAttr,
    IntegerType,
    i8,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cuda_tile.element_types import (
    I4,
    WIDE_FLOATS,
    Float8E5M3FNUType,
)
from tilewright.dialects.cuda_tile.elements import dtype_of
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import PointerType, TileType
from tilewright.dialects.once import once_each
from tilewright.source.diagnostic import OpError

_HELD: dict[Attribute, Attribute] = {
    **{type_: type_ for type_ in WIDE_FLOATS},
    **{IntegerType(width): IntegerType(width) for width in (1, 8, 16, 32, 64)},
    FloatTF32Type(): Float32Type(),
    Float8E4M3FNType(): Float8E4M3FNType(),
    Float8E5M2Type(): Float8E5M2Type(),
    **dict.fromkeys((Float8E8M0FNUType(), Float8E5M3FNUType(), Float4E2M1FNType(), I4), i8),
}
"""The type that holds an element: f32 holds tf32; 8 bits hold i4, with its sign, and the words of
floats that no instruction of every target converts."""


_HOLDING = once_each(_HELD.get)


def scalar_type(op: Operation, element: Attribute) -> Attribute:
    """The type that holds an element: f32 holds tf32, i64 a pointer's address. Raises OpError where
    there is none yet."""
    if isinstance(element, PointerType):
        return i64
    if (type_ := _HOLDING(element)) is None:
        raise OpError(
            op,
            f"'{op.name}' of {shown(element)} has no lowering to cute; nearest legal: "
            f"{', '.join(map(shown, _HELD))}",
        )
    return type_


def tile_type(value: SSAValue) -> TileType:
    """The type of a tile."""
    assert isinstance(value.type, TileType)
    return value.type


def tile_text(value: SSAValue) -> str:
    """A tile's shape and element type, `64x32xf32`."""
    return "x".join([*map(str, shape_of(value)), shown(element_of(value))])


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tile."""
    return tile_type(value).shape


def element_of(value: SSAValue) -> Attribute:
    """The element type of a tile, as Tile IR has it."""
    return tile_type(value).element_type


def number_of(number: Any, element: Attribute) -> Any:
    """A number as what holds an element is: the word of a float that no scalar has."""
    if isinstance(element, IntegerType | PointerType) or isinstance(_HELD[element], AnyFloat):
        return number
    with np.errstate(all="ignore"):
        return int(np.asarray(number).astype(dtype_of(element)).view(np.uint8))


def number_attribute(number: Any, type_: Attribute) -> Attribute:
    """A constant of a scalar type."""
    if isinstance(type_, IntegerType):
        return _integer(int(number), type_.bitwidth)
    assert isinstance(type_, AnyFloat)
    return FloatAttr(float(number), type_)


@lru_cache(1 << 12)
def _integer(whole: int, width: int) -> Attribute:
    if width > 1 and whole >= 1 << (width - 1):
        whole -= 1 << width
    return IntegerAttr(whole, IntegerType(width))
