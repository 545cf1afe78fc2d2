"""Loops, branches and thread ids: both levels give what Python gives, thread by thread."""

from __future__ import annotations

import numpy as np
import pytest
from both_levels import both
from numpy.random import default_rng
from numpy.testing import assert_array_equal

import tilewright as tw

THREADS = 64
IDS = '  %i = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index\n'


def per_thread(body: str, inputs: np.ndarray, count: int = 1) -> list[np.ndarray]:
    """Run `body`, which makes i32 values %r0, %r1... of %x (i32) and the thread %i (index)."""
    arguments = ", ".join(f"%o{place}: memref<?xi32>" for place in range(count))
    stores = "".join(
        f"  memref.store %r{place}, %o{place}[%i] : memref<?xi32>\n" for place in range(count)
    )
    text = (
        f"func.func @k(%in: memref<?xi32>, {arguments}) attributes {{gpu.kernel}} {{\n"
        f"{IDS}  %x = memref.load %in[%i] : memref<?xi32>\n{body}\n{stores}  func.return\n}}"
    )
    outputs = [np.zeros(THREADS, np.int32) for _ in range(count)]
    return both(text, [inputs.astype(np.int32), *outputs])[1:]


COUNTS = default_rng(0).integers(-3, 12, THREADS)
C = """  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
"""


def test_for_with_a_trip_count_per_thread_and_swapped_values():
    first, second = per_thread(
        C + """  %r0, %r1 = scf.for %k = %c0 to %x step %c1
      iter_args(%a = %c0, %b = %c1) -> (i32, i32) : i32 {
    %sum = arith.addi %a, %b : i32
    scf.yield %b, %sum : i32, i32
  }""",
        COUNTS,
        2,
    )  # fmt: skip
    for count, x, y in zip(COUNTS, first, second, strict=True):
        a, b = 0, 1
        for _ in range(count):
            a, b = b, a + b
        assert (x, y) == (a, b)


def test_swap_alone():
    first, second = per_thread(
        C + """  %r0, %r1 = scf.for %k = %c0 to %x step %c1
      iter_args(%a = %c2, %b = %x) -> (i32, i32) : i32 {
    scf.yield %b, %a : i32, i32
  }""",
        COUNTS,
        2,
    )  # fmt: skip
    odd = (COUNTS > 0) & (COUNTS % 2 == 1)
    assert_array_equal(first, np.where(odd, COUNTS, 2))
    assert_array_equal(second, np.where(odd, 2, COUNTS))


@pytest.mark.parametrize("type_", ["i16", "i32", "i64", "index"])
@pytest.mark.parametrize("lower, upper, step", [(-5, 4, 3), (2, 2, 1), (3, -3, 1), (0, 7, 7)])
def test_for_bounds(type_: str, lower: int, upper: int, step: int):
    convert = {
        "i16": "arith.extsi %k : i16 to i32",
        "i32": "arith.addi %k, %c0 : i32",
        "i64": "arith.trunci %k : i64 to i32",
        "index": "arith.index_cast %k : index to i32",
    }[type_]
    suffix = "" if type_ == "index" else f" : {type_}"
    (result,) = per_thread(
        C
        + f"""  %lower = arith.constant {lower} : {type_}
  %upper = arith.constant {upper} : {type_}
  %step = arith.constant {step} : {type_}
  %r0 = scf.for %k = %lower to %upper step %step iter_args(%a = %x) -> (i32){suffix} {{
    %n = {convert}
    %triple = arith.muli %a, %c3 : i32
    %next = arith.addi %triple, %n : i32
    scf.yield %next : i32
  }}""",
        COUNTS,
    )
    expected = COUNTS.copy()
    for k in range(lower, upper, step):
        expected = expected * 3 + k
    assert_array_equal(result, expected)


def test_nested_loops_whose_inner_bound_is_the_outer_variable():
    (result,) = per_thread(
        C
        + """  %r0 = scf.for %j = %c0 to %x step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    %inner = scf.for %k = %j to %x step %c2 iter_args(%b = %a) -> (i32) : i32 {
      %twice = arith.muli %b, %c2 : i32
      %y = arith.xori %twice, %k : i32
      scf.yield %y : i32
    }
    %sum = arith.addi %inner, %j : i32
    scf.yield %sum : i32
  }""",
        COUNTS,
    )
    for count, found in zip(COUNTS, result, strict=True):
        a = 0
        for j in range(count):
            b = a
            for k in range(j, count, 2):
                b = (b * 2) ^ k
            a = b + j
        assert found == (a + 2**31) % 2**32 - 2**31


