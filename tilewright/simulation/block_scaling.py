"""`tilewright.quantize` and `dequantize`: numbers in blocks that share a scale factor, as
block-scaled MMAs read them.

How many elements share a factor, and of which types, the rows of `tcgen05.mma` with that kind of
scaling say. MX scales are powers of two (OCP Microscaling Formats v1.0,
5.2 and 6.3), those of nvfp4 are e4m3.
"""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from ml_dtypes import finfo
from numpy.typing import ArrayLike, DTypeLike

from tilewright.arguments.dtypes import dtype_of_element
from tilewright.arguments.options import array, checked
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, SCALE_TYPES
from tilewright.dialects.cute_nvgpu.lattice.sm100 import SM100_MMA_BS, UmmaKind
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.array_types import AnyArray, AnyDType, Float64Array, UInt8Array
from tilewright.lowering.interpreter.numerics import FloatFormat, decode, encode, format_named
from tilewright.source.checked import Rule, items, require
from tilewright.source.diagnostic import ArgumentError

BlockFormat = Literal["mxfp8", "mxfp6", "mxfp4", "nvfp4"]


class Quantized(NamedTuple):
    """The result of `quantize`, in dtypes of ml_dtypes: x is about `elements * scales *
    tensor_scale`, each of `scales` repeated along its block."""

    elements: AnyArray
    scales: AnyArray
    tensor_scale: np.float32


@frozen
class _Rule:
    """A block format: `elements` by PTX name, the usual one first; the scale's; the block."""

    elements: tuple[str, ...]
    scale: str
    block: int


@cache
def _rule(name: str) -> _Rule:
    """The rule of a format, from the first row with its kind and type of scale."""
    kind, scale, bits = _KINDS[name]
    rows = ((row, row.scale, row.scale_block) for row in SM100_MMA_BS if row.kind == kind)
    row, block = next((row, n) for row, said, n in rows if said and n and said.type == scale)
    names = dict.fromkeys(a for a, _ in row.multiplicands)
    widths = {name: ELEMENT_TYPES[name].width or ELEMENT_TYPES[name].bits for name in names}
    return _Rule(tuple(name for name in names if widths[name] == bits), scale, block)


_KINDS: dict[str, tuple[UmmaKind, str, int]] = {
    "mxfp8": ("mxf8f6f4", "ue8m0", 8),
    "mxfp6": ("mxf8f6f4", "ue8m0", 6),
    "mxfp4": ("mxf4", "ue8m0", 4),
    "nvfp4": ("mxf4nvf4", "ue4m3", 4),
}
"""PTX's kind that reads a format, its type of scale, and the bits of its elements."""


def _factor(given: Any) -> Any:
    if isinstance(given, str):
        require(given == "amax")
        return given
    factor = np.float32(float(given))
    require(bool(np.isfinite(factor) and factor > 0))
    return float(factor)


def _quantized(given: Any) -> Quantized:
    elements, scales, factor = items(given)
    return Quantized(array(elements), array(scales), np.float32(float(factor)))


def _float_type(given: Any) -> AnyDType:
    dtype = np.dtype(given)
    require(given is not None and dtype.kind != "c")
    finfo(dtype)  # there is none of other types
    return dtype


@checked(tensor_scale=Rule('a number above 0 or "amax"', _factor))
@np.errstate(all="ignore")
def quantize(
    x: ArrayLike,
    format: BlockFormat,
    *,
    element: str | None = None,
    axis: int = -1,
    tensor_scale: float | Literal["amax"] | None = None,
) -> Quantized:
    """x in blocks along an axis: elements of 8, 6 or 4 bits, and a scale factor for each block.

        q = tw.quantize(x, "mxfp8")                          # e4m3, or element="e5m2"
        q = tw.quantize(x, "nvfp4", tensor_scale="amax")

    `x`: any float dtype; the axis a multiple of the block, 32, of nvfp4 16. `elements` have its
    shape, one a byte, `scales` one for each block of the axis. With `amax` the largest magnitude:

    - mxfp8 (e4m3, e5m2), mxfp6 (e2m3, e3m2), mxfp4 (e2m1): scale = 2 ** (floor(log2(amax)) - emax),
      within e8m0, where emax is the exponent of the element type's largest number (OCP MX 6.3).
    - nvfp4 (e2m1): scale = e4m3(amax / 6 / tensor_scale), at most 448. `tensor_scale` is one
      number for all of x, kept in float32: "amax" takes amax / (6 * 448) of x, None is 1.

    Elements are x / scale, rounded to nearest even, at most the type's largest number. A block with
    a NaN or an infinity has the scale NaN, and zeros.

    Raises ArgumentError for another format, element type, axis, dtype or tensor scale.
    """
    rule = _rule_of(format, element)
    type_ = element or rule.elements[0]
    array = _floats(x)
    blocks = _blocks(array, axis, rule.block, format)
    amax = np.abs(blocks).max(axis=-1)
    whole = np.float32(1)
    if tensor_scale is not None:
        whole = _tensor_scale(format, rule, array, tensor_scale)
    fmt = format_named(type_)
    words = _mx_scales(amax, fmt) if rule.scale == "ue8m0" else _nv_scales(amax, fmt, whole)
    scale = decode(words, format_named(rule.scale)) * np.float64(whole)
    quotient = blocks / scale[..., None]
    usable = (np.isfinite(scale) & (scale != 0))[..., None]
    limited = np.clip(quotient, -fmt.largest, fmt.largest)
    bits = encode(np.where(usable, limited, 0.0), fmt)
    elements = np.moveaxis(bits.reshape(*bits.shape[:-2], array.shape[axis]), -1, axis)
    return Quantized(
        np.ascontiguousarray(elements).view(dtype_of_element(ELEMENT_TYPES[type_].mlir)),
        np.ascontiguousarray(np.moveaxis(words, -1, axis)).view(
            dtype_of_element(SCALE_TYPES[rule.scale].mlir)
        ),
        whole,
    )


