"""How threads run: they diverge and meet again, specialise by warp, and fill many waves of CTAs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from both_levels import both
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from run_levels import LEVELS, at_levels

import tilewright as tw
from tilewright.execution import run
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine import grid
from tilewright.lowering.interpreter.values import PartlyUndefined, Undefined, joined, take, uniform
from tilewright.pipeline import verified

SMEM = "#cute<space smem>"
HEAD = """
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %b = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %g = "gpu.global_id"() <{dimension = #gpu<dim x>}> : () -> index
  %n = arith.index_cast %t : index to i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %low = arith.cmpi ult, %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
"""


def kernel(body: str, arguments: str = "%o: memref<?xi32>") -> str:
    return f"func.func @k({arguments}) attributes {{gpu.kernel}} {{{HEAD}{body}\n  func.return\n}}"


def zeros(count: int = 64) -> np.ndarray:
    return np.zeros(count, np.int32)


# Divergence and reconvergence


@at_levels()
def test_threads_meet_behind_what_they_did_apart(level: str):
    """An op that needs whole warps, after loops of different length in nested branches."""
    text = kernel("""  %sum = scf.for %k = %c0 to %t step %c1 iter_args(%a = %zero) -> (i32) {
    %bit = arith.andi %a, %one : i32
    %odd = arith.cmpi ne, %bit, %zero : i32
    %next = scf.if %odd -> (i32) {
      %inner = scf.for %j = %c0 to %k step %c1 iter_args(%s = %a) -> (i32) {
        %up = arith.addi %s, %one : i32
        scf.yield %up : i32
      }
      scf.yield %inner : i32
    } else {
      %up = arith.addi %a, %n : i32
      scf.yield %up : i32
    }
    scf.yield %next : i32
  }
  cute_nvgpu.bar.warp.sync
  scf.if %low {
    cute_nvgpu.bar.warp.sync
    memref.store %sum, %o[%t] : memref<?xi32>
  }
  "gpu.barrier"() : () -> ()
  memref.store %sum, %o[%t] : memref<?xi32>""")
    (found,) = tw.interpret(text, grid=(1,), block=(64,), args=[zeros()], level=level)  # type: ignore[arg-type]
    for thread, result in enumerate(found):
        a = 0
        for k in range(thread):
            a = a + k if a % 2 else a + thread
        assert result == a


def test_threads_that_left_are_not_waited_for_by_warp_ops_of_others():
    """A warp goes on where another has returned."""
    text = kernel("""  cf.cond_br %low, ^stay, ^leave
^stay:
  cute_nvgpu.bar.sync 1 threads 32
  memref.store %n, %o[%t] : memref<?xi32>
  func.return
^leave:""")
    (found,) = both(text, [zeros() - 1])
    assert_array_equal(found, np.where(np.arange(64) < 32, np.arange(64), -1))


def test_a_barrier_in_a_block_that_is_not_whole_warps():
    tile = f"memref<50xi32, {SMEM}>"
    text = kernel(f"""  %s = memref.alloc() : {tile}
  %c49 = arith.constant 49 : index
  memref.store %n, %s[%t] : {tile}
  "gpu.barrier"() : () -> ()
  %other = arith.subi %c49, %t : index
  %v = memref.load %s[%other] : {tile}
  memref.store %v, %o[%t] : memref<?xi32>""")
    assert_array_equal(both(text, [zeros(50)], block=(50,))[0], np.arange(50)[::-1])


def test_blocks_pass_their_barriers_independently():
    """Block b goes through b rounds of a loop with a barrier in it."""
    tile = f"memref<64xi32, {SMEM}>"
    text = kernel(f"""  %s = memref.alloc() : {tile}
  memref.store %n, %s[%t] : {tile}
  "gpu.barrier"() : () -> ()
  %c63 = arith.constant 63 : index
  %c5 = arith.constant 5 : index
  %turn = arith.addi %t, %c5 : index
  %from = arith.andi %turn, %c63 : index
  scf.for %k = %c0 to %b step %c1 {{
    %v = memref.load %s[%from] : {tile}
    "gpu.barrier"() : () -> ()
    memref.store %v, %s[%t] : {tile}
    "gpu.barrier"() : () -> ()
  }}
  %v = memref.load %s[%t] : {tile}
  memref.store %v, %o[%g] : memref<?xi32>""")
    (found,) = both(text, [zeros(7 * 64)], grid=(7,))
    for block, row in enumerate(found.reshape(7, 64)):
        assert_array_equal(row, (np.arange(64) + 5 * block) % 64)


# Warp specialisation

BUFFER = f"memref<2x32xi32, {SMEM}>"
STORE = f"""      %v{{0}} = memref.load %in[%k{{0}}, %lane] : memref<?x32xi32>
      memref.store %v{{0}}, %s[%stage{{0}}, %lane] : {BUFFER}"""
COPY = f"""      cute_nvgpu.cp.async %in[%k{{0}}, %lane] to %s[%stage{{0}}, %lane] size 4 cache ca
        : memref<?x32xi32> to {BUFFER}
      cute_nvgpu.cp.async.commit_group
      cute_nvgpu.cp.async.wait_group 0"""


def pipeline(produce: str) -> str:
    """Warp 0 fills two buffers in turn, warp 1 empties them: barriers 1 and 2 say "full", 3 and 4
    "empty", each with one warp that waits and one that only arrives."""
    names = "    %k0 = arith.addi %k, %c0 : index\n    %k1 = arith.addi %k, %c1 : index"
    producer = "\n".join(
        f"""      cute_nvgpu.bar.sync {3 + stage} threads 64
{produce.format(stage)}
      cute_nvgpu.bar.arrive {1 + stage} threads 64"""
        for stage in (0, 1)
    )
    consumer = "\n".join(
        f"""      cute_nvgpu.bar.sync {1 + stage} threads 64
      %w{stage} = memref.load %s[%stage{stage}, %mirror] : {BUFFER}
      %x{stage} = arith.muli %a{stage}, %three : i32
      %a{stage + 1} = arith.addi %x{stage}, %w{stage} : i32
      scf.if %again {{
        cute_nvgpu.bar.arrive {3 + stage} threads 64
      }}"""
        for stage in (0, 1)
    )
    return kernel(
        f"""  %s = memref.alloc() : {BUFFER}
  %stage0 = arith.constant 0 : index
  %stage1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %three = arith.constant 3 : i32
  %mirror = arith.subi %c31, %lane : index
  %tiles = arith.index_cast %count : i32 to index
  %end = arith.subi %tiles, %c2 : index
  scf.if %low {{
    scf.for %k = %c0 to %tiles step %c2 {{
{names}
{producer}
    }}
  }} else {{
    cute_nvgpu.bar.arrive 3 threads 64
    cute_nvgpu.bar.arrive 4 threads 64
    %sum = scf.for %k = %c0 to %tiles step %c2 iter_args(%a0 = %zero) -> (i32) {{
      %again = arith.cmpi ult, %k, %end : index
{consumer}
      scf.yield %a2 : i32
    }}
    memref.store %sum, %o[%lane] : memref<?xi32>
  }}""",
        "%in: memref<?x32xi32>, %o: memref<?xi32>, %count: i32",
    )


@pytest.mark.parametrize("produce", [STORE, COPY], ids=["store", "cp.async"])
def test_producer_and_consumer_warps_with_two_buffers(produce: str):
    tiles = default_rng(0).integers(-9, 9, (20, 32)).astype(np.int32)
    found = both(pipeline(produce), [tiles, zeros(32), len(tiles)])[1]
    expected = np.zeros(32, np.int32)
    for tile in tiles:
        expected = expected * 3 + tile[::-1]
    assert_array_equal(found, expected)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("produce", [STORE, COPY], ids=["store", "cp.async"])
@at_levels()
@pytest.mark.parametrize("barrier", [f"sync {n}" for n in (1, 2, 3, 4)])
def test_a_pipeline_without_one_of_its_waits_is_an_error(produce: str, level: str, barrier: str):
    text = pipeline(produce).replace(f"cute_nvgpu.bar.{barrier} threads 64", "")
    tiles = np.ones((8, 32), np.int32)
    with pytest.raises(
        tw.ExecutionError, match=r"race|nothing has written|deadlock|came|copying|used again"
    ):
        tw.interpret(text, grid=(1,), block=(64,), args=[tiles, zeros(32), 8], level=level)  # type: ignore[arg-type]


# Waves

WAVES = f"""  %s = memref.alloc() : memref<64xi32, {SMEM}>
  %m = arith.index_cast %b : index to i32
  %mine = arith.muli %m, %n : i32
  memref.store %mine, %s[%t] : memref<64xi32, {SMEM}>
  "gpu.barrier"() : () -> ()
  %c63 = arith.constant 63 : index
  %other = arith.subi %c63, %t : index
  %v = memref.load %s[%other] : memref<64xi32, {SMEM}>
  %sum = scf.for %k = %c0 to %b step %c1 iter_args(%a = %v) -> (i32) {{
    %next = arith.addi %a, %n : i32
    scf.yield %next : i32
  }}
  memref.store %sum, %o[%g] : memref<?xi32>"""


@at_levels()
@pytest.mark.parametrize("resident", [1, 64, 200, 64 * 10, 64 * 11, 10**6])
def test_waves_give_what_one_wave_gives(level: Any, resident: int, monkeypatch: pytest.MonkeyPatch):
    blocks, per_wave = 11, max(1, resident // 64)
    calls: list[tuple[int, int]] = []
    settings: dict[str, Any] = {"grid": (blocks, 1, 1), "block": (64, 1, 1), "level": level}
    whole = run(verified(kernel(WAVES))[0], args=[zeros(blocks * 64)], **settings)
    monkeypatch.setattr(grid, "RESIDENT_THREADS", resident)
    parts = run(
        verified(kernel(WAVES))[0],
        args=[zeros(blocks * 64)],
        progress=lambda done, total: calls.append((done, total)),
        **settings,
    )
    assert_array_equal(parts.arrays[0], whole.arrays[0])
    thread = np.arange(64)
    for block, row in enumerate(whole.arrays[0].reshape(blocks, 64)):
        assert_array_equal(row, block * (63 - thread) + block * thread)
    assert parts.lane_operations == whole.lane_operations > 0
    ends = [*range(per_wave, blocks, per_wave), blocks]
    assert calls == [(end, blocks) for end in ends]


def test_later_waves_see_what_earlier_ones_wrote(monkeypatch: pytest.MonkeyPatch):
    """Blocks run in order of their number: each adds to the sum that the one before it left."""
    monkeypatch.setattr(grid, "RESIDENT_THREADS", 1)
    text = kernel("""  %v = memref.load %o[%t] : memref<?xi32>
  %m = arith.index_cast %b : index to i32
  %sum = arith.addi %v, %m : i32
  memref.store %sum, %o[%t] : memref<?xi32>""")
    (found,) = both(text, [zeros()], grid=(5,), races="ignore")
    assert (found == 10).all()


def test_shared_memory_of_a_new_wave_is_unwritten(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(grid, "RESIDENT_THREADS", 1)
    tile = f"memref<64xi32, {SMEM}>"
    text = kernel(f"""  %s = memref.alloc() : {tile}
  %first = arith.cmpi eq, %b, %c0 : index
  scf.if %first {{
    memref.store %n, %s[%t] : {tile}
  }}
  %v = memref.load %s[%t] : {tile}""")
    for level in LEVELS:
        with pytest.raises(tw.ExecutionError, match=r"nothing has written \(block \(1,0,0\)"):
            tw.interpret(text, grid=(2,), block=(64,), args=[zeros()], level=level)  # type: ignore[arg-type]


# Values: one for all threads, or one each


def test_one_value_for_all_meets_one_for_each():
    text = kernel("""  %five = arith.constant 5 : i32
  %half = scf.if %low -> (i32) {
    scf.yield %five : i32
  } else {
    scf.yield %n : i32
  }
  %same = scf.if %low -> (i32) {
    scf.yield %five : i32
  } else {
    %also = arith.addi %five, %zero : i32
    scf.yield %also : i32
  }
  %apart = scf.if %low -> (i32) {
    scf.yield %one : i32
  } else {
    scf.yield %five : i32
  }
  %c64 = arith.constant 64 : index
  %second = arith.addi %t, %c64 : index
  %third = arith.addi %second, %c64 : index
  memref.store %half, %o[%t] : memref<?xi32>
  memref.store %same, %o[%second] : memref<?xi32>
  memref.store %apart, %o[%third] : memref<?xi32>""")
    (found,) = both(text, [zeros(192)])
    thread = np.arange(64)
    expected = [np.where(thread < 32, 5, thread), np.full(64, 5), np.where(thread < 32, 1, 5)]
    assert_array_equal(found.reshape(3, 64), expected)


def test_every_third_thread_keeps_its_values_through_many_splits():
    """Interleaved gangs: what is merged goes back to the thread that it came from."""
    body = "  %three = arith.constant 3 : i32\n  %v0 = arith.addi %n, %zero : i32\n"
    for step in range(6):
        body += f"""  %x{step} = arith.addi %v{step}, %one : i32
  %r{step} = arith.remui %x{step}, %three : i32
  %p{step} = arith.cmpi eq, %r{step}, %zero : i32
  %v{step + 1} = scf.if %p{step} -> (i32) {{
    %y{step} = arith.muli %v{step}, %three : i32
    scf.yield %y{step} : i32
  }} else {{
    %z{step} = arith.addi %v{step}, %n : i32
    scf.yield %z{step} : i32
  }}
"""
    (found,) = both(kernel(body + "  memref.store %v6, %o[%t] : memref<?xi32>"), [zeros()])
    value = thread = np.arange(64)
    for _ in range(6):
        value = np.where((value + 1) % 3 == 0, value * 3, value + thread)
    assert_array_equal(found, value)


def test_views_differ_by_thread_after_a_branch():
    """A memref made before a split is used after it, with a base and extents of each thread's."""
    view = "memref<?xi32, strided<[?], offset: ?>>"
    text = kernel(
        f"""  %len = arith.addi %t, %c1 : index
  %v = memref.reinterpret_cast %in to offset: [%t], sizes: [%len], strides: [%len]
    : memref<?xi32> to {view}
  %x = scf.if %low -> (i32) {{
    %y = memref.load %v[%c0] : {view}
    scf.yield %y : i32
  }} else {{
    %y = memref.load %v[%c1] : {view}
    scf.yield %y : i32
  }}
  %z = memref.load %v[%c0] : {view}
  %sum = arith.addi %x, %z : i32
  memref.store %sum, %o[%t] : memref<?xi32>""",
        "%in: memref<?xi32>, %o: memref<?xi32>",
    )
    given = default_rng(0).integers(0, 99, 200).astype(np.int32)
    thread = np.arange(64)
    expected = given[thread] + given[np.where(thread < 32, thread, 2 * thread + 1)]
    assert_array_equal(both(text, [given, zeros()])[1], expected)


ORDER = np.array([0, 3, 1, 4, 2])


def test_joined_arrays():
    a, b = np.array([1, 2, 3], np.uint32), np.array([7, 8], np.uint32)
    assert_array_equal(joined(a, b, (3, 2), ORDER), [1, 7, 2, 8, 3])
    five = uniform(5, "b32")
    assert joined(five, uniform(5, "b32"), (3, 2), ORDER) is five
    assert_array_equal(joined(five, b, (3, 2), ORDER), [5, 7, 5, 8, 5])
    assert_array_equal(joined(five, uniform(6, "b32"), (3, 2), ORDER), [5, 6, 5, 6, 5])
    pairs = joined(np.ones((1, 2), np.uint8), np.zeros((2, 2), np.uint8), (3, 2), ORDER)
    assert_array_equal(pairs, [[1, 1], [0, 0], [1, 1], [0, 0], [1, 1]])


def test_taken_values():
    lanes = np.array([2, 0])
    assert_array_equal(take(np.array([4, 5, 6]), lanes), [6, 4])
    five = uniform(5, "b32")
    assert take(five, lanes) is five and take(None, lanes) is None


def test_a_value_that_some_threads_have_not():
    b = np.array([7, 8], np.uint32)
    value = joined(Undefined("here"), b, (3, 2), ORDER)
    assert isinstance(value, PartlyUndefined)
    assert_array_equal(take(value, np.array([3, 1])), [8, 7])
    assert type(take(value, np.array([0, 2]))) is Undefined
    some = take(value, np.array([1, 2]))
    assert isinstance(some, PartlyUndefined)
    with pytest.raises(Fault, match=r"undefined register \(here\)") as caught:
        np.add(some, 1)
    assert caught.value.lane == 1
    with pytest.raises(Fault, match=r"undefined register \(here\)"):
        some.astype(np.uint8)
    again = joined(value, uniform(9, "b32"), (5, 1), np.array([5, 0, 1, 2, 3, 4]))
    assert_array_equal(take(again, np.array([0, 2, 4])), [9, 7, 8])
    nothing = joined(Undefined("here"), Undefined("there"), (3, 2), ORDER)
    assert type(nothing) is Undefined
