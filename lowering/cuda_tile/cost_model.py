"""The cost model: threads of a CTA, CTAs of a multiprocessor, stages.

A warpgroup multiplies 64 rows; two share a tile of 128 or more, as each then reads its half of A
alone and has half of the accumulators. Accumulators and what a thread needs beside them say how
many CTAs the registers of a multiprocessor hold; CTAs side by side hide each other's beginning and
end. The rest of the shared memory is stages: a stage is free for the next copy when the MMAs of the
one after it have begun, so that n stages keep n - 1 copies in flight.
"""

from __future__ import annotations

from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaIOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import shared_memory_limit
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.lowering.cuda_tile.elements import shape_of
from tilewright.lowering.cuda_tile.hints import hint
from tilewright.lowering.cuda_tile.warpgroup_layouts import multiplies_by_warpgroups

_FEWEST, _USUAL, _MOST = 32, 128, 256
_PER_THREAD, _CROWDED = 8, 128
"""The elements of the largest tile for each thread: from which on a thread more is worth it, and
from which on more than the usual number of threads."""
_TALL = 128
"""The rows of a product that two warpgroups share."""

_REGISTERS, _BESIDE, _MOST_CTAS = 65536, 64, 4
"""The registers of a multiprocessor, those of a thread beside accumulators, and the CTAs of a
multiprocessor from which on more hide nothing."""
_MOST_STAGES, _OWN = 6, 1024
"""The stages from which on more hide nothing, and the shared memory that a CTA takes beside its
own."""

STORED = 1 << 15
"""The shared memory through which a tile is stored by TMA."""


def products_of(entry: EntryOp, arch: Target | None) -> list[MmaFOp | MmaIOp]:
    """The multiplications that warpgroups make."""
    return [
        op for op in entry.walk()
        if isinstance(op, MmaFOp | MmaIOp) and multiplies_by_warpgroups(op, arch)
    ]  # fmt: skip


def thread_count(entry: EntryOp, arch: Target | None = None) -> int:
    """The threads of a kernel's CTAs: as many warpgroups as its multiplications keep busy, else
    from its largest tile."""
    products = [shape_of(op.result)[-2:] for op in products_of(entry, arch)]
    if products:
        two = any(m >= _TALL or m * n >= _CROWDED * _USUAL for m, n in products)
        return _MOST if two else _USUAL
    largest = max(
        (
            result.type.elements
            for op in entry.walk()
            for result in op.results
            if isinstance(result.type, TileType)
        ),
        default=1,
    )
    count = max(_FEWEST, min(_USUAL, largest // _PER_THREAD))
    return _MOST if largest >= _CROWDED * _MOST // 2 else count


def ctas_per_multiprocessor(entry: EntryOp, arch: Target) -> int:
    """The CTAs that are to share a multiprocessor: as hinted, else as the registers allow."""
    if (wanted := hint(entry, "occupancy", arch)) is not None:
        return wanted
    threads = thread_count(entry, arch)
    sums = [shape_of(op.result) for op in products_of(entry, arch)]
    own = max((rows * columns // threads for *_, rows, columns in sums), default=0)
    return max(min(_REGISTERS // (threads * (own + _BESIDE)), _MOST_CTAS), 1)


def stage_count(entry: EntryOp, arch: Target, stage: int, beside: int) -> int:
    """The stages of a loop whose loads take so many bytes each time, `beside` what else the kernel
    has in shared memory; 0 where there is no room for two."""
    limit = shared_memory_limit(arch)
    for ctas in range(ctas_per_multiprocessor(entry, arch), 0, -1):
        room = (limit + _OWN) // ctas - _OWN - beside
        if room >= 2 * stage:
            return min(room // stage, _MOST_STAGES)
    return 0
