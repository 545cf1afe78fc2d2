"""The order of instructions on tensor memory and threads: commits to mbarriers, and fences."""

from xdsl.dialects.builtin import IndexType, MemRefType, i16
from xdsl.irdl import operand_def, opt_operand_def, var_operand_def

from tilewright.dialects.cute_nvgpu.lattice import tmem as rows
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp
from tilewright.dialects.cute_nvgpu.ops.mbarrier import verify_mbarrier
from tilewright.dialects.cute_nvgpu.ops.tmem import TmemOp
from tilewright.dialects.fields import fields_op


@fields_op("cute_nvgpu.tcgen05.commit", rows.TMEM_COMMIT, rows.TMEM_COMMIT_MULTICAST)
class CommitOp(TmemOp):
    """Arrive at an mbarrier once what the thread started so far is complete: its MMAs, its copies
    to tensor memory and its shifts, of the same CTA group.

    ```mlir
    cute_nvgpu.tcgen05.commit %done[%i] : memref<2xi64, #cute<space smem>>
    cute_nvgpu.tcgen05.commit %done[%i] multicast %mask cta_group 2
      : memref<2xi64, #cute<space smem>>
    ```

    With `multicast`, it arrives in each CTA of the cluster whose bit of the mask, an i16, is set,
    at the same place of its shared memory. Who has waited for the phase executes
    `tcgen05.fence.after_thread_sync` before it loads the result. PTX ISA, tcgen05.commit.
    """

    barrier = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    mask = opt_operand_def(i16)

    assembly_format = "$barrier `[` $indices `]` (`multicast` $mask^)?"

    @property
    def row(self) -> rows.TmemRow:
        """The row with or without a mask."""
        return rows.TMEM_COMMIT if self.mask is None else rows.TMEM_COMMIT_MULTICAST

    def verify_(self) -> None:
        super().verify_()
        verify_mbarrier(self.barrier.type, len(self.indices))


@fields_op("cute_nvgpu.tcgen05.fence.before_thread_sync", rows.FENCE_BEFORE)
class FenceBeforeThreadSyncOp(NvgpuOp):
    """The thread's accesses to tensor memory are before what other threads learn of next. Before
    the barrier after which other threads access the same tensor memory. PTX ISA, tcgen05.fence."""


@fields_op("cute_nvgpu.tcgen05.fence.after_thread_sync", rows.FENCE_AFTER)
class FenceAfterThreadSyncOp(NvgpuOp):
    """The thread's accesses to tensor memory are after what it has waited for. Behind the barrier,
    or the wait for an mbarrier. PTX ISA, tcgen05.fence."""
