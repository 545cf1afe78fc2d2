"""What tokens order, what they do not, and what blocks may do to each other."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tile_ir import entry, row, run

import tilewright as tw
from tilewright.lowering.interpreter.cuda_tile import grid
from tilewright.tile_kernel import RaceWarning

F = "tile<ptr<f32>>"
LOAD = "load_ptr_tko weak {} : tile<4xptr<f32>> -> tile<4xf32>, token"
STORE = "store_ptr_tko weak {} : tile<4xptr<f32>>, tile<4xf32> -> token"


def rotated(token: str) -> str:
    """Store four numbers, load them in another order, store them back."""
    return (
        row("a", "p", "f32", 4)
        + f"""
    %one = constant <i32: [1, 1, 1, -3]> : tile<4xi32>
    %b = offset %a, %one : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %v = constant <f32: [1.0, 2.0, 3.0, 4.0]> : tile<4xf32>
    %t0 = {STORE.format("%a, %v")}
    %x, %t1 = {LOAD.format(f"%b {token}")}
    %t2 = {STORE.format("%a, %x token=%t1")}
    return
"""
    )


def test_a_token_orders():
    (got,) = run(f"%p: {F}", rotated("token=%t0"), [np.zeros(4, np.float32)])
    assert got.tolist() == [2, 3, 4, 1]


def test_without_a_token_it_is_a_race_that_names_both_places():
    with pytest.raises(tw.ExecutionError) as raised:
        run(f"%p: {F}", rotated(""), [np.zeros(4, np.float32)])
    message = str(raised.value)
    assert "'cuda_tile.load_ptr_tko' expected a token from every access that conflicts" in message
    assert "its read of argument 0[1]" in message or "argument 0[0]" in message
    assert "the write of 'cuda_tile.store_ptr_tko' at <string>:17:" in message
    assert message.startswith("<string>:18:5: error:") and "^" in message


def test_races_can_be_warnings_or_nothing():
    with pytest.warns(RaceWarning, match="expected a token"):
        run(f"%p: {F}", rotated(""), [np.zeros(4, np.float32)], races="warn")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(f"%p: {F}", rotated(""), [np.zeros(4, np.float32)], races="ignore")


def test_tokens_join():
    body = (
        row("a", "p", "f32", 4)
        + f"""
    %x, %t0 = {LOAD.format("%a")}
    %y, %t1 = {LOAD.format("%a")}
    %j = join_tokens %t0, %t1 : token
    %t2 = {STORE.format("%a, %x token=%j")}
"""
    )
    run(f"%p: {F}", body, [np.ones(4, np.float32)])
    with pytest.raises(tw.ExecutionError, match=r"the read of 'cuda_tile.load_ptr_tko'"):
        run(f"%p: {F}", body.replace("token=%j", "token=%t0"), [np.ones(4, np.float32)])


def test_arrays_that_share_memory_are_one_allocation():
    body = (
        row("a", "p", "f32", 4)
        + row("b", "q", "f32", 4)
        + f"""
    %x, %t0 = {LOAD.format("%a")}
    %t1 = {STORE.format("%b, %x")}
"""
    )
    parameters = f"%p: {F}, %q: {F}"
    base = np.arange(8, dtype=np.float32)
    _, second = run(parameters, body, [base[:4], base[4:]])
    assert second.tolist() == [0, 1, 2, 3] and base.tolist() == list(range(8))
    with pytest.raises(tw.ExecutionError, match="expected a token"):
        run(parameters, body, [base[:4], base[1:5]])


def test_blocks_that_write_one_element_race():
    body = (
        row("a", "p", "f32", 4)
        + f"""
    %r = reshape %p : {F} -> tile<1xptr<f32>>
    %q = broadcast %r : tile<1xptr<f32>> -> tile<4xptr<f32>>
    %v = constant <f32: 1.0> : tile<4xf32>
    %m = constant <i32: [0, 1, 2, 3]> : tile<4xi32>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %s = muli %x, %two : tile<i32>
    %sr = reshape %s : tile<i32> -> tile<1xi32>
    %sb = broadcast %sr : tile<1xi32> -> tile<4xi32>
    %o = addi %m, %sb : tile<4xi32>
    %w = offset %q, %o : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %t = {STORE.format("%w, %v")}
