"""Structured sparsity: which rows of B the stored elements of A meet. PTX ISA 9.7.14.6.

The metadata of a chunk are two 2-bit indices, the lower first. What they mean is what an H200 does
with any bits at all (tests/silicon), also with those that PTX leaves undefined: each stored element
is multiplied by the element of B that its index names, in whatever order the indices stand. Two
special cases have one rule each: 4-bit elements come in pairs, and an index names a pair; a tf32
word is two halves of 16 bits, and each half has an index of its own into the halves of the chunk.
"""

from functools import cache

import numpy as np

from tilewright.dialects.cute_nvgpu.atoms.traits import FragmentAtom
from tilewright.lowering.interpreter.array_types import AnyArray, Int64Array
from tilewright.lowering.interpreter.errors import Fault

_GROUP = 4


def select(atom: FragmentAtom, b: AnyArray, e: AnyArray, selector: int) -> AnyArray:
    """The rows of B that each row of A meets: [warps, M, K/2, N].

    b [warps, K, N]: elements in containers. e [warps, threads, 16]: 2-bit indices. `selector` says
    which threads' indices count.
    """
    return select_rows(atom.chunk, b, _indices(atom, e, selector))


def select_rows(chunk: int, b: AnyArray, indices: Int64Array) -> AnyArray:
    """The rows of B that each row of A meets, of chunks of 2, 4 or 8: [batch, M, K/2, N].

    b [batch, K, N]: elements in containers. indices [batch, M, J]: the 2-bit indices of each row.
    """
    if chunk == 2:
        return _select_halves(b, indices)
    base = _chunks(indices) * chunk
    if chunk == 8:
        first = base + 2 * indices
        pairs = np.stack([first, first + 1], axis=-1)
        return _rows(b, pairs.reshape(*indices.shape[:2], -1))
    return _rows(b, base + indices)


def _select_halves(b: AnyArray, indices: Int64Array) -> AnyArray:
    halves = np.stack([b & np.uint32(0xFFFF), b >> np.uint32(16)], axis=2)
    halves = halves.reshape(b.shape[0], -1, b.shape[2])
    picked = _rows(halves, _chunks(indices) * 4 + indices)
    return picked[:, :, ::2] | picked[:, :, 1::2] << np.uint32(16)


def _chunks(indices: Int64Array) -> Int64Array:
    """The chunk of its row that each index is for: [J]."""
    return np.arange(indices.shape[2], dtype=np.int64) // 2


def _rows(b: AnyArray, positions: Int64Array) -> AnyArray:
    """Rows of each warp's B by their positions [warps, M, J]: [warps, M, J, N]."""
    return b[np.arange(len(b))[:, None, None], positions]


def _indices(atom: FragmentAtom, e: AnyArray, selector: int) -> Int64Array:
    """The 2-bit indices of each row of A: [warps, M, J]."""
    flat = e.reshape(len(e), -1)[:, _places(atom, selector)]
    return flat.astype(np.int64)


@cache
def _places(atom: FragmentAtom, selector: int) -> Int64Array:
    """The places of each row's indices, [M, J] into [threads, values] flattened."""
    coords = atom.coords("E")
    places = np.empty(atom.extents("E"), dtype=np.int64)
    values = atom.values("E")
    for thread in contributing_threads(atom, selector):
        row, column = coords[thread].T
        places[row, column] = thread * values + np.arange(values)
    return places


def contributing_threads(atom: FragmentAtom, selector: int) -> list[int]:
    """The threads of a warp whose metadata counts."""
    contributors = atom.contributors
    return [thread for thread in range(atom.threads) if thread % _GROUP // contributors == selector]


def check_metadata(atom: FragmentAtom, e: AnyArray, selector: int) -> None:
    """Raise Fault where a thread gives metadata that PTX leaves undefined. PTX ISA 9.7.14.6.1.

    e [warps, threads, 16]: 2-bit indices.
    """
    threads = contributing_threads(atom, selector)
    low, high = e[:, threads, ::2].astype(np.int64), e[:, threads, 1::2].astype(np.int64)
    if atom.chunk == 2:
        bad, legal = (low % 2 != 0) | (high != low + 1), "0b0100 or 0b1110"
    elif atom.ordered_metadata:
        bad, legal = low >= high, "two indices in increasing order"
    else:
        bad, legal = low == high, "two different indices"
    if bad.any():
        warp, thread, chunk = (int(axis[0]) for axis in np.nonzero(bad))
        picked = int(high[warp, thread, chunk] << 2 | low[warp, thread, chunk])
        raise Fault(
            f"{atom.mnemonic} expected metadata of {legal} for each chunk, got {picked:#06b} in "
            f"bits {4 * chunk} to {4 * chunk + 3} (PTX ISA 9.7.14.6.1)",
            warp * atom.threads + threads[thread],
        )
