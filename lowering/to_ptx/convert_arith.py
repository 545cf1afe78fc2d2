"""`arith` and `math` on scalars to `ptx`: an instruction, or a program of them."""

from typing import Any, TypeGuard

from xdsl.dialects import arith, ub
from xdsl.dialects.builtin import BFloat16Type, Float16Type, IndexType, i16
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE
from tilewright.dialects.cute_nvgpu.ops.rounded import RoundedOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.math_functions.code import Value, results_of
from tilewright.dialects.math_functions.rounded_once import EXTREMES, ON_BITS, half_quotient
from tilewright.dialects.ptx import scalars
from tilewright.dialects.ptx.constant_bits import constant_bits
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.dialects.ptx.registers import MovOp, UndefOp
from tilewright.dialects.ptx.scalar_types import (
    ScalarType,
    register_type,
    scalar_type,
    stored_type,
    type_name,
)
from tilewright.dialects.ptx.scalars import CvtOp
from tilewright.dialects.ptx.types import RegType, reg
from tilewright.dialects.scalar_programs import (
    INSTRUCTIONS,
    PROGRAMS,
    is_reciprocal,
    narrowed,
    operand,
    reciprocal,
    rounded,
    times_reciprocal,
    type_of,
)
from tilewright.lowering.to_ptx.conversion import Conversion, constant, lowers
from tilewright.lowering.to_ptx.convert_llvm import fields_of
from tilewright.lowering.to_ptx.known_bits import possible_bits
from tilewright.lowering.to_ptx.programs import Emitted, element, emitted, listed
from tilewright.source.diagnostic import OpError

_ONE = 0x3F800000
"""1.0 as f32."""
_FACTORS = {"add": 0x3F80, "sub": 0xBF80, "mul": 0x8000}
"""Sums, differences and products of bf16 as `fma`, which more targets have: a + 1 b, a - 1 b and
a b - 0, the words of these numbers."""


def scalar(op: Operation, type_: Attribute) -> ScalarType:
    """How the type is held. Raises OpError where it does not lower."""
    storage = scalar_type(type_)
    if storage is None:
        raise OpError(
            op,
            f"'{op.name}' on {type_} has no lowering to ptx; nearest legal: i1, i8, i16, i32, i64, "
            "index, f16, bf16, f32, f64",
        )
    return storage


def storage_of(op: Operation, type_: Attribute) -> ScalarType:
    """How the type is held, f8 too. Raises OpError where it does not lower."""
    return stored_type(type_) or scalar(op, type_)


# Constants


@lowers
def _constant(op: arith.ConstantOp, to: Conversion) -> SSAValue:
    storage = storage_of(op, op.result.type)
    bits = constant_bits(op.value)
    if bits is None:
        raise OpError(op, f"'{op.name}' expected an integer or a float, got {op.value}")
    if storage.kind == "pred":
        return known_predicate(bool(bits), to)
    else:
        return to.const(bits, storage.kind)


def known_predicate(value: bool, to: Conversion) -> SSAValue:
    """A predicate that is the same in all threads."""
    zero = to.const(0, "b32")
    return to.scalar(scalars.SetpOp, "eq.s32" if value else "ne.s32", zero, zero)


@lowers
def _poison(op: ub.PoisonOp, to: Conversion) -> SSAValue:
    def undefined(type_: Attribute) -> SSAValue:
        registers = register_type(type_)
        if registers is None:
            raise OpError(op, f"'{op.name}' of {op.result.type} has no lowering to ptx")
        return to.emit(UndefOp(registers))

    return fields_of(op.result.type, undefined)


# Programs


@lowers(*PROGRAMS)
def _program(op: Operation, to: Conversion) -> list[SSAValue]:
    if isinstance(op, _ROUNDED_DIVISIONS) and (quotient := _shifted(op, to)) is not None:
        return [quotient]
    leaf = Emitted(to)
    given: list[Value] = []
    for source in op.operands:
        name = type_of(op, source.type)
        if name is None or stored_type(source.type) is None:
            scalar(op, source.type)
        given.append(Value(leaf, to[source], name or ""))
    for result in op.results:
        if type_of(op, result.type) is None or stored_type(result.type) is None:
            scalar(op, result.type)
    return [value.handle for value in results_of(PROGRAMS[type(op)], op, *given)]


