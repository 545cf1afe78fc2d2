"""`cute.gemm` on other atoms than the examples', fed by copies of threads: equal bits at every
level, and NumPy's product."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tile_levels import BARRIER, kernel, memref, multiplied, run

import tilewright as tw

DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32, "f64": np.float64,
    "f32": np.float32, "si8": np.int8, "i32": np.int32,
}  # fmt: skip
HELD = {"tf32": "f32", "si8": "i8"}
WARPS = [
    ("sm80", (16, 8, 8), "bf16", "f32"), ("sm80", (16, 8, 8), "tf32", "f32"),
    ("sm80", (8, 8, 4), "f64", "f64"), ("sm80", (16, 8, 32), "si8", "i32"),
]  # fmt: skip


def integers(shape: tuple[int, int], dtype: Any, seed: int) -> np.ndarray:
    """Small ones, of which every sum is exact."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(dtype)


@pytest.mark.parametrize("tier, shape, ab, c", WARPS, ids=lambda each: str(each))
def test_atoms_of_warps(tier: str, shape: tuple[int, int, int], ab: str, c: str):
    """Two warps along M, two atoms along N, two steps of K; A and B from global memory."""
    m, n, k = 2 * shape[0], 2 * shape[1], 2 * shape[2]
    held = HELD.get(ab, ab)
    mma = (
        f"!cute.tiled_mma<!cute_nvgpu.{tier}.mma<{'x'.join(map(str, shape))}, "
        f'elem_type = ({ab}, {ab}, {c})>, atom_layout_MNK = "(2,1,1):(1,0,0)">'
    )
    text = kernel(
        f"%a: {memref(held, 'gmem', f'({m},{k}):({k},1)', 16)}, "
        f"%b: {memref(held, 'gmem', f'({n},{k}):({k},1)', 16)}, "
        f"%c: {memref(c, 'gmem', f'({m},{n}):({n},1)', 16)}",
        multiplied(mma),
        threads=64,
    )
    a, b = integers((m, k), DTYPES[ab], 0), integers((n, k), DTYPES[ab], 1)
    start = integers((m, n), DTYPES[c], 2)
    found = run(text, a, b, start, threads=64)[2]
    expected = start + a.astype(np.float64) @ b.astype(np.float64).T
    assert_array_equal(found.astype(np.float64), expected)


FMAS = {"f32": (1, "f32"), "f64": (1, "f64"), "f16": (2, "f16x2"), "bf16": (2, "bf16x2")}


@pytest.mark.parametrize("element", FMAS)
def test_the_fma_of_each_thread(element: str):
    """16 threads along M, 2 along N, each with two rows or pairs of rows, four columns, three K."""
    rows, form = FMAS[element]
    m, n, k = 32 * rows, 8, 3
    mma = (
        f"!cute.tiled_mma<!cute_nvgpu.universal_fma<{rows}x1x1, elem_type = ({element}, {element}, "
        f'{element})>, atom_layout_MNK = "(16,2,1):(1,16,0)">'
    )
    text = kernel(
        f"%a: {memref(element, 'gmem', f'({m},{k}):(1,{m})', 16)}, "
        f"%b: {memref(element, 'gmem', f'({n},{k}):({k},1)')}, "
        f"%c: {memref(element, 'gmem', f'({m},{n}):(1,{m})', 16)}",
        multiplied(mma),
    )
    dtype = DTYPES[element]
    a, b, c = (
        np.asarray(integers(shape, dtype, seed), order=order)
        for seed, (shape, order) in enumerate((((m, k), "F"), ((n, k), "C"), ((m, n), "F")))
    )
    found = run(text, a, b, c)[2]
    expected = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64).T
    assert_array_equal(found.astype(np.float64), expected)
    assert f"fma.rn.{form}" in tw.compile(text, "sm_80").ptx


