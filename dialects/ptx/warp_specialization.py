"""One thread of a warp, and registers of a warpgroup. PTX ISA, elect.sync and setmaxnreg."""

from typing import ClassVar

from xdsl.irdl import operand_def, result_def

from tilewright.dialects.cute_nvgpu.lattice.mbarrier import (
    ELECT_SYNC,
    ELECT_SYNC_MEMBERS,
    SETMAXNREG,
)
from tilewright.dialects.cute_nvgpu.ops.warp_specialization import ChangesRegisters
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import RowOp
from tilewright.dialects.ptx.types import B32, PRED


class ElectOp(RowOp):
    """One thread of a whole warp."""

    leader = result_def(PRED)


@fields_op("ptx.elect.sync", ELECT_SYNC)
class ElectSyncOp(ElectOp):
    """`elect.sync _|p, 0xffffffff`."""

    OPERANDS: ClassVar = {"p": "_ + leader"}


@fields_op("ptx.elect.sync.lane", ELECT_SYNC_MEMBERS)
class ElectLaneOp(ElectOp):
    """`elect.sync d|p, 0xffffffff`: the elected lane too."""

    OPERANDS: ClassVar = {"p": "lane + leader"}

    lane = result_def(B32)


@fields_op("ptx.elect.sync.members", ELECT_SYNC_MEMBERS)
class ElectMembersOp(RowOp):
    """`elect.sync d|p, membermask`, of a register: the elected lane, and whether it is this one."""

    OPERANDS: ClassVar = {"p": "lane + leader", "membermask": "members"}

    members = operand_def(B32)
    lane = result_def(B32)
    leader = result_def(PRED)


@fields_op("ptx.setmaxnreg", SETMAXNREG)
class SetmaxnregOp(ChangesRegisters, RowOp):
    """`setmaxnreg.ACTION.sync.aligned.u32 N`.

    ```mlir
    ptx.setmaxnreg "dec" 40
    ```

    ptxas ignores it unless it knows the registers at entry, which `.minnctapersm` beside `.reqntid`
    says.
    """

    assembly_format = "$action $registers"

    @property
    def mnemonic(self) -> str:
        return f"setmaxnreg.{self.action.data}.sync.aligned.u32"
