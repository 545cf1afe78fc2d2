"""`arith` to `ptx`: constants, integers, selection."""

from xdsl.dialects import arith, ub
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.diagnostic import OpError
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.math_functions.rounded_once import ON_BITS
from tilewright.dialects.ptx import scalars
from tilewright.dialects.ptx.constant_bits import constant_bits
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.dialects.ptx.registers import ListGetOp, ListMakeOp, UndefOp
from tilewright.dialects.ptx.scalar_types import ScalarType, register_type, scalar_type, stored_type
from tilewright.dialects.ptx.scalars import CvtOp
from tilewright.dialects.ptx.types import RegType
from tilewright.lowering.to_ptx.conversion import Conversion, constant, lowers
from tilewright.lowering.to_ptx.convert_llvm import fields_of
from tilewright.lowering.to_ptx.programs import emitted


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


@lowers(arith.ConstantOp)
def _constant(op: arith.ConstantOp, to: Conversion) -> None:
    storage = storage_of(op, op.result.type)
    bits = constant_bits(op.value)
    if bits is None:
        raise OpError(op, f"'{op.name}' expected an integer or a float, got {op.value}")
    if storage.kind == "pred":
        to[op.result] = known_predicate(bool(bits), to)
    else:
        to[op.result] = to.const(bits, storage.kind)


def known_predicate(value: bool, to: Conversion) -> SSAValue:
    """A predicate that is the same in all threads."""
    zero = to.const(0, "b32")
    return to.scalar(scalars.SetpOp, "eq.s32" if value else "ne.s32", zero, zero)


@lowers(ub.PoisonOp)
def _poison(op: ub.PoisonOp, to: Conversion) -> None:
    def undefined(type_: Attribute) -> SSAValue:
        registers = register_type(type_)
        if registers is None:
            raise OpError(op, f"'{op.name}' of {op.result.type} has no lowering to ptx")
        return to.emit(UndefOp(registers))

    to[op.result] = fields_of(op.result.type, undefined)


# Integers

# (instruction, prefix of the form, letter of the type, whether it reads the bits above an i8)
_INTEGER: dict[type[Operation], tuple[type[ScalarOp], str, str, bool]] = {
    arith.AddiOp: (scalars.AddOp, "", "s", False),
    arith.SubiOp: (scalars.SubOp, "", "s", False),
    arith.MuliOp: (scalars.MulOp, "lo.", "s", False),
    arith.DivSIOp: (scalars.DivOp, "", "s", True),
    arith.DivUIOp: (scalars.DivOp, "", "u", True),
    arith.RemSIOp: (scalars.RemOp, "", "s", True),
    arith.RemUIOp: (scalars.RemOp, "", "u", True),
    arith.MinSIOp: (scalars.MinOp, "", "s", True),
    arith.MinUIOp: (scalars.MinOp, "", "u", True),
    arith.MaxSIOp: (scalars.MaxOp, "", "s", True),
    arith.MaxUIOp: (scalars.MaxOp, "", "u", True),
    arith.AndIOp: (scalars.AndOp, "", "b", False),
    arith.OrIOp: (scalars.OrOp, "", "b", False),
    arith.XOrIOp: (scalars.XorOp, "", "b", False),
}
_SHIFTS: dict[type[Operation], tuple[type[ScalarOp], str]] = {
    arith.ShLIOp: (scalars.ShlOp, "b"),
    arith.ShRUIOp: (scalars.ShrOp, "u"),
    arith.ShRSIOp: (scalars.ShrOp, "s"),
}
# On one bit, addition and subtraction are exclusive or, multiplication is and.
_PREDICATE: dict[type[Operation], type[ScalarOp]] = {
    arith.AddiOp: scalars.XorOp,
    arith.SubiOp: scalars.XorOp,
    arith.MuliOp: scalars.AndOp,
    arith.AndIOp: scalars.AndOp,
    arith.OrIOp: scalars.OrOp,
    arith.XOrIOp: scalars.XorOp,
}


def extended(value: SSAValue, storage: ScalarType, letter: str, to: Conversion) -> SSAValue:
    """The value with the bits above an i8 filled in: with its sign (`s`) or zeros (`u`)."""
    if storage.bits != 8:
        return value
    if (known := constant(value)) is not None:
        known &= 0xFF
        return to.const(known - 256 if letter == "s" and known > 127 else known, "b16")
    return to.scalar(CvtOp, f"{letter}16.{letter}8", value)


