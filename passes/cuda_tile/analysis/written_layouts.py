"""The layouts in which tiles are written to where pointers point."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilewright.passes.cuda_tile.analysis.facts import pointee_bytes
from tilewright.passes.cuda_tile.analysis.runs import pointer_run, run_of
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, TileLayout, inverse, log2

_LINE = 128
"""The bytes that lanes store side by side: by 64 of each row MoE's "up" has 643 TFLOP/s on an H200,
by lines 653, "down" 620 and 619."""


def written_layout(
    pointers: SSAValue, mask: SSAValue | None, value: SSAValue, widest: int, table: LayoutTable
) -> TileLayout:
    """The layout in which a tile is written, so many bytes at a time at most: the pointers', else
    the value's own, unless a thread has a part of neighbours which one access moves in another one:
    of the lanes of a warp, where these have them, who write whole lines then, else the best."""
    if (layout := table.layouts.get(pointers)) is not None:
        return layout
    own, run = table.layouts.get(value), pointer_run(pointers, mask, widest)
    best = table.default(shape_of(value), run)
    if own is None:
        return best
    if min(own.run_bits, run) >= best.run_bits:
        return own
    line = min(run_of(pointers).counting, log2(_LINE // pointee_bytes(pointers)))
    return of_lanes(own, best.run_bits, line) or best


def of_lanes(own: TileLayout, run: int, line: int = 0) -> TileLayout | None:
    """The layout in which registers have so many bits of neighbours, which lanes of a warp have now
    in part, and lanes those of a line; None where other warps have them."""
    missing = [bit for bit in range(run) if bit not in own.registers]
    given = sorted(bit for bit in own.registers if bit >= run)
    if len(missing) > len(given) or not set(missing).issubset(own.threads[:WARP_BITS]):
        return None
    swapped = dict(zip(missing, given, strict=False))
    coming = [bit for bit in given if bit < line and bit not in swapped.values()]
    lanes = [bit for bit in own.threads[:WARP_BITS] if bit is not None and bit >= line]
    swapped |= zip(lanes, coming, strict=False)
    gone = inverse(swapped)
    threads = (bit if bit is None else swapped.get(bit, bit) for bit in own.threads)
    left = (gone.get(bit, bit) for bit in own.registers if bit >= run)
    return TileLayout(tuple(threads), (*range(run), *(bit for bit in left if bit >= run)))
