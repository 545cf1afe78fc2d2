"""The grid and the block of a launch, checked alike on the CPU and on the GPU."""

from collections.abc import Sequence
from math import prod

from tilewright.dialects.cute_nvgpu.lattice.launch import (
    MAX_BLOCK,
    MAX_GRID,
    MAX_THREADS,
    why_illegal_cluster,
)
from tilewright.dialects.illegal import told
from tilewright.source.diagnostic import ArgumentError

Extents = tuple[int, int, int]

_LIMITS = {"grid": MAX_GRID, "block": MAX_BLOCK}


def checked_extents(what: str, extents: Extents) -> Extents:
    """The `grid` or the `block` of a launch. Raises ArgumentError for more than there can be."""
    if any(extent > limit for extent, limit in zip(extents, _LIMITS[what], strict=True)):
        raise ArgumentError(f"expected {what} of at most {_LIMITS[what]}, got {told(extents)}")
    if what == "block" and prod(extents) > MAX_THREADS:
        threads = prod(extents)
        raise ArgumentError(f"expected a block of at most {MAX_THREADS} threads, got {threads}")
    return extents


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
