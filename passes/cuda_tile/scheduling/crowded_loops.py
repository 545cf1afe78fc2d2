"""Loops that only add up rows, whose loads as many threads wait for as a multiprocessor has: 32
registers are enough for each, and nothing has to be ahead. The lines pass the L1 by.

    for k: s = s + reduce (load x[k] : 64x128) dim=0

An H200 sums columns of 64x128 at 3.22 TB/s so, of 128x128 at 3.19, where copies ahead of 1024
threads had 3.00 and 2.00 (of a copy 3.54 to 3.60; with an L2 without dirty lines 0.96 of it).
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32
from xdsl.ir import Operation

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops import conversions, core, floating_point, integer
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp, LoopOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import chip_of
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.ptx.control_flow import MIN_CTAS
from tilewright.passes.cuda_tile.analysis.cost_model import THREADS, WORKERS, thread_count
from tilewright.passes.cuda_tile.analysis.hints import hint, latency
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak
from tilewright.passes.cuda_tile.analysis.view_access import CACHE, tile_bytes
from tilewright.passes.cuda_tile.layouts.elements import shape_of

_EACH = 64
"""The bytes that a thread loads each time, at most."""
_CARRIED = 2
"""The numbers that each carries."""
_A_NUMBER = 32
"""The bytes that are loaded, at least, for each of them."""
_FEWEST = 128
"""The threads of a CTA, at least."""
_ADDING = (
    conversions.FToFOp, core.ReshapeOp, floating_point.AddFOp, floating_point.FmaOp,
    floating_point.MaxFOp, floating_point.MinFOp, floating_point.MulFOp, integer.AddIOp,
    integer.MaxIOp, integer.MinIOp,
)  # fmt: skip


def crowd_loops(entry: EntryOp, arch: Target | None) -> None:
    """Let threads of an entry whose loop is such wait for its load themselves, unless hints say how
    many CTAs there are, or how far loads are ahead."""
    loops = descendants(entry, ForOp | LoopOp)
    if arch is None or len(loops) != 1 or not isinstance(loop := loops[0], ForOp):
        return
    loads = [op for op in loop.region.block.ops if isinstance(op, LoadViewTkoOp)]
    if hint(entry, "occupancy", arch) is not None or latency(loads, arch) is not None:
        return
    if len(loads) != 1 or not is_weak(loads[0]):
        return
    size, threads = tile_bytes(loads[0]), thread_count(entry, arch)
    if hint(entry, WORKERS, arch) is None:
        threads = min(max(size // _EACH, _FEWEST), threads)
    carried = [x.type.elements for x in loop.init_values if isinstance(x.type, TileType)]
    numbers = max(carried, default=0)
    fits = size <= _EACH * threads and numbers <= min(_CARRIED * threads, size // _A_NUMBER)
    others = (op for op in loop.region.block.ops if op not in loads)
    if fits and len(carried) <= _CARRIED and all(map(_adds, others)):
        loads[0].attributes[CACHE] = StringAttr("L1::no_allocate")
        ctas = chip_of(divmod(arch.number, 10)).threads // threads
        entry.attributes[MIN_CTAS] = IntegerAttr(ctas, i32)
        entry.attributes[THREADS] = IntegerAttr(threads, i32)


def _adds(op: Operation) -> bool:
    """True of an op of few registers, of a fold along rows among them."""
    if isinstance(op, ReduceOp):
        *outer, _ = shape_of(op.operands[0])
        return op.dim.value.data < len(outer)  # type: ignore[attr-defined]
    return isinstance(op, (*_ADDING, ContinueOp))
