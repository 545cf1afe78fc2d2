"""Fences of `wgmma.mma_async`, and waits for it. PTX ISA 9.7.15.7 and 9.7.13.4."""

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import opt_prop_def, prop_def

from tilewright.dialects.cute_nvgpu.lattice import sync as rows
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.illegal import Illegal


@fields_op("cute_nvgpu.wgmma.fence", rows.WGMMA_FENCE)
class WgmmaFenceOp(NvgpuOp):
    """Order the warpgroup's accesses to registers before those of later wgmmas. Needed before the
    first wgmma, and before one whose accumulator or A registers were touched since; not between
    wgmmas of one shape that accumulate in the same registers. PTX ISA 9.7.15.7.1."""


@fields_op("cute_nvgpu.wgmma.commit_group", rows.WGMMA_COMMIT_GROUP)
class WgmmaCommitGroupOp(NvgpuOp):
    """All wgmmas of the warpgroup that are in no group yet become the latest group. PTX ISA
    9.7.15.7.2."""


@fields_op("cute_nvgpu.wgmma.wait_group", rows.WGMMA_WAIT_GROUP)
class WgmmaWaitGroupOp(NvgpuOp):
    """Wait until at most the latest `pending` groups are not complete.

    ```mlir
    cute_nvgpu.wgmma.wait_group 1
    ```

    PTX ISA 9.7.15.7.3.
    """

    pending = prop_def(NUMBER)

    def verify_(self) -> None:
        if (pending := self.pending.value.data) < 0:
            raise self.fail(
                f"0 or more pending groups, got {pending}; nearest legal: 0 (PTX ISA 9.7.15.7.3)"
            )


@fields_op("cute_nvgpu.fence.proxy.async", rows.FENCE_PROXY_ASYNC)
class FenceProxyAsyncOp(NvgpuOp):
    """Order the thread's writes to memory before the async proxy's accesses to it.

    ```mlir
    cute_nvgpu.fence.proxy.async in "shared::cta"
    ```

    Needed between stores to shared memory (not by TMA) and a wgmma or TMA store that reads it. With
    `shared::cta` or `shared::cluster` writes to shared memory alone are ordered; without, writes to
    global memory are waited for too. PTX ISA 9.7.13.4.
    """

    space = opt_prop_def(StringAttr)

    assembly_format = "(`in` $space^)?"

    def verify_(self) -> None:
        verify_fenced_space(self.space)


def verify_fenced_space(space: StringAttr | None) -> None:
    """Raise Illegal for memory that `fence.proxy.async` does not name."""
    if space is not None and space.data not in rows.FENCED_SPACES:
        legal = " or ".join(map(repr, rows.FENCED_SPACES))
        raise Illegal(
            f"expected {legal} or no space, got '{space.data}'; nearest legal: no space, "
            "for all memory (PTX ISA 9.7.13.4)"
        )
