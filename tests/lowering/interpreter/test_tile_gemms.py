"""Gemms of the tile level: every kind of atom, wherever its operands are, against NumPy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tile_kernels import BARRIER, kernel, memref, run

import tilewright as tw

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


# Registers: every thread reads its part of the matrices from global memory

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
        f"""
  %mma = cute.make_tiled_mma : !cute.tiled_mma<{atom}{tiling}>
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
  cute.copy(%fc, %pc)""",
    )


@pytest.mark.parametrize("tiling, threads", TILINGS)
@pytest.mark.parametrize("row", REGISTER_ATOMS, ids=lambda row: f"{row[1]}-{row[2]}-{row[4]}")
def test_atoms_of_warps(row: Any, tiling: str, threads: int) -> None:
    _, (am, an, ak), a_type, b_type, c_type = row
    m, n, k = 4 * am, 8 * an, 2 * ak
    a, b = matrix(m, k, a_type, 1), matrix(n, k, b_type, 2)
    c = matrix(m, n, c_type, 3)
    by_column = np.asfortranarray(b)
    text = register_kernel(row, tiling, m, n, k)
    found = run(text, a, by_column, c, threads=threads, numerics="exact", lowered=lowers(a_type))
    expected = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_array_equal(found[2].astype(np.float64), expected)
    np.testing.assert_array_equal(found[1], b)


@pytest.mark.parametrize("flag", [True, False])
def test_what_does_not_count_may_be_anything(flag: bool) -> None:
    row = ("sm80", (16, 8, 16), "f16", "f16", "f32")
    text = register_kernel(row, "", 16, 8, 32)
    text = text.replace(
        "cute.gemm(%mma, %fc, %fa, %fb, %fc)",
        f"%flag = arith.constant {str(flag).lower()}\n"
        "  cute.gemm(%mma, %fc, %fa, %fb, %fc) accumulate %flag",
    )
    a, b, c = matrix(16, 32, "f16", 1), matrix(8, 32, "f16", 2), matrix(16, 8, "f32", 3)
    expected = a.astype(np.float32) @ b.astype(np.float32).T + (c if flag else 0)
    np.testing.assert_array_equal(run(text, a, np.asfortranarray(b), c)[2], expected)
    unwritten = text.replace("  cute.copy(%pc, %fc)\n", "")
    args = (a, np.asfortranarray(b), c)
    if flag:
        with pytest.raises(tw.ExecutionError, match="that nothing has written"):
            run(unwritten, *args)
    else:
        np.testing.assert_array_equal(run(unwritten, *args)[2], expected)


def test_each_warp_decides_whether_c_counts() -> None:
    row = ("sm80", (16, 8, 16), "f16", "f16", "f32")
    text = register_kernel(row, ', atom_layout_MNK = "(2,1,1):(1,1,1)"', 32, 8, 16)
    text = text.replace(
        "cute.gemm(%mma, %fc, %fa, %fb, %fc)",
        "%c32 = arith.constant 32 : i32\n  %flag = arith.cmpi ult, %t, %c32 : i32\n"
        "  cute.gemm(%mma, %fc, %fa, %fb, %fc) accumulate %flag",
    )
    a, b, c = matrix(32, 16, "f16", 1), matrix(8, 16, "f16", 2), matrix(32, 8, "f32", 3)
    expected = a.astype(np.float32) @ b.astype(np.float32).T
    expected[:16] += c[:16]
    found = run(text, a, np.asfortranarray(b), c, threads=64)[2]
    np.testing.assert_array_equal(found, expected)


def test_numerics_are_those_of_the_chip() -> None:
    """Hopper's tensor cores cut what is far below the largest product."""
    row = ("sm80", (16, 8, 16), "f16", "f16", "f32")
    text = register_kernel(row, "", 16, 8, 16)
    a, b = np.zeros((16, 16), np.float16), np.ones((8, 16), np.float16)
    a[:, 0], a[:, 1], a[:, 2] = 2.0**14, 2.0**-14, -(2.0**14)
    args = (a, np.asfortranarray(b), np.zeros((16, 8), np.float32))
    exact = run(text, *args, numerics="exact")[2]
    hardware = run(text, *args, arch="sm_90a")[2]
    assert (exact == 2.0**-14).all()
    assert (hardware == 0).all()


# Warpgroups

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


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("kind", ["ss", "rs"])
@pytest.mark.parametrize("row", WARPGROUP_ATOMS, ids=lambda row: f"{row[0]}-{row[2]}")
def test_atoms_of_warpgroups(row: Any, kind: str, groups: int) -> None:
    check_warpgroups(row, kind, ("k", "k"), groups)