_ROUNDED_DIVISIONS = arith.FloorDivSIOp, arith.CeilDivSIOp, arith.CeilDivUIOp


def _shifted(op: Any, to: Conversion) -> SSAValue | None:
    """The quotient by a power of two, rounded down by a shift, and up by one where bits were lost;
    None by others, and of fewer than 32 bits."""
    a, extent, width = to[op.lhs], constant(to[op.rhs]), scalar(op, op.result.type).bits
    if width < 32 or not _is_power(extent, width - 1):
        return None
    unsigned, shift = isinstance(op, arith.CeilDivUIOp), to.const(extent.bit_length() - 1, "b32")
    quotient = to.scalar(scalars.ShrOp, f"{'u' if unsigned else 's'}{width}", a, shift)
    if isinstance(op, arith.FloorDivSIOp):
        return quotient
    kind = f"b{width}"
    lost = to.scalar(scalars.AndOp, kind, a, to.const(extent - 1, kind))
    more = to.scalar(scalars.MinOp, f"u{width}", lost, to.const(1, kind))
    return to.plus(quotient, more, f"u{width}")


def _is_power(extent: int | None, bits: int) -> TypeGuard[int]:
    """True of a power of two below that of so many bits."""
    return extent is not None and 0 < extent < 1 << bits and not extent & (extent - 1)


# Instructions


def extended(value: SSAValue, storage: ScalarType, letter: str, to: Conversion) -> SSAValue:
    """The value with the bits above an i8 filled in: with its sign (`s`) or zeros (`u`)."""
    if storage.bits != 8:
        return value
    return Emitted(to).instruction("cvt", f"{letter}16.{letter}8", value)


_READING_ABOVE = ("div", "rem", "min", "max", "shr")
"""Instructions that read the bits above an i8."""


@lowers(*INSTRUCTIONS)
def _instruction(op: arith.AddiOp, to: Conversion) -> SSAValue:
    mnemonic, prefix, letter = INSTRUCTIONS[type(op)]
    if not letter:
        return _float(op, mnemonic, prefix, to)
    storage = scalar(op, op.result.type)
    a, b = to[op.lhs], to[op.rhs]
    if storage.kind == "pred":
        return emitted(ON_BITS[op.name], "pred", (a, b), to)
    type_ = f"{letter}{storage.width}"
    if mnemonic in _READING_ABOVE:
        a = extended(a, storage, letter, to)
    if mnemonic in ("shl", "shr"):
        b = _amount(extended(b, storage, "u", to), storage.width, to)
    elif mnemonic in _READING_ABOVE:
        b = extended(b, storage, letter, to)
    if mnemonic == "add":
        return to.plus(a, b, type_)
    elif mnemonic == "mul" and (known := constant(b)) is not None:
        return to.times(a, known, type_)
    elif mnemonic in ("div", "rem"):
        return divide(scalars.SCALAR_OPS[mnemonic], a, b, type_, to)
    else:
        return to.scalar(scalars.SCALAR_OPS[mnemonic], f"{prefix}{type_}", a, b)


def _amount(value: SSAValue, width: int, to: Conversion) -> SSAValue:
    """The amount of a shift in 32 bits."""
    if width == 32:
        return value
    if (known := constant(value)) is not None:
        return to.const(known if width == 16 or 0 <= known < 64 else 64, "b32")
    if width == 64:
        # What is above 64 stays above it.
        value = to.scalar(scalars.MinOp, "u64", value, to.const(64, "b64"))
    return to.scalar(CvtOp, f"u32.u{width}", value)


