"""What a tile adds to memory by numbers is added up in shared memory, as NumPy adds it."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tile_ir import entry, row, run

import tilewright as tw

SIZE = 2048
RNG = np.random.default_rng(0)


def additions(
    element: str = "i32", number: str = "i32", order: str = "acq_rel device", loops: int = 1,
    mode: str = "add",
) -> str:  # fmt: skip
    """Values of %q added to %p at the numbers of %n, but for those whose number is 5."""
    p, t = f"{SIZE}xptr<{element}>", f"{SIZE}x{element}"
    loop = f"""
    %from = constant <i32: 0> : tile<i32>
    %to = constant <i32: {loops}> : tile<i32>
    %step = constant <i32: 1> : tile<i32>
    for %i in (%from to %to, step %step) : tile<i32> {{
      %old, %t3 = atomic_rmw_tko {order} %w, {mode}, %v, %c
        : tile<{p}>, tile<{t}>, tile<{SIZE}xi1> -> tile<{t}>, token
      continue
    }}
"""
    return (
        row("s", "q", element, SIZE)
        + row("m", "n", number, SIZE)
        + f"""
    %v, %t0 = load_ptr_tko weak %s : tile<{p}> -> tile<{t}>, token
    %at, %t1 = load_ptr_tko weak %m : tile<{SIZE}xptr<{number}>> -> tile<{SIZE}x{number}>, token
    %five = constant <{number}: 5> : tile<{SIZE}x{number}>
    %c = cmpi not_equal %at, %five, signed : tile<{SIZE}x{number}> -> tile<{SIZE}xi1>
    %r = reshape %p : tile<ptr<{element}>> -> tile<1xptr<{element}>>
    %b = broadcast %r : tile<1xptr<{element}>> -> tile<{p}>
    %w = offset %b, %at : tile<{p}>, tile<{SIZE}x{number}> -> tile<{p}>
{loop}"""
    )


def parameters(element: str = "i32", number: str = "i32") -> str:
    e, n = f"tile<ptr<{element}>>", f"tile<ptr<{number}>>"
    return f"%p: {e}, %q: {e}, %n: {n}"


def numbers(bins: int, count: int, dtype: type) -> NDArray[np.signedinteger]:
    """Half of them few, so that many threads meet."""
    few = RNG.integers(0, min(bins, 7), count)
    return np.where(RNG.integers(0, 2, count), few, RNG.integers(0, bins, count)).astype(dtype)


@pytest.mark.parametrize(
    "bins, number, loops, order",
    [(100, "i32", 1, "acq_rel device"), (SIZE, "i64", 2, "relaxed device"),
     (5 * SIZE, "i64", 1, "release sys"), (100, "i8", 2, "relaxed device")],
)  # fmt: skip
def test_what_is_added(bins: int, number: str, loops: int, order: str) -> None:
    body = additions(number=number, loops=loops, order=order)
    at = numbers(bins, 3 * SIZE, getattr(np, number.replace("i", "int")))
    values = RNG.integers(-(2**31), 2**31, len(at)).astype(np.int32)
    before = RNG.integers(-(2**31), 2**31, bins).astype(np.int32)
    want = before.copy()
    for _ in range(loops):
        np.add.at(want, at[at != 5], values[at != 5])
    text = entry(parameters(number=number), body)
    assert "shared.add.u32" in tw.compile(text, "sm_90a").ptx
    for level in ("program", "ptx"):
        got = run(parameters(number=number), body, [before, values, at], (3,), level=level)[0]
        assert (got == want).all()


def test_a_number_in_front_of_the_first() -> None:
    """Is no bin: it goes to memory as it is."""
    at = np.full(SIZE, -1, np.int32)
    where = parameters().replace("%p:", "%o:")
    moved = """
    %one = constant <i32: 1> : tile<i32>
    %p = offset %o, %one : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
"""
    args = [np.zeros(2, np.int32), np.ones(SIZE, np.int32), at]
    got = run(where, moved + additions(), args, level="ptx")[0]
    assert got.tolist() == [SIZE, 0]


@pytest.mark.parametrize("element, mode", [("i64", "add"), ("i32", "max"), ("f32", "addf")])
def test_others_go_to_memory(element: str, mode: str) -> None:
    text = entry(parameters(element), additions(element, mode=mode))
    assert ".shared." not in tw.compile(text, "sm_90a").ptx


def test_no_thread_branches_for_an_addition() -> None:
    """What is not to be added, or has no bin there, has one behind the others."""
    lines = tw.compile(entry(parameters(), additions()), "sm_90a").ptx.splitlines()
    near = [line for line in lines if "red.relaxed.gpu.shared" in line]
    far = [line for line in lines if "red.relaxed.gpu.global" in line]
    assert len(near) == SIZE // 128 and not any("@" in line for line in near)
    assert len(far) == 2 * len(near) and all("@" in line for line in far)
