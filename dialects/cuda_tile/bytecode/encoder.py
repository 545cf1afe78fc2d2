"""Bytes being written: numbers and padding as Tile IR bytecode has them."""

from collections.abc import Iterable, Sequence
from struct import pack
from typing import Generic, TypeVar

PADDING = b"\xcb"
Entry = TypeVar("Entry")


class Encoder(bytearray):
    """A growing piece of a file."""

    def varint(self, value: int) -> None:
        """An unsigned number in groups of seven bits, low ones first."""
        while value > 127:
            self.append(value & 127 | 128)
            value >>= 7
        self.append(value)

    def varints(self, values: Iterable[int]) -> None:
        """Unsigned numbers, one after another."""
        for value in values:
            self.varint(value)

    def signed_varint(self, value: int) -> None:
        """A signed number: 0, -1, 1, -2 are 0, 1, 2, 3."""
        self.varint(value << 1 if value >= 0 else ~(value << 1))

    def integers(self, code: str, values: Sequence[int]) -> None:
        """Numbers of fixed width, little-endian; `code` is `struct`'s letter."""
        self += pack(f"<{len(values)}{code}", *values)

    def counted(self, code: str, values: Sequence[int]) -> None:
        """How many numbers of fixed width there are, and these."""
        self.varint(len(values))
        self.integers(code, values)

    def align(self, alignment: int) -> None:
        """Pad up to a multiple of `alignment` bytes."""
        self += PADDING * (-len(self) % alignment)


class Table(Generic[Entry]):
    """The entries of a table that is being written, each once; `seed` is what they begin with."""

    def __init__(self, seed: Iterable[Entry] = ()):
        self.entries = list(seed)
        self.indices = {entry: i for i, entry in reversed(list(enumerate(self.entries)))}

    def index(self, entry: Entry) -> int:
        """The index of an entry, of equal ones the first."""
        index = self.indices.setdefault(entry, len(self.entries))
        if index == len(self.entries):
            self.entries.append(entry)
        return index
