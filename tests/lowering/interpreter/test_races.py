"""Two accesses that no barrier orders: the error names both."""

from __future__ import annotations

import pytest
from faults import HALVES, LOWERED, TILE, fault, fine
from run_levels import LEVELS

# Races. `SYNC` is where a barrier belongs.

RACES = {
    "write after write": (
        f"""  scf.if %low {{
    memref.store %one, %s[%t] : {TILE} // OTHER
  }}
  SYNC
  %n = arith.index_cast %t : index to i32
  %low_place = arith.remui %t, %c32 : index
  %high = arith.cmpi uge, %t, %c32 : index
  scf.if %high {{
    memref.store %n, %s[%low_place] : {TILE} // HERE
  }}""",
        "memref.store", "this write and the write by", "memref.store",
    ),
    "read after write": (
        f"""  memref.store %one, %s[%t] : {TILE} // OTHER
  SYNC
  %v = memref.load %s[%other] : {TILE} // HERE""",
        "memref.load", "this read and the write by", "memref.store",
    ),
    "write after read": (
        f"""  memref.store %one, %s[%t] : {TILE}
  "gpu.barrier"() : () -> ()
  %v = memref.load %s[%other] : {TILE} // OTHER
  SYNC
  memref.store %v, %s[%t] : {TILE} // HERE""",
        "memref.store", "this write and the read by", "memref.load",
    ),
    "stmatrix after load": (
        f"""  %h = memref.alloc() : {HALVES}
  %zero = arith.constant 0.0 : f16
  %z = cute_nvgpu.fragment.splat %zero : f16 -> !cute_nvgpu.fragment<2xf16>
  memref.store %zero, %h[%t, %c0] : {HALVES}
  "gpu.barrier"() : () -> ()
  %v = memref.load %h[%other, %c0] : {HALVES} // OTHER
  SYNC
  scf.if %low {{
    cute_nvgpu.stmatrix %z, %h[%t, %c0] : !cute_nvgpu.fragment<2xf16>, {HALVES} // HERE
  }}""",
        "cute_nvgpu.stmatrix", "this write and the read by", "memref.load",
    ),
    "store after wider accesses": (
        f"""  %h = memref.alloc() : {HALVES}
  %zero = arith.constant 0.0 : f16
  %z = cute_nvgpu.fragment.splat %zero : f16 -> !cute_nvgpu.fragment<2xf16>
  cute_nvgpu.stmatrix %z, %h[%other, %c0] : !cute_nvgpu.fragment<2xf16>, {HALVES}
  "gpu.barrier"() : () -> ()
  %f = cute_nvgpu.ldmatrix %h[%other, %c0] : {HALVES} -> !cute_nvgpu.fragment<2xf16> // OTHER
  SYNC
  memref.store %zero, %h[%t, %c1] : {HALVES} // HERE""",
        "memref.store", "this write and the read by", "cute_nvgpu.ldmatrix",
    ),
    "ldmatrix after store": (
        f"""  %h = memref.alloc() : {HALVES}
  %zero = arith.constant 0.0 : f16
  %c24 = arith.constant 24 : index
  scf.for %k = %c0 to %c24 step %c1 {{
    memref.store %zero, %h[%other, %k] : {HALVES} // OTHER
  }}
  SYNC
  %f = cute_nvgpu.ldmatrix %h[%t, %c0] : {HALVES} -> !cute_nvgpu.fragment<2xf16> // HERE""",
        "cute_nvgpu.ldmatrix", "this read and the write by", "memref.store",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RACES)
def test_race_across_warps(name: str):
    body, op, words, before = RACES[name]
    for level in LEVELS:
        other = LOWERED[before] if level == "ptx" else before
        fault(body.replace("SYNC", ""), op, "race on shared memory", f"{words} '{other}'",
              "ordered by no barrier", levels=(level,))  # fmt: skip
    # A warp's own barrier orders nothing between warps.
    fault(body.replace("SYNC", "cute_nvgpu.bar.warp.sync"), op, words)
    fine(body.replace("SYNC", '"gpu.barrier"() : () -> ()'))
    fine(body.replace("SYNC", "cute_nvgpu.bar.sync 3 threads 64"))


WARP_RACES = {
    "read after write": (
        f"""  memref.store %one, %s[%t] : {TILE} // OTHER
  SYNC
  %v = memref.load %s[%next] : {TILE} // HERE""",
        "memref.load", "this read and the write by",
    ),
    "write after read": (
        f"""  memref.store %one, %s[%t] : {TILE}
  cute_nvgpu.bar.warp.sync
  %v = memref.load %s[%next] : {TILE} // OTHER
  SYNC
  memref.store %v, %s[%t] : {TILE} // HERE""",
        "memref.store", "this write and the read by",
    ),
    "write by the last of those who read together": (
        f"""  scf.if %first {{
    memref.store %one, %s[%c0] : {TILE}
  }}
  cute_nvgpu.bar.warp.sync
  %v = memref.load %s[%c0] : {TILE} // OTHER
  SYNC
  %last = arith.cmpi eq, %t, %c31 : index
  scf.if %last {{
    memref.store %one, %s[%c0] : {TILE} // HERE
  }}""",
        "memref.store", "this write and the read by",
    ),
    "write after write": (
        f"""  memref.store %one, %s[%t] : {TILE} // OTHER
  SYNC
  %n = arith.index_cast %t : index to i32
  memref.store %n, %s[%next] : {TILE} // HERE""",
        "memref.store", "this write and the write by",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WARP_RACES)
def test_race_within_a_warp(name: str):
    body, op, words = WARP_RACES[name]
    fault(body.replace("SYNC", ""), op, "race on shared memory", words, block=(32,))
    fine(body.replace("SYNC", "cute_nvgpu.bar.warp.sync"), block=(32,))
    fine(body.replace("SYNC", '"gpu.barrier"() : () -> ()'), block=(32,))


def test_two_threads_of_one_store_write_one_place():
    body = f"""  %n = arith.index_cast %t : index to i32
  memref.store VALUE, %s[%c0] : {TILE} // HERE"""
    fault(body.replace("VALUE", "%n"), "memref.store", "race on shared memory",
          "two threads of the op write one byte")  # fmt: skip
    fine(body.replace("VALUE", "%one"))


def test_two_threads_of_one_copy_write_one_place():
    body = (
        "  cute_nvgpu.cp.async %p[FROM] to %s[%c0] size 4 cache ca "
        f": memref<?xi32> to {TILE} // HERE"
    )
    fault(body.replace("FROM", "%t"), "cute_nvgpu.cp.async", "race on shared memory",
          "two threads of the op write one byte")  # fmt: skip
    fine(body.replace("FROM", "%c0"))


def test_a_barrier_of_some_warps_does_not_order_the_others():
    tile = TILE.replace("64", "128")
    body = f"""  %big = memref.alloc() : {tile}
  memref.store %one, %big[%t] : {tile} // OTHER
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %two_warps = arith.cmpi ult, %t, %c64 : index
  %three_warps = arith.cmpi ult, %t, %c96 : index
  scf.if %two_warps {{
    cute_nvgpu.bar.sync 1 threads 64
  }}
  %up = arith.addi %t, %c32 : index
  scf.if READERS {{
    %v = memref.load %big[%up] : {tile} // HERE
  }}"""
    fault(body.replace("READERS", "%three_warps"), "memref.load", "this read and the write by",
          thread=(32, 0, 0), block=(128,))  # fmt: skip
    # Warps 0 and 1 have met, and warp 0 reads what warp 1 wrote.
    fine(body.replace("READERS", "%low"), block=(128,))


def test_who_only_arrives_learns_nothing():
    fault(
        f"""  scf.if %low {{
    memref.store %one, %s[%t] : {TILE} // OTHER
    cute_nvgpu.bar.sync 1 threads 64
  }} else {{
    cute_nvgpu.bar.arrive 1 threads 64
    %v = memref.load %s[%other] : {TILE} // HERE
  }}""",
        "memref.load", "this read and the write by",
    )  # fmt: skip


def test_what_comes_after_an_arrival_is_not_before_the_barrier():
    body = f"""  scf.if %low {{
    memref.store %one, %s[%t] : {TILE}
    cute_nvgpu.bar.arrive 1 threads 64
    AGAIN
  }} else {{
    cute_nvgpu.bar.sync 1 threads 64
    %v = memref.load %s[%other] : {TILE} // HERE
  }}"""
    fault(body.replace("AGAIN", f"memref.store %one, %s[%t] : {TILE} // OTHER"), "memref.load",
          "this read and the write by")  # fmt: skip
    fine(body.replace("AGAIN", ""))


# Asynchronous copies

COPY = f"""  cute_nvgpu.cp.async %p[%t] to %s[%t] size 4 cache ca : memref<?xi32> to {TILE} // OTHER
  cute_nvgpu.cp.async.commit_group
"""
COPY_LINE = COPY.split("\n")[0]


@pytest.mark.parametrize("access, op, verb", [
    (f"%v = memref.load %s[%t] : {TILE} // HERE", "memref.load", "read"),
    (f"memref.store %one, %s[%t] : {TILE} // HERE", "memref.store", "write"),
    (COPY_LINE.strip().replace("OTHER", "HERE"), "cute_nvgpu.cp.async", "write"),
])  # fmt: skip
def test_destination_of_a_copy_before_its_wait(access: str, op: str, verb: str):
    for level, name in (("atom", "cute_nvgpu.cp.async"), ("ptx", "ptx.cp.async")):
        fault(COPY + "  " + access, op, f"{verb} of shared memory that '{name}'",
              "is still copying to", "no cp.async.wait_group has completed it",
              levels=(level,))  # fmt: skip
    fine(f"{COPY}  cute_nvgpu.cp.async.wait_group 0\n  {access}")


def test_wait_for_too_few_groups():
    body = f"""{COPY}  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group COUNT
  %v = memref.load %s[%t] : {TILE} // HERE"""
    fault(body.replace("COUNT", "2"), "memref.load", "no cp.async.wait_group has completed it")
    fine(body.replace("COUNT", "1"))


def test_wait_for_a_copy_that_no_group_holds():
    fault(
        f"""{COPY_LINE}
  cute_nvgpu.cp.async.wait_group 0
  %v = memref.load %s[%t] : {TILE} // HERE""",
        "memref.load", "no cp.async.wait_group has completed it", thread=(0, 0, 0),
    )  # fmt: skip


def test_a_copy_is_seen_by_other_threads_after_a_barrier_only():
    body = f"""{COPY}  cute_nvgpu.cp.async.wait_group 0
  SYNC
  %v = memref.load %s[%other] : {TILE} // HERE"""
    for level, name in (("atom", "cute_nvgpu.cp.async"), ("ptx", "ptx.cp.async")):
        fault(body.replace("SYNC", ""), "memref.load", f"this read and the write by '{name}'",
              levels=(level,))  # fmt: skip
    fine(body.replace("SYNC", '"gpu.barrier"() : () -> ()'))


def test_a_wait_of_another_thread_completes_nothing():
    """The other warp's wait and a barrier: the copying thread has not waited."""
    fault(
        f"""{COPY}  scf.if %low {{
    cute_nvgpu.cp.async.wait_group 0
  }}
  "gpu.barrier"() : () -> ()
  %v = memref.load %s[%other] : {TILE} // HERE""",
        "memref.load", "no cp.async.wait_group has completed it", thread=(0, 0, 0),
    )  # fmt: skip


def test_copy_over_what_others_still_read():
    body = f"""  memref.store %one, %s[%t] : {TILE}
  "gpu.barrier"() : () -> ()
  %v = memref.load %s[%other] : {TILE} // OTHER
  SYNC
{COPY_LINE.replace("OTHER", "HERE")}"""
    fault(body.replace("SYNC", ""), "cute_nvgpu.cp.async", "this write and the read by")
    fine(body.replace("SYNC", '"gpu.barrier"() : () -> ()'))
