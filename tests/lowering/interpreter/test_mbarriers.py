"""mbarriers, and what must be said of kernels that use them or TMA wrongly, at both levels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from faults import P, fault, kernel, run
from numpy.testing import assert_array_equal
from run_levels import LEVELS

import tilewright as tw

B = "memref<2xi64, #cute<space smem>>"
MAP = "!cute_nvgpu.tma_descriptor<8x16xi32, swizzle = 64>"
SMEM = "#cute<space smem>"
BOX = f'memref<16x16xi32, !cute.composed_layout<"S<2,2,3> o 0 o (16,16):(16,1)">, {SMEM}>'
BARRIERS = f"""  %b = memref.alloc() : {B}
  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
"""
MAKE = f"""{BARRIERS}  scf.if %first {{
    cute_nvgpu.mbarrier.init %b[%c0] count {{count}} : {B}
    cute_nvgpu.mbarrier.init %b[%c1] count 1 : {B}
    cute_nvgpu.fence.mbarrier_init
  }}
  "gpu.barrier"() : () -> ()
"""
WAIT = f"cute_nvgpu.mbarrier.wait %b[%c0] parity %even : {B}"
ARRIVE = f"cute_nvgpu.mbarrier.arrive %b[%c0] : {B}"
EXPECT = f"cute_nvgpu.mbarrier.arrive.expect_tx %b[%c0] bytes 512 : {B}"
LOAD = f"cute_nvgpu.tma.load %m[%c0, %c0] to %x[%c0, %c0] mbarrier %b[%c0] : {MAP} to {BOX}, {B}"
STORE = f"cute_nvgpu.tma.store %x[%c0, %c0] to %m[%c0, %c0] : {BOX} to {MAP}"
READ = f"%v = memref.load %x[%c0, %c0] : {BOX}"
TENSOR = np.arange(32 * 32, dtype=np.int32).reshape(32, 32)


def made(body: str, count: int = 1) -> str:
    """A kernel with two mbarriers, a tensor map %m and a tile %x for its boxes."""
    head = MAKE.replace("{count}", str(count)) + f"  %x = memref.alloc() : {BOX}\n"
    return kernel(head + body, f"%p: memref<?xi32>, %m: {MAP}")


def args() -> list[Any]:
    return [P, tw.TensorMap(TENSOR, box=(8, 16), swizzle=64)]


def bad(body: str, op: str, *words: str, count: int = 1, **more: Any) -> None:
    fault("", op, *words, text=made(body, count), args=args(), **more)


def fine(body: str, count: int = 1, **launch: Any) -> list[np.ndarray]:
    found = [run(made(body, count), level, args(), **launch) for level in LEVELS]
    for a, b in zip(*found, strict=True):
        assert_array_equal(a, b)
    return found[0]


# What works


def test_warps_hand_data_on_through_phases():
    """Warp 1 waits for what warp 0 wrote, four times over, each phase by its parity."""
    fine(
        f"""  %c4 = arith.constant 4 : index
  scf.if %low {{
    scf.for %i = %c0 to %c4 step %c1 {{
      %r = arith.remui %i, %c2 : index
      %q = arith.index_cast %r : index to i32
      %p1 = arith.xori %q, %odd : i32
      cute_nvgpu.mbarrier.wait %b[%c1] parity %p1 : {B}
      %w = arith.index_cast %i : index to i32
      memref.store %w, %s[%t] : memref<64xi32, {SMEM}>
      {ARRIVE}
    }}
  }} else {{
    scf.for %i = %c0 to %c4 step %c1 {{
      %r = arith.remui %i, %c2 : index
      %q = arith.index_cast %r : index to i32
      cute_nvgpu.mbarrier.wait %b[%c0] parity %q : {B}
      %from = arith.subi %t, %c32 : index
      %v = memref.load %s[%from] : memref<64xi32, {SMEM}>
      %old = memref.load %p[%t] : memref<?xi32>
      %ten = arith.constant 10 : i32
      %up = arith.muli %old, %ten : i32
      %sum = arith.addi %up, %v : i32
      memref.store %sum, %p[%t] : memref<?xi32>
      cute_nvgpu.bar.warp.sync
      %lane = arith.cmpi eq, %from, %c0 : index
      scf.if %lane {{
        cute_nvgpu.mbarrier.arrive %b[%c1] : {B}
      }}
    }}
  }}""".replace("  %c4 =", "  %c2 = arith.constant 2 : index\n  %c4 =", 1),
        count=32,
    )


def test_counts():
    """Arrivals may count several, and the phase waits for all of them and for all bytes."""
    found = fine(
        f"""  scf.if %first {{
    cute_nvgpu.mbarrier.arrive %b[%c0] count 2 : {B}
    {EXPECT}
    {LOAD}
  }}
  {WAIT}
  {READ}
  memref.store %v, %p[%t] : memref<?xi32>""",
        count=3,
    )
    assert_array_equal(found[0], 0)


def test_what_one_warp_waited_for_a_barrier_hands_on():
    fine(f"""  scf.if %first {{
    {EXPECT}
    {LOAD}
  }}
  scf.if %low {{
    {WAIT}
  }}
  "gpu.barrier"() : () -> ()
  {READ}
  memref.store %v, %p[%t] : memref<?xi32>""")


def test_an_mbarrier_ends_and_another_begins():
    fine(f"""  scf.if %first {{
    {ARRIVE}
    {WAIT}
    cute_nvgpu.mbarrier.inval %b[%c0] : {B}
    cute_nvgpu.mbarrier.init %b[%c0] count 1 : {B}
    cute_nvgpu.fence.mbarrier_init
    {EXPECT}
    {LOAD}
    {WAIT}
    {READ}
  }}""")


def test_one_thread_is_elected():
    found = fine("""  %e = cute_nvgpu.elect.sync
  scf.if %e {
    memref.store %odd, %p[%t] : memref<?xi32>
  }""")[0]
    expected = P.copy()
    expected[[0, 32]] = 1
    assert_array_equal(found, expected)


# mbarriers that are none


def test_arriving_where_no_mbarrier_is():
    fault(
        f"{BARRIERS}  {ARRIVE} // HERE",
        "cute_nvgpu.mbarrier.arrive",
        "expected an mbarrier at byte 256 of shared memory, and no mbarrier.init has made one",
    )


def test_making_an_mbarrier_twice():
    bad(f"""  scf.if %first {{
    cute_nvgpu.mbarrier.init %b[%c0] count 1 : {B} // HERE
  }}""", "cute_nvgpu.mbarrier.init", "makes an mbarrier where", "nearest legal: mbarrier.inval",
        thread=(0, 0, 0))  # fmt: skip


def test_ending_an_mbarrier_by_more_than_one_thread():
    bad(f"""  "gpu.barrier"() : () -> ()
  cute_nvgpu.mbarrier.inval %b[%c0] : {B} // HERE""", "cute_nvgpu.mbarrier.inval",
        "other threads do; nearest legal: in a branch of one thread", thread=(1, 0, 0))  # fmt: skip


