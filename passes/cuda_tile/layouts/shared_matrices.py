"""Matrices in shared memory as `wgmma` and `tcgen05.mma` read them and TMA writes them.

Rows of up to 128 bytes of the dimension that is contiguous lie one below the other, and such
columns of rows one behind the other; a swizzle as wide as the rows keeps apart what is read at
once. So lies a tile of 64x256 elements of 2 bytes, N contiguous, and one of 32x64 of tf32 as
`tcgen05.mma` reads it, in atoms of 32 bytes:

    (k, n):  (64, (64,4)) : (64, (1,4096))     behind S<3,3,3>
    (k, n):  (32, (32,2)) : (32, (1,1024))     behind S<2,3,2>
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from tilewright.dialects.cute import ComposedLayout, Layout, Swizzle
from tilewright.dialects.cute.layout import stacked
from tilewright.dialects.cute.recast import recast_layout
from tilewright.dialects.cute.types.memref import shared_line
from tilewright.dialects.cute_nvgpu.descriptors.bit_field import DescriptorError
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import DescriptorFormat
from tilewright.dialects.cute_nvgpu.descriptors.solve_descriptor import solve
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.types.smem_desc_view import SmemDescViewType
from tilewright.dialects.frozen import frozen
from tilewright.dialects.sequences import numbered
from tilewright.passes.cuda_tile.layouts.layouts import log2, mode_of
from tilewright.passes.cuda_tile.layouts.shared_order import CHUNK, SharedOrder

_BYTE = 8
_WIDEST = 128
"""The bytes of a row of the widest swizzle."""
_FIRST_TURNED = 7
"""The lowest bit of an address that a swizzle looks at."""
ALIGNMENT = 1024
"""Where swizzles of every width begin anew."""


@frozen
class MatrixOrder:
    """The order of a tile whose dimension of the bits `run` is contiguous: `row` of those in a row
    of the swizzle, which keeps `atom` bytes together, `above` them the bits of the other
    dimensions."""

    run: tuple[int, ...]
    above: tuple[int, ...]
    row: int
    order: SharedOrder
    atom: int = CHUNK

    @classmethod
    def of(
        cls, run: Sequence[int], above: Sequence[int], size: int, atom: int = CHUNK
    ) -> MatrixOrder:
        """The order of elements of `size` bytes."""
        row = min(len(run), log2(_WIDEST // size))
        ordered = [*run[:row], *above, *run[row:]]
        position = numbered(ordered)
        swizzle: dict[int, int] = {}
        for i in range(max(row + log2(size) - log2(atom), 0)):
            place = _FIRST_TURNED + i - log2(size)
            if place < len(ordered):
                swizzle[ordered[place]] = log2(atom) + i
        return cls(tuple(run), tuple(above), row, SharedOrder(position, size, swizzle), atom)

    def renumbered(self, bits: Mapping[int, int]) -> MatrixOrder:
        """The order of the tile whose element numbers have as bit `bits[b]` what is bit b here."""
        return MatrixOrder(
            tuple(bits[bit] for bit in self.run),
            tuple(bits[bit] for bit in self.above),
            self.row,
            self.order.renumbered(bits),
            self.atom,
        )

    @property
    def swizzle(self) -> Swizzle:
        """The swizzle, of elements."""
        bits = max(self.row + log2(self.order.size) - log2(self.atom), 0)
        return Swizzle(bits, log2(self.atom // self.order.size), _FIRST_TURNED - log2(self.atom))

    def text(self, shape: Sequence[int]) -> str:
        """The layout in CuTe's words, coordinates in a tile -> elements behind its first one."""
        plain = self.order.plain(shape)
        return str(ComposedLayout(self.swizzle, 0, plain) if self.swizzle.bits else plain)

    @property
    def width(self) -> int:
        """The bytes of a row of the swizzle; 0 of none."""
        return self.atom << self.swizzle.bits if self.swizzle.bits else 0

    @property
    def elements(self) -> int:
        """The elements of the tile."""
        return 1 << len(self.order.position)

    @property
    def bytes(self) -> int:
        """The memory that it takes, up to where the next one may begin."""
        return -(-self.elements * self.order.size // ALIGNMENT) * ALIGNMENT

    def line(self, element: Attribute, count: int) -> MemRefType[Attribute]:
        """The memory of so many elements."""
        return shared_line(element, count, self.swizzle)

    def matrix(self, across: Sequence[int], depth: Sequence[int]) -> Layout | ComposedLayout:
        """The layout (mn, k) of the matrix of some of the tile's bits."""
        modes = [mode_of([self.order.position[bit] for bit in bits]) for bits in (across, depth)]
        plain = stacked(modes)
        return ComposedLayout(self.swizzle, 0, plain) if self.swizzle.bits else plain

    def view(
        self,
        across: Sequence[int],
        depth: Sequence[int],
        element: ElementType,
        format: DescriptorFormat,
    ) -> SmemDescViewType | None:
        """The type of such a matrix's descriptor; None where there is none."""
        layout = self.matrix(across, depth)
        if element.bits < _BYTE:
            layout = _recast(layout, element.bits)
        try:
            solve(layout, element.bits, format=format)
        except DescriptorError:
            return None
        return SmemDescViewType.of(element, layout, format)


def _recast(layout: Layout | ComposedLayout, bits: int) -> Layout | ComposedLayout:
    """A layout of bytes as one of elements that have fewer bits."""
    if isinstance(layout, Layout):
        return recast_layout(bits, _BYTE, layout)
    assert isinstance(layout.inner, Swizzle) and isinstance(layout.outer, Layout)
    inner = recast_layout(bits, _BYTE, layout.inner)
    return ComposedLayout(inner, 0, recast_layout(bits, _BYTE, layout.outer))
