"""Stores of one tile in which several values go to one element of memory: all but one are lost."""

from collections.abc import Iterator

import numpy as np
from xdsl.ir import Operation

from tilewright.lowering.interpreter.cuda_tile.elements import Tile
from tilewright.lowering.interpreter.cuda_tile.footprints import Footprint
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.errors import Fault


def check_all_kept(frame: Frame, op: Operation, footprint: Footprint, tiles: Tile) -> None:
    """Report a store of tiles [blocks or 1, *tile] as undefined where an element is not what it was
    given: the block gave it another value, too. Equal values may meet."""
    machine = frame.gang.machine
    if machine.races == "ignore":
        return
    for row, element, number in _lost(footprint, tiles):
        # Of other blocks' values the memory model has spoken.
        if np.count_nonzero(footprint.elements_of(row) == element) > 1:
            name = f"{footprint.allocation.name}[{number}]"
            what = f"expected one value for each element of a store, got several for {name}"
            machine.undefined(op, frame, Fault(what, row if len(footprint.low) > 1 else None))
        return


def _lost(footprint: Footprint, tiles: Tile) -> Iterator[tuple[int, int, int]]:
    """The first value that is lost: its block's row, its element, and what that is called; the byte
    of an element of 4 bits is the element."""
    word, scatter = np.dtype(f"u{footprint.itemsize}"), footprint.scatter
    halves = None if scatter is None else scatter.halves
    elements = footprint.allocation.elements(word)
    tiles = tiles.view(word) if halves is None else tiles.view(word) & 15
    rows = np.arange(len(footprint.low)).reshape(-1, *[1] * len(footprint.tile))
    for part in footprint.parts:
        if not part.meets_itself:
            continue
        wrong = part.get(elements) != part.of_tiles(tiles)
        for at in map(tuple, np.argwhere(wrong)[:1]):
            row = int(np.broadcast_to(part.of_tiles(rows), wrong.shape)[at])
            element = int(part.places()[at])
            half = None if halves is None else int(part.of_tiles(halves)[at])
            yield row, element, element if half is None else 2 * element + half
            return
