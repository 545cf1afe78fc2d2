"""Bit fields of descriptors: one table of them packs a word and takes it apart."""

from collections.abc import Iterable
from html import escape

from tilewright.dialects.cute_nvgpu.lattice.nearest import closest
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import Illegal


class DescriptorError(Illegal):
    """A matrix that no descriptor expresses, or a word that is none: what is legal, and why."""


@frozen
class BitField:
    """One field of a word: `width` bits from bit `low` on, holding `value >> shift`. Where `fixed`
    is given, it is the only legal value."""

    name: str
    low: int
    width: int
    shift: int
    words: str
    fixed: int | None = None

    @property
    def mask(self) -> int:
        """Its bits within the word."""
        return ((1 << self.width) - 1) << self.low

    @property
    def bits(self) -> str:
        """`13-0`, as PTX writes it."""
        return f"{self.low + self.width - 1}-{self.low}" if self.width > 1 else str(self.low)

    @property
    def limit(self) -> int:
        """The first value that does not fit."""
        return 1 << (self.width + self.shift)

    def put(self, value: int) -> int:
        """The value in its place of the word."""
        return value >> self.shift << self.low

    def get(self, word: int) -> int:
        """The value that a word holds."""
        return (word & self.mask) >> self.low << self.shift

    def check(self, value: int, section: str) -> None:
        """Raise DescriptorError for a value that the field cannot hold."""
        unit = 1 << self.shift
        if 0 <= value < self.limit and value % unit == 0:
            return
        nearest = closest(value, range(0, self.limit, unit))
        expected = (
            f"a multiple of {unit} below {self.limit:#x}" if unit > 1 else f"0 to {self.limit - 1}"
        )
        raise DescriptorError(
            f"expected {expected} for the {self.words.removesuffix(', bytes')}, got {value:#x}; "
            f"nearest legal: {nearest:#x} (PTX ISA {section})"
        )


def check_word(word: int, bits: int, fields: Iterable[BitField]) -> None:
    """Raise DescriptorError for a word of more bits, with bits set that no field has, or without
    those that a fixed field has."""
    fields = tuple(fields)
    digits = bits // 4 + 2
    if not 0 <= word < 1 << bits:
        raise DescriptorError(f"expected a word of {bits} bits, got {word:#x}")
    used = sum(field.mask for field in fields)
    if stray := word & ~used:
        places = ", ".join(str(bit) for bit in range(bits) if stray >> bit & 1)
        raise DescriptorError(
            f"expected zeros outside the fields, got {word:#0{digits}x} with bits {places} set; "
            f"nearest legal: {word & used:#0{digits}x}"
        )
    for field in fields:
        if field.fixed is not None and field.get(word) != field.fixed:
            nearest = word & ~field.mask | field.put(field.fixed)
            raise DescriptorError(
                f"expected {field.fixed} in bits {field.bits} ({field.words}), got "
                f"{field.get(word)} in {word:#0{digits}x}; nearest legal: {nearest:#0{digits}x}"
            )


def html(title: str, word: int, bits: int, fields: Iterable[tuple[BitField, object]]) -> str:
    """A word as notebooks show it: its fields from the highest bit down, with their values."""
    rows = [
        f"<tr><td>{field.bits}</td><td>{escape(field.words)}</td><td>{escape(str(value))}</td></tr>"
        for field, value in sorted(fields, key=lambda pair: -pair[0].low)
    ]
    return (
        f"<table><caption><code>{escape(title)} {word:#0{bits // 4 + 2}x}</code></caption>"
        f"<tr><th>bits</th><th>field</th><th>value</th></tr>{''.join(rows)}</table>"
    )
