"""The mathematical dot product plus addend, rounded once: numerics="exact".

All products of up to 16-bit and tf32 elements, and of scaled narrow ones, are exact in float64.
Their sum is kept as a number in base 2**40: each addend, scaled by the largest exponent, is cut
into digits from the top until nothing is left, and a digit's column is summed without error. After
carrying, the leading two digits and one sticky bit make a round-to-odd float64, which rounds to the
result type as the exact sum would (`rounding.py`). Before that, float64's own sums decide where
their error cannot matter (`certain_sum.py`). Products of f64 are summed as whole numbers, one
element at a time.
"""

from functools import partial
from itertools import starmap

import numpy as np

from tilewright.lowering.interpreter.array_types import AnyDType, Int64Array
from tilewright.lowering.interpreter.numerics.certain_sum import certain_dot_add
from tilewright.lowering.interpreter.numerics.errors import NumericsError
from tilewright.lowering.interpreter.numerics.formats import (
    Bits,
    FloatFormat,
    Floats,
    Formats,
    decode,
)
from tilewright.lowering.interpreter.numerics.lanes import Block, in_blocks
from tilewright.lowering.interpreter.numerics.rounding import Rounding, encode
from tilewright.lowering.interpreter.numerics.scales import Scales
from tilewright.lowering.interpreter.numerics.whole import round_whole, sum_of_products

_DIGIT = 40
_LOWEST = -600
Digits = list[Int64Array]
_CERTAIN: dict[str, AnyDType] = {"f16": np.dtype(np.float16), "f32": np.dtype(np.float32)}
_FEW = 8
"""Up to this part of a product, elements in doubt are summed one by one."""


def exact_dot_add(
    a: Bits,
    b: Bits,
    c: Bits,
    formats: Formats,
    rounding: Rounding = "rn",
    scales: Scales | None = None,
) -> Bits:
    """D = A B + C, exact, then rounded once to D's format.

    a [..., M, K], b [..., K, N], c [..., M, N]: words of the formats of A, B and C; scales, if any,
    multiply the elements of A and B. Returns words of D's format, [..., M, N]. An exact zero is +0;
    NaN as in the fused dot-add. Raises NumericsError for f64 mixed with other element types.
    """
    names = {fmt.name for fmt in formats}
    if "f64" in names and names != {"f64"}:
        raise NumericsError(f"f64 does not mix with other types: {sorted(names)}")
    container = formats[3].container
    if names == {"f64"}:
        f = partial(_whole_block, formats=formats, rounding=rounding)
        return in_blocks(a, b, c, container, f)
    if scales is None and rounding == "rn" and formats[3].name in _CERTAIN:
        return _mostly_certain(a, b, c, formats)
    return _by_digits(a, b, c, formats, rounding, scales)


def _by_digits(
    a: Bits, b: Bits, c: Bits, formats: Formats, rounding: Rounding, scales: Scales | None = None
) -> Bits:
    scale_format = None if scales is None else scales.format
    f = partial(_digit_block, formats=formats, rounding=rounding, scale_format=scale_format)
    along_k = None if scales is None else scales.along_k(a.shape[-1])
    return in_blocks(a, b, c, formats[3].container, f, along_k)


def _mostly_certain(a: Bits, b: Bits, c: Bits, formats: Formats) -> Bits:
    """By float64, and by digits where its rounding is in doubt, element by element."""
    values = list(starmap(decode, zip((a, b, c), formats, strict=False)))
    a_values, b_values, c_values = values
    mantissas = [fmt.mantissa_bits for fmt in formats[:3]]
    dtype = _CERTAIN[formats[3].name]
    result, certain = certain_dot_add(a_values, b_values, c_values, mantissas, dtype)
    words = result.view(formats[3].container)
    doubtful = np.nonzero(~certain)
    if not len(doubtful[0]):
        return words
    if len(doubtful[0]) > words.size // _FEW:
        return _by_digits(a, b, c, formats, "rn")
    *batch, row, column = doubtful
    rows = a[(*batch, row)][:, None, :]
    columns = np.swapaxes(b, -1, -2)[(*batch, column)][:, :, None]
    words[doubtful] = _by_digits(rows, columns, c[doubtful][:, None, None], formats, "rn").ravel()
    return words


