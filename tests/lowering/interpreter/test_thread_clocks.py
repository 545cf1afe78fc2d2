"""Who knows what: a thread speaks for itself, its warp where the warp synchronises."""

from __future__ import annotations

from typing import Any

import pytest
from example_files import EXAMPLES
from faults import P, kernel, run
from run_levels import at_levels
from test_mbarriers import ARRIVE, EXPECT, LOAD, READ, STORE, WAIT, bad, fine
from test_mbarriers import BOX as BOX_TYPE

import tilewright as tw

SMEM = "#cute<space smem>"
S = f"memref<64xi32, {SMEM}>"
WARP_SYNC = "cute_nvgpu.bar.warp.sync"
FENCE = "cute_nvgpu.fence.proxy.async"


# Arrivals and waits


def handed_on(sync: str, mark: str = "") -> str:
    """Every thread of warp 0 writes, one of them arrives; warp 1 waits and reads."""
    return f"""  scf.if %low {{
    memref.store %one, %s[%t] : {S}
    {sync}
    scf.if %first {{
      {ARRIVE}
    }}
  }} else {{
    {WAIT}
    %from = arith.subi %t, %c32 : index
    %v = memref.load %s[%from] : {S} {mark}
    memref.store %v, %p[%t] : memref<?xi32>
  }}"""


def test_a_thread_that_arrives_speaks_for_itself():
    bad(handed_on("", "// HERE"), "memref.load", "this read and the write by", "in thread 1 ",
        "ordered by no barrier", thread=(33, 0, 0))  # fmt: skip
    fine(handed_on(WARP_SYNC))


def test_threads_that_arrive_together_speak_for_the_warp():
    body = handed_on("").replace("scf.if %first {", "scf.if %low {")
    fine(body, count=32)


def test_threads_that_arrive_apart_speak_for_themselves():
    """Two threads write, and each arrives by itself, at a place of its own in the program."""
    body = f"""  %second = arith.cmpi eq, %t, %c1 : index
  scf.if %first {{
    memref.store %one, %s[%t] : {S}
    {ARRIVE}
  }} else {{
    scf.if %second {{
      memref.store %one, %s[%t] : {S}
      {ARRIVE}
    }} else {{
      {WAIT}
      %v = memref.load %s[%c0] : {S}
      %w = memref.load %s[%c1] : {S}
    }}
  }}"""
    fine(body, count=2)


def waited(sync: str, mark: str = "") -> str:
    """One thread waits for a copy, all of its warp read."""
    return f"""  scf.if %low {{
    scf.if %first {{
      {EXPECT}
      {LOAD}
      {WAIT}
    }}
    {sync}
    {READ} {mark}
  }}"""


def test_a_thread_that_waits_learns_for_itself():
    bad(waited("", "// HERE"), "memref.load", "ordered by no wait for the mbarrier",
        thread=(1, 0, 0))  # fmt: skip
    fine(waited(WARP_SYNC))


def test_a_read_that_its_thread_has_not_handed_on():
    """Threads 0 and 1 read a byte; only thread 0 arrives before warp 1 writes it."""
    body = f"""  memref.store %one, %s[%t] : {S}
  "gpu.barrier"() : () -> ()
  %two = arith.constant 2 : index
  %some = arith.cmpi ult, %t, %two : index
  scf.if %low {{
    scf.if %some {{
      %v = memref.load %s[%c63] : {S}
      SYNC
      scf.if %first {{
        {ARRIVE}
      }}
    }}
  }} else {{
    {WAIT}
    memref.store %one, %s[%t] : {S} MARK
  }}"""
    bad(body.replace("SYNC", "").replace("MARK", "// HERE"), "memref.store",
        "this write and the read by", "in thread 1 ", thread=(63, 0, 0))  # fmt: skip
    both = body.replace("SYNC", "").replace("scf.if %first {", "scf.if %some {")
    fine(both.replace("MARK", ""), count=2)


