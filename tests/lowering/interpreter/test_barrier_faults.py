"""Ops that need whole warps, and barriers that not all reach."""

from __future__ import annotations

import pytest
from faults import HALVES, P, fault, kernel, run
from run_levels import LEVELS

import tilewright as tw

# Whole warps and barriers

MMA = """  %z = arith.constant 0.0 : f32
  %h = arith.constant 0.0 : f16
  %a = cute_nvgpu.fragment.splat %h : f16 -> !cute_nvgpu.fragment<4xf16>
  %b = cute_nvgpu.fragment.splat %h : f16 -> !cute_nvgpu.fragment<2xf16>
  %c = cute_nvgpu.fragment.splat %z : f32 -> !cute_nvgpu.fragment<4xf32>
"""
ALIGNED = {
    "cute_nvgpu.sm80.mma": "%d = cute_nvgpu.sm80.mma %a, %b, %c "
    "<16x8x8, elem_type = (f16, f16, f32)> : (!cute_nvgpu.fragment<4xf16>, "
    "!cute_nvgpu.fragment<2xf16>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>",
    "cute_nvgpu.ldmatrix": f"%f = cute_nvgpu.ldmatrix %w[%t, %c0] : {HALVES} "
    "-> !cute_nvgpu.fragment<2xf16>",
    "cute_nvgpu.stmatrix": f"cute_nvgpu.stmatrix %b, %w[%t, %c0] : !cute_nvgpu.fragment<2xf16>, "
    f"{HALVES}",
    "cute_nvgpu.movmatrix": "%f = cute_nvgpu.movmatrix %b : !cute_nvgpu.fragment<2xf16> "
    "-> !cute_nvgpu.fragment<2xf16>",
    "cute_nvgpu.bar.warp.sync": "cute_nvgpu.bar.warp.sync",
    "cute_nvgpu.bar.sync": "cute_nvgpu.bar.sync 1 threads 64",
    "cute_nvgpu.bar.arrive": "cute_nvgpu.bar.arrive 1 threads 64",
    "gpu.barrier": '"gpu.barrier"() : () -> ()',
}


@pytest.mark.parametrize("op", ALIGNED)
def test_an_aligned_op_by_part_of_a_warp(op: str):
    fault(
        f"""{MMA}  %w = memref.alloc() : {HALVES}
  %c40 = arith.constant 40 : index
  %some = arith.cmpi ult, %t, %c40 : index
  scf.if %some {{
    {ALIGNED[op]} // HERE
  }}
  memref.store %one, %p[%t] : memref<?xi32>""",
        op, "needs all", "8 execute it", thread=(32, 0, 0),
    )  # fmt: skip


def test_deadlock_at_a_barrier_that_not_all_reach():
    fault(
        """  scf.if %low {
    "gpu.barrier"() : () -> () // HERE
  }""",
        "gpu.barrier", "deadlock: 32 threads (warps 0) wait at barrier 0",
        "no other thread of the CTA will come",
    )  # fmt: skip


def test_deadlock_because_threads_have_left():
    fault(
        """  cf.cond_br %low, ^stay, ^leave
^stay:
  cute_nvgpu.bar.sync 2 threads 64 // HERE
  func.return
^leave:""",
        "cute_nvgpu.bar.sync", "deadlock: 32 threads (warps 0) wait at barrier 2",
    )  # fmt: skip


def test_deadlock_of_two_barriers_that_wait_for_each_other():
    fault(
        """  scf.if %low {
    cute_nvgpu.bar.sync 1 threads 64 // HERE
    cute_nvgpu.bar.sync 2 threads 64
  } else {
    cute_nvgpu.bar.sync 2 threads 64
    cute_nvgpu.bar.sync 1 threads 64
  }""",
        "cute_nvgpu.bar.sync", "deadlock: 32 threads (warps 0) wait at barrier 1",
    )  # fmt: skip


def test_deadlock_in_one_block_of_many():
    text = kernel("""  %b = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %here = arith.cmpi ne, %b, %c1 : index
  %stay = arith.ori %here, %low : i1
  scf.if %stay {
    "gpu.barrier"() : () -> () // HERE
  }""")
    for level in LEVELS:
        with pytest.raises(tw.ExecutionError, match=r"deadlock: 32 .*\(block \(1,0,0\), thread"):
            run(text, level, [P], grid=(3,))


@pytest.mark.parametrize("op", ["sync", "arrive"])
def test_too_many_threads_at_a_named_barrier(op: str):
    fault(f"  cute_nvgpu.bar.{op} 1 threads 32 // HERE", f"cute_nvgpu.bar.{op}",
          "barrier 1 expects 32 threads, and 64 came")  # fmt: skip
