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

from functools import cache

from hopper_gemm_kernel import text
from hopper_gemm_schedule import GemmSchedule, grid_of, schedule_of

import tilewright as tw


def gemm(m: int, n: int, k: int, element: str = "bf16") -> tuple[tw.Kernel, tuple[int]]:
    """The kernel for a problem, and its grid."""
    own = schedule_of(m, n, k, element)
    return compiled(own, element), grid_of(own, m, n)


@cache
def compiled(own: GemmSchedule, element: str = "bf16") -> tw.Kernel:
    """The kernel of a schedule."""
    return tw.compile(text(own, element), "sm_90a")
