"""Sums, differences and products of bf16, which are multiply-adds: rounded once, zeros of their own
sign, subnormal numbers kept."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tilewright as tw

BF16 = ml_dtypes.bfloat16
SPECIAL = (0x0000, 0x0001, 0x007F, 0x0080, 0x3F80, 0x3F81, 0x4000, 0x7F7F, 0x7F80, 0x7FC0)
WORDS = np.array([sign | word for word in SPECIAL for sign in (0, 0x8000)], np.uint16)


ONE = "%one = arith.constant 1.0 : bf16"


@pytest.mark.parametrize(
    ("body", "instruction", "ufunc"),
    [
        ("%r = arith.addf %x, %y : bf16", "fma.rn.bf16", np.add),
        ("%r = arith.subf %x, %y : bf16", "fma.rn.bf16", np.subtract),
        ("%r = arith.mulf %x, %y : bf16", "fma.rn.bf16", np.multiply),
        (f"{ONE} %n = arith.negf %y : bf16 %r = math.fma %x, %one, %n : bf16", "\tneg.bf16",
         np.subtract),
        ("%n = arith.negf %y : bf16 %r = arith.addf %x, %n : bf16", "\txor.b16", np.subtract),
    ],
)  # fmt: skip
def test_sums_are_multiply_adds(body: str, instruction: str, ufunc: np.ufunc):
    """Of all pairs of special numbers, and of random ones that nearly cancel."""
    random = np.random.default_rng(0).integers(0, 1 << 16, 4096).astype(np.uint16)
    x = np.concatenate([np.repeat(WORDS, len(WORDS)), random]).view(BF16)
    y = np.concatenate([np.tile(WORDS, len(WORDS)), random ^ 0x8003]).view(BF16)
    text = f"""func.func @k(%a: memref<?xbf16>, %b: memref<?xbf16>, %o: memref<?xbf16>)
        attributes {{gpu.kernel}} {{
      %i = gpu.block_id x
      %x = memref.load %a[%i] : memref<?xbf16>
      %y = memref.load %b[%i] : memref<?xbf16>
      {body}
      memref.store %r, %o[%i] : memref<?xbf16>
      return
    }}"""
    assert instruction in tw.compile(text, "sm_80").ptx
    args = [x, y, np.zeros_like(x)]
    left = [tw.interpret(text, "k", grid=(len(x), 1, 1), block=(1, 1, 1), args=args, level=level,
                         arch="sm_90a")[2] for level in ("atom", "ptx")]  # fmt: skip
    assert_array_equal(*(one.view(np.uint16) for one in left))
    with np.errstate(all="ignore"):
        want = ufunc(x.astype(np.float32), y.astype(np.float32)).astype(BF16)
    numbers = ~np.isnan(want.astype(np.float32))
    assert_array_equal(left[1].view(np.uint16)[numbers], want.view(np.uint16)[numbers])
    assert np.isnan(left[1].astype(np.float32)).sum() == (~numbers).sum()
