"""The code of NumPy's functions of numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.array_types import AnyDType
from tilewright.lowering.interpreter.compiled.llvm import I8, LANES, constant, ir, like

Emit = Callable[..., Any]


def _by_kind(integer: str, single: str = "") -> Emit:
    def emit(builder: Any, dtype: AnyDType, *values: Any) -> Any:
        return getattr(builder, single if dtype.kind == "f" else integer)(*values)

    return emit


def _compared(relation: str) -> Emit:
    def emit(builder: Any, dtype: AnyDType, a: Any, b: Any) -> Any:
        if dtype.kind == "f":
            ordered = builder.fcmp_unordered if relation == "!=" else builder.fcmp_ordered
            return ordered(relation, a, b)
        compare = builder.icmp_signed if dtype.kind == "i" else builder.icmp_unsigned
        return compare(relation, a, b)

    return emit


def _shifted(left: bool) -> Emit:
    """A shift; an amount of the width or more gives zero, or the sign."""

    def emit(builder: Any, dtype: AnyDType, a: Any, amount: Any) -> Any:
        last = constant(a.type, 8 * dtype.itemsize - 1)
        inside = builder.icmp_unsigned("<=", amount, last)
        if dtype.kind == "i" and not left:
            return builder.ashr(a, builder.select(inside, amount, last))
        safe = builder.select(inside, amount, constant(a.type, 0))
        shifted = builder.shl(a, safe) if left else builder.lshr(a, safe)
        return builder.select(inside, shifted, constant(a.type, 0))

    return emit


def _extreme(relation: str, *, numbers: bool) -> Emit:
    """min and max: NaN wins or, of `numbers`, loses."""

    def emit(builder: Any, dtype: AnyDType, a: Any, b: Any) -> Any:
        chosen = _compared(relation)(builder, dtype, a, b)
        if dtype.kind == "f":
            other = b if numbers else a
            chosen = builder.or_(chosen, builder.fcmp_unordered("uno", other, other))
        return builder.select(chosen, a, b)

    return emit


def _divided(remainder: bool) -> Emit:
    """A quotient rounded down, or a remainder of the sign of the dividend; of what the processor
    does not divide, by zero or to what does not fit, as of a divisor 1: guards are for the rest."""

    def emit(builder: Any, dtype: AnyDType, a: Any, b: Any) -> Any:
        zero, one = (constant(a.type, number) for number in (0, 1))
        wrong = builder.icmp_unsigned("==", b, zero)
        if dtype.kind == "u":
            b = builder.select(wrong, one, b)
            return (builder.urem if remainder else builder.udiv)(a, b)
        minus = builder.icmp_unsigned("==", b, constant(a.type, -1))
        quotient = builder.sdiv(a, safe := builder.select(builder.or_(wrong, minus), one, b))
        rest = builder.sub(a, builder.mul(quotient, safe))
        if remainder:
            return rest
        apart = builder.icmp_signed("<", builder.xor(a, safe), zero)
        down = builder.and_(apart, builder.icmp_unsigned("!=", rest, zero))
        floor = builder.sub(quotient, builder.zext(down, a.type))
        return builder.select(minus, builder.neg(a), floor)

    return emit


def intrinsic(name: str) -> Emit:
    def emit(builder: Any, dtype: AnyDType, *values: Any) -> Any:
        type_ = values[0].type
        of = ir.FunctionType(type_, [type_] * len(values))
        kind = f"{'if'[dtype.kind == 'f']}{8 * dtype.itemsize}"
        if isinstance(type_, ir.VectorType):
            kind = f"v{LANES}{kind}"
        return builder.call(builder.module.declare_intrinsic(f"llvm.{name}.{kind}", (), of), values)

    return emit


def _magnitude(builder: Any, dtype: AnyDType, x: Any) -> Any:
    if dtype.kind == "f":
        return intrinsic("fabs")(builder, dtype, x)
    negative = builder.icmp_signed("<", x, constant(x.type, 0))
    return builder.select(negative, builder.neg(x), x) if dtype.kind == "i" else x


def _unordered(builder: Any, dtype: AnyDType, x: Any) -> Any:
    return builder.fcmp_unordered("uno", x, x)


def _negative(builder: Any, dtype: AnyDType, x: Any) -> Any:
    bits = like(x.type, ir.IntType(8 * dtype.itemsize))
    return builder.icmp_signed("<", builder.bitcast(x, bits), constant(bits, 0))


def _infinite(relation: str, builder: Any, dtype: AnyDType, x: Any) -> Any:
    return builder.fcmp_ordered(relation, _magnitude(builder, dtype, x), constant(x.type, np.inf))


def _counted(builder: Any, dtype: AnyDType, x: Any) -> Any:
    count = intrinsic("ctpop")(builder, dtype, x)
    return count if dtype.itemsize == 1 else builder.trunc(count, like(x.type, I8))


EMITTED: dict[np.ufunc, Emit] = {
    np.add: _by_kind("add", "fadd"),
    np.subtract: _by_kind("sub", "fsub"),
    np.multiply: _by_kind("mul", "fmul"),
    np.divide: _by_kind("", "fdiv"),
    np.negative: _by_kind("neg", "fneg"),
    np.bitwise_and: _by_kind("and_"),
    np.bitwise_or: _by_kind("or_"),
    np.bitwise_xor: _by_kind("xor"),
    np.invert: _by_kind("not_"),
    np.left_shift: _shifted(True),
    np.right_shift: _shifted(False),
    np.equal: _compared("=="),
    np.not_equal: _compared("!="),
    np.less: _compared("<"),
    np.less_equal: _compared("<="),
    np.greater: _compared(">"),
    np.greater_equal: _compared(">="),
    np.minimum: _extreme("<", numbers=False),
    np.maximum: _extreme(">", numbers=False),
    np.fmin: _extreme("<", numbers=True),
    np.fmax: _extreme(">", numbers=True),
    np.floor_divide: _divided(False),
    np.fmod: _divided(True),
    np.absolute: _magnitude,
    np.isnan: _unordered,
    np.signbit: _negative,
    np.isinf: partial(_infinite, "=="),
    np.isfinite: partial(_infinite, "<"),
    np.bitwise_count: _counted,
    **{
        function: intrinsic(name)
        for function, name in (
            (np.sqrt, "sqrt"), (np.rint, "rint"), (np.floor, "floor"), (np.ceil, "ceil"),
            (np.trunc, "trunc"), (np.copysign, "copysign"),
        )
    },
}  # fmt: skip
"""The code of NumPy's functions on the values of a type."""
