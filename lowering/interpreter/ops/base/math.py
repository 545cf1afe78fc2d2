"""The functions of `math`: the programs of scalar instructions that they lower to, on arrays."""

import numpy as np
from xdsl.dialects import math
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation

from tilewright.dialects.math_functions.code import Value
from tilewright.dialects.math_functions.functions import APPROXIMATIONS, FUNCTIONS, ON_INTEGERS
from tilewright.lowering.interpreter.arithmetic.programs import LEAF, computed
from tilewright.lowering.interpreter.arithmetic.scalar import Function, scalar
from tilewright.lowering.interpreter.builder import Builder, Step, runs
from tilewright.lowering.interpreter.ops.base.arith import pure, type_name, upper_half
from tilewright.lowering.interpreter.values import Bits

_MATH: dict[str, type[Operation]] = {op.name: op for op in math.Math.operations}


@runs(*(_MATH[name] for name in FUNCTIONS))
def _function(op: Operation, builder: Builder) -> Step:
    type_ = type_name(op, op.results[0].type)
    real = "f64" if type_ == "f64" else "f32"
    program = FUNCTIONS[op.name].program
    flags = op.properties.get("fastmath")
    if real == "f32" and flags is not None and FastMathFlag.APPROX_FUNC in flags.data:  # type: ignore[attr-defined]
        program = APPROXIMATIONS.get(op.name, program)

    def compute(*operands: Bits) -> Bits:
        return computed(program, real, operands)

    if type_ == real:
        return pure(op, builder, compute)
    widen = upper_half if type_ == "bf16" else scalar("cvt", "f32.f16")
    narrow = scalar("cvt", f"rn.{type_}.f32")
    return pure(op, builder, lambda *operands: narrow(compute(*map(widen, operands))))


@runs(math.FPowIOp)
def _integer_power(op: math.FPowIOp, builder: Builder) -> Step:
    type_ = type_name(op, op.results[0].type)
    exponent_type = type_name(op, op.operands[1].type)
    bits = 64 if exponent_type == "s64" else 32
    power = scalar("cvt", f"rn.f64.s{bits}")
    extend = _extended(exponent_type, "s")
    widen = upper_half if type_ == "bf16" else scalar("cvt", "f32.f16")
    double, single = scalar("cvt", "f64.f32"), scalar("cvt", "rn.f32.f64")

    def compute(base: Bits, exponent: Bits) -> Bits:
        if type_ not in ("f32", "f64"):
            base = widen(base)
        if type_ != "f64":
            base = double(base)
        result = computed(FUNCTIONS["math.powf"].program, "f64", (base, power(extend(exponent))))
        if type_ == "f64":
            return result
        result = single(result)
        return result if type_ == "f32" else scalar("cvt", f"rn.{type_}.f32")(result)

    return pure(op, builder, compute)


def _extended(type_: str, letter: str) -> Function:
    """An integer as one of at least 32 bits."""
    if type_ == "pred":
        one = np.uint32(1 if letter == "u" else 0xFFFFFFFF)

        def widen(a: Bits) -> Bits:
            return a.astype(np.uint32) * one

        return widen
    width = int(type_[1:])
    source = np.dtype(f"int{width}" if letter == "s" else f"uint{width}")

    def extend(a: Bits) -> Bits:
        return a if width >= 32 else a.view(source).astype(np.int32).view(np.uint32)

    return extend


@runs(*(_MATH[name] for name in ON_INTEGERS))
def _on_integers(op: Operation, builder: Builder) -> Step:
    type_ = type_name(op, op.results[0].type)
    letter = "s" if isinstance(op, math.AbsIOp | math.IPowIOp) else "u"
    extend = _extended(type_, letter)
    width = 1 if type_ == "pred" else int(type_[1:])
    bits = max(32, width)
    name = op.name

    def compute(*operands: Bits) -> Bits:
        values = [Value(LEAF, extend(operand), f"s{bits}") for operand in operands]
        if name == "math.cttz" and width < bits:
            values = [values[0] | 1 << width]
        result = ON_INTEGERS[name](*values)
        if name == "math.ctlz" and width < bits:
            result = result - (bits - width)
        return result.handle.astype(f"uint{width}") if width > 1 else result.handle % 2 != 0

    return pure(op, builder, compute)
