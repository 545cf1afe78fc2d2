"""Reductions that instructions do on their way to or from memory: of the registers that a thread
loads, `tcgen05.ld.red`, and of memory with a box, `cp.reduce.async.bulk.tensor`.
"""

import numpy as np

from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.arithmetic.typed_words import FLOATS, kept_nan
from tilewright.lowering.interpreter.array_types import UInt32Array
from tilewright.lowering.interpreter.values import Bits

Words = UInt32Array

_SIGN = np.uint32(1 << 31)
_CANONICAL_NAN = np.uint32(0x7FFFFFFF)


def least_or_greatest(words: Words, form: str) -> Words:
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
    kept: Words = np.where(lost, _CANONICAL_NAN, result)
    return kept


def combined(element: str, kind: str, before: Bits, values: Bits) -> Bits:
    """Elements of memory, raw bits, after a reduction; `element` is their type as tensor maps have
    it, of which f32 keeps its subnormals and f32.ftz does not: tf32 is added as they are (H200).
    PTX ISA, cp.reduce.async.bulk.tensor.
    """
    if kind == "inc":
        counted: Bits = before + 1
        return np.where(before >= values, np.zeros_like(before), counted)
    if kind == "dec":
        wraps = (before == 0) | (before > values)
        return np.where(wraps, values, before - 1)
    reduced: Bits = scalar(kind, _form(element, kind, 8 * before.itemsize))(before, values)
    # NaN stays as it is (H200).
    return kept_nan(reduced, (before, values), np.uint64(0)) if element == "f64" else reduced


def _form(element: str, kind: str, width: int) -> str:
    """The form of the scalar instruction that does the same to one element."""
    if kind in ("and", "or", "xor"):
        return f"b{width}"
    if (float_ := element.removeprefix("t")).partition(".")[0] in FLOATS:
        type_, _, ftz = float_.partition(".")
        return f"rn.{ftz and 'ftz.'}{type_}" if kind == "add" else type_
    return f"{'s' if element.startswith('s') else 'u'}{width}"
