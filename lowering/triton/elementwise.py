"""Arithmetic and conversions, element by element: mostly a row says which op it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects import arith, math, ub
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float8E5M2Type,
    Float16Type,
    StringAttr,
    UnitAttr,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
)
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.arith import RemFOp
from tilewright.dialects.cuda_tile.dialect import CUDA_TILE
from tilewright.dialects.cuda_tile.element_types import types_of
from tilewright.dialects.cuda_tile.elements import ElementsAttr, dtype_of
from tilewright.dialects.cuda_tile.enums import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
)
from tilewright.dialects.cuda_tile.ops import conversions, core, floating_point, integer
from tilewright.dialects.cuda_tile.ops.elementwise import FloatOp
from tilewright.dialects.cuda_tile.ops.scalar_programs import LibdeviceOp
from tilewright.dialects.cuda_tile.types import PointerType
from tilewright.dialects.triton import types
from tilewright.dialects.triton.dialect import TRITON
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.passes.cuda_tile.layouts.elements import element_of, tile_type
from tilewright.passes.cuda_tile.legalization.shaped_builder import (
    EQUAL,
    ROUNDING,
    SIGNED,
    UNSIGNED,
)
from tilewright.source.diagnostic import OpError

Row = tuple[type[Operation], Mapping[str, Any]]

_NAN = {"propagate_nan": UnitAttr()}
_INF = float("inf")

_TABLE = """
arith.addi       addi
arith.subi       subi
arith.muli       muli
arith.divsi      divi        signed
arith.divui      divi        unsigned
arith.remui      remi        unsigned
arith.andi       andi
arith.ori        ori
arith.xori       xori
arith.shli       shli
arith.shrsi      shri        signed
arith.shrui      shri        unsigned
arith.maxsi      maxi        signed
arith.maxui      maxi        unsigned
arith.minsi      mini        signed
arith.minui      mini        unsigned
math.absi        absi
tt.mulhiui       mulhii
arith.addf       addf        rounded
arith.subf       subf        rounded
arith.mulf       mulf        rounded
tt.precise_divf  divf        rounded
tt.precise_sqrt  sqrt        rounded
arith.maximumf   maxf        nan
arith.minimumf   minf        nan
arith.maxnumf    maxf
arith.minnumf    minf
arith.negf       negf
math.fma         fma         rounded
math.absf        absf
math.ceil        ceil
math.floor       floor
math.cos         cos
math.sin         sin
math.exp2        exp2
math.log         log
math.log2        log2
math.rsqrt       rsqrt
arith.extsi      exti        signed
arith.extui      exti        unsigned
arith.trunci     trunci
arith.extf       ftof        rounded
arith.truncf     ftof        rounded
arith.sitofp     itof        signed rounded
arith.uitofp     itof        unsigned rounded
arith.fptosi     ftoi        signed to_zero
arith.fptoui     ftoi        unsigned to_zero
tt.int_to_ptr    int_to_ptr
tt.ptr_to_int    ptr_to_int
tt.addptr        offset
"""
_OPS = {
    op.name: op
    for dialect in (arith.Arith, math.Math, TRITON, CUDA_TILE)
    for op in dialect.operations
}
_PROPERTIES: Mapping[str, Mapping[str, Any]] = {
    "signed": SIGNED, "unsigned": UNSIGNED, "rounded": ROUNDING,
    "to_zero": {"rounding_mode": RoundingMode.NEAREST_INT_TO_ZERO},
    "nan": _NAN,
}  # fmt: skip
ROWS: dict[type[Operation], Row] = {
    _OPS[source]: (
        _OPS[f"cuda_tile.{op}"],
        {name: value for word in words for name, value in _PROPERTIES[word].items()},
    )
    for source, op, *words in map(str.split, _TABLE.strip().splitlines())
}
"""The op of Tile IR that an op is, and its properties."""

_FAST: dict[type[Operation], tuple[type[Operation], RoundingMode]] = {
    arith.DivfOp: (floating_point.DivFOp, RoundingMode.FULL),
    triton.ApproxDivFOp: (floating_point.DivFOp, RoundingMode.APPROX),
    math.SqrtOp: (floating_point.SqrtOp, RoundingMode.APPROX),
    math.ExpOp: (floating_point.ExpOp, RoundingMode.APPROX),
}
"""Ops that Triton computes quickly for f32, with how they round there."""


_F16, _NARROW = Float16Type(), types_of("f8E4M3FN", "f8E5M2")
"""Tile IR computes with no floats of 8 bits; what Triton does with them is exact in f16."""


def row_of(op: Operation) -> Row | None:
    """The op of Tile IR that an op is, if it is one."""
    fast = _FAST.get(type(op))
    if fast is None and not isinstance(op, math.Exp2Op):
        return ROWS.get(type(op))
    single = types.element_of(op.results[0].type) == f32
    if fast is None:
        flushed = floating_point.Exp2Op, {"flush_to_zero": UnitAttr()}
        return flushed if single else ROWS.get(math.Exp2Op)
    kind, mode = fast
    if single:
        return kind, {"rounding_mode": mode}
    return kind, {} if kind is floating_point.ExpOp else ROUNDING


@converts(*ROWS, *_FAST)
def _elementwise(op: Operation, at: TritonConversion) -> SSAValue:
    row = row_of(op)
    assert row is not None
    kind, properties = row
    values, type_ = at.all(op.operands), at.tile(op.results[0].type)
    if issubclass(kind, FloatOp) and type_.element_type in _NARROW:
        wide = [at.float(value, _F16) for value in values]
        return at.float(at.add(kind, wide, **properties), type_.element_type)
    return at.add(kind, values, type_, **properties)


@converts
def _signed_remainder(op: arith.RemSIOp, at: TritonConversion) -> SSAValue:
    """Of narrow integers in 32 bits, as on a GPU: the least one's by -1 is 0, and not undefined."""
    element = element_of(at[op.lhs])
    wide = i32 if element in (i8, i16) else element
    operands = [at.resized(value, wide, SIGNED) for value in at.all(op.operands)]
    return at.resized(at.add(integer.RemIOp, operands, **SIGNED), element)


