"""Atomics of elements that Tile IR has none for, and the chip has: the same at every level."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from run_levels import at_levels
from triton_kernel import converted

import tilewright as tw
from tilewright.dialects.cuda_tile.bytecode.write_module import write_bytecode
from tilewright.source.diagnostic import OpError

SWAP = """module {
  tt.func public @k(%p: !tt.ptr<f16>, %out: !tt.ptr<f16>) {
    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %ps = tt.splat %p : !tt.ptr<f16> -> tensor<8x!tt.ptr<f16>>
    %at = tt.addptr %ps, %i : tensor<8x!tt.ptr<f16>>, tensor<8xi32>
    %one = arith.constant dense<1.0> : tensor<8xf16>
    %two = arith.constant dense<2.0> : tensor<8xf16>
    %old = tt.atomic_cas acq_rel, gpu, %at, %one, %two :
      (tensor<8x!tt.ptr<f16>>, tensor<8xf16>, tensor<8xf16>) -> tensor<8xf16>
    %os = tt.splat %out : !tt.ptr<f16> -> tensor<8x!tt.ptr<f16>>
    %to = tt.addptr %os, %i : tensor<8x!tt.ptr<f16>>, tensor<8xi32>
    tt.store %to, %old : tensor<8x!tt.ptr<f16>>
    tt.return
  }
}
"""
REDUCE = """module {
  tt.func public @k(%p: !tt.ptr<ELEMENT>, %x: !tt.ptr<ELEMENT>) {
    %zero = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %s = arith.constant 8 : i64
    %one = arith.constant 1 : i64
    %d = tt.make_tensor_descriptor %p, [%c8, %c8], [%s, %one] : <ELEMENT>, <tensor<8x8xELEMENT>>
    %e = tt.make_tensor_descriptor %x, [%c8, %c8], [%s, %one] : <ELEMENT>, <tensor<8x8xELEMENT>>
    %v = tt.descriptor_load %e[%zero, %zero] : !tt.tensordesc<tensor<8x8xELEMENT>> -> tensor<8x8xELEMENT>
    tt.descriptor_reduce KIND, %d[%zero, %zero], %v : !tt.tensordesc<tensor<8x8xELEMENT>>, tensor<8x8xELEMENT>
    tt.return
  }
}
"""  # noqa: E501


@at_levels("program", "ptx")
def test_halves_are_compared_and_swapped(level: Any):
    p = np.arange(8, dtype=np.float16)
    after, old = tw.interpret(SWAP, "k", grid=(1,), args=[p, np.zeros_like(p)], level=level)
    assert old.tolist() == list(range(8))
    assert after.tolist() == [0, 2, 2, 3, 4, 5, 6, 7]


@at_levels("program", "ptx")
@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("kind", ["min", "max", "add"])
def test_halves_of_a_descriptor_are_reduced(kind: str, element: str, level: Any):
    dtype = np.float16 if element == "f16" else ml_dtypes.bfloat16
    random = np.random.default_rng(5)
    p, x = (random.integers(-9, 9, (8, 8)).astype(dtype) for _ in range(2))
    text = REDUCE.replace("ELEMENT", element).replace("KIND", kind)
    got, _ = tw.interpret(text, "k", grid=(1,), args=[p, x], level=level)
    law = {"min": np.minimum, "max": np.maximum, "add": np.add}[kind]
    np.testing.assert_array_equal(got, law(p, x))


def test_an_operation_that_no_atomic_is():
    text = REDUCE.replace("ELEMENT", "i32").replace("KIND", "inc")
    with pytest.raises(OpError, match="umin or xchg, got inc; nearest legal: add"):
        converted(text)


def test_bytecode_has_no_atomics_of_halves():
    with pytest.raises(OpError, match="expected elements of CUDA Tile IR, got wider ones"):
        write_bytecode(converted(SWAP))
