"""TMA loads to several CTAs of a cluster, and those whose bytes one CTA of a pair counts, at both
levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_levels import at_levels

import tilewright as tw

MAP = "!cute_nvgpu.tma_descriptor<8x16xf32>"
TILE = "memref<2x8x16xf32, #cute<space smem>>"
BARRIER = "memref<1xi64, #cute<space smem>>"
SYNC = "cute_nvgpu.cluster.arrive\n  cute_nvgpu.cluster.wait"


HEAD = """
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %even = arith.constant 0 : i32
  %mask = arith.trunci %mask32 : i32 to i16
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  %rank32 = cute_nvgpu.cluster.rank
  %rank = arith.index_cast %rank32 : i32 to index
  %row = arith.muli %rank, %c8 : index
"""


def kernel(bytes_: int = 1024, made: str = SYNC, waits: str = "") -> str:
    """CTA r of each cluster of two loads box r of the tensor to stage r of those whose bits its
    mask has; each CTA then writes its stages, where it waited for them, to rows of its own."""
    waits = waits or f"cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : {BARRIER}"
    return f"""func.func @k(%from: {MAP}, %out: memref<?x2x8x16xf32>, %mask32: i32)
    attributes {{gpu.kernel, gpu.known_cluster_size = array<i32: 2, 1, 1>}} {{
{HEAD}  %s = memref.alloc() : {TILE}
  %bar = memref.alloc() : {BARRIER}
  scf.if %first {{
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : {BARRIER}
    cute_nvgpu.fence.mbarrier_init
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes {bytes_} : {BARRIER}
  }}
  {made}
  scf.if %first {{
    cute_nvgpu.tma.load %from[%row, %c0] to %s[%rank, %c0, %c0] mbarrier %bar[%c0] multicast %mask
      : {MAP} to {TILE}, {BARRIER}
  }}
  {waits}
  %stage = arith.divui %t, %c8 : index
  %r = arith.remui %t, %c8 : index
  %c1 = arith.constant 1 : index
  %some = arith.cmpi ult, %t, %c16 : index
  scf.if %some {{
  scf.for %j = %c0 to %c16 step %c1 {{
    %v = memref.load %s[%stage, %r, %j] : {TILE}
    memref.store %v, %out[%block, %stage, %r, %j] : memref<?x2x8x16xf32>
  }}
  }}
  {SYNC}
  func.return
}}"""


def run(text: str, level: str, mask: int = 3, ctas: int = 4, arch: str = "sm_90a") -> np.ndarray:
    tensor = np.arange(256, dtype=np.float32).reshape(16, 16)
    out = np.full((ctas, 2, 8, 16), -1, np.float32)
    args = [tw.TensorMap(tensor, box=(8, 16)), out, mask]
    return tw.interpret(text, grid=(ctas,), block=(32,), args=args, level=level, arch=arch)[1]  # type: ignore[arg-type]


@at_levels()
def test_each_cta_of_the_mask_gets_the_box(level: str):
    """Both get both boxes, each in the sender's place, and both mbarriers count all bytes."""
    expected = np.arange(256, dtype=np.float32).reshape(2, 8, 16)
    np.testing.assert_array_equal(run(kernel(), level), np.stack([expected] * 4))


FAULTS: dict[str, tuple[dict[str, Any], int, str]] = {
    "a mask beyond the cluster": ({}, 5, r"a mask of some of the 2 CTAs of the cluster, got 0b101"),
    "nobody": ({}, 0, r"expected a mask of some of the 2 CTAs of the cluster, got 0b0"),
    "too few bytes": ({}, 1, "deadlock: .* threads wait for phase 0"),
    "before the mbarriers are known": (
        {"made": '"gpu.barrier"() : () -> ()'}, 3, "race on shared memory|no mbarrier.init has",
    ),
    "no wait": ({"waits": '"gpu.barrier"() : () -> ()'}, 3, "ordered by no wait for the mbarrier"),
}  # fmt: skip


@pytest.mark.usefixtures("unchecked")
@at_levels()
@pytest.mark.parametrize("case", FAULTS)
def test_faults(case: str, level: str):
    changes, mask, words = FAULTS[case]
    with pytest.raises(tw.ExecutionError, match=words):
        run(kernel(**changes), level, mask, ctas=2)


def pairs(ctas: int = 2, rank: str = "%even", wait: str = "") -> str:
    """Each CTA of a cluster loads its own box, whose bytes the mbarrier of a CTA counts; all write
    what they have once that one has waited."""
    wait = wait or f"cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : {BARRIER}"
    return f"""func.func @k(%from: {MAP}, %out: memref<?x2x8x16xf32>, %mask32: i32)
    attributes {{gpu.kernel, gpu.known_cluster_size = array<i32: {ctas}, 1, 1>}} {{
{HEAD}  %s = memref.alloc() : {TILE}
  %bar = memref.alloc() : {BARRIER}
  %leads = arith.cmpi eq, %rank32, {rank} : i32
  scf.if %first {{
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : {BARRIER}
    cute_nvgpu.fence.mbarrier_init
    scf.if %leads {{
      cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes {512 * ctas} : {BARRIER}
    }}
  }}
  {SYNC}
  scf.if %first {{
    cute_nvgpu.tma.load %from[%row, %c0] to %s[%c0, %c0, %c0] mbarrier %bar[%c0] rank {rank}
      : {MAP} to {TILE}, {BARRIER}
  }}
  scf.if %leads {{
    {wait}
  }}
  {SYNC}
  %some = arith.cmpi ult, %t, %c8 : index
  %c1 = arith.constant 1 : index
  scf.if %some {{
  scf.for %j = %c0 to %c16 step %c1 {{
    %v = memref.load %s[%c0, %t, %j] : {TILE}
    memref.store %v, %out[%block, %c0, %t, %j] : memref<?x2x8x16xf32>
  }}
  }}
  {SYNC}
  func.return
}}"""


@at_levels()
def test_one_cta_counts_the_bytes_of_a_pair(level: str):
    found = run(pairs(), level, ctas=2, arch="sm_100a")[:, 0]
    np.testing.assert_array_equal(found, np.arange(256, dtype=np.float32).reshape(2, 8, 16))


@pytest.mark.usefixtures("unchecked")
@at_levels()
@pytest.mark.parametrize(
    "changes, words",
    [
        ({"ctas": 4}, "expected an mbarrier of the pair of CTAs that copies, got one of CTA 0"),
        ({"wait": "cute_nvgpu.fence.mbarrier_init"}, "ordered by no wait for the mbarrier"),
    ],
)
def test_faults_of_pairs(changes: dict[str, Any], words: str, level: str):
    with pytest.raises(tw.ExecutionError, match=words):
        run(pairs(**changes), level, ctas=4, arch="sm_100a")


def test_the_text_assembles(ptxas: Any):
    for arch in ("sm_90a", "sm_100a"):
        report = ptxas(tw.compile(kernel(), arch).ptx, arch)
        assert report.clean, report.output
    assert ptxas(tw.compile(pairs(), "sm_100a").ptx, "sm_100a").clean