def divide(
    instruction: type[ScalarOp], a: SSAValue, b: SSAValue, type_: str, to: Conversion
) -> SSAValue:
    """Quotient or remainder: by a power of two, a shift or a mask, which ptxas does not make. Of
    signed numbers those below zero are rounded up first."""
    extent, kind, width = constant(b), f"b{type_[1:]}", int(type_[1:])
    signed = type_[0] == "s"
    if not _is_power(extent, width - signed):
        return to.scalar(instruction, type_, a, b)
    if (known := constant(a)) is not None and known >= 0:
        result = known // extent if instruction is scalars.DivOp else known % extent
        return to.const(result, kind)
    whole, low = a, extent - 1
    if signed and low and possible_bits(a, {}) >> (width - 1):
        sign = to.scalar(scalars.ShrOp, type_, a, to.const(width - 1, "b32"))
        shift = to.const(width - low.bit_length(), "b32")
        whole = to.plus(a, to.scalar(scalars.ShrOp, f"u{width}", sign, shift), type_)
    if instruction is scalars.DivOp:
        return to.scalar(scalars.ShrOp, type_, whole, to.const(low.bit_length(), "b32"))
    if whole is a:
        return to.scalar(scalars.AndOp, kind, a, to.const(low, kind))
    whole = to.scalar(scalars.AndOp, kind, whole, to.const(-extent, kind))
    return to.scalar(scalars.SubOp, type_, a, whole)


def _float(op: Operation, mnemonic: str, prefix: str, to: Conversion) -> SSAValue:
    type_, (a, b) = op.results[0].type, (to[operand] for operand in op.operands)
    if is_reciprocal(op):
        if constant(a) == _ONE:
            return emitted(reciprocal, "f32", (b,), to)
        return emitted(times_reciprocal, "f32", (a, b), to)
    instruction, name = scalars.SCALAR_OPS[mnemonic], type_name(type_) or ""
    if not name:
        scalar(op, type_)
    form = instruction.ROW.forms.get(f"{prefix}{name}")
    if form is not None and (form.requirement == BASELINE or name in ("f32", "f64")):
        return to.scalar(instruction, f"{prefix}{name}", a, b)
    if name == "bf16" and mnemonic in _FACTORS:
        factor, is_product = to.const(_FACTORS[mnemonic], "b16"), mnemonic == "mul"
        return to.scalar(
            scalars.FmaOp, "rn.bf16", *((a, b, factor) if is_product else (b, factor, a))
        )
    if name == "f64":
        return emitted(EXTREMES[op.name], name, (a, b), to)

    def single(x: Value, y: Value) -> Value:
        x, y = operand(x), operand(y)
        if (mnemonic, name) == ("div", "f16"):
            return narrowed(half_quotient(x, y), name)
        return rounded(x.do(mnemonic, f"{prefix}f32", y), name, mnemonic)

    return emitted(single, name, (a, b), to)


@lowers
def _rounded(op: RoundedOp, to: Conversion) -> SSAValue:
    name, form = op.instruction
    return to.scalar(scalars.SCALAR_OPS[name], form, *(to[operand] for operand in op.operands))


# Selection


@lowers
def _select(op: arith.SelectOp, to: Conversion) -> SSAValue:
    condition, a, b = to[op.cond], to[op.lhs], to[op.rhs]
    if isinstance(op.result.type, FragmentType):
        return _select_list(condition, a, b, to)
    storage = storage_of(op, op.result.type)
    if storage.kind == "pred":
        inverse = to.scalar(scalars.NotOp, "pred", condition)
        kept = to.scalar(scalars.AndOp, "pred", a, condition)
        other = to.scalar(scalars.AndOp, "pred", b, inverse)
        return to.scalar(scalars.OrOp, "pred", kept, other)
    else:
        return to.scalar(scalars.SelpOp, storage.kind, a, b, condition)


def _select_list(condition: SSAValue, a: SSAValue, b: SSAValue, to: Conversion) -> SSAValue:
    type_ = a.type
    assert isinstance(type_, RegType)
    parts = [
        to.scalar(scalars.SelpOp, type_.kind.data, element(a, i, to), element(b, i, to), condition)
        for i in range(type_.count.data)
    ]
    return listed(parts, to)


@lowers
def _bitcast(op: arith.BitcastOp, to: Conversion) -> SSAValue:
    source, result = storage_of(op, op.input.type), storage_of(op, op.result.type)
    if isinstance(op.input.type, IndexType) or source.bits != result.bits:
        raise OpError(op, f"'{op.name}' expected types of equal width")
    value = to[op.input]
    # What a driver's own compiler takes for a float it stores the lowest byte of as an integer.
    half = isinstance(op.input.type, Float16Type | BFloat16Type) and op.result.type == i16
    if source.kind == result.kind and not half:
        return value
    else:
        return to.pure(MovOp, value, reg(result.kind))
