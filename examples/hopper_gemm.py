"""C = A B' on Hopper, level with cuBLAS: one kernel in tiles, and a model that picks its tile.

    kernel, grid = gemm(m, n, k)                 # which tile, stages: `schedule_of`
    kernel.launch(a, b, c, grid=grid, block=kernel.entry().block)

A (m,k) and B (n,k), K contiguous, bf16 or e4m3; C (m,n), bf16; rows of multiples of 16 bytes, any
extents. As many CTAs as there are multiprocessors, each computing one tile after the other: a warp
copies A and B by TMA into a ring of stages, one or two warpgroups multiply 64 rows each by `wgmma`,
and lay their tile down by `stmatrix`, from where TMA stores it while the next one is loaded. Where
there are few tiles and much of K, each CTA of a cluster takes a part of K, gives the others its
sums of a part of the columns each, through their shared memory, and stores its own.
"""

from __future__ import annotations

from functools import cache

from hopper_gemm_kernel import MULTIPROCESSORS, OPERANDS, ROW, GemmSchedule, text

import tilewright as tw

SHARED = 227 << 10
"""The shared memory of a CTA."""


def schedule(
    m: int, n: int, split: int = 1, *, teams: int = 1, streamed: bool = False, pairs: bool = False
) -> GemmSchedule:
    """The schedule of a tile: C through shared memory at once unless that takes too many stages,
    which have the rest of it."""
    piece = n // split if m * n <= 128 * 192 else n // 2
    height = -(-m // 64) * 64
    exchanged = 4 * m * n if split > 1 else 0
    left = SHARED - 2048 - 2 * teams * height * piece - exchanged
    stages = min(left // ((height + n) * ROW), 16)
    return GemmSchedule(m, n, stages, piece, split, teams, streamed, pairs)


TILES = tuple(
    schedule(*tile)
    for tile in (
        (128, 256), (128, 192), (128, 168), (128, 160), (128, 128), (64, 128), (128, 64), (64, 64),
        (64, 32), (16, 32), (64, 64, 4), (64, 128, 8),
    )
)  # fmt: skip


def microseconds(own: GemmSchedule, m: int, n: int, k: int, element: str = "bf16") -> float:
    """The time that a schedule takes, by what was measured on an H100: the launch, the first copies
    and the last store, of tiles by their size; sums through shared memory of a cluster; 0.7 us from
    a tile to the next; and for each step of K what the tensor cores take, or what copies do, 88
    bytes a nanosecond for each multiprocessor. Meanwhile A and B come from memory, and what was in
    the L2 cache goes there."""
    operand = OPERANDS[element]
    step = max(2 * own.height * own.n * ROW / operand.size / operand.rate,
               (own.m + own.n) * ROW / 88e3)  # fmt: skip
    tiles, steps = own.tiles(m, n), -(-k * operand.size // (ROW * own.split))
    work = -(-tiles * own.split // own.most_ctas) * (steps * step + 0.7)
    memory = ((m + n) * k * operand.size + 2 * m * n) / 2.1e6
    first_and_last = 4.3 + own.height * own.n * 1e-4 + (3 if own.split > 1 else 0)
    return first_and_last + max(work, memory) + min(work, memory) / 10


def schedule_of(m: int, n: int, k: int, element: str = "bf16") -> GemmSchedule:
    """The schedule that the model finds fastest."""
    return min(TILES, key=lambda own: microseconds(own, m, n, k, element))


def grid_of(own: GemmSchedule, m: int, n: int) -> tuple[int]:
    """The grid of a schedule for a problem: a CTA for each tile, at most the multiprocessors; or a
    cluster for each."""
    tiles = own.tiles(m, n)
    ctas = tiles * own.cluster
    return (own.most_ctas if own.streamed else ctas if own.split > 1 else min(ctas, own.most_ctas),)


def gemm(m: int, n: int, k: int, element: str = "bf16") -> tuple[tw.Kernel, tuple[int]]:
    """The kernel for a problem, and its grid."""
    own = schedule_of(m, n, k, element)
    return compiled(own, element), grid_of(own, m, n)


@cache
def compiled(own: GemmSchedule, element: str = "bf16") -> tw.Kernel:
    """The kernel of a schedule."""
    return tw.compile(text(own, element), "sm_90a")


