"""Conversions between element types: widths, integers and floats, bits as they are; and the
remainder of floats, which goes through a wider one."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.diagnostic import OpError
from tilewright.dialects.cuda_tile.ops import conversions
from tilewright.dialects.cuda_tile.ops.floating_point import RemFOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.cuda_tile.convert_elementwise import (
    EXACT,
    RELATIONS,
    check_rounding,
    elementwise,
    on_floats,
    on_integers,
    resized,
    word,
)
from tilewright.lowering.cuda_tile.elements import element_of
from tilewright.lowering.cuda_tile.kernel import Kernel, lowers


@lowers(conversions.ExtIOp, conversions.TruncIOp)
def _resize(op: conversions.ExtIOp | conversions.TruncIOp, kernel: Kernel) -> None:
    kernel.scalar_type(op, op.from_)
    type_ = kernel.scalar_type(op, op.to)
    kind: type[Operation] = arith.TruncIOp
    if isinstance(op, conversions.ExtIOp):
        kind = arith.ExtSIOp if word(op, "signedness") == "signed" else arith.ExtUIOp
    elementwise(op, kernel, lambda x: resized(kernel, kind, x, type_))


@lowers(conversions.IToFOp)
def _integer_to_float(op: conversions.IToFOp, kernel: Kernel) -> None:
    check_rounding(op)
    type_ = kernel.scalar_type(op, op.to)
    kind = arith.SIToFPOp if word(op, "signedness") == "signed" else arith.UIToFPOp
    elementwise(op, kernel, lambda x: kernel.emit(kind, [x], type_))


@lowers(conversions.FToIOp)
def _float_to_integer(op: conversions.FToIOp, kernel: Kernel) -> None:
    """Beyond the range the nearest integer of the type, and 0 for NaN."""
    kernel.scalar_type(op, op.from_)
    type_: Any = kernel.scalar_type(op, op.to)
    signed = word(op, "signedness") == "signed"
    kind = arith.FPToSIOp if signed else arith.FPToUIOp
    width = int(type_.bitwidth)
    wide: Attribute = type_ if width >= 32 else IntegerType(32)

    def compute(x: SSAValue) -> SSAValue:
        if str(x.type).startswith("f8"):
            x = kernel.emit(arith.ExtFOp, [x], Float32Type())
        number = IntegerAttr(RELATIONS["equal"][2], i64)
        is_number = kernel.emit(arith.CmpfOp, [x, x], i1, predicate=number, fastmath=EXACT)
        whole = kernel.emit(kind, [x], wide)
        zero = kernel.constant(0, wide)
        whole = kernel.emitter.select(is_number, whole, zero)
        if width >= 32:
            return whole
        low = -(1 << (width - 1)) if signed else 0
        high = (1 << (width - signed)) - 1
        limit = arith.MinSIOp if signed else arith.MinUIOp
        whole = on_integers(kernel, limit, whole, kernel.constant(high, wide))
        if signed:
            whole = on_integers(kernel, arith.MaxSIOp, whole, kernel.constant(low, wide))
        return resized(kernel, arith.TruncIOp, whole, type_)

    elementwise(op, kernel, compute)


@lowers(conversions.FToFOp)
def _float_to_float(op: conversions.FToFOp, kernel: Kernel) -> None:
    to = element_of(op.to)
    kernel.scalar_type(op, op.from_)
    type_ = kernel.scalar_type(op, op.to)
    if shown(to) == "tf32":
        _to_tf32(op, kernel)
        return
    if word(op, "rounding_mode", "nearest_even") != "nearest_even":
        check_rounding(op)
    elementwise(op, kernel, lambda x: float_resized(kernel, x, type_))


def float_resized(kernel: Kernel, value: SSAValue, type_: Attribute) -> SSAValue:
    """A float in another format, rounded once to nearest."""
    own = value.type
    assert isinstance(own, AnyFloat) and isinstance(type_, AnyFloat)
    if own == type_:
        return value
    if own.bitwidth < type_.bitwidth:
        return kernel.emit(arith.ExtFOp, [value], type_)
    if own.bitwidth == type_.bitwidth:
        # Between f16 and bf16, or the two of 8 bits: through what holds both.
        wide = Float32Type() if own.bitwidth == 16 else Float16Type()
        value = kernel.emit(arith.ExtFOp, [value], wide)
    return kernel.emit(arith.TruncFOp, [value], type_)


def _to_tf32(op: conversions.FToFOp, kernel: Kernel) -> None:
    """The 10 highest bits of an f32's fraction, rounded on bits: numbers alone."""
    rounding = word(op, "rounding_mode", "nearest_even")
    if rounding not in ("nearest_even", "nearest_away") or shown(element_of(op.from_)) == "f64":
        raise OpError(
            op, f"'{op.name}' of {shown(element_of(op.from_))} to tf32 with rounding<{rounding}> "
            "has no lowering to cute; nearest legal: of f32 with rounding<nearest_even>",
        )  # fmt: skip
    f32, word32 = Float32Type(), IntegerType(32)

    def compute(x: SSAValue) -> SSAValue:
        x = float_resized(kernel, x, f32)
        bits = kernel.emit(arith.BitcastOp, [x], word32)
        more = kernel.constant(0x1000, word32)
        if rounding == "nearest_even":
            # Half a unit, less one, plus the last bit that stays.
            last = on_integers(kernel, arith.ShRUIOp, bits, kernel.constant(13, word32))
            last = on_integers(kernel, arith.AndIOp, last, kernel.constant(1, word32))
            more = on_integers(kernel, arith.AddiOp, last, kernel.constant(0xFFF, word32))
        rounded = on_integers(kernel, arith.AddiOp, bits, more)
        rounded = on_integers(kernel, arith.AndIOp, rounded, kernel.constant(0xFFFFE000, word32))
        magnitude = on_integers(kernel, arith.AndIOp, bits, kernel.constant(0x7FFFFFFF, word32))
        finite = kernel.emit(
            arith.CmpiOp, [magnitude, kernel.constant(0x7F800000, word32)], i1,
            predicate=IntegerAttr(6, i64),
        )  # fmt: skip
        return kernel.emit(arith.BitcastOp, [kernel.emitter.select(finite, rounded, bits)], f32)

    elementwise(op, kernel, compute)