"""
    )
    with pytest.raises(tw.ExecutionError) as raised:
        run(f"%p: {F}", body, [np.zeros(64, np.float32)], grid=(3,))
    message = str(raised.value)
    assert "expected no other block to access argument 0[2]" in message
    assert "of block (1, 0, 0) (block (0, 0, 0) has a write; nothing orders them)" in message


@pytest.mark.parametrize("kind", ["read", "write"])
def test_blocks_that_read_what_another_writes_race(kind: str):
    """Block 1 writes the elements of block 0, which reads its own, or the other way."""
    flip = "%x" if kind == "read" else "%k"
    body = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %k = subi %one, %x : tile<i32>
    %c = cmpi equal {flip}, %zero, signed : tile<i32> -> tile<i1>
    if %c {{
      %v, %t0 = load_ptr_tko weak %p : {F} -> tile<f32>, token
      yield
    }} else {{
      %w = constant <f32: 1.0> : tile<f32>
      %t1 = store_ptr_tko weak %p, %w : {F}, tile<f32> -> token
      yield
    }}
"""
    with pytest.raises(tw.ExecutionError, match=r"expected no other block to access argument 0.0."):
        run(f"%p: {F}", body, [np.zeros(4, np.float32)], grid=(2,))


def test_blocks_may_read_one_element_and_update_it_atomically():
    body = f"""
    %one = constant <f32: 1.0> : tile<f32>
    %old, %t = atomic_rmw_tko relaxed device %p, addf, %one : {F}, tile<f32> -> tile<f32>, token
    %v, %u = load_ptr_tko weak %q : {F} -> tile<f32>, token
"""
    arrays = [np.zeros(1, np.float32), np.zeros(1, np.float32)]
    got, _ = run(f"%p: {F}, %q: {F}", body, arrays, grid=(50,))
    assert got.tolist() == [50]


def test_plain_and_atomic_accesses_of_two_blocks_race():
    body = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <f32: 1.0> : tile<f32>
    %c = cmpi equal %x, %zero, signed : tile<i32> -> tile<i1>
    if %c {{
      %old, %t = atomic_rmw_tko relaxed device %p, addf, %one : {F}, tile<f32> -> tile<f32>, token
      yield
    }} else {{
      %t1 = store_ptr_tko weak %p, %one : {F}, tile<f32> -> token
      yield
    }}
"""
    with pytest.raises(tw.ExecutionError, match=r"access argument 0.0. but atomically, got the"):
        run(f"%p: {F}", body, [np.zeros(1, np.float32)], grid=(2,))


LOCKED = """
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %f1 = constant <f32: 1.0> : tile<f32>
    %got = loop iter_values(%d = %zero) : tile<i32> -> token {{
      %old, %t = atomic_cas_tko {acquire} device %lock, %zero, %one
          : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
      %c = cmpi equal %old, %zero, signed : tile<i32> -> tile<i1>
      if %c {{
        break %t : token
      }}
      continue %old : tile<i32>
    }}
    %v, %t1 = load_ptr_tko weak %p {token} : tile<ptr<f32>> -> tile<f32>, token
    %w = addf %v, %f1 rounding<nearest_even> : tile<f32>
    %t2 = store_ptr_tko weak %p, %w token=%t1 : tile<ptr<f32>>, tile<f32> -> token
    %u, %t3 = atomic_rmw_tko {release} device %lock, xchg, %zero token=%t2
        : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
