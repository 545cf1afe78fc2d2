"""Tensors in tensor memory: 128 lanes of up to 512 columns of 32-bit cells.

Neighbouring lanes are 65536 cells apart, so a tile of f32 is `(128,256):(65536,1)`. Narrower
elements count as many as a cell has: bf16 side by side `(128,64):(131072,1)`, f16 in a cell each
`(128,64):(131072,2)`. PTX ISA, tcgen05 tensor memory addressing.
"""

from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.tensor import Tensor

LANES = 128
CELL_BITS = 32
LANE_STRIDE = 1 << 16

ALLOCATIONS = (32, 64, 128, 256, 512)
"""How many columns may be allocated at once. PTX ISA, tcgen05.alloc."""


def extents(layout: Layout, bits: int = CELL_BITS) -> tuple[int, int]:
    """(lanes, columns) from the first cell of a static layout of elements of so many bits to its
    last, both included."""
    lanes = columns = 0
    per_cell = CELL_BITS // bits
    for extent, stride in layout.leaves:
        assert isinstance(extent, int) and isinstance(stride, int)
        lane, column = divmod(stride, LANE_STRIDE * per_cell)
        lanes += (extent - 1) * lane
        columns += (extent - 1) * column
    return lanes + 1, columns // per_cell + 1


def allocated_columns(tensor: Tensor) -> int:
    """The columns that an allocation of a tensor takes: a power of two, at least 32."""
    _, columns = extents(tensor.modes, tensor.bits)
    return next(legal for legal in ALLOCATIONS if legal >= columns)


def why_no_allocation(tensor: Tensor) -> str | None:
    """Why no allocation holds a tensor of static layout, or None where one does."""
    if CELL_BITS % tensor.bits or not isinstance(tensor.layout, Layout):
        return (
            f"expected elements of 1 to {CELL_BITS} bits, a power of two, and no swizzle in tmem, "
            f"got {tensor}; nearest legal: f32"
        )
    lanes, columns = extents(tensor.layout, tensor.bits)
    if lanes > LANES:
        return f"expected at most {LANES} lanes, got {lanes} in {tensor}; nearest legal: {LANES}"
    if columns > ALLOCATIONS[-1]:
        return (
            f"expected at most {ALLOCATIONS[-1]} columns, got {columns} in {tensor}; "
            f"nearest legal: {ALLOCATIONS[-1]}"
        )
    return None
