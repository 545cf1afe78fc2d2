"""Clusters of CTAs, and pairs of them that share what one thread does with tensor memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from faults import line_of
from numpy.testing import assert_array_equal
from run_levels import LEVELS
from tmem_kernels import AFTER, BARRIERS, BEFORE, CELLS, HEAD, RETRIEVE, SLOT, SMEM, WAIT_LOAD

import tilewright as tw
from tilewright.source.diagnostic import CompileError, ExecutionError

pytestmark = pytest.mark.usefixtures("unchecked")

CLUSTER_SYNC = "cute_nvgpu.cluster.arrive\n  cute_nvgpu.cluster.wait"
ALLOC = f"cute_nvgpu.tmem.alloc %slot[%c0] columns 256 cta_group 2 : {SLOT}"
DEALLOC = f"cute_nvgpu.tmem.dealloc %m cta_group 2 : {CELLS}"
TILE = f"memref<32x4xi32, {SMEM}>"
VIEW = '!cute_nvgpu.smem_desc_view<32x4xi32, tcgen05, "(32,4):(4,1)">'
COPY = (
    f"cute_nvgpu.tmem.copy %d to %m[%c0, %c0] shape 32x128b warpx4 cta_group 2 : {VIEW} to {CELLS}"
)
COMMIT = f"cute_nvgpu.tcgen05.commit %b[%c0] multicast %both cta_group 2 : {BARRIERS}"
WAIT = f"cute_nvgpu.mbarrier.wait %b[%c0] parity %even : {BARRIERS}"
F = "!cute_nvgpu.fragment<4xi32>"


def kernel(body: str, arguments: str, cluster: str = "2, 1, 1") -> str:
    attributes = f"gpu.kernel, gpu.known_cluster_size = array<i32: {cluster}>"
    head = f"func.func @k({arguments}) attributes {{{attributes}}} {{"
    rank = "  %rank = cute_nvgpu.cluster.rank\n  %lead = arith.cmpi eq, %rank, %even : i32\n"
    return f"{head}\n{HEAD}{rank}{body}\n  func.return\n}}"


def run(text: str, *args: Any, grid: tuple[int, ...] = (4,), level: str) -> list[np.ndarray]:
    launch: dict[str, Any] = {"grid": grid, "block": (128,), "arch": "sm_100a", "level": level}
    return tw.interpret(text, args=list(args), name="faults.mlir", **launch)


def both(text: str, *args: Any, **launch: Any) -> list[np.ndarray]:
    found = [run(text, *args, level=level, **launch) for level in LEVELS]
    for one, other in zip(*found, strict=True):
        assert_array_equal(one, other)
    return found[0]


def bad(text: str, *words: str, **launch: Any) -> None:
    line = line_of(text, "// HERE")
    for level in LEVELS:
        with pytest.raises(ExecutionError) as caught:
            run(text, np.zeros(64, np.int32), level=level, **launch)
        assert f"faults.mlir:{line}:" in str(caught.value)
        for word in words:
            assert word in str(caught.value)


@pytest.mark.parametrize(
    "cluster, grid", [("2, 1, 1", (4, 2, 1)), ("1, 2, 1", (2, 4, 1)), ("2, 2, 2", (4, 2, 2))]
)
def test_ranks(cluster: str, grid: tuple[int, int, int]):
    """x fastest within the cluster, whatever the shape."""
    body = """  %x = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %y = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %z = "gpu.block_id"() <{dimension = #gpu<dim z>}> : () -> index
  memref.store %rank, %p[%z, %y, %x] : memref<2x4x4xi32>"""
    text = kernel(body, "%p: memref<2x4x4xi32>", cluster)
    [found] = both(text, np.full((2, 4, 4), -1, np.int32), grid=grid)
    cx, cy, cz = map(int, cluster.split(","))
    for z in range(grid[2]):
        for y in range(grid[1]):
            for x in range(grid[0]):
                assert found[z, y, x] == x % cx + cx * (y % cy + cy * (z % cz))


def test_arriving_at_the_mbarrier_of_another_cta():
    """CTA 1 tells CTA 0, which waits; the cluster's barrier keeps CTA 0's mbarrier alive."""
    body = f"""
  scf.if %first {{
    cute_nvgpu.mbarrier.init %b[%c0] count 1 : {BARRIERS}
    cute_nvgpu.fence.mbarrier_init
  }}
  {CLUSTER_SYNC}
  scf.if %lead {{
    {WAIT}
    memref.store %rank, %p[%c0] : memref<64xi32>
  }} else {{
    scf.if %first {{
      cute_nvgpu.cluster.mbarrier_arrive %b[%c0] rank %even : {BARRIERS}
    }}
  }}
  {CLUSTER_SYNC}"""
    both(kernel(body, "%p: memref<64xi32>"), np.full(64, -1, np.int32), grid=(2,))


def pair(copy: str = COPY, commit: str = COMMIT, wait: str = WAIT, after: str = AFTER) -> str:
    """One thread of the leading CTA copies each CTA's shared memory to its tensor memory."""
    return f"""
  %both = arith.constant 3 : i16
  %four = arith.constant 4 : index
  %s = memref.alloc() : {TILE}
  %block = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %number = arith.index_cast %block : index to i32
  scf.if %leads {{
    {ALLOC}
    cute_nvgpu.tmem.relinquish_alloc_permit cta_group 2
  }}
  scf.if %first {{
    cute_nvgpu.mbarrier.init %b[%c0] count 1 : {BARRIERS}
    cute_nvgpu.fence.mbarrier_init
  }}
  scf.if %low {{
    scf.for %j = %c0 to %four step %c1 {{
      memref.store %number, %s[%t, %j] : {TILE}
    }}
  }}
  cute_nvgpu.fence.proxy.async
  {BEFORE}
  {CLUSTER_SYNC}
  {AFTER}
  {RETRIEVE}
  scf.if %lead {{
    scf.if %first {{
      %d = cute_nvgpu.make_smem_desc %s[%c0, %c0] : {TILE} -> {VIEW}
      {copy}
      {commit}
    }}
  }}
  {wait}
  {after}
  %f = cute_nvgpu.tmem.load %m[%row, %c0] shape 32x32b : {CELLS} -> {F} // HERE
  {WAIT_LOAD}
  %x = cute_nvgpu.fragment.extract %f[3] : {F} -> i32
  memref.store %x, %p[%block, %t] : memref<4x128xi32>
  {BEFORE}
  {CLUSTER_SYNC}
  {AFTER}
  scf.if %leads {{
    {DEALLOC}
  }}"""


def test_pairs_copy():
    """Each CTA's tensor memory gets its own shared memory, both by one thread's copy."""
    text = kernel(pair(), "%p: memref<4x128xi32>")
    [found] = both(text, np.full((4, 128), -1, np.int32))
    assert_array_equal(found, np.repeat(np.arange(4), 128).reshape(4, 128))


def fault_of(text: str, *words: str) -> None:
    line = line_of(text, "// HERE")
    for level in LEVELS:
        with pytest.raises(ExecutionError) as caught:
            run(text, np.full((4, 128), -1, np.int32), level=level)
        assert f"faults.mlir:{line}:" in str(caught.value), str(caught.value)
        for word in words:
            assert word in str(caught.value), str(caught.value)


def test_the_other_cta_waits_and_fences_too():
    arguments = "%p: memref<4x128xi32>"
    fault_of(kernel(pair(after=""), arguments), "no tcgen05.fence.after_thread_sync follows")
    fault_of(kernel(pair(wait=""), arguments), "no wait for the mbarrier of its tcgen05.commit")


def test_a_commit_without_multicast_reaches_one_cta():
    alone = COMMIT.replace("multicast %both ", "")
    text = kernel(pair(commit=alone, wait=f"{WAIT} // HERE").replace(f"{F} // HERE", F),
                  "%p: memref<4x128xi32>")  # fmt: skip
    fault_of(text, "deadlock")


def test_an_allocation_waits_for_the_pair():
    body = f"""
  scf.if %lead {{
    scf.if %leads {{
      {ALLOC} // HERE
    }}
  }}"""
    text = kernel(body, "%p: memref<64xi32>")
    bad(text, "no warp of the pair's other CTA asks for them too", grid=(2,))


def test_a_pair_asks_for_the_same():
    half = ALLOC.replace("256", "128")
    body = f"""
  scf.if %leads {{
    scf.if %lead {{
      {ALLOC}
    }} else {{
      {half} // HERE
    }}
  }}"""
    bad(
        kernel(body, "%p: memref<64xi32>"),
        "expected 256 columns, as in the pair's other CTA",
        grid=(2,),
    )


def test_the_barrier_of_the_cluster():
    missing = """
  scf.if %lead {
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait // HERE
  }"""
    bad(kernel(missing, "%p: memref<64xi32>"), "deadlock: 128 of 256 threads", grid=(2,))
    alone = "  cute_nvgpu.cluster.wait // HERE"
    bad(kernel(alone, "%p: memref<64xi32>"), "without having arrived", grid=(2,))
    twice = """
  scf.if %lead {
    cute_nvgpu.cluster.arrive
    cute_nvgpu.cluster.arrive // HERE
  }"""
    bad(kernel(twice, "%p: memref<64xi32>"), "twice in one phase", grid=(2,))


def test_a_rank_outside_of_the_cluster():
    body = f"""
  %two = arith.constant 2 : i32
  scf.if %first {{
    cute_nvgpu.cluster.mbarrier_arrive %b[%c0] rank %two : {BARRIERS} // HERE
  }}"""
    bad(kernel(body, "%p: memref<64xi32>"), "expected a rank below 2", grid=(2,))


def test_clusters_of_a_launch():
    text = kernel("", "%p: memref<64xi32>")
    with pytest.raises(ExecutionError, match="expected a grid of whole clusters"):
        run(text, np.zeros(64, np.int32), grid=(3,), level="atom")
    text = kernel("", "%p: memref<64xi32>", "3, 3, 1")
    with pytest.raises(CompileError, match="a cluster of at most 8 CTAs, got 9: 3x3x1"):
        run(text, np.zeros(64, np.int32), grid=(9, 9), level="atom")
