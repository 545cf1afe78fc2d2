"""Boxes of a tile, as copies by TMA name them."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tilewright.lowering.cuda_tile.kernel import Kernel
from tilewright.lowering.cuda_tile.tensor_maps import BoxedAccess
from tilewright.lowering.cuda_tile.threads import scaled
from tilewright.lowering.cuda_tile.view_access import tile_dimensions
from tilewright.lowering.cuda_tile.widths import wide


def box_corners(access: BoxedAccess, kernel: Kernel) -> Iterator[list[SSAValue]]:
    """The coordinates of the first element of each box of a tile, outermost first."""
    emitter, indices = kernel.emitter, list(access.op.index)
    dimensions, corner = tile_dimensions(access.op), list[SSAValue]()
    for along in access.along:
        at = emitter.constant(0, 32)
        if along is not None:
            at = scaled(emitter, wide(kernel, indices[along], i32), dimensions[along].step)
        corner.append(at)
    for number in range(access.boxes):
        last = corner[-1]
        if number:
            far = emitter.constant(number << access.order.row, 32)
            last = emitter.binary("add", last, far)
        yield [emitter.resized(value, 32, None) for value in (*corner[:-1], last)]
