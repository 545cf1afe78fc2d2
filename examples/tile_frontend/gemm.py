"""C = A B: alone, with a bias and ReLU as its epilogue, and a batch of them.

A (M,K), B (K,N) and C (M,N) are row-major, their rows whole 16 bytes.
"""

from typing import Any

from tile_frontend.kernel import kernel
from tile_frontend.language import (
    Array,
    Registers,
    blocks_of,
    dot,
    load,
    program,
    steps,
    store,
    zeros,
)
from tile_frontend.masks import columns
from tile_frontend.trace import Index, Place, algebra, cute

Tile = tuple[int, int, int]
HOPPER: dict[str, Any] = {"engine": "tma", "warps": (8, 1), "tile": (128, 256, 64), "stages": 4}
"""Constants for the TMA and wgmma of sm_90a."""
BLACKWELL: dict[str, Any] = {"engine": "umma", "warps": (4, 1), "tile": (128, 128, 64), "stages": 4}
"""Constants for the TMA and tcgen05 of sm_100a."""


def covering(extents: tuple[Index, Index], block: tuple[int, int], band: int = 8) -> Place:
    """The coordinate of this program's block, of those that cover a matrix: in bands of rows, so
    that neighbours share them in the L2 cache."""
    counts = [blocks_of(extent, size) for extent, size in zip(extents, block, strict=True)]
    operands = program("x").value, algebra("shape", "(?,?)", *counts)
    place = cute("tile_scheduler.coord", *operands, uniform=True, swizzle=band)
    return tuple(map(Index, cute("get_scalars", place, uniform=True).owner.results))


def product(a: Array, b: Array, place: Place, tile: Tile, stages: int) -> Registers:
    """A block of A B."""
    m, n, k = tile
    i, j = place
    acc = zeros(m, n)
    for step in steps(a.extent(1), k, stages):
        dot(load(a, (m, k), (i, step)), load(b, (k, n), (step, j)), acc)
    return acc


def blocks(c: Any, tile: Tile) -> tuple[int, ...]:
    """How many blocks cover C; and the batch."""
    return (-(-c.shape[-2] // tile[0])) * (-(-c.shape[-1] // tile[1])), *c.shape[:-2]


@kernel(grid=lambda a, b, c, tile, stages: blocks(c, tile), tile=(128, 128, 32), stages=3)
def gemm(a: Array, b: Array, c: Array, tile: Tile, stages: int) -> None:
    place = covering((a.extent(0), b.extent(1)), tile[:2])
    store(c, place, product(a, b, place, tile, stages))


@kernel(grid=lambda a, b, bias, c, tile, stages: blocks(c, tile), tile=(128, 128, 32), stages=3)
def gemm_bias_relu(a: Array, b: Array, bias: Array, c: Array, tile: Tile, stages: int) -> None:
    place = covering((a.extent(0), b.extent(1)), tile[:2])
    acc = product(a, b, place, tile, stages)
    store(c, place, (acc + columns(bias, place[1], acc)).max(0.0))


@kernel(grid=lambda a, b, c, tile, stages: blocks(c, tile), tile=(128, 128, 32), stages=3)
def batched_gemm(a: Array, b: Array, c: Array, tile: Tile, stages: int) -> None:
    place, z = covering((a.extent(1), b.extent(2)), tile[:2]), program("y")
    store(c[z], place, product(a[z], b[z], place, tile, stages))
