"""Breakpoints in programs of tiles: whole tiles, by the lines of the text or of Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright.lowering.interpreter.breakpoints import Breakpoints, Shown
from tilewright.lowering.interpreter.timeline.chrome import trace_json

SAXPY = (Path(__file__).parent / "fixtures/saxpy.tileirbc").read_bytes()
ARGS: list[Any] = [np.arange(1000, dtype=np.float32), 1000, 1, np.ones(1000, np.float32), 1000, 1]
TEXT = """cuda_tile.module @m {
  entry @k(%to: tile<ptr<f32>>) {
    %x, %y, %z = get_tile_block_id : tile<i32>
    %c1 = constant <i32: 1> : tile<i32>
    %c4 = constant <i32: 4> : tile<i32>
    %start = constant <f32: 1.0> : tile<f32>
    %sum = for %i in (%c1 to %c4, step %c1) : tile<i32> iter_values(%s = %start) -> (tile<f32>) {
      %n = itof %i signed : tile<i32> -> tile<f32>
      %more = addf %s, %n : tile<f32>
      continue %more : tile<f32>
    }
    %odd = remi %x, %c4 signed : tile<i32>
    %is = cmpi less_than %odd, %c1, signed : tile<i32> -> tile<i1>
    if %is {
      %far = iota : tile<8xi32>
      %wide = iota : tile<512xi32>
      %t = store_ptr_tko weak %to, %sum : tile<ptr<f32>>, tile<f32> -> token
      yield
    }
  }
}
"""


def said(line: int, *values: str, program: Any = TEXT, **launch: Any) -> list[str]:
    texts: list[str] = []
    points = Breakpoints(
        [line], [Shown.parse(value) for value in values], launch.pop("hits", 1), texts.append
    )
    settings: Any = {"grid": (3,), "args": [np.zeros(1, np.float32)], **launch}
    tw.interpret(program, watchers=[points], **settings)
    return "\n".join(texts).splitlines()


def test_the_tiles_that_a_line_of_python_gives():
    """Bytecode has lines of Python, and names of values as `tilewright-opt` prints them."""
    lines = said(18, program=SAXPY, grid=(4,), args=[*ARGS, 1.5])
    assert lines[0] == "line 18: done by 4 blocks, block (0, 0, 0) first"
    tile = "[  1. ,   2.5,   4. ,   5.5, ..., 379. , 380.5, 382. , 383.5]"
    assert lines[-1] == f"  %26: tile<256xf32> = {tile} in block (0, 0, 0)"
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["%18", "%20", "%21", "%23", "%26"]


def test_values_before_a_line():
    values = ["%18", "%14[2]", "%11", "%7", "%0", "%6", "%14[7]"]
    lines = said(18, *values, program=SAXPY, grid=(4,), args=[*ARGS, 1.5])
    assert lines == [
        "line 18: 'cuda_tile.make_partition_view' by 4 blocks, block (0, 0, 0) first",
        "  %18 has no value yet",
        "  %14[2]: tile<i32> = 2 in block (2, 0, 0)",
        "  %11: tensor_view<?xf32, strides=[1]> = shape [1000], strides [1] at byte 0x18000000000 "
        "in block (0, 0, 0)",
        "  %7: token = a token in block (0, 0, 0)",
        "  %0: tile<ptr<f32>> = 0x18000000000 in all of them",
        "  %6: tile<f32> = 1.5 in all of them",
        "  %14[7]: that block is not among those here",
    ]


def test_a_loop_of_the_text():
    lines = said(9, "%s", "%i", hits=2)
    assert lines[:2] == [
        "line 9: 'cuda_tile.addf' by 3 blocks, block (0, 0, 0) first",
        "      %more = addf %s, %n : tile<f32>",
    ]
    assert [line.split(" in ")[0] for line in lines if "%s:" in line] == [
        "  %s: tile<f32> = 1.0", "  %s: tile<f32> = 2.0"
    ]  # fmt: skip


def test_a_branch_that_some_blocks_take():
    lines = said(16, "%far", "%x", "%x[1]")
    assert lines[0].startswith("line 16: 'cuda_tile.iota' by 1 blocks")
    assert lines[2:] == [
        "  %far: tile<8xi32> = [0, 1, 2, 3, 4, 5, 6, 7]", "  %x: tile<i32> = 0",
        "  %x[1]: that block is not among those here",
    ]  # fmt: skip


def test_the_result_is_the_same():
    """Stops between steps that are computed together otherwise."""
    for line in (16, 17, 18):
        args = [*ARGS, 1.5]
        points = Breakpoints([line], say=lambda _: None)
        watched = tw.interpret(SAXPY, grid=(4,), args=args, watchers=[points])
        plain = tw.interpret(SAXPY, grid=(4,), args=args)
        assert all((a == b).all() for a, b in zip(watched, plain, strict=True))


@pytest.mark.parametrize(
    "line, value, message",
    [
        (900, "%x", "got 900; nearest legal: 17"),
        (9, "%nothing", "expected a value of %to, %x, "),
        (9, "%s[1,2]", r"expected %name or %name\[block\] of Tile IR to print, got %s\[1,2\]"),
    ],
)
def test_what_there_is_not(line: int, value: str, message: str):
    with pytest.raises(tw.ExecutionError, match=message):
        said(line, value)


def message(body: str) -> list[str]:
    """The notes of an error, on 4 elements."""
    text = f"cuda_tile.module @m {{ entry @k(%to: tile<ptr<f32>>) {{\n{body}\n}} }}"
    with pytest.raises(tw.ExecutionError) as raised:
        tw.interpret(text, grid=(1,), args=[np.arange(4, dtype=np.float32)])
    return str(raised.value).splitlines()[3:]


def test_an_error_shows_the_state_that_matters():
    assert message("""%far = constant <i32: [1, 7]> : tile<2xi32>
      %one = reshape %to : tile<ptr<f32>> -> tile<1xptr<f32>>
      %both = broadcast %one : tile<1xptr<f32>> -> tile<2xptr<f32>>
      %p = offset %both, %far : tile<2xptr<f32>>, tile<2xi32> -> tile<2xptr<f32>>
      %v, %t = load_ptr_tko weak %p : tile<2xptr<f32>> -> tile<2xf32>, token""") == [
        "note: there %p = [0x18000000004, 0x1800000001c]",
        "note: argument 0 has 0.0 1.0 2.0 3.0 in elements 0 to 3 of 4, element 7 is outside",
    ]


def test_a_race_shows_the_other_access():
    first = "      %v, %t = load_ptr_tko weak %to : tile<ptr<f32>> -> tile<f32>, token"
    assert message(f"""{first}
      %c = constant <f32: 1.0> : tile<f32>
      %u = store_ptr_tko weak %to, %c : tile<ptr<f32>>, tile<f32> -> token""") == [
        "note: the other access is", first,
    ]  # fmt: skip


def test_a_trace_has_slices_of_the_programs_lines():
    """The instructions of a line lie in a slice that has its text."""
    timeline = tw.Timeline()
    tw.interpret(TEXT, grid=(1,), args=[np.zeros(1, np.float32)], name="k.mlir",
                 watchers=[timeline])  # fmt: skip
    events = json.loads(trace_json(timeline, "k.mlir", TEXT))["traceEvents"]
    slices = [event for event in events if event.get("cat") == "line"]
    assert any(event["name"].startswith("k.mlir:17 %t = store_ptr_tko") for event in slices)
    store = next(event for event in events if event["name"] == "st")
    line = next(event for event in slices if event["args"] == store["args"]
                and event["tid"] == store["tid"])  # fmt: skip
    assert line["ts"] <= store["ts"] < line["ts"] + line["dur"]
