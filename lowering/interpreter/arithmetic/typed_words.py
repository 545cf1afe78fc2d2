"""Raw bits as the values of an instruction type, and back."""

from collections.abc import Callable
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np

from tilewright.lowering.interpreter.array_types import AnyDType
from tilewright.lowering.interpreter.values import Bits

Function = Callable[..., Bits]
"""A function of raw bits."""

DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    **{f"s{width}": np.dtype(f"int{width}") for width in (8, 16, 32, 64)},
    **{f"u{width}": np.dtype(f"uint{width}") for width in (8, 16, 32, 64)},
    **{f"b{width}": np.dtype(f"uint{width}") for width in (8, 16, 32, 64)},
    "pred": np.dtype(bool),
}
FLOATS = ("f16", "bf16", "f32", "f64")
_CANONICAL_NAN: dict[str, int] = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF}
"""The bits of a NaN result; f64 instead keeps the NaN of its operand, as NumPy does (H200)."""


def of_type(compute: Function) -> Callable[..., Function]:
    """An instruction by its form, whose modifiers change nothing: a function of its type first."""

    def build(type_: str, *_: str) -> Function:
        return partial(compute, type_)

    return build


def bits_dtype(type_: str) -> AnyDType:
    """The unsigned integers of a type's width; of predicates bool."""
    dtype = np.dtype(DTYPES[type_])
    return dtype if type_ == "pred" else np.dtype(f"uint{8 * dtype.itemsize}")


def typed(value: Bits, type_: str) -> Any:
    """Raw bits seen as the values of an instruction type."""
    return value if type_ == "pred" else value.view(DTYPES[type_])


def raw(value: Any, type_: str) -> Bits:
    """The raw bits of values of a type; NaNs become the canonical one."""
    value = value.astype(DTYPES[type_], copy=False)
    bits: Bits = value.view(bits_dtype(type_))
    if type_ in _CANONICAL_NAN:
        nan = np.isnan(value)
        if nan.any():
            bits = np.where(nan, bits.dtype.type(_CANONICAL_NAN[type_]), bits)
    return bits


QUIET = np.uint64(1 << 51)
_INVALID = np.uint64(0xFFF8000000000000)


def kept_nan(result: Bits, operands: tuple[Bits, ...], quiet: np.uint64 = QUIET) -> Bits:
    """An f64 NaN is the last operand that is NaN, quieted, sign and payload kept; where none is,
    the operation was invalid and has its own (H200)."""
    nan = np.isnan(result.view(np.float64))
    if not nan.any():
        return result
    kept = np.where(nan, _INVALID, result)
    for operand in operands:
        kept = np.where(nan & np.isnan(operand.view(np.float64)), operand | quiet, kept)
    return kept