@converts
def _remainder(op: RemFOp, at: TritonConversion) -> SSAValue:
    """x - trunc(x / y) y, the quotient rounded, as Triton computes it; of f16 and bf16 in f32."""
    type_ = at.tile(op.result.type)
    wide = type_.element_type if type_.element_type == f64 else f32
    x, y = (at.float(value, wide) for value in at.all(op.operands))
    quotient = at.add(floating_point.DivFOp, [x, y], **ROUNDING)
    less = at.add(floating_point.NegFOp, [library_function(at, "trunc", quotient)])
    rest = at.add(floating_point.FmaOp, [less, y, x], **ROUNDING)
    infinity, size = at.constant(_INF, x.type), at.add(floating_point.AbsFOp, [y])
    endless = at.compare_floats(EQUAL, size, infinity)
    rest = at.select(endless, x, rest)
    return at.float(rest, type_.element_type)


@converts
def _erf(op: math.ErfOp, at: TritonConversion) -> SSAValue:
    return library_function(at, "erf", at[op.operand])


def library_function(at: TritonConversion, name: str, value: SSAValue) -> SSAValue:
    """A function of libdevice of floats of one type."""
    end = "" if element_of(value) == f64 else "f"
    return at.add(LibdeviceOp, [value], value.type, function=StringAttr(f"__nv_{name}{end}"))


@converts
def _constant(op: arith.ConstantOp, at: TritonConversion) -> SSAValue:
    value: Any = op.value
    with at.lifted(()):
        type_ = at.tile(op.result.type)
    if isinstance(value, DenseIntOrFPElementsAttr) and not value.is_splat():
        array = np.array(value.get_values(), dtype_of(type_.element_type))
        elements = ElementsAttr.of_array(type_, array.reshape(type_.shape))
        return at.insert(
            core.ConstantOp.create(properties={"value": elements}, result_types=[type_])
        ).result
    number = value.get_values()[0] if isinstance(value, DenseIntOrFPElementsAttr) else (
        value.value.data)  # fmt: skip
    return at.constant(abs(number) if type_.element_type == i1 else number, type_)


