"""Fences of `wgmma.mma_async`, and waits for it. PTX ISA 9.7.15.7 and 9.7.13.4."""

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import opt_prop_def

from tilewright.dialects.cute_nvgpu.lattice import sync as rows
from tilewright.dialects.cute_nvgpu.ops.instruction import NvgpuOp, WaitsForGroups
from tilewright.dialects.fields import FieldsOp, fields_op


@fields_op("cute_nvgpu.wgmma.fence", rows.WGMMA_FENCE)
class WgmmaFenceOp(NvgpuOp):
    """Order the warpgroup's accesses to registers before those of later wgmmas. Needed before the
    first wgmma, and before one whose accumulator or A registers were touched since; not between
    wgmmas of one shape that accumulate in the same registers. PTX ISA 9.7.15.7.1."""


@fields_op("cute_nvgpu.wgmma.commit_group", rows.WGMMA_COMMIT_GROUP)
class WgmmaCommitGroupOp(NvgpuOp):
    """All wgmmas of the warpgroup that are in no group yet become the latest group. PTX ISA
    9.7.15.7.2."""


class WaitsForWgmmas(WaitsForGroups):
    """A wait for groups of wgmmas, at either level."""

    EXPECTED: ClassVar[str] = (
        "0 or more pending groups, got {}; nearest legal: 0 (PTX ISA 9.7.15.7.3)"
    )


@fields_op("cute_nvgpu.wgmma.wait_group", rows.WGMMA_WAIT_GROUP)
class WgmmaWaitGroupOp(WaitsForWgmmas, NvgpuOp):
    """Wait until at most the latest `pending` groups are not complete.

    ```mlir
    cute_nvgpu.wgmma.wait_group 1
    ```

    PTX ISA 9.7.15.7.3.
    """


class FencesProxy(FieldsOp):
    """A fence for the async proxy, at either level."""

    space = opt_prop_def(StringAttr)

    assembly_format = "(`in` $space^)?"

    @property
    def mnemonic(self) -> str:
        """`fence.proxy.async.global`."""
        space = () if self.space is None else (self.space.data,)
        return ".".join((rows.FENCE_PROXY_ASYNC.mnemonic, *space))

    @property
    def is_of_shared(self) -> bool:
        """True where it is for writes to shared memory."""
        return self.space != StringAttr("global")

    def verify_(self) -> None:
        if self.space and self.mnemonic not in rows.FENCE_PROXY_ASYNC.mnemonics:
            legal = " or ".join(map(repr, ("global", *rows.FENCED_SPACES)))
            raise self.fail(
                f"{legal} or no space, got '{self.space.data}'; nearest legal: no space, for all "
                "memory (PTX ISA 9.7.13.4)"
            )


@fields_op("cute_nvgpu.fence.proxy.async", rows.FENCE_PROXY_ASYNC)
class FenceProxyAsyncOp(FencesProxy, NvgpuOp):
    """Order the thread's writes to memory before the async proxy's accesses to it.

    ```mlir
    cute_nvgpu.fence.proxy.async in "shared::cta"
    ```

    Needed between stores to shared memory (not by TMA) and a wgmma or TMA store that reads it. With
    `shared::cta` or `shared::cluster` writes to shared memory alone are ordered, with `global` ones
    to global memory; without, both. PTX ISA 9.7.13.4.
    """
