"""The stages of loops in shared memory, and the CTAs that share a multiprocessor, where a kernel
hints at neither.

A copy by TMA takes 1.6 to 2.4 us where the L2 has been flushed (H100), in which a CTA multiplies 4
to 20 of its tiles. So all of the shared memory is stages, and a CTA has a multiprocessor to itself,
unless the kernel hints at more. A warp of its own copies as soon as a stage is free, where the
registers have room for it; else a thread that computes, once the MMAs of the iteration before are
complete, which keeps one stage less in flight.
"""

from __future__ import annotations

from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RESERVED, shared_memory_limit
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.passes.cuda_tile.analysis.cost_model import (
    held_ctas,
    registers_of,
    thread_count,
    tiled_products,
)
from tilewright.passes.cuda_tile.analysis.hints import hint
from tilewright.passes.cuda_tile.layouts.elements import shape_of

_RESIDENT = 1536
"""The threads of a multiprocessor, of every target at least."""
_IN_FLIGHT = 3
"""The tiles of a load that `cp.async` keeps in flight while one is multiplied, unless its hint
`latency` says how many."""
_WIDE = 64
"""The bytes that a thread copies each time from which on half of the threads keep memory busy."""
_MOST_STAGES, _FEW_STAGES = 12, 3
"""The stages from which on more hide nothing, of loops that only multiply and of others."""
_FEW_ROWS, IN_FLIGHT_OF_FEW_ROWS = 32, 14
"""The rows of products that wait for memory, and the tiles of their loads in flight: an H200
multiplies 16x4096x4096 in tiles of 16x64x64 with 4, 11, 16 and 20 stages at 23.0, 30.7, 33.3 and
31.1 TFLOP/s."""
_CTAS_OF_TALL, _STAGES_OF_TALL, _STAGES_OF_SEVERAL = 4, 6, 8
"""The CTAs of a multiprocessor, and the stages, of a loop over tiles of several rows that loads
much each time; and the stages of several such loops, which have it alone."""
STORED = 1 << 15
"""The shared memory through which a tile is stored by TMA."""


def is_alone(arch: Target, memory: int) -> bool:
    """True where so much shared memory is that of one CTA of a multiprocessor: ptxas, if nobody
    tells it, spills a little where registers would then do for two."""
    return 2 * (memory + RESERVED) > shared_memory_limit(arch) + RESERVED


def cta_room(arch: Target, ctas: int) -> int:
    """The shared memory of each of so many CTAs of a multiprocessor."""
    return (shared_memory_limit(arch) + RESERVED) // ctas - RESERVED


def stages_and_ctas(
    entry: EntryOp, arch: Target, stage: int, beside: int, *, alone: bool,
    latency: int | None, copied: int, recurrent: bool,
) -> tuple[int, int]:  # fmt: skip
    """The stages of loops whose loads take so many bytes each time, `beside` what else the kernel
    has in shared memory, 0 where there is no room for two; and how many CTAs share a
    multiprocessor: as hinted, else one. Loops that do not multiply `alone` leave memory to more
    CTAs, which multiply in the meantime. Loads of a `latency` are so many iterations ahead at
    most. Where threads copy so many bytes too for each stage, two CTAs, one of which multiplies
    while the other begins or ends, if both have stages enough; of loops one of which is
    `recurrent`, while the other waits for its sums."""
    wanted = hint(entry, "occupancy", arch)
    fewest = 2 if wanted is not None or recurrent or not copied else _IN_FLIGHT + 1
    wanted, stage = wanted or (2 if copied or recurrent else 1), stage + copied
    most = held_ctas(thread_count(entry, arch), registers_of(entry, arch))
    stages = _MOST_STAGES if alone else _FEW_STAGES
    if latency is not None:
        stages = min(stages, latency + 1)
    for ctas in range(max(min(wanted, most), 1), 0, -1):
        room = cta_room(arch, ctas) - beside
        if room >= (fewest if ctas > 1 else 2) * stage:
            return min(room // stage, stages), ctas
    return 0, 1


def has_few_rows(entry: EntryOp, arch: Target) -> bool:
    """True of a kernel whose products have so few rows that it waits for the other matrix."""
    products = tiled_products(entry, arch)
    return bool(products) and all(shape_of(op.result)[-2] <= _FEW_ROWS for op in products)


def copy_stages(
    entry: EntryOp, arch: Target, stage: int, beside: int, in_flight: int | None, *, streams: bool,
    alone: bool = False, tall: int = 0,
) -> int:  # fmt: skip
    """The stages of a loop whose copies by `cp.async` take so many bytes each time: one more than
    are in flight, as far as memory goes; three leave memory to a second CTA, whose warps multiply
    while those of the first one wait. CTAs that are `alone` have one more, which MMAs read still. A
    loop that only `streams` leaves it to as many CTAs as there are threads for, to half as many, or
    four, where these load much each time, or has none: tiles that large keep memory busy by
    themselves. Of `tall` loops, over tiles of several rows, one has six stages for four CTAs,
    several have eight for one, as what they load again is there, or in the L2, then."""
    wanted, least = 1 + (in_flight or _IN_FLIGHT) + alone, 1
    ctas = hint(entry, "occupancy", arch) or 2 - alone
    if streams:
        threads = thread_count(entry, arch)
        wide = stage >= _WIDE * threads
        ctas = least = max((_RESIDENT >> wide) // threads, 1)
        if wide and tall:
            ctas, most = (_CTAS_OF_TALL, _STAGES_OF_TALL) if tall == 1 else (1, _STAGES_OF_SEVERAL)
            wanted = max(wanted, most)
        elif wide:
            ctas = max(ctas, _CTAS_OF_TALL)
    for count in range(ctas, min(ctas, least) - 1, -1):
        room = cta_room(arch, count) - beside
        fitting = min(room // stage, wanted)
        if fitting >= min(wanted, _FEW_STAGES) or (count <= least and fitting >= 2):
            return fitting
    return 0
