"""Blocks of a grid that go other ways through a kernel than its first one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from tilewright.passes.analysis.hazards.follow import Program
from tilewright.passes.analysis.hazards.launches import Extents, Launch, Numbers

MOST = 1 << 16
"""The numbers of blocks that are tried are below this."""


def other_blocks(program: Program, launch: Launch) -> Iterator[Launch]:
    """Launches of other blocks than that of the launch that was followed last, until each branch
    has gone every way that thread 0 of a block that is tried goes in its first round. Those are
    tried that a number of the kernel names, the one before and the one behind, along each axis and
    all, in grids that end with them or one later."""
    places = list(dict.fromkeys(_places(program.constants, launch)))
    own: dict[tuple[str, int], Any] = {}
    for axis in range(3):
        own["gpu.block_id", axis] = np.array([first[axis] for first, _ in places])
        own["gpu.grid_dim", axis] = np.array([grid[axis] for _, grid in places])
    numbers = Numbers(launch, own)
    ways = {op: numbers.of(condition) for op, condition in program.conditions.items()}
    ways = {op: way for op, way in ways.items() if isinstance(way, np.ndarray)}
    taken = set(program.trace.taken)
    for number, (first, grid) in enumerate(places if ways else ()):
        new = {(op, bool(way[number])) for op, way in ways.items()} - taken
        if new:
            yield replace(launch, first=first, grid=grid)
            taken |= new | program.trace.taken


def _places(named: set[int], launch: Launch) -> Iterator[tuple[Extents, Extents]]:
    """Blocks, in grids: the first CTA of a cluster, and the extents."""
    near = {number + step for number in named | {0} for step in (-1, 0, 1)}
    for number in sorted(number for number in near if 0 <= number < MOST):
        for axes in (range(3), (0,), (1,), (2,)):
            for behind in (1, 2):
                first, grid = list(launch.first), list(launch.grid)
                for axis in axes:
                    whole, unit = launch.cluster[axis], launch.grid[axis]
                    first[axis] = number // whole * whole
                    grid[axis] = (first[axis] // unit + behind) * unit
                yield (first[0], first[1], first[2]), (grid[0], grid[1], grid[2])
