"""On sm_75 `ldmatrix` wants valid addresses of all threads. PTX ISA 9.7.14.5.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw

# Threads from 8 on name no row, and places far beyond the tile.
TEXT = """
!s = memref<32x8xf16, #cute<space smem>>
func.func @k(%x: memref<32x8xf16>, %y: memref<64xf16>) attributes {gpu.kernel} {
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %s = memref.alloc() : !s
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.load %x[%t, %i] : memref<32x8xf16>
    memref.store %v, %s[%t, %i] : !s
  }
  "gpu.barrier"() : () -> ()
  %far = arith.muli %t, %c8 : index
  %near = arith.remui %t, %c8 : index
  %p = arith.cmpi ult, %t, %c8 : index
  %row = arith.select %p, %near, %far : index
  %f = cute_nvgpu.ldmatrix %s[%row, %c0] : !s -> !cute_nvgpu.fragment<2xf16>
  %a = cute_nvgpu.fragment.extract %f[1] : !cute_nvgpu.fragment<2xf16> -> f16
  memref.store %a, %y[%t] : memref<64xf16>
  func.return
}
"""
X = np.arange(256, dtype=np.float16).reshape(32, 8)


def run(text: str, level: Any, arch: str) -> Any:
    args = [X, np.zeros(64, np.float16)]
    return tw.interpret(text, grid=(1,), block=(32,), args=args, level=level, arch=arch)[1]


@pytest.mark.parametrize("arch", ["sm_75", "sm_80"])
def test_the_lowering_gives_other_threads_a_valid_address(arch: str):
    expected = X[:8].reshape(-1)[1::2]
    for level in ("atom", "ptx"):
        np.testing.assert_array_equal(run(TEXT, level, arch)[:32], expected)


def test_others_need_no_guard(ptxas: Any):
    text = {arch: tw.compile(TEXT, arch).ptx for arch in ("sm_75", "sm_80")}
    assert "laneid" in text["sm_75"] and "laneid" not in text["sm_80"]
    for arch, ptx in text.items():
        ptxas(ptx, arch)


def test_ptx_without_the_guard_is_refused():
    module = str(tw.pipeline.lower(TEXT, "sm_80")[0])
    with pytest.raises(tw.ExecutionError, match="valid addresses from all threads on sm_75, got"):
        run(module, "ptx", "sm_75")
