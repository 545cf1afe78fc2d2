"""f32 and f16 with subnormal numbers as zeros of their sign, `.ftz`.

A result is flushed by its exact value: one that would round up to the smallest normal number is
zero too (H100: mul, fma and div of f32 in every rounding; no chip has said it of f16).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.numerics.directed import directed

_where: Any = np.where


def _normal(values: Any) -> Any:
    """The smallest normal number."""
    return values.dtype.type(2.0**-14 if values.dtype.itemsize == 2 else 2.0**-126)


def flushed(values: Any) -> Any:
    """Numbers with subnormals replaced by zeros of their sign."""
    tiny: Any = np.abs(values) < _normal(values)
    if not tiny.any():
        return values
    zeros: Any = np.copysign(values.dtype.type(0), values)
    return _where(tiny, zeros, values)


def flushing(compute: Callable[..., Any], name: str | None = None) -> Callable[..., Any]:
    """A function with subnormal operands and results taken as zeros; `name` is add, sub, mul, div,
    sqrt or fma where it is that, in some rounding."""
    toward_zero = None if name is None else directed(name, "f32", "rz")

    def run(*operands: Any) -> Any:
        operands = tuple(map(flushed, operands))
        result: Any = compute(*operands)
        smallest = np.abs(result) == _normal(result)
        if toward_zero is not None and smallest.any():
            # Of f16, too: f32 has the smallest normal number.
            exact = toward_zero(*(operand.astype(np.float32, copy=False) for operand in operands))
            rounded_up = smallest & (np.abs(exact) < _normal(result))
            result = _where(rounded_up, np.copysign(result.dtype.type(0), result), result)
        return flushed(result)

    return run
