"""Sums of several words. PTX ISA 9.7.2."""

from xdsl.irdl import opt_operand_def, result_def, var_operand_def

from tilewright.dialects.cute_nvgpu.lattice.carry import CARRY
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import FormOp, PureOp
from tilewright.dialects.ptx.types import PRED, RegType, reg


@fields_op("ptx.carry", *CARRY)
class CarryOp(PureOp, FormOp):
    """`FORM d, a, b{, c}`, such as `addc.cc.u32`: the carry, which PTX keeps in a condition code of
    which there is one, comes from the op before and goes to the op behind. PTX ISA 9.7.2.

    ```mlir
    %d, %c = ptx.carry "add.cc.u32" %a, %b : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
    %e, %f = ptx.carry "addc.u32" %x, %y carry_in %c : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
    ```
    """

    WORDS = 0

    inputs = var_operand_def(RegType)
    carry_in = opt_operand_def(PRED)
    result = result_def(RegType)
    carry_out = result_def(PRED)

    assembly_format = (
        "$form $inputs (`carry_in` $carry_in^)? attr-dict `:` type($inputs) `->` type($result)"
    )

    def verify_(self) -> None:
        super().verify_()
        register = reg(REGISTER_OF[self.form.data.rpartition(".")[2]])
        takes = self.form.data.partition(".")[0][-1] == "c"
        legal = [register] * (len(self.row.operands) - 1)
        if [*self.inputs.types, self.result.type] != [*legal, register]:
            raise self.fail(f"{len(legal)} operands and a result of {register}")
        if takes is (self.carry_in is None):
            raise self.fail(f"{'a' if takes else 'no'} carry for {self.form.data}")