def test_an_mbarrier_that_not_all_know():
    fault(f"""{BARRIERS}  scf.if %first {{
    cute_nvgpu.mbarrier.init %b[%c0] count 64 : {B} // OTHER
  }}
  {ARRIVE} // HERE""", "cute_nvgpu.mbarrier.arrive", "race on shared memory",
          "ordered by no barrier", thread=(1, 0, 0))  # fmt: skip


def test_a_copy_that_does_not_see_the_mbarrier():
    text = made(f"""  scf.if %first {{
    {EXPECT}
    {LOAD} // HERE
  }}""").replace("    cute_nvgpu.fence.mbarrier_init\n", "")
    fault("", "cute_nvgpu.tma.load", "which copies do not see: no fence.mbarrier_init", text=text,
          args=args())  # fmt: skip
    ok = text.replace(EXPECT, "cute_nvgpu.fence.proxy.async\n" + EXPECT)
    for level in LEVELS:
        run(ok, level, args())


# Phases


def test_too_many_arrivals():
    bad(f"  cute_nvgpu.mbarrier.arrive %b[%c0] count 2 : {B} // HERE",
        "cute_nvgpu.mbarrier.arrive", "arrives 2 times at the mbarrier of",
        "whose phase 0 waits for 1 of 63 arrivals", count=63, thread=(31, 0, 0))  # fmt: skip