@checked(
    quantized=Rule("the result of tilewright.quantize", _quantized),
    dtype=Rule("a dtype of floats", _float_type),
)
@np.errstate(all="ignore")
def dequantize(quantized: Quantized, *, axis: int = -1, dtype: DTypeLike = np.float32) -> Any:
    """The numbers that `quantize` returned: elements * scales * tensor_scale, rounded once to
    `dtype`.

    `axis`: that of the blocks. Raises ArgumentError where the scales do not divide it.
    """
    elements, scales, whole = quantized
    axis = _axis(elements.ndim, axis)
    blocks = scales.shape[axis] if scales.ndim == elements.ndim else 0
    others = [np.delete(part.shape, axis).tolist() for part in (elements, scales) if blocks]
    if not blocks or elements.shape[axis] % blocks or others[0] != others[-1]:
        raise ArgumentError(
            f"dequantize expected scales that divide axis {axis} of elements "
            f"{list(elements.shape)}, got scales {list(scales.shape)}"
        )
    wide = np.repeat(_wide(scales), elements.shape[axis] // blocks, axis=axis)
    return (_wide(elements) * wide * np.float64(whole)).astype(dtype)


def _wide(array: AnyArray) -> Float64Array:
    return array.astype(np.float32).astype(np.float64)


# Scale factors, one for each block


def _mx_scales(amax: Float64Array, fmt: FloatFormat) -> UInt8Array:
    """e8m0 words of 2 ** (floor(log2(amax)) - emax), OCP MX 6.3; zeros have the smallest scale."""
    emax = int(np.frexp(fmt.largest)[1]) - 1
    scale = format_named("ue8m0")
    finite = np.isfinite(amax)
    exponent = np.frexp(np.where(finite & (amax > 0), amax, 2.0**-1000))[1] - 1 - emax
    words = np.clip(exponent + scale.bias, 0, scale.max_finite).astype(np.uint8)
    return np.where(finite, words, np.uint8(scale.canonical_nan or 0))


def _nv_scales(amax: Float64Array, fmt: FloatFormat, whole: np.float32) -> UInt8Array:
    """e4m3 words of amax over the largest element, at most the largest e4m3."""
    quotient = amax / (fmt.largest * np.float64(whole))
    # The unsigned type of scales has the words of e4m3 without its sign.
    signed = format_named("e4m3")
    return np.where(np.isinf(amax), np.uint8(signed.canonical_nan or 0), encode(quotient, signed))


def _tensor_scale(format: str, rule: _Rule, array: Float64Array, given: float | str) -> np.float32:
    """The factor of a whole tensor. Raises ArgumentError where the format has none."""
    if rule.scale == "ue8m0":
        raise ArgumentError(f"quantize expected no tensor_scale for {format}, got {given!r}")
    if given == "amax":
        amax = np.abs(array[np.isfinite(array)]).max(initial=0.0)
        element, scale = (format_named(name).largest for name in (rule.elements[0], rule.scale))
        return np.float32(amax / (element * scale)) or np.float32(1)
    return np.float32(given)


# What is given


def _rule_of(format: str, element: str | None) -> _Rule:
    rule = _rule(format)
    if element is not None and element not in rule.elements:
        known = ", ".join(rule.elements)
        raise ArgumentError(f"quantize expected elements of {known} for {format}, got {element!r}")
    return rule


def _floats(x: ArrayLike) -> Float64Array:
    array = np.asarray(x)
    if array.dtype.kind != "f" and array.dtype.name != "bfloat16":
        raise ArgumentError(f"quantize expected floats, got {array.dtype}")
    return array.astype(np.float64)


def _axis(rank: int, axis: int) -> int:
    if not -rank <= axis < rank:
        raise ArgumentError(f"expected an axis of an array with {rank} axes, got axis {axis}")
    return axis % rank


def _blocks(array: Float64Array, axis: int, block: int, format: str) -> Float64Array:
    """[..., blocks, elements of a block], the axis last."""
    axis = _axis(array.ndim, axis)
    extent = array.shape[axis]
    if extent % block:
        raise ArgumentError(
            f"quantize expected axis {axis} to be a multiple of {block} ({format}), got {extent}; "
            f"nearest legal: {extent + -extent % block}, filled up with zeros"
        )
    last = np.moveaxis(array, axis, -1)
    return last.reshape(*last.shape[:-1], extent // block, block)
