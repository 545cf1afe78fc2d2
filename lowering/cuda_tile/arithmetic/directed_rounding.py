"""Arithmetic of f16, bf16 and f32 rounded towards zero or to one side: in f64, whose own error is
known, then to the nearest, and a step where that lies on the wrong side."""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import Float64Type, IntegerAttr, IntegerType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops import floating_point
from tilewright.lowering.cuda_tile.arithmetic.convert_conversions import float_resized
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import EXACT, RELATIONS, on_floats
from tilewright.lowering.cuda_tile.arithmetic.narrow_floats import is_above, stepped
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel

_F64 = Float64Type()


def rounded_to(
    op: Operation, operands: tuple[SSAValue, ...], rounding: str, kernel: Kernel
) -> SSAValue:
    """The result of addf, subf, mulf, divf, sqrt or fma in a directed rounding."""
    type_ = operands[0].type
    wide = [float_resized(kernel, operand, _F64) for operand in operands]
    value, error = _with_error(op, wide, kernel)
    result = float_resized(kernel, value, type_)
    back = float_resized(kernel, result, _F64)
    above, below = is_above(kernel, back, value), is_above(kernel, value, back)
    if error is not None:
        emitter, zero = kernel.emitter, kernel.constant(0.0, _F64)
        same = emitter.binary("xor", emitter.binary("or", above, below), kernel.constant(1, _I1))
        less, more = is_above(kernel, zero, error), is_above(kernel, error, zero)
        above = emitter.binary("or", above, emitter.binary("and", same, less))
        below = emitter.binary("or", below, emitter.binary("and", same, more))
    result = stepped(kernel, result, above, below, rounding)
    if rounding == "negative_inf" and isinstance(op, _SUMS):
        result = _negative_zero(op, operands, value, result, kernel)
    return result


_I1 = IntegerType(1)
_EQUAL = IntegerAttr(RELATIONS["equal"][2], IntegerType(64))
_SUMS = (floating_point.AddFOp, floating_point.SubFOp, floating_point.FmaOp)


def _with_error(
    op: Operation, wide: list[SSAValue], kernel: Kernel
) -> tuple[SSAValue, SSAValue | None]:
    """The result in f64, and a number of the sign of what is missing; None where nothing is."""

    def on(kind: type[Operation], *values: SSAValue) -> SSAValue:
        return on_floats(kernel, kind, *values)

    match op:
        case floating_point.MulFOp():
            return on(arith.MulfOp, *wide), None
        case floating_point.DivFOp():
            value = on(arith.DivfOp, *wide)
            rest = on(math.FmaOp, on(arith.NegfOp, value), wide[1], wide[0])
            negative = is_above(kernel, kernel.constant(0.0, _F64), wide[1])
            return value, kernel.emitter.select(negative, on(arith.NegfOp, rest), rest)
        case floating_point.SqrtOp():
            value = on(math.SqrtOp, *wide)
            return value, on(math.FmaOp, on(arith.NegfOp, value), value, wide[0])
        case _:
            a, b = _terms(op, wide, kernel)
            total = on(arith.AddfOp, a, b)
            part = on(arith.SubfOp, total, a)
            of_a = on(arith.SubfOp, a, on(arith.SubfOp, total, part))
            return total, on(arith.AddfOp, of_a, on(arith.SubfOp, b, part))


def _terms(op: Operation, wide: list[SSAValue], kernel: Kernel) -> tuple[SSAValue, SSAValue]:
    """The two terms of a sum; the product of an fma is exact."""
    if isinstance(op, floating_point.FmaOp):
        return on_floats(kernel, arith.MulfOp, wide[0], wide[1]), wide[2]
    a, b = wide
    return a, on_floats(kernel, arith.NegfOp, b) if isinstance(op, floating_point.SubFOp) else b


def _negative_zero(
    op: Operation, operands: tuple[SSAValue, ...], value: SSAValue, result: SSAValue, kernel: Kernel
) -> SSAValue:
    """A sum whose terms cancel is -0; one of positive zeros is none that cancels."""
    wide = [float_resized(kernel, operand, _F64) for operand in operands]
    i64, emitter = IntegerType(64), kernel.emitter
    words = [kernel.emit(arith.BitcastOp, [term], i64) for term in _terms(op, wide, kernel)]
    either = emitter.binary("or", *words)
    cancels = emitter.compare("lt", either, kernel.constant(0, i64))
    is_zero = kernel.emit(
        arith.CmpfOp, [value, kernel.constant(0.0, _F64)], _I1, predicate=_EQUAL, fastmath=EXACT
    )
    cancels = emitter.binary("and", cancels, is_zero)
    return emitter.select(cancels, kernel.constant(-0.0, result.type), result)
