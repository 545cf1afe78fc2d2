"""What must be said of kernels that use tensor memory wrongly, at both levels."""

from __future__ import annotations

import pytest
from faults import P, run
from run_levels import LEVELS
from tmem_faults import (
    COPY,
    EXTRACT,
    FILL,
    FILLED,
    LOAD,
    SHIFT,
    SPLAT,
    STORE,
    TILE,
    VIEW,
    WRITTEN,
    F,
    bad,
    fine,
    here,
    other,
)
from tmem_kernels import (
    AFTER,
    ALLOC,
    BARRIER,
    BEFORE,
    CELLS,
    DEALLOC,
    RETRIEVE,
    SLOT,
    SMEM,
    SYNC,
    WAIT_LOAD,
    WAIT_STORE,
    bare,
    commit,
    held,
    wait,
)

from tilewright.source.diagnostic import ExecutionError

pytestmark = pytest.mark.usefixtures("unchecked")


# Waits for loads and stores


def test_registers_before_the_wait():
    use = "memref.store %x, %p[%c0] : memref<?xi32>"
    fine(held("\n  ".join([WRITTEN, LOAD, WAIT_LOAD, EXTRACT, use])))
    text = held("\n  ".join([WRITTEN, LOAD, EXTRACT, use, WAIT_LOAD]))
    for level in LEVELS:
        words = "reads registers of '[a-z0-9_.]+' at faults.mlir:[0-9]+, which no tmem.wait_load"
        with pytest.raises(ExecutionError, match=words):
            run(text, level, [P], block=(128,), arch="sm_100a")


def test_load_of_what_is_not_stored_yet():
    body = f"  {SPLAT}\n  {other(STORE)}\n  {here(LOAD)}\n  {WAIT_LOAD}"
    words = "read of tensor memory that", "writes, and no tmem.wait_store of its threads follows it"
    bad(held(body), "cute_nvgpu.tmem.load", *words)


def test_store_over_what_is_not_loaded_yet():
    body = f"  {WRITTEN}\n  {other(LOAD)}\n  {here(STORE)}\n  {WAIT_LOAD}\n  {WAIT_STORE}"
    bad(
        held(body),
        "cute_nvgpu.tmem.store",
        "write of tensor memory that",
        "reads, and no tmem.wait_load",
    )
    fine(held(f"  {WRITTEN}\n  {LOAD}\n  {WAIT_LOAD}\n  {STORE}\n  {WAIT_STORE}"))


def test_store_over_what_is_not_stored_yet():
    again = STORE
    body = f"  {SPLAT}\n  {other(STORE)}\n  {here(again)}\n  {WAIT_STORE}"
    bad(held(body), "cute_nvgpu.tmem.store", "writes, and no tmem.wait_store of its threads")


# Threads: warps 4 to 7 load what warps 0 to 3 stored


def handed(*between: str) -> str:
    waited, before, barrier, after = between
    return held(f"""  %c4 = arith.constant 4 : index
  {SPLAT}
  %stores = arith.cmpi ult, %w, %c4 : index
  scf.if %stores {{
    {other(STORE)}
    {waited}
  }}
  {before}
  {barrier}
  {after}
  scf.if %stores {{
  }} else {{
    {here(LOAD)}
    {WAIT_LOAD}
  }}""")


ORDERED = (WAIT_STORE, BEFORE, BARRIER, AFTER)


@pytest.mark.parametrize(
    "missing, why",
    [
        (0, "no tmem.wait_store of its threads follows it"),
        (1, "no tcgen05.fence.before_thread_sync of its threads follows it"),
        (2, "no barrier orders them"),
        (3, "no tcgen05.fence.after_thread_sync follows what it waited for"),
    ],
)
def test_stores_of_other_threads(missing: int, why: str):
    parts = ["" if place == missing else each for place, each in enumerate(ORDERED)]
    bad(handed(*parts), "cute_nvgpu.tmem.load", "read of tensor memory that", why, block=(256,))


def test_stores_of_other_threads_in_order():
    fine(handed(*ORDERED), block=(256,))


# Asynchronous operations


def copied(*between: str, copy: str = COPY, then: str = LOAD) -> str:
    committed, waited, after = between
    return held(f"""  {WRITTEN}
  {FILLED}
  scf.if %first {{
    {other(copy)}
    {committed}
  }}
  {waited}
  {after}
  {here(then)}
  {WAIT_LOAD}""")


COMPLETE = (commit(), wait(), AFTER)


@pytest.mark.parametrize(
    "missing, why",
    [
        (1, "no wait for the mbarrier of its tcgen05.commit is before this"),
        (2, "no tcgen05.fence.after_thread_sync follows what it waited for"),
    ],
)
def test_result_of_a_copy(missing: int, why: str):
    parts = ["" if place == missing else each for place, each in enumerate(COMPLETE)]
    bad(copied(*parts), "cute_nvgpu.tmem.load", "read of tensor memory that", f"writes, and {why}")


