"""The box that one copy of the tensor memory accelerator moves, and how it lies in shared memory.

A box lies densely, its last dimension first, from an address that is a multiple of 128 bytes. A
swizzle of 32, 64 or 128 bytes then XORs bits 7 and up of each address into its bits 4 and up: the
pattern is one of addresses, it starts anew every 256, 512 or 1024 bytes of shared memory. One of
128 bytes that keeps 32 together XORs bits 7 and 8 into bits 5 and 6 (PTX ISA 5.5.7).
"""

from math import prod

from tilewright.dialects.cute import ComposedLayout, Layout, Swizzle, coalesce, flatten
from tilewright.dialects.cute.swizzle import AnyLayout, outer_of
from tilewright.dialects.cute_nvgpu.lattice import tma as rows
from tilewright.dialects.cute_nvgpu.lattice.nearest import closest, why_not
from tilewright.dialects.frozen import frozen
from tilewright.dialects.illegal import Error


class TensorMapError(Error, ValueError):
    """A box that no tensor map can describe: what was found, what is legal, why."""


@frozen
class PixelBox:
    """The pixels that a copy may begin at, in DHW space, outermost first: from `lower` on to as far
    from the last one as `upper` says, each so many `strides` behind the one before. PTX ISA 5.5.4.
    Of `im2col::w` and `im2col::w::128` those of W alone count. PTX ISA 5.5.5.

    Raises TensorMapError for what the hardware does not copy.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    strides: tuple[int, ...] = ()
    mode: str = "im2col"

    def __post_init__(self) -> None:
        if self.mode not in (modes := ("im2col", *rows.OF_A_ROW)):
            raise TensorMapError(f"expected a mode of {', '.join(modes)}, got {self.mode}")
        rank, most = len(self.lower), 1 << self.bits >> 1
        if not most or {len(self.upper), len(self.steps)} != {rank}:
            raise TensorMapError(f"expected corners of 1 to 3 dimensions, got {self}")
        for corner in (*self.lower, *self.upper):
            if not -most <= corner < most:
                raise TensorMapError(
                    f"expected corners from {-most} to {most - 1} of {rank} of them, got {corner}"
                )
        if not {*self.steps} <= {*range(1, 9)}:
            raise TensorMapError(f"expected strides of 1 to 8 pixels, got {self.steps}")

    @property
    def bits(self) -> int:
        """Those of an offset, and of a corner with its sign. PTX ISA 5.5.4.1."""
        return {1: 16, 2: 8, 3: 5}.get(len(self.lower), 0)

    @property
    def steps(self) -> tuple[int, ...]:
        return self.strides or (1,) * len(self.lower)


@frozen
class TensorBox:
    """Extents of a box, outermost first, its element type, the bytes of its swizzle and those that
    it keeps together; whether NaN is outside of the tensor, or zeros. A box of `im2col` is so many
    pixels and channels of a tensor of two dimensions more than its corners have. Of an
    interleaved tensor slices of 16 or 32 bytes are copied whole (N, C/8, H, W and 8 channels of 16
    bits): they are the last dimension of it and of the box, and have no coordinate. PTX ISA 5.5.6.

    Raises TensorMapError for what the hardware does not copy.
    """

    shape: tuple[int, ...]
    element: rows.TensorElement
    swizzle: int = 0
    swizzle_atom: int = rows.CHUNK
    nan: bool = False
    im2col: PixelBox | None = None
    interleaved: bool = False

    def __post_init__(self) -> None:
        if self.im2col is not None and len(self.shape) != 2:
            raise TensorMapError(f"expected a box of pixels and channels, got {self}")
        least, slices = (3, " and slices") if self.interleaved else (1, "")
        if not least <= self.rank <= rows.MAX_RANK:
            raise TensorMapError(
                f"expected a box of {least} to {rows.MAX_RANK} dimensions{slices}, got {self}"
            )
        for place, extent in enumerate(self.shape):
            most = rows.MAX_PIXELS if self.im2col and not place else rows.MAX_BOX
            if not 1 <= extent <= most:
                nearest = closest(extent, range(1, most + 1))
                raise TensorMapError(
                    f"expected extents of 1 to {most}, got {extent} in {self}; "
                    f"nearest legal: {nearest}"
                )
        expected = f"a swizzle of {', '.join(map(str, rows.SWIZZLES))} bytes"
        if (why := why_not(self.swizzle, rows.SWIZZLES, expected)) is not None:
            raise TensorMapError(why)
        atoms = rows.SWIZZLE_ATOMS[self.swizzle]
        expected = f"a swizzle that keeps {' or '.join(map(str, atoms))} bytes together"
        if (why := why_not(self.swizzle_atom, atoms, expected)) is not None:
            raise TensorMapError(why)
        if self.nan and "FLOAT" not in self.element.driver:
            raise TensorMapError(f"expected floats where NaN is outside, got {self}")
        if self.im2col is not None and self.im2col.mode in rows.OF_A_ROW and not self.swizzle:
            raise TensorMapError(f"expected a swizzle for {self.im2col.mode}, got none")
        if self.im2col is not None and self.im2col.mode in rows.OF_A_ROW and self.interleaved:
            raise TensorMapError(f"expected a tensor that is not interleaved, got {self}")
        self._check_row()

    def _check_row(self) -> None:
        row, per_chunk = self.shape[-1] * self.element.bytes, rows.CHUNK // self.element.bytes
        if self.interleaved:
            expected = f"slices of {' or '.join(map(str, rows.SLICES))} bytes in {self}"
            if (why := why_not(row, rows.SLICES, expected)) is not None:
                raise TensorMapError(why)
            if self.im2col is None and self.shape[1] != 1:
                raise TensorMapError(
                    f"expected 1 along the second dimension of an interleaved box, as copies move "
                    f"no more there (H200), got {self.shape[1]} in {self}; nearest legal: 1"
                )
            return
        if row % rows.CHUNK:
            nearest = max(round(self.shape[-1] / per_chunk), 1) * per_chunk
            raise TensorMapError(
                f"expected whole {rows.CHUNK} bytes along the last dimension of the box, got {row} "
                f"in {self}; nearest legal: {nearest} elements"
            )
        if self.swizzle and not self._fills(row):
            # A narrower box lies in rows of the swizzle all the same (H100): with gaps.
            raise TensorMapError(
                f"expected {self.swizzle} bytes along the last dimension of the box, one row of "
                f"its swizzle, got {row}; nearest legal: "
                f"{self.swizzle // self.element.bytes} elements"
            )

    def _fills(self, row: int) -> bool:
        """A row of so many bytes may be one of the swizzle."""
        return row == self.swizzle

    @property
    def steps(self) -> tuple[int, ...]:
        """How far apart in the tensor those elements are that are copied."""
        return (1,) * self.dimensions

    @property
    def rank(self) -> int:
        """The coordinates of a copy."""
        if self.im2col is not None:
            return len(self.im2col.lower) + 2
        return len(self.shape) - self.interleaved

    @property
    def dimensions(self) -> int:
        """Those of the tensor, with that of its slices."""
        return self.rank + self.interleaved

    @property
    def space(self) -> slice:
        """The dimensions that pixels lie along."""
        return slice(1 + self.interleaved, -1)

    @property
    def piece(self) -> tuple[int, ...]:
        """The extents of what is in one piece in the tensor: the box, or a pixel's channels."""
        return self.shape if self.im2col is None else (1,) * (self.dimensions - 1) + self.shape[1:]

    @property
    def bytes(self) -> int:
        """The bytes that a copy moves and its mbarrier counts: zeros out of bounds included."""
        return prod(self.shape) * self.element.bytes

    @property
    def swizzle_bits(self) -> int:
        """How many bits of the address the swizzle changes: 0 to 3."""
        return (self.swizzle // self.swizzle_atom).bit_length() - 1 if self.swizzle else 0

    @property
    def pattern(self) -> Swizzle:
        """The swizzle on offsets of elements."""
        base = (self.swizzle_atom // self.element.bytes).bit_length() - 1
        return Swizzle(self.swizzle_bits, base, 3 if self.swizzle_atom == rows.CHUNK else 2)

    def check_layout(self, layout: AnyLayout) -> None:
        """Raise TensorMapError unless memory of that layout, coordinates to element offsets, holds
        the box in its last dimensions as the hardware writes it; a line of memory holds any."""
        plain, swizzle = outer_of(layout), Swizzle(0, self.pattern.base, 3)
        if isinstance(layout, ComposedLayout):
            if not isinstance(layout.inner, Swizzle) or layout.offset != 0:
                raise TensorMapError(f"expected a swizzle before the layout, got {layout}")
            swizzle = layout.inner if layout.inner.bits else swizzle
        if swizzle != self.pattern and not self.swizzle:
            raise TensorMapError(
                f"expected memory without a swizzle, as the box {self} has none, got {layout}; "
                f"nearest legal: {plain}"
            )
        if swizzle != self.pattern:
            raise TensorMapError(
                f"expected memory through {self.pattern}, as the box {self} lies, got {layout}; "
                f"nearest legal: {ComposedLayout(self.pattern, 0, plain)}"
            )
        if plain.rank() == 1:
            self._check_line(plain)
        else:
            self._check_dense(plain)

    def _check_line(self, plain: Layout) -> None:
        line = coalesce(plain)
        if line.depth() or line.stride not in (0, 1):
            raise TensorMapError(
                f"expected memory of {self.rank} dimensions or more, or a line of memory "
                f"(stride 1), got {plain}"
            )
        if (span := prod(self.shape)) > line.size():
            raise TensorMapError(f"expected memory of {span} elements or more, got {line}")

    def extents(self, dimensions: int) -> dict[int, int]:
        """How many elements a box takes of memory of so many dimensions, by dimension."""
        if dimensions == 1:
            return {0: prod(self.shape)}
        return dict(enumerate(self.shape, dimensions - self.rank))

    def _check_dense(self, plain: Layout) -> None:
        first = plain.rank() - self.rank
        if first < 0:
            raise TensorMapError(f"expected memory of {self.rank} dimensions or more, got {plain}")
        stride = prod(self.shape)
        for place, extent in enumerate(self.shape):
            stride //= extent
            mode = coalesce(plain.mode(first + place))
            run, step = flatten(mode.shape)[0], flatten(mode.stride)[0]
            assert isinstance(run, int)
            where = f"in dimension {first + place} of {plain}"
            # Where a mode has several strides, a box lies within the first of them.
            if extent > run or (mode.rank() > 1 and run % extent):
                raise TensorMapError(
                    f"expected whole boxes of {extent} with one stride, got {run} {where}"
                )
            if extent > 1 and step != stride:
                raise TensorMapError(
                    f"expected stride {stride}, as the box lies densely, got {step} {where}"
                )

    def __str__(self) -> str:
        swizzle = f", swizzle = {self.swizzle}" if self.swizzle else ""
        if self.swizzle_atom != rows.CHUNK:
            swizzle += f", swizzle_atom = {self.swizzle_atom}"
        pixels = "" if self.im2col is None else f", {self.im2col}"
        slices = ", interleaved" if self.interleaved else ""
        return f"{'x'.join(map(str, self.shape))}x{self.element.mlir}{swizzle}{pixels}{slices}"


def tensor_element(mlir: str) -> rows.TensorElement:
    """The row of an element type. Raises TensorMapError where tensor maps have none."""
    element = rows.TENSOR_ELEMENTS.get(mlir)
    if element is None:
        raise TensorMapError(f"expected elements of {', '.join(rows.TENSOR_ELEMENTS)}, got {mlir}")
    return element
