"""Fragments to `ptx`: elements narrower than a register are packed, low bits first."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cute_nvgpu.ops import fragment
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.ptx.registers import ListGetOp, MovOp, PackOp, UnpackOp
from tilewright.dialects.ptx.scalar_types import NARROW_FLOATS
from tilewright.dialects.ptx.scalars import AndOp, CvtOp, OrOp, ShlOp, ShrOp
from tilewright.dialects.ptx.types import RegType, reg
from tilewright.lowering.to_ptx.conversion import Conversion, constant, lowers
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


_PAIRED = tuple(f".{name}x2.f32" for name in NARROW_FLOATS.values())
"""The conversions to two floats of 8 bits."""


def joined(parts: Sequence[SSAValue], size: int, to: Conversion) -> SSAValue:
    """The register of elements of `size` bytes side by side, low bits first."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    if size == 1 and half == 1:
        return _joined_bytes(parts[0], parts[1], to)
    low, high = (joined(parts[i : i + half], size, to) for i in (0, half))
    get = low.owner
    if (
        isinstance(get, ListGetOp)
        and get.registers == (low, high)
        and isinstance(unpack := get.source.owner, UnpackOp)
    ):
        return unpack.source
    return to.pure(PackOp, low, high)


def _joined_bytes(low: SSAValue, high: SSAValue, to: Conversion) -> SSAValue:
    """The half of two bytes: where they are those of one that was taken apart, that one; where each
    is the lower of a pair that was converted, one instruction converts both."""
    one, two = low.owner, high.owner
    if isinstance(two, ShrOp) and two.operands[0] is low and constant(two.operands[1]) == 8:
        return low
    if (
        isinstance(one, CvtOp)
        and isinstance(two, CvtOp)
        and one.form == two.form
        and one.form.data.endswith(_PAIRED)
    ):
        return to.scalar(CvtOp, one.form.data, two.operands[1], one.operands[1])
    low, high = (to.scalar(AndOp, "b16", part, to.const(0xFF, "b16")) for part in (low, high))
    return to.scalar(OrOp, "b16", low, to.scalar(ShlOp, "b16", high, to.const(8, "b32")))


def taken_apart(word: SSAValue, size: int, count: int, to: Conversion) -> list[SSAValue]:
    """The elements of `size` bytes that a register has; above one of 8 bits is anything."""
    if count == 1:
        return [word]
    halves = [word]
    if size * count > 2:
        halves = [element(to.pure(UnpackOp, word), i, to) for i in (0, 1)]
    if size == 2:
        return halves
    eight = to.const(8, "b32")
    return [x for half in halves for x in (half, to.scalar(ShrOp, "u16", half, eight))]


def packed(parts: Sequence[SSAValue], fragment: FragmentType, to: Conversion) -> SSAValue:
    """The register that holds these elements."""
    return joined(parts, fragment.element.bits // 8, to)


def unpacked(register: SSAValue, place: int, fragment: FragmentType, to: Conversion) -> SSAValue:
    """One element of a register."""
    one = fragment.element
    return taken_apart(register, one.bits // 8, one.per_register, to)[place]


@lowers
def _splat(op: fragment.SplatOp, to: Conversion) -> SSAValue:
    fragment = op.fragment.type
    _check_scalar(op, fragment)
    word = packed([to[op.scalar]] * fragment.element.per_register, fragment, to)
    return listed([word] * fragment.registers, to)


@lowers
def _from_elements(op: fragment.FromElementsOp, to: Conversion) -> SSAValue:
    fragment, width = op.fragment.type, op.fragment.type.element.per_register
    _check_scalar(op, fragment)
    parts = [to[element] for element in op.elements]
    words = [packed(parts[i : i + width], fragment, to) for i in range(0, len(parts), width)]
    return listed(words, to)


@lowers
def _extract(op: fragment.ExtractOp, to: Conversion) -> list[SSAValue]:
    fragment = op.fragment.type
    assert isinstance(fragment, FragmentType)
    _check_scalar(op, fragment)
    first, per_register = op.position.value.data, fragment.element.per_register
    places = (divmod(first + i, per_register) for i in range(len(op.scalars)))
    return [
        unpacked(element(to[op.fragment], register, to), place, fragment, to)
        for register, place in places
    ]


@lowers
def _insert(op: fragment.InsertOp, to: Conversion) -> SSAValue:
    fragment, width = op.result.type, op.result.type.element.per_register
    _check_scalar(op, fragment)
    register, place = divmod(op.position.value.data, width)
    words = [element(to[op.fragment], i, to) for i in range(fragment.registers)]
    parts = [unpacked(words[register], i, fragment, to) for i in range(width)]
    parts[place] = to[op.scalar]
    words[register] = packed(parts, fragment, to)
    return listed(words, to)


@lowers
def _slice(op: fragment.SliceOp, to: Conversion) -> SSAValue:
    fragment = op.result.type
    first = op.position.value.data // fragment.element.per_register
    words = [element(to[op.fragment], first + i, to) for i in range(fragment.registers)]
    return listed(words, to)


@lowers
def _concat(op: fragment.ConcatOp, to: Conversion) -> SSAValue:
    return listed([to[part] for part in op.fragments], to)


@lowers
def _cast(op: fragment.CastOp, to: Conversion) -> SSAValue:
    value = to[op.source]
    source, result = value.type, reg(op.result.type.element.register, op.result.type.registers)
    assert isinstance(source, RegType)
    if source == result:
        return value
    if source.count != result.count:
        raise OpError(op, "'cute_nvgpu.fragment.cast' between registers of different widths")
    kind = reg(result.kind.data)
    moved = [to.emit(MovOp(element(value, i, to), kind)) for i in range(source.count.data)]
    return listed(moved, to)
