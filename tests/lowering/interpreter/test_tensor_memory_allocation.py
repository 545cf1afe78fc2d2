"""Faults of kernels that allocate tensor memory or commit wrongly, at both levels."""

from __future__ import annotations

import pytest
from faults import P, run
from run_levels import LEVELS
from tmem_faults import (
    COPY,
    FILLED,
    LOAD,
    SPLAT,
    STORE,
    bad,
    fine,
    here,
    other,
)
from tmem_kernels import (
    AFTER,
    ALLOC,
    BARRIER,
    BARRIERS,
    CELLS,
    DEALLOC,
    SLOT,
    SYNC,
    WAIT_LOAD,
    WAIT_STORE,
    bare,
    commit,
    held,
    wait,
)

from tilewright.pipeline import lower
from tilewright.source.diagnostic import ExecutionError

pytestmark = pytest.mark.usefixtures("unchecked")

# Allocation


def test_columns_left_at_the_end():
    text = bare(f"  scf.if %leads {{\n    {other(ALLOC)}\n  }}").replace(
        "  func.return", here("  func.return")
    )
    bad(text, "func.return", "ends the kernel with 256 columns of tensor memory that",
        "nearest legal: tmem.dealloc")  # fmt: skip


def test_allocation_after_the_permit_is_gone():
    body = f"""
  scf.if %leads {{
    {other("cute_nvgpu.tmem.relinquish_alloc_permit")}
    {here(ALLOC)}
  }}"""
    bad(bare(body), "cute_nvgpu.tmem.alloc", "allocates tensor memory after", "given up the right")


def test_growing_allocations():
    body = f"""
  scf.if %leads {{
    {ALLOC.replace("256", "64")}
    {here(ALLOC.replace("256", "128"))}
  }}"""
    bad(
        bare(body),
        "cute_nvgpu.tmem.alloc",
        "expected at most 64 columns, those of the allocation before it, got 128",
    )


def test_allocation_that_waits_for_ever():
    body = f"""
  scf.if %leads {{
    {other(ALLOC)}
    {ALLOC}
    {here(ALLOC)}
  }}"""
    text = bare(body)
    for level in LEVELS:
        with pytest.raises(ExecutionError) as caught:
            run(text, level, [P], block=(128,), arch="sm_100a")
        assert "deadlock: waits for 256 columns of tensor memory, and 0 are free" in str(
            caught.value
        )


def test_deallocation_of_what_is_not_allocated():
    half = CELLS.replace("256", "128")
    body = f"""  scf.if %leads {{
    %n = cute_nvgpu.tmem.retrieve %slot[%c0] : {SLOT} -> {half}
    {here(f"cute_nvgpu.tmem.dealloc %n : {half}")}
  }}"""
    bad(
        held(body),
        "cute_nvgpu.tmem.dealloc",
        "gives back 128 columns at 0x0, which no",
        "allocated: 256 at column 0",
    )
    body = f"  scf.if %leads {{\n    {DEALLOC}\n    {here(DEALLOC)}\n  }}"
    bad(held(body), "cute_nvgpu.tmem.dealloc", "allocated: none")


def test_deallocation_while_others_load():
    """The warp that gives columns back is not ordered after the loads of the others."""
    body = f"  {SPLAT}\n  {other(STORE)}\n  {WAIT_STORE}\n  {LOAD}\n  {WAIT_LOAD}"
    text = held(body, last="").replace(DEALLOC, here(DEALLOC))
    bad(text, "cute_nvgpu.tmem.dealloc", "deallocation of tensor memory that")
    unfenced = held(body, last=f"{BARRIER}\n  {AFTER}").replace(DEALLOC, here(DEALLOC))
    bad(unfenced, "cute_nvgpu.tmem.dealloc", "no tcgen05.fence.before_thread_sync")
    fine(held(body))


# Commits


def test_commit_without_an_mbarrier():
    body = f"""
  %q = memref.alloc() : {BARRIERS}
  scf.if %first {{
    {here(f"cute_nvgpu.tcgen05.commit %q[%c0] : {BARRIERS}")}
  }}"""
    bad(held(body), "cute_nvgpu.tcgen05.commit", "expected an mbarrier at byte")


def test_commit_to_an_mbarrier_that_copies_do_not_see():
    body = f"""
  %q = memref.alloc() : {BARRIERS}
  scf.if %first {{
    cute_nvgpu.mbarrier.init %q[%c0] count 1 : {BARRIERS}
    {here(f"cute_nvgpu.tcgen05.commit %q[%c0] : {BARRIERS}")}
  }}"""
    bad(held(body), "cute_nvgpu.tcgen05.commit", "no fence.mbarrier_init follows it")


def test_commits_complete_phases():
    """Each commit arrives once: two commits are two phases of a count of 1."""
    body = f"""  {FILLED}
  %odd = arith.constant 1 : i32
  scf.if %first {{
    {COPY}
    {commit()}
    {wait()}
    {AFTER}
    {COPY}
    {commit()}
    cute_nvgpu.mbarrier.wait %b[%c0] parity %odd : {BARRIERS}
    {AFTER}
  }}
  {SYNC}
  {LOAD.replace("8xi32", "4xi32")}
  {WAIT_LOAD}"""
    fine(held(body))


# Pairs of CTAs


def test_a_pair_needs_a_cluster():
    alloc = ALLOC.replace("columns 256", "columns 256 cta_group 2")
    bad(bare(f"  scf.if %leads {{\n    {here(alloc)}\n  }}"), "cute_nvgpu.tmem.alloc",
        "expected a cluster of pairs of CTAs with cta_group 2, got 1")  # fmt: skip


def test_multicast_outside_of_the_cluster():
    body = f"""  %mask = arith.constant 3 : i16
  scf.if %first {{
    {here(commit().replace("%b[%c0]", "%b[%c0] multicast %mask"))}
  }}"""
    bad(
        held(body),
        "cute_nvgpu.tcgen05.commit",
        "expected a mask of some of the 1 CTAs of the cluster",
    )


@pytest.mark.parametrize(
    "high, why",
    [
        (8, r"expected 1 in bits 48-46 \(version\), got 0"),
        (16384 + 0x3FFF, "read out of bounds: bytes"),
    ],
)
def test_a_descriptor_of_something_else(high: int, why: str):
    """At the ptx level a register may hold anything: no version, or rows far apart."""
    text = held(f"""  {FILLED}
  scf.if %first {{
    {COPY}
    {commit()}
  }}
  {wait()}
  {AFTER}""")
    module = str(lower(text, "sm_100a")[0])
    words = module.replace("ptx.const 16392", f"ptx.const {high}")
    assert words != module
    with pytest.raises(ExecutionError, match=why):
        run(words, "ptx", [P], block=(128,), arch="sm_100a")