def test_deadlock_of_a_phase_that_nobody_completes():
    bad(f"""  {WAIT} // HERE""", "cute_nvgpu.mbarrier.wait",
        "deadlock: 64 threads wait for phase 0 of the mbarrier of",
        "which waits for 3 of 3 arrivals and 0 bytes", count=3)  # fmt: skip


def test_deadlock_for_bytes_that_do_not_come():
    bad(f"""  scf.if %first {{
    cute_nvgpu.mbarrier.arrive.expect_tx %b[%c0] bytes 1024 : {B}
    {LOAD}
  }}
  {WAIT} // HERE""", "cute_nvgpu.mbarrier.wait", "deadlock: 64 threads",
        "which waits for 0 of 1 arrivals and 512 bytes")  # fmt: skip


def test_deadlock_of_the_wrong_parity():
    bad(f"""  scf.if %first {{
    {ARRIVE}
    cute_nvgpu.mbarrier.wait %b[%c0] parity %odd : {B} // HERE
  }}""", "cute_nvgpu.mbarrier.wait", "deadlock: 1 threads wait for phase 1")  # fmt: skip


def test_a_parity_that_is_none():
    bad(f"""  %two = arith.constant 2 : i32
  cute_nvgpu.mbarrier.wait %b[%c0] parity %two : {B} // HERE""", "cute_nvgpu.mbarrier.wait",
        "expected parity 0 or 1, got 2")  # fmt: skip


def test_more_bytes_than_a_phase_counts():
    bad(f"""  scf.if %first {{
    cute_nvgpu.mbarrier.arrive.expect_tx %b[%c0] bytes 1048575 : {B}
    cute_nvgpu.mbarrier.arrive.expect_tx %b[%c0] bytes 1 : {B} // HERE
  }}""", "cute_nvgpu.mbarrier.arrive.expect_tx", "at most 1048575 bytes, got 1048576",
        count=2)  # fmt: skip


# What orders copies


def test_reading_before_the_phase_is_waited_for():
    bad(f"""  scf.if %first {{
    {EXPECT}
    {LOAD} // OTHER
    {READ} // HERE
  }}""", "memref.load", "race on shared memory: this read and the write by",
        "are ordered by no wait for the mbarrier that completes it", thread=(0, 0, 0))  # fmt: skip


def test_reading_after_another_mbarrier():
    bad(f"""  scf.if %first {{
    {EXPECT}
    {LOAD} // OTHER
    cute_nvgpu.mbarrier.arrive %b[%c1] : {B}
  }}
  cute_nvgpu.mbarrier.wait %b[%c1] parity %even : {B}
  {READ} // HERE""", "memref.load", "ordered by no wait for the mbarrier")  # fmt: skip


def test_a_phase_before_is_none_of_this():
    bad(f"""  scf.if %first {{
    {EXPECT}
    {LOAD}
  }}
  {WAIT}
  "gpu.barrier"() : () -> ()
  scf.if %first {{
    {EXPECT}
    {LOAD} // OTHER
  }}
  "gpu.barrier"() : () -> ()
  {READ} // HERE""", "memref.load", "ordered by no wait for the mbarrier")  # fmt: skip


def test_copying_over_what_others_read():
    bad(f"""  scf.if %first {{
    {EXPECT}
    {LOAD}
  }}
  {WAIT}
  {READ} // OTHER
  scf.if %first {{
    {EXPECT}
    {LOAD} // HERE
  }}""", "cute_nvgpu.tma.load", "this write and the read by", "ordered by no barrier",
        thread=(0, 0, 0))  # fmt: skip


# TMA stores

FILL = f"""  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %row = arith.divui %t, %c16 : index
  %column = arith.remui %t, %c16 : index
  %row4 = arith.addi %row, %c4 : index
  memref.store %odd, %x[%row, %column] : {BOX} // OTHER
  memref.store %odd, %x[%row4, %column] : {BOX}
"""
COMMIT = "cute_nvgpu.cp.async.bulk.commit_group"
DONE = "cute_nvgpu.cp.async.bulk.wait_group 0"
OVER = f"memref.store %even, %x[%c4, %c0] : {BOX}"


