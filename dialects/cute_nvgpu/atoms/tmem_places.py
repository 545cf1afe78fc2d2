"""Where the elements of an MMA's operand lie in tensor memory, all their copies."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.lattice.tmem import CELL_BITS
from tilewright.dialects.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@frozen
class CellPlaces:
    """The places of the elements of an operand, from its address on: cells, and first bits within
    them, [copies, rows, columns] each."""

    cells: NDArray[np.int64]
    bits: NDArray[np.uint32]


@cache
def tensor_places(atom: UmmaAtom, operand: str, first: int = 0) -> CellPlaces:
    """The places of what one CTA has of an operand in tensor memory. `first` is the id of its scale
    factors, or the selector of its metadata."""
    import numpy as np

    layout, bits = atom.cta_layout(operand), atom.cell_bits(operand)
    rows, columns = atom.cta_extents(operand)
    scales = operand in ("SFA", "SFB")
    column = np.arange(columns, dtype=np.int64) + (first if scales else 0)
    copy = atom.copies(operand)
    offset = (
        copy(np.arange(copy.size(), dtype=np.int64))[:, None, None]
        + layout[0](np.arange(rows, dtype=np.int64))[None, :, None]
        + layout[1](column)[None, None, :]
    ) * bits
    # The selector names a column of an even pair.
    cell = offset // CELL_BITS + (first if operand == "E" else 0)
    return CellPlaces(cell, (offset % CELL_BITS).astype(np.uint32))