def test_arriving_at_a_barrier_orders_nothing_for_those_who_arrive():
    body = f"""  scf.if %low {{
    memref.store %one, %s[%t] : {S}
    cute_nvgpu.bar.arrive 1 threads 64
    %v = memref.load %s[%next] : {S} MARK
  }} else {{
    cute_nvgpu.bar.sync 1 threads 64
  }}"""
    bad(body.replace("MARK", "// HERE"), "memref.load", "this read and the write by")
    fine(body.replace("%next", "%t").replace("MARK", ""))


def test_an_arrival_that_may_be_of_the_phase_before():
    """A phase waits for one arrival too few: the last one is of the next phase, or may be."""
    body = f"""  {ARRIVE} // HERE
  {WAIT}"""
    bad(body, "cute_nvgpu.mbarrier.arrive", "arrives at phase 1 of the mbarrier of",
        "may come before phase 0 is over", count=63, thread=(63, 0, 0))  # fmt: skip
    fine(body.replace("// HERE", "") + f"\n  {ARRIVE}", count=64)


# A thread and the async proxy


STORED = f"""  %c16 = arith.constant 16 : index
  scf.if %first {{
    scf.for %i = %c0 to %c16 step %c1 {{
      scf.for %j = %c0 to %c16 step %c1 {{
        memref.store %one, %x[%i, %j] : {BOX_TYPE}
      }}
    }}
    FENCE
    {STORE} MARK
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0 read
    AFTER
  }}"""


def test_a_thread_stores_its_own_bytes_by_tma():
    body = STORED.replace("AFTER", f"memref.store %one, %x[%c0, %c0] : {BOX_TYPE}")
    fine(body.replace("FENCE", FENCE).replace("MARK", ""))
    bad(body.replace("FENCE", "").replace("MARK", "// HERE"), "cute_nvgpu.tma.store",
        "no fence.proxy.async of its thread follows it")  # fmt: skip


def test_a_copy_that_its_thread_has_waited_for_is_not_over_for_others():
    body = (
        STORED.replace("FENCE", FENCE).replace("MARK", "// OTHER").replace("AFTER", "")
        + f"""
  SYNC
  %last = arith.cmpi eq, %t, LAST : index
  scf.if %last {{
    memref.store %one, %x[%c0, %c0] : {BOX_TYPE} // HERE
  }}"""
    )
    sync = '"gpu.barrier"() : () -> ()'
    for last in ("%c1", "%c63"):
        text = body.replace("LAST", last)
        bad(text.replace("SYNC", ""), "memref.store", "race on shared memory", "the read by",
            "ordered by no barrier", levels=("atom",))  # fmt: skip
        fine(text.replace("SYNC", sync).replace("// HERE", "").replace("// OTHER", ""))


WRITTEN_OVER = f"""  memref.store %one, %x[%c0, %c0] : {BOX_TYPE}
  FENCE
  "gpu.barrier"() : () -> ()
  scf.if %first {{
    {EXPECT}
    {LOAD} MARK
  }}
  {WAIT}"""


def test_copies_over_what_threads_wrote():
    body = WRITTEN_OVER.replace("memref.store", "scf.if %first {\n    memref.store", 1).replace(
        f": {BOX_TYPE}\n", f": {BOX_TYPE}\n  }}\n", 1
    )
    bad(body.replace("FENCE", "").replace("MARK", "// HERE"), "cute_nvgpu.tma.load",
        "writes shared memory that", "no fence.proxy.async of its thread follows it")  # fmt: skip
    fine(body.replace("FENCE", FENCE).replace("MARK", ""))


# Barriers


def test_counts_that_differ_at_one_barrier():
    bad("""  scf.if %low {
    cute_nvgpu.bar.sync 1 threads 64
  } else {
    cute_nvgpu.bar.sync 1 threads 32 // HERE
  }""", "cute_nvgpu.bar.sync", "gives barrier 1 32 threads", "give it 64")  # fmt: skip


