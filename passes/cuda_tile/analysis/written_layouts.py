"""The layouts in which tiles are written to where pointers point."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.passes.cuda_tile.analysis.runs import pointer_run
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, TileLayout


def written_layout(
    pointers: SSAValue, mask: SSAValue | None, value: SSAValue, widest: int, table: LayoutTable
) -> TileLayout:
    """The layout in which a tile is written, so many bytes at a time at most: the pointers', else
    the value's own, unless a thread has a part of neighbours which one access moves in another one:
    of the lanes of a warp, where these have them, else the best."""
    if (layout := table.layouts.get(pointers)) is not None:
        return layout
    own, run = table.layouts.get(value), pointer_run(pointers, mask, widest)
    best = table.default(shape_of(value), run)
    if own is None:
        return best
    if min(own.run_bits, run) >= best.run_bits:
        return own
    return of_lanes(own, best.run_bits) or best


def of_lanes(own: TileLayout, run: int) -> TileLayout | None:
    """The layout in which registers have so many bits of neighbours, which lanes of a warp have now
    in part; None where other warps have them."""
    missing = [bit for bit in range(run) if bit not in own.registers]
    given = sorted(bit for bit in own.registers if bit >= run)
    if len(missing) > len(given) or not set(missing).issubset(own.threads[:WARP_BITS]):
        return None
    swapped = dict(zip(missing, given, strict=False))
    threads = (bit if bit is None else swapped.get(bit, bit) for bit in own.threads)
    left = (bit for bit in own.registers if bit >= run and bit not in swapped.values())
    return TileLayout(tuple(threads), (*range(run), *left))
