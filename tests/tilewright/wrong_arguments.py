"""Arguments that a kernel does not take, with what both sides say of them."""

from __future__ import annotations

from typing import Any

import numpy as np

import tilewright as tw

GRID = np.arange(24, dtype=np.float32).reshape(4, 6)
MAP = "!cute_nvgpu.tma_descriptor<8x64xf16, swizzle = 128>"
TENSOR = '!cute.memref<f32, gmem, "(?,?):(?,1)">'
HALVES = np.zeros((40, 64), np.float16)


def kernel(type_: str, attributes: str = "") -> str:
    """A kernel of one argument that does nothing."""
    return f"func.func @k(%x: {type_}) attributes {{gpu.kernel{attributes}}} {{ func.return }}"


def reaching(stride: int) -> np.ndarray:
    """An array whose second row is so many elements on; nobody owns the memory between."""
    shape, strides = (2, 4), (4 * stride, 4)
    return np.lib.stride_tricks.as_strided(np.zeros(4, np.float32), shape, strides)


LAUNCH: dict[str, Any] = {"grid": (1,), "block": (1,)}
WIDE = ((8, 300), (8, -129), (1, 2), (16, 1 << 16), (32, 1 << 32), (64, -1 << 64))
WRONG: list[tuple[str, list[Any], dict[str, Any], str]] = [
    *((kernel(f"i{bits}"), [value], {}, f"'x' expected {bits} bits for i{bits}, got {value}")
      for bits, value in WIDE),
    *((kernel(type_), [value], {}, f"argument 'x' expected a number for {type_}, got {value!r}")
      for type_, value in (("i32", 3.7), ("i32", "3"), ("i32", None), ("index", 0.5), ("f32", "2"),
                           ("bf16", "two"), ("f64", 1j), ("f16", (1,)), ("i32", float("nan")))),
    (kernel("i32"), [GRID], {}, "argument 'x' expected a number for i32, got an array"),
    (kernel("i32"), [], {}, "expected 1 arguments (x: i32), got 0"),
    (kernel("i32"), [1, 2], {}, "expected 1 arguments (x: i32), got 2"),
    (kernel("memref<?xf32>"), [1.0], {}, "argument 'x' expected an array for memref<?xf32>, got"),
    (kernel("memref<?xf32>"), [HALVES], {},
     "expected dtype float32 (or uint32, raw bits) for memref<?xf32>, got float16"),
    (kernel("memref<?xf32>"), [GRID.astype(">f4")], {}, "expected dtype float32 (or uint32"),
    (kernel("memref<?x4xf32>"), [GRID[0]], {},
     "expected shape ('?', 4) for memref<?x4xf32>, got (6,)"),
    (kernel("memref<4x5xf32>"), [GRID], {},
     "expected shape (4, 5) for memref<4x5xf32>, got (4, 6)"),
    (kernel("memref<?xf32>"), [tw.TensorMap(HALVES, box=(8, 64))], {},
     "argument 'x' expected memref<?xf32>, got a tensor map"),
    (kernel("memref<?xf32>"), [np.lib.stride_tricks.as_strided(GRID, (8,), (0,))], {},
     "argument 'x' expected a C-contiguous array for memref<?xf32>, got strides of (0,) bytes (it "
     "overlaps itself); nearest legal: a copy"),
    (kernel(MAP), [HALVES], {}, "argument 'x' expected a TensorMap for !cute_nvgpu.tma_descriptor"),
    (kernel(MAP), [tw.TensorMap(HALVES, box=(8, 64))], {}, "expected a TensorMap of box 8x64xf16"),
    (kernel(TENSOR), [1.0], {}, "argument 'x' expected an array for !cute.memref<f32, gmem"),
    (kernel(TENSOR), [HALVES], {}, "argument 'x' expected dtype float32 (or uint32, raw bits)"),
    (kernel(TENSOR), [GRID[0]], {}, "argument 'x' expected 2 dimensions, got shape (6,)"),
    (kernel(TENSOR), [GRID.T], {}, "argument 'x' expected strides (?, 1), got (1, 6)"),
    (kernel(TENSOR), [GRID[::-1]], {}, "argument 'x' expected an array with strides of whole"),
    # Strides, and offsets of their products, leave the 32 bits of their leaves.
    (kernel(TENSOR), [reaching(1 << 31)], {}, "(dimension 0: more than 32 bits)"),
    (kernel(TENSOR), [reaching(1 << 31)[:1]], {}, "(dimension 0: more than 32 bits)"),
    (kernel(TENSOR), [reaching((1 << 31) - 1)], {},
     "expected offsets of 32 bits, got 2147483650 of shape (2, 4) and strides (2147483647, 1); "
     "nearest legal: strides of ?{i64}"),
    *((kernel("i32"), [1], {"grid": grid}, "expected grid as up to three positive integers, got ")
      for grid in (1, 0, None, "x", (), (0,), (1, 1, 1, 1), (1.5,), (-1, 1))),
    (kernel("i32"), [1], {"grid": (1, 1 << 16)}, "expected grid of at most (2147483647, 65535"),
    (kernel("i32"), [1], {"block": 32}, "expected block as up to three positive integers, got 32"),
    (kernel("i32"), [1], {"block": (1025,)}, "expected block of at most (1024, 1024, 64)"),
    (kernel("i32"), [1], {"block": (64, 32)}, "expected a block of at most 1024 threads, got 2048"),
    (kernel("i32", ", gpu.known_block_size = array<i32: 32, 1, 1>"), [1], {},
     "'k' expected block (32, 1, 1), got (1, 1, 1)"),
    (kernel("i32", ", gpu.known_cluster_size = array<i32: 2, 1, 1>"), [1], {"grid": (3,)},
     "'k' expected a grid of whole clusters of (2, 1, 1), got (3, 1, 1)"),
]  # fmt: skip
