"""The grid and the block of a launch, checked alike on the CPU and on the GPU."""

from collections.abc import Sequence
from operator import index
from typing import Any

from tilewright.arguments.binding import ArgumentError
from tilewright.dialects.cute_nvgpu.lattice.launch import (
    MAX_BLOCK,
    MAX_GRID,
    MAX_THREADS,
    why_illegal_cluster,
)

Extents = tuple[int, int, int]

_LIMITS = {"grid": MAX_GRID, "block": MAX_BLOCK}


def checked_extents(what: str, given: Any) -> Extents:
    """The `grid` or the `block` of a launch as (x, y, z). Raises ArgumentError."""
    try:
        x, y, z = (*map(index, given), 1, 1)[: max(len(given), 3)]
    except (TypeError, ValueError):
        x = y = z = 0
    if min(x, y, z) < 1:
        raise ArgumentError(f"expected {what} as up to three positive extents, got {given!r}")
    if any(extent > limit for extent, limit in zip((x, y, z), _LIMITS[what], strict=True)):
        raise ArgumentError(f"expected {what} of at most {_LIMITS[what]}, got {(x, y, z)}")
    if what == "block" and x * y * z > MAX_THREADS:
        raise ArgumentError(f"expected a block of at most {MAX_THREADS} threads, got {x * y * z}")
    return x, y, z


def check_launch(
    kernel: str,
    grid: Extents,
    block: Extents,
    known_block: Sequence[int] | None,
    cluster: Sequence[int] | None,
) -> Extents:
    """The cluster of a launch: one CTA where the kernel declares none. Raises ArgumentError where
    the kernel declares another block, or clusters that the grid is not made of."""
    if known_block is not None and tuple(known_block) != block:
        raise ArgumentError(f"'{kernel}' expected block {tuple(known_block)}, got {block}")
    if cluster is None:
        return 1, 1, 1
    extents = tuple(map(int, cluster))
    if (why := why_illegal_cluster(extents)) is not None:
        raise ArgumentError(f"'{kernel}' {why}")
    if any(whole % part for whole, part in zip(grid, extents, strict=True)):
        raise ArgumentError(
            f"'{kernel}' expected a grid of whole clusters of {extents}, got {grid}"
        )
    x, y, z = extents
    return x, y, z
