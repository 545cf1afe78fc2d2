"""A place in the bytes of a file, from which its numbers are read one after another."""

from __future__ import annotations

from collections.abc import Sequence
from struct import unpack_from
from typing import NoReturn

from tilewright.dialects.cuda_tile.bytecode.error import BytecodeError

VARINT_BITS = 70
"""The bits of ten groups of seven: cuTile writes 65 bits where a negative f64 is an identity."""


class Cursor:
    """Reads between `position` and `end` of `data`; offsets count from the start of the file.

    Every method raises BytecodeError where too few bytes are left.
    """

    __slots__ = ("data", "end", "position")

    def __init__(self, data: bytes, position: int = 0, end: int | None = None):
        self.data = data
        self.position = position
        self.end = len(data) if end is None else end

    @property
    def remaining(self) -> int:
        """How many bytes are left."""
        return self.end - self.position

    def fail(self, message: str, offset: int | None = None) -> NoReturn:
        """Raise BytecodeError at an offset, by default here."""
        raise BytecodeError(self.position if offset is None else offset, message)

    def need(self, size: int, what: str) -> None:
        """Fail unless that many bytes are left."""
        if size > self.end - self.position:
            self.fail(f"expected {size} more bytes for {what}, got {self.remaining}")

    def byte(self) -> int:
        """One byte."""
        position = self.position
        if position >= self.end:
            self.fail("expected one more byte, got the end")
        self.position = position + 1
        return self.data[position]

    def varint(self) -> int:
        """An unsigned number in groups of seven bits, low ones first."""
        position = self.position
        if position >= self.end:
            self.fail("expected a number, got the end")
        byte = self.data[position]
        self.position = position + 1
        return byte if byte < 128 else self._long_varint(position)

    def _long_varint(self, position: int) -> int:
        start, value, shift = position, 0, 0
        while shift < VARINT_BITS:
            if position >= self.end:
                self.fail("expected the rest of a number, got the end", start)
            byte = self.data[position]
            value |= (byte & 127) << shift
            position += 1
            if byte < 128:
                self.position = position
                return value
            shift += 7
        self.fail("expected a number of at most 10 bytes, got a longer one", start)

    def varints(self, number: int) -> Sequence[int]:
        """So many unsigned numbers."""
        position = self.position
        chunk = self.data[position : position + number]
        if position + number <= self.end and chunk.isascii():
            self.position = position + number
            return chunk
        return self._mixed_varints(number)

    def _mixed_varints(self, number: int) -> list[int]:
        """So many unsigned numbers, not all of one byte; those of two are what is frequent."""
        data, end, position = self.data, self.end, self.position
        values: list[int] = []
        for _ in range(number):
            if position >= end:
                self.fail("expected a number, got the end", position)
            value = data[position]
            position += 1
            if value > 127:
                if position < end and (second := data[position]) < 128:
                    value += (second << 7) - 128
                    position += 1
                else:
                    value = self._long_varint(position - 1)
                    position = self.position
            values.append(value)
        self.position = position
        return values

    def signed_varint(self) -> int:
        """A signed number: 0, -1, 1, -2 are 0, 1, 2, 3."""
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def count(self, item_bytes: int, what: str) -> int:
        """A number of items of at least that many bytes each; all these bytes must still come."""
        start = self.position
        number = self.varint()
        if number * item_bytes > self.end - self.position:
            self.fail(
                f"expected at most {self.remaining // item_bytes} {what}, got {number}", start
            )
        return number

    def index(self, size: int, what: str) -> int:
        """An index into a table of that size."""
        start = self.position
        index = self.varint()
        if index >= size:
            self.fail(f"expected an index of one of {size} {what}, got {index}", start)
        return index

    def bytes(self, size: int, what: str) -> bytes:
        """That many raw bytes."""
        self.need(size, what)
        start = self.position
        self.position = start + size
        return self.data[start : self.position]

    def integers(self, code: str, number: int, what: str) -> tuple[int, ...]:
        """Numbers of fixed width, little-endian; `code` is `struct`'s letter."""
        size = {"b": 1, "i": 4, "I": 4, "q": 8, "Q": 8}[code] * number
        self.need(size, what)
        values = unpack_from(f"<{number}{code}", self.data, self.position)
        self.position += size
        return values

    def align(self, alignment: int, base: int = 0) -> None:
        """Skip the padding up to a multiple of `alignment` bytes behind `base`."""
        padding = -(self.position - base) % alignment
        self.need(padding, f"padding to {alignment} bytes")
        self.position += padding

    def part(self, size: int, what: str) -> Cursor:
        """A cursor over the next bytes alone, which this one skips."""
        self.need(size, what)
        start = self.position
        self.position = start + size
        return Cursor(self.data, start, self.position)
