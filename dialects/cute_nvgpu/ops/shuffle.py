"""Values of other threads of the warp: shfl.sync."""

from xdsl.dialects.builtin import Float32Type, IntegerType, StringAttr, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AnyAttr, VarConstraint, operand_def, prop_def, result_def

from tilewright.dialects.cute_nvgpu.lattice.sync import SHFL_SYNC
from tilewright.dialects.cute_nvgpu.lattice.warp import SHUFFLE
from tilewright.dialects.cute_nvgpu.ops.instruction import Identifier, NvgpuOp
from tilewright.dialects.fields import NUMBER, fields_op

SHUFFLED: tuple[Attribute, ...] = (Float32Type(), IntegerType(32))
"""The types that one instruction moves: 32 bits."""


@fields_op("cute_nvgpu.shfl.sync", SHFL_SYNC)
class ShflSyncOp(NvgpuOp):
    """The value that another thread of the warp has: that of lane `lane ^ N` (`bfly`), or of lane N
    (`idx`).

    ```mlir
    %other = cute_nvgpu.shfl.sync bfly %x, 2 : f32
    %first = cute_nvgpu.shfl.sync idx %x, 0 : f32
    ```

    All threads of the warp execute it together. PTX ISA 9.7.9.6.
    """

    T = VarConstraint("T", AnyAttr())
    mode = prop_def(StringAttr)
    value = operand_def(T)
    lane = prop_def(NUMBER)
    result = result_def(T)

    assembly_format = "custom<Identifier>($mode) $value `,` $lane attr-dict `:` type($value)"
    custom_directives = (Identifier,)

    def __init__(self, mode: str, value: SSAValue, lane: int):
        super().__init__(value, value.type, mode, lane)

    def verify_(self) -> None:
        self.refuse(SHFL_SYNC.why_illegal(self.mode.data, self.lane.value.data))
        if self.value.type not in SHUFFLED or self.result.type != self.value.type:
            legal = " or ".join(map(str, SHUFFLED))
            raise self.fail(f"{legal}, got {self.value.type} (a lane gives 32 bits)")


@fields_op("cute_nvgpu.shfl.idx", SHUFFLE)
class ShflIdxOp(NvgpuOp):
    """The value of the lane whose number each thread gives.

    ```mlir
    %other = cute_nvgpu.shfl.idx %x, %lane
    ```

    All threads of the warp execute it together. PTX ISA 9.7.9.6.
    """

    value = operand_def(i32)
    lane = operand_def(i32)
    result = result_def(i32)

    def __init__(self, value: SSAValue, lane: SSAValue):
        super().__init__(value, lane, result=i32)
