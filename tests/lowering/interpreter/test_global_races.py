"""Races on global memory: two accesses that nothing orders, with `races="error"`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from faults import fault, kernel, run
from run_levels import LEVELS, at_levels
from test_examples import gemm_sm90_arguments
from test_mbarriers import args, made
from test_schedules import EXAMPLES
from test_thread_clocks import STORED

import tilewright as tw
from tilewright.lowering.interpreter.machine.word_accesses import Readers

BARRIER = '"gpu.barrier"() : () -> ()'
P = "memref<?xi32>"
CTA = '  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index\n'


def racy(body: str, op: str, *words: str, **launch: Any) -> None:
    """An error, and none where races are ignored."""
    fault(body, op, "race on global memory", *words, races="error", **launch)
    for level in LEVELS:
        run(kernel(body), level, [np.zeros(64, np.int32)], races="ignore", **launch)


def fine(body: str, **launch: Any) -> None:
    for level in LEVELS:
        run(kernel(body), level, [np.zeros(64, np.int32)], races="error", **launch)


EXCHANGE = f"""  %n = arith.index_cast %t : index to i32
  memref.store %n, %p[%t] : {P} // OTHER
  SYNC
  %v = memref.load %p[%other] : {P} // HERE"""


def test_an_exchange_without_a_barrier():
    racy(EXCHANGE.replace("SYNC", "").replace("// OTHER", ""), "memref.load",
         "this read and the write by", "in thread 63 ")  # fmt: skip
    fine(EXCHANGE.replace("SYNC", BARRIER))


def test_a_barrier_of_the_warp():
    body = EXCHANGE.replace("%other", "%next")
    racy(body.replace("SYNC", ""), "memref.load", "this read and the write by")
    fine(body.replace("SYNC", "cute_nvgpu.bar.warp.sync"))


def test_threads_that_write_one_element():
    body = f"""  %n = arith.index_cast %t : index to i32
  memref.store %n, %p[%c0] : {P} // HERE"""
    racy(body, "memref.store", "two threads of the op write one element")
    fine(f"  memref.store %one, %p[%c0] : {P}")


def test_warps_that_write_one_element():
    body = f"""  %place = arith.remui %t, %c32 : index
  %n = arith.index_cast %t : index to i32
  scf.if %low {{
    memref.store %n, %p[%place] : {P} // OTHER
  }}
  SYNC
  %high = arith.cmpi uge, %t, %c32 : index
  scf.if %high {{
    memref.store %n, %p[%place] : {P} // HERE
  }}"""
    racy(body.replace("SYNC", ""), "memref.store", "this write and the write by")
    fine(body.replace("SYNC", BARRIER))


def test_a_write_over_what_another_thread_reads():
    body = f"""  %v = memref.load %p[%other] : {P} // OTHER
  SYNC
  memref.store %v, %p[%t] : {P} // HERE"""
    racy(body.replace("SYNC", ""), "memref.store", "this write and the read by")
    fine(body.replace("SYNC", BARRIER))


def test_accesses_of_several_widths():
    """Vectors first, then single elements of them."""
    vector = "!cute_nvgpu.fragment<4xi32>"
    body = f"""  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : index
  %few = arith.cmpi ule, %t, %c15 : index
  %n = arith.index_cast %t : index to i32
  scf.if %few {{
    %place = arith.muli %t, %c4 : index
    %v = cute_nvgpu.fragment.splat %n : i32 -> {vector}
    cute_nvgpu.fragment.store %v, %p[%place] : {vector}, {P} // OTHER
  }}
  SYNC
  memref.store %one, %p[%t] : {P} // HERE"""
    racy(body.replace("SYNC", ""), "memref.store", "this write and the write by")
    fine(body.replace("SYNC", BARRIER))


def test_a_cta_that_reads_what_another_one_writes():
    body = f"""{CTA}  %c64 = arith.constant 64 : index
  %second = arith.cmpi eq, %block, %c1 : index
  %n = arith.index_cast %t : index to i32
  scf.if %second {{
    %v = memref.load %p[%c0] : {P}
    memref.store %n, %p[%c63] : {P}
  }} else {{
    memref.store %n, %p[%t] : {P}
  }}"""
    for level in LEVELS:
        with pytest.raises(tw.ExecutionError, match=r"on global memory: .* another CTA|two thr"):
            run(kernel(body), level, [np.zeros(64, np.int32)], grid=(2,), races="error")
        with pytest.warns(UserWarning, match="race on global memory"):
            run(kernel(body), level, [np.zeros(64, np.int32)], grid=(2,), races="warn")


