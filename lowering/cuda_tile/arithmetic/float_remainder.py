"""The remainder of f64, by long division of significands: in steps of as many bits as 64 leave."""

from __future__ import annotations

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import f64, i64
from xdsl.ir import SSAValue

from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import (
    ThreadWord,
    compared_floats,
    on_floats,
)
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering

_MANTISSA = 52
_STEP = 63 - _MANTISSA
_INFINITE = 0x7FF << _MANTISSA


def remainder64(kernel: EntryLowering, x: SSAValue, y: SSAValue) -> SSAValue:
    """x - trunc(x / y) y, exactly, with the sign of x."""
    sizes = [on_floats(kernel, math.AbsFOp, value) for value in (x, y)]
    # `abs.f64` leaves NaN its sign.
    left, by = (ThreadWord.of(kernel, size, i64) & (1 << 63) - 1 for size in sizes)
    (dividend, high), (divisor, low) = _parts(left), _parts(by)
    divisor = divisor.like(1).where(divisor.above(0), divisor)
    rest = dividend % divisor
    rest = _divided(rest, divisor, (high - low).at_least(0))
    # A unit of the divisor's last place, as a float.
    normal = low.above(_MANTISSA)
    large = low - _MANTISSA << _MANTISSA
    small = low.like(1) << (low - 1).at_least(0)
    scale = small.where(normal, large).to(f64)
    whole = kernel.emit(arith.UIToFPOp, [rest.value], f64)
    result = on_floats(kernel, arith.MulfOp, whole, scale)
    is_less = compared_floats(kernel, "greater_than", sizes[1], sizes[0])
    result = kernel.emitter.select(is_less, sizes[0], result)
    # Of what is no number, of infinite dividends and of zero divisors there is none.
    wrong = left.above(_INFINITE - 1)
    wrong = kernel.emitter.binary("or", wrong, by.above(_INFINITE))
    wrong = kernel.emitter.binary("or", wrong, kernel.emitter.compare("eq", by.value, 0))
    nan = kernel.constant(float("nan"), f64)
    result = kernel.emitter.select(wrong, nan, result)
    return on_floats(kernel, math.CopySignOp, result, x)


def _parts(word: ThreadWord) -> tuple[ThreadWord, ThreadWord]:
    """The significand and the exponent of a magnitude; subnormal numbers have the exponent 1."""
    exponent = word >> _MANTISSA
    fraction = word & (1 << _MANTISSA) - 1
    hidden = fraction | 1 << _MANTISSA
    return fraction.where(exponent.above(0), hidden), exponent.at_least(1)


def _divided(rest: ThreadWord, divisor: ThreadWord, distance: ThreadWord) -> ThreadWord:
    """The rest, so many binary places further."""
    kernel, emitter = rest.kernel, rest.kernel.emitter

    def ask(now: SSAValue, left: SSAValue) -> None:
        emitter.add(scf.ConditionOp(ThreadWord(kernel, left).above(0), now, left))

    def divide(*values: SSAValue) -> None:
        now, left = (ThreadWord(kernel, value) for value in values)
        places = left.at_most(_STEP)
        emitter.add(scf.YieldOp(((now << places) % divisor).value, (left - places).value))

    types = [i64, i64]
    before, after = (emitter.region(build, *types) for build in (ask, divide))
    loop = scf.WhileOp([rest.value, distance.value], types, before, after)
    return ThreadWord(kernel, emitter.emit(loop))