def _digit_block(
    block: Block, formats: Formats, rounding: Rounding, scale_format: FloatFormat | None
) -> Bits:
    """One block by digits; words of D laid out like `block.c`."""
    products = decode(block.a, formats[0]) * decode(block.b, formats[1])
    if scale_format is not None:
        assert block.scale_a is not None and block.scale_b is not None
        products *= decode(block.scale_a, scale_format) * decode(block.scale_b, scale_format)
    addend = decode(block.c, formats[2])
    # No finite sum here overflows float64, so this one is infinite or NaN just when it should be.
    rough = np.add.reduce(products, axis=0) + addend
    finite = np.isfinite(rough)
    if not finite.all():
        products[~np.isfinite(products)] = 0.0
        addend = np.where(np.isfinite(addend), addend, 0.0)
    top = np.maximum(np.abs(products).max(axis=0), np.abs(addend))
    exponent = np.maximum((top.view(np.int64) >> 52) - 1023, _LOWEST)
    digits = _digits(products, addend, exponent)
    total = np.where(finite, _to_odd_float(digits, exponent), rough)
    return encode(total, formats[3], rounding)


def _digits(products: Floats, addend: Floats, exponent: Int64Array) -> Digits:
    """Column sums of the addends' digits, leading first; the first is worth 2**(exponent - 40).

    Every digit is below 2**41 in magnitude, so that 2**12 of them sum exactly in float64.
    """
    scale = np.ldexp(1.0, _DIGIT - exponent)
    rest, addend_rest = products * scale, addend * scale
    digits: Digits = []
    while True:
        digit, addend_digit = np.trunc(rest), np.trunc(addend_rest)
        digits.append((np.add.reduce(digit, axis=0) + addend_digit).astype(np.int64))
        rest -= digit
        addend_rest -= addend_digit
        if not (rest.any() or addend_rest.any()):
            return digits
        rest *= 2.0**_DIGIT
        addend_rest *= 2.0**_DIGIT


def _carry(digits: Digits) -> None:
    """Bring every digit but the first into 0 .. 2**40 - 1, in place."""
    for i in range(len(digits) - 1, 0, -1):
        carry = digits[i] >> _DIGIT
        digits[i] -= carry << _DIGIT
        digits[i - 1] += carry


def _to_odd_float(digits: Digits, exponent: Int64Array) -> Floats:
    """The digits' value rounded to odd in float64."""
    _carry(digits)
    negative = digits[0] < 0
    for digit in digits:
        np.negative(digit, out=digit, where=negative)
    _carry(digits)
    while len(digits) < 2:
        digits.append(np.zeros_like(digits[0]))
    # The leading nonzero digit, the next one, whether anything follows, and the next one's worth.
    leading, second = digits[0], digits[1]
    sticky = np.zeros(leading.shape, np.bool_)
    worth = exponent - 2 * _DIGIT
    for digit in digits[2:]:
        shift = leading == 0
        sticky |= ~shift & (digit != 0)
        leading = np.where(shift, second, leading)
        second = np.where(shift, digit, second)
        worth = np.where(shift, worth - _DIGIT, worth)
    high = leading.astype(np.float64) * 2.0**_DIGIT
    low = second + 0.5 * sticky
    total = high + low
    error = low - (total - high)
    words = total.view(np.int64)
    words += np.where((words & 1) == 0, np.sign(error), 0.0).astype(np.int64)
    value = np.ldexp(total, worth)
    return np.where(negative, -value, value)


def _whole_block(
    block: Block,
    formats: Formats,
    rounding: Rounding,
) -> Bits:
    """One f64 block, element by element; words of D laid out like `block.c`."""
    k, shape = block.a.shape[0], block.c.shape
    a, b = decode(block.a, formats[0]), decode(block.b, formats[1])
    c = decode(block.c, formats[2]).ravel()
    a = np.broadcast_to(a, (k, *shape)).reshape(k, -1)
    b = np.broadcast_to(b, (k, *shape)).reshape(k, -1)
    finite = np.isfinite(a).all(axis=0) & np.isfinite(b).all(axis=0)
    special = ~(finite & np.isfinite(c))
    # Where all products are finite their rough sum may still overflow against an infinite addend.
    total = np.where(finite, c, (a * b).sum(axis=0) + c)
    for lane in np.flatnonzero(~special).tolist():
        pairs = zip(a[:, lane].tolist(), b[:, lane].tolist(), strict=True)
        exact = sum_of_products([*pairs, (float(c[lane]), 1.0)])
        total[lane] = round_whole(*exact, rounding)
    return encode(total, formats[3], rounding).reshape(shape)
