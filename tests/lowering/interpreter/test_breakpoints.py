"""Breakpoints, and the state that errors show: values by name, memory around an access."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from faults import SMEM, kernel

import tilewright as tw
from tilewright.lowering.interpreter.breakpoints import Breakpoints, Shown

TEXT = kernel("""  %c2 = arith.constant 2 : index
  %half = arith.divui %t, %c2 : index
  %two = arith.constant 2.5 : f32
  %loop = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %two) -> (f32) {
    %more = arith.addf %sum, %two : f32
    scf.yield %more : f32
  }
  "gpu.barrier"() : () -> ()""")
LINES = {words: next(n for n, line in enumerate(TEXT.splitlines(), 1) if words in line)
         for words in ("%two =", "%more =", "gpu.barrier", "%half =")}  # fmt: skip


def said(line: str, *values: str, hits: int = 1, **launch: Any) -> str:
    texts: list[str] = []
    points = Breakpoints(
        [LINES[line]], [Shown.parse(value) for value in values], hits, texts.append
    )
    settings: Any = {"grid": (2,), "block": (64,), "args": [np.zeros(64, np.int32)], **launch}
    tw.interpret(TEXT, watchers=[points], **settings)
    return "\n".join(texts)


def test_values_at_a_line():
    text = said("%two =", "%half", "%half[9]", "%t[3,1]", "%c2", "%two", "%first")
    assert text.splitlines() == [
        f"line {LINES['%two =']}: 'arith.constant' by 128 threads, block (0,0,0), "
        "thread (0,0,0) first",
        "  %two = arith.constant 2.5 : f32",
        "  %half = 0, 0, 1, 1, 2, 2, 3, 3, ...",
        "  %half[9] = 4",
        "  %t[3,1] = 3",
        "  %c2 = 2 in all of them",
        "  %two has no value yet",
        "  %first = True, False, False, False, False, False, False, False, ...",
    ]


def test_a_loop_is_shown_as_often_as_it_is_asked_for():
    assert said("%more =", "%sum").count("line ") == 1
    text = said("%more =", "%sum", "%i", hits=5)
    assert [line.split()[2] for line in text.splitlines() if line.startswith("  %sum =")] == [
        "2.5", "5.0"
    ]  # fmt: skip


def test_a_value_that_nothing_reads_any_more_is_shown_in_a_branch():
    text = TEXT.replace(
        '  "gpu.barrier"',
        '''  scf.if %first {
    %three = arith.constant 3 : index
    scf.yield
  }
  "gpu.barrier"''',
    )
    texts: list[str] = []
    line = next(n for n, words in enumerate(text.splitlines(), 1) if "%three" in words)
    points = Breakpoints([line], [Shown.parse("%half"), Shown.parse("%two")], 1, texts.append)
    args = [np.zeros(64, np.int32)]
    tw.interpret(text, grid=(1,), block=(64,), args=args, watchers=[points])
    assert texts[0].splitlines()[2:] == [
        "  %half = 0 in all of them",
        "  %two = 2.5 in all of them",
    ]


def test_a_barrier_is_a_line_too():
    assert "'gpu.barrier' by 128 threads" in said("gpu.barrier")


@pytest.mark.parametrize("wrong", ["half", "%half[x]", "%half[1,2,3]", "%nothing"])
def test_what_cannot_be_shown(wrong: str):
    with pytest.raises(tw.ExecutionError, match=r"expected (%name|a value of %c0, ).*got"):
        said("%two =", wrong)


def test_a_line_without_an_op():
    points, args = Breakpoints([900]), [np.zeros(64, np.int32)]
    with pytest.raises(tw.ExecutionError, match=f"got 900; nearest legal: {LINES['%more =']}"):
        tw.interpret(TEXT, grid=(1,), block=(64,), args=args, watchers=[points])


def message(body: str, level: str = "atom", **launch: Any) -> list[str]:
    settings: Any = {"grid": (1,), "block": (64,), "args": [np.arange(64, dtype=np.int32)]}
    with pytest.raises(tw.ExecutionError) as caught:
        tw.interpret(kernel(body), level=level, **settings)
    return str(caught.value).splitlines()[3:]


def test_an_access_out_of_bounds_shows_where_it_went():
    body = """  %far = arith.addi %t, %c31 : index
  %v = memref.load %p[%far] : memref<?xi32>"""
    assert message(body) == [
        "note: there %far = 64",
        "note: 'p' has 59 60 61 62 63 in bytes 236 to 255 of 256, byte 256 is outside",
    ]
    assert message(body, "ptx")[-1] == message(body)[-1]


def test_a_race_shows_both_accesses():
    body = f"""  %n = arith.index_cast %t : index to i32
  memref.store %n, %s[%t] : memref<64xi32, {SMEM}>
  %v = memref.load %s[%other] : memref<64xi32, {SMEM}>"""
    first, second, third, other = message(body)
    assert first == "note: there %other = 63"
    assert second == "note: shared memory has 59 60 61 62 [63] in bytes 236 to 255 of 256"
    assert (third, other) == ("note: the other access is", body.splitlines()[1])
