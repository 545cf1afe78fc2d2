"""Atomic operations. PTX ISA 9.7.13.5 and 9.7.13.6."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)

if TYPE_CHECKING:
    from xdsl.irdl import Operand

from tilewright.dialects.cute_nvgpu.lattice.atomics import (
    ADDRESSED,
    ATOMICS,
    INSTRUCTIONS,
    SUMS,
    by_policy,
    mnemonic,
    operand_count,
    registers_of,
)
from tilewright.dialects.cute_nvgpu.lattice.data_movement import SEMANTICS
from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.fields import Field, fields_op
from tilewright.dialects.illegal import listed
from tilewright.dialects.ptx.instruction import AlternativeOp, HintedOp, OffsetOp, RowOp
from tilewright.dialects.ptx.types import PRED, RegType, reg


class _AtomicOp(HintedOp, OffsetOp, RowOp):
    """An atomic operation of some order at an address plus a constant offset in bytes."""

    INSTRUCTION: ClassVar[str]

    if TYPE_CHECKING:
        address: Operand
        values: Any

    space = prop_def(StringAttr)
    form = prop_def(StringAttr)
    semantics = opt_prop_def(StringAttr, StringAttr("acq_rel.gpu"))

    @property
    def mnemonic(self) -> str:
        """`atom.acq_rel.gpu.global.add.u32`."""
        words = self.semantics.data, self.space.data, self.form.data
        name = mnemonic(self.INSTRUCTION, *words)
        return name if self.cache_hint is None else by_policy(name)

    @property
    def row(self) -> InstructionRow:
        return INSTRUCTIONS[self.mnemonic]

    def verify_(self) -> None:
        space, form, semantics = self.space.data, self.form.data, self.semantics.data
        if self.mnemonic not in INSTRUCTIONS:
            forms = [
                name for name in (*ATOMICS, *SUMS.values())
                if f"{self.INSTRUCTION}.relaxed.gpu.global.{name}" in INSTRUCTIONS
            ]  # fmt: skip
            raise self.fail(
                f"a space of {', '.join(ADDRESSED)}, a form of {', '.join(forms)} and semantics of "
                f"{', '.join(SEMANTICS[self.INSTRUCTION])}, got {space}, {form} and {semantics}"
            )
        register = reg(*registers_of(form))
        legal = reg(ADDRESSED[space]), *(register,) * (operand_count(form) + len(self.results))
        given = *(value.type for value in self.accessed), *self.result_types
        if given != legal:
            raise self.fail(f"{listed(legal)} for {space} {form}, got {listed(given)}")

    @property
    def accessed(self) -> Sequence[SSAValue]:
        """The address and what the word there is combined with."""
        return self.address, *self.values


@fields_op("ptx.atom")
class AtomOp(AlternativeOp, _AtomicOp):
    """`atom.SEMANTICS.SPACE.FORM d, [a], b`: combine a word with a value, return what was there; of
    `cas` the value is stored where the word equals the first operand, `d, [a], b, c`.

    With `acq_rel.gpu`, as it is if nothing else is said, what the thread did before is before
    whatever follows an atomic operation on that word that comes later, in any CTA. With a predicate
    it happens where that holds. PTX ISA 9.7.13.5.

    ```mlir
    %old = ptx.atom "shared" "add.u32" %a, 0, %v : !ptx.reg<b32>, !ptx.reg<b32> -> !ptx.reg<b32>
    ```
    """

    INSTRUCTION = "atom"

    address = operand_def(RegType)
    values = var_operand_def(RegType)
    predicate = opt_operand_def(PRED)
    otherwise = opt_operand_def(RegType)
    result = result_def(RegType)

    assembly_format = (
        "(`semantics` $semantics^)? $space $form $address `,` $offset `,` $values "
        "(`if` $predicate^)? (`else` $otherwise^ `:` type($otherwise))?"
    )

    def __init__(
        self, space: str, form: str, address: SSAValue, values: Sequence[SSAValue],
        offset: int = 0, semantics: str = "acq_rel.gpu", **named: Field,
    ):  # fmt: skip
        result = reg(*registers_of(form))
        super().__init__(address, values, result, space, form, offset, semantics=semantics, **named)


@fields_op("ptx.red")
class RedOp(_AtomicOp):
    """`red.SEMANTICS.SPACE.FORM [a], b`: an `atom` that returns nothing. PTX ISA 9.7.13.6.

    ```mlir
    ptx.red semantics "relaxed.gpu" "global" "add.f32" %a, 0, %v : !ptx.reg<b64>, !ptx.reg<f32>
    ```
    """

    INSTRUCTION = "red"

    address = operand_def(RegType)
    value = operand_def(RegType)
    predicate = opt_operand_def(PRED)

    assembly_format = (
        "`semantics` $semantics $space $form $address `,` $offset `,` $value (`if` $predicate^)?"
    )

    @property
    def values(self) -> Sequence[SSAValue]:
        """The value that the word is combined with."""
        return (self.value,)
