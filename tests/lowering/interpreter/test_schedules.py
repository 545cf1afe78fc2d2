"""Schedules: any order of gangs and completions gives the same, or shows what is wrong."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from example_files import EXAMPLES
from faults import kernel, run
from numpy.testing import assert_array_equal
from run_levels import LEVELS, at_levels
from test_examples import gemm_sm90_arguments
from test_gemm_sm100 import dense

import tilewright as tw


@pytest.mark.parametrize("seed", range(3))
def test_a_warp_specialised_gemm(seed: int):
    arguments, expected = gemm_sm90_arguments(128, 256, 300)
    text = (EXAMPLES / "gemm_sm90.mlir").read_text()
    c = tw.interpret(
        text, grid=(1,), block=(384,), args=arguments, schedule=seed,
        level="ptx" if seed else "atom",
    )[2]  # fmt: skip
    assert_array_equal(c[:, :256], expected)


def test_an_elected_lane_that_sleeps_is_waited_for():
    """31 threads of a warp do not go ahead to the CTA's barrier while the elected one waits."""
    gemm = dense(128, 256, 264)
    wanted, *others = (
        gemm.run("gemm_sm100", (1, 1), "atom", schedule=seed) for seed in (None, 0, 1)
    )
    for other in others:
        assert_array_equal(other, wanted)


def test_several_ctas():
    rng = np.random.default_rng(0)
    a, b = (
        rng.integers(-8, 9, shape).astype(ml_dtypes.bfloat16) for shape in ((128, 40), (40, 64))
    )
    c = tw.interpret(
        (EXAMPLES / "gemm_sm80.mlir").read_text(),
        "gemm",
        grid=(1, 2),
        block=(128,),
        args=[a, b, np.zeros((128, 64), np.float32), 128, 64, 40, 40, 64, 64],
        numerics="exact",
        schedule=7,
    )[2]
    assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def spin(flag: str) -> str:
    """The first thread spins until a thread behind it in the text has set a flag."""
    return f"""  scf.if %first {{
    memref.store %one, %p[%c1] : memref<?xi32>
    %seen = scf.while (%last = %one) : (i32) -> (i32) {{
      %flag = memref.load %p[%c0] : memref<?xi32>
      %unset = arith.cmpi ne, %flag, %one : i32
      scf.condition(%unset) %flag : i32
    }} do {{
    ^bb0(%again: i32):
      scf.yield %again : i32
    }}
  }}
  %second = arith.cmpi eq, %t, %c1 : index
  scf.if %second {{
    memref.store %one, %p[{flag}] : memref<?xi32>
  }}"""


@at_levels()
def test_a_spin_lets_others_run(level: str):
    run(kernel(spin("%c0")), level, [np.zeros(64, np.int32)], races="ignore", max_steps=4000)


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_a_spin_that_never_ends(seed: int | None):
    """The loop that spins is named, though others are at work when the steps run out."""
    work = """
  %c200 = arith.constant 200 : index
  %sum = scf.for %i = %c0 to %c200 step %c1 iter_args(%x = %one) -> (i32) {
    %y = arith.addi %x, %x : i32
    scf.yield %y : i32
  }
"""
    text = kernel(work + spin("%c1").replace("-> (i32) {", "-> (i32) { // HERE"))
    with pytest.raises(tw.ExecutionError) as caught:
        run(text, "atom", [np.zeros(64, np.int32)], max_steps=5000, schedule=seed)
    message = str(caught.value)
    assert "a loop waits for what never comes" in message
    assert "block (0,0,0), thread (0,0,0)" in message and "// HERE" in message, message


@at_levels()
@pytest.mark.parametrize("seed", [None, 0])
def test_a_spin_that_no_other_thread_ends(level: str, seed: int | None):
    """Without `max_steps`: what may run runs, and nothing comes of it."""
    text = kernel(spin("%c1").replace("-> (i32) {", "-> (i32) { // HERE"))
    with pytest.raises(tw.ExecutionError, match="is reached for ever: all threads") as caught:
        run(text, level, [np.zeros(64, np.int32)], schedule=seed, races="ignore")
    assert "block (0,0,0), thread (0,0,0)" in str(caught.value) and "// HERE" in str(caught.value)


