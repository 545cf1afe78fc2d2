"""Functions of tiles of floats: the same bits at every level, libdevice's or those of `math`."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.random import default_rng

import tilewright as tw
from tilewright.dialects.cuda_tile.accuracy import Accuracy
from tilewright.dialects.math_functions.functions import FUNCTIONS
from tilewright.dialects.math_functions.libdevice import LIBDEVICE
from tilewright.lowering.interpreter.arithmetic.programs import function_of

DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16}


def kernel(name: str, type_: str) -> str:
    """A kernel that computes a function of 64 numbers."""
    tile, pointers = f"tile<64x{type_}>", f"tile<64xptr<{type_}>>"

    def places(pointer: str) -> str:
        return f"""    %{pointer}1 = reshape %{pointer} : tile<ptr<{type_}>> -> tile<1xptr<{type_}>>
    %{pointer}2 = broadcast %{pointer}1 : tile<1xptr<{type_}>> -> {pointers}
    %{pointer}3 = offset %{pointer}2, %i : {pointers}, tile<64xi32> -> {pointers}"""

    return f"""cuda_tile.module @m {{
  entry @k(%p: tile<ptr<{type_}>>, %q: tile<ptr<{type_}>>) {{
    %i = iota : tile<64xi32>
{places("p")}
{places("q")}
    %x, %t = load_ptr_tko weak %p3 : {pointers} -> {tile}, token
    %y = {name} %x : {tile}
    %u = store_ptr_tko weak %q3, %y : {pointers}, {tile} -> token
    return
  }}
}}"""


@pytest.mark.covered
@pytest.mark.parametrize("accuracy", ["libdevice", "exact"])
@pytest.mark.parametrize("type_", DTYPES)
@pytest.mark.parametrize("name", ["exp", "exp2", "sin", "tanh", "log", "rsqrt"])
def test_levels_agree(name: str, type_: str, accuracy: Accuracy) -> None:
    x = np.abs(default_rng(3).normal(0, 30, 64)).astype(DTYPES[type_])
    text, args = kernel(name, type_), [x, np.zeros_like(x)]
    results = [
        tw.interpret(text, grid=(1, 1, 1), args=args, level=level, accuracy=accuracy)[1].tobytes()
        for level in ("program", "tile", "ptx")
    ]
    assert len(set(results)) == 1
    if type_ == "f32":
        row = FUNCTIONS[f"math.{name}"] if accuracy == "exact" else LIBDEVICE[f"__nv_{name}f"]
        [bits] = function_of(row.program, ("f32",), [np.dtype(np.uint32)])(x.view(np.uint32))
        assert results[0] == bits.tobytes()


def test_the_accuracy_is_one_of_two() -> None:
    text = kernel("sin", "f32")
    exact = tw.compile(text, "sm_90a", accuracy="exact").ptx
    assert exact != tw.compile(text, "sm_90a").ptx
    with pytest.raises(tw.ArgumentError, match='one of "libdevice", "exact", got \'high\''):
        tw.compile(text, "sm_90a", accuracy="high")  # type: ignore[arg-type]


def mixed(name: str, type_: str, result: str) -> str:
    """A kernel that computes a function of libdevice of one type on 64 numbers of another."""
    text = kernel(f'libdevice "{name}"', type_)
    text = text.replace(f" %x : tile<64x{type_}>", f" %x : tile<64x{type_}> -> tile<64x{result}>")
    head, tail = text.split("    %q1", 1)
    head = head.replace(f"%q: tile<ptr<{type_}>>", f"%q: tile<ptr<{result}>>")
    places, rest = tail.split("    %x,", 1)
    store = rest.replace(f"%q3, %y : tile<64xptr<{type_}>>, tile<64x{type_}>",
                         f"%q3, %y : tile<64xptr<{result}>>, tile<64x{result}>")  # fmt: skip
    return f"{head}    %q1{places.replace(f'ptr<{type_}>', f'ptr<{result}>')}    %x,{store}"


@pytest.mark.parametrize(
    ("name", "type_", "result"),
    [
        ("__nv_float2int_rd", "f32", "i32"),
        ("__nv_erff", "f32", "f32"),
        ("__nv_popcll", "i64", "i32"),
        ("__nv_double2hiint", "f64", "i32"),
        ("__nv_isnand", "f64", "i32"),
        ("__nv_cospi", "f64", "f64"),
        ("__nv_tanhf", "bf16", "bf16"),
        ("__nv_ffs", "i32", "i32"),
        ("__nv_fsqrt_ru", "f32", "f32"),
    ],
)
def test_levels_agree_on_functions_by_name(name: str, type_: str, result: str) -> None:
    integers: dict[str, Any] = {"i32": np.int32, "i64": np.int64}
    x = default_rng(3).normal(0, 30, 64).astype({**DTYPES, **integers}[type_])
    text, args = mixed(name, type_, result), [x, np.zeros(64, {**DTYPES, **integers}[result])]
    results = [
        tw.interpret(text, grid=(1, 1, 1), args=args, level=level)[1].tobytes()
        for level in ("program", "tile", "ptx")
    ]
    assert len(set(results)) == 1
