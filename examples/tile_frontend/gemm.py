"""C = A B: alone, with a bias and ReLU as its epilogue, and a batch of them.

A (M,K), B (K,N) and C (M,N) are row-major, their rows whole 16 bytes.
"""

from __future__ import annotations

from typing import Any

from tile_frontend.kernel import kernel
from tile_frontend.language import (
    Array,
    Registers,
    dot,
    fetch,
    load,
    program,
    steps,
    store,
    zeros,
)
from tile_frontend.trace import Index

Tile = tuple[int, int, int]


def product(a: Array, b: Array, i: Index, j: Index, tile: Tile, stages: int) -> Registers:
    """The block (i, j) of A B."""
    m, n, k = tile
    acc = zeros(m, n)
    for step in steps(a.extent(1), k, stages):
        dot(load(a, (m, k), (i, step)), load(b, (k, n), (step, j)), acc)
    return acc


def blocks_of(c: Any, tile: Tile) -> tuple[int, ...]:
    """How many blocks cover C, and the batch."""
    return -(-c.shape[-2] // tile[0]), -(-c.shape[-1] // tile[1]), *c.shape[:-2]


@kernel(grid=lambda a, b, c, tile, stages: blocks_of(c, tile), tile=(128, 128, 32), stages=3)
def gemm(a: Array, b: Array, c: Array, tile: Tile, stages: int) -> None:
    i, j = program("x"), program("y")
    store(c, (i, j), product(a, b, i, j, tile, stages))


@kernel(grid=lambda a, b, bias, c, tile, stages: blocks_of(c, tile), tile=(128, 128, 32), stages=3)
def gemm_bias_relu(a: Array, b: Array, bias: Array, c: Array, tile: Tile, stages: int) -> None:
    i, j = program("x"), program("y")
    acc = product(a, b, i, j, tile, stages)
    store(c, (i, j), (acc + fetch(bias.row(tile[0]), (0, j), acc)).max(0.0))


@kernel(grid=lambda a, b, c, tile, stages: blocks_of(c, tile), tile=(128, 128, 32), stages=3)
def batched_gemm(a: Array, b: Array, c: Array, tile: Tile, stages: int) -> None:
    i, j, z = program("x"), program("y"), program("z")
    store(c[z], (i, j), product(a[z], b[z], i, j, tile, stages))
