"""Order of the instructions of tensor memory. PTX ISA, tcgen05."""

from typing import ClassVar

from xdsl.irdl import operand_def, opt_operand_def, prop_def

from tilewright.dialects.cute_nvgpu.lattice import tmem as rows
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import row_op
from tilewright.dialects.ptx.tcgen05_memory import GroupOp
from tilewright.dialects.ptx.types import reg

WaitLdOp = row_op("ptx.tcgen05.wait.ld", rows.TMEM_WAIT_LOAD)
WaitStOp = row_op("ptx.tcgen05.wait.st", rows.TMEM_WAIT_STORE)
FenceBeforeThreadSyncOp = row_op("ptx.tcgen05.fence.before_thread_sync", rows.FENCE_BEFORE)
FenceAfterThreadSyncOp = row_op("ptx.tcgen05.fence.after_thread_sync", rows.FENCE_AFTER)


@fields_op("ptx.tcgen05.commit", rows.TMEM_COMMIT, rows.TMEM_COMMIT_MULTICAST)
class CommitOp(GroupOp):
    """`tcgen05.commit.cta_group::G.mbarrier::arrive::one.shared::cluster...b64 [mbar]{, mask}`.

    ```mlir
    ptx.tcgen05.commit group 1 %mbar, 0
    ptx.tcgen05.commit group 2 %mbar, 8 multicast %mask
    ```
    """

    OPERANDS: ClassVar = {"mbar": "address + offset", "ctaMask": "mask"}

    address = operand_def(reg("b32"))
    mask = opt_operand_def(reg("b16"))
    offset = prop_def(NUMBER)

    assembly_format = "`group` $cta_group $address `,` $offset (`multicast` $mask^)?"

    @property
    def row(self) -> rows.TmemRow:
        return rows.TMEM_COMMIT if self.mask is None else rows.TMEM_COMMIT_MULTICAST
