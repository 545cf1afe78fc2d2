"""`arith`, the `math` of one instruction, and `ub`: on scalars, `index` in 64 bits, and on vectors
element by element.

A vector is one array [threads, elements], of any rank in row-major order.
"""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import arith, math, ub
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, VectorType
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from tilewright.diagnostic import OpError, at
from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.math_functions.code import Value
from tilewright.dialects.math_functions.rounded_once import (
    EXTREMES,
    ON_BITS,
    odd_fma,
    odd_single,
    odd_whole,
)
from tilewright.dialects.ptx.constant_bits import constant_bits
from tilewright.dialects.ptx.scalar_types import NARROW_FLOATS, scalar_type
from tilewright.lowering.interpreter.arithmetic.lane_value import chosen
from tilewright.lowering.interpreter.arithmetic.programs import computed
from tilewright.lowering.interpreter.arithmetic.scalar import (
    Function,
    rounded_down,
    rounded_up,
    scalar,
)
from tilewright.lowering.interpreter.builder import Builder, Step, runs
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.values import Bits, Undefined

Compute = Callable[..., Any]


def type_name(op: Operation, type_: Attribute, letter: str = "s") -> str:
    """The instruction type that computes on an MLIR type or on each element of a vector of it:
    `s32`, `f32`, `pred`.

    Raises OpError where the type is neither a scalar nor a vector of scalars.
    """
    element = element_type(type_)
    scalar = scalar_type(element)
    if scalar is None:
        raise OpError(op, f"'{op.name}' on {type_} cannot be interpreted")
    if scalar.bits == 1:
        return "pred"
    return str(element) if not str(element).startswith("i") else f"{letter}{scalar.bits}"


def element_type(type_: Attribute) -> Attribute:
    """The type of a vector's elements; any other type is its own."""
    return type_.element_type if isa(type_, VectorType) else type_


def container(op: Operation, type_: Attribute) -> np.dtype[Any]:
    """The dtype that holds a scalar of an MLIR type."""
    if element_type(type_) in NARROW_FLOATS:
        return np.dtype(np.uint8)
    name = type_name(op, type_, "u")
    return np.dtype(bool) if name == "pred" else np.dtype(f"uint{name.lstrip('bfu')}")


def pure(op: Operation, builder: Builder, compute: Compute) -> Step:
    """The step of an op whose result is a function of its operands."""
    sources, dest = builder.slots(op.operands), builder.slot(op.results[0])
    if len(sources) == 2:
        first, second = sources

        def binary(machine: Machine, gang: Gang) -> None:
            regs = gang.regs
            regs[dest] = compute(regs[first], regs[second])

        return binary

    def step(machine: Machine, gang: Gang) -> None:
        regs = gang.regs
        regs[dest] = compute(*[regs[slot] for slot in sources])

    return step


def unary(op: Operation, builder: Builder, compute: Callable[[Bits], Bits]) -> Step:
    """The step of an op whose result is a function of its one operand."""
    return pure(op, builder, compute)


def split(op: Operation, builder: Builder, part: Callable[[Bits, int], Bits]) -> Step:
    """The step of an op whose results are parts of its one operand, by their numbers."""
    [source], dests = builder.slots(op.operands), builder.slots(op.results)

    def step(machine: Machine, gang: Gang) -> None:
        regs = gang.regs
        whole = regs[source]
        for number, dest in enumerate(dests):
            regs[dest] = part(whole, number)

    return step


def same(value: Bits) -> Bits:
    """The value itself: of ops that only give it another type."""
    return value


def constant(op: Operation, builder: Builder, value: Any) -> Step:
    """The step of an op that gives the same value in all threads."""
    dest = builder.slot(op.results[0])

    def step(machine: Machine, gang: Gang) -> None:
        gang.regs[dest] = value

    return step


@runs(arith.ConstantOp)
def _constant(op: arith.ConstantOp, builder: Builder) -> Step:
    dtype = container(op, op.result.type)
    if isa(op.result.type, VectorType):
        return constant(op, builder, _elements(op, dtype)[None])
    return constant(op, builder, np.array([_bits(op, op.value, dtype)], dtype=dtype))


def _elements(op: arith.ConstantOp, dtype: np.dtype[Any]) -> Bits:
    """The elements of a dense constant: [elements]."""
    value, type_ = op.value, op.result.type
    assert isinstance(value, DenseIntOrFPElementsAttr) and isa(type_, VectorType)
    elements = [_bits(op, element, dtype) for element in value.iter_attrs()]
    return np.broadcast_to(np.array(elements, dtype=dtype), prod(type_.get_shape()))


