"""Order of the instructions of tensor memory. PTX ISA, tcgen05."""

from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def

from tilewright.dialects.cute_nvgpu.lattice import tmem as rows
from tilewright.dialects.cute_nvgpu.ops import tcgen05_sync, tmem_access
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import OffsetOp, twin
from tilewright.dialects.ptx.tcgen05_memory import GroupOp
from tilewright.dialects.ptx.types import B16, B32

WaitLdOp = twin(tmem_access.WaitLoadOp, "tcgen05.wait.ld")
WaitStOp = twin(tmem_access.WaitStoreOp, "tcgen05.wait.st")
FenceBeforeThreadSyncOp = twin(tcgen05_sync.FenceBeforeThreadSyncOp)
FenceAfterThreadSyncOp = twin(tcgen05_sync.FenceAfterThreadSyncOp)


@fields_op("ptx.tcgen05.commit", rows.TMEM_COMMIT, rows.TMEM_COMMIT_MULTICAST)
class CommitOp(OffsetOp, GroupOp):
    """`tcgen05.commit.cta_group::G.mbarrier::arrive::one.shared::cluster...b64 [mbar]{, mask}`,
    without the space where the address is `generic`.

    ```mlir
    ptx.tcgen05.commit group 1 %mbar, 0
    ptx.tcgen05.commit group 2 %mbar, 8 multicast %mask
    ptx.tcgen05.commit group 1 %mbar, 0 generic
    ```
    """

    CHOICE = "mask"

    address = operand_def(B32)
    mask = opt_operand_def(B16)
    generic = opt_prop_def(UnitAttr)

    assembly_format = (
        "`group` $cta_group $address `,` $offset (`multicast` $mask^)? (`generic` $generic^)?"
    )

    @property
    def mnemonic(self) -> str:
        return self.row.spellings[self.generic is not None].format(group=self.group)
