"""Arithmetic on scalars in a rounding that `arith` has no word for."""

from xdsl.dialects.builtin import AnyFloatConstr, StringAttr
from xdsl.irdl import VarConstraint, prop_def, result_def, var_operand_def

from tilewright.dialects.cute_nvgpu.lattice.scalar import DIRECTIONS, FLUSHING, SCALARS
from tilewright.dialects.cute_nvgpu.ops.instruction import BaselineOp
from tilewright.dialects.fields import fields_op
from tilewright.dialects.traits import PURE

_DIRECTED = {
    f"{name}.{form}": len(row.types)
    for name, scalar in SCALARS.items()
    for form, row in scalar.forms.items()
    if name != "cvt"
    and {*row.types} <= {"f32", "f64"}
    and (
        form.partition(".")[0] in (*DIRECTIONS, "full")
        or (FLUSHING in form and form.startswith("rn"))
    )
}
"""The instructions that round to one side or within 2 ulp, or flush subnormal numbers, and how many
operands each takes."""


@fields_op("cute_nvgpu.rounded")
class RoundedOp(BaselineOp):
    """add, sub, mul, div, sqrt or fma of f32 or f64, rounded towards zero (`rz`), minus infinity
    (`rm`) or plus infinity (`rp`), or to nearest (`rn`) and, as with `ftz` in any rounding of f32,
    with zeros for subnormal numbers; a quotient of f32 to within 2 ulp (`full`).

    ```mlir
    %d = cute_nvgpu.rounded "add.rz.f64" %a, %b : f64
    ```

    PTX ISA 9.7.3.
    """

    T = VarConstraint("T", AnyFloatConstr)
    operands_ = var_operand_def(T)
    form = prop_def(StringAttr)
    result = result_def(T)

    traits = PURE

    assembly_format = "$form $operands_ attr-dict `:` type($result)"

    @property
    def instruction(self) -> tuple[str, str]:
        """The instruction and its form: "add", "rz.f64"."""
        name, _, form = self.form.data.partition(".")
        return name, form

    def verify_(self) -> None:
        form = self.form.data
        if form not in _DIRECTED:
            raise self.fail(f"one of {', '.join(_DIRECTED)}, got {form}")
        count, type_ = len(self.operands), self.result.type
        if count != _DIRECTED[form] or str(type_) != form.rpartition(".")[2]:
            raise self.fail(
                f"{_DIRECTED[form]} operands of {form.rpartition('.')[2]} for {form}, got {count} "
                f"of {type_}"
            )