def _bits(op: arith.ConstantOp, value: Attribute, dtype: np.dtype[Any]) -> int | bool:
    bits = constant_bits(value)
    if bits is None:
        raise OpError(op, f"'{op.name}' expected an integer or a float, got {value}")
    return bool(bits) if dtype.kind == "b" else bits % (1 << (8 * dtype.itemsize))


@runs(ub.PoisonOp)
def _poison(op: ub.PoisonOp, builder: Builder) -> Step:
    return undefined(op, builder)


def undefined(op: Operation, builder: Builder) -> Step:
    """The step of an op whose result nothing has written."""
    where = at(op.location, "")
    place = f" at {where.file}:{where.line}" if where.line else ""
    return constant(op, builder, Undefined(f"'{op.name}'{place}"))


# op: (instruction, modifier, signedness)
_BINARY: dict[type[Operation], tuple[str, str, str]] = {
    arith.AddiOp: ("add", "", "s"),
    arith.SubiOp: ("sub", "", "s"),
    arith.MuliOp: ("mul", "lo.", "s"),
    arith.DivSIOp: ("div", "", "s"),
    arith.DivUIOp: ("div", "", "u"),
    arith.RemSIOp: ("rem", "", "s"),
    arith.RemUIOp: ("rem", "", "u"),
    arith.MinSIOp: ("min", "", "s"),
    arith.MinUIOp: ("min", "", "u"),
    arith.MaxSIOp: ("max", "", "s"),
    arith.MaxUIOp: ("max", "", "u"),
    arith.AndIOp: ("and", "", "b"),
    arith.OrIOp: ("or", "", "b"),
    arith.XOrIOp: ("xor", "", "b"),
    arith.ShLIOp: ("shl", "", "b"),
    arith.ShRUIOp: ("shr", "", "u"),
    arith.ShRSIOp: ("shr", "", "s"),
    arith.AddfOp: ("add", "rn.", ""),
    arith.SubfOp: ("sub", "rn.", ""),
    arith.MulfOp: ("mul", "rn.", ""),
    arith.DivfOp: ("div", "rn.", ""),
    arith.MaximumfOp: ("max", "NaN.", ""),
    arith.MinimumfOp: ("min", "NaN.", ""),
    arith.MaxnumfOp: ("max", "", ""),
    arith.MinnumfOp: ("min", "", ""),
}
_ON_BITS = {"add": "xor", "sub": "xor", "mul": "and", "and": "and", "or": "or", "xor": "xor"}


def _program(program: Callable[..., Value], type_: str) -> Function:
    return lambda *operands: computed(program, type_, operands)


def _on_bits(op: Operation, builder: Builder) -> Step:
    """An op on one bit."""
    instruction = _ON_BITS.get(_BINARY[type(op)][0] if type(op) in _BINARY else "")
    if instruction is not None:
        return pure(op, builder, scalar(instruction, "pred"))
    return pure(op, builder, _program(ON_BITS[op.name], "pred"))


@runs(*_BINARY)
def _binary(op: arith.AddiOp, builder: Builder) -> Step:
    instruction, modifier, letter = _BINARY[type(op)]
    type_ = type_name(op, op.result.type, letter)
    if type_ == "pred":
        return _on_bits(op, builder)
    if type_ == "f64" and op.name in EXTREMES:
        return pure(op, builder, _program(EXTREMES[op.name], "f64"))
    if type_ == "f32" and isinstance(op, arith.DivfOp) and _may_take_reciprocal(op):
        reciprocal, times = scalar("rcp", "approx.ftz.f32"), scalar("mul", "rn.f32")

        def divide(a: Bits, b: Bits) -> Bits:
            return times(a, reciprocal(b))

        return pure(op, builder, divide)
    return pure(op, builder, scalar(instruction, f"{modifier}{type_}"))


def _may_take_reciprocal(op: arith.DivfOp) -> bool:
    return FastMathFlag.ALLOW_RECIP in op.fastmath.data


def _carry(total: Value, a: Value) -> Value:
    return a & total.do("not", "pred")


_PRODUCTS: dict[type[Operation], str] = {arith.MulUIExtendedOp: "u", arith.MulSIExtendedOp: "s"}


@runs(arith.AddUIExtendedOp, *_PRODUCTS)
def _extended(
    op: arith.AddUIExtendedOp | arith.MulUIExtendedOp | arith.MulSIExtendedOp, builder: Builder
) -> Step:
    """Sum and carry, or the halves of a product."""
    letter = _PRODUCTS.get(type(op), "u")
    type_ = type_name(op, op.lhs.type, letter)
    (first, second), dests = builder.slots(op.operands), builder.slots(op.results)
    adds = isinstance(op, arith.AddUIExtendedOp)
    if type_ == "pred":
        low = scalar("xor" if adds else "and", "pred")
        # A sum that lacks a one which went in overflows; a product has one bit.
        high = _program(_carry if adds else ON_BITS["arith.remui"], "pred")
    else:
        low = scalar("add", type_) if adds else scalar("mul", f"lo.{type_}")
        high = scalar("setp", f"lt.{type_}") if adds else scalar("mul", f"hi.{type_}")

    def step(machine: Machine, gang: Gang) -> None:
        regs = gang.regs
        a, b = regs[first], regs[second]
        result = low(a, b)
        # A sum that wrapped around is below what was added to.
        regs[dests[0]], regs[dests[1]] = result, high(result, a) if adds else high(a, b)

    return step


