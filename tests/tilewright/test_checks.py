"""What a launch looks for: the first NaN or infinity, outputs that nobody writes, padding."""

from __future__ import annotations

import math
from typing import Any

import cuda.tile as ct
import numpy as np
import pytest
import triton
import triton.language as tl

import tilewright as tw


@ct.kernel
def softmax(x, out):
    i = ct.bid(0)
    tile = ct.load(x, (i,), (16,))
    tile = ct.where(ct.arange(16, dtype=ct.int32) < 10, tile, -math.inf)
    powers = ct.exp(tile - ct.max(tile))
    ct.store(out, (i,), powers / ct.sum(powers))


@ct.kernel
def half_of_it(x, out):
    i = ct.bid(0)
    ct.store(out, (2 * i,), ct.load(x, (i,), (16,)).astype(out.dtype))


@pytest.mark.parametrize("x, words", [
    (np.full(32, 70000.0), "got an infinity at index (0)"),
    (np.where(np.arange(32) == 19, -70000.0, 1), "got an infinity at index (3) (block (1, 0, 0))"),
])  # fmt: skip
def test_the_first_infinity_is_shown_where_it_is_made(x: Any, words: str):
    out = np.zeros(64, np.float16)
    with pytest.raises(tw.ExecutionError, match="expected finite numbers") as error:
        tw.cutile.launch((2,), half_of_it, (x.astype(np.float32), out), check="nan")
    assert words in str(error.value) and "ct.load(x, (i,), (16,)).astype" in str(error.value)
    with np.errstate(over="ignore"):
        tw.cutile.launch((2,), half_of_it, (x.astype(np.float32), out))
    assert np.isinf(out).any()


def test_a_nan_is_shown_where_it_is_made_and_infinities_are_used():
    x, out = np.ones(32, np.float32), np.zeros(32, np.float32)
    tw.cutile.launch((2,), softmax, (x, out), check="nan,padding,unwritten")
    assert out[:10].sum() == pytest.approx(1)
    x[16:26] = -np.inf
    with pytest.raises(tw.ExecutionError, match=r"got NaN at index \(0\) \(block") as error:
        tw.cutile.launch((2,), softmax, (x, out), check="nan")
    assert "powers = ct.exp(tile - ct.max(tile))" in str(error.value)


def test_elements_that_no_block_wrote():
    x, out = np.ones(32, np.float32), np.zeros(70, np.float16)
    words = r"every element of 'out' to be written, got 38 of 70 .*, the first at \(16,\)"
    with pytest.raises(tw.ExecutionError, match=words) as error:
        tw.cutile.launch((2,), half_of_it, (x, out), check=["unwritten"])
    assert "def half_of_it(x, out):" in str(error.value)
    tw.cutile.launch((2,), half_of_it, (x, out[::2][:64]), check="")
    with (
        pytest.raises(tw.ExecutionError, match="got 19 of 35"),
        tw.cutile.on_cpu(check="unwritten"),
    ):
        ct.launch(None, (1,), half_of_it, (x, out[::2]))


@ct.kernel
def total(x, out):
    ct.store(out, (0,), ct.sum(ct.load(x, (0,), (128,))))


@pytest.mark.parametrize("how", [{"padding": "zeros"}, {"check": "integers"}])
def test_padding_may_be_zeros(how: Any):
    x, out = np.ones(100, np.float32), np.zeros(1, np.float32)
    with pytest.raises(tw.ExecutionError, match="undetermined"):
        tw.cutile.launch((1,), total, (x, out))
    tw.cutile.launch((1,), total, (x, out), **how)
    assert out == 100


@triton.jit
def of_triton(x, out, n, WHICH: tl.constexpr):
    i = tl.arange(0, 16)
    v = tl.load(x + i, mask=i < n)
    if WHICH == "padding":
        tl.store(out + i, v)
    elif WHICH == "nan":
        tl.store(out + i, 1.0 / tl.where(i == 3, 0.0, 1.0))
    elif WHICH == "integers":
        tl.store(out + i, (i // (i - 3)).to(tl.float32))
    else:
        tl.store(out + i, 1.0, mask=i < n)


@pytest.mark.parametrize("which, words", [
    ("padding", "got what a mask leaves out at index (12)"),
    ("nan", "got an infinity at index (3)"),
    ("integers", "expected a divisor other than 0, got 0"),
    ("unwritten", "got 4 of 16 that no block wrote, the first at (12,)"),
])  # fmt: skip
def test_kernels_of_triton_are_asked_too(which: str, words: str):
    x, out = np.ones(16, np.float32), np.zeros(16, np.float32)
    with pytest.raises(tw.ExecutionError) as error, tw.triton.on_cpu(check=which):
        of_triton[(1,)](x, out, 12, WHICH=which)
    said = str(error.value)
    line = {"padding": "tl.store(out + i, v)", "nan": "1.0 / tl", "integers": "i // (i - 3)"}
    assert words in said and line.get(which, "def of_triton") in said.splitlines()[1]
    with tw.triton.on_cpu(check=""):
        of_triton[(1,)](x, out, 12, WHICH=which)
