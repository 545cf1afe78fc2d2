"""Reading layout text: `((4,8),2):((32,1),16)`, `(4,8):(1@0,1@1)`, `S<3,4,3> o 0 o (8,64):(64,1)`.

    layout    ::= int_tuple `:` int_tuple
    int_tuple ::= leaf | `(` (int_tuple (`,` int_tuple)*)? `)`
    leaf      ::= `-`? digits (`@` digits)*
    swizzle   ::= `S<` integer `,` integer `,` integer `>`

Spaces may stand between any two tokens.
"""

from typing import NoReturn

from tilewright.dialects.cute.int_tuple import ScaledBasis, Stride
from tilewright.dialects.illegal import Illegal

MAX_DEPTH = 64  # far beyond any real layout, far within Python's recursion limit


class LayoutParseError(Illegal):
    """The text is not a layout; `position` is the offset at which reading stopped."""

    def __init__(self, reason: str, text: str, position: int):
        super().__init__(f"{reason} at position {position} of {text!r}")
        self.reason = reason
        self.text = text
        self.position = position


class LayoutReader:
    """A cursor over layout text; every `read_` moves past what it returns."""

    def __init__(self, text: str):
        self.text = text
        self.position = 0

    def fail(self, expected: str) -> NoReturn:
        at = self.position
        got = repr(self.text[at]) if at < len(self.text) else "the end"
        if got == "'?'":
            got += " (dynamic extents are not supported)"
        raise LayoutParseError(f"expected {expected}, got {got}", self.text, at)

    def at(self, token: str) -> bool:
        while self.position < len(self.text) and self.text[self.position].isspace():
            self.position += 1
        return self.text.startswith(token, self.position)

    def read(self, token: str) -> None:
        if not self.at(token):
            self.fail(f"'{token}'")
        self.position += len(token)

    def read_end(self) -> None:
        self.at("")
        if self.position < len(self.text):
            self.fail("the end")

    def read_integer(self, expected: str = "an integer") -> int:
        sign = 1
        if self.at("-"):
            self.read("-")
            sign = -1
        return sign * self.read_natural(expected)

    def read_natural(self, expected: str = "an integer") -> int:
        self.at("")
        start = end = self.position
        while end < len(self.text) and self.text[end] in "0123456789":
            end += 1
        if end == start:
            self.fail(expected)
        self.position = end
        try:
            return int(self.text[start:end])
        except ValueError:  # more digits than Python converts
            reason = f"expected {expected}, got {end - start} digits"
            raise LayoutParseError(reason, self.text, start) from None

    def read_tuple(self, depth: int = 0) -> Stride:
        """An int_tuple, nested at most MAX_DEPTH deep."""
        if not self.at("("):
            return self._read_leaf()
        if depth == MAX_DEPTH:
            self.fail(f"a tuple nested at most {MAX_DEPTH} deep")
        self.read("(")
        modes: list[Stride] = []
        if not self.at(")"):
            modes.append(self.read_tuple(depth + 1))
            while self.at(","):
                self.read(",")
                modes.append(self.read_tuple(depth + 1))
        if not self.at(")"):
            self.fail("',' or ')'")
        self.read(")")
        return tuple(modes)

    def _read_leaf(self) -> int | ScaledBasis:
        value = self.read_integer("an integer or '('")
        modes: list[int] = []
        while self.at("@"):
            self.read("@")
            modes.append(self.read_natural("a mode number"))
        return ScaledBasis(value, tuple(reversed(modes))) if modes else value

    def read_modes(self) -> tuple[Stride, Stride]:
        """The two sides of a layout's colon, unchecked."""
        shape = self.read_tuple()
        self.read(":")
        return shape, self.read_tuple()

    def read_swizzle(self) -> tuple[int, int, int]:
        """The three numbers of S<bits,base,shift>, unchecked."""
        self.read("S<")
        bits = self.read_natural()
        self.read(",")
        base = self.read_natural()
        self.read(",")
        shift = self.read_integer()
        self.read(">")
        return bits, base, shift