@runs(arith.CeilDivUIOp, arith.CeilDivSIOp, arith.FloorDivSIOp)
def _rounded_division(
    op: arith.CeilDivUIOp | arith.CeilDivSIOp | arith.FloorDivSIOp, builder: Builder
) -> Step:
    type_ = type_name(op, op.result.type, "u" if isinstance(op, arith.CeilDivUIOp) else "s")
    if type_ == "pred":
        return _on_bits(op, builder)
    rounded = rounded_down if isinstance(op, arith.FloorDivSIOp) else rounded_up
    return pure(op, builder, rounded(type_))


_UNARY: dict[type[Operation], tuple[str, str]] = {
    arith.NegfOp: ("neg", ""),
    math.AbsFOp: ("abs", ""),
    math.SqrtOp: ("sqrt", "rn."),
    math.FmaOp: ("fma", "rn."),
}


@runs(*_UNARY)
def _unary(op: arith.NegfOp, builder: Builder) -> Step:
    instruction, modifier = _UNARY[type(op)]
    type_ = type_name(op, op.result.type)
    if (instruction, type_) == ("fma", "bf16"):
        widen, narrow = scalar("cvt", "f64.f32"), scalar("cvt", "rn.bf16.f32")
        fused = _program(odd_fma, "f64")
        return pure(
            op, builder, lambda *values: narrow(fused(*(widen(upper_half(x)) for x in values)))
        )
    return pure(op, builder, scalar(instruction, f"{modifier}{type_}"))


_INTEGER_RELATIONS = (
    ("eq", "s"), ("ne", "s"), ("lt", "s"), ("le", "s"), ("gt", "s"), ("ge", "s"),
    ("lt", "u"), ("le", "u"), ("gt", "u"), ("ge", "u"),
)  # fmt: skip


@runs(arith.CmpiOp)
def _compare_integers(op: arith.CmpiOp, builder: Builder) -> Step:
    relation, letter = _INTEGER_RELATIONS[op.predicate.value.data]
    type_ = type_name(op, op.lhs.type, letter)
    if type_ != "pred":
        return pure(op, builder, scalar("setp", f"{relation}.{type_}"))
    compare = scalar("setp", f"{relation}.{letter}8")

    def compute(a: Bits, b: Bits) -> Bits:
        # A true i1 is -1 signed and 1 unsigned.
        x, y = (
            operand.astype(np.uint8) * np.uint8(0xFF if letter == "s" else 1) for operand in (a, b)
        )
        return compare(x, y)

    return pure(op, builder, compute)


_FLOAT_RELATIONS = (
    "", "eq", "gt", "ge", "lt", "le", "ne", "num", "equ", "gtu", "geu", "ltu", "leu", "neu", "nan",
)  # fmt: skip


@runs(arith.CmpfOp)
def _compare_floats(op: arith.CmpfOp, builder: Builder) -> Step:
    predicate = op.predicate.value.data
    if predicate in (0, 15):
        return constant(op, builder, np.array([predicate == 15]))
    relation = _FLOAT_RELATIONS[predicate]
    return pure(op, builder, scalar("setp", f"{relation}.{type_name(op, op.lhs.type)}"))


@runs(arith.SelectOp)
def _select(op: arith.SelectOp, builder: Builder) -> Step:
    if isinstance(op.result.type, CuteType):
        return pure(op, builder, chosen)
    if isinstance(op.result.type, MemRefType):
        raise OpError(op, f"'{op.name}' on {op.results[0].type} cannot be interpreted")

    def compute(condition: Bits, a: Bits, b: Bits) -> Bits:
        if a.ndim > condition.ndim:
            condition = condition[:, None]
        return np.where(condition, a, b)

    return pure(op, builder, compute)


@runs(arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)
def _cast_integer(
    op: arith.IndexCastOp | arith.ExtSIOp | arith.ExtUIOp | arith.TruncIOp, builder: Builder
) -> Step:
    letter = "u" if isinstance(op, arith.ExtUIOp) else "s"
    source = type_name(op, op.input.type, letter)
    result = type_name(op, op.result.type, letter)
    dtype = container(op, op.result.type)
    if result == "pred":
        return unary(op, builder, lambda a: (a & 1).astype(bool))
    if source == "pred":
        one = np.array(np.iinfo(dtype).max if letter == "s" else 1, dtype=dtype)
        return unary(op, builder, lambda a: a.astype(dtype) * one)
    signed = np.dtype(source.replace("s", "int").replace("u", "uint"))
    return unary(op, builder, lambda a: a.view(signed).astype(dtype))


