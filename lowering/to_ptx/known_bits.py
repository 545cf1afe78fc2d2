"""The bits of a register that may be set, from the instructions that compute it."""

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.dialects.ptx.registers import ConstOp, SregOp
from tilewright.dialects.ptx.scalars import (
    AddOp,
    AndOp,
    CvtOp,
    MulOp,
    OrOp,
    RemOp,
    ShlOp,
    ShrOp,
    XorOp,
)
from tilewright.dialects.ptx.types import KINDS, RegType

_DEPTH = 12
"""How many instructions back it looks."""

_SPECIAL = {"tid.x": 0x3FF, "tid.y": 0x3FF, "tid.z": 0x3F, "laneid": 0x1F}
"""Bits of the special registers that no launch exceeds. PTX ISA 10."""


def possible_bits(
    value: SSAValue, masks: dict[tuple[SSAValue, int], int], depth: int = _DEPTH
) -> int:
    """A mask of all bits that may be set; `masks` are those of values asked for before."""
    key = value, depth
    if (bits := masks.get(key)) is None:
        bits = masks[key] = _possible_bits(value, masks, depth)
    return bits


def _possible_bits(value: SSAValue, masks: dict[tuple[SSAValue, int], int], depth: int) -> int:
    assert isinstance(value.type, RegType)
    every = (1 << KINDS[value.type.kind.data]) - 1
    owner = value.owner
    if isinstance(owner, ConstOp):
        return owner.unsigned
    if isinstance(owner, SregOp):
        return _SPECIAL.get(owner.register.data, every)
    rule = _RULES.get(type(owner)) if isinstance(owner, Operation) and depth else None
    if rule is None:
        return every
    return rule(owner, lambda x: possible_bits(x, masks, depth - 1)) & every


Known = Callable[[SSAValue], int]


def _filled(mask: int) -> int:
    """All bits up to the highest one."""
    return (1 << mask.bit_length()) - 1


def lowest(mask: int) -> int:
    """The lowest bit of a mask; of none a bit above all registers."""
    return mask & -mask if mask else 1 << 64


def _add(op: ScalarOp, known: Known) -> int:
    a, b = (known(value) for value in op.inputs)
    if a & b == 0:
        return a | b
    return _filled(_filled(a) + _filled(b)) & -min(lowest(a), lowest(b))


def _multiply(op: ScalarOp, known: Known) -> int:
    a, b = (known(value) for value in op.inputs)
    if not op.form.data.startswith("lo."):
        return -1
    return _filled(_filled(a) * _filled(b)) & -(lowest(a) * lowest(b))


def _shift_left(op: ScalarOp, known: Known) -> int:
    amount = op.inputs[1].owner
    return known(op.inputs[0]) << amount.unsigned if isinstance(amount, ConstOp) else -1


def _shift_right(op: ScalarOp, known: Known) -> int:
    amount, mask = op.inputs[1].owner, known(op.inputs[0])
    if not isinstance(amount, ConstOp) or op.form.data[0] != "u":
        return -1
    return mask >> amount.unsigned


def _remainder(op: ScalarOp, known: Known) -> int:
    by = op.inputs[1].owner
    if op.form.data[0] != "u" or not isinstance(by, ConstOp) or not by.unsigned:
        return -1
    return _filled(min(by.unsigned - 1, known(op.inputs[0])))


def _convert(op: ScalarOp, known: Known) -> int:
    mask = known(op.inputs[0])
    match op.form.data:
        case "u64.u32":
            return mask
        case "s64.s32":
            return -1 if mask >> 31 else mask
        case "u32.u64":
            return mask & 0xFFFFFFFF
        case _:
            return -1


_RULES: dict[type[Operation], Callable[[Any, Known], int]] = {
    AddOp: _add,
    MulOp: _multiply,
    ShlOp: _shift_left,
    ShrOp: _shift_right,
    RemOp: _remainder,
    CvtOp: _convert,
    AndOp: lambda op, known: known(op.inputs[0]) & known(op.inputs[1]),
    OrOp: lambda op, known: known(op.inputs[0]) | known(op.inputs[1]),
    XorOp: lambda op, known: known(op.inputs[0]) | known(op.inputs[1]),
}


def addends(value: SSAValue) -> tuple[list[SSAValue], int]:
    """The registers whose sum a register is, and the constant beside them."""
    owner = value.owner
    if isinstance(owner, ConstOp):
        return [], owner.bits.value.data
    if not isinstance(owner, AddOp) or owner.form.data not in ("s32", "u32", "s64", "u64"):
        return [value], 0
    a, b = (addends(addend) for addend in owner.inputs)
    return a[0] + b[0], a[1] + b[1]