def test_while_collatz():
    starts = default_rng(1).integers(1, 200, THREADS)
    steps, last = per_thread(
        C
        + """  %r0, %r1 = scf.while (%n = %c0, %v = %x) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi sgt, %v, %c1 : i32
    scf.condition(%more) %n, %v : i32, i32
  } do {
  ^bb0(%n: i32, %v: i32):
    %up = arith.addi %n, %c1 : i32
    %bit = arith.andi %v, %c1 : i32
    %odd = arith.cmpi eq, %bit, %c1 : i32
    %next = scf.if %odd -> (i32) {
      %triple = arith.muli %v, %c3 : i32
      %more = arith.addi %triple, %c1 : i32
      scf.yield %more : i32
    } else {
      %half = arith.shrui %v, %c1 : i32
      scf.yield %half : i32
    }
    scf.yield %up, %next : i32, i32
  }""",
        starts,
        2,
    )
    for start, found in zip(starts, steps, strict=True):
        count = 0
        while start > 1:
            start = start * 3 + 1 if start % 2 else start // 2
            count += 1
        assert found == count
    assert (last == 1).all()


def test_while_that_passes_on_other_values_than_it_carries():
    doubled, count = per_thread(
        C
        + """  %r0, %r1 = scf.while (%v = %x) : (i32) -> (i32, i32) {
    %two = arith.addi %v, %v : i32
    %go = arith.cmpi slt, %two, %c3 : i32
    scf.condition(%go) %two, %v : i32, i32
  } do {
  ^bb0(%two: i32, %v: i32):
    %up = arith.addi %v, %c1 : i32
    scf.yield %up : i32
  }""",
        COUNTS,
        2,
    )
    assert_array_equal(count, np.maximum(COUNTS, 2))
    assert_array_equal(doubled, 2 * np.maximum(COUNTS, 2))


def test_nested_ifs_with_and_without_else():
    result, kept = per_thread(
        C
        + """  %low = arith.cmpi slt, %x, %c3 : i32
  %negative = arith.cmpi slt, %x, %c0 : i32
  %r0, %r1 = scf.if %low -> (i32, i32) {
    %same = arith.muli %x, %c3 : i32
    %inner = scf.if %negative -> (i32) {
      %minus = arith.subi %c0, %x : i32
      scf.yield %minus : i32
    } else {
      scf.yield %same : i32
    }
    scf.yield %inner, %c1 : i32, i32
  } else {
    %same = arith.muli %x, %c3 : i32
    scf.if %negative {
      memref.store %c0, %o0[%i] : memref<?xi32>
    }
    %more = arith.addi %same, %c2 : i32
    scf.yield %more, %x : i32, i32
  }""",
        COUNTS,
        2,
    )
    expected = np.where(COUNTS >= 3, 3 * COUNTS + 2, np.where(COUNTS < 0, -COUNTS, 3 * COUNTS))
    assert_array_equal(result, expected)
    assert_array_equal(kept, np.where(COUNTS < 3, 1, COUNTS))


def test_carried_values_of_every_kind():
    types = ("i1", "i8", "i16", "i64", "f16", "f32", "f64")
    loads = "".join(
        f"  %v{n} = memref.load %x{n}[%i] : memref<?x{type_}>\n" for n, type_ in enumerate(types)
    )
    stores = "".join(
        f"  memref.store %r#{n}, %x{n}[%i] : memref<?x{type_}>\n" for n, type_ in enumerate(types)
    )
    arguments = ", ".join(f"%x{n}: memref<?x{type_}>" for n, type_ in enumerate(types))
    carried = ", ".join(f"%a{n} = %v{n}" for n in range(len(types)))
    text = f"""func.func @k({arguments}) attributes {{gpu.kernel}} {{
{IDS}{loads}  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %bit = arith.constant true
  %one = arith.constant 1 : i8
  %half = arith.constant 0.5 : f32
  %r:7 = scf.for %k = %c0 to %i step %c1 iter_args({carried}) -> ({", ".join(types)}) {{
    %b0 = arith.xori %a0, %bit : i1
    %b1 = arith.addi %a1, %one : i8
    %b5 = arith.mulf %a5, %half : f32
    scf.yield %b0, %b1, %a2, %a3, %a4, %b5, %a6 : {", ".join(types)}
  }}
{stores}  func.return
}}"""
    rng, thread = default_rng(2), np.arange(THREADS)
    args = [rng.integers(0, 2, THREADS).astype(bool), rng.integers(-128, 128, THREADS, np.int8),
            rng.integers(-999, 999, THREADS, np.int16), rng.integers(-999, 999, THREADS, np.int64),
            *(rng.standard_normal(THREADS).astype(f"f{n}") for n in (2, 4, 8))]  # fmt: skip
    found = both(text, args)
    assert_array_equal(found[0], args[0] ^ (thread % 2 == 1))
    assert_array_equal(found[1], (args[1] + thread).astype(np.int8))
    assert_array_equal(found[5], args[5] * np.float32(0.5) ** thread)
    for place in (2, 3, 4, 6):
        assert_array_equal(found[place], args[place])


