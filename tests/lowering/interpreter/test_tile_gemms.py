"""Gemms of the tile level: whether C counts, numerics, and what orders wgmmas."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tile_gemm_kernels import matrix, register_kernel, warpgroup_kernel
from tile_kernels import run
from tile_levels import BARRIER

import tilewright as tw


@pytest.mark.parametrize("flag", [True, False])
def test_what_does_not_count_may_be_anything(flag: bool):
    row = ("sm80", (16, 8, 16), "f16", "f16", "f32")
    text = register_kernel(row, "", 16, 8, 32)
    text = text.replace(
        "cute.gemm(%mma, %fc, %fa, %fb, %fc)",
        f"%flag = arith.constant {str(flag).lower()}\n"
        "  cute.gemm(%mma, %fc, %fa, %fb, %fc) accumulate %flag",
    )
    a, b, c = matrix(16, 32, "f16", 1), matrix(8, 32, "f16", 2), matrix(16, 8, "f32", 3)
    expected = a.astype(np.float32) @ b.astype(np.float32).T + (c if flag else 0)
    assert_array_equal(run(text, a, np.asfortranarray(b), c)[2], expected)
    unwritten = text.replace("  cute.copy(%pc, %fc)\n", "")
    args = (a, np.asfortranarray(b), c)
    if flag:
        with pytest.raises(tw.ExecutionError, match="that nothing has written"):
            run(unwritten, *args)
    else:
        assert_array_equal(run(unwritten, *args)[2], expected)


def test_each_warp_decides_whether_c_counts():
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
    assert_array_equal(found, expected)


def test_numerics_are_those_of_the_chip():
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
def test_faults_of_wgmmas(case: str):
    text, before, after, words = FAULTS[case]
    assert text.count(before) == 1
    with pytest.raises(tw.ExecutionError) as caught:
        run(text.replace(before, after), *operands(), threads=128, name="k.mlir")
    assert words in str(caught.value)


def operands() -> list[np.ndarray]:
    return [matrix(64, 64, "bf16", 1), matrix(64, 64, "bf16", 2), matrix(64, 64, "f32", 3)]


def test_wgmmas_accumulate_in_flight():
    text = BASE.replace(GEMM, GEMM + "  cute_nvgpu.wgmma.commit_group\n" + GEMM)
    a, b, c = operands()
    found = run(text, a, b, c, threads=128)[2]
    assert_array_equal(found, c + 2 * (a.astype(np.float32) @ b.astype(np.float32).T))
