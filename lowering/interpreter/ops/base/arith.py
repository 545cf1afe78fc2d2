"""`arith`, `math` and `ub`: on scalars, `index` in 64 bits, and on vectors element by element.

A vector is one array [threads, elements], of any rank in row-major order.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects import arith, ub
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, MemRefType, VectorType
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from tilewright.dialects.cute.types.algebra import CuteType
from tilewright.dialects.math_functions.code import Program
from tilewright.dialects.math_functions.rounded_once import EXTREMES, ON_BITS
from tilewright.dialects.ptx import scalar_types
from tilewright.dialects.ptx.constant_bits import constant_bits
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.dialects.ptx.scalar_types import NARROW_FLOATS
from tilewright.dialects.scalar_programs import (
    INSTRUCTIONS,
    PROGRAMS,
    element_type,
    is_reciprocal,
    times_reciprocal,
    type_of,
)
from tilewright.lowering.interpreter.arithmetic.lane_value import chosen
from tilewright.lowering.interpreter.arithmetic.programs import function_of
from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.arithmetic.watched import finite, within_width
from tilewright.lowering.interpreter.array_types import AnyDType
from tilewright.lowering.interpreter.builder import Builder, Pure, makes
from tilewright.lowering.interpreter.checks import ASKED
from tilewright.lowering.interpreter.values import Bits, Undefined
from tilewright.source.diagnostic import OpError, at

Compute = Callable[..., Any]


def type_name(op: Operation, type_: Attribute, letter: str = "s") -> str:
    """The instruction type that computes on an MLIR type or on each element of a vector of it:
    `s32`, `f32`, `pred`.

    Raises OpError where the type is neither a scalar nor a vector of scalars.
    """
    if (name := scalar_types.type_name(element_type(type_))) is None:
        raise OpError(op, f"'{op.name}' on {type_} cannot be interpreted")
    return f"{letter}{name[1:]}" if name[0] == "s" else name


def container(op: Operation, type_: Attribute) -> AnyDType:
    """The dtype that holds a scalar of an MLIR type."""
    if element_type(type_) in NARROW_FLOATS:
        return np.dtype(np.uint8)
    name = type_name(op, type_, "u")
    return np.dtype(bool) if name == "pred" else np.dtype(f"uint{name.lstrip('bfu')}")


def pure(op: Operation, builder: Builder, compute: Compute) -> Pure:
    """The step of an op whose results are a function of its operands."""
    if ASKED.get() and compute is not same and len(op.results) == 1:
        compute = finite(compute, *_types(op))
    return Pure(compute, builder.slots(op.operands), builder.slots(op.results))


def _types(op: Operation) -> tuple[Sequence[str | None], str | None]:
    """The instruction types of the operands and the result of an op."""
    if isinstance(op, ScalarOp):
        return op.row.types, op.row.result
    return [type_of(op, x.type) for x in op.operands], type_of(op, op.results[0].type)


computes = makes(lambda said, op, builder: pure(op, builder, said(op)))
"""Register a function that says how an op computes its results."""

gives = makes(lambda said, op, builder: pure(op, builder, said))
"""Register a function that computes the results of all such ops, whatever their fields."""


def split(op: Operation, part: Callable[[Bits, int], Bits]) -> Compute:
    """The results of an op that are parts of its one operand, by their numbers."""
    numbers = range(len(op.results))

    def compute(whole: Bits) -> Any:
        parts = [part(whole, number) for number in numbers]
        return parts if len(parts) > 1 else parts[0]

    return compute


def same(value: Bits) -> Bits:
    """The value itself: of ops that only give it another type."""
    return value


def constant(value: Any) -> Compute:
    """The same value in all threads."""
    return lambda: value


@computes
def _constant(op: arith.ConstantOp) -> Compute:
    dtype = container(op, op.result.type)
    if isa(op.result.type, VectorType):
        return constant(_elements(op, dtype)[None])
    return constant(np.array([_bits(op, op.value, dtype)], dtype=dtype))


def _elements(op: arith.ConstantOp, dtype: AnyDType) -> Bits:
    """The elements of a dense constant: [elements]."""
    value, type_ = op.value, op.result.type
    assert isinstance(value, DenseIntOrFPElementsAttr) and isa(type_, VectorType)
    elements = [_bits(op, element, dtype) for element in value.iter_attrs()]
    return np.broadcast_to(np.array(elements, dtype=dtype), prod(type_.get_shape()))


def _bits(op: arith.ConstantOp, value: Attribute, dtype: AnyDType) -> int | bool:
    bits = constant_bits(value)
    if bits is None:
        raise OpError(op, f"'{op.name}' expected an integer or a float, got {value}")
    return bool(bits) if dtype.kind == "b" else bits % (1 << (8 * dtype.itemsize))


@computes
def _poison(op: ub.PoisonOp) -> Compute:
    return constant(undefined(op))


def undefined(op: Operation) -> Undefined:
    """The result of an op, which nothing has written."""
    where = at(op.location, "")
    return Undefined(f"'{op.name}'" + (f" at {where.file}:{where.line}" if where.line else ""))


def _run(op: Operation, program: Program) -> Compute:
    """A program on the op's operands."""
    types = [type_of(op, x.type) or type_name(op, x.type) for x in op.operands]
    compute = function_of(program, types, [container(op, result.type) for result in op.results])
    several = len(op.results) > 1
    return compute if several else lambda *given: compute(*given)[0]


@computes(*PROGRAMS)
def _program(op: Operation) -> Compute:
    return _run(op, partial(PROGRAMS[type(op)], op))


@computes(*INSTRUCTIONS)
def _instruction(op: Operation) -> Compute:
    instruction, modifier, letter = INSTRUCTIONS[type(op)]
    type_ = type_name(op, op.results[0].type, letter)
    if type_ == "pred":
        return _run(op, ON_BITS[op.name])
    if type_ == "f64" and op.name in EXTREMES:
        return _run(op, EXTREMES[op.name])
    if is_reciprocal(op):
        return _run(op, times_reciprocal)
    compute = scalar(instruction, f"{modifier}{type_}")
    if instruction in ("shl", "shr"):
        compute = within_width(compute, int(type_[1:]))
    return compute


@computes
def _select(op: arith.SelectOp) -> Compute:
    if isinstance(op.result.type, CuteType):
        return chosen
    if isinstance(op.result.type, MemRefType):
        raise OpError(op, f"'{op.name}' on {op.results[0].type} cannot be interpreted")

    def compute(condition: Bits, a: Bits, b: Bits) -> Bits:
        if a.ndim > condition.ndim:
            condition = condition[:, None]
        return np.where(condition, a, b)

    return compute


gives(arith.BitcastOp)(same)