def test_branches_between_blocks_with_early_returns():
    text = f"""func.func @k(%in: memref<?xi32>, %o: memref<?xi32>) attributes {{gpu.kernel}} {{
{IDS}{C}  %x = memref.load %in[%i] : memref<?xi32>
  %negative = arith.cmpi slt, %x, %c0 : i32
  cf.cond_br %negative, ^leave, ^head(%c0, %c1, %x : i32, i32, i32)
^head(%a: i32, %b: i32, %n: i32):
  %more = arith.cmpi sgt, %n, %c0 : i32
  cf.cond_br %more, ^body, ^end(%a : i32)
^body:
  %next = arith.subi %n, %c1 : i32
  %odd = arith.andi %n, %c1 : i32
  %is_odd = arith.cmpi ne, %odd, %c0 : i32
  cf.cond_br %is_odd, ^head(%b, %a, %next : i32, i32, i32), ^sum
^sum:
  %s = arith.addi %a, %b : i32
  cf.br ^head(%b, %s, %next : i32, i32, i32)
^end(%r: i32):
  memref.store %r, %o[%i] : memref<?xi32>
  func.return
^leave:
  func.return
}}"""
    found = both(text, [COUNTS.astype(np.int32), np.full(THREADS, -7, np.int32)])[1]
    for count, result in zip(COUNTS, found, strict=True):
        a, b = 0, 1
        for n in range(count, 0, -1):
            a, b = (b, a) if n % 2 else (b, a + b)
        assert result == (-7 if count < 0 else a)


def test_structured_ops_inside_of_branched_blocks():
    text = f"""func.func @k(%in: memref<?xi32>, %o: memref<?xi32>) attributes {{gpu.kernel}} {{
{IDS}{C}  %x = memref.load %in[%i] : memref<?xi32>
  %odd = arith.andi %x, %c1 : i32
  %is_odd = arith.cmpi ne, %odd, %c0 : i32
  cf.cond_br %is_odd, ^one, ^two
^one:
  %p = arith.muli %x, %c3 : i32
  %r = scf.for %k = %c0 to %x step %c1 iter_args(%a = %p) -> (i32) : i32 {{
    %q = arith.muli %x, %c3 : i32
    %s = arith.addi %a, %q : i32
    scf.yield %s : i32
  }}
  cf.br ^end(%r : i32)
^two:
  %q = arith.muli %x, %c3 : i32
  %t = arith.subi %q, %c2 : i32
  cf.br ^end(%t : i32)
^end(%v: i32):
  %again = arith.muli %x, %c3 : i32
  %w = arith.addi %v, %again : i32
  memref.store %w, %o[%i] : memref<?xi32>
  func.return
}}"""
    found = both(text, [COUNTS.astype(np.int32), np.zeros(THREADS, np.int32)])[1]
    rounds = np.maximum(COUNTS, 0)
    expected = np.where(COUNTS % 2 == 1, 3 * COUNTS * (1 + rounds), 3 * COUNTS - 2) + 3 * COUNTS
    assert_array_equal(found, expected)


