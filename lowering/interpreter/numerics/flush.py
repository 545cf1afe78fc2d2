"""f32 with subnormal numbers as zeros of their sign, `.ftz`.

A result is flushed by its exact value: one that would round up to the smallest normal number is
zero too (H100: mul, fma and div in every rounding).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.numerics.directed import directed

_NORMAL = np.float32(2.0**-126)
_where: Any = np.where


def flushed(values: Any) -> Any:
    """f32 with subnormals replaced by zeros of their sign."""
    tiny: Any = np.abs(values) < _NORMAL
    if not tiny.any():
        return values
    zeros: Any = np.copysign(np.float32(0), values)
    return _where(tiny, zeros, values)


def flushing(compute: Callable[..., Any], name: str | None = None) -> Callable[..., Any]:
    """A function with subnormal operands and results taken as zeros; `name` is add, sub, mul, div,
    sqrt or fma where it is that, in some rounding."""
    toward_zero = None if name is None else directed(name, "f32", "rz")

    def run(*operands: Any) -> Any:
        operands = tuple(map(flushed, operands))
        result: Any = compute(*operands)
        smallest = np.abs(result) == _NORMAL
        if toward_zero is not None and smallest.any():
            rounded_up = smallest & (np.abs(toward_zero(*operands)) < _NORMAL)
            result = _where(rounded_up, np.copysign(np.float32(0), result), result)
        return flushed(result)

    return run