"""


def locked(acquire: str = "acquire", release: str = "release", token: str = "token=%got") -> str:
    """Every block takes a lock, adds 1 to a number and gives the lock back."""
    return LOCKED.format(acquire=acquire, release=release, token=token)


def test_a_lock_orders_blocks():
    got, lock = run(
        f"%p: {F}, %lock: tile<ptr<i32>>",
        locked(),
        [np.zeros(1, np.float32), np.zeros(1, np.int32)],
        grid=(40,),
    )
    assert got.tolist() == [40] and lock.tolist() == [0]


@pytest.mark.parametrize(
    "wrong", [{"acquire": "relaxed"}, {"release": "relaxed"}, {"token": ""}], ids=str
)
def test_a_lock_that_does_not_order(wrong: dict[str, str]):
    with pytest.raises(tw.ExecutionError, match=r"expected no other block to access argument 0.0."):
        run(
            f"%p: {F}, %lock: tile<ptr<i32>>",
            locked(**wrong),
            [np.zeros(1, np.float32), np.zeros(1, np.int32)],
            grid=(4,),
        )


def test_the_last_block_may_read_what_all_have_written():
    """A counter with acquire and release: no loop waits, and the order is found all the same."""
    body = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %n, %ny, %nz = get_num_tile_blocks : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %f = itof %x signed : tile<i32> -> tile<f32>
    %a = offset %p, %x : {F}, tile<i32> -> {F}
    %t0 = store_ptr_tko weak %a, %f : {F}, tile<f32> -> token
    %old, %t1 = atomic_rmw_tko acq_rel device %count, add, %one token=%t0
        : tile<ptr<i32>>, tile<i32> -> tile<i32>, token
    %last = subi %n, %one : tile<i32>
    %c = cmpi equal %old, %last, signed : tile<i32> -> tile<i1>
    if %c {{
      %i = iota : tile<8xi32>
      %r = reshape %p : {F} -> tile<1xptr<f32>>
      %q = broadcast %r : tile<1xptr<f32>> -> tile<8xptr<f32>>
      %o = offset %q, %i : tile<8xptr<f32>>, tile<8xi32> -> tile<8xptr<f32>>
      %v, %t2 = load_ptr_tko weak %o token=%t1 : tile<8xptr<f32>> -> tile<8xf32>, token
      %s = reduce %v dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
        (%e: tile<f32>, %acc: tile<f32>) {{
          %sum = addf %e, %acc rounding<nearest_even> : tile<f32>
          yield %sum : tile<f32>
        }}
      %t3 = store_ptr_tko weak %out, %s : {F}, tile<f32> -> token
    }}
"""
    parameters = f"%p: {F}, %count: tile<ptr<i32>>, %out: {F}"
    arrays = [np.zeros(8, np.float32), np.zeros(1, np.int32), np.zeros(1, np.float32)]
    assert run(parameters, body, arrays, grid=(8,))[2].tolist() == [28]
    with pytest.raises(tw.ExecutionError, match="expected no other block"):
        run(parameters, body.replace("acq_rel", "relaxed"), arrays, grid=(8,))


