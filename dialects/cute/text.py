"""Reading layout text: `((4,8),2):((32,1),16)`, `(4,8):(1@0,1@1)`, `S<3,4,3> o 0 o (8,64):(64,1)`.

    layout    ::= int_tuple `:` int_tuple
    int_tuple ::= leaf | `(` (int_tuple (`,` int_tuple)*)? `)`
    leaf      ::= `-`? digits (`@` digits)*
    swizzle   ::= `S<` integer `,` integer `,` integer `>`

Spaces may stand between any two tokens.
"""

import re
from collections.abc import Callable
from typing import Any, NoReturn

from tilewright.dialects.cute.int_tuple import ScaledBasis, Stride
from tilewright.dialects.illegal import Illegal

MAX_DEPTH = 64  # far beyond any real layout, far within Python's recursion limit
_DYNAMIC = r"\?(?:\s*\{\s*(?!\})(?:i(?P<width>\d+))?\s*(?:div\s*=\s*(?P<divisor>\d+))?\s*\})?"
_TOKEN = re.compile(rf"\s*(-?\d+|{_DYNAMIC}|[^\s\d?])|\s*$", re.ASCII)
_BEYOND = 1 << 63
_MOST_DIGITS = len(str(-_BEYOND))


class LayoutParseError(Illegal):
    """The text is not a layout; `position` is the offset at which reading stopped."""

    def __init__(self, reason: str, text: str, position: int):
        super().__init__(f"{reason} at position {position} of {text!r}")
        self.reason = reason
        self.text = text
        self.position = position


class LayoutReader:
    """A cursor over the tokens of layout text, the last of which ended at `end`; every `read_`
    moves past what it returns."""

    def __init__(self, text: str):
        self.text = text
        self.end = self.position = 0
        self.token = ""
        self.width: str | None = None
        self.divisor: str | None = None
        self.next()

    def next(self) -> str:
        """The current token, moving on to the one behind it; "" is the end."""
        token, self.end = self.token, self.position
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            self.fail("a token")
        self.token, self.width, self.divisor = match[1] or "", match["width"], match["divisor"]
        self.position = match.end()
        return token

    def fail(self, expected: str) -> NoReturn:
        got = f"'{self.token}'" if self.token else "the end"
        at = self.position - len(self.token)
        raise LayoutParseError(f"expected {expected}, got {got}", self.text, at)

    def read(self, token: str) -> None:
        if self.token != token:
            self.fail(f"'{token}'")
        self.next()

    def read_end(self) -> None:
        if self.token:
            self.fail("the end")

    def read_integer(self, expected: str = "an integer") -> int:
        if not (self.token[-1:].isdecimal() and self.token.isascii()):
            self.fail(expected)
        if len(self.token) > _MOST_DIGITS or not -_BEYOND <= int(self.token) < _BEYOND:
            self.fail("an integer of 64 bits")
        return int(self.next())

    def read_natural(self) -> int:
        if self.token.startswith("-"):
            self.fail("a number that is not negative")
        return self.read_integer()

    def read_tuple(
        self, leaf: Callable[[], Any] | None = None, brackets: str = "(,)", depth: int = 0
    ) -> Any:
        """A leaf, without dynamic extents where nothing else is said, or a tuple of them nested at
        most MAX_DEPTH deep."""
        opening, separator, closing = brackets
        if self.token != opening:
            return (leaf or self._read_leaf)()
        if depth == MAX_DEPTH:
            self.fail(f"a tuple nested at most {MAX_DEPTH} deep")
        self.next()
        modes: list[Any] = []
        while self.token != closing:
            modes.append(self.read_tuple(leaf, brackets, depth + 1))
            if self.token != separator:
                break
            self.next()
            if self.token == closing:
                self.fail("a mode")
        if self.token != closing:
            self.fail(f"'{separator}' or '{closing}'")
        self.next()
        return tuple(modes)

    def _read_leaf(self) -> int | ScaledBasis:
        static = " (dynamic extents are not supported)" if self.token.startswith("?") else ""
        return self.read_basis(self.read_integer(f"an integer or '('{static}"))

    def read_basis(self, value: Any) -> Any:
        """A value, of a scaled basis where modes follow."""
        modes: list[int] = []
        while self.token == "@":
            self.next()
            modes.append(self.read_natural())
            if modes[-1] >= MAX_DEPTH:
                self.fail(f"a mode below {MAX_DEPTH}")
        return ScaledBasis(value, tuple(reversed(modes))) if modes else value

    def read_modes(self) -> tuple[Stride, Stride]:
        """The two sides of a layout's colon, unchecked."""
        shape = self.read_tuple()
        self.read(":")
        return shape, self.read_tuple()

    def read_swizzle(self) -> tuple[int, int, int]:
        """The three numbers of S<bits,base,shift>, unchecked."""
        self.read("S")
        self.read("<")
        bits = self.read_natural()
        self.read(",")
        base = self.read_natural()
        self.read(",")
        shift = self.read_integer()
        self.read(">")
        return bits, base, shift
