"""The functions of CUDA's libdevice on scalars."""

from typing import ClassVar

from xdsl.dialects.builtin import AnyFloatConstr, StringAttr
from xdsl.irdl import VarConstraint, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp
from tilewright.dialects.fields import fields_op
from tilewright.dialects.math_functions.libdevice import LIBDEVICE


@fields_op("cute_nvgpu.libdevice")
class LibdeviceOp(BaselineOp):
    """A function of CUDA's libdevice by its name there, with its bits. One of f32 takes f16 and
    bf16 too, which become f32 before and are rounded after.

    ```mlir
    %d = cute_nvgpu.libdevice "__nv_powf" %a, %b : f32
    ```

    docs/math.md has the functions.
    """

    T: ClassVar = VarConstraint("T", AnyFloatConstr)
    operands_ = var_operand_def(T)
    function = prop_def(StringAttr)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$function $operands_ attr-dict `:` type($result)"

    def verify_(self) -> None:
        name, type_ = self.function.data, str(self.result.type)
        if (row := LIBDEVICE.get(name)) is None:
            raise self.fail(f"one of {', '.join(LIBDEVICE)}, got {name}")
        types = ("f32", "f16", "bf16") if row.type_ == "f32" else ("f64",)
        if type_ not in types or len(self.operands) != row.arity:
            raise self.fail(
                f"{row.arity} operands of {' or '.join(types)} for {name}, got "
                f"{len(self.operands)} of {type_}"
            )
