"""Canonical fragment layouts of warp-level MMAs, as CuTe thread-value layouts.

A TV layout maps (thread, value) to an index of the matrix: A `m + M*k`, B `n + N*k`,
C and D `m + M*n`; values count in register order, low bits of a register first.

All `m8n8` and `m16n8` shapes share one pattern (PTX ISA 9.7.14.5.2 to 9.7.14.5.13). A warp is
eight groups of four threads; with `w` elements to a register,

    A row r of the 8 x 4w block:  | t0: k=0..w-1 | t1: k=w..2w-1 | t2 | t3 |     group g holds row g

and the registers of a thread walk the blocks: rows first (`m + 8`), then `k + 4w`.
"""

from __future__ import annotations

from tilewright.dialects.cute import Layout

_GROUPS = 8
_GROUP_SIZE = 4


def multiplicand_a(shape: tuple[int, int, int], per_register: int) -> Layout:
    """`(T32, V) -> m + M*k`: A of an m8n8 or m16n8 MMA with `per_register` elements a register."""
    m, _, k = shape
    return blocks(m, k, per_register)


def multiplicand_b(shape: tuple[int, int, int], per_register: int) -> Layout:
    """`(T32, V) -> n + N*k`: B of an m8n8 or m16n8 MMA with `per_register` elements a register."""
    _, n, k = shape
    return blocks(n, k, per_register)


def accumulator(shape: tuple[int, int, int]) -> Layout:
    """`(T32, V) -> m + M*n`: C and D; a thread holds two neighbours in n of each row block."""
    m, n, _ = shape
    return blocks(m, n, 2)


def blocks(rows: int, columns: int, width: int) -> Layout:
    """`(T32, V) -> row + rows*column`: blocks of 8 rows x 4*width columns, rows first."""
    values: list[tuple[int, int]] = [
        (width, rows),
        (rows // _GROUPS, _GROUPS),
        (columns // (_GROUP_SIZE * width), _GROUP_SIZE * width * rows),
    ]
    modes = [mode for mode in values if mode[0] > 1] or [(1, 0)]
    shape = tuple(extent for extent, _ in modes)
    stride = tuple(step for _, step in modes)
    value_shape, value_stride = (shape, stride) if len(modes) > 1 else (shape[0], stride[0])
    return Layout(
        ((_GROUP_SIZE, _GROUPS), value_shape),
        ((width * rows, 1), value_stride),
    )