def test_storing_a_box():
    found = fine(f"""{FILL}
  cute_nvgpu.fence.proxy.async
  "gpu.barrier"() : () -> ()
  scf.if %first {{
    {STORE}
    {COMMIT}
    {DONE} read
    {OVER}
  }}""")[1]
    expected = TENSOR.copy()
    expected[:8, :16] = 1
    assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "order, words",
    [
        ('  "gpu.barrier"() : () -> ()', "no fence.proxy.async of its thread follows it"),
        ("  cute_nvgpu.fence.proxy.async", "race on shared memory"),
        (
            '  "gpu.barrier"() : () -> ()\n  cute_nvgpu.fence.proxy.async',
            "no barrier follows the fence.proxy.async of its thread",
        ),
    ],
)
def test_storing_what_the_copy_does_not_see(order: str, words: str):
    bad(f"""{FILL}{order}
  scf.if %first {{
    {STORE} // HERE
    {COMMIT}
    {DONE}
  }}""", "cute_nvgpu.tma.store", words)  # fmt: skip


def test_overwriting_what_a_copy_reads():
    bad(f"""{FILL.replace("// OTHER", "")}
  cute_nvgpu.fence.proxy.async
  "gpu.barrier"() : () -> ()
  scf.if %first {{
    {STORE} // OTHER
    {COMMIT}
    cute_nvgpu.cp.async.bulk.wait_group 1
    {OVER} // HERE
    {DONE}
  }}""", "memref.store", "which no cp.async.bulk.wait_group has completed")  # fmt: skip


def test_leaving_a_copy_behind():
    text = made(f"""{FILL.replace("// OTHER", "")}
  cute_nvgpu.fence.proxy.async
  "gpu.barrier"() : () -> ()
  scf.if %first {{
    {STORE} // OTHER
    {COMMIT}
  }}""").replace("func.return", "func.return // HERE")
    fault("", "func.return", "ends the kernel while", "no cp.async.bulk.wait_group has completed",
          text=text, args=args())  # fmt: skip


# Boxes and warps


def test_a_box_that_starts_askew():
    bad(f"""  scf.if %first {{
    {EXPECT}
    {LOAD.replace("to %x[%c0, %c0]", "to %x[%t1, %c0]")} // HERE
  }}""".replace("  scf.if %first {", "  %t1 = arith.addi %t, %c1 : index\n  scf.if %first {", 1),
        "cute_nvgpu.tma.load",
        "expected a box that starts at a multiple of 128 bytes of shared memory, got byte",
        thread=(0, 0, 0))  # fmt: skip


def test_a_box_that_does_not_fit():
    bad(f"""  %nine = arith.constant 9 : index
  %t9 = arith.addi %t, %nine : index
  scf.if %first {{
    {EXPECT}
    {LOAD.replace("to %x[%c0, %c0]", "to %x[%t9, %c0]")} // HERE
  }}""", "cute_nvgpu.tma.load", "out of bounds: expected at most 8, got index 9 in dimension 0",
        levels=("atom",))  # fmt: skip


def test_part_of_a_warpgroup_sets_registers():
    text = kernel("""  scf.if %low {
    cute_nvgpu.setmaxnreg dec 40 // HERE
  }""", attributes=', "gpu.known_block_size" = array<i32: 128, 1, 1>')  # fmt: skip
    fault("", "cute_nvgpu.setmaxnreg", "needs all 128 threads of a warpgroup, and 32 execute it",
          text=text, args=[np.arange(128, dtype=np.int32)], block=(128,),
          arch="sm_90a")  # fmt: skip


def test_part_of_a_warp_elects():
    fault("""  scf.if %first {
    %e = cute_nvgpu.elect.sync // HERE
  }
  memref.store %one, %p[%t] : memref<?xi32>""", "cute_nvgpu.elect.sync",
    "lane 1 executes something else")  # fmt: skip
