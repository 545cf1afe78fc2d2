"""What a reduction by TMA leaves of an element of memory and one of its box.

PTX ISA, cp.reduce.async.bulk.tensor. f32 elements keep their subnormals: the tensor maps of the
driver have a type of their own, FLOAT32_FTZ, that flushes them.
"""

from __future__ import annotations

import numpy as np

from tilewright.lowering.interpreter.arithmetic.scalar import FLOATS, scalar
from tilewright.lowering.interpreter.values import Bits


def reduced(element: str, kind: str, before: Bits, values: Bits) -> Bits:
    """Elements of memory, raw bits, after a reduction; `element` is their MLIR type."""
    if kind == "inc":
        counted: Bits = before + 1
        return np.where(before >= values, np.zeros_like(before), counted)
    if kind == "dec":
        wraps = (before == 0) | (before > values)
        return np.where(wraps, values, before - 1)
    found: Bits = scalar(kind, _form(element, kind, 8 * before.itemsize))(before, values)
    return found


def _form(element: str, kind: str, width: int) -> str:
    """The form of the scalar instruction that does the same to one element."""
    if kind in ("and", "or", "xor"):
        return f"b{width}"
    if element in FLOATS:
        return f"rn.{element}" if kind == "add" else element
    return f"{'s' if element.startswith('s') else 'u'}{width}"
