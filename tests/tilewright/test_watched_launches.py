"""Launches that somebody watches: how far they are, where they stand, what they printed."""

from __future__ import annotations

from typing import Any

import cuda.tile as ct
import numpy as np
import pytest

import tilewright as tw
from tilewright.lowering.interpreter.cuda_tile import grid


@ct.kernel
def square_sum(x, out, n: ct.Constant[int]):
    i = ct.bid(0)
    ct.printf("block %d begins\n", i)
    total = ct.zeros((16,), dtype=ct.float32)
    for k in range(n):
        tile = ct.load(x, (k,), (16,))
        total += tile * tile
    ct.store(out, (i,), total)


@ct.kernel
def square(a, out):
    tile = ct.load(a, (0, 0), (16, 64))
    product = ct.mma(tile, ct.transpose(tile), ct.zeros((16, 16), dtype=ct.float32))
    ct.store(out, (0, 0), product)


@ct.kernel
def one_waits(flag, out):
    i = ct.bid(0)
    if i == 1:
        while ct.atomic_add(flag, (2,), 0) < 5:
            pass
    ct.printf("block %d is through\n", i)
    ct.store(out, (i,), i)


@pytest.fixture
def arrays() -> tuple[Any, ...]:
    return np.ones(64, np.float32), np.zeros(48, np.float32), 4


def test_progress_is_told_and_may_end_a_run(arrays: Any):
    told = list[tuple[int, int]]()
    tw.cutile.launch((3,), square_sum, arrays, progress=lambda *blocks: told.append(blocks))
    assert told[0] == (0, 3) and told[-1] == (3, 3) and (arrays[1] == 4).all()


def test_an_interrupted_run_says_where_its_blocks_stand(arrays: Any, capsys: Any):
    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught, tw.cutile.on_cpu(progress=interrupt):
        ct.launch(None, (3,), square_sum, arrays)
    said = str(caught.value)
    assert said.startswith("interrupted where 0 of 3 blocks had ended\n")
    assert "note: 3 blocks from (0, 0, 0) on: running\n    for k in range(n):\n    ^" in said
    assert capsys.readouterr().out == "".join(f"block {i} begins\n" for i in range(3))


def test_loops_of_launches_are_bounded(arrays: Any, capsys: Any):
    with pytest.raises(tw.ExecutionError, match=r"expected at most 3 iterations of loops") as error:
        tw.cutile.launch((3,), square_sum, arrays, max_steps=3)
    assert "for k in range(n):" in str(error.value)
    assert "block 2 begins\n" in capsys.readouterr().out


def test_a_hang_says_what_is_waited_for(monkeypatch: pytest.MonkeyPatch, capsys: Any):
    monkeypatch.setattr(grid, "_ROUNDS", 20)
    with pytest.raises(tw.ExecutionError) as caught:
        tw.cutile.launch((2,), one_waits, (np.arange(4, dtype=np.int32), np.zeros(2, np.int32)))
    head, line, _ = str(caught.value).split("\n")
    assert head.endswith("block (1, 0, 0): waiting for flag[2] = 2 to be at least 5")
    assert "while ct.atomic_add(flag, (2,), 0) < 5:" in line
    assert capsys.readouterr().out == "block 0 is through\n"


def test_numerics_are_the_chips_by_default():
    """Products of which NumPy keeps bits that a chip does not."""
    a = np.random.default_rng(2).standard_normal((16, 64)).astype(np.float16)
    results = [np.zeros((16, 16), np.float32) for _ in range(3)]
    tw.cutile.launch((1,), square, (a, results[0]))
    with tw.cutile.on_cpu():
        ct.launch(None, (1,), square, (a, results[1]))
    tw.cutile.launch((1,), square, (a, results[2]), numerics="fast")
    assert (results[0] == results[1]).all() and (results[0] != results[2]).any()