def test_blocks_that_wait_for_ever(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(grid, "_ROUNDS", 100)
    with pytest.raises(tw.ExecutionError) as caught:
        run(
            f"%p: {F}, %lock: tile<ptr<i32>>",
            locked(),
            [np.zeros(1, np.float32), np.ones(1, np.int32)],
            grid=(2,),
        )
    said = str(caught.value)
    assert "error: expected blocks that make progress, got 2 that wait for ever; 2 blocks" in said
    assert "from (0, 0, 0) on: waiting for argument 1[0] = 1 to be 0" in said


def test_loops_can_be_bounded():
    body = """
    loop {
      continue
    }
"""
    with pytest.raises(tw.ExecutionError, match="loop' expected at most 100 iterations"):
        run("", body, [], max_steps=100)


@pytest.mark.parametrize(("offset", "element"), [(61, 64), (-1, -1), (1 << 20, 1 << 20)])
def test_an_access_out_of_bounds_names_the_element(offset: int, element: int):
    body = (
        row("a", "p", "f32", 4)
        + f"""
    %n = constant <i32: {offset}> : tile<4xi32>
    %b = offset %a, %n : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %x, %t = {LOAD.format("%b")}
"""
    )
    with pytest.raises(tw.ExecutionError) as raised:
        run(f"%p: {F}", body, [np.zeros(64, np.float32)])
    assert (
        f"'cuda_tile.load_ptr_tko' expected an element of argument 0 (64 of 4 bytes), got element "
        f"{element}" in str(raised.value)
    )


def test_a_mask_keeps_out_of_bounds_elements_out():
    body = (
        row("a", "p", "f32", 4)
        + f"""
    %n = constant <i32: 2> : tile<4xi32>
    %b = offset %a, %n : tile<4xptr<f32>>, tile<4xi32> -> tile<4xptr<f32>>
    %m = constant <i1: [true, true, false, false]> : tile<4xi1>
    %pad = constant <f32: 9.0> : tile<4xf32>
    %x, %t = load_ptr_tko weak %b, %m, %pad
        : tile<4xptr<f32>>, tile<4xi1>, tile<4xf32> -> tile<4xf32>, token
    %u = {STORE.format("%a, %x token=%t")}
"""
    )
    (got,) = run(f"%p: {F}", body, [np.arange(4, dtype=np.float32)])
    assert got.tolist() == [2, 3, 9, 9]


def test_pointers_to_nothing_and_between_elements():
    body = f"""
    %n = constant <i64: 4096> : tile<i64>
    %q = int_to_ptr %n : tile<i64> -> {F}
    %x, %t = load_ptr_tko weak %q : {F} -> tile<f32>, token
"""
    with pytest.raises(
        tw.ExecutionError, match="expected pointers into memory, got address 0x1000"
    ):
        run("", body, [])
    body = f"""
    %n = ptr_to_int %p : {F} -> tile<i64>
    %one = constant <i64: 1> : tile<i64>
    %m = addi %n, %one : tile<i64>
    %q = int_to_ptr %m : tile<i64> -> {F}
    %x, %t = load_ptr_tko weak %q : {F} -> tile<f32>, token
"""
    with pytest.raises(tw.ExecutionError, match="multiples of 4, got byte 1 of argument 0"):
        run(f"%p: {F}", body, [np.zeros(2, np.float32)])


def test_constants_in_memory_are_not_written():
    body = f"""
    %q = get_global @g : {F}
    %x, %t = load_ptr_tko weak %q : {F} -> tile<f32>, token
    %u = store_ptr_tko weak %p, %x : {F}, tile<f32> -> token
"""
    table = "global {} @g <f32: [5.0, 6.0]> : tile<2xf32>"
    (got,) = run(f"%p: {F}", body, [np.zeros(1, np.float32)], globals_=table.format("constant"))
    assert got.tolist() == [5]
    wrong = body.replace("%p, %x :", "%q, %x token=%t :")
    with pytest.raises(tw.ExecutionError, match="got constant @g"):
        run(f"%p: {F}", wrong, [np.zeros(1, np.float32)], globals_=table.format("constant"))
    run(f"%p: {F}", wrong, [np.zeros(1, np.float32)], globals_=table.format(""))


def test_memory_of_a_block_is_its_own():
    body = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %f = itof %x signed : tile<i32> -> tile<f32>
    %q = alloca num_elem = 4, alignment = 16 : {F}
    %t = store_ptr_tko weak %q, %f : {F}, tile<f32> -> token
    %v, %u = load_ptr_tko weak %q token=%t : {F} -> tile<f32>, token
    %a = offset %p, %x : {F}, tile<i32> -> {F}
    %w = store_ptr_tko weak %a, %v : {F}, tile<f32> -> token
"""
    (got,) = run(f"%p: {F}", body, [np.zeros(5, np.float32)], grid=(5,))
    assert got.tolist() == [0, 1, 2, 3, 4]


def test_arguments():
    text = entry(f"%p: {F}, %n: tile<i32>, %b: tile<i1>", "    return")
    array = np.zeros(1, np.float32)
    for args, message in (
        ([array], "'k' expected 3 arguments .tile<ptr<f32>>, tile<i32>, tile<i1>., got 1"),
        ([3, 1, True], "'k' expected an array as argument 0, a tile<ptr<f32>>, got int"),
        ([array, 2.5, True], "'k' expected a number as argument 1, an i32, got 2.5"),
        ([array, 1 << 32, True], "'k' expected a number as argument 1, an i32, got 4294967296"),
        ([array, array, True], "'k' expected a number as argument 1, an i32, got an array"),
    ):
        with pytest.raises(tw.ExecutionError, match=message):
            tw.interpret(text, "k", grid=(1,), args=args)
    with pytest.raises(tw.ExecutionError, match=r"expected no block for Tile IR, got \(1, 1, 1\)"):
        tw.interpret(text, "k", grid=(1,), block=(1, 1, 1), args=[array, 1, True])
    with pytest.raises(tw.CompileError, match="expected a kernel 'z', got k"):
        tw.interpret(text, "z", grid=(1,), args=[array, 1, True])
