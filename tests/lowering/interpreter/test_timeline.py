"""Timelines: what warps did and waited for, when, by the model of latencies."""

from __future__ import annotations

import json
from collections import defaultdict
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from example_files import EXAMPLES
from faults import kernel
from test_examples import gemm_sm90_arguments

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import chip_of
from tilewright.lowering.interpreter.timeline.chrome import trace_json
from tilewright.lowering.interpreter.timeline.latencies import (
    COPIED_BYTES,
    LATENCIES,
    multiply_adds,
)
from tilewright.lowering.interpreter.timeline.launch_time import LaunchTime
from tilewright.lowering.interpreter.timeline.record import TimelineEvent
from tilewright.source.parsing import default_context

M, N, K = 128, 256, 512


@cache
def gemm() -> tuple[tw.Timeline, Any]:
    """The timeline of a GEMM of Hopper, and its result."""
    timeline, text = tw.Timeline(), (EXAMPLES / "gemm_sm90.mlir").read_text()
    args, _ = gemm_sm90_arguments(M, N, K)
    launch: Any = {"grid": (1,), "block": (384,), "args": args, "arch": "sm_90a"}
    result = tw.interpret(text, "gemm", watchers=[timeline], **launch)
    plain = tw.interpret(text, "gemm", level="ptx", **launch)
    pairs = zip(result, plain, strict=True)
    assert all(np.array_equal(one, other, equal_nan=True) for one, other in pairs)
    return timeline, result


def of(kind: str, name: str = "") -> list[TimelineEvent]:
    return [e for e in gemm()[0].events if e.kind == kind and e.name.startswith(name)]


def test_a_warp_does_one_thing_at_a_time() -> None:
    ends: dict[tuple[int, int], int] = defaultdict(int)
    for event in sorted((*of("run"), *of("wait")), key=lambda event: (event.start, event.end)):
        assert event.start >= ends[event.cta, event.warp], event
        ends[event.cta, event.warp] = event.end


def test_tensor_cores_take_their_turns() -> None:
    """All of the products, at the peak rate of the SM; two warpgroups share it."""
    turns = sorted((event.end - 16, event.start) for event in of("wgmma"))
    assert sum(end - start for end, start in turns) == M * N * K // multiply_adds("sm_90a", 16)
    assert all(a[0] <= b[1] for a, b in pairwise(turns))
    assert {event.warp for event in of("wgmma")} == {4, 8}


def test_a_consumer_waits_for_the_last_copy_of_its_stage() -> None:
    loads = sorted(event.end for event in of("tma", "cp.async.bulk.tensor.load"))
    first = next(e for e in of("wait", "mbarrier") if e.warp == 4)
    # Five copies fill the first stage.
    assert first.end == loads[4] + LATENCIES["ptx.mbarrier.try_wait.parity"].result
    assert "phase 1" in first.name and first.line is not None


def test_a_producer_waits_for_a_stage_to_be_empty() -> None:
    waits = [e for e in of("wait", "mbarrier") if e.warp == 0]
    stages = 4
    assert sum(event.end - event.start > 100 for event in waits) >= K // 64 - stages


def test_a_barrier_ends_for_all_when_the_last_one_has_come() -> None:
    """Half of the warps have more to do before it."""
    timeline = tw.Timeline()
    body = """  %p7 = arith.constant 7 : i32
  scf.if %low {
    %x = memref.load %p[%t] : memref<?xi32>
    %y = arith.addi %x, %p7 : i32
    memref.store %y, %p[%t] : memref<?xi32>
  }
  "gpu.barrier"() : () -> ()"""
    args = [np.zeros(64, np.int32)]
    tw.interpret(
        kernel(body), grid=(2,), block=(64,), args=args, watchers=[timeline], races="ignore"
    )
    waits = [e for e in timeline.events if (e.cta, e.kind, e.name) == (0, "wait", "bar.sync")]
    early, late = sorted(waits, key=lambda event: event.end - event.start, reverse=True)
    assert early.end == late.end and (early.warp, late.warp) == (1, 0)
    assert early.end - early.start > LATENCIES["ptx.ld.global"].result
    assert late.end - late.start == LATENCIES["ptx.bar.sync"].result
    assert timeline.blocks == ["(0, 0, 0)", "(1, 0, 0)"]


