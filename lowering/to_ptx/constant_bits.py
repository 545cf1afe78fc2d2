"""The bits of constants."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute

from tilewright.diagnostic import OpError

_DTYPES: dict[str, tuple[type[np.generic] | np.dtype[np.generic], type[np.unsignedinteger]]] = {
    "f16": (np.float16, np.uint16),
    "bf16": (np.dtype(ml_dtypes.bfloat16), np.uint16),
    "f32": (np.float32, np.uint32),
    "f64": (np.float64, np.uint64),
}


def constant_bits(op: arith.ConstantOp) -> int:
    """The bits of an integer or float constant. Raises OpError for any other."""
    return attribute_bits(op, op.value)


def attribute_bits(op: arith.ConstantOp, value: Attribute) -> int:
    """The bits of an integer or float in a constant. Raises OpError for anything else."""
    match value:
        case IntegerAttr():
            return value.value.data
        case FloatAttr():
            return _float_bits(value.value.data, value.type)
        case _:
            raise OpError(op, f"'{op.name}' expected an integer or a float, got {value}")


def _float_bits(value: float, type_: Attribute) -> int:
    """The bits of `value` rounded to an MLIR float type (f16, bf16, f32, f64)."""
    dtype, bits = _DTYPES[str(type_)]
    with np.errstate(over="ignore"):
        return int(np.array(value, dtype=dtype).view(bits))
