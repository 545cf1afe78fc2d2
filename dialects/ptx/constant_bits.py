"""The bits of constants."""

from typing import Any

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute

_DTYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
}


def constant_bits(value: Attribute) -> int | None:
    """The bits of an integer or a float; None of anything else."""
    match value:
        case IntegerAttr():
            return value.value.data
        case FloatAttr():
            return _float_bits(value.value.data, value.type)
        case _:
            return None


def _float_bits(value: float, type_: Attribute) -> int:
    """The bits of `value` rounded to an MLIR float type (f16, bf16, f32, f64, and fp8)."""
    with np.errstate(over="ignore"):
        rounded = np.array(value, dtype=_DTYPES[str(type_)])
    return int(rounded.view(f"uint{8 * rounded.itemsize}"))