@converts
def _poison(op: ub.PoisonOp, at: TritonConversion) -> SSAValue:
    return at.constant(0, at.tile(op.result.type))


_PREDICATES = (
    ComparisonPredicate.EQUAL,
    ComparisonPredicate.GREATER_THAN,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL,
    ComparisonPredicate.LESS_THAN,
    ComparisonPredicate.LESS_THAN_OR_EQUAL,
    ComparisonPredicate.NOT_EQUAL,
)
"""The order of `arith.cmpf`, ordered from 1 on, unordered from 8 on."""

_INTEGER_PREDICATES = (0, 5, 3, 4, 1, 2, 3, 4, 1, 2)
"""The places there of those of `arith.cmpi`: eq, ne, and of each sign lt, le, gt, ge."""
_FIRST_UNSIGNED = 6


@converts
def _cmpi(op: arith.CmpiOp, at: TritonConversion) -> SSAValue:
    number = op.predicate.value.data
    sign = SIGNED if number < _FIRST_UNSIGNED else UNSIGNED
    return at.compare(_PREDICATES[_INTEGER_PREDICATES[number]], at[op.lhs], at[op.rhs], sign)


@converts
def _cmpf(op: arith.CmpfOp, at: TritonConversion) -> SSAValue:
    number = op.predicate.value.data
    lhs, rhs = at[op.lhs], at[op.rhs]
    type_ = tile_type(lhs).with_element(i1)
    if number in (0, 15):
        return at.constant(number and 1, type_)
    ordering = ComparisonOrdering.ORDERED if number < 8 else ComparisonOrdering.UNORDERED
    if number in (7, 14):
        # Both are numbers, or one is none: each against itself.
        equal = _PREDICATES[0 if number == 7 else 5]
        join = integer.AndIOp if number == 7 else integer.OrIOp
        return at.add(join, [at.compare_floats(equal, x, x, ordering) for x in (lhs, rhs)])
    return at.compare_floats(_PREDICATES[(number - 1) % 7], lhs, rhs, ordering)


@converts
def _select(op: arith.SelectOp, at: TritonConversion) -> SSAValue:
    condition, *values = at.all(op.operands)
    type_ = tile_type(values[0])
    if not tile_type(condition).rank:
        condition = at.spread(condition, type_.shape)
    return at.select(condition, *values)


@converts(triton.BitcastOp, arith.BitcastOp)
def _bitcast(op: Operation, at: TritonConversion) -> SSAValue:
    value, type_ = at[op.operands[0]], at.tile(op.results[0].type)
    if value.type == type_:
        return value
    if isinstance(type_.element_type, PointerType):
        return at.add(conversions.PtrToPtrOp, [value], type_)
    if i1 in (type_.element_type, element_of(value)):
        raise OpError(
            op, f"'{op.name}' expected elements of whole bytes, got i1; nearest legal: {i8}"
        )
    return at.bitcast(value, type_.element_type)


@converts
def _fp_to_fp(op: triton.FpToFpOp, at: TritonConversion) -> SSAValue:
    value, type_ = at[op.src], at.tile(op.result.type)
    if value.type == type_:
        return value
    towards_zero = op.word("rounding") == "rtz"
    mode = RoundingMode.ZERO if towards_zero else RoundingMode.NEAREST_EVEN
    if towards_zero and type_.element_type == Float8E5M2Type():
        # Its bits are the upper ones in f16.
        half = type_.with_element(_F16)
        if value.type != half:
            value = at.add(conversions.FToFOp, [value], half, rounding_mode=mode)
        upper = at.add(integer.ShRIOp, [at.bitcast(value, i16), 8], **UNSIGNED)
        return at.bitcast(at.resized(upper, i8), type_.element_type)
    return at.add(conversions.FToFOp, [value], type_, rounding_mode=mode)


@converts
def _clamp(op: triton.ClampFOp, at: TritonConversion) -> SSAValue:
    nan = _NAN if op.word("propagateNan") == "all" else {}
    raised = at.add(floating_point.MaxFOp, at.all([op.x, op.min]), **nan)
    return at.add(floating_point.MinFOp, [raised, at[op.max]], **nan)
