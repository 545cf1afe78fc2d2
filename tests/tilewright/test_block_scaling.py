"""`tilewright.quantize` and `dequantize` against ml_dtypes in float64, and through the atoms."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from numpy.typing import NDArray

import tilewright as tw

MX: list[tuple[Any, str, Any]] = [
    ("mxfp8", "e4m3", ml_dtypes.float8_e4m3fn),
    ("mxfp8", "e5m2", ml_dtypes.float8_e5m2),
    ("mxfp6", "e2m3", ml_dtypes.float6_e2m3fn),
    ("mxfp6", "e3m2", ml_dtypes.float6_e3m2fn),
    ("mxfp4", "e2m1", ml_dtypes.float4_e2m1fn),
]
MX_IDS = [f"{name}-{element}" for name, element, _ in MX]
FORMATS = [*((name, element) for name, element, _ in MX), ("nvfp4", "e2m1")]

floats = st.floats(allow_nan=False, allow_infinity=False, width=32)
normal = st.floats(-1e9, 1e9, width=32).filter(lambda x: x == 0 or abs(x) > 1e-9)


def matrices(elements: st.SearchStrategy[float] = floats) -> st.SearchStrategy[Any]:
    shapes = st.tuples(st.integers(0, 3), st.sampled_from([32, 64, 96]))
    spread = shapes.flatmap(lambda shape: arrays(np.float32, shape, elements=elements))
    return spread


def clipped(quotient: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
    largest = float(ml_dtypes.finfo(dtype).max)
    return np.clip(quotient, -largest, largest).astype(dtype)


def same_bits(left: NDArray[Any], right: NDArray[Any]) -> None:
    assert left.dtype == right.dtype
    assert_array_equal(left.view(np.uint8), right.view(np.uint8))


@pytest.mark.parametrize("name, element, dtype", MX, ids=MX_IDS)
@settings(max_examples=40, deadline=None)
@given(x=matrices())
def test_mx_scales_are_powers_of_two(name: Any, element: str, dtype: Any, x: Any):
    """OCP MX 6.3: the shared exponent is floor(log2(amax)) - emax, within e8m0."""
    q = tw.quantize(x, name, element=element)
    blocks = x.astype(np.float64).reshape(len(x), x.shape[1] // 32, 32)
    amax = np.abs(blocks).max(axis=-1)
    emax = int(np.log2(float(ml_dtypes.finfo(dtype).max)))
    exponent = np.floor(np.log2(np.where(amax == 0, 2.0**-300, amax))) - emax
    scales = np.exp2(np.clip(exponent, -127, 127))
    same_bits(q.scales, scales.astype(ml_dtypes.float8_e8m0fnu))
    same_bits(q.elements, clipped(blocks / scales[..., None], dtype).reshape(x.shape))
    assert q.tensor_scale == 1
    back = np.repeat(scales, 32, axis=-1) * q.elements.astype(np.float64)
    assert_array_equal(tw.dequantize(q, dtype=np.float64), back)
    assert_array_equal(tw.dequantize(q), back.astype(np.float32))


@pytest.mark.parametrize("tensor_scale", [None, "amax", 0.37])
@settings(max_examples=40, deadline=None)
@given(x=matrices(normal))
def test_nvfp4_scales_are_e4m3(tensor_scale: Any, x: Any):
    q = tw.quantize(x, "nvfp4", tensor_scale=tensor_scale)
    blocks = x.astype(np.float64).reshape(len(x), x.shape[1] // 16, 16)
    whole = np.float32(tensor_scale if isinstance(tensor_scale, float) else 1)
    if tensor_scale == "amax":
        whole = np.float32(np.abs(blocks).max(initial=0) / (6 * 448)) or np.float32(1)
    assert q.tensor_scale == whole and q.tensor_scale.dtype == np.float32
    e4m3 = ml_dtypes.float8_e4m3fn
    scales = clipped(np.abs(blocks).max(axis=-1) / (6 * np.float64(whole)), e4m3)
    same_bits(q.scales, scales)
    factor = scales.astype(np.float64)[..., None] * np.float64(whole)
    quotient = np.divide(blocks, factor, out=np.zeros_like(blocks), where=factor != 0)
    same_bits(q.elements, clipped(quotient, ml_dtypes.float4_e2m1fn).reshape(x.shape))
    back = q.elements.astype(np.float64).reshape(blocks.shape) * factor
    assert_array_equal(tw.dequantize(q, dtype=np.float64), back.reshape(x.shape))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(FORMATS), matrices(st.floats(-448, 448, width=16)))
def test_what_was_quantized_stays_as_it_is(format: tuple[Any, str], x: Any):
    """Numbers of a format lose nothing; nvfp4 where its scale is a normal number."""
    name, element = format
    q = tw.quantize(np.where(np.abs(x) < 0.5, 0.5, x), name, element=element)
    again = tw.quantize(tw.dequantize(q), name, element=element)
    same_bits(again.elements, q.elements)
    same_bits(again.scales, q.scales)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
def test_any_axis_and_float(axis: int, dtype: Any):
    x = default_rng(0).standard_normal((32, 64, 3)[: 3 if axis != -1 else 2])
    x = x.astype(dtype)
    q = tw.quantize(x, "mxfp4", axis=axis)
    assert q.elements.shape == x.shape
    last = tw.quantize(np.moveaxis(x, axis, -1), "mxfp4")
    same_bits(q.elements, np.ascontiguousarray(np.moveaxis(last.elements, -1, axis)))
    same_bits(q.scales, np.ascontiguousarray(np.moveaxis(last.scales, -1, axis)))
    assert_array_equal(
        tw.dequantize(q, axis=axis, dtype=dtype),
        np.moveaxis(tw.dequantize(last, dtype=dtype), -1, axis),
    )


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: "-".join(format))
def test_blocks_with_nan_or_infinity_are_nan(format: tuple[Any, str]):
    name, element = format
    x = np.full((3, 64), 1.5, np.float32)  # no scale rounds
    x[0, 3], x[1, 33] = np.nan, -np.inf
    back = tw.dequantize(tw.quantize(x, name, element=element))
    lost = np.isnan(back)
    block = 16 if name == "nvfp4" else 32
    assert lost[0, :block].all() and lost[1, 32 : 32 + block].all()
    assert lost.sum() == 2 * block
    assert_array_equal(back[~lost], x[~lost])


SCALED = [
    ("mxfp8", "e4m3", "mxf8f6f4", 32, 1, "ue8m0"),
    ("mxfp8", "e5m2", "mxf8f6f4", 32, 1, "ue8m0"),
    ("mxfp6", "e2m3", "mxf8f6f4", 32, 1, "ue8m0"),
    ("mxfp6", "e3m2", "mxf8f6f4", 32, 1, "ue8m0"),
    ("mxfp4", "e2m1", "mxf4", 64, 2, "ue8m0"),
    ("nvfp4", "e2m1", "mxf4nvf4", 64, 4, "ue4m3"),
]


@pytest.mark.parametrize("name, element, kind, k, vector, scale", SCALED)
def test_quantized_matrices_through_a_block_scaled_mma(
    name: Any, element: str, kind: str, k: int, vector: int, scale: str
):
    atom: Any = tw.atom(
        "SM120.mma_bs", shape=(16, 8, k), elem_type=(element, element, "f32"), kind=kind,
        scale_vector=vector, scale_type=scale,
    )  # fmt: skip
    rng = default_rng(3)
    a, b = (
        tw.quantize(rng.standard_normal((rows, k)) * 4, name, element=element) for rows in (16, 8)
    )

    def packed(operand: str, matrix: NDArray[Any]) -> NDArray[np.uint32]:
        row, column = np.moveaxis(atom.coords(operand), -1, 0)
        words = np.ascontiguousarray(matrix).view(np.uint8)[row, column]
        if kind != "mxf8f6f4" and operand in "AB":
            words = words[:, ::2] | words[:, 1::2] << 4
        return np.ascontiguousarray(words).view(np.uint32)

    d = tw.simulate(
        atom, a=packed("A", a.elements), b=packed("B", b.elements), c=np.zeros((32, 4), np.uint32),
        scale_a_data=packed("SFA", a.scales)[:, 0], scale_b_data=packed("SFB", b.scales)[:, 0],
        arch="sm_120a", numerics="exact",
    )  # fmt: skip
    row, column = np.moveaxis(atom.coords("D"), -1, 0)
    left, right = (tw.dequantize(q, dtype=np.float64) for q in (a, b))
    expected = (left @ right.T).astype(np.float32)
    assert_array_equal(d.view(np.float32), expected[row, column])


@pytest.mark.filterwarnings("error")
def test_floats_beyond_float64_are_infinite():
    x = np.full(32, np.finfo(np.longdouble).max)
    assert np.isnan(tw.quantize(x, "mxfp8").scales.astype(np.float32)).all()


ONES = np.ones((2, 32), np.float32)
WRONG: list[tuple[Any, Any, dict[str, Any], str]] = [
    (ONES, "mxfp5", {}, 'one of "mxfp8", "mxfp6", "mxfp4", "nvfp4", got \'mxfp5\'; nearest legal'),
    (ONES, "mxfp6", {"element": "e4m3"}, "expected elements of e2m3, e3m2 for mxfp6, got 'e4m3'"),
    (ONES[:, :20], "mxfp8", {}, "expected axis 1 to be a multiple of 32 (mxfp8), got 20; nearest "
     "legal: 32, filled up with zeros"),
    (ONES[:, :20], "nvfp4", {}, "expected axis 1 to be a multiple of 16 (nvfp4), got 20"),
    (ONES, "mxfp4", {"axis": 2}, "expected an axis of an array with 2 axes, got axis 2"),
    (ONES.astype(int), "mxfp4", {}, "expected floats, got int64"),
    (ONES, "mxfp4", {"tensor_scale": 2.0}, "expected no tensor_scale for mxfp4, got 2.0"),
    *((ONES, "nvfp4", {"tensor_scale": factor}, f'a number above 0 or "amax", got {factor!r}')
      for factor in (0.0, "max")),
]  # fmt: skip


@pytest.mark.parametrize("x, name, options, words", WRONG)
def test_wrong_calls(x: Any, name: Any, options: dict[str, Any], words: str):
    with pytest.raises(ValueError) as caught:
        tw.quantize(x, name, **options)
    assert words in str(caught.value)


def test_scales_that_do_not_divide():
    q = tw.quantize(np.ones((2, 64), np.float32), "mxfp8")
    with pytest.raises(ValueError, match=r"scales that divide axis 0 of elements \[2, 64\]"):
        tw.dequantize(q, axis=0)
    with pytest.raises(ValueError, match=r"got scales \[2\]"):
        tw.dequantize(q._replace(scales=q.scales[:, 0]))
