"""Threads of a warp that membermasks of PTX name: those that come later, have ended or are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ptx_bodies import HEAD, LANE, TAIL, run

import tilewright as tw
from tilewright.source.diagnostic import CompileError, ExecutionError


def test_threads_of_a_warp_come_to_a_barrier_one_by_one() -> None:
    body = (
        "setp.lt.u32 %p1, %r1, 20;\n@%p1 bra A;\nBARRIER.arrive 1, 64;\nmov.u32 %r0, 5;\n"
        "bra B;\nA: BARRIER.sync 1, 64;\nmov.u32 %r0, 6;\nB:\n"
    )
    result = run(body.replace("BARRIER", "barrier"), 64)
    np.testing.assert_array_equal(result, np.where(np.arange(64) < 20, 6, 5))
    with pytest.raises(ExecutionError, match="barrier 1"):
        run(body.replace("BARRIER", "bar"), 64)


def test_threads_beside_the_membermask_are_missed() -> None:
    body = "setp.lt.u32 %p1, %r1, 8;\n@!%p1 bra out;\nvote.sync.any.pred %p2, %p1, -1;\nout:\n"
    with pytest.raises(ExecutionError, match="lane 8 executes something else"):
        run(body + "mov.u32 %r0, 0;\n")


def test_members_whose_branch_stands_behind_the_end() -> None:
    """As compilers put what is rare; in a loop, too."""
    text = HEAD + (
        "mov.u32 %r2, 0;\nmov.u32 %r0, %r1;\nround:\nsetp.lt.u32 %p1, %r0, 8;\n@%p1 bra few;\n"
        "meet:\nredux.sync.min.u32 %r3, %r0, -1;\nadd.u32 %r0, %r0, %r3;\nadd.u32 %r2, %r2, 1;\n"
        "setp.lt.u32 %p1, %r2, 2;\n@%p1 bra round;\n"
    ) + TAIL.replace("}", "few:\nadd.u32 %r0, %r0, 10;\nbra meet;\n}")  # fmt: skip
    [result] = tw.interpret(text, grid=(1,), block=(32,), args=[np.zeros(32, np.uint32)])
    first = np.where(LANE < 8, LANE + 10, LANE) + 8
    np.testing.assert_array_equal(result, first + 16)


@pytest.mark.parametrize("schedule", [None, 0, 1])
@pytest.mark.parametrize("leave", ["@!%p1 ret", "@!%p1 bra out"])
def test_threads_that_have_ended_are_in_no_vote(leave: str, schedule: int | None) -> None:
    """A membermask may name them: PTX ISA, "all non-exited threads"."""
    body = f"setp.lt.u32 %p1, %r1, 8;\n{leave};\nvote.sync.ballot.b32 %r0, %p1, -1;\n"
    text = HEAD + body + TAIL.replace("  ret", "out:\n  ret")
    [result] = tw.interpret(
        text, grid=(1,), block=(64,), args=[np.zeros(64, np.uint32)], schedule=schedule
    )
    np.testing.assert_array_equal(result, np.where(np.arange(64) < 8, 255, 0))


@pytest.mark.parametrize("op, expected", [
    ("shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1", LANE ^ 1),
    ("shfl.sync.down.b32 %r0|%p2, %r1, 4, 31, -1", np.where(LANE < 4, LANE + 4, 0)),
    ("elect.sync %r0|%p2, -1;\nselp.b32 %r0, 1, 0, %p2", LANE == 0),
    ("elect.sync %r0|%p2, -1;\n@%p2 add.u32 %r0, %r0, 7", 7 * (LANE == 0)),
    ("bar.warp.sync -1;\nmov.u32 %r0, %r1", LANE),
    ("mov.u32 %r0, -1;\nbar.warp.sync %r0;\nmov.u32 %r0, %r1", LANE),
    ("redux.sync.add.u32 %r0, %r1, -1", 28),
    ("match.any.sync.b32 %r0, 7, -1", 255),
])  # fmt: skip
@pytest.mark.parametrize("leave", ["@!%p1 exit", "@!%p1 bra out", "@%p1 bra go;\nret;\ngo:"])
def test_nobody_waits_for_members_that_have_ended(leave: str, op: str, expected: Any) -> None:
    """24 threads have ended, and 8 name all 32: what an H200 gives (docs/decisions.md)."""
    go = "" if leave.endswith(":") else ";"
    text = f"{HEAD}setp.lt.u32 %p1, %r1, 8;\n{leave}{go}\n{op};\n"
    text += TAIL.replace("  ret", "out:\n  ret")
    [result] = tw.interpret(text, grid=(1,), block=(32,), args=[np.zeros(32, np.uint32)])
    np.testing.assert_array_equal(result, np.where(LANE < 8, expected, 0))
    tw.compile(text, arch="sm_90a", unproven="error")


@pytest.mark.parametrize(
    "op", ["shfl.sync.bfly.b32 %r0, %r1, 1, 31, -1", "bar.warp.sync -1", "elect.sync _|%p2, -1"]
)
def test_threads_that_go_round_have_not_ended(op: str) -> None:
    """What is behind the branch all threads do."""
    text = f"{HEAD}mov.u32 %r0, 0;\nsetp.lt.u32 %p1, %r1, 8;\n@!%p1 bra on;\n{op};\non:\n{TAIL}"
    with pytest.raises(ExecutionError, match="all threads of its membermask 0xffffffff"):
        tw.interpret(text, grid=(1,), block=(32,), args=[np.zeros(32, np.uint32)])
    with pytest.raises(CompileError, match="all threads of a warp together, got 8 of 32"):
        tw.compile(text, arch="sm_90a")


@pytest.mark.parametrize("op", [
    "vote.sync.any.pred %p2, %p1, 0xfe", "redux.sync.add.u32 %r0, %r1, 0xfe",
    "match.any.sync.b32 %r0, %r1, 0xfe", "shfl.sync.idx.b32 %r0, %r1, 0, 31, 0",
])  # fmt: skip
def test_a_thread_is_in_its_own_membermask(op: str) -> None:
    with pytest.raises(ExecutionError, match="expected a membermask with its own thread, got 0x"):
        run(f"mov.u32 %r0, 0;\nsetp.lt.u32 %p1, %r1, 8;\n{op};\n", 8)


def test_shuffles_from_beside_the_membermask_give_anything() -> None:
    """Thread 7 reads thread 8, which is none of the eight: every seed gives another word."""
    body = "setp.lt.u32 %p1, %r1, 8;\n@!%p1 bra out;\nshfl.sync.down.b32 %r0, %r1, 1, 31, 0xff;\n"
    text = f"{HEAD}mov.u32 %r0, 5;\n{body}out:\n{TAIL}"
    results = [
        tw.interpret(text, grid=(1,), block=(32,), args=[np.zeros(32, np.uint32)], schedule=seed)[0]
        for seed in (None, 0, 1)
    ]
    expected = np.where(LANE < 7, LANE + 1, 5)
    for result in results:
        np.testing.assert_array_equal(np.delete(result, 7), np.delete(expected, 7))
    assert len({int(result[7]) for result in results}) == 3
