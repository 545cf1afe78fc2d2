"""Fragments to `ptx`: elements narrower than a register are packed, low bits first."""

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute_nvgpu.ops import fragment
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.ptx.registers import MovOp, PackOp, UnpackOp
from tilewright.dialects.ptx.scalars import AndOp, CvtOp, OrOp, ShlOp, ShrOp
from tilewright.dialects.ptx.types import RegType, reg
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.programs import element, listed
from tilewright.source.diagnostic import OpError


def _check_scalar(op: Operation, fragment: FragmentType) -> None:
    """Raise OpError where an element is narrower than any scalar."""
    if fragment.element.bits < 8:
        raise OpError(
            op,
            f"'{op.name}' of {fragment.element_type} has no lowering to ptx; nearest legal: "
            "cute_nvgpu.fragment.cast to 8-bit elements",
        )


def _word_of(value: SSAValue, bits: int, to: Conversion) -> SSAValue:
    """A scalar in the low bits of a 32-bit register."""
    if bits == 8:
        value = to.scalar(AndOp, "b16", value, to.const(0xFF, "b16"))
    return to.scalar(CvtOp, "u32.u16", value)


def packed(parts: list[SSAValue], fragment: FragmentType, to: Conversion) -> SSAValue:
    """The register that holds these elements."""
    bits = fragment.element.bits
    if len(parts) == 1:
        return parts[0]
    if bits == 16:
        return to.pure(PackOp, *parts)
    word = _word_of(parts[0], bits, to)
    for place, part in enumerate(parts[1:], 1):
        shifted = to.scalar(ShlOp, "b32", _word_of(part, bits, to), to.const(place * bits, "b32"))
        word = to.scalar(OrOp, "b32", word, shifted)
    return word


def unpacked(register: SSAValue, place: int, fragment: FragmentType, to: Conversion) -> SSAValue:
    """One element of a register."""
    if fragment.element.per_register == 1:
        return register
    bits = fragment.element.bits
    if bits == 16:
        return element(to.pure(UnpackOp, register), place, to)
    word = to.scalar(ShrOp, "u32", register, to.const(place * bits, "b32"))
    return to.scalar(CvtOp, "u16.u32", word)


@lowers(fragment.SplatOp)
def _splat(op: fragment.SplatOp, to: Conversion) -> None:
    fragment = op.fragment.type
    _check_scalar(op, fragment)
    word = packed([to[op.scalar]] * fragment.element.per_register, fragment, to)
    to[op.fragment] = listed([word] * fragment.registers, to)


@lowers(fragment.FromElementsOp)
def _from_elements(op: fragment.FromElementsOp, to: Conversion) -> None:
    fragment, width = op.fragment.type, op.fragment.type.element.per_register
    _check_scalar(op, fragment)
    parts = [to[element] for element in op.elements]
    words = [packed(parts[i : i + width], fragment, to) for i in range(0, len(parts), width)]
    to[op.fragment] = listed(words, to)


@lowers(fragment.ExtractOp)
def _extract(op: fragment.ExtractOp, to: Conversion) -> None:
    fragment = op.fragment.type
    assert isinstance(fragment, FragmentType)
    _check_scalar(op, fragment)
    for i, scalar in enumerate(op.scalars, op.position.value.data):
        register, place = divmod(i, fragment.element.per_register)
        to[scalar] = unpacked(element(to[op.fragment], register, to), place, fragment, to)


@lowers(fragment.InsertOp)
def _insert(op: fragment.InsertOp, to: Conversion) -> None:
    fragment, width = op.result.type, op.result.type.element.per_register
    _check_scalar(op, fragment)
    register, place = divmod(op.position.value.data, width)
    words = [element(to[op.fragment], i, to) for i in range(fragment.registers)]
    parts = [unpacked(words[register], i, fragment, to) for i in range(width)]
    parts[place] = to[op.scalar]
    words[register] = packed(parts, fragment, to)
    to[op.result] = listed(words, to)


@lowers(fragment.SliceOp)
def _slice(op: fragment.SliceOp, to: Conversion) -> None:
    fragment = op.result.type
    first = op.position.value.data // fragment.element.per_register
    words = [element(to[op.fragment], first + i, to) for i in range(fragment.registers)]
    to[op.result] = listed(words, to)


@lowers(fragment.ConcatOp)
def _concat(op: fragment.ConcatOp, to: Conversion) -> None:
    to[op.result] = listed([to[part] for part in op.fragments], to)


@lowers(fragment.CastOp)
def _cast(op: fragment.CastOp, to: Conversion) -> None:
    value = to[op.source]
    source, result = value.type, reg(op.result.type.element.register, op.result.type.registers)
    assert isinstance(source, RegType)
    if source == result:
        to[op.result] = value
        return
    if source.count != result.count:
        raise OpError(op, "'cute_nvgpu.fragment.cast' between registers of different widths")
    kind = reg(result.kind.data)
    moved = [to.emit(MovOp(element(value, i, to), kind)) for i in range(source.count.data)]
    to[op.result] = listed(moved, to)
