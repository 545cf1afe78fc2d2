"""Blocks of a grid that go other ways through a kernel than its first one."""

import operator
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.passes.analysis.hazards.follow import ProgramSlice
from tilewright.passes.analysis.hazards.launches import (
    GRID,
    ClusterLaunch,
    Extents,
    FirstRound,
    extents_of,
)

MOST = 1 << 16
"""The numbers of blocks that are tried are below this."""


def other_blocks(program: ProgramSlice, launch: ClusterLaunch) -> Iterator[ClusterLaunch]:
    """Launches of other blocks than that of the launch that was followed last, until each branch
    has gone every way that thread 0 of a block that is tried goes in its first round. Those are
    tried that a number of the kernel names, the one before and the one behind, along each axis and
    all, in grids that end with them or one later, or in the grid that the kernel says it has."""
    known = extents_of(program.function, GRID)
    places = list(dict.fromkeys(_places(program.constants, launch, known)))
    own: dict[tuple[str, int], Any] = {}
    for axis in range(3):
        own["gpu.block_id", axis] = np.array([first[axis] for first, _ in places])
        own["gpu.grid_dim", axis] = np.array([grid[axis] for _, grid in places])
    numbers = FirstRound(launch, own)
    asked = {op: numbers.of(condition) for op, condition in program.conditions.items()}
    ways: dict[Operation, NDArray[np.bool_]] = {
        op: way for op, way in asked.items() if isinstance(way, np.ndarray)
    }
    if not ways:
        return
    rows, first_of = np.unique(np.stack([*ways.values()]), axis=1, return_index=True)
    taken = set(program.trace.taken)
    for place, row in sorted(zip(first_of.tolist(), rows.T.tolist(), strict=True)):
        new = set(zip(ways, map(bool, row), strict=True)) - taken
        if new:
            yield replace(launch, first=places[place][0], grid=places[place][1])
            taken |= new | program.trace.taken


def _places(
    named: set[int], launch: ClusterLaunch, known: Extents | None
) -> Iterator[tuple[Extents, Extents]]:
    """Blocks, in grids: the first CTA of a cluster, and the extents."""
    near = {number + step for number in named | {0} for step in (-1, 0, 1)}
    for number in sorted(number for number in near if 0 <= number < MOST):
        for axes in ((0,), (1,), (2,), range(3)):
            first, ends = list(launch.first), (list(launch.grid), list(launch.grid))
            for axis in axes:
                whole, unit = launch.cluster[axis], launch.grid[axis]
                first[axis] = number // whole * whole
                for behind, end in enumerate(ends):
                    end[axis] = (first[axis] // unit + 1 + behind) * unit
            block = first[0], first[1], first[2]
            if known is None:
                yield from ((block, (end[0], end[1], end[2])) for end in ends)
            elif all(map(operator.lt, block, known)):
                yield block, known
