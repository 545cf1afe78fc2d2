"""Reductions by TMA: a kernel for each of them, and what it means in NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.tma import REDUCED_ELEMENTS

BARRIER = "memref<1xi64, #cute<space smem>>"
DTYPES: dict[str, Any] = {
    "i32": np.uint32, "ui32": np.uint32, "si32": np.int32,
    "i64": np.uint64, "ui64": np.uint64, "si64": np.int64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
MEANING: dict[str, Any] = {
    "add": lambda old, new: old + new,
    "min": np.minimum,
    "max": np.maximum,
    "inc": lambda old, new: np.where(old >= new, old.dtype.type(0), old + old.dtype.type(1)),
    "dec": lambda old, new: np.where((old == 0) | (old > new), new, old - old.dtype.type(1)),
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
REDUCTIONS = [(kind, element) for kind, legal in REDUCED_ELEMENTS.items() for element in legal]


def elements_of(dtype: Any, shape: tuple[int, int], seed: int) -> np.ndarray:
    """Numbers of every magnitude: subnormals, integers of either sign, small ones among them."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "ui":
        info = np.iinfo(dtype)
        wide = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        return np.where(rng.random(shape) < 0.5, wide, rng.integers(0, 4, shape).astype(dtype))
    found = rng.standard_normal(shape).astype(dtype)
    found[:, ::5] = ml_dtypes.finfo(dtype).smallest_subnormal
    return found


def reduction_kernel(kind: str, element: str) -> str:
    """Each CTA loads a box of 4 x 16 of %from and combines %to with it there."""
    map_, width = f"!cute_nvgpu.tma_descriptor<4x16x{element}>", np.dtype(DTYPES[element]).itemsize
    tile = f"memref<4x16x{element}, #cute<space smem>>"
    return f"""func.func @k(%from: {map_}, %to: {map_}) attributes {{gpu.kernel}} {{
  %c0 = arith.constant 0 : index
  %even = arith.constant 0 : i32
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  %bar = memref.alloc() : {BARRIER}
  scf.if %first {{
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : {BARRIER}
    cute_nvgpu.fence.mbarrier_init
  }}
  "gpu.barrier"() : () -> ()
  %s = memref.alloc() : {tile}
  %c4 = arith.constant 4 : index
  %block = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %row = arith.muli %block, %c4 : index
  scf.if %first {{
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes {64 * width} : {BARRIER}
    cute_nvgpu.tma.load %from[%row, %c0] to %s[%c0, %c0] mbarrier %bar[%c0]
      : {map_} to {tile}, {BARRIER}
  }}
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : {BARRIER}
  scf.if %first {{
    cute_nvgpu.tma.reduce {kind} %s[%c0, %c0] to %to[%c0, %c0] : {tile} to {map_}
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }}
  func.return
}}"""
