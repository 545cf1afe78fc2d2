"""C = A B' on Hopper, level with cuBLAS: one kernel in tiles, and a model that picks its tile.

    kernel, grid = gemm(m, n, k)                 # which tile, stages: `schedule_of`
    kernel.launch(a, b, c, grid=grid, block=kernel.entry().block)

A (m,k) and B (n,k), K contiguous, bf16, e4m3 or f32 that TMA rounds to tf32, or of bf16 a
`row_major` B, whose N is; C (m,n), bf16; rows of multiples of 16 bytes, any extents. As many CTAs
as there are multiprocessors, each computing one tile after the other: a warp copies A and B by TMA
into a ring of stages, one or two warpgroups multiply 64 rows each by `wgmma`, and lay their tile
down by `stmatrix`, from where TMA stores it while the next one is loaded, or another warpgroup
multiplies it (`teams`). Where there are few tiles and much of K, each CTA of a cluster takes a part
of K, gives the others its sums of a part of the columns each, through their shared memory, and
stores its own (`split`); or CTAs have as many steps of K as the others, whole tiles or not, and
give their sums through memory (`streamed`, which takes `workspace` after C; the model does not pick
it, docs/performance.md says why).
"""

from functools import cache

from hopper_gemm_kernel import text
from hopper_gemm_schedule import GemmSchedule, grid_of, schedule_of

import tilewright as tw


def gemm(
    m: int, n: int, k: int, element: str = "bf16", *, row_major: bool = False
) -> tuple[tw.Kernel, tuple[int]]:
    """The kernel for a problem, and its grid."""
    own = schedule_of(m, n, k, element, row_major=row_major)
    return compiled(own, element, row_major=row_major), grid_of(own, m, n)


@cache
def compiled(own: GemmSchedule, element: str = "bf16", *, row_major: bool = False) -> tw.Kernel:
    """The kernel of a schedule."""
    return tw.compile(text(own, element, row_major=row_major), "sm_90a")