@pytest.mark.usefixtures("impatient")
def test_spins_that_end_each_other():
    """Three threads at three places, each of which waits for the next: the last one ends it."""
    loop = """
    %seenN = scf.while (%last = %one) : (i32) -> (i32) {
      %flag = memref.load %p[%cN] : memref<?xi32>
      %unset = arith.cmpi ne, %flag, %one : i32
      scf.condition(%unset) %flag : i32
    } do {
    ^bb0(%again: i32):
      scf.yield %again : i32
    }"""
    body = "  %c2 = arith.constant 2 : index\n"
    for thread in range(3):
        body += f"  %is{thread} = arith.cmpi eq, %t, %c{thread} : index\n  scf.if %is{thread} {{"
        body += loop.replace("N", str(thread + 1)) if thread < 2 else ""
        body += f"\n    memref.store %one, %p[%c{thread}] : memref<?xi32>\n  }}\n"
    for level in LEVELS:
        for seed in (None, 0, 1):
            zeros = [np.zeros(64, np.int32)]
            found = run(kernel(body), level, zeros, schedule=seed, races="ignore")
            assert found[0][:3].tolist() == [1, 1, 1]


@pytest.mark.usefixtures("impatient")
def test_a_loop_that_takes_long_is_no_livelock():
    body = """  %c2000 = arith.constant 2000 : index
  %sum = scf.for %i = %c0 to %c2000 step %c1 iter_args(%x = %one) -> (i32) {
    %odd = arith.index_cast %i : index to i32
    %y = arith.xori %x, %odd : i32
    scf.yield %y : i32
  }"""
    run(kernel(body), "atom", [np.zeros(64, np.int32)])


@at_levels()
def test_a_spin_that_never_ends_at_each_level(level: str):
    with pytest.raises(tw.ExecutionError, match="after more than max_steps=500 steps: a loop wa"):
        run(kernel(spin("%c1")), level, [np.zeros(64, np.int32)], max_steps=500)


@pytest.mark.parametrize(
    "option, message",
    [({"schedule": -1}, "expected schedule as a seed from 0 on, got -1"),
     ({"races": "none"}, 'expected races as one of "error", "warn", "ignore", got')],
)  # fmt: skip
def test_options_that_are_none(option: dict[str, Any], message: str):
    with pytest.raises(tw.ExecutionError, match=re.escape(message)):
        run(kernel(""), "atom", [np.zeros(64, np.int32)], **option)


def test_tile_ir_has_no_schedule():
    text = "cuda_tile.module @m {\n  entry @k() {\n    return\n  }\n}"
    with pytest.raises(tw.ExecutionError, match=r"expected no schedule for Tile IR, .* got 3"):
        tw.interpret(text, "k", grid=(1,), args=[], schedule=3)


LATE = """func.func @k(%from: !cute_nvgpu.tma_descriptor<1x32xi32>, %out: memref<32xi32>)
    attributes {gpu.kernel} {
  %c0 = arith.constant 0 : index
  %even = arith.constant 0 : i32
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  %bar = memref.alloc() : BARRIER
  %a = memref.alloc() : TILE
  %b = memref.alloc() : TILE
  memref.store %even, %b[%c0, %t] : TILE
  cute_nvgpu.fence.proxy.async
  scf.if %first {
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : BARRIER
    cute_nvgpu.fence.mbarrier_init
  }
  "gpu.barrier"() : () -> ()
  scf.if %first {
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 128 : BARRIER
    cute_nvgpu.tma.load %from[%c0, %c0] to %a[%c0, %c0] mbarrier %bar[%c0] : MAP to TILE, BARRIER
    WAIT
    cute_nvgpu.tma.store %b[%c0, %c0] to %from[%c0, %c0] : TILE to MAP
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }
  cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : BARRIER
  %v = memref.load %a[%c0, %t] : TILE
  memref.store %v, %out[%t] : memref<32xi32>
  func.return
}"""


@at_levels()
def test_a_copy_reads_late(level: str):
    """The thread overwrites what its copy reads, before or after it has waited for it."""
    wait = "cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : BARRIER"
    for waits, late in (("", 0), (wait, 1)):
        text = LATE.replace("WAIT", waits).replace("MAP", "!cute_nvgpu.tma_descriptor<1x32xi32>")
        text = text.replace("BARRIER", "memref<1xi64, #cute<space smem>>")
        text = text.replace("TILE", "memref<1x32xi32, #cute<space smem>>")
        for seed, expected in ((None, 1), (0, late), (1, late)):
            source = tw.TensorMap(np.ones((1, 32), np.int32), box=(1, 32))
            args = [source, np.zeros(32, np.int32)]
            found = run(text, level, args, block=(32,), schedule=seed, races="ignore")
            assert found[1].tolist() == [expected] * 32
            if waits:
                run(text, level, args, block=(32,), schedule=seed)
                continue
            with pytest.raises(tw.ExecutionError, match="ordered by no wait for the mbarrier"):
                run(text, level, args, block=(32,), schedule=seed)
