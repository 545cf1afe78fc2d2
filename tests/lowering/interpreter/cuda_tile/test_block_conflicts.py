"""Conflicts between blocks, against sets of the blocks that touched each element."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.lowering.interpreter.cuda_tile.accesses import CONFLICTS, Access, Kind
from tilewright.lowering.interpreter.cuda_tile.allocations import Allocations, TileAllocation
from tilewright.lowering.interpreter.cuda_tile.block_conflicts import BlockConflicts
from tilewright.lowering.interpreter.cuda_tile.footprints import Footprint, boxed, scattered

TILE = (2, 4)


def drawn(draw: Random, allocation: TileAllocation, rows: int) -> Footprint:
    """Boxes, evenly apart, alike or anywhere, whole or not, or elements anywhere."""
    firsts = [draw.choice((0, 4, 8)) * row for row in range(rows)]
    if draw.random() < 0.5:
        firsts = [draw.randrange(16) for _ in range(rows)]
    first = np.array(firsts)
    size = draw.choice((2, 4))
    if draw.random() < 0.3:
        offsets = np.array([draw.randrange(24) for _ in range(rows * 8)]).reshape(rows, *TILE)
        return scattered(allocation, size, offsets, offsets % 5 > 0)
    whole = draw.random() < 0.5
    extents = np.array([TILE if whole else (draw.randrange(3), 3)])
    strides = np.array([[draw.choice((0, 4, 8)), 1]])
    return boxed(allocation, size, TILE, first, extents, strides, np.zeros((rows, 2), int), None)


@pytest.mark.parametrize("seed", range(60))
def test_conflicts_are_those_of_sets(seed: int):
    draw = Random(seed)
    allocation = Allocations().add("a", np.zeros(256, np.uint8))
    conflicts, touched = BlockConflicts(allocation), dict[tuple[int, Kind], set[int]]()
    for _ in range(6):
        blocks = sorted(draw.sample(range(5), draw.randint(1, 4)))
        kind, rows = draw.choice(list(Kind)), draw.choice((1, len(blocks)))
        footprint = drawn(draw, allocation, rows)
        own: dict[int, set[int]] = {}
        for row in range(rows):
            who = {blocks[row]} if rows == len(blocks) else set(blocks)
            for element in footprint.elements_of(row).tolist():
                for byte in range(element * footprint.itemsize, (element + 1) * footprint.itemsize):
                    own.setdefault(byte, set()).update(who)
        expected = any(
            len(who | touched.get((byte, other), who)) > 1
            for byte, who in own.items()
            for other in CONFLICTS[kind]
            if (byte, other) in touched or other is kind
        )
        conflict = conflicts.add(Access(ModuleOp([]), kind, np.array(blocks), footprint))
        assert (conflict is not None) == expected
        if conflict is not None:
            assert conflict.later_block in own[conflict.byte] - {conflict.earlier_block}
            assert conflict.earlier.kind in CONFLICTS[kind]
            there = touched.get((conflict.byte, conflict.earlier.kind), set())
            assert conflict.earlier_block in there | own[conflict.byte]
            break
        for byte, who in own.items():
            touched.setdefault((byte, kind), set()).update(who)
