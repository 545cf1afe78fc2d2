"""Values of other threads of the warp. PTX ISA 9.7.9.6."""

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import operand_def, prop_def, result_def

from tilewright.dialects.cute_nvgpu.lattice.sync import SHFL_SYNC
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import RowOp
from tilewright.dialects.ptx.types import B32, RegType, reg


@fields_op("ptx.shfl.sync", SHFL_SYNC)
class ShflSyncOp(RowOp):
    """`shfl.sync.MODE.b32 d, a, N, 31, 0xffffffff`: the 32 bits of another lane.

    ```mlir
    %1 = ptx.shfl.sync "bfly" %0, 2 : !ptx.reg<f32> -> !ptx.reg<f32>
    ```
    """

    # c of 31: the lanes of the whole warp, not of parts of it.
    OPERANDS: ClassVar = {"c": "31"}

    mode = prop_def(StringAttr)
    value = operand_def(RegType)
    lane = prop_def(NUMBER)
    result = result_def(RegType)

    assembly_format = "$mode $value `,` $lane"

    @property
    def mnemonic(self) -> str:
        return f"shfl.sync.{self.mode.data}.b32"

    def verify_(self) -> None:
        self.refuse(SHFL_SYNC.why_illegal(self.mode.data, self.lane.value.data))
        if self.value.type not in (B32, reg("f32")) or self.result.type != self.value.type:
            raise self.fail(f"one register of 32 bits, got {self.value.type} to {self.result.type}")