def test_a_division_stays_in_the_loop_that_does_not_run():
    divisors = np.where(COUNTS > 0, COUNTS, 0)
    (result,) = per_thread(
        C
        + """  %r0 = scf.for %k = %c0 to %x step %c1 iter_args(%a = %c0) -> (i32) : i32 {
    %hundred = arith.constant 100 : i32
    %q = arith.divsi %hundred, %x : i32
    %sum = arith.addi %a, %q : i32
    scf.yield %sum : i32
  }""",
        divisors,
    )
    expected = [each * (100 // each) if each else 0 for each in divisors.tolist()]
    assert_array_equal(result, expected)


def test_what_is_undefined_on_one_way_may_be_used_on_the_other():
    (result,) = per_thread(
        C
        + """  %p = arith.cmpi sgt, %x, %c2 : i32
  %v = scf.if %p -> (i32) {
    %y = arith.muli %x, %x : i32
    scf.yield %y : i32
  } else {
    %none = ub.poison : i32
    scf.yield %none : i32
  }
  %r0 = scf.if %p -> (i32) {
    scf.yield %v : i32
  } else {
    scf.yield %c1 : i32
  }""",
        COUNTS,
    )
    assert_array_equal(result, np.where(COUNTS > 2, COUNTS**2, 1))


GRIDS = [
    ((1, 1, 1), (32, 1, 1)),
    ((2, 3, 4), (4, 3, 2)),
    ((3, 1, 2), (7, 5, 3)),
    ((1, 2, 1), (1, 1, 40)),
]


@pytest.mark.parametrize("grid, block", GRIDS)
def test_ids(grid: tuple[int, int, int], block: tuple[int, int, int]):
    ops = [f'"gpu.{op}"() <{{dimension = #gpu<dim {axis}>}}> : () -> index'
           for op in ("thread_id", "block_id", "block_dim", "grid_dim", "global_id")
           for axis in "xyz"]  # fmt: skip
    ops += [f'"gpu.{op}"() : () -> index' for op in ("lane_id", "subgroup_id", "subgroup_size")]
    lines = "".join(f"  %v{place} = {op}\n" for place, op in enumerate(ops))
    # The thread's number in the grid: axes of the block first, x fastest.
    order = [(0, 6), (1, 7), (2, 8), (3, 9), (4, 10), (5, 11)]
    lines += "  %n0 = arith.constant 0 : index\n"
    for step, (index, extent) in enumerate(reversed(order)):
        lines += f"  %m{step} = arith.muli %n{step}, %v{extent} : index\n"
        lines += f"  %n{step + 1} = arith.addi %m{step}, %v{index} : index\n"
    count = int(np.prod(grid) * np.prod(block))
    stores = "".join(
        f"  %w{place} = arith.constant {place} : index\n"
        f"  memref.store %v{place}, %o[%w{place}, %n6] : memref<{len(ops)}x{count}xindex>\n"
        for place in range(len(ops))
    )
    text = (
        f"func.func @k(%o: memref<{len(ops)}x{count}xindex>) attributes {{gpu.kernel}} {{\n"
        f"{lines}{stores}  func.return\n}}"
    )
    (found,) = both(text, [np.full((len(ops), count), -1, np.int64)], grid=grid, block=block)

    gz, gy, gx, bz, by, bx = np.indices((*grid[::-1], *block[::-1])).reshape(6, -1)
    threads, blocks = (bx, by, bz), (gx, gy, gz)
    place = bx + block[0] * (by + block[1] * bz)
    expected = [
        *threads,
        *blocks,
        *(np.full(count, each) for each in (*block, *grid)),
        *(b * size + t for b, size, t in zip(blocks, block, threads, strict=True)),
        place % 32,
        place // 32,
        np.full(count, 32),
    ]
    assert_array_equal(found, np.stack(expected))


@pytest.mark.parametrize("step", [0, -1])
def test_a_loop_that_does_not_step_forward_is_an_error(step: int):
    text = """func.func @k(%n: i32, %step: i32) attributes {gpu.kernel} {
  %zero = arith.constant 0 : i32
  scf.for %i = %zero to %n step %step : i32 {
  }
  func.return
}"""
    with pytest.raises(tw.ExecutionError, match=f"'scf.for' steps by {step}, not forward"):
        tw.interpret(text, grid=(1,), block=(32,), args=[4, step])


def test_launch_limits():
    text = "func.func @k() attributes {gpu.kernel} {\n  func.return\n}"
    with pytest.raises(tw.ExecutionError, match="expected grid of at most"):
        tw.interpret(text, grid=(1, 65536), block=(1,), args=[])
    with pytest.raises(tw.ExecutionError, match="expected block of at most"):
        tw.interpret(text, grid=(1,), block=(1, 1, 65), args=[])
