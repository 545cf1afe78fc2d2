"""Shared-memory matrix descriptors of `wgmma` and `tcgen05`: fields, bits, and the addresses they
stand for.

A descriptor says where a matrix of 16-byte chunks lies. With `b` the bits of its swizzle (0 to 3),
a chunk's address is the start address, plus (PTX ISA 9.7.15.5.1.2.1.3, in bytes)

    K-major, no swizzle     row%8 * 16          row/8 * SBO        chunk * LBO
    K-major, swizzled       row%8 * 16 << b     row/8 * SBO        chunk%2^b * 16, chunk/2^b * LBO
    MN-major, no swizzle    k%8 * 16            k/8 * LBO          chunk * SBO
    MN-major, swizzled      k%8 * 16 << b       k/8 * SBO          chunk%2^b * 16, chunk/2^b * LBO

and the swizzle XORs the lowest bits of `(address >> 7) - base offset` into the address from bit 4
on. All of it, any start address and overlapping strides too, is what an H100 does. PTX calls the
LBO of the second line unused: only a sparse B under the 32-byte swizzle has that many chunks.

tcgen05 has the fields in other places, and one swizzle more: 128 bytes in atoms of 32, S<2,5,2> on
addresses, whose groups are 4 rows instead of 8. That it reads as an H100 does is not measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tilewright.dialects.cute import Layout, Swizzle
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import (
    BitField,
    DescriptorError,
    check_word,
    html,
)
from tilewright.dialects.cute_nvgpu.lattice.nearest import why_not
from tilewright.dialects.frozen import frozen

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


@frozen
class SwizzleMode:
    """A value of the swizzle field: `width` bytes are a row of the pattern (0 is no swizzle), and
    `atom` bytes always stay together."""

    code: int
    width: int
    atom: int = CHUNK

    @property
    def pattern(self) -> Swizzle:
        """The swizzle of byte addresses."""
        bits = (self.width // self.atom).bit_length() - 1 if self.width else 0
        base = (self.atom - 1).bit_length()
        return Swizzle(bits, base, _ROW_SHIFT - base if bits else 3)

    @property
    def rows(self) -> int:
        """How many rows (K-major) or k (MN-major) make a swizzle atom."""
        return ROWS * CHUNK // self.atom

    @property
    def words(self) -> str:
        """`128 bytes`, `128 bytes in atoms of 32`."""
        if not self.width:
            return "no swizzle"
        return f"{self.width} bytes" + ("" if self.atom == CHUNK else f" in atoms of {self.atom}")


_ROW_SHIFT = 7
"""The swizzles XOR bits of the address from this one on: which row of 128 bytes it is in."""


@frozen
class DescriptorFormat:
    """Where the fields of a descriptor are, and what its swizzle field says. The last field is the
    swizzle's. `major_section` is what says which elements lie MN-major."""

    name: str
    fields: tuple[BitField, ...]
    swizzles: tuple[SwizzleMode, ...]
    section: str
    major_section: str

    def field(self, name: str) -> BitField:
        """The field of that name."""
        return next(field for field in self.fields if field.name == name)

    def swizzle(self, width: int, atom: int = CHUNK) -> SwizzleMode:
        """The mode of a swizzle. Raises DescriptorError where the format has none such."""
        for mode in self.swizzles:
            if (mode.width, mode.atom) == (width, atom):
                return mode
        widths = sorted(mode.width for mode in self.swizzles if mode.atom == atom)
        if not widths:
            atoms = sorted({mode.atom for mode in self.swizzles})
            raise DescriptorError(
                f"expected swizzle atoms of {', '.join(map(str, atoms))} bytes, got {atom}"
            )
        raise DescriptorError(
            why_not(width, widths, f"a swizzle of {', '.join(map(str, widths))} bytes")
        )

    def swizzle_atom(self, major: MajorMode, bits: int) -> int:
        """How many bytes the swizzle of such elements keeps together: an MN-major tf32 of tcgen05
        lies in atoms of 32 bytes, and nothing else does."""
        return 32 if self is TCGEN05 and major == "mn" and bits == 32 else CHUNK

    def swizzle_of_code(self, code: int) -> SwizzleMode:
        """The mode that the swizzle field says. Raises DescriptorError for a value without one."""
        for mode in self.swizzles:
            if mode.code == code:
                return mode
        legal = sorted(mode.code for mode in self.swizzles)
        why = why_not(code, legal, f"a swizzling mode of {', '.join(map(str, legal))}")
        raise DescriptorError(f"{why} (PTX ISA {self.section})")


_COMMON = (
    BitField("start_address", 0, 14, 4, "matrix start address, bytes"),
    BitField("leading_byte_offset", 16, 14, 4, "leading dimension byte offset (LBO)"),
    BitField("stride_byte_offset", 32, 14, 4, "stride dimension byte offset (SBO)"),
)
_BASE_OFFSET = BitField("base_offset", 49, 3, 0, "matrix base offset")

WGMMA = DescriptorFormat(
    "wgmma",
    (*_COMMON, _BASE_OFFSET, BitField("swizzle_mode", 62, 2, 0, "swizzling mode")),
    (SwizzleMode(0, 0), SwizzleMode(1, 128), SwizzleMode(2, 64), SwizzleMode(3, 32)),
    "9.7.15.5.1.2.2",
    "PTX ISA 9.7.15.5.1.2",
)
"""The format that `wgmma.mma_async` reads."""

