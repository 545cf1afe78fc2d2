"""Kernels of the tile level, run as they are and lowered."""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from zlib import crc32

import numpy as np
from covering import THOROUGH

import tilewright as tw
from tilewright import execution
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.ptx.text import module_text
from tilewright.pipeline import lower

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

BOXES_LOADED = """\
  %first = arith.cmpi eq, %t, %c0 : i32
  scf.if %first {
    cute.pipeline.producer_acquire(%pipe, %c0)
    cute.copy(%in, %gx, %s) pipeline %pipe[%c0]
    cute.pipeline.producer_commit(%pipe, %c0)
  }
  cute.pipeline.consumer_wait(%pipe, %c0)
"""
"""A thread loads boxes by TMA; all wait for them."""
BOXES_STORED = """\
  scf.if %first {
    cute.copy(%out, %s, %gy)
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }"""
"""It stores them by TMA."""


def multiplied(mma: str) -> str:
    """%c += %a %b^T by a tiled MMA, whose operands threads copy."""
    return f"""
  %mma = cute.make_tiled_mma : {mma}
  %pa = cute.tiled.mma.partition A (%mma, %a, %t)
  %pb = cute.tiled.mma.partition B (%mma, %b, %t)
  %pc = cute.tiled.mma.partition C (%mma, %c, %t)
  %fa = cute.mma.make_fragment A (%mma, %pa)
  %fb = cute.mma.make_fragment B (%mma, %pb)
  %fc = cute.mma.make_fragment C (%mma, %pc)
  cute.copy(%pa, %fa)
  cute.copy(%pb, %fb)
  cute.copy(%pc, %fc)
  cute.gemm(%mma, %fc, %fa, %fb, %fc)
  cute.copy(%fc, %pc)"""


def memref(element: str, space: str, layout: str, align: int | None = None) -> str:
    aligned = "" if align is None else f" align<{align}>,"
    return f'!cute.memref<{element}, {space},{aligned} "{layout}">'


def kernel(arguments: str, body: str, threads: int = 32) -> str:
    attributes = f"gpu.kernel, gpu.known_block_size = array<i32: {threads}, 1, 1>"
    return (
        f"func.func @k({arguments}) attributes {{{attributes}}} {{{HEAD}{body}\n  func.return\n}}"
    )


def levels_of(text: str, args: tuple[Any, ...]) -> tuple[str, ...]:
    """The levels to run: where the run goes to the lowest, the one between for a sixth of all."""
    sample = f"{text}{[np.shape(array) for array in args]}"
    return LEVELS if THOROUGH or crc32(sample.encode()) % 6 == 0 else (LEVELS[0], LEVELS[-1])


@lru_cache(maxsize=32)
def lowered(text: str, arch: str) -> tuple[Any, str]:
    """The module at the lowest level, once for all arguments, and its PTX."""
    module, _ = lower(text, arch)
    return module, module_text(module, target(arch))


def run(text: str, *args: Any, threads: int = 32, **launch: Any) -> list[np.ndarray]:
    """The arrays after a run, which every level must give bit for bit."""
    launch = {"grid": (1,), "block": (threads,), "arch": "sm_90a", **launch}
    *levels, lowest = levels_of(text, args)
    found = [tw.interpret(text, args=args, level=level, **launch) for level in levels]
    module, _ = lowered(text, launch["arch"])
    launch |= {what: (*launch[what], 1, 1)[:3] for what in ("grid", "block")}
    found.append(execution.run(module, args=args, level=lowest, **launch).arrays)
    for level, arrays in zip((*levels[1:], lowest), found[1:], strict=True):
        for first, other in zip(found[0], arrays, strict=True):
            assert first.tobytes() == other.tobytes(), f"level {level} differs"
    return found[0]


def numbers(shape: tuple[int, ...], dtype: Any = np.float32, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)
