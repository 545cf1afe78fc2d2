"""Atomic operations. PTX ISA 9.7.13.5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, prop_def, result_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.lattice.atomics import ATOMICS, register_of
from tilewright.dialects.cute_nvgpu.lattice.data_movement import SPACES
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import Given, PtxOp
from tilewright.dialects.ptx.types import RegType, reg


@fields_op("ptx.atom")
class AtomOp(PtxOp):
    """`atom.acq_rel.gpu.SPACE.FORM d, [a], b`: combine a word with a value, return what was there.

    What the thread did before is before whatever follows an atomic operation on that word that
    comes later, in any CTA. PTX ISA 9.7.13.5.

    ```mlir
    %old = ptx.atom "shared" "add.u32" %a, 0, %v : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
    ```
    """

    address = operand_def(RegType)
    value = operand_def(RegType)
    result = result_def(RegType)
    space = prop_def(StringAttr)
    form = prop_def(StringAttr)
    offset = prop_def(NUMBER)

    assembly_format = (
        "$space $form $address `,` $offset `,` $value attr-dict"
        " `:` type($address) `,` type($value) `->` type($result)"
    )

    def __init__(self, space: str, form: str, address: SSAValue, value: SSAValue, offset: int = 0):
        super().__init__(address, value, reg(register_of(form)), space, form, offset)

    @property
    def mnemonic(self) -> str:
        """`atom.acq_rel.gpu.global.add.u32`."""
        return f"atom.acq_rel.gpu.{self.space.data}.{self.form.data}"

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return ATOMICS[self.form.data].operands

    def operand_values(self) -> Mapping[str, Given]:
        return {"d": self.result, "a": (self.address, self.offset.value.data), "b": self.value}

    def verify_(self) -> None:
        space, form = self.space.data, self.form.data
        if space not in SPACES or form not in ATOMICS:
            raise VerifyException(
                f"'{self.name}' expected a space of {', '.join(SPACES)} and a form of "
                f"{', '.join(ATOMICS)}, got {space} and {form}"
            )
        legal = reg(SPACES[space]), reg(register_of(form)), reg(register_of(form))
        given = self.address.type, self.value.type, self.result.type
        if given != legal:
            raise VerifyException(
                f"'{self.name}' expected {', '.join(map(str, legal))} for {space} {form}, got "
                f"{', '.join(map(str, given))}"
            )
