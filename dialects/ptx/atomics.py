"""Atomic operations. PTX ISA 9.7.13.5."""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_operand_def, prop_def, result_def, var_operand_def

from tilewright.dialects.cute_nvgpu.lattice.atomics import ATOMICS, operand_count, register_of
from tilewright.dialects.cute_nvgpu.lattice.data_movement import SCOPES, SPACES
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.fields import NUMBER, Field, fields_op
from tilewright.dialects.ptx.instruction import Given, PtxOp
from tilewright.dialects.ptx.types import RegType, reg


@fields_op("ptx.atom")
class AtomOp(PtxOp):
    """`atom.acq_rel.SCOPE.SPACE.FORM d, [a], b`: combine a word with a value, return what was
    there; of `cas` the value is stored where the word equals the first operand, `d, [a], b, c`.

    What the thread did before is before whatever follows an atomic operation on that word that
    comes later, in any CTA. With a predicate it happens where that holds. PTX ISA 9.7.13.5.

    ```mlir
    %old = ptx.atom "shared" "add.u32" %a, 0, %v : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
    ```
    """

    address = operand_def(RegType)
    values = var_operand_def(RegType)
    predicate = opt_operand_def(reg("pred"))
    otherwise = opt_operand_def(RegType)
    result = result_def(RegType)
    space = prop_def(StringAttr)
    form = prop_def(StringAttr)
    offset = prop_def(NUMBER)
    scope = prop_def(StringAttr, default_value=StringAttr("gpu"))

    assembly_format = (
        "$space $form (`scope` $scope^)? $address `,` $offset `,` $values (`if` $predicate^)? "
        "(`else` $otherwise^ `:` type($otherwise))?"
    )

    def __init__(
        self, space: str, form: str, address: SSAValue, values: Sequence[SSAValue],
        offset: int = 0, scope: str = "gpu", **named: Field,
    ):  # fmt: skip
        result = reg(register_of(form))
        super().__init__(address, values, result, space, form, offset, scope, **named)

    @property
    def mnemonic(self) -> str:
        """`atom.acq_rel.gpu.global.add.u32`."""
        return f"atom.acq_rel.{self.scope.data}.{self.space.data}.{self.form.data}"

    @property
    def row(self) -> InstructionRow:
        return ATOMICS[self.form.data]

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return self.row.operands

    def operand_values(self) -> Mapping[str, Given]:
        names = zip("bc", self.values, strict=False)
        return {"d": self.result, "a": (self.address, self.offset.value.data), **dict(names)}

    def verify_(self) -> None:
        space, form, scope = self.space.data, self.form.data, self.scope.data
        if space not in SPACES or form not in ATOMICS or scope not in SCOPES:
            raise self.fail(
                f"a space of {', '.join(SPACES)}, a form of {', '.join(ATOMICS)} and a scope of "
                f"{', '.join(SCOPES)}, got {space}, {form} and {scope}"
            )
        register = reg(register_of(form))
        legal = reg(SPACES[space]), *(register,) * operand_count(form), register
        given = self.address.type, *self.values.types, self.result.type
        if given != legal:
            raise self.fail(
                f"{', '.join(map(str, legal))} for {space} {form}, got {', '.join(map(str, given))}"
            )
        self.verify_guard()