@lowers(conversions.BitcastOp)
def _bitcast(op: conversions.BitcastOp, kernel: Kernel) -> None:
    source, type_ = kernel.scalar_type(op, op.source), kernel.scalar_type(op, op.result)
    if source == type_:
        elementwise(op, kernel, lambda x: x)
        return
    elementwise(op, kernel, lambda x: kernel.emit(arith.BitcastOp, [x], type_))


@lowers(conversions.IntToPtrOp, conversions.PtrToIntOp, conversions.PtrToPtrOp, AssumeOp)
def _same(op: Operation, kernel: Kernel) -> None:
    if isinstance(op.results[0].type, TileType):
        kernel[op.results[0]] = kernel[op.operands[0]]


_STEPS = 6
"""The steps of the remainder: each takes 52 bits off a quotient of up to 277."""


@lowers(RemFOp)
def _remainder(op: RemFOp, kernel: Kernel) -> None:
    """x - trunc(x / y) y, exactly: in f64 each step is exact, and at most one y too much."""
    type_, wide = kernel.scalar_type(op, op.result), Float64Type()
    if type_ == wide:
        raise OpError(op, f"'{op.name}' of f64 has no lowering to cute; nearest legal: of f32")

    def compute(x: SSAValue, y: SSAValue) -> SSAValue:
        left, by = (
            on_floats(kernel, math.AbsFOp, float_resized(kernel, value, wide)) for value in (x, y)
        )
        rest = left
        for _ in range(_STEPS):
            times = on_floats(kernel, math.TruncOp, on_floats(kernel, arith.DivfOp, rest, by))
            minus = on_floats(kernel, arith.NegfOp, times)
            rest = on_floats(kernel, math.FmaOp, minus, by, rest)
        zero, endless = kernel.constant(0.0, wide), kernel.constant(float("inf"), wide)
        more = on_floats(kernel, arith.AddfOp, rest, by)
        rest = kernel.emitter.select(_less(kernel, rest, zero), more, rest)
        # Of an infinite divisor a finite dividend is all that is left.
        plain = _less(kernel, left, endless)
        plain = kernel.emitter.binary("and", plain, _is_equal(kernel, by, endless))
        rest = kernel.emitter.select(plain, left, rest)
        rest = float_resized(kernel, rest, type_)
        return on_floats(kernel, math.CopySignOp, rest, x)

    elementwise(op, kernel, compute)


def _less(kernel: Kernel, x: SSAValue, y: SSAValue) -> SSAValue:
    number = IntegerAttr(RELATIONS["less_than"][2], i64)
    return kernel.emit(arith.CmpfOp, [x, y], i1, predicate=number, fastmath=EXACT)


def _is_equal(kernel: Kernel, x: SSAValue, y: SSAValue) -> SSAValue:
    number = IntegerAttr(RELATIONS["equal"][2], i64)
    return kernel.emit(arith.CmpfOp, [x, y], i1, predicate=number, fastmath=EXACT)
