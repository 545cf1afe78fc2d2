"""Shared-memory matrix descriptors of `wgmma`: fields, bits, and the addresses they stand for.

A descriptor says where a matrix of 16-byte chunks lies. With `b` the bits of its swizzle (0 to 3),
a chunk's address is the start address, plus (PTX ISA 9.7.15.5.1.2.1.3, in bytes)

    K-major, no swizzle     row%8 * 16          row/8 * SBO        chunk * LBO
    K-major, swizzled       row%8 * 16 << b     row/8 * SBO        chunk%2^b * 16, chunk/2^b * LBO
    MN-major, no swizzle    k%8 * 16            k/8 * LBO          chunk * SBO
    MN-major, swizzled      k%8 * 16 << b       k/8 * SBO          chunk%2^b * 16, chunk/2^b * LBO

and the swizzle XORs the lowest bits of `(address >> 7) - base offset` into the address from bit 4
on. All of it, any start address and overlapping strides too, is what an H100 does. PTX calls the
LBO of the second line unused: only a sparse B under the 32-byte swizzle has that many chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tilewright.dialects.cute import Layout, Swizzle

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MajorMode = Literal["k", "mn"]
"""Along which mode of the matrix neighbours lie in memory: PTX's `imm-trans` is 1 for "mn"."""
MAJOR_MODES: tuple[MajorMode, ...] = ("k", "mn")

CHUNK = 16
"""Bytes that always lie together: PTX normalises every element type to 128 bits."""

ROWS = 8
"""How many rows (K-major) or k (MN-major) make a swizzle atom. PTX ISA, table 38."""


class DescriptorError(ValueError):
    """What no descriptor can express, or no descriptor is: what was found, what is legal, why."""


@dataclass(frozen=True, slots=True)
class BitField:
    """One field of the 64-bit word: `width` bits from bit `low` on, holding `value >> shift`."""

    name: str
    low: int
    width: int
    shift: int
    words: str

    @property
    def mask(self) -> int:
        """Its bits within the word."""
        return ((1 << self.width) - 1) << self.low

    @property
    def bits(self) -> str:
        """`13-0`, as PTX writes it."""
        return f"{self.low + self.width - 1}-{self.low}"

    @property
    def limit(self) -> int:
        """The first value that does not fit."""
        return 1 << (self.width + self.shift)


BIT_FIELDS: tuple[BitField, ...] = (
    BitField("start_address", 0, 14, 4, "matrix start address, bytes"),
    BitField("leading_byte_offset", 16, 14, 4, "leading dimension byte offset (LBO)"),
    BitField("stride_byte_offset", 32, 14, 4, "stride dimension byte offset (SBO)"),
    BitField("base_offset", 49, 3, 0, "matrix base offset"),
    BitField("swizzle_mode", 62, 2, 0, "swizzling mode"),
)
"""PTX ISA 9.7.15.5.1.2.2."""

FIELD_OF: dict[str, BitField] = {field.name: field for field in BIT_FIELDS}

SWIZZLE_MODES: tuple[int, ...] = (0, 128, 64, 32)
"""The bytes of the pattern's rows, by swizzling mode; 0 is no swizzle."""

_USED = sum(field.mask for field in BIT_FIELDS)


