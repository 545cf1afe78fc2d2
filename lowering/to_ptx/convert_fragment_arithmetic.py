"""Arithmetic on fragments to `ptx`: an instruction for each register."""

from xdsl.ir import SSAValue

from tilewright.dialects.cute_nvgpu.ops.fragment_arithmetic import ConvertOp, FmaOp
from tilewright.dialects.cute_nvgpu.types.fragments import FragmentType
from tilewright.dialects.ptx import scalars
from tilewright.dialects.ptx.registers import MovOp, PackOp, UnpackOp
from tilewright.dialects.ptx.scalars import CvtOp
from tilewright.dialects.ptx.types import reg
from tilewright.dialects.sequences import paired
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_fragment import packed, unpacked
from tilewright.lowering.to_ptx.programs import element, listed


@lowers
def _fma(op: FmaOp, to: Conversion) -> SSAValue:
    fragment, form = op.result.type, op.fma.form.suffix
    operands = [to[operand] for operand in op.operands]
    words = [
        to.scalar(scalars.FmaOp, form, *(element(operand, i, to) for operand in operands))
        for i in range(fragment.registers)
    ]
    return listed(words, to)


@lowers
def _convert(op: ConvertOp, to: Conversion) -> SSAValue:
    conversion, fragment = op.conversion, op.result.type
    source, count = op.source.type, conversion.count
    assert isinstance(source, FragmentType)
    results: list[SSAValue] = []
    for first in range(0, fragment.count.data, count):
        if conversion.packed:
            operands = [_part(to[op.source], first, count * conversion.source.bits, source, to)]
        else:
            places = reversed(range(first, first + count))
            operands = [_element(to[op.source], place, source, to) for place in places]
        if op.random is not None:
            operands.append(element(to[op.random], first // count, to))
        results.append(to.scalar(CvtOp, conversion.form.suffix, *operands))
    if count == 1:
        width = fragment.element.per_register
        words = [
            packed(results[first : first + width], fragment, to)
            for first in range(0, len(results), width)
        ]
    else:
        words = _joined(results, count * conversion.result.bits, to)
    kind = reg(fragment.element.register)
    words = [word if word.type == kind else to.emit(MovOp(word, kind)) for word in words]
    return listed(words, to)


def _element(value: SSAValue, place: int, type_: FragmentType, to: Conversion) -> SSAValue:
    register, inside = divmod(place, type_.element.per_register)
    return unpacked(element(value, register, to), inside, type_, to)


def _part(value: SSAValue, first: int, bits: int, type_: FragmentType, to: Conversion) -> SSAValue:
    """The part of a register from one element on, in a register of so many bits."""
    number, inside = divmod(first, type_.element.per_register)
    register, width, offset = element(value, number, to), 32, inside * type_.element.bits
    while width > bits:
        width //= 2
        register = element(to.pure(UnpackOp, register), offset // width, to)
        offset %= width
    return register


def _joined(parts: list[SSAValue], bits: int, to: Conversion) -> list[SSAValue]:
    """Registers of so many bits as ones of 32."""
    while bits < 32:
        bits *= 2
        pairs = paired(parts)
        parts = [to.pure(PackOp, low, high) for low, high in pairs]
    return parts