def test_a_warp_that_uses_the_barrier_of_another():
    """Each warp would be alone at the CTA's barrier, but nothing says when."""
    body = f"""  scf.if %low {{
    cute_nvgpu.bar.sync 1 threads 32
    memref.store %one, %s[%t] : {S}
  }} else {{
    cute_nvgpu.bar.sync OWN threads 32 // HERE
  }}"""
    bad(body.replace("OWN", "1"), "cute_nvgpu.bar.sync", "barrier 1 is used again before its last "
        "use, by warp 0 among others, is known to be over")  # fmt: skip
    fine(body.replace("OWN", "2").replace("// HERE", ""))


# The example


SM90 = (EXAMPLES / "gemm_sm90.mlir").read_text()
READ_WAIT = "cute_nvgpu.cp.async.bulk.wait_group 0 read"


def gemm_sm90(text: str, level: Any) -> None:
    from test_examples import gemm_sm90_arguments

    arguments, _ = gemm_sm90_arguments(128, 256, 64)
    tw.interpret(text, grid=(1,), block=(384,), args=arguments, level=level, numerics="exact")


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("index, level", [(0, "atom"), (3, "ptx"), (5, "atom")])
def test_a_store_whose_buffer_is_taken_too_early(index: int, level: str):
    parts = SM90.split(READ_WAIT)
    weaker = READ_WAIT.replace("0", "1")
    text = READ_WAIT.join(parts[: index + 1]) + weaker + READ_WAIT.join(parts[index + 1 :])
    with pytest.raises(tw.ExecutionError, match=r"ordered by no barrier|no cp\.async\.bulk\.wait"):
        gemm_sm90(text, level)


MUTANTS = {
    "nobody gives registers back": (
        "cute_nvgpu.setmaxnreg dec 40", "", "deadlock: a warpgroup waits for 232 registers"),
    "all ask for registers": (
        "cute_nvgpu.setmaxnreg dec 40", "cute_nvgpu.setmaxnreg inc 232", "deadlock: a warpgroup"),
    "a warp too few empties a stage": (
        "init %empty[%i] count 8", "init %empty[%i] count 7", "may come before phase 0 is over"),
    "warps that wait for nobody": (
        "bar.sync 1 threads 256", "bar.sync 0 threads 32", "barrier 0 expects 32 threads, and 256"),
}  # fmt: skip


@pytest.mark.parametrize("name", MUTANTS)
def test_a_mutant_of_the_example(name: str):
    before, after, message = MUTANTS[name]
    assert before in SM90
    with pytest.raises(tw.ExecutionError, match=message):
        gemm_sm90(SM90.replace(before, after, 1), "atom")


# Registers and shared memory of a CTA


def registers(first: str, second: str) -> str:
    text = kernel(f"""  %c128 = arith.constant 128 : index
  %producer = arith.cmpi ult, %t, %c128 : index
  scf.if %producer {{
    {first}
  }} else {{
    {second}
  }}""", attributes=', "gpu.known_block_size" = array<i32: 384, 1, 1>')  # fmt: skip
    return text


@pytest.mark.usefixtures("unchecked")
@at_levels()
def test_registers_that_nobody_gives_back(level: str):
    """384 threads begin with 168 registers each: 128 of them give back what 256 get."""
    given, asked = "cute_nvgpu.setmaxnreg dec 40", "cute_nvgpu.setmaxnreg inc 232"
    launch: Any = {"args": [P], "block": (384,), "arch": "sm_90a"}
    run(registers(given, asked), level, **launch)
    for first, second in (("", asked), (asked, asked), (given.replace("40", "48"), asked)):
        with pytest.raises(tw.ExecutionError, match="deadlock: a warpgroup waits for 232 regist"):
            run(registers(first, second), level, **launch)


@at_levels()
def test_more_shared_memory_than_the_target_has(level: str):
    text = kernel(f"  %x = memref.alloc() : memref<150000xi8, {SMEM}>")
    run(text, level, [P], arch="sm_80")
    with pytest.raises(tw.CompileError, match=r"at most 101376 bytes of shared memory .* sm_86"):
        run(text, level, [P], arch="sm_86")
