"""From the layout of a tile in shared memory to the descriptor that reads it.

The layout is `(mn, k) -> offset` in elements, plain or through a swizzle. Its modes are compared
as functions with those of the canonical layouts (`SmemDescriptor.layout`): what repeats is solved
for LBO and SBO, and whatever else differs is what no descriptor can express.
"""

from tilewright.dialects.cute import Layout, Swizzle, coalesce, equivalent, flatten
from tilewright.dialects.cute.swizzle import AnyLayout
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    CHUNK,
    MAJOR_MODES,
    WGMMA,
    DescriptorFormat,
    MajorMode,
    SmemDescriptor,
    SwizzleMode,
)
from tilewright.dialects.frozen import frozen

_MODES = ("mn", "k")

_UNUSED = CHUNK
"""An offset that the hardware does not look at: 1 after encoding, as PTX writes."""


@frozen
class SmemTile:
    """A tile in shared memory as a descriptor sees it: what does not depend on where it starts.

    `offset` is where its first element lies, in bytes from the start of the pattern, before the
    swizzle.
    """

    major: MajorMode
    leading_byte_offset: int
    stride_byte_offset: int
    swizzle: int
    offset: int
    swizzle_atom: int
    format: DescriptorFormat

    def at(self, address: int) -> SmemDescriptor:
        """The descriptor where the memory that the layout indexes starts at `address`.

        Raises DescriptorError where a swizzled tile does not start on a row of its pattern, or the
        tile does not start on a chunk.
        """
        if self.swizzle and address % 128:
            raise DescriptorError(
                f"expected memory that starts at a multiple of 128 bytes under a swizzle, got "
                f"{address:#x}; nearest legal: {round(address / 128) * 128:#x}"
            )
        row = address >> 7 & 0x7 if self.swizzle else 0
        return SmemDescriptor(
            address + self.offset,
            self.leading_byte_offset,
            self.stride_byte_offset,
            self.swizzle,
            row % self.pattern_rows,
            self.swizzle_atom,
            format=self.format,
        )

    @property
    def pattern_rows(self) -> int:
        """After how many rows of 128 bytes the pattern repeats."""
        return self.swizzle // self.swizzle_atom if self.swizzle else 1


def solve(
    layout: AnyLayout,
    bits: int,
    major: MajorMode | None = None,
    format: DescriptorFormat = WGMMA,
) -> SmemTile:
    """The tile of a layout `(mn, k) -> offset` of elements of `bits`.

    Without `major`, the one that fits; K-major where both do. Raises DescriptorError, naming the
    mode that no descriptor of the format expresses, where none fits.
    """
    swizzle, start, outer = _parts(layout, bits, format)
    if outer.rank() != 2:
        raise DescriptorError(f"expected a layout (mn, k) of two modes, got {layout}")
    if not all(isinstance(step, int) for step in flatten(outer.stride)):
        raise DescriptorError(f"expected a layout of offsets, got {layout}")
    if start % (chunk := 8 * CHUNK // bits):
        raise DescriptorError(
            f"expected a tile that starts at a multiple of {chunk} elements, got one at {start} "
            f"(a start address counts {CHUNK} bytes)"
        )
    failures: list[str] = []
    for mode in MAJOR_MODES if major is None else (major,):
        try:
            lead, stride = _solve_major(outer, bits, swizzle, mode)
        except DescriptorError as error:
            failures.append(f"{mode.upper()}-major: {error}")
            continue
        tile = SmemTile(mode, lead, stride, swizzle.width, start * bits // 8, swizzle.atom, format)
        SmemDescriptor(0, lead, stride, swizzle.width, 0, swizzle.atom, format=format)
        return tile
    raise DescriptorError(f"no descriptor expresses {layout}; " + "; ".join(failures))


def _parts(
    layout: AnyLayout, bits: int, format: DescriptorFormat
) -> tuple[SwizzleMode, int, Layout]:
    """(swizzle, offset in elements, layout of elements). Raises DescriptorError for any inner
    function but a swizzle of shared memory."""
    none = format.swizzle(0)
    if isinstance(layout, Layout):
        return none, 0, layout
    inner, offset = layout.inner, layout.offset
    if not isinstance(inner, Swizzle) or not isinstance(offset, int):
        raise DescriptorError(f"expected a swizzle before the layout, got {layout}")
    if not inner.bits:
        return none, offset, layout.outer
    legal = {
        _on_elements(candidate, bits): candidate for candidate in format.swizzles if candidate.width
    }
    if inner not in legal:
        nearest = min(
            legal,
            key=lambda candidate: (
                candidate.shift != inner.shift,
                abs(candidate.bits - inner.bits),
            ),
        )
        patterns = " or ".join(dict.fromkeys(
            f"S<{'b' if mode.atom == CHUNK else mode.pattern.bits},{mode.pattern.base},"
            f"{mode.pattern.shift}>"
            for mode in sorted(legal.values(), key=lambda mode: mode.atom)
        ))  # fmt: skip
        raise DescriptorError(
            f"expected a swizzle of 32, 64 or 128 bytes, {patterns} on bytes, "
            f"got {inner} on elements of {bits} bits; nearest legal: {nearest}"
        )
    return legal[inner], offset, layout.outer


def _on_elements(mode: SwizzleMode, bits: int) -> Swizzle:
    """The swizzle of byte addresses as one of offsets in elements."""
    pattern = mode.pattern
    return Swizzle(pattern.bits, pattern.base - _log2(bits) + 3, pattern.shift)


def _log2(bits: int) -> int:
    return bits.bit_length() - 1


def _solve_major(
    outer: Layout, bits: int, swizzle: SwizzleMode, major: MajorMode
) -> tuple[int, int]:
    """(LBO, SBO) in bytes. Raises DescriptorError naming the mode that does not fit."""
    names = ("k", "mn") if major == "k" else ("mn", "k")
    along, across = (outer.mode(_MODES.index(name)) for name in names)
    interleaved = major == "mn" and not swizzle.width
    offsets = ("SBO", "LBO") if interleaved else ("LBO", "SBO")
    row = 8 * (swizzle.width or CHUNK) // bits
    first = _step(along, row, 1, f"mode {names[0]} of ({{}},i):(1,{offsets[0]})")
    second = _step(across, swizzle.rows, row, f"mode {names[1]} of ({{}},i):({row},{offsets[1]})")
    in_bytes = [_UNUSED if step is None else step * bits // 8 for step in (first, second)]
    return (in_bytes[1], in_bytes[0]) if interleaved else (in_bytes[0], in_bytes[1])


def _step(mode: Layout, extent: int, stride: int, expected: str) -> int | None:
    """How far apart a mode's blocks of `extent` elements with `stride` are, in elements; None where
    there is one block. Raises DescriptorError for any other mode."""
    size = mode.size()
    inside = min(extent, size)
    blocks, rest = divmod(size, inside)
    step = mode(inside) if blocks > 1 else 0
    if rest or not equivalent(mode, Layout((inside, blocks), (stride, step))):
        raise DescriptorError(f"expected {expected.format(inside)}, got {coalesce(mode)}")
    return step if blocks > 1 else None
