"""One thread of a warp, and registers of a warpgroup. PTX ISA, elect.sync and setmaxnreg."""

from collections.abc import Mapping
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import prop_def, result_def

from tilewright.dialects.cute_nvgpu.lattice.mbarrier import ELECT_SYNC, SETMAXNREG
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import Given, RowOp
from tilewright.dialects.ptx.synchronization import WHOLE_WARP
from tilewright.dialects.ptx.types import reg


@fields_op("ptx.elect.sync", ELECT_SYNC)
class ElectSyncOp(RowOp):
    """`elect.sync _|p, 0xffffffff`."""

    leader = result_def(reg("pred"))

    def operand_values(self) -> Mapping[str, Given]:
        return {"p": ("_", self.leader), "membermask": WHOLE_WARP}


@fields_op("ptx.setmaxnreg", SETMAXNREG)
class SetmaxnregOp(RowOp):
    """`setmaxnreg.ACTION.sync.aligned.u32 N`.

    ```mlir
    ptx.setmaxnreg "dec" 40
    ```

    ptxas ignores it unless it knows the registers at entry, which `.minnctapersm` beside `.reqntid`
    says.
    """

    OPERANDS: ClassVar = {"imm-reg-count": "registers"}

    action = prop_def(StringAttr)
    registers = prop_def(NUMBER)

    assembly_format = "$action $registers"

    @property
    def mnemonic(self) -> str:
        return f"setmaxnreg.{self.action.data}.sync.aligned.u32"

    def verify_(self) -> None:
        if self.action.data not in SETMAXNREG.actions:
            raise self.fail(f"{' or '.join(SETMAXNREG.actions)}, got {self.action.data}")
        self.refuse(SETMAXNREG.why_illegal(self.registers.value.data))
