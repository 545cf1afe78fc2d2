"""Stores of one tile in which several values go to one element of memory: all but one are lost."""

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.lowering.interpreter.array_spans import overlaps_itself
from tilewright.lowering.interpreter.cuda_tile.elements import Tile
from tilewright.lowering.interpreter.cuda_tile.footprints import Box, Footprint
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.errors import Fault


def check_all_kept(frame: Frame, op: Operation, footprint: Footprint, tiles: Tile) -> None:
    """Report a store of tiles [blocks or 1, *tile] as undefined where an element is not what it was
    given: the block gave it another value, too. Equal values may meet."""
    machine = frame.gang.machine
    if machine.races == "ignore":
        return
    lost = _lost_packed if footprint.halves is not None else _lost
    for row, element, number in lost(footprint, tiles):
        # Of other blocks' values the memory model has spoken.
        if np.count_nonzero(footprint.elements_of(row) == element) > 1:
            name = f"{footprint.allocation.name}[{number}]"
            what = f"expected one value for each element of a store, got several for {name}"
            machine.undefined(op, frame, Fault(what, row if len(footprint.low) > 1 else None))
        return


def meets_itself(box: Box) -> bool:
    """True where elements of one block's box may be one in memory."""
    return overlaps_itself(box.shape[1:], box.strides[1:])


def _lost(footprint: Footprint, tiles: Tile) -> list[tuple[int, int, int]]:
    """The first value that is lost: its block's row, its element, and what that is called."""
    word = np.dtype(f"u{footprint.itemsize}")
    elements, tiles = footprint.allocation.elements(word), tiles.view(word)
    if footprint.boxes is None:
        assert footprint.offsets is not None
        wrong = elements.take(footprint.offsets, mode="clip") != tiles
        return _first(wrong, footprint)
    for box in footprint.boxes:
        if meets_itself(box):
            rows = box.rows if len(tiles) > 1 else slice(0, 1)
            wrong = box.on(elements) != tiles[(rows, *box.part)]
            for at in np.argwhere(wrong)[:1]:
                element = box.first + int((at * np.array(box.strides)).sum())
                return [(box.rows.start + int(at[0]), element, element)]
    return []


def _lost_packed(footprint: Footprint, tiles: Tile) -> list[tuple[int, int, int]]:
    """The same of elements of 4 bits; the byte of one is the element."""
    assert footprint.offsets is not None and footprint.halves is not None
    octets = footprint.allocation.octets.take(footprint.offsets, mode="clip")
    left = octets >> (footprint.halves << 2)
    return _first(((left ^ tiles.view(np.uint8)) & 15) != 0, footprint)


def _first(wrong: NDArray[np.bool_], footprint: Footprint) -> list[tuple[int, int, int]]:
    assert footprint.offsets is not None
    if footprint.mask is not None:
        wrong = wrong & footprint.mask
    if not wrong.any():
        return []
    at = tuple(np.argwhere(wrong)[0])
    element = int(footprint.offsets[at])
    number = element if footprint.halves is None else 2 * element + int(footprint.halves[at])
    return [(int(at[0]), element, number)]
