"""Element types of tiles, as NumPy dtypes: what a tile of each type is held in.

A tile travels as an array [blocks, *shape]; an axis of 1 block stands for all of them. Integers are
held signed (i4 sign-extended in int8), i1 as bool, tf32 as the float32 it equals, pointers as
int64 addresses; the narrow floats are those of ml_dtypes, one element a byte.
"""

from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.elements import dtype_of
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import PointerType, TileType
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_types import AnyArray, AnyDType
from tilewright.lowering.interpreter.numerics import FORMATS, FloatFormat

Tile: TypeAlias = AnyArray
Kind: TypeAlias = Literal["integer", "float", "pointer"]


@frozen
class Element:
    """One element type. `bits` is its width in memory, `format` the row of the numerics that says
    what a float's bits are worth."""

    name: str
    kind: Kind
    bits: int
    dtype: AnyDType
    format: FloatFormat | None = None

    @property
    def bytes(self) -> int:
        """Bytes of one element in memory; i4 and f4E2M1FN lie two in a byte."""
        return max(1, self.bits // 8)

    @property
    def packed(self) -> bool:
        """True where two elements share a byte of memory."""
        return self.bits == 4

    @property
    def word(self) -> AnyDType:
        """The unsigned integer that holds one element's bits."""
        return np.dtype(f"uint{8 * self.dtype.itemsize}")


POINTER = Element("ptr", "pointer", 64, np.dtype(np.int64))
_FORMATS = {
    "f16": "f16",
    "bf16": "bf16",
    "f32": "f32",
    "f64": "f64",
    "tf32": "tf32",
    "f8E4M3FN": "e4m3",
    "f8E5M2": "e5m2",
    "f8E8M0FNU": "ue8m0",
    "fnv8E5M3FNU": "ue5m3",
    "f4E2M1FN": "e2m1",
}


@cache
def element_of(type_: Attribute) -> Element:
    """The element type of an attribute: numbers, or pointers."""
    if isinstance(type_, PointerType):
        return POINTER
    row, name = ELEMENT_OF[type_], shown(type_)
    if name == "i1":
        return Element(name, "integer", 8, np.dtype(bool))
    if not row.is_float:
        return Element(name, "integer", row.bits, dtype_of(type_))
    return Element(name, "float", row.bits, dtype_of(type_), FORMATS[_FORMATS[name]])


def element_of_tile(type_: Attribute) -> Element:
    """The element type of a tile type."""
    assert isinstance(type_, TileType)
    return element_of(type_.element_type)


def pointee_of(type_: Attribute) -> Element:
    """The elements that the pointers of a tile type point to."""
    assert isinstance(type_, TileType) and isinstance(type_.element_type, PointerType)
    return element_of(type_.element_type.pointee_type)


@cache
def unsigned(dtype: AnyDType) -> AnyDType:
    """The unsigned twin of a signed integer dtype."""
    return np.dtype(f"uint{8 * dtype.itemsize}")


def as_unsigned(tile: Tile) -> Tile:
    """The same bits, read as unsigned integers; bool as uint8."""
    return tile.view(unsigned(tile.dtype))


def as_signed(tile: Tile) -> Tile:
    """Integers to compare or to widen: an i1 that is set is -1."""
    return -tile.view(np.int8) if tile.dtype == np.bool_ else tile


def bits_of(tile: Tile) -> NDArray[np.unsignedinteger[Any]]:
    """The words of a tile's elements, C-contiguous."""
    return np.ascontiguousarray(tile).view(unsigned(tile.dtype))
