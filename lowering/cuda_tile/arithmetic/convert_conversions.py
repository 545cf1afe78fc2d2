"""Conversions between element types: widths, integers and floats, bits as they are; and the
remainder of floats, which goes through a wider one."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    IntegerAttr,
    IntegerType,
    f32,
    f64,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cuda_tile.element_types import I4, WIDE_FLOATS, Float8E5M3FNUType
from tilewright.dialects.cuda_tile.ops import conversions
from tilewright.dialects.cuda_tile.ops.elementwise import BinaryFloat
from tilewright.dialects.cuda_tile.ops.floating_point import RemFOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.operation import is_signed, word
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.atoms.conversion import find_conversion
from tilewright.dialects.cute_nvgpu.ops.fragment_arithmetic import ConvertOp
from tilewright.dialects.cute_nvgpu.types.conversion import ConvertAttr
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import (
    RELATIONS,
    ThreadWord,
    bitcast,
    compared_floats,
    elementwise,
    on_floats,
    on_integers,
    resized,
)
from tilewright.lowering.cuda_tile.arithmetic.float_remainder import remainder64
from tilewright.lowering.cuda_tile.arithmetic.narrow_floats import (
    DIRECTIONS,
    NARROW,
    POWERS,
    decoded,
    encoded,
    stepped,
)
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile
from tilewright.lowering.emit.registers import extracted, from_elements
from tilewright.passes.cuda_tile.analysis.loaded_operands import (
    is_cut_by_products,
    is_rounded_for_products,
)
from tilewright.passes.cuda_tile.layouts.elements import element_of
from tilewright.source.diagnostic import OpError


@lowers
def _resize(op: conversions.ExtIOp | conversions.TruncIOp, kernel: EntryLowering) -> None:
    kernel.scalar_type(op, op.from_)
    type_ = kernel.scalar_type(op, op.to)
    signed = isinstance(op, conversions.TruncIOp) or is_signed(op)
    kind: type[Operation] = arith.TruncIOp
    if isinstance(op, conversions.ExtIOp):
        kind = arith.ExtSIOp if signed else arith.ExtUIOp
    narrowed = kind is arith.TruncIOp and element_of(op.to) == I4

    def compute(x: SSAValue) -> SSAValue:
        if element_of(op.from_) == I4 and not signed:
            x = half_octet(kernel, x, signed=False)
        x = resized(kernel, kind, x, type_)
        return half_octet(kernel, x, signed=True) if narrowed else x

    elementwise(op, kernel, compute)


def half_octet(kernel: EntryLowering, octet: SSAValue, *, signed: bool) -> SSAValue:
    """The low 4 bits of 8, with their sign or zeros above."""
    high = ThreadWord(kernel, octet) << 4
    back: type[Operation] = arith.ShRSIOp if signed else arith.ShRUIOp
    return on_integers(kernel, back, high.value, high.like(4).value)


@lowers
def _integer_to_float(op: conversions.IToFOp, kernel: EntryLowering) -> None:
    type_ = kernel.scalar_type(op, op.to)
    kind = arith.SIToFPOp if is_signed(op) else arith.UIToFPOp
    to = element_of(op.to)
    if to in WIDE_FLOATS:
        elementwise(op, kernel, lambda x: kernel.emit(kind, [x], type_))
        return
    _check_known(op, to)
    # An f64 has every integer below the largest number of 8 bits; tf32 has 11 bits.
    wide = f64

    def compute(x: SSAValue) -> SSAValue:
        whole = kernel.emit(kind, [x], wide)
        return float_converted(kernel, whole, wide, to)

    elementwise(op, kernel, compute)


@lowers
def _float_to_integer(op: conversions.FToIOp, kernel: EntryLowering) -> None:
    """Beyond the range the nearest integer of the type, and 0 for NaN."""
    kernel.scalar_type(op, op.from_)
    type_: Any = kernel.scalar_type(op, op.to)
    signed = is_signed(op)
    kind = arith.FPToSIOp if signed else arith.FPToUIOp
    width = int(type_.bitwidth)
    wide: Attribute = type_ if width >= 32 else IntegerType(32)

    def compute(x: SSAValue) -> SSAValue:
        if element_of(op.from_) not in WIDE_FLOATS:
            x = float_converted(kernel, x, element_of(op.from_), f32)
        if op.is_truth:
            is_zero = compared_floats(kernel, "equal", x, kernel.constant(0.0, x.type))
            return on_integers(kernel, arith.XOrIOp, is_zero, kernel.constant(1, i1))
        is_number = compared_floats(kernel, "equal", x, x)
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


@lowers
def _float_to_float(op: conversions.FToFOp, kernel: EntryLowering) -> None:
    source, to = element_of(op.from_), element_of(op.to)
    rounding = word(op, "rounding_mode", "nearest_even")
    _check_known(op, to)
    tile = kernel[op.from_]
    if isinstance(tile, SharedTile) and tile.rounded:
        kernel[op.to] = tile
        return
    if is_cut_by_products(op):
        elementwise(op, kernel, lambda x: x)
        return
    rounds = kernel.arch is not None and kernel.arch.number >= _TF32_SINCE
    if rounds and is_rounded_for_products(op):
        elementwise(op, kernel, lambda x: _for_products(kernel, x))
        return
    width, wanted = (x.bitwidth if x in WIDE_FLOATS else 0 for x in (source, to))  # type: ignore[attr-defined]
    if 0 < width < wanted:
        elementwise(op, kernel, kernel.emits(arith.ExtFOp, to))
    elif width > wanted > 0 and rounding not in DIRECTIONS:
        elementwise(op, kernel, kernel.emits(arith.TruncFOp, to))
    else:
        elementwise(op, kernel, lambda x: float_converted(kernel, x, source, to, rounding))


_TF32_SINCE = 90
"""The first target whose `cvt` rounds to tf32 as Tile IR does."""


def _for_products(kernel: EntryLowering, value: SSAValue) -> SSAValue:
    """An f32 rounded to tf32 by one instruction. NaN is another one."""
    one = FragmentType.get(1, value.type)
    fragment = from_elements([value], one, kernel.emitter)
    convert = ConvertOp(fragment, one, atom=ConvertAttr(find_conversion("rn.tf32.f32")))
    return extracted(kernel.emitter.emit(convert), 0, kernel.emitter)


def _check_known(op: Operation, to: Attribute) -> None:
    """Raise OpError where nobody has said how numbers are rounded."""
    if isinstance(to, Float8E5M3FNUType):
        raise OpError(op, f"'{op.name}' expected a result whose rounding is known, got {shown(to)} "
                      "(a preview); nearest legal: f8E4M3FN")  # fmt: skip


def float_converted(
    kernel: EntryLowering, value: SSAValue, source: Attribute, to: Attribute,
    rounding: str = "nearest_even",
) -> SSAValue:  # fmt: skip
    """A float of one element type as one of another, rounded once."""
    if source == POWERS or (source in NARROW and value.type == i8):
        value = decoded(kernel, value, source)
    if to == POWERS:
        return encoded(kernel, float_resized(kernel, value, f64), to, up=rounding != "zero")
    if shown(to) == "tf32":
        return _to_tf32(kernel, value, rounding)
    if to in NARROW and not isinstance(to, Float8E4M3FNType | Float8E5M2Type):
        return encoded(
            kernel, value if value.type == f64 else float_resized(kernel, value, f32), to
        )
    rounded = float_resized(kernel, value, to)
    exact = value.type.bitwidth < to.bitwidth  # type: ignore[attr-defined]
    if rounding not in DIRECTIONS or exact or rounded.type == value.type:
        return rounded
    wide = f64 if value.type == f64 else f32
    was, became = (float_resized(kernel, x, wide) for x in (value, rounded))
    return stepped(kernel, rounded, *_beside(kernel, became, was), rounding)


def _beside(kernel: EntryLowering, became: SSAValue, was: SSAValue) -> tuple[SSAValue, SSAValue]:
    """True where a rounded float is above what was rounded, and below."""
    above = compared_floats(kernel, "greater_than", became, was)
    return above, compared_floats(kernel, "greater_than", was, became)


def float_resized(kernel: EntryLowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """A float in another format, rounded once to nearest."""
    own, octets = value.type, (Float8E4M3FNType, Float8E5M2Type)
    assert isinstance(own, AnyFloat) and isinstance(type_, AnyFloat)
    if own == type_:
        return value
    converts = kernel.arch is None or kernel.arch.number >= _FP8_SINCE
    if isinstance(own, octets) and not converts:
        value = decoded(kernel, bitcast(kernel, value, i8), own)
        return float_resized(kernel, value, type_)
    if isinstance(type_, octets) and not converts:
        wide = value if own == f64 else float_resized(kernel, value, f32)
        return bitcast(kernel, encoded(kernel, wide, type_), type_)
    if own.bitwidth < type_.bitwidth:
        return kernel.emit(arith.ExtFOp, [value], type_)
    if own.bitwidth == type_.bitwidth:
        # Between f16 and bf16, or the two of 8 bits: through what holds both.
        wide = f32 if own.bitwidth == 16 else Float16Type()
        value = kernel.emit(arith.ExtFOp, [value], wide)
    return kernel.emit(arith.TruncFOp, [value], type_)


_FP8_SINCE = 89
"""The first target that converts floats of 8 bits."""


def _to_tf32(kernel: EntryLowering, value: SSAValue, rounding: str) -> SSAValue:
    """The 10 highest bits of an f32's fraction, rounded on bits: numbers alone."""
    wide = value if value.type == f64 else None
    lost: SSAValue | None = None
    value = float_resized(kernel, value, f32)
    if wide is not None:
        # Rounded to zero, and a last bit that says that there is more.
        sides = _beside(kernel, float_resized(kernel, value, wide.type), wide)
        value = stepped(kernel, value, *sides, "zero")
        lost = on_integers(kernel, arith.OrIOp, *sides)
    bits = ThreadWord.of(kernel, value, i32)
    if lost is not None:
        bits |= ThreadWord(kernel, kernel.emit(arith.ExtUIOp, [lost], i32))
    more: ThreadWord | int = 0 if rounding == "zero" else 0x1000
    if rounding == "nearest_even":
        # Half a unit, less one, plus the last bit that stays.
        more = (bits >> 13 & 1) + 0xFFF
    rounded = bits + more & 0xFFFFE000
    magnitude = bits & 0x7FFFFFFF
    finite = kernel.emit(
        arith.CmpiOp, [magnitude.value, magnitude.like(0x7F800000).value], i1,
        predicate=IntegerAttr(RELATIONS["less_than"][1], i64),
    )  # fmt: skip
    return bits.where(finite, rounded).to(f32)