def test_trace_events() -> None:
    trace = json.loads(trace_json(gemm()[0], "gemm.mlir"))
    events = trace["traceEvents"]
    names = [e["args"]["name"] for e in events if e["ph"] == "M"]
    assert names == ["CTA (0, 0, 0)", *(f"warp {warp}" for warp in range(12))]
    begun, ended = ({e["id2"]["local"] for e in events if e["ph"] == phase} for phase in "be")
    assert begun == ended and len(begun) == len([*of("wgmma"), *of("tma"), *of("cp.async.bulk")])
    (load,) = {e["args"]["line"] for e in events if e["name"] == "wgmma.fence"}
    assert (
        "wgmma.fence"
        in (EXAMPLES / "gemm_sm90.mlir").read_text().splitlines()[int(load.split(":")[1]) - 1]
    )
    assert all(e["ts"] >= 0 and e.get("dur", 0) >= 0 for e in events if "ts" in e)


def test_rows_are_of_ops_that_there_are() -> None:
    dialect = default_context().get_optional_dialect("ptx")
    assert dialect is not None
    ops = {op.name for op in dialect.operations}
    assert {name for name in LATENCIES if name not in ops} == {
        "ptx.ld.param", "ptx.ld.shared", "ptx.st.shared", "ptx.ld.global", "ptx.st.global",
        "ptx.atom.global", "ptx.atom.shared",
    }  # fmt: skip


@pytest.mark.parametrize("wrong", [{"level": "tile"}, {"schedule": 1}])
def test_settings_that_have_no_timeline(wrong: dict[str, Any]) -> None:
    launch: Any = {"grid": (1,), "block": (64,), "args": [np.zeros(64, np.int32)], **wrong}
    with pytest.raises(tw.ExecutionError, match="expected level 'ptx' and no schedule"):
        tw.interpret(kernel(""), watchers=[tw.Timeline()], **launch)


@pytest.mark.parametrize(
    "arch, bits, rate", [("sm_90a", 16, 2048), ("sm_90a", 8, 4096), ("sm_90a", 32, 1024),
                         ("sm_100a", 4, 16384), ("sm_80", 8, 2048), ("sm_121a", 16, 512)],
)  # fmt: skip
def test_rates_of_tensor_cores(arch: str, bits: int, rate: int) -> None:
    assert multiply_adds(arch, bits) == rate


COPIES = """.version 8.0
.target sm_90
.address_size 64
.visible .entry copies(.param .u64 from) {
  .reg .b32 %r<3>; .reg .b64 %rd<4>; .shared .align 16 .b8 to[32768];
  ld.param.u64 %rd1, [from];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16;
  add.s64 %rd3, %rd1, %rd2;
  shl.b32 %r1, %r1, 4;
  mov.u32 %r2, to;
  add.u32 %r2, %r2, %r1;
  COPY
  cp.async.wait_all;
  ret;
}"""