def test_fma_rounds_once():
    """1 + 2^-9 squared and minus itself: no product is rounded on the way."""
    text = """func.func @k(%x: memref<2xBF>, %y: memref<2xBF>) attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %a = cute_nvgpu.fragment.load %x[%c0] : memref<2xBF> -> !cute_nvgpu.fragment<2xBF>
  %c = cute_nvgpu.fragment.load %y[%c0] : memref<2xBF> -> !cute_nvgpu.fragment<2xBF>
  %d = cute_nvgpu.fragment.fma %a, %a, %c : !cute_nvgpu.fragment<2xBF>
  cute_nvgpu.fragment.store %d, %y[%c0] : !cute_nvgpu.fragment<2xBF>, memref<2xBF>
  func.return
}"""
    for element, dtype in (("f16", np.float16), ("bf16", ml_dtypes.bfloat16)):
        x = np.array([1.0078125, 3.015625], dtype)
        y = -(x.astype(np.float64) ** 2).astype(dtype)
        exact = x.astype(np.float64) ** 2 + y.astype(np.float64)
        assert (exact != 0).any()
        for level in ("atom", "ptx"):
            found = tw.interpret(
                text.replace("BF", element), args=[x, y], grid=(1,), block=(1,), arch="sm_80",
                level=level,
            )[1]  # fmt: skip
            assert_array_equal(found.astype(np.float64), exact)


@pytest.mark.parametrize("kind, majors", [("ss", ("k", "mn")), ("rs", ("k", "k"))])
def test_atoms_of_warpgroups(kind: str, majors: tuple[str, str]):
    """A from registers or shared memory, B of either major; C does not count in the first K."""
    along_k, along_mn = "S<3,3,3> o 0 o (64,64):(64,1)", "S<3,3,3> o 0 o (64,64):(1,64)"
    layout_b = along_k if majors[1] == "k" else along_mn
    mma = (
        "!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = (bf16, bf16, f32), "
        f"ab_major = ({', '.join(majors)}), frag_kind = {kind}>>"
    )
    gmem = memref("bf16", "gmem", "(64,64):(64,1)", 16)
    copy = (
        "!cute.tiled_copy<#cute_nvgpu.copy<universal, bf16, 16>, "
        'layout_tv = "((64,2),1):((1,64),0)", tiler_mn = "[64;2]">'
    )
    registers = "cute.copy(%pa, %fa)" if kind == "rs" else ""
    text = kernel(
        f"%a: {gmem}, %b: {gmem}, %c: {memref('f32', 'gmem', '(64,64):(64,1)', 16)}",
        f"""
  %sa = cute.memref.alloc() : {memref("bf16", "smem", along_k, 1024)}
  %sb = cute.memref.alloc() : {memref("bf16", "smem", layout_b, 1024)}
  %copy = cute.make_tiled_copy : {copy}
  %ga = cute.tiled.copy.partition_S(%copy, %a, %t)
  %gb = cute.tiled.copy.partition_S(%copy, %b, %t)
  %ta = cute.tiled.copy.partition_D(%copy, %sa, %t)
  %tb = cute.tiled.copy.partition_D(%copy, %sb, %t)
  cute.copy(%copy, %ga, %ta)
  cute.copy(%copy, %gb, %tb)
  cute_nvgpu.fence.proxy.async
  {BARRIER}
  %mma = cute.make_tiled_mma : {mma}
  %pa = cute.tiled.mma.partition A (%mma, {"%a" if kind == "rs" else "%sa"}, %t)
  %pb = cute.tiled.mma.partition B (%mma, %sb, %t)
  %pc = cute.tiled.mma.partition C (%mma, %c, %t)
  %fa = cute.mma.make_fragment A (%mma, %pa)
  %fb = cute.mma.make_fragment B (%mma, %pb)
  %fc = cute.mma.make_fragment C (%mma, %pc)
  {registers}
  cute.fill(%fc, %one)
  cute_nvgpu.wgmma.fence
  cute.gemm(%mma, %fc, %fa, %fb, %fc) accumulate %no
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
  cute.copy(%fc, %pc)""",
        threads=128,
    ).replace(
        "  %zero =", "  %one = arith.constant 1.0 : f32\n  %no = arith.constant false\n  %zero ="
    )
    a, b = (integers((64, 64), DTYPES["bf16"], seed) for seed in (0, 1))
    found = run(text, a, b, np.zeros((64, 64), np.float32), threads=128)[2]
    assert_array_equal(found, a.astype(np.float64) @ b.astype(np.float64).T)
