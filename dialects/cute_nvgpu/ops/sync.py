"""Barriers beyond `gpu.barrier`: named barriers of a CTA, and the barrier of a warp."""

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import prop_def

from tilewright.dialects.cute_nvgpu.lattice import sync as rows
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp
from tilewright.dialects.fields import NUMBER, FieldsOp, fields_op


class _NamedBarrierOp(NvgpuOp):
    """A barrier by number, for a count of threads (whole warps). PTX ISA 9.7.13.1."""

    barrier = prop_def(NUMBER)
    threads = prop_def(NUMBER)

    assembly_format = "$barrier `threads` $threads attr-dict"

    def verify_(self) -> None:
        self.refuse(
            rows.NAMED_BARRIER.why_illegal(self.barrier.value.data, self.threads.value.data)
        )


@fields_op("cute_nvgpu.bar.sync", rows.BAR_SYNC)
class BarSyncOp(_NamedBarrierOp):
    """Wait at a named barrier until `threads` threads of the CTA have arrived.

    ```mlir
    cute_nvgpu.bar.sync 1 threads 64
    ```
    """


@fields_op("cute_nvgpu.bar.arrive", rows.BAR_ARRIVE)
class BarArriveOp(_NamedBarrierOp):
    """Arrive at a named barrier without waiting.

    ```mlir
    cute_nvgpu.bar.arrive 1 threads 64
    ```
    """


@fields_op("cute_nvgpu.bar.warp.sync", rows.BAR_WARP_SYNC)
class WarpSyncOp(NvgpuOp):
    """All 32 threads of the warp wait for each other, and see each other's memory accesses. PTX ISA
    9.7.13.2."""


@fields_op("cute_nvgpu.griddepcontrol.wait", rows.GRIDDEPCONTROL_WAIT)
class GridDependencyWaitOp(NvgpuOp):
    """Wait until the grids that this one was launched behind are complete, and see what they wrote;
    nothing where it was not allowed to start before their end. PTX ISA 9.7.13.13."""


@fields_op("cute_nvgpu.griddepcontrol.launch_dependents", rows.GRIDDEPCONTROL_LAUNCH_DEPENDENTS)
class LaunchDependentsOp(NvgpuOp):
    """The grids behind this one may start, once every CTA has said so or has ended. What they see
    of its memory is up to their own wait. PTX ISA 9.7.13.13."""


@fields_op("cute_nvgpu.fence.proxy.alias", rows.FENCE_PROXY_ALIAS)
class FenceProxyAliasOp(NvgpuOp):
    """Order the thread's accesses before it and after it to the same memory, whatever addresses
    that has, as memory that several GPUs share has two. PTX ISA 9.7.13.4."""


@fields_op("cute_nvgpu.fence.proxy.acquire", rows.RESTRICTED_FENCES)
class FenceProxyAcquireOp(NvgpuOp):
    """Order the writes to shared memory of which the thread has learned, such as those of
    `cp.async` that an mbarrier's phase waited for, before what the async proxy reads for it. A
    thread that waits makes it, where `fence.proxy.async` is for those that write; ptxas makes no
    instruction of it. PTX ISA 9.7.13.4."""

    @property
    def form(self) -> str:
        """The instruction behind its first word."""
        return "proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster"


class OrdersThreads(FieldsOp):
    """A fence of some order between the threads of a scope, at either level."""

    semantics = prop_def(StringAttr)

    @property
    def mnemonic(self) -> str:
        """`fence.acq_rel.gpu`."""
        return f"fence.{self.semantics.data}"

    @property
    def row(self) -> InstructionRow:
        """The row of its scope."""
        return rows.FENCES[self.mnemonic]

    def verify_(self) -> None:
        if self.mnemonic not in rows.FENCES:
            legal = " or ".join(name.removeprefix("fence.") for name in rows.FENCES)
            raise self.fail(
                f"semantics {legal}, got {self.semantics.data}; nearest legal: acq_rel.gpu "
                f"(PTX ISA {rows.FENCE.section})"
            )


@fields_op("cute_nvgpu.fence", rows.FENCE, rows.FENCE_IN_CLUSTERS)
class FenceOp(OrdersThreads, NvgpuOp):
    """Order the thread's accesses to memory before it and after it, as seen by the threads of a
    scope: strong stores after it release what was before it, it acquires what strong loads read.

    ```mlir
    cute_nvgpu.fence "acq_rel.gpu"
    ```

    Fences `sc` are in one order besides. PTX ISA 9.7.13.4.
    """
