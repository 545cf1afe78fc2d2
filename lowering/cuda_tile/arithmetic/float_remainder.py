"""The remainder of f64, by long division of significands: in steps of as many bits as 64 leave."""

from __future__ import annotations

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import Float64Type, i64
from xdsl.ir import Block, Region, SSAValue

from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import EXACT, on_floats
from tilewright.lowering.cuda_tile.arithmetic.narrow_floats import Bits, is_above
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel

_MANTISSA = 52
_STEP = 63 - _MANTISSA
_INFINITE = 0x7FF << _MANTISSA


def remainder64(kernel: Kernel, x: SSAValue, y: SSAValue) -> SSAValue:
    """x - trunc(x / y) y, exactly, with the sign of x."""
    bits, f64 = Bits(kernel, i64), Float64Type()
    words = [on_floats(kernel, math.AbsFOp, value) for value in (x, y)]
    # `abs.f64` leaves NaN its sign.
    left, by = (
        bits.on("and", kernel.emit(arith.BitcastOp, [value], i64), (1 << 63) - 1) for value in words
    )
    (dividend, high), (divisor, low) = (_parts(bits, word) for word in (left, by))
    divisor = bits.select(bits.above(divisor, 0), divisor, bits.constant(1))
    rest = bits.on("rem", dividend, divisor)
    distance = bits.on("max", bits.on("sub", high, low), 0)
    rest = _divided(bits, rest, divisor, distance)
    # A unit of the divisor's last place, as a float.
    unit = bits.select(
        bits.above(low, _MANTISSA),
        bits.on("shl", bits.on("sub", low, _MANTISSA), _MANTISSA),
        bits.on("shl", bits.constant(1), bits.on("max", bits.on("sub", low, 1), 0)),
    )
    scale = kernel.emit(arith.BitcastOp, [unit], f64)
    whole = kernel.emit(arith.UIToFPOp, [rest], f64)
    result = kernel.emit(arith.MulfOp, [whole, scale], f64, fastmath=EXACT)
    result = kernel.emitter.select(is_above(kernel, words[1], words[0]), words[0], result)
    # Of what is no number, of infinite dividends and of zero divisors there is none.
    wrong = bits.above(left, _INFINITE - 1)
    wrong = kernel.emitter.binary("or", wrong, bits.above(by, _INFINITE))
    wrong = kernel.emitter.binary("or", wrong, kernel.emitter.compare("eq", by, bits.constant(0)))
    nan = kernel.constant(float("nan"), f64)
    result = kernel.emitter.select(wrong, nan, result)
    return on_floats(kernel, math.CopySignOp, result, x)


def _parts(bits: Bits, word: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The significand of a magnitude, and its exponent, of subnormal numbers 1."""
    exponent = bits.on("shr", word, _MANTISSA)
    fraction = bits.on("and", word, (1 << _MANTISSA) - 1)
    hidden = bits.on("or", fraction, 1 << _MANTISSA)
    normal = bits.above(exponent, 0)
    return bits.select(normal, hidden, fraction), bits.on("max", exponent, 1)


def _divided(bits: Bits, rest: SSAValue, divisor: SSAValue, distance: SSAValue) -> SSAValue:
    """The rest, so many binary places further."""
    kernel, emitter = bits.kernel, bits.kernel.emitter
    before, after = Block(arg_types=[i64, i64]), Block(arg_types=[i64, i64])
    outer = emitter.enter(before)
    emitter.add(scf.ConditionOp(bits.above(before.args[1], 0), *before.args))
    emitter.leave(outer)
    outer = emitter.enter(after)
    places = bits.on("min", after.args[1], _STEP)
    moved = bits.on("rem", bits.on("shl", after.args[0], places), divisor)
    emitter.add(scf.YieldOp(moved, bits.on("sub", after.args[1], places)))
    emitter.leave(outer)
    loop = scf.WhileOp([rest, distance], [i64, i64], Region(before), Region(after))
    return kernel.emitter.add(loop).results[0]
