"""Arithmetic on fragments to `ptx`: an instruction for each register."""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.ops.fragment_arithmetic import FmaOp
from tilewright.dialects.ptx import arithmetic
from tilewright.dialects.ptx.registers import ListMakeOp
from tilewright.dialects.ptx.types import reg
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_arith import element


@lowers(FmaOp)
def _fma(op: FmaOp, to: Conversion) -> None:
    fragment, form = op.result.type, op.fma.form.suffix
    operands = [to[operand] for operand in op.operands]
    words = [
        to.scalar(arithmetic.FmaOp, form, *(element(operand, i, to) for operand in operands))
        for i in range(fragment.registers)
    ]
    type_ = reg(fragment.element.register, len(words))
    to[op.result] = words[0] if len(words) == 1 else to.emit(ListMakeOp(words, type_))
