"""Copies that read or write global memory until somebody waits for them: who accesses it before is
in a race, and on a schedule in which they land late the data show it."""

from __future__ import annotations

from typing import Any

import pytest
from faults import TILE, P, fault, kernel, run
from run_levels import LEVELS, at_levels
from test_mbarriers import BOX, EXPECT, LOAD, TENSOR, WAIT, args, made
from test_mbarriers import STORE as STORE_BOX

BARRIER = '"gpu.barrier"() : () -> ()'
SEEDS = range(6)

# Threads copy elements of %p, which another thread then overwrites.
CP_ASYNC = f"""  %c4 = arith.constant 4 : index
  %c60 = arith.constant 60 : index
  %c12 = arith.constant 12 : index
  %few = arith.cmpi ult, %t, %c4 : index
  %to = arith.muli %t, %c4 : index
  scf.if %few {{
    cute_nvgpu.cp.async %p[%to] to %s[%to] size 16 cache ca : memref<?xi32> to {TILE} // OTHER
    cute_nvgpu.cp.async.commit_group
    EARLY
  }}
  {BARRIER}
  scf.if %first {{
    memref.store %one, %p[%c4] : memref<?xi32> // HERE
  }}
  cute_nvgpu.cp.async.wait_group 0
  {BARRIER}
  %v = memref.load %s[%c4] : memref<64xi32, #cute<space smem>>
  scf.if %first {{
    memref.store %v, %p[%c60] : memref<?xi32>
  }}"""


def test_a_write_over_what_a_cp_async_reads():
    fault(CP_ASYNC.replace("EARLY", ""), "memref.store", "race on global memory",
          "this write and the read by", "which no cp.async.wait_group has compl")  # fmt: skip
    waited = kernel(CP_ASYNC.replace("EARLY", "cute_nvgpu.cp.async.wait_group 0"))
    for level in LEVELS:
        for seed in (None, 0):
            assert run(waited, level, [P], schedule=seed)[0][60] == 4


def test_a_write_by_a_thread_that_no_barrier_orders_behind_the_wait():
    body = CP_ASYNC.replace("EARLY", "cute_nvgpu.cp.async.wait_group 0").replace(BARRIER, "", 1)
    # Thread 63 runs behind the others, and after their wait.
    body = body.replace("scf.if %first {", "%last = arith.cmpi eq, %t, %c63 : index\n"
                        "  scf.if %last {", 1)  # fmt: skip
    fault(body, "memref.store", "this write and the read by", "ordered by nothing")


@at_levels()
def test_a_cp_async_that_lands_late_reads_late(level: Any):
    text = kernel(CP_ASYNC.replace("EARLY", ""))
    found = [run(text, level, [P], schedule=seed, races="ignore")[0][60] for seed in (None, *SEEDS)]
    assert found == [4] + [1] * len(SEEDS)


# One thread stores a box, all ones, over a tensor, which another copy then loads.
STORE = f"""  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %inside = arith.cmpi ult, %t, %c8 : index
  scf.if %inside {{
    scf.for %i = %c0 to %c16 step %c1 {{
      memref.store %one, %x[%t, %i] : {BOX}
    }}
    cute_nvgpu.fence.proxy.async
  }}
  {BARRIER}
  scf.if %first {{
    {STORE_BOX} // OTHER
    cute_nvgpu.cp.async.bulk.commit_group
    WAITS
  }}
  {BARRIER}
  %second = arith.cmpi eq, %t, %c32 : index
  scf.if WHO {{
    {EXPECT}
    {LOAD.replace("%x", "%y")} // HERE
  }}
  {WAIT}
  %v = memref.load %y[%c1, %c1] : {BOX}
  scf.if %first {{
    memref.store %v, %p[%c0] : memref<?xi32>
  }}"""
WAITS_ALL = "cute_nvgpu.cp.async.bulk.wait_group 0"
WAITS_READ = "cute_nvgpu.cp.async.bulk.wait_group 0 read"


def stored(waits: str, who: str = "%first") -> str:
    body = f"  %y = memref.alloc() : {BOX}\n" + STORE.replace("WAITS", waits).replace("WHO", who)
    return made(body)


@pytest.mark.parametrize("who", ["%first", "%second"])
def test_a_read_of_what_a_tma_store_is_writing(who: str):
    """A wait for what the copy reads says nothing of what it writes."""
    bad_text = stored(WAITS_READ, who)
    fault("", "cute_nvgpu.tma.load", "race on global memory: this read and the write by",
          "in thread 0, which no cp.async.bulk.wait_group has completed",
          text=bad_text, args=args())  # fmt: skip
    for level in LEVELS:
        for seed in (None, 1):
            assert run(stored(WAITS_ALL, who), level, args(), schedule=seed)[0][0] == 1


@at_levels()
def test_a_tma_store_that_lands_late(level: Any):
    """Where only the read is waited for, a copy sees what was there before."""
    for waits, expected in ((WAITS_READ, {1, int(TENSOR[1, 1])}), (WAITS_ALL, {1})):
        found = {
            int(run(stored(waits), level, args(), schedule=seed, races="ignore")[0][0])
            for seed in (None, *SEEDS)
        }
        assert found == expected, waits


def test_two_stores_of_a_thread_to_one_place():
    """Nothing orders copies of one thread but a wait for the first one."""
    again = STORE.replace("WAITS", f"BETWEEN\n    {STORE_BOX.replace('%x', '%y')} // HERE\n"
                          "    cute_nvgpu.cp.async.bulk.commit_group\n"
                          f"    {WAITS_ALL}").replace(" // HERE\n  }", "\n  }")  # fmt: skip
    fill = f"      memref.store %odd2, %y[%t, %i] : {BOX}\n"
    again = again.replace("    cute_nvgpu.fence.proxy.async", "FENCE", 1)
    again = again.replace("    }\nFENCE", f"{fill}    }}\n    cute_nvgpu.fence.proxy.async")
    head = f"  %y = memref.alloc() : {BOX}\n  %odd2 = arith.constant 7 : i32\n"
    text = made(head + again.replace("WHO", "%first"))
    fault("", "cute_nvgpu.tma.store", "this write and the write by", "wait_group has completed",
          text=text.replace("BETWEEN", ""), args=args())  # fmt: skip
    for level in LEVELS:
        assert run(text.replace("BETWEEN", WAITS_ALL), level, args())[0][0] == 7