@runs(arith.SIToFPOp, arith.UIToFPOp)
def _integer_to_float(op: arith.SIToFPOp | arith.UIToFPOp, builder: Builder) -> Step:
    letter = "s" if isinstance(op, arith.SIToFPOp) else "u"
    source, result = type_name(op, op.input.type, letter), type_name(op, op.result.type)
    if source == "pred":
        convert = scalar("cvt", f"rn.{result}.{letter}32")
        one = np.uint32(0xFFFFFFFF if letter == "s" else 1)
        zero = np.uint32(0)

        def from_bit(a: Bits) -> Bits:
            return convert(np.where(a, one, zero))

        return unary(op, builder, from_bit)
    if result == "bf16" and source[1:] in ("32", "64"):
        wide, narrow = _program(odd_whole, source), scalar("cvt", "rn.bf16.f32")
        return unary(op, builder, lambda a: narrow(wide(a)))
    return pure(op, builder, scalar("cvt", f"rn.{result}.{source}"))


@runs(arith.FPToSIOp, arith.FPToUIOp)
def _float_to_integer(op: arith.FPToSIOp | arith.FPToUIOp, builder: Builder) -> Step:
    letter = "s" if isinstance(op, arith.FPToSIOp) else "u"
    source, dtype = type_name(op, op.input.type), container(op, op.result.type)
    if dtype.itemsize == 1:
        # Out of range is poison; the low bits of the 16-bit result are what the hardware leaves.
        wide, mask = scalar("cvt", f"rzi.{letter}16.{source}"), 1 if dtype.kind == "b" else 0xFF
        return unary(op, builder, lambda a: (wide(a) & mask).astype(dtype))
    return pure(op, builder, scalar("cvt", f"rzi.{letter}{8 * dtype.itemsize}.{source}"))


def upper_half(value: Bits) -> Bits:
    return value.astype(np.uint32) << np.uint32(16)


def _to_single(source: str) -> Function:
    if source == "f32":
        return same
    return upper_half if source == "bf16" else scalar("cvt", "f32.f16")


def _to_narrow(source: str, result: str) -> Function:
    """To the lower half of a pair."""
    widen, narrow = _to_single(source), scalar("cvt", f"rn.satfinite.{result}x2.f32")

    def run(a: Bits) -> Bits:
        single = widen(a)
        return narrow(np.zeros_like(single), single).astype(np.uint8)

    return run


def _from_narrow(source: str, result: str) -> Function:
    """From the lower half of a pair, through f16, which has every value."""
    pair = scalar("cvt", f"rn.f16x2.{source}x2")
    single, double = scalar("cvt", "f32.f16"), scalar("cvt", "f64.f16")
    rounds = result not in ("f16", "f32", "f64")
    half = scalar("cvt", f"rn.{result}.f32") if rounds else same
    widen = {"f16": same, "f64": double}.get(result, single)

    def run(a: Bits) -> Bits:
        return half(widen(pair(a.astype(np.uint16)).astype(np.uint16)))

    return run


@runs(arith.ExtFOp, arith.TruncFOp)
def _cast_float(op: arith.ExtFOp | arith.TruncFOp, builder: Builder) -> Step:
    source, result = (
        NARROW_FLOATS.get(element_type(type_)) or type_name(op, type_)
        for type_ in (op.input.type, op.result.type)
    )
    if source == result:
        return unary(op, builder, same)
    if source == "f64" and (result == "bf16" or result in NARROW_FLOATS.values()):
        single = _program(odd_single, "f64")
        narrow = scalar("cvt", "rn.bf16.f32") if result == "bf16" else _to_narrow("f32", result)
        return unary(op, builder, lambda a: narrow(single(a)))
    if result in NARROW_FLOATS.values():
        return unary(op, builder, _to_narrow(source, result))
    if source in NARROW_FLOATS.values():
        return unary(op, builder, _from_narrow(source, result))
    if source == "bf16":
        # A bf16 is the upper half of the f32 of the same value, NaN and all.
        if result == "f32":
            return unary(op, builder, upper_half)
        widen = scalar("cvt", "f64.f32")
        return unary(op, builder, lambda a: widen(upper_half(a)))
    return pure(op, builder, scalar("cvt", f"rn.{result}.{source}"))


@runs(arith.BitcastOp)
def _bitcast(op: arith.BitcastOp, builder: Builder) -> Step:
    return unary(op, builder, same)
