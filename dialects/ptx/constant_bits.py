"""The bits of constants."""

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute

_DTYPES: dict[str, tuple[type[np.generic] | np.dtype[np.generic], type[np.unsignedinteger]]] = {
    "f16": (np.float16, np.uint16),
    "bf16": (np.dtype(ml_dtypes.bfloat16), np.uint16),
    "f32": (np.float32, np.uint32),
    "f64": (np.float64, np.uint64),
    "f8E4M3FN": (np.dtype(ml_dtypes.float8_e4m3fn), np.uint8),
    "f8E5M2": (np.dtype(ml_dtypes.float8_e5m2), np.uint8),
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
    dtype, bits = _DTYPES[str(type_)]
    with np.errstate(over="ignore"):
        return int(np.array(value, dtype=dtype).view(bits))