@lowers(*_INTEGER)
def _integer(op: arith.AddiOp, to: Conversion) -> None:
    storage = scalar(op, op.result.type)
    a, b = to[op.lhs], to[op.rhs]
    if storage.kind == "pred":
        _on_bits(op, to)
        return
    instruction, prefix, letter, reads_above = _INTEGER[type(op)]
    type_ = f"{letter}{storage.width}"
    if reads_above:
        a, b = extended(a, storage, letter, to), extended(b, storage, letter, to)
    if instruction is scalars.AddOp:
        to[op.result] = to.plus(a, b, type_)
    elif instruction is scalars.MulOp and (known := constant(b)) is not None:
        to[op.result] = to.times(a, known, type_)
    elif letter == "u" and instruction in (scalars.DivOp, scalars.RemOp):
        to[op.result] = divide(instruction, a, b, type_, to)
    else:
        to[op.result] = to.scalar(instruction, f"{prefix}{type_}", a, b)


def _on_bits(op: Operation, to: Conversion) -> None:
    """An op on one bit."""
    a, b = (to[operand] for operand in op.operands)
    instruction = _PREDICATE.get(type(op))
    if instruction is not None:
        to[op.results[0]] = to.scalar(instruction, "pred", a, b)
    else:
        to[op.results[0]] = emitted(ON_BITS[op.name], "pred", (a, b), to)


def lowest_bit(value: SSAValue, kind: str, to: Conversion) -> SSAValue:
    """The lowest bit of an integer, as a predicate."""
    one = to.scalar(scalars.AndOp, kind, value, to.const(1, kind))
    return to.scalar(scalars.SetpOp, f"ne.u{kind[1:]}", one, to.const(0, kind))


@lowers(arith.AddUIExtendedOp)
def _add_extended(op: arith.AddUIExtendedOp, to: Conversion) -> None:
    storage = scalar(op, op.lhs.type)
    a, b = (extended(to[operand], storage, "u", to) for operand in op.operands)
    if storage.kind == "pred":
        to[op.sum] = to.scalar(scalars.XorOp, "pred", a, b)
        to[op.overflow] = to.scalar(scalars.AndOp, "pred", a, b)
        return
    type_ = f"u{storage.width}"
    total = to.scalar(scalars.AddOp, type_, a, b)
    # Of an i8 the sum stands in 16 bits, of others it wraps around.
    relation, bound = ("gt", to.const(0xFF, "b16")) if storage.bits == 8 else ("lt", a)
    to[op.sum] = total
    to[op.overflow] = to.scalar(scalars.SetpOp, f"{relation}.{type_}", total, bound)


@lowers(arith.MulUIExtendedOp, arith.MulSIExtendedOp)
def _multiply_extended(op: arith.MulUIExtendedOp | arith.MulSIExtendedOp, to: Conversion) -> None:
    storage = scalar(op, op.lhs.type)
    letter = "s" if isinstance(op, arith.MulSIExtendedOp) else "u"
    a, b = (extended(to[operand], storage, letter, to) for operand in op.operands)
    if storage.kind == "pred":
        to[op.low] = to.scalar(scalars.AndOp, "pred", a, b)
        to[op.high] = to.scalar(scalars.XorOp, "pred", a, a)
        return
    to[op.low] = to.scalar(scalars.MulOp, f"lo.{letter}{storage.width}", a, b)
    if storage.bits == 8:
        to[op.high] = to.scalar(scalars.ShrOp, f"{letter}16", to[op.low], to.const(8, "b32"))
    else:
        to[op.high] = to.scalar(scalars.MulOp, f"hi.{letter}{storage.width}", a, b)


@lowers(*_SHIFTS)
def _shift(op: arith.ShLIOp, to: Conversion) -> None:
    storage = scalar(op, op.result.type)
    if storage.kind == "pred":
        _on_bits(op, to)
        return
    instruction, letter = _SHIFTS[type(op)]
    value = extended(to[op.lhs], storage, letter, to) if letter in "su" else to[op.lhs]
    amount = extended(to[op.rhs], storage, "u", to)
    if storage.width == 64:
        amount = _clamped_narrow(amount, to)
    elif storage.width == 16:
        known = constant(amount)
        amount = (
            to.const(known, "b32") if known is not None else to.scalar(CvtOp, "u32.u16", amount)
        )
    to[op.result] = to.scalar(instruction, f"{letter}{storage.width}", value, amount)


def _clamped_narrow(amount: SSAValue, to: Conversion) -> SSAValue:
    """A 64-bit shift amount in 32 bits: what is above 64 stays above it."""
    if (known := constant(amount)) is not None:
        return to.const(known if 0 <= known < 64 else 64, "b32")
    limited = to.scalar(scalars.MinOp, "u64", amount, to.const(64, "b64"))
    return to.scalar(CvtOp, "u32.u64", limited)