TCGEN05 = DescriptorFormat(
    "tcgen05",
    (
        *_COMMON,
        BitField("version", 46, 3, 0, "version", fixed=1),
        _BASE_OFFSET,
        BitField("absolute", 52, 1, 0, "LBO is an absolute address"),
        BitField("swizzle_mode", 61, 3, 0, "swizzling mode"),
    ),
    (
        SwizzleMode(0, 0),
        SwizzleMode(1, 128, 32),
        SwizzleMode(2, 128),
        SwizzleMode(4, 64),
        SwizzleMode(6, 32),
    ),
    "9.7.16.4.1",
    "PTX ISA, tcgen05 major-ness",
)
"""The format that `tcgen05.mma` and `tcgen05.cp` read."""

FORMATS: dict[str, DescriptorFormat] = {format.name: format for format in (WGMMA, TCGEN05)}

BIT_FIELDS = WGMMA.fields
FIELD_OF: dict[str, BitField] = {field.name: field for field in BIT_FIELDS}

SWIZZLE_MODES: tuple[int, ...] = tuple(mode.width for mode in WGMMA.swizzles)
"""The bytes of the pattern's rows, by swizzling mode of wgmma; 0 is no swizzle."""


@frozen
class SmemDescriptor:
    """A matrix descriptor; addresses and offsets in bytes.

    `start_address` is in the shared window, `swizzle` the bytes of a row of the swizzle's pattern
    (0, 32, 64 or 128), `base_offset` which row of eight the pattern starts with: 0 where it starts
    on its natural boundary, and ignored without a swizzle. tcgen05 alone has swizzles of 128 bytes
    that keep 32 together (`swizzle_atom`), and an LBO that is an address (`absolute`). Raises
    DescriptorError for what the word cannot hold.
    """

    start_address: int
    leading_byte_offset: int
    stride_byte_offset: int
    swizzle: int = 0
    base_offset: int = 0
    swizzle_atom: int = CHUNK
    absolute: int = 0
    format: DescriptorFormat = WGMMA

    def __post_init__(self) -> None:
        self.format.swizzle(self.swizzle, self.swizzle_atom)
        for field in self.format.fields[:-1]:
            field.check(self.value(field), self.format.section)
        if self.absolute and all(field.name != "absolute" for field in self.format.fields):
            raise DescriptorError(f"expected a relative LBO for {self.format.name}, got absolute")

    @property
    def mode(self) -> SwizzleMode:
        """Its swizzle."""
        return self.format.swizzle(self.swizzle, self.swizzle_atom)

    @property
    def swizzle_mode(self) -> int:
        """The value of the field of that name."""
        return self.mode.code

    @property
    def swizzle_bits(self) -> int:
        """How many bits of the address the swizzle changes: 0 to 3."""
        return self.mode.pattern.bits

    def value(self, field: BitField) -> int:
        """Its value in a field of its format."""
        return getattr(self, field.name) if field.fixed is None else field.fixed

    def encode(self) -> int:
        """The 64-bit word."""
        return sum(field.put(self.value(field)) for field in self.format.fields)

    def _repr_html_(self) -> str:
        """The descriptor in a notebook: its fields."""
        fields = ((field, self.value(field)) for field in self.format.fields)
        return html(f"{self.format.name} matrix descriptor", self.encode(), 64, fields)

    @staticmethod
    def decode(word: int, format: DescriptorFormat = WGMMA) -> SmemDescriptor:
        """The descriptor that a word holds. Raises DescriptorError for bits that no field has, and
        for values that a field must not have."""
        check_word(word, 64, format.fields)
        fixed = {field.name: field.get(word) for field in format.fields if field.fixed is None}
        mode = format.swizzle_of_code(fixed.pop("swizzle_mode"))
        return SmemDescriptor(**fixed, swizzle=mode.width, swizzle_atom=mode.atom, format=format)

    def layout(self, major: MajorMode, extents: tuple[int, int], bits: int) -> Layout:
        """`(mn, k) -> offset` from the start address in elements of `bits`, before the swizzle.

        `extents` are those of the matrix, (M or N, K). PTX ISA 9.7.15.5.1.2.1.3. Raises
        DescriptorError for an offset that is not whole elements, extents that are not whole chunks,
        and an absolute LBO.
        """
        mn, k = extents
        per_chunk = 8 * CHUNK // bits
        lead, stride = (
            offset * 8 // bits for offset in (self.leading_byte_offset, self.stride_byte_offset)
        )
        along, across = (k, mn) if major == "k" else (mn, k)
        rows = self.mode.rows
        if self.absolute:
            raise DescriptorError("expected a relative LBO for a layout, got an absolute one")
        if along % per_chunk or across % rows:
            raise DescriptorError(
                f"expected whole chunks of {per_chunk} elements along the {major.upper()} mode and "
                f"whole groups of {rows} along the other, got ({mn}, {k})"
            )
        row = 8 * (self.swizzle or CHUNK) // bits
        inside = min(row, along)
        # Without a swizzle an MN-major matrix has the two offsets the other way round.
        first, second = (lead, stride) if major == "k" or self.swizzle else (stride, lead)
        runs = ((inside, -(-along // inside)), (1, first))
        groups = ((rows, across // rows), (row, second))
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
        moved = addresses - 128 * self.base_offset
        return addresses ^ moved ^ self.mode.pattern(moved)