def test_result_of_a_copy_without_commit():
    bad(copied("", "", AFTER), "cute_nvgpu.tmem.load",
        "writes, and no tcgen05.commit of its thread follows it")  # fmt: skip


def test_result_of_a_copy_in_order():
    fine(copied(*COMPLETE))


def test_a_commit_covers_what_is_before_it():
    """A copy after the commit is in no phase yet."""
    body = f"""  {WRITTEN}
  {FILLED}
  scf.if %first {{
    {commit()}
    {other(COPY)}
    {commit(1)}
  }}
  {wait()}
  {AFTER}
  {here(LOAD)}"""
    bad(held(body), "cute_nvgpu.tmem.load", "no wait for the mbarrier of its tcgen05.commit")
    # A later commit of the thread completes everything before it.
    fine(
        held(
            body.replace(COPY, "").replace(commit(), f"{COPY}\n    {commit()}") + f"\n  {WAIT_LOAD}"
        )
    )


def test_copies_are_not_ordered_with_each_other():
    body = f"""  {FILLED}
  scf.if %first {{
    {other(COPY)}
    {here(COPY)}
    {commit()}
  }}
  {wait()}
  {AFTER}"""
    bad(held(body), "cute_nvgpu.tmem.copy", "write of tensor memory that", "no tcgen05.commit")


def test_shift_after_copy_and_copy_after_shift():
    """A shift does not wait for a copy before it, nor a copy of 32 rows for a shift."""
    for one, two in ((COPY, SHIFT), (SHIFT, COPY)):
        body = f"""  {WRITTEN}
  {FILLED}
  scf.if %first {{
    {other(one)}
    {here(two)}
    {commit()}
  }}
  {wait()}
  {AFTER}"""
        op = "cute_nvgpu.tmem.shift" if two is SHIFT else "cute_nvgpu.tmem.copy"
        bad(held(body), op, "write of tensor memory that", "no tcgen05.commit of its thread")


def test_copy_of_4_rows_after_shift():
    view = '!cute_nvgpu.smem_desc_view<4x8xi32, tcgen05, "(4,(4,2)):(4,(1,32))">'
    layout = '!cute.layout<"(4,(4,2)):(4,(1,32))">'
    held_rows = f"memref<4x8xi32, {layout}, {SMEM}>"
    body = f"""  {WRITTEN}
  %four = arith.constant 4 : index
  %small = arith.cmpi ult, %t, %four : index
  %s = memref.alloc() : {held_rows}
  scf.if %small {{
    scf.for %j = %c0 to %c8 step %c1 {{
      memref.store %even, %s[%t, %j] : {held_rows}
    }}
  }}
  cute_nvgpu.fence.proxy.async
  {SYNC}
  %d = cute_nvgpu.make_smem_desc %s[%c0, %c0] : {held_rows} -> {view}
  scf.if %first {{
    {SHIFT}
    cute_nvgpu.tmem.copy %d to %m[%c0, %c0] shape 4x256b : {view} to {CELLS}
    {commit()}
  }}
  {wait()}
  {AFTER}"""
    fine(held(body))


def test_copy_over_what_other_threads_stored():
    """Their stores are done and fenced, but the thread that copies has no fence behind it."""
    body = f"""  %four = arith.constant 4 : index
  {FILL}
  cute_nvgpu.fence.proxy.async
  {SPLAT}
  {other(STORE)}
  {WAIT_STORE}
  {BEFORE}
  {BARRIER}
  %d = cute_nvgpu.make_smem_desc %s[%c0, %c0] : {TILE} -> {VIEW}
  scf.if %first {{
    {here(COPY)}
    {commit()}
  }}"""
    bad(held(body), "cute_nvgpu.tmem.copy", "no tcgen05.fence.after_thread_sync follows")


# Shared memory that is read


def overwriting(committed: str, waited: str) -> str:
    return held(f"""  {FILLED}
  scf.if %first {{
    {other(COPY)}
    {committed}
  }}
  {waited}
  scf.if %first {{
    {here(f"memref.store %even, %s[%c3, %c0] : {TILE}")}
  }}
  {wait() if committed and not waited else ""}
  {AFTER}""")


def test_overwritten_source():
    words = "write of shared memory that", "reads, and no"
    bad(overwriting("", ""), "memref.store", *words, "tcgen05.commit of its thread follows it")
    bad(overwriting(commit(), ""), "memref.store", *words, "wait for the mbarrier that completes")
    fine(overwriting(commit(), wait()))


