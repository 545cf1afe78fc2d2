"""Block scaling: from the words of threads to matrices of scale factors. PTX ISA 9.7.14.3."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute_nvgpu.atoms.atom import WARP, MmaAtom
from tilewright.dialects.cute_nvgpu.lattice.row import Operand

_GROUP = 4


def scale_factors(
    atom: MmaAtom, sfa: NDArray[Any], sfb: NDArray[Any], selectors: Sequence[int]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The scale factors of A [warps, M, S] and of B [warps, S, N], one a byte.

    sfa, sfb [warps, threads, 4]: the bytes of every thread's word. selectors: byte-id-a,
    thread-id-a, byte-id-b, thread-id-b.
    """
    byte_a, thread_a, byte_b, thread_b = selectors
    places_a = _places(atom, "SFA", thread_a, byte_a)
    places_b = _places(atom, "SFB", thread_b, byte_b)
    a = sfa.reshape(len(sfa), -1)[:, places_a]
    b = sfb.reshape(len(sfb), -1)[:, places_b]
    return a, np.ascontiguousarray(b.swapaxes(-1, -2))


@cache
def _places(atom: MmaAtom, operand: Operand, thread_id: int, byte_id: int) -> NDArray[np.int64]:
    """Where each row's (column's) scale factors are, into [threads, bytes] flattened."""
    assert atom.row.scale is not None
    coords = atom.coords(operand)
    places = np.empty(atom.extents(operand), dtype=np.int64)
    threads = 2 if operand == "SFA" else 1
    for thread in range(WARP):
        if thread % _GROUP // threads == thread_id:
            for byte in range(byte_id, byte_id + atom.row.scale.vector):
                row, column = coords[thread, byte]
                places[row, column] = thread * 4 + byte
    return places
