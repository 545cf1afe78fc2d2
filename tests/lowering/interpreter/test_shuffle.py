"""Values of other lanes at both levels, and sums that butterflies make of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fragment_kernels import LANE, both
from numpy.testing import assert_array_equal
from run_levels import at_levels

import tilewright as tw

THREADS = 96


def kernel(body: str, type_: str = "i32") -> str:
    memory = f"memref<?x{type_}>"
    return f"""func.func @k(%in: {memory}, %out: {memory}) attributes {{gpu.kernel}} {{
{LANE}  %x = memref.load %in[%t] : {memory}
{body}
  memref.store %y, %out[%t] : {memory}
  func.return
}}"""


def result(text: str, given: np.ndarray) -> np.ndarray:
    return both(text, [given, np.zeros_like(given)], block=(THREADS,))[1]


@pytest.mark.parametrize("mode", ["bfly", "idx"])
@pytest.mark.parametrize("lane", [0, 1, 5, 16, 31])
def test_shuffle(mode: str, lane: int):
    given = np.random.default_rng(lane).integers(0, 1 << 31, THREADS).astype(np.int32)
    found = result(kernel(f"  %y = cute_nvgpu.shfl.sync {mode} %x, {lane} : i32"), given)
    own = np.arange(32)
    source = own ^ lane if mode == "bfly" else np.full(32, lane)
    assert_array_equal(found.reshape(-1, 32), given.reshape(-1, 32)[:, source])


def test_a_butterfly_sums_the_warp():
    body = ["  %s0 = arith.addf %x, %x : f32"]
    for step in range(5):
        body += [
            f"  %o{step} = cute_nvgpu.shfl.sync bfly %s{step}, {1 << step} : f32",
            f"  %s{step + 1} = arith.addf %s{step}, %o{step} : f32",
        ]
    body.append("  %y = arith.negf %s5 : f32")
    given = np.arange(THREADS, dtype=np.float32)
    found = result(kernel("\n".join(body), "f32"), given)
    assert_array_equal(found, np.repeat(-2 * given.reshape(-1, 32).sum(axis=1), 32))


@pytest.mark.usefixtures("unchecked")
@at_levels()
def test_of_part_of_a_warp(level: Any):
    text = kernel("""  %c3 = arith.constant 3 : index
  %low = arith.cmpi ult, %t, %c3 : index
  %y = scf.if %low -> (i32) {
    %z = cute_nvgpu.shfl.sync bfly %x, 1 : i32
    scf.yield %z : i32
  } else {
    scf.yield %x : i32
  }""")
    given = np.zeros(THREADS, np.int32)
    with pytest.raises(tw.ExecutionError, match=r"shfl\.sync\.bfly\.b32 .* lane 3 executes"):
        tw.interpret(
            text, args=[given, given], grid=(1,), block=(THREADS,), level=level, arch="sm_90"
        )


def test_the_text_assembles(ptxas: Any):
    kernel_ = tw.compile(kernel("  %y = cute_nvgpu.shfl.sync bfly %x, 4 : i32"), "sm_75")
    report = ptxas(kernel_.ptx, "sm_75")
    assert report.clean, report.output
