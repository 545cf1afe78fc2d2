"""Gemms of the tile level: every kind of atom, wherever its operands are."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from tile_kernels import kernel
from tile_levels import BARRIER, memref, multiplied

BF16, E4M3, E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": BF16, "tf32": np.float32, "f32": np.float32, "f64": np.float64,
    "si8": np.int8, "ui8": np.uint8, "i32": np.int32, "f8E4M3FN": E4M3, "f8E5M2": E5M2,
}  # fmt: skip


HELD = {"tf32": "f32", "si8": "i8", "ui8": "i8"}
"""What memory is made of that holds such elements."""


def matrix(rows: int, columns: int, element: str, seed: int) -> np.ndarray:
    """Small integers."""
    low = 0 if element == "ui8" else -4
    found = np.random.default_rng(seed).integers(low, 5, (rows, columns))
    return found.astype(DTYPES[element])


def lowers(element: str) -> bool:
    """Whether the kernels lower: single elements of 8-bit floats cannot be copied at the ptx
    level."""
    return not element.startswith("f8")


REGISTER_ATOMS = [
    ("sm80", (16, 8, 8), "f16", "f16", "f16"),
    ("sm80", (16, 8, 16), "f16", "f16", "f32"),
    ("sm80", (16, 8, 8), "bf16", "bf16", "f32"),
    ("sm80", (16, 8, 16), "bf16", "bf16", "f32"),
    ("sm80", (16, 8, 4), "tf32", "tf32", "f32"),
    ("sm80", (16, 8, 8), "tf32", "tf32", "f32"),
    ("sm80", (8, 8, 4), "f64", "f64", "f64"),
    ("sm80", (16, 8, 32), "si8", "ui8", "i32"),
    ("sm80", (8, 8, 16), "si8", "si8", "i32"),
    ("sm89", (16, 8, 32), "f8E4M3FN", "f8E5M2", "f32"),
]


TILINGS = [
    ("", 32),
    (', atom_layout_MNK = "(2,1,1):(1,1,1)"', 64),
    (', atom_layout_MNK = "(1,4,1):(1,1,1)"', 128),
    (', atom_layout_MNK = "(2,2,1):(2,1,1)"', 128),
]


def register_kernel(row: Any, tiling: str, m: int, n: int, k: int) -> str:
    tier, (am, an, ak), a, b, c = row
    atom = f"!cute_nvgpu.{tier}.mma<{am}x{an}x{ak}, elem_type = ({a}, {b}, {c})>"
    a, b = HELD.get(a, a), HELD.get(b, b)
    return kernel(
        f"%a: {memref(a, 'gmem', f'({m},{k}):({k},1)')}, "
        f"%b: {memref(b, 'gmem', f'({n},{k}):(1,{n})')}, "
        f"%c: {memref(c, 'gmem', f'({m},{n}):({n},1)')}",
        multiplied(f"!cute.tiled_mma<{atom}{tiling}>"),
    )


WARPGROUP_ATOMS = [
    ("f16", "f16", "f16", 16),
    ("bf16", "bf16", "f32", 16),
    ("tf32", "tf32", "f32", 8),
    ("f8E4M3FN", "f8E4M3FN", "f32", 32),
    ("si8", "si8", "i32", 32),
]


SWIZZLES = {1: 4, 2: 3, 4: 2}
"""The base of a swizzle of 16-byte chunks, by the bytes of an element."""


def smem_layout(rows: int, columns: int, width: int, major: str, bits: int) -> str:
    """A swizzled matrix (rows, columns) whose contiguous extent is one row of the swizzle."""
    run = (16 << bits) // width
    swizzle = f"S<{bits},{SWIZZLES[width]},3>"
    if major == "k":
        plain = f"({rows},({run},{columns // run})):({run},(1,{rows * run}))"
        plain = f"({rows},{run}):({run},1)" if columns == run else plain
    else:
        plain = f"(({run},{rows // run}),{columns}):((1,{columns * run}),{run})"
        plain = f"({run},{columns}):(1,{run})" if rows == run else plain
    return f"{swizzle} o 0 o {plain}"


def copied_rows(name: str) -> str:
    """Every thread copies its row of a matrix to shared memory."""
    return f"""%from_{name} = cute.slice(%{name}, %at)
    %to_{name} = cute.slice(%s{name}, %at)
    cute.copy(%from_{name}, %to_{name})"""


def warpgroup_kernel(
    row: Any, kind: str, majors: tuple[str, str], n: int, k: int, groups: int = 1
) -> str:
    a, b, c, ak = row
    atom = (
        f"!cute_nvgpu.sm90.mma<64x{n}x{ak}, elem_type = ({a}, {b}, {c}), "
        f"ab_major = ({', '.join(majors)}), frag_kind = {kind}>"
    )
    a, b = HELD.get(a, a), HELD.get(b, b)
    width, m = np.dtype(DTYPES[row[0]]).itemsize, 64 * groups
    fill_a = copied_rows("a") if kind == "ss" else ""
    load_a = "cute.copy(%pa, %fa)" if kind == "rs" else ""
    return kernel(
        f"%a: {memref(a, 'gmem', f'({m},{k}):({k},1)')}, "
        f"%b: {memref(b, 'gmem', f'({n},{k}):({k},1)')}, "
        f"%c: {memref(c, 'gmem', f'({m},{n}):({n},1)')}",
        f"""
  %sa = cute.memref.alloc() : {memref(a, "smem", smem_layout(m, k, width, majors[0], 3), 1024)}
  %sb = cute.memref.alloc() : {memref(b, "smem", smem_layout(n, k, width, majors[1], 3), 1024)}
  %c64 = arith.constant 64 : i32
  %low = arith.cmpi ult, %t, %c64 : i32
  %rows = arith.constant {m} : i32
  %holds = arith.cmpi ult, %t, %rows : i32
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  scf.if %holds {{
    {fill_a}
  }}
  scf.if %low {{
    {copied_rows("b")}
  }}
  cute_nvgpu.fence.proxy.async
  {BARRIER}
  %mma = cute.make_tiled_mma : !cute.tiled_mma<{atom}, atom_layout_MNK = "({groups},1,1):(1,1,1)">
  %pa = cute.tiled.mma.partition A (%mma, {"%sa" if kind == "ss" else "%a"}, %t)
  %pb = cute.tiled.mma.partition B (%mma, %sb, %t)
  %pc = cute.tiled.mma.partition C (%mma, %c, %t)
  %fa = cute.mma.make_fragment A (%mma, %pa)
  %fb = cute.mma.make_fragment B (%mma, %pb)
  %fc = cute.mma.make_fragment C (%mma, %pc)
  {load_a}
  cute.copy(%pc, %fc)
  cute_nvgpu.wgmma.fence
  cute.gemm(%mma, %fc, %fa, %fb, %fc)
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
  cute.copy(%fc, %pc)""",
    )