def test_copies_of_the_ctas_of_an_sm_take_turns() -> None:
    """Six CTAs of four warps on each SM, as many as have room, copy 512 bytes a warp sixteen
    times."""
    time, chip = LaunchTime(), chip_of((9, 0))
    copy = "cp.async.cg.shared.global [%r2+{}], [%rd3], 16;\n  "
    text = COPIES.replace("COPY", "".join(copy.format(2048 * i) for i in range(16)))
    tw.interpret(
        text, "copies", grid=(6 * chip.count,), block=(128,), args=[np.zeros(2048, np.uint8)],
        arch="sm_90a", races="ignore", watchers=[time],
    )  # fmt: skip
    turns = 6 * 4 * 16
    crowded = turns * (512 // COPIED_BYTES) / chip.ghz / 1e3
    assert time.microseconds == pytest.approx(crowded, rel=1e-3)


@pytest.mark.parametrize("registers, together", [(0, 6), (64, 6), (168, 3), (255, 2)])
def test_the_ctas_of_an_sm_share_its_registers(registers: int, together: int) -> None:
    """Six CTAs of four warps have room in shared memory, or as many as the 65536 registers of an SM
    are for."""
    chip, times = chip_of((9, 0)), list[float]()
    for ctas in (1, 6 * chip.count):
        times.append(_launched(COPIES.replace("COPY", ONE_COPY), ctas, LaunchTime(registers)))
    assert times[1] == pytest.approx(-(-6 // together) * times[0], rel=0.03)


UNEVEN = """mov.u32 %r1, %ctaid.x;
  setp.lt.u32 %p1, %r1, 2;
  @%p1 bra LONG;
  ret;
LONG:
  cp.async.cg.shared.global [%r2], [%rd3], 16;"""
ONE_COPY = "cp.async.cg.shared.global [%r2], [%rd3], 16;"


def test_sms_that_are_free_early_begin_with_other_ctas() -> None:
    """Where the first CTA takes longer than the last, two turns take less than twice its time."""
    text = COPIES.replace("COPY", UNEVEN).replace(".reg .b32", ".reg .pred %p<2>; .reg .b32")
    few, many = (_launched(text, 2 * n * chip_of((9, 0)).count, LaunchTime(255)) for n in (1, 2))
    assert few < many < 1.6 * few


def _launched(text: str, ctas: int, time: LaunchTime) -> float:
    args = [np.zeros(2048, np.uint8)]
    tw.interpret(text, "copies", grid=(ctas,), block=(128,), args=args, arch="sm_90a",
                 races="ignore", watchers=[time])  # fmt: skip
    return time.microseconds


@pytest.mark.parametrize(
    "access", ["st.shared.u32 [%r2+{}], %r1", "st.shared.v4.u32 [%r2+{}], {{%r1, %r1, %r1, %r1}}"]
)  # fmt: skip
def test_accesses_to_shared_memory_take_turns(access: str) -> None:
    """Words 16 bytes apart lie in eight banks, four in each; all 16 bytes are four cycles, too."""
    accesses = "".join(f"{access.format(2048 * i)};\n  " for i in range(16))
    turns, chip = 6 * 4 * 16, chip_of((9, 0))
    took = _launched(COPIES.replace("COPY", accesses), 6 * chip.count, LaunchTime())
    assert took == pytest.approx(turns * 4 / chip.ghz / 1e3)


def test_units_as_busy_as_each_other_hold_each_other_up() -> None:
    """Of 512 bytes each the way out of an SM takes nine cycles, the path to it and to shared memory
    four and four."""
    both = """st.global.v4.u32 [%rd3], {%r1, %r1, %r1, %r1};
  st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};
  """
    turns, chip = 6 * 4 * 16, chip_of((9, 0))
    took = _launched(COPIES.replace("COPY", 16 * both), 6 * chip.count, LaunchTime())
    assert took == pytest.approx(turns * (9**8 + 8**8) ** (1 / 8) / chip.ghz / 1e3, rel=1e-3)


def test_what_is_taken_next_is_there_when_the_last_is_stored() -> None:
    """Of two turns the second begins to multiply at once."""
    product = """cp.async.cg.shared.global [%r2], [%rd3], 16;
  cp.async.wait_all;
  mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r3, %r4}, {%r1, %r1, %r1, %r1}, {%r1, %r1},
    {%r1, %r1};"""
    text = COPIES.replace("COPY", product).replace("%r<3>", "%r<5>")
    ctas = 4 * chip_of((9, 0)).count
    alone, taken = (_launched(text, ctas, LaunchTime(255, taken=one)) for one in (False, True))
    assert 0.5 * alone < taken < 0.75 * alone


@pytest.mark.parametrize(
    "copy", ["cp.async.cg.shared.global [%r2+{}], [%rd3], 16",
             "st.global.v4.u32 [%rd3], {{%r1, %r1, %r1, %r1}}"],
)  # fmt: skip
def test_memory_bounds_a_launch(copy: str) -> None:
    """CTAs that copy 26 MB in all have an array of 16 MiB once, each byte at the memory's rate or
    somewhat later, as threads wait for it."""
    time, chip = LaunchTime(), chip_of((9, 0))
    copies = "".join(f"{copy.format(2048 * i)};\n  " for i in range(16))
    tw.interpret(
        COPIES.replace("COPY", copies), "copies", grid=(6 * chip.count,), block=(128,),
        args=[np.zeros(1 << 24, np.uint8)], arch="sm_90a", races="ignore", watchers=[time],
    )  # fmt: skip
    assert time.microseconds == pytest.approx((1 << 24) / chip.bandwidth / 1e3, rel=0.02)


BOXES = """.version 8.0
.target sm_90
.address_size 64
.visible .entry boxes(.param .align 64 .b8 map[128]) {
  .reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  .shared .align 128 .b8 box[4096]; .shared .align 8 .b8 bar[8];
  mov.b64 %rd1, map;
  mov.u32 %r1, box;
  mov.u32 %r2, bar;
  mov.u32 %r3, %tid.x;
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra BEGUN;
  mbarrier.init.shared.b64 [%r2], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 65536;
  COPIES
BEGUN:
  bar.sync 0;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
  @!%p2 bra WAIT;
  ret;
}"""
BOX = """cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
    [%r1], [%rd1, {%r3, %r3}], [%r2];
  """


def test_what_tma_copies_is_asked_for_ahead() -> None:
    """66 CTAs copy 16 boxes of 4 KiB each, in three quarters of the time that memory takes."""
    time, map_ = LaunchTime(), tw.TensorMap(np.zeros((1 << 16, 32), np.float32), box=(32, 32))
    tw.interpret(BOXES.replace("COPIES", 16 * BOX), grid=(66,), block=(32,), args=[map_],
                 arch="sm_90a", races="ignore", watchers=[time])  # fmt: skip
    copied = 66 * 16 * -(-4096 // COPIED_BYTES) * COPIED_BYTES
    assert time.microseconds == pytest.approx(copied / chip_of((9, 0)).bandwidth / 1e3)


TURNS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry copies(.param .u64 from) {
  .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .shared .align 16 .b8 to[32768];
  ld.param.u64 %rd1, [from];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16;
  add.s64 %rd3, %rd1, %rd2;
  shl.b32 %r1, %r1, 4;
  mov.u32 %r2, to;
  add.u32 %r2, %r2, %r1;
  mov.b32 %r5, 0;
  mov.b32 %r6, 0;
  ld.global.u32 %r8, [%rd1];
TURN:
  cp.async.cg.shared.global [%r2], [%rd3], 16;
  cp.async.wait_all;
  bar.sync 0;
  ld.shared.u32 %r7, [%r2];
  mad.lo.u32 %r6, %r7, %r7, %r6;
  add.u32 %r5, %r5, 1;
  LAST
  setp.lt.u32 %p1, %r5, %r8;
  @%p1 bra TURN;
  st.global.u32 [%rd3], %r6;
  ret;
}"""


def _turns(last: str, turns: int) -> tuple[float, int]:
    """The time of a loop of so many turns, as the first number of its array says, and how many
    times a warp of it was at the barrier."""
    time, args = LaunchTime(), [np.full(512, turns, np.int32)]
    tw.interpret(TURNS.replace("LAST", last), "copies", grid=(1,), block=(128,), args=args,
                 arch="sm_90a", races="ignore", watchers=[time])  # fmt: skip
    assert time._machine is not None
    return time.microseconds, int(time._machine.barriers.completed[0])


def test_turns_that_repeat_themselves_are_not_run() -> None:
    """Each of the last thousands takes as long as each of the first ones."""
    times, run = zip(*(_turns("", turns) for turns in (100, 1100, 2100)), strict=True)
    assert times[1] - times[0] == pytest.approx(times[2] - times[1], rel=1e-6)
    assert max(run) < 20
    whole = _turns("", 12)[0]
    assert times[0] - whole == pytest.approx((times[1] - times[0]) * 88 / 1000, rel=0.01)


@pytest.mark.parametrize("load", ["ld.shared.u32 %r8, [%r2];", "ld.global.u32 %r8, [%rd1];"])
def test_turns_that_memory_decides_are_all_run(load: str) -> None:
    few, many = (_turns(load, turns) for turns in (10, 20))
    assert (few[1], many[1]) == (10, 20)
    assert many[0] == pytest.approx(2 * few[0], rel=0.1)
