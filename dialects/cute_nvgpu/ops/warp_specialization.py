"""Ops of warps that do different work: one thread of a warp, and how many registers each has."""

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.irdl import prop_def, result_def

from tilewright.dialects.cute_nvgpu.lattice.mbarrier import ELECT_SYNC, SETMAXNREG
from tilewright.dialects.cute_nvgpu.ops.instruction import Identifier, NvgpuOp
from tilewright.dialects.fields import NUMBER, FieldsOp, fields_op


@fields_op("cute_nvgpu.elect.sync", ELECT_SYNC)
class ElectSyncOp(NvgpuOp):
    """True in one thread of the warp, the same one each time.

    ```mlir
    %leader = cute_nvgpu.elect.sync
    ```

    All threads of the warp execute it together. PTX ISA, elect.sync.
    """

    leader = result_def(i1)


class ChangesRegisters(FieldsOp):
    """A `setmaxnreg`, at either level."""

    action = prop_def(StringAttr)
    registers = prop_def(NUMBER)

    def verify_(self) -> None:
        if self.action.data not in SETMAXNREG.actions:
            raise self.fail(f"{' or '.join(SETMAXNREG.actions)}, got {self.action.data}")
        self.refuse(SETMAXNREG.why_illegal(self.registers.value.data))


@fields_op("cute_nvgpu.setmaxnreg", SETMAXNREG)
class SetmaxnregOp(ChangesRegisters, NvgpuOp):
    """Let each thread of the warpgroup have that many registers from here on.

    ```mlir
    cute_nvgpu.setmaxnreg dec 40
    cute_nvgpu.setmaxnreg inc 232
    ```

    All threads of the warpgroup execute it together; the kernel needs `gpu.known_block_size`. PTX
    ISA, setmaxnreg.
    """

    assembly_format = "custom<Identifier>($action) $registers"
    custom_directives = (Identifier,)
