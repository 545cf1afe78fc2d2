"""What `tcgen05.ld.red` gives each thread of the registers that it loads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint32]

_SIGN = np.uint32(1 << 31)
_CANONICAL_NAN = np.uint32(0x7FFFFFFF)


def reduced(words: Words, form: str) -> Words:
    """The least or the greatest of each row, [threads, registers] to [threads], as `form`, such as
    `max.abs.NaN.f32`, says."""
    reduction, *modifiers, type_ = form.split(".")
    pick = np.min if reduction == "min" else np.max
    if type_ != "f32":
        order = words.view(np.int32) if type_ == "s32" else words
        whole: Words = pick(order, axis=1).view(np.uint32)
        return whole
    values = words & ~_SIGN if "abs" in modifiers else words
    nan = (values & ~_SIGN) > np.uint32(0x7F800000)
    # As unsigned integers these have the order of the numbers, -0 below +0.
    order = np.where(values & _SIGN, ~values, values | _SIGN)
    neutral = np.uint32(0xFFFFFFFF if reduction == "min" else 0)
    best: Words = pick(np.where(nan, neutral, order), axis=1)
    result: Words = np.where(best & _SIGN, best & ~_SIGN, ~best)
    lost = nan.any(axis=1) if "NaN" in modifiers else nan.all(axis=1)
    found: Words = np.where(lost, _CANONICAL_NAN, result)
    return found
