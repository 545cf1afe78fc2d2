"""Arithmetic of f32 and f64 rounded towards zero or to one side, as IEEE 754 has it.

Of f32 the value goes through a float64 that is exact or lies on the right side of every f32; of f64
the nearest is moved a step where the exact value lies on its other side.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.array_types import Float64Array
from tilewright.lowering.interpreter.numerics.fma import fma32, fma64
from tilewright.lowering.interpreter.numerics.formats import FORMATS
from tilewright.lowering.interpreter.numerics.rounding import Rounding, encode

Floats = Float64Array
_ONE = np.ones(1)
_ONE32 = np.ones(1, np.float32)
_UFUNCS: dict[str, Any] = {"mul": np.multiply, "div": np.divide, "sqrt": np.sqrt}


def directed(name: str, type_: str, rounding: Rounding) -> Callable[..., Any]:
    """add, sub, mul, div, sqrt or fma of "f32" or "f64" arrays, in a rounding: a directed one,
    but of fma any."""
    if name == "fma":
        return partial(fma32 if type_ == "f32" else fma64, rounding=rounding)
    if type_ == "f64":
        return lambda *operands: _OF_F64[name](rounding, *operands)
    if name in ("add", "sub"):
        # The sum of two f32 need not fit a float64; f32's own fused operation rounds it.
        return partial(_sum32, rounding, negated=name == "sub")

    def through_f64(*operands: Any) -> Any:
        value = _UFUNCS[name](*(operand.astype(np.float64) for operand in operands))
        return encode(value, FORMATS["f32"], rounding).view(np.float32)

    return through_f64


def _sum32(rounding: Rounding, x: Any, y: Any, *, negated: bool) -> Any:
    return fma32(x, _ONE32, -y if negated else y, rounding)


def _sum(rounding: Rounding, x: Floats, y: Floats) -> Floats:
    return fma64(x, _ONE, y, rounding)


def _difference(rounding: Rounding, x: Floats, y: Floats) -> Floats:
    return fma64(x, _ONE, -y, rounding)


def _product(rounding: Rounding, x: Floats, y: Floats) -> Floats:
    """A zero of the product's sign adds nothing to it."""
    return fma64(x, y, np.where(np.signbit(x) ^ np.signbit(y), -0.0, 0.0), rounding)


def _quotient(rounding: Rounding, x: Floats, y: Floats) -> Floats:
    quotient = np.divide(x, y)
    return _stepped(quotient, _excess(quotient, y, x) * np.sign(y), y != 0, rounding)


def _root(rounding: Rounding, x: Floats) -> Floats:
    root = np.sqrt(x)
    return _stepped(root, _excess(root, root, x), np.isfinite(root), rounding)


def _excess(a: Floats, b: Floats, c: Floats) -> Floats:
    """The sign of a * b - c: what underflows is rounded away from zero. Of an infinite a, which
    should be a number beyond the largest, its own."""
    sign = (fma64(a, b, -c, "rp") > 0) * 1.0 - (fma64(a, b, -c, "rm") < 0)
    return np.where(np.isinf(a) & np.isfinite(c) & np.isfinite(b), np.sign(a) * np.sign(b), sign)


def _stepped(nearest: Floats, excess: Floats, may: Any, rounding: Rounding) -> Floats:
    """The nearest value moved to the directed one; `excess` has the sign of value - exact."""
    up = may & (excess < 0) & ((rounding == "rp") | ((rounding == "rz") & (nearest < 0)))
    down = may & (excess > 0) & ((rounding == "rm") | ((rounding == "rz") & (nearest > 0)))
    return np.where(up | down, np.nextafter(nearest, np.where(up, np.inf, -np.inf)), nearest)


_OF_F64: dict[str, Callable[..., Floats]] = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "div": _quotient,
    "sqrt": _root,
}
