"""Fused multiply-add on arrays, correctly rounded in all four directions.

NumPy has no fused multiply-add. For f32 the product is exact in float64 and the sum is rounded to
odd there, which survives the second rounding. For f64 the product is split into two floats
(Dekker, 1971), the three terms are summed with Knuth's TwoSum, and the low part is rounded to odd
(S. Boldo, G. Melquiond, IEEE Trans. Computers 57(4), 2008, algorithm 5). Lanes whose exponents
could overflow or underflow on the way go through whole-number arithmetic one by one.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.array_types import BoolArray
from tilewright.lowering.interpreter.numerics.array_function import array_function
from tilewright.lowering.interpreter.numerics.formats import FORMATS, Floats
from tilewright.lowering.interpreter.numerics.rounding import Rounding, check_rounding, encode
from tilewright.lowering.interpreter.numerics.whole import fma_as_integers

Singles: TypeAlias = NDArray[np.float32]

# No partial result over- or underflows inside: the smallest bit of a product of 2**-400 * 2**-400
# is worth 2**-904, the largest sum is below 2**801.
_SAFE_LOW, _SAFE_HIGH = 2.0**-400, 2.0**400
_SAFE_ADDEND_HIGH = 2.0**800
_SPLITTER = 2.0**27 + 1.0
_QUIET = np.uint64(1 << 51)


@array_function
def fma32(a: Singles, b: Singles, c: Singles, rounding: Rounding = "rn") -> Singles:
    """a * b + c with one rounding: float32, broadcast together.

    NaN results are 0x7FFFFFFF, PTX's canonical NaN. Subnormals are kept; an exact zero sum of
    opposite signs is +0, under rm -0. NumericsError for an unknown rounding.
    """
    check_rounding(rounding)
    product = a.astype(np.float64) * b.astype(np.float64)
    addend = c.astype(np.float64)
    odd = odd_sum(product, addend)
    odd = _signed_zero(odd, product, addend, rounding)
    words = encode(odd, FORMATS["f32"], rounding)
    return words.view(np.float32)


@array_function
def fma64(a: Floats, b: Floats, c: Floats, rounding: Rounding = "rn") -> Floats:
    """a * b + c with one rounding: float64, broadcast together.

    A NaN operand is returned quiet, b before c before a; an invalid operation gives
    0xFFF8000000000000 (H200). Subnormals and zero signs as in IEEE 754. NumericsError for an
    unknown rounding.
    """
    check_rounding(rounding)
    a, b, c = np.broadcast_arrays(a, b, c)
    safe = _in_range(a, _SAFE_HIGH) & _in_range(b, _SAFE_HIGH) & _in_range(c, _SAFE_ADDEND_HIGH)
    result = np.asarray(_fma_safe(a, b, c, rounding))
    if safe.all():
        return result
    finite = np.isfinite(a) & np.isfinite(b)
    special = ~(finite & np.isfinite(c))
    # A finite product, however large, does not change an infinite addend.
    result = np.where(special, np.where(finite, c, a * b + c), result)
    nan = special & np.isnan(result)
    if nan.any():
        result[nan] = _nan_of(a[nan], b[nan], c[nan])
    slow = ~(safe | special)
    if slow.any():
        lanes = zip(a[slow].tolist(), b[slow].tolist(), c[slow].tolist(), strict=True)
        result[slow] = [fma_as_integers(x, y, z, rounding) for x, y, z in lanes]
    return result


def _nan_of(a: Floats, b: Floats, c: Floats) -> Floats:
    """The NaN that a fused multiply-add with a NaN result gives: float64, shape of the operands."""
    words = np.full(a.shape, FORMATS["f64"].canonical_nan, np.uint64)
    for operand in (a, c, b):
        words = np.where(np.isnan(operand), operand.view(np.uint64) | _QUIET, words)
    return words.view(np.float64)


def _in_range(x: Floats, high: float) -> BoolArray:
    magnitude = np.abs(x)
    return (magnitude == 0) | ((magnitude >= _SAFE_LOW) & (magnitude <= high))


def _fma_safe(a: Floats, b: Floats, c: Floats, rounding: Rounding) -> Floats:
    """a * b + c where nothing over- or underflows on the way; elsewhere any value."""
    product, low = _two_product(a, b)
    middle, tail = _two_sum(c, low)
    head, rest = _two_sum(product, middle)
    # head + odd(rest + tail) decides like head + rest + tail in every rounding.
    correction = odd_sum(tail, rest)
    nearest, error = _two_sum(head, correction)
    if rounding != "rn":
        nearest = _step_back(nearest, error, rounding)
    return _signed_zero(nearest, product, c, rounding)


def _two_sum(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """x + y = sum + error, both exact (Knuth). Infinite or NaN sums have no meaningful error."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _two_product(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """x * y = product + error, both exact, after splitting each factor in halves (Dekker)."""
    product = x * y
    x_high, x_low = _halves(x)
    y_high, y_low = _halves(y)
    error = x_high * y_high - product
    error += x_high * y_low
    error += x_low * y_high
    error += x_low * y_low
    return product, error


def _halves(x: Floats) -> tuple[Floats, Floats]:
    """x = high + low with 26 significant bits each (Veltkamp)."""
    wide = x * _SPLITTER
    high = wide - (wide - x)
    return high, x - high


def odd_sum(x: Floats, y: Floats) -> Floats:
    """x + y rounded to odd, signs of zeros kept."""
    return _to_odd(*_two_sum(x, y))


def _to_odd(total: Floats, error: Floats) -> Floats:
    """Round total + error to odd: if inexact, the neighbour toward zero with its last bit set."""
    words = total.copy().view(np.int64)
    inexact = np.isfinite(error) & (error != 0) & np.isfinite(total)
    even = (words & 1) == 0
    away = (error > 0) == (total > 0)
    words += np.where(inexact & even, np.where(away, 1, -1), 0)
    return words.view(np.float64)


def _step_back(nearest: Floats, error: Floats, rounding: Rounding) -> Floats:
    """Turn the nearest value into the directed one, knowing what was lost (`error`)."""
    down = (error < 0) & ((rounding == "rm") | ((rounding == "rz") & (nearest > 0)))
    up = (error > 0) & ((rounding == "rp") | ((rounding == "rz") & (nearest < 0)))
    target = np.where(down, -np.inf, np.inf)
    return np.where(down | up, np.nextafter(nearest, target), nearest)


def _signed_zero(total: Floats, product: Floats, addend: Floats, rounding: Rounding) -> Floats:
    """IEEE 754, 6.3: an exact zero sum of opposite signs is +0, under rm -0.

    Error terms are +0 where they vanish, so the sum of the parts may have lost the sign.
    """
    zero = total == 0
    if not zero.any():
        return total
    if rounding == "rm":
        return np.where(zero & (np.signbit(product) | np.signbit(addend)), -0.0, total)
    return np.where(zero, product + addend, total)
