"""Pieces of kernels that use tensor memory wrongly, and the faults they must have."""

from __future__ import annotations

from typing import Any

from faults import P, fault, run
from run_levels import LEVELS
from tmem_kernels import (
    CELLS,
    SMEM,
    SYNC,
    WAIT_STORE,
)

F = "!cute_nvgpu.fragment<8xi32>"
LOAD = f"%f = cute_nvgpu.tmem.load %m[%row, %c0] shape 32x32b : {CELLS} -> {F}"
SPLAT = f"%v = cute_nvgpu.fragment.splat %even : i32 -> {F}"
STORE = f"cute_nvgpu.tmem.store %v, %m[%row, %c0] shape 32x32b : {F}, {CELLS}"
EXTRACT = f"%x = cute_nvgpu.fragment.extract %f[0] : {F} -> i32"
WRITTEN = f"{SPLAT}\n  {STORE}\n  {WAIT_STORE}"
TILE = f"memref<32x4xi32, {SMEM}>"
VIEW = '!cute_nvgpu.smem_desc_view<32x4xi32, tcgen05, "(32,4):(4,1)">'
DESC = f"%d = cute_nvgpu.make_smem_desc %s[%c0, %c0] : {TILE} -> {VIEW}"
COPY = f"cute_nvgpu.tmem.copy %d to %m[%c0, %c0] shape 32x128b warpx4 : {VIEW} to {CELLS}"
SHIFT = f"cute_nvgpu.tmem.shift %m[%c0, %c0] : {CELLS}"
FILL = f"""%s = memref.alloc() : {TILE}
  scf.if %low {{
    scf.for %j = %c0 to %four step %c1 {{
      memref.store %even, %s[%t, %j] : {TILE}
    }}
  }}"""
FILLED = f"""%four = arith.constant 4 : index
  {FILL}
  cute_nvgpu.fence.proxy.async
  {SYNC}
  {DESC}"""


def bad(text: str, op: str, *words: str, **launch: Any) -> None:
    fault("", op, *words, text=text, **{"block": (128,), "arch": "sm_100a", **launch})


def fine(text: str, **launch: Any) -> None:
    for level in LEVELS:
        run(text, level, [P], **{"block": (128,), "arch": "sm_100a", **launch})


def here(line: str) -> str:
    return f"{line} // HERE"


def other(line: str) -> str:
    return f"{line} // OTHER"
