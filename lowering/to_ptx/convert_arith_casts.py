"""`arith` casts to `ptx`."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, Float16Type, IndexType, IntegerAttr, i16

from tilewright.diagnostic import OpError
from tilewright.dialects.math_functions.rounded_once import odd_single, odd_whole
from tilewright.dialects.once import once_each
from tilewright.dialects.ptx import scalars
from tilewright.dialects.ptx.registers import MovOp, UnpackOp
from tilewright.dialects.ptx.scalar_types import NARROW_FLOATS, scalar_type
from tilewright.dialects.ptx.scalars import CvtOp
from tilewright.dialects.ptx.types import reg
from tilewright.lowering.to_ptx.conversion import Conversion, constant, lowers, signed
from tilewright.lowering.to_ptx.convert_arith import (
    element,
    extended,
    lowest_bit,
    scalar,
    storage_of,
)
from tilewright.lowering.to_ptx.convert_arith_floats import (
    BF16,
    F16,
    F64,
    float_type,
    narrowed,
    widened,
)
from tilewright.lowering.to_ptx.programs import emitted

_narrow = once_each(NARROW_FLOATS.get)


@lowers(arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)
def _cast_integer(
    op: arith.IndexCastOp | arith.ExtSIOp | arith.ExtUIOp | arith.TruncIOp, to: Conversion
) -> None:
    source, result = scalar(op, op.input.type), scalar(op, op.result.type)
    letter = "u" if isinstance(op, arith.ExtUIOp) else "s"
    value = to[op.input]
    if source.kind == "pred":
        one = -1 if letter == "s" else 1
        pair = to.const(one, result.kind), to.const(0, result.kind)
        to[op.result] = to.scalar(scalars.SelpOp, result.kind, *pair, value)
    elif result.kind == "pred":
        to[op.result] = lowest_bit(value, source.kind, to)
    elif (known := constant(value)) is not None:
        # A folded i8 may have more than its 8 bits.
        known = signed(known, source.bits) if letter == "s" else known % (1 << source.bits)
        to[op.result] = to.const(known, result.kind)
    else:
        value = extended(value, source, letter, to) if result.bits > 8 else value
        same = source.width == result.width
        form = f"{letter}{result.width}.{letter}{source.width}"
        to[op.result] = value if same else to.scalar(CvtOp, form, value)


@lowers(arith.SIToFPOp, arith.UIToFPOp)
def _integer_to_float(op: arith.SIToFPOp | arith.UIToFPOp, to: Conversion) -> None:
    source, type_ = scalar(op, op.input.type), op.result.type
    scalar(op, type_)
    letter = "s" if isinstance(op, arith.SIToFPOp) else "u"
    value = to[op.input]
    if source.kind == "pred":
        one = to.const(-1 if letter == "s" else 1, "b32")
        value = to.scalar(scalars.SelpOp, "b32", one, to.const(0, "b32"), value)
        source = scalar_type(IntegerAttr(0, 32).type) or source
    value = extended(value, source, letter, to)
    if type_ != BF16:
        to[op.result] = to.scalar(CvtOp, f"rn.{type_}.{letter}{source.width}", value)
        return
    if source.width > 16:
        wide = emitted(odd_whole, f"{letter}{source.width}", (value,), to)
    else:
        wide = to.scalar(CvtOp, f"rn.f32.{letter}{source.width}", value)
    to[op.result] = narrowed(wide, type_, to)


@lowers(arith.FPToSIOp, arith.FPToUIOp)
def _float_to_integer(op: arith.FPToSIOp | arith.FPToUIOp, to: Conversion) -> None:
    type_, result = op.input.type, scalar(op, op.result.type)
    scalar(op, type_)
    letter = "s" if isinstance(op, arith.FPToSIOp) else "u"
    value = widened(to[op.input], type_, to)
    form = f"rzi.{letter}{result.width}.{float_type(type_)}"
    whole = to.scalar(CvtOp, form, value)
    to[op.result] = lowest_bit(whole, "b16", to) if result.kind == "pred" else whole


@lowers(arith.ExtFOp)
def _extend_float(op: arith.ExtFOp, to: Conversion) -> None:
    storage_of(op, op.input.type)
    scalar(op, op.result.type)
    wide = op.result.type == F64
    value, source = to[op.input], op.input.type
    if (narrow := _narrow(source)) is not None:
        pair = to.scalar(CvtOp, f"rn.f16x2.{narrow}x2", value)
        halves = to.pure((UnpackOp, pair), (pair,), lambda: UnpackOp(pair))
        value = element(halves, 0, to)
        source = F16
    if source == F16 and op.result.type == F16:
        to[op.result] = value
    elif wide and source == F16:
        # Through f32 a NaN would lose its payload.
        to[op.result] = to.scalar(CvtOp, "f64.f16", value)
    else:
        value = widened(value, source, to)
        value = narrowed(value, op.result.type, to)
        to[op.result] = to.scalar(CvtOp, "f64.f32", value) if wide else value


@lowers(arith.TruncFOp)
def _truncate_float(op: arith.TruncFOp, to: Conversion) -> None:
    source, type_ = op.input.type, op.result.type
    scalar(op, source)
    storage_of(op, type_)
    value, narrow = to[op.input], _narrow(type_)
    wide = float_type(source) == "f64"
    if wide and (type_ == BF16 or narrow is not None):
        value = emitted(odd_single, "f64", (value,), to)
    elif wide:
        to[op.result] = to.scalar(CvtOp, f"rn.{type_}.f64", value)
        return
    else:
        value = widened(value, source, to)
    if narrow is not None:
        # The value is the lower half of a pair.
        form = f"rn.satfinite.{narrow}x2.f32"
        to[op.result] = to.scalar(CvtOp, form, to.const(0, "f32"), value)
    else:
        to[op.result] = narrowed(value, type_, to)


@lowers(arith.BitcastOp)
def _bitcast(op: arith.BitcastOp, to: Conversion) -> None:
    source, result = storage_of(op, op.input.type), storage_of(op, op.result.type)
    if isinstance(op.input.type, IndexType) or source.bits != result.bits:
        raise OpError(op, f"'{op.name}' expected types of equal width")
    value = to[op.input]
    # What a driver's own compiler takes for a float it stores the lowest byte of as an integer.
    half = isinstance(op.input.type, Float16Type | BFloat16Type) and op.result.type == i16
    if source.kind == result.kind and not half:
        to[op.result] = value
    else:
        moved = reg(result.kind)
        to[op.result] = to.pure((MovOp, value, moved), (value,), lambda: MovOp(value, moved))
