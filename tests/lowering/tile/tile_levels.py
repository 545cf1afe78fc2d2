"""Kernels of the tile level, run as they are and lowered."""

from __future__ import annotations

from typing import Any
from zlib import crc32

import numpy as np
from covering import THOROUGH

import tilewright as tw

LEVELS = ("tile", "atom", "ptx")
HEAD = """
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bid = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %block = arith.index_cast %bid : index to i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %zero = arith.constant 0.0 : f32
"""
BARRIER = '"gpu.barrier"() : () -> ()'


def memref(element: str, space: str, layout: str, align: int | None = None) -> str:
    aligned = "" if align is None else f" align<{align}>,"
    return f'!cute.memref<{element}, {space},{aligned} "{layout}">'


def kernel(arguments: str, body: str, threads: int = 32) -> str:
    attributes = f"gpu.kernel, gpu.known_block_size = array<i32: {threads}, 1, 1>"
    return (
        f"func.func @k({arguments}) attributes {{{attributes}}} {{{HEAD}{body}\n  func.return\n}}"
    )


def levels_of(text: str, args: tuple[Any, ...]) -> tuple[str, ...]:
    """The levels to run: where the run goes to the lowest, the one between for a third of all."""
    sample = f"{text}{[np.shape(array) for array in args]}"
    return LEVELS if THOROUGH or crc32(sample.encode()) % 3 == 0 else (LEVELS[0], LEVELS[-1])


def run(text: str, *args: Any, threads: int = 32, **launch: Any) -> list[np.ndarray]:
    """The arrays after a run, which every level must give bit for bit."""
    launch = {"grid": (1,), "block": (threads,), "arch": "sm_90a", **launch}
    levels = levels_of(text, args)
    found = [tw.interpret(text, args=args, level=level, **launch) for level in levels]
    for level, arrays in zip(levels[1:], found[1:], strict=True):
        for first, other in zip(found[0], arrays, strict=True):
            assert first.tobytes() == other.tobytes(), f"level {level} differs"
    return found[0]


def numbers(shape: tuple[int, ...], dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)