@lowers(arith.CeilDivUIOp, arith.CeilDivSIOp, arith.FloorDivSIOp)
def _rounded_division(
    op: arith.CeilDivUIOp | arith.CeilDivSIOp | arith.FloorDivSIOp, to: Conversion
) -> None:
    """The truncating quotient, corrected by one where the remainder says so."""
    storage = scalar(op, op.result.type)
    if storage.kind == "pred":
        _on_bits(op, to)
        return
    letter = "u" if isinstance(op, arith.CeilDivUIOp) else "s"
    type_, bits = f"{letter}{storage.width}", f"b{storage.width}"
    a, b = (extended(to[operand], storage, letter, to) for operand in (op.lhs, op.rhs))
    quotient = to.scalar(scalars.DivOp, type_, a, b)
    remainder = to.scalar(scalars.RemOp, type_, a, b)
    zero, one = to.const(0, bits), to.const(1, bits)
    inexact = to.scalar(scalars.SetpOp, f"ne.{type_}", remainder, zero)
    if letter == "s":
        signs = to.scalar(scalars.XorOp, bits, remainder, b)
        relation = "lt" if isinstance(op, arith.FloorDivSIOp) else "ge"
        sided = to.scalar(scalars.SetpOp, f"{relation}.{type_}", signs, zero)
        inexact = to.scalar(scalars.AndOp, "pred", inexact, sided)
    step = to.scalar(scalars.SelpOp, bits, one, zero, inexact)
    correct = scalars.SubOp if isinstance(op, arith.FloorDivSIOp) else scalars.AddOp
    to[op.result] = to.scalar(correct, type_, quotient, step)


def divide(
    instruction: type[ScalarOp], a: SSAValue, b: SSAValue, type_: str, to: Conversion
) -> SSAValue:
    """Unsigned quotient or remainder: by a power of two, a shift or a mask."""
    extent, kind = constant(b), f"b{type_[1:]}"
    if extent is None or extent <= 0 or extent & (extent - 1):
        return to.scalar(instruction, type_, a, b)
    if (known := constant(a)) is not None and known >= 0:
        result = known // extent if instruction is scalars.DivOp else known % extent
        return to.const(result, kind)
    if instruction is scalars.DivOp:
        return to.scalar(scalars.ShrOp, type_, a, to.const(extent.bit_length() - 1, "b32"))
    return to.scalar(scalars.AndOp, kind, a, to.const(extent - 1, kind))


_RELATIONS = ("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")


@lowers(arith.CmpiOp)
def _compare_integers(op: arith.CmpiOp, to: Conversion) -> None:
    storage = scalar(op, op.lhs.type)
    predicate = op.predicate.value.data
    letter = "u" if predicate >= 6 else "s"
    a, b = to[op.lhs], to[op.rhs]
    if storage.kind == "pred":
        # A true i1 is -1 signed and 1 unsigned.
        ones = to.const(-1 if letter == "s" else 1, "b32")
        zero = to.const(0, "b32")
        a, b = (to.scalar(scalars.SelpOp, "b32", ones, zero, bit) for bit in (a, b))
        width = 32
    else:
        a, b = extended(a, storage, letter, to), extended(b, storage, letter, to)
        width = storage.width
    form = f"{_RELATIONS[predicate]}.{letter}{width}"
    to[op.result] = to.scalar(scalars.SetpOp, form, a, b)


# Selection


@lowers(arith.SelectOp)
def _select(op: arith.SelectOp, to: Conversion) -> None:
    condition, a, b = to[op.cond], to[op.lhs], to[op.rhs]
    if isinstance(op.result.type, FragmentType):
        to[op.result] = _select_list(condition, a, b, to)
        return
    storage = storage_of(op, op.result.type)
    if storage.kind == "pred":
        inverse = to.scalar(scalars.NotOp, "pred", condition)
        kept = to.scalar(scalars.AndOp, "pred", a, condition)
        other = to.scalar(scalars.AndOp, "pred", b, inverse)
        to[op.result] = to.scalar(scalars.OrOp, "pred", kept, other)
    else:
        to[op.result] = to.scalar(scalars.SelpOp, storage.kind, a, b, condition)


def _select_list(condition: SSAValue, a: SSAValue, b: SSAValue, to: Conversion) -> SSAValue:
    type_ = a.type
    assert isinstance(type_, RegType)
    parts = [
        to.scalar(scalars.SelpOp, type_.kind.data, element(a, i, to), element(b, i, to), condition)
        for i in range(type_.count.data)
    ]
    return parts[0] if len(parts) == 1 else to.emit(ListMakeOp(parts, type_))


def element(registers: SSAValue, position: int, to: Conversion) -> SSAValue:
    """One register of a list."""
    type_ = registers.type
    assert isinstance(type_, RegType)
    count = type_.count.data
    if count == 1:
        return registers
    one = to.pure((ListGetOp, registers), (registers,), lambda: ListGetOp(registers, 0, count))
    return one.owner.results[position]  # type: ignore[union-attr]
