"""Sizes, strides and indices of views in the width that they are computed in, and the coordinates
of boxes, as copies by TMA name them."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue

from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.passes.cuda_tile.analysis.tensor_maps import QUAD, BoxedAccess
from tilewright.passes.cuda_tile.analysis.view_access import Extent, tile_dimensions


def wide(kernel: EntryLowering, extent: Extent, type_: Attribute) -> SSAValue:
    """A size, a stride or an index, which read as unsigned, in an integer type."""
    if isinstance(extent, int):
        return kernel.constant(extent, type_)  # type: ignore[arg-type]
    value = kernel.scalar(extent)
    own, wanted = value.type.bitwidth, type_.bitwidth  # type: ignore[attr-defined]
    if own == wanted:
        return value
    return kernel.emit(arith.ExtUIOp if own < wanted else arith.TruncIOp, [value], type_)  # type: ignore[arg-type]


def boxes(
    access: BoxedAccess, kernel: EntryLowering, rank: SSAValue | None = None
) -> Iterator[tuple[list[SSAValue], SSAValue | None]]:
    """The boxes that a CTA copies: coordinates as `box_corners` has them, and where each begins in
    the tile; of a tile that CTAs load for each other, or have halves of, those of the CTA of a
    rank, an i32."""
    emitter, count, box = kernel.emitter, access.boxes, access.box
    axis, step, apart = 0, 0, 0
    if rank is not None and access.half is not None:
        axis, step = access.half
    elif rank is not None and access.ctas > 1:
        if access.cut is None:
            count //= access.ctas
            axis, step, apart = -1, count << access.order.row, count * box
        else:
            axis, apart = access.cut, box // access.ctas
            step = access.map_type.shape.data[axis].data
    own, first = (
        emitter.resized(scaled(emitter, rank, far), 32, None) if rank is not None and far else None
        for far in (step, apart)
    )
    for number, corner in zip(range(count), box_corners(access, kernel), strict=False):
        place = emitter.constant(number * box, None) if number else None
        if own is not None:
            corner[axis] = emitter.binary("add", corner[axis], own)
        if first is not None:
            place = emitter.binary("add", first, number * box)
        yield corner, place


def box_corners(access: BoxedAccess, kernel: EntryLowering) -> Iterator[list[SSAValue]]:
    """The coordinates of the first element of each box of a tile, outermost first."""
    emitter, indices = kernel.emitter, list(access.op.index)
    dimensions, corner = tile_dimensions(access.op), list[SSAValue]()
    pairs = access.pairs
    for axis, along in enumerate(access.along, 1):
        at = emitter.constant(0, 32)
        if along is not None:
            step = dimensions[along].step // (QUAD if axis == pairs else 1)
            at = scaled(emitter, wide(kernel, indices[along], i32), step)
        corner.append(at)
    for number in range(access.boxes):
        last = corner[-1]
        if pairs is not None:
            number, second = divmod(number, 2)
            corner[pairs] = emitter.constant(2 * second, 32)
        if number:
            far = emitter.constant(number << access.order.row, 32)
            last = emitter.binary("add", last, far)
        yield [emitter.resized(value, 32, None) for value in (*corner[:-1], last)]
