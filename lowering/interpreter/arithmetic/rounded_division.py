"""Integer division rounded up or down, which is no instruction, on arrays of raw bits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tilewright.lowering.interpreter.arithmetic.scalar import raw, scalar, typed
from tilewright.lowering.interpreter.values import Bits

Function = Callable[[Bits, Bits], Bits]


def rounded_up(type_: str) -> Function:
    """Integer division towards positive infinity."""
    return _rounded(type_, up=True)


def rounded_down(type_: str) -> Function:
    """Integer division towards negative infinity."""
    return _rounded(type_, up=False)


def _rounded(type_: str, *, up: bool) -> Function:
    truncated = scalar("div", type_)

    def run(a: Bits, b: Bits) -> Bits:
        quotient, x, y = (typed(each, type_) for each in (truncated(a, b), a, b))
        with np.errstate(all="ignore"):
            inexact = quotient * y != x
            opposite = (x < 0) != (y < 0)
            if up:
                quotient = quotient + (inexact & ~opposite).astype(x.dtype)
            else:
                quotient = quotient - (inexact & opposite).astype(x.dtype)
        return raw(quotient, type_)

    return run