@dataclass(frozen=True, slots=True)
class SmemDescriptor:
    """A matrix descriptor; addresses and offsets in bytes.

    `start_address` is in the shared window, `swizzle` the bytes of a row of the swizzle's pattern
    (0, 32, 64 or 128), `base_offset` which row of eight the pattern starts with: 0 where it starts
    on its natural boundary, and ignored without a swizzle. Raises DescriptorError for what the word
    cannot hold.
    """

    start_address: int
    leading_byte_offset: int
    stride_byte_offset: int
    swizzle: int = 0
    base_offset: int = 0

    def __post_init__(self) -> None:
        if self.swizzle not in SWIZZLE_MODES:
            nearest = min(SWIZZLE_MODES, key=lambda legal: abs(legal - self.swizzle))
            raise DescriptorError(
                f"expected a swizzle of {', '.join(map(str, sorted(SWIZZLE_MODES)))} bytes, "
                f"got {self.swizzle}; nearest legal: {nearest}"
            )
        for field in BIT_FIELDS[:-1]:
            _check_field(field, getattr(self, field.name))

    @property
    def swizzle_mode(self) -> int:
        """The value of the field of that name."""
        return SWIZZLE_MODES.index(self.swizzle)

    @property
    def swizzle_bits(self) -> int:
        """How many bits of the address the swizzle changes: 0 to 3."""
        return (self.swizzle // CHUNK).bit_length() - 1 if self.swizzle else 0

    def encode(self) -> int:
        """The 64-bit word."""
        return sum(getattr(self, field.name) >> field.shift << field.low for field in BIT_FIELDS)

    @staticmethod
    def decode(word: int) -> SmemDescriptor:
        """The descriptor that a word holds. Raises DescriptorError for bits that no field has."""
        if not 0 <= word < 1 << 64:
            raise DescriptorError(f"expected a word of 64 bits, got {word:#x}")
        if stray := word & ~_USED:
            places = ", ".join(str(bit) for bit in range(64) if stray >> bit & 1)
            raise DescriptorError(
                f"expected zeros outside the fields, got {word:#018x} with bits {places} set; "
                f"nearest legal: {word & _USED:#018x}"
            )
        held = {field.name: (word & field.mask) >> field.low << field.shift for field in BIT_FIELDS}
        mode = held.pop("swizzle_mode")
        return SmemDescriptor(**held, swizzle=SWIZZLE_MODES[mode])

    def layout(self, major: MajorMode, extents: tuple[int, int], bits: int) -> Layout:
        """`(mn, k) -> offset` from the start address in elements of `bits`, before the swizzle.

        `extents` are those of the matrix, (M or N, K). PTX ISA 9.7.15.5.1.2.1.3. Raises
        DescriptorError for an offset that is not whole elements, or extents not whole chunks.
        """
        mn, k = extents
        per_chunk = 8 * CHUNK // bits
        lead, stride = (
            each * 8 // bits for each in (self.leading_byte_offset, self.stride_byte_offset)
        )
        along, across = (k, mn) if major == "k" else (mn, k)
        if along % per_chunk or across % ROWS:
            raise DescriptorError(
                f"expected whole chunks of {per_chunk} elements along the {major.upper()} mode and "
                f"whole groups of {ROWS} along the other, got ({mn}, {k})"
            )
        row = per_chunk << self.swizzle_bits
        inside = min(row, along)
        # Without a swizzle an MN-major matrix has the two offsets the other way round.
        first, second = (lead, stride) if major == "k" or self.swizzle else (stride, lead)
        runs = ((inside, -(-along // inside)), (1, first))
        groups = ((ROWS, across // ROWS), (row, second))
        modes = (groups, runs) if major == "k" else (runs, groups)
        return Layout(tuple(shape for shape, _ in modes), tuple(step for _, step in modes))

    def addresses(self, major: MajorMode, extents: tuple[int, int], bits: int) -> NDArray[np.int64]:
        """Where each element is, in bits from the start of the shared window: int64 [mn, k].

        Raises DescriptorError as `layout` does.
        """
        import numpy as np

        layout = self.layout(major, extents, bits)
        mn, k = (np.arange(extent, dtype=np.int64) for extent in extents)
        offsets = layout[0](mn)[:, None] + layout[1](k)[None, :]
        places = 8 * self.start_address + offsets * bits
        return self.swizzled(places // 8) * 8 + places % 8

    def swizzled(self, addresses: NDArray[np.int64]) -> NDArray[np.int64]:
        """Addresses in bytes after the swizzle."""
        pattern = Swizzle(self.swizzle_bits, 4, 3)
        moved = addresses - 128 * self.base_offset
        return addresses ^ moved ^ pattern(moved)


def _check_field(field: BitField, value: int) -> None:
    unit = 1 << field.shift
    if 0 <= value < field.limit and value % unit == 0:
        return
    nearest = min(max(round(value / unit) * unit, 0), field.limit - unit)
    expected = (
        f"a multiple of {unit} below {field.limit:#x}" if unit > 1 else f"0 to {field.limit - 1}"
    )
    raise DescriptorError(
        f"expected {expected} for the {field.words.removesuffix(', bytes')}, got {value:#x}; "
        f"nearest legal: {nearest:#x} (PTX ISA 9.7.15.5.1.2.2)"
    )
