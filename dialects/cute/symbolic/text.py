"""Reading and writing values, dynamic leaves included.

    int_tuple, shape   (4,(?,?{i64 div=8})); a leaf x is one that could not be computed
    coord              (_,(0,?))
    stride             (1,?,4@0,?@1@0)
    layout             (4,?):(1,4)
    tile               [(2,3):(1,2);_;[4:1;_]]
    swizzle            S<3,4,3>
    composed_layout    S<3,4,3> o 0 o (8,64):(64,1)

Spaces may stand between any two tokens. A layout without strides is column-major.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tilewright.dialects.cute.int_tuple import LayoutError, to_text
from tilewright.dialects.cute.layout import Layout, make_unchecked
from tilewright.dialects.cute.swizzle import ComposedLayout, Swizzle, compose_unchecked
from tilewright.dialects.cute.symbolic.layouts import Tile, column_major
from tilewright.dialects.cute.symbolic.scalar import MISSING, WIDTHS, Dynamic, Missing
from tilewright.dialects.cute.text import LayoutParseError, LayoutReader


class ValueReader(LayoutReader):
    """A cursor over the tokens of a value."""

    def read_scalar(self) -> int | Dynamic | Missing:
        if self.token == "x":
            self.next()
            return MISSING
        if not self.token.startswith("?"):
            return self.read_integer()
        width = int(self.width or 32)
        if width not in WIDTHS:
            self.fail(f"a width of {', '.join(map(str, WIDTHS))}")
        digits = self.divisor or "1"
        divisor = int(digits) if len(digits) < 11 else 0
        if not 1 <= divisor < 1 << 31:
            self.fail("a divisor of 1 to 31 bits")
        self.next()
        return Dynamic(width, divisor)

    def read_coord_leaf(self) -> int | Dynamic | Missing | None:
        if self.token == "_":
            self.next()
            return None
        return self.read_scalar()

    def read_stride_leaf(self) -> Any:
        value: Any = self.read_scalar()
        if self.token == "/":
            self.next()
            value = Fraction(value, self.read_natural())
        value = self.read_basis(value)
        if isinstance(value, Fraction):
            self.fail("'@'")
        return value

    def read_layout(self) -> Layout:
        shape = self.read_tuple(self.read_scalar)
        if self.token != ":":
            return column_major(shape)
        self.next()
        return make_unchecked(shape, self.read_tuple(self.read_stride_leaf))

    def read_tile(self) -> Tile:
        return self.read_tuple(self._read_tile_leaf, "[;]")

    def _read_tile_leaf(self) -> Layout | None:
        if self.token == "_":
            self.next()
            return None
        return self.read_layout()

    def read_legal_swizzle(self) -> Swizzle:
        at = self.position
        bits, base, shift = self.read_swizzle()
        if bits + base + abs(shift) > 32:
            raise LayoutParseError(
                f"expected bits + base + |shift| <= 32, got S<{bits},{base},{shift}>", self.text, at
            )
        try:
            return Swizzle(bits, base, shift)
        except LayoutError as error:
            raise LayoutParseError(str(error), self.text, at) from error

    def read_composed(self) -> ComposedLayout:
        inner = self.read_legal_swizzle() if self.token == "S" else self.read_layout()
        self.read("o")
        offset = self.read_tuple(self.read_scalar)
        self.read("o")
        return compose_unchecked(inner, offset, self.read_layout())


_READERS: dict[str, Callable[[ValueReader], Any]] = {
    "int_tuple": lambda r: r.read_tuple(r.read_scalar),
    "shape": lambda r: r.read_tuple(r.read_scalar),
    "coord": lambda r: r.read_tuple(r.read_coord_leaf),
    "stride": lambda r: r.read_tuple(r.read_stride_leaf),
    "layout": ValueReader.read_layout,
    "tile": ValueReader.read_tile,
    "swizzle": ValueReader.read_legal_swizzle,
    "composed_layout": ValueReader.read_composed,
}
"""How a value of each kind is read."""

KINDS = tuple(_READERS)
"""The kinds of values, as the dialect's types are called."""


def read_value(kind: str, text: str) -> Any:
    """The value of a kind that is written as `text`. Raises LayoutParseError."""
    reader = ValueReader(text)
    value = _READERS[kind](reader)
    reader.read_end()
    return value


def value_text(value: Any) -> str:
    """How a value other than a tile is written."""
    return to_text(value)


def tile_text(tile: Tile) -> str:
    """How a tile is written."""
    if isinstance(tile, tuple):
        return f"[{';'.join(map(tile_text, tile))}]"
    return to_text(tile)
