"""Blocks that take different ways, and meet again."""

from __future__ import annotations

import numpy as np
import pytest
from tile_ir import run

import tilewright as tw

POINTER = "tile<ptr<i32>>"
HEAD = """
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %out = offset %p, %x : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
"""
TAIL = "    %t = store_ptr_tko weak %out, %r : tile<ptr<i32>>, tile<i32> -> token\n"


def results(body: str, blocks: int = 12) -> list[int]:
    """What each block leaves in %r."""
    (got,) = run(
        f"%p: {POINTER}", HEAD + body + TAIL, [np.full(blocks, -1, np.int32)], grid=(blocks,)
    )
    return got.tolist()


def test_if_with_results():
    body = """
    %odd = remi %x, %two signed : tile<i32>
    %c = cmpi equal %odd, %zero, signed : tile<i32> -> tile<i1>
    %r = if %c -> (tile<i32>) {
      %v = muli %x, %three : tile<i32>
      yield %v : tile<i32>
    } else {
      yield %two : tile<i32>
    }
"""
    assert results(body) == [3 * x if x % 2 == 0 else 2 for x in range(12)]


def test_trips_that_differ_between_blocks():
    body = """
    %r = for %i in (%zero to %x, step %one) : tile<i32> iter_values(%a = %one) -> (tile<i32>) {
      %b = muli %a, %two : tile<i32>
      continue %b : tile<i32>
    }
"""
    assert results(body) == [2**x for x in range(12)]


def test_nested_loops_with_continue_in_an_if():
    """The sum of the i * j with i + j odd, i below x, j below i."""
    body = """
    %r = for %i in (%zero to %x, step %one) : tile<i32> iter_values(%a = %zero) -> (tile<i32>) {
      %s = for %j in (%zero to %i, step %one) : tile<i32> iter_values(%b = %a) -> (tile<i32>) {
        %sum = addi %i, %j : tile<i32>
        %odd = remi %sum, %two signed : tile<i32>
        %c = cmpi equal %odd, %zero, signed : tile<i32> -> tile<i1>
        if %c {
          continue %b : tile<i32>
        }
        %product = muli %i, %j : tile<i32>
        %next = addi %b, %product : tile<i32>
        continue %next : tile<i32>
      }
      continue %s : tile<i32>
    }
"""
    want = [sum(i * j for i in range(x) for j in range(i) if (i + j) % 2) for x in range(12)]
    assert results(body) == want


def test_break_out_of_a_loop():
    """Collatz: how many steps from x + 1 down to 1."""
    body = """
    %n0 = addi %x, %one : tile<i32>
    %last, %r = loop iter_values(%n = %n0, %k = %zero) : tile<i32>, tile<i32>
        -> tile<i32>, tile<i32> {
      %c = cmpi equal %n, %one, signed : tile<i32> -> tile<i1>
      if %c {
        break %n, %k : tile<i32>, tile<i32>
      }
      %k1 = addi %k, %one : tile<i32>
      %odd = remi %n, %two signed : tile<i32>
      %even = cmpi equal %odd, %zero, signed : tile<i32> -> tile<i1>
      if %even {
        %half = divi %n, %two signed : tile<i32>
        continue %half, %k1 : tile<i32>, tile<i32>
      }
      %t3 = muli %n, %three : tile<i32>
      %up = addi %t3, %one : tile<i32>
      continue %up, %k1 : tile<i32>, tile<i32>
    }
"""

    def steps(n: int) -> int:
        return 0 if n == 1 else 1 + steps(n // 2 if n % 2 == 0 else 3 * n + 1)

    assert results(body) == [steps(x + 1) for x in range(12)]


def test_return_ends_some_blocks():
    body = """
    %c = cmpi less_than %x, %three, signed : tile<i32> -> tile<i1>
    if %c {
      return
    }
    %r = addi %x, %one : tile<i32>
"""
    assert results(body) == [-1, -1, -1, *range(4, 13)]


def test_a_loop_to_the_largest_number_ends():
    body = """
    %top = constant <i32: 2147483647> : tile<i32>
    %low = constant <i32: 2147483645> : tile<i32>
    %r = for %i in (%low to %top, step %three) : tile<i32> iter_values(%a = %zero) -> (tile<i32>) {
      %b = addi %a, %one : tile<i32>
      continue %b : tile<i32>
    }
"""
    assert results(body, 1) == [1]


def test_an_unsigned_loop_counts_past_the_signed_numbers():
    body = """
    %low = constant <i32: 2147483646> : tile<i32>
    %top = constant <i32: 2147483651> : tile<i32>
    %r = for unsigned %i in (%low to %top, step %two) : tile<i32> iter_values(%a = %zero)
        -> (tile<i32>) {
      %b = addi %a, %one : tile<i32>
      continue %b : tile<i32>
    }
"""
    assert results(body, 1) == [3]


def test_a_step_that_is_not_positive_is_undefined():
    body = """
    %r = for %i in (%zero to %two, step %zero) : tile<i32> iter_values(%a = %zero) -> (tile<i32>) {
      continue %a : tile<i32>
    }
"""
    with pytest.raises(tw.ExecutionError, match=r"'cuda_tile.for' expected a positive step, got 0"):
        results(body, 1)


def test_coordinates_of_blocks():
    body = """
    %x, %y, %z = get_tile_block_id : tile<i32>
    %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
    %a = muli %z, %ny : tile<i32>
    %b = addi %a, %y : tile<i32>
    %c = muli %b, %nx : tile<i32>
    %d = addi %c, %x : tile<i32>
    %q = offset %p, %d : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %q, %d : tile<ptr<i32>>, tile<i32> -> token
"""
    (got,) = run(f"%p: {POINTER}", body, [np.zeros(60, np.int32)], grid=(3, 4, 5))
    assert got.tolist() == list(range(60))


def test_print_and_assert(capsys: pytest.CaptureFixture[str]):
    body = """
    %v = constant <f32: [1.5, 2.0]> : tile<2xf32>
    %said = print_tko "block %d: %.2f%%\\n", %x, %v : tile<i32>, tile<2xf32> -> token
    %r = addi %x, %zero : tile<i32>
    %m = constant <i1: [true, false]> : tile<2xi1>
    %c = cmpi equal %x, %two, signed : tile<i32> -> tile<i1>
"""
    assert results(body, 2) == [0, 1]
    assert capsys.readouterr().out == "block 0: [1.50, 2.00]%\nblock 1: [1.50, 2.00]%\n"
    failing = body + '    assert %m, "not all" : tile<2xi1>\n'
    with pytest.raises(tw.ExecutionError, match=r"'cuda_tile.assert' failed at index .1.: not all"):
        results(failing, 2)
    scalar = body + "    %n = xori %c, %c : tile<i1>\n" + '    assert %c, "x" : tile<i1>\n'
    with pytest.raises(tw.ExecutionError, match=r"failed: x \(block \(0, 0, 0\)\)"):
        results(scalar, 3)