@lowers
def _bitcast(op: conversions.BitcastOp, kernel: EntryLowering) -> None:
    kernel.scalar_type(op, op.source)
    type_ = kernel.scalar_type(op, op.result)
    elementwise(op, kernel, lambda x: bitcast(kernel, x, type_))


@lowers(conversions.IntToPtrOp, conversions.PtrToIntOp, conversions.PtrToPtrOp, AssumeOp)
def _same(op: Operation, kernel: EntryLowering) -> None:
    if isinstance(op.results[0].type, TileType):
        kernel[op.results[0]] = kernel[op.operands[0]]


_STEPS = 6
"""The steps of the remainder: each takes 52 bits off a quotient of up to 277."""


@lowers(RemFOp)
def _remainder(op: BinaryFloat, kernel: EntryLowering) -> None:
    """x - trunc(x / y) y, exactly: in f64 each step is exact, and at most one y too much."""
    type_, wide = kernel.scalar_type(op, op.result), f64
    if type_ == wide:
        elementwise(op, kernel, lambda x, y: remainder64(kernel, x, y))
        return

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
        rest = kernel.emitter.select(compared_floats(kernel, "less_than", rest, zero), more, rest)
        # Of an infinite divisor a finite dividend is all that is left.
        plain = compared_floats(kernel, "less_than", left, endless)
        is_endless = compared_floats(kernel, "equal", by, endless)
        plain = kernel.emitter.binary("and", plain, is_endless)
        rest = kernel.emitter.select(plain, left, rest)
        rest = float_resized(kernel, rest, type_)
        return on_floats(kernel, math.CopySignOp, rest, x)

    elementwise(op, kernel, compute)
