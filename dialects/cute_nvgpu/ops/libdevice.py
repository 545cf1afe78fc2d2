"""The functions of CUDA's libdevice on scalars."""

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import prop_def, result_def, var_operand_def

from tilewright.dialects.accepts import ANY
from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp
from tilewright.dialects.fields import fields_op
from tilewright.dialects.math_functions.libdevice import signature_fault
from tilewright.dialects.traits import PURE


@fields_op("cute_nvgpu.libdevice")
class LibdeviceOp(BaselineOp):
    """A function of CUDA's libdevice by its name there. One of f32 alone takes f16 and bf16 too,
    which become f32 before and are rounded after.

    ```mlir
    %d = cute_nvgpu.libdevice "__nv_powf" %a, %b : (f32, f32) -> f32
    ```

    docs/math.md has the functions.
    """

    operands_ = var_operand_def(ANY)
    function = prop_def(StringAttr)
    result = result_def(ANY)

    traits = PURE

    assembly_format = "$function $operands_ attr-dict `:` functional-type($operands_, $result)"

    def verify_(self) -> None:
        fault = signature_fault(
            self.function.data, [str(type_) for type_ in self.operand_types], str(self.result.type)
        )
        if fault is not None:
            raise self.fail(fault)