@at_levels()
def test_a_gemm_has_none(level: Any):
    arguments, expected = gemm_sm90_arguments(128, 512, 64)
    c = tw.interpret(
        (EXAMPLES / "gemm_sm90.mlir").read_text(), grid=(2, 1), block=(384,), args=arguments,
        numerics="exact", level=level, races="error",
    )[2]  # fmt: skip
    np.testing.assert_array_equal(c[:, :512], expected)


@pytest.mark.parametrize("value, races", [("%one", False), ("%n", True)])
def test_ctas_that_store_one_box(value: str, races: bool):
    """Both store what is there then: no race."""
    body = f"{CTA}  %n = arith.index_cast %block : index to i32\n{STORED}"
    text = made(body.replace("memref.store %one", f"memref.store {value}").replace("AFTER", "")
                .replace("MARK", "").replace("FENCE", "cute_nvgpu.fence.proxy.async"))  # fmt: skip
    for level in LEVELS:
        if not races:
            run(text, level, args(), grid=(2,), races="error")
            continue
        with pytest.raises(tw.ExecutionError, match=r"this write and the write by .* another CTA"):
            run(text, level, args(), grid=(2,), races="error")


# Thread 0 and then thread 32 read an element; thread 63, which one of them has told, writes it.
TWO_READERS = f"""  %c48 = arith.constant 48 : index
  %hi = arith.cmpi eq, %t, %c32 : index
  %last = arith.cmpi eq, %t, %c63 : index
  %high = arith.cmpi uge, %t, %c32 : index
  scf.if %first {{
    %u = memref.load %p[%c0] : {P} // OTHER
  }}
  BEFORE
  scf.if %hi {{
    %v = memref.load %p[%c0] : {P}
  }}
  scf.if %high {{
    cute_nvgpu.bar.warp.sync
  }}
  scf.if %last {{
    memref.store %one, %p[%c0] : {P} // HERE
  }}"""


def test_the_first_of_two_readers():
    """The last one is known to be before the write, the first one is not."""
    racy(TWO_READERS.replace("BEFORE", ""), "memref.store", "this write and the read", "thread 0 ")
    fine(TWO_READERS.replace("BEFORE", BARRIER))


def test_readers_of_two_ctas():
    """CTA 1 reads after CTA 0, and writes: it is in a race with CTA 0, not with itself."""
    body = f"""{CTA}  %second = arith.cmpi eq, %block, %c1 : index
  %v = memref.load %p[%c0] : {P}
  {BARRIER}
  %writes = arith.andi %second, %first : i1
  scf.if %writes {{
    memref.store %one, %p[%c0] : {P} // HERE
  }}"""
    racy(body, "memref.store", "this write and the read by", "another CTA", grid=(2,))
    fine(body.replace("%p[%c0]", "%p[%block]"), grid=(2,))


@pytest.mark.parametrize("seed", range(6))
def test_readers_are_all_that_a_write_may_race_with(seed: int):
    """Against a set of all readers of each word: a write meets all of its own cluster, and one
    of another cluster where there is any."""
    rng = np.random.default_rng(seed)
    cluster, words, unit = 8, 12, 1
    readers, reads = Readers(words, cluster), [dict[int, int]() for _ in range(words)]
    readers._limit = 16  # pyright: ignore[reportPrivateUsage]
    for time in range(60):
        if unit == 1 and time == 30:
            readers.divided(2)
            unit, reads = 2, [dict(word) for word in reads for _ in range(2)]
        who = rng.choice(3 * cluster, rng.integers(1, 6), replace=False)
        places = rng.integers(0, len(reads), (len(who), 2))
        readers.note(places, who[:, None], np.full((len(who), 1), time, np.int32), time + 1)
        for thread, row in zip(who.tolist(), places.tolist(), strict=True):
            for word in row:
                reads[word][thread] = time
        written = rng.integers(0, len(reads), (3, 2))
        seen = [dict[int, int]() for _ in range(written.size)]
        for index, (threads, stamps, ops) in readers.of(written):
            assert (ops == stamps + 1)[threads >= 0].all()
            for at, thread, stamp in zip(index, threads.tolist(), stamps.tolist(), strict=True):
                if thread >= 0:
                    seen[at][thread] = max(stamp, seen[at].get(thread, -1))
        for word, got in zip(written.ravel().tolist(), seen, strict=True):
            assert all(reads[word][thread] >= stamp for thread, stamp in got.items())
            clusters = {thread // cluster for thread in reads[word]}
            assert len({thread // cluster for thread in got}) >= min(len(clusters), 2)
            if len(clusters) == 1:
                assert got == reads[word]