def test_unfenced_source():
    body = FILLED.replace("  cute_nvgpu.fence.proxy.async\n", "")
    text = held(f"""  {body}
  scf.if %first {{
    {here(COPY)}
    {commit()}
  }}
  {wait()}
  {AFTER}""")
    bad(text, "cute_nvgpu.tmem.copy", "reads shared memory that", "no fence.proxy.async")


# Where: columns, lanes, addresses


def test_nothing_was_written():
    bad(held(f"  {here(LOAD)}\n  {WAIT_LOAD}"), "cute_nvgpu.tmem.load",
        "read of tensor memory that nothing has written: lane 0, column 0")  # fmt: skip


def test_columns_that_are_not_allocated():
    wide = CELLS.replace("256", "512")
    body = f"""  {SPLAT}
  %n = cute_nvgpu.tmem.retrieve %slot[%c0] : {SLOT} -> {wide}
  %far = arith.constant 252 : index
  {here(f"cute_nvgpu.tmem.store %v, %n[%row, %far] shape 32x32b : {F}, {wide}")}
  {WAIT_STORE}"""
    bad(
        held(body),
        "cute_nvgpu.tmem.store",
        "write of column 256 of tensor memory, which is not allocated",
    )


def test_use_after_deallocation():
    body = f"""
  scf.if %leads {{
    {ALLOC}
  }}
  {SYNC}
  {RETRIEVE}
  {SYNC}
  scf.if %leads {{
    {other(DEALLOC)}
    {SPLAT}
    {here(STORE)}
    {WAIT_STORE}
  }}"""
    bad(bare(body), "cute_nvgpu.tmem.store", "not allocated: ", "has given it back")


@pytest.mark.parametrize(
    "lanes, word", [("%c0", "expected lane 32 for warp 1"), ("%t", "expected")]
)
def test_lanes_of_another_warp(lanes: str, word: str):
    store = f"cute_nvgpu.tmem.store %v, %m[{lanes}, %c0] shape 32x32b : {F}, {CELLS}"
    bad(held(f"  {SPLAT}\n  {here(store)}\n  {WAIT_STORE}"), "cute_nvgpu.tmem.store", word)


def test_upper_half_of_a_window():
    store = f"cute_nvgpu.tmem.store %v, %m[%r, %c0] shape 16x64b : {F}, {CELLS}"
    text = f"  {SPLAT}\n  %r = arith.addi %row, %c16 : index\n  {store}\n  {WAIT_STORE}"
    fine(held(text))
    moved = text.replace("%c16 :", "%c8 :").replace(store, here(store))
    bad(held(moved), "cute_nvgpu.tmem.store", "expected lane 0 or 16 for warp 0", "got 8")


def test_one_address_a_warp():
    store = f"cute_nvgpu.tmem.store %v, %m[%row, %j] shape 32x32b : {F}, {CELLS}"
    body = f"  {SPLAT}\n  %j = arith.remui %t, %c2 : index\n  {here(store)}\n  {WAIT_STORE}"
    bad(held(body), "cute_nvgpu.tmem.store", "expected one address in all threads of a warp")


def test_whole_warps():
    for op, line in (("cute_nvgpu.tmem.store", STORE), ("cute_nvgpu.tmem.wait_load", WAIT_LOAD)):
        body = f"  {SPLAT}\n  scf.if %first {{\n    {here(line)}\n  }}"
        bad(held(body), op, "needs all 32 threads of a warp, and 1 execute it")
    text = bare(f"  scf.if %first {{\n    {here(ALLOC)}\n  }}")
    bad(text, "cute_nvgpu.tmem.alloc", "needs all 32 threads of a warp")


def test_tile_out_of_its_memref():
    """The atom level knows the memref; the address may still be a good one."""
    store = f"cute_nvgpu.tmem.store %v, %n[%row, %j] shape 32x32b : {F}, {CELLS}"
    narrow = CELLS.replace("256", "32")
    store = store.replace(CELLS, narrow)
    body = f"""  {SPLAT}
  %n = cute_nvgpu.tmem.slice %m[%c0, %c0] : {CELLS} -> {narrow}
  %j = arith.addi %w, %c31 : index
  {here(store)}
  {WAIT_STORE}"""
    bad(held(body), "cute_nvgpu.tmem.store", "out of bounds: expected at most 24", levels=("atom",))


def test_shift_from_a_lane_within_a_window():
    body = f"""  {WRITTEN}
  {SYNC}
  %r = arith.addi %t, %c8 : index
  scf.if %first {{
    {here(f"cute_nvgpu.tmem.shift %m[%r, %c0] : {CELLS}")}
  }}"""
    bad(
        held(body),
        "cute_nvgpu.tmem.shift",
        "expected a lane that is a multiple of 32, got 8; nearest legal: 0",
    )
