"""Which operands of an instruction may be a constant in the text, and how it is written."""

from __future__ import annotations

from xdsl.ir import Operation

from tilewright.dialects.ptx.bulk_copy import TensorCopyOp
from tilewright.dialects.ptx.cluster import MapaOp
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp
from tilewright.dialects.ptx.convert import CvtaOp, CvtOp
from tilewright.dialects.ptx.data_movement import CpAsyncOp
from tilewright.dialects.ptx.instruction import ScalarOp
from tilewright.dialects.ptx.mbarrier import TryWaitParityOp
from tilewright.dialects.ptx.registers import ConstOp
from tilewright.dialects.ptx.tcgen05_mma import Tcgen05MmaOp
from tilewright.dialects.ptx.wmma import WmmaAccessOp

_NO_LITERAL = ("pred", "f16", "bf16", "f16x2", "bf16x2")


def takes_immediate(op: Operation, index: int) -> bool:
    """Whether operand `index` of the op may be written as a constant."""
    match op:
        case CvtOp() | CvtaOp():
            return False
        case ScalarOp():
            return op.row.types[index] not in _NO_LITERAL
        case BraOp() | CondBraOp():
            return True
        case CpAsyncOp():
            return index == 2
        case TensorCopyOp():
            return 0 <= index - op.FIRST_COORDINATE < len(op.box_coordinates)
        case TryWaitParityOp() | MapaOp():
            return index == 1
        case Tcgen05MmaOp():
            return index == 3
        case WmmaAccessOp():
            return index == len(op.operands) - 1
        case _:
            return False


def immediate(constant: ConstOp, type_: str) -> str:
    """The constant as an operand of an instruction type. PTX ISA 4.5."""
    bits = constant.unsigned
    if type_ == "f32":
        return f"0f{bits:08X}"
    if type_ == "f64":
        return f"0d{bits:016X}"
    return str(bits if type_[0] == "u" else constant.bits.value.data)