@pytest.mark.parametrize("kind", ["ss", "rs"])
@pytest.mark.parametrize("majors", [("k", "mn"), ("mn", "k"), ("mn", "mn")])
def test_majors(majors: tuple[str, str], kind: str) -> None:
    if kind == "rs":
        majors = ("k", majors[1])
    check_warpgroups(("bf16", "bf16", "f32", 16), kind, majors, 1)


def check_warpgroups(row: Any, kind: str, majors: tuple[str, str], groups: int) -> None:
    a_type, b_type, c_type, ak = row
    m, n = 64 * groups, 64
    width = np.dtype(DTYPES[a_type]).itemsize
    k = max(2 * ak, 128 // width)
    a, b, c = matrix(m, k, a_type, 1), matrix(n, k, b_type, 2), matrix(m, n, c_type, 3)
    text = warpgroup_kernel(row, kind, majors, n, k, groups)
    lowered = lowers(a_type)
    found = run(text, a, b, c, threads=128 * groups, numerics="exact", lowered=lowered)[2]
    expected = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64).T
    np.testing.assert_array_equal(found.astype(np.float64), expected)


# What orders wgmmas

BASE = warpgroup_kernel(("bf16", "bf16", "f32", 16), "ss", ("k", "k"), 64, 64)
FROM_REGISTERS = warpgroup_kernel(("bf16", "bf16", "f32", 16), "rs", ("k", "k"), 64, 64)
FENCE, WAIT = "  cute_nvgpu.wgmma.fence\n", "  cute_nvgpu.wgmma.wait_group 0\n"
GEMM = "  cute.gemm(%mma, %fc, %fa, %fb, %fc)\n"
FAULTS = {
    "no fence": (BASE, FENCE, "", "is the first wgmma of its warpgroup, and no wgmma.fence"),
    "no wait": (BASE, WAIT, "", "'cute.copy' accesses an accumulator of 'cute.gemm' at k.mlir"),
    "no proxy fence": (BASE, "  cute_nvgpu.fence.proxy.async\n", "",
                       "reads shared memory that 'cute.copy' at k.mlir"),
    "no barrier": (BASE, f"  {BARRIER}\n", "",
                   "race on shared memory: this read and the write by 'cute.copy' at k.mlir"),
    "c written after the fence": (BASE, FENCE, FENCE + "  cute.copy(%pc, %fc)\n",
                                  "registers of operand C that were written after the last"),
    "a written after the fence": (FROM_REGISTERS, FENCE, FENCE + "  cute.copy(%pa, %fa)\n",
                                  "registers of operand A that were written after the last"),
    "a overwritten": (FROM_REGISTERS, GEMM, GEMM + "  cute.copy(%pa, %fa)\n",
                      "overwrites registers of operand A of 'cute.gemm' at k.mlir"),
    "b overwritten": (BASE, GEMM, GEMM + "  scf.if %low {\n    %s = cute.slice(%sb, %at)\n"
                      "    %g = cute.slice(%b, %at)\n    cute.copy(%g, %s)\n  }\n",
                      "write of shared memory that 'cute.gemm' at k.mlir"),
    "c read in flight": (BASE, GEMM, GEMM + "  cute.copy(%fc, %pc)\n",
                         "accesses an accumulator of 'cute.gemm' at k.mlir"),
    "c written in flight": (BASE, GEMM, GEMM + "  cute.fill(%fc, %zero)\n",
                            "accesses an accumulator of 'cute.gemm' at k.mlir"),
    "in flight at the end": (BASE, WAIT + "  cute.copy(%fc, %pc)", "",
                             "ends the kernel while 'cute.gemm' at k.mlir"),
    "half a warpgroup": (BASE, GEMM, "  scf.if %low {\n  " + GEMM + "  }\n",
                         "needs all 128 threads of a warpgroup, and 64 execute it"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAULTS)
def test_faults_of_wgmmas(case: str) -> None:
    text, before, after, words = FAULTS[case]
    assert text.count(before) == 1
    with pytest.raises(tw.ExecutionError) as caught:
        run(text.replace(before, after), *operands(), threads=128, name="k.mlir")
    assert words in str(caught.value)


def operands() -> list[np.ndarray]:
    return [matrix(64, 64, "bf16", 1), matrix(64, 64, "bf16", 2), matrix(64, 64, "f32", 3)]


def test_wgmmas_accumulate_in_flight() -> None:
    text = BASE.replace(GEMM, GEMM + "  cute_nvgpu.wgmma.commit_group\n" + GEMM)
    a, b, c = operands()
    found = run(text, a, b, c, threads=128)[2]
    np.testing.assert_array_equal(found, c + 2 * (a.astype(np.float32) @ b.astype(np.float32).T))
