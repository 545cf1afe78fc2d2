"""Warp-level matrix multiplication. PTX ISA 9.7.14.

Their mnemonics, registers and requirements are read from the atom lattice.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import SSAValue
from xdsl.irdl import opt_prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import NoMemoryEffect

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.atoms.operands import mma_operands
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import Constant, OperandForm, Selectors
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import AlignedOp, Given, numbers
from tilewright.dialects.ptx.types import B16, RegType, reg


class WarpMmaOp(AlignedOp):
    """An MMA of one warp.

    The operands are the atom's inputs in PTX's order, then its selectors that are registers;
    `selectors` are its immediates.
    """

    inputs = var_operand_def(RegType)
    immediates = opt_prop_def(DenseArrayBase.constr(i64), prop_name="selectors")
    d = result_def(RegType)

    traits = traits_def(NoMemoryEffect())

    assembly_format = (
        "$form $inputs (`selectors` $selectors^)? attr-dict `:` functional-type(operands, results)"
    )

    def __init__(
        self, inputs: Sequence[SSAValue], atom: MmaAtom, selectors: Sequence[int | SSAValue] = ()
    ):
        ids = [selector for selector in selectors if isinstance(selector, SSAValue)]
        super().__init__(
            [*inputs, *ids],
            reg(*atom.registers("D")),
            self.form_of(atom.mnemonic),
            selectors=selectors[: len(selectors) - len(ids)] or None,
        )

    @property
    def mma_atom(self) -> MmaAtom:
        """The atom of the mnemonic. Raises AtomError where there is none."""
        return parse(self.mnemonic)

    @property
    def row(self) -> Any:
        return self.mma_atom.row

    @property
    def c(self) -> SSAValue:
        """The accumulators that it reads."""
        return self.inputs[2]

    @property
    def selectors(self) -> tuple[int | SSAValue, ...]:
        """The atom's selectors: numbers, or registers."""
        return (*numbers(self.immediates), *self.inputs[len(self.mma_atom.inputs) :])

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return _operand_forms(self.mnemonic)

    def operand_values(self) -> Mapping[str, Given]:
        registers, selectors = iter((self.d, *self.inputs)), iter(self.selectors)
        values: dict[str, Given] = {}
        for form in self.operand_forms:
            match form:
                case Constant():
                    values[form.name] = next(selectors)
                case Selectors():
                    values[form.name] = (next(selectors), next(selectors))
                case _:
                    values[form.name] = next(registers)
        return values

    def verify_(self) -> None:
        atom = self.mma_atom
        atom.check_selectors(self.selectors)
        count, ids = len(atom.inputs), B16
        if len(self.inputs) < count or any(value.type != ids for value in self.inputs[count:]):
            raise self.fail(
                f"operands {', '.join(atom.inputs)}, got {len(self.inputs)} ({atom.mnemonic})"
            )
        self.verify_registers(
            atom, dict(zip((*atom.inputs, "D"), (*self.inputs[:count], self.d), strict=True))
        )


@cache
def _operand_forms(mnemonic: str) -> Sequence[OperandForm]:
    return mma_operands(parse(mnemonic))


@fields_op("ptx.mma")
class MmaOp(WarpMmaOp):
    """`mma{.sp}.sync.aligned.SHAPE.row.col... d, a, b, c, ...`. PTX ISA 9.7.14.5.14, 9.7.14.6.3.

    ```mlir
    %d = ptx.mma "m16n8k16.row.col.f32.bf16.bf16.f32" %a, %b, %c
       : (!ptx.reg<b32 x 4>, !ptx.reg<b32 x 2>, !ptx.reg<f32 x 4>) -> !ptx.reg<f32 x 4>
    %d = ptx.mma "sp.m16n8k16.row.col.f32.bf16.bf16.f32" %a, %b, %c, %e selectors array<i64: 1>
       : (!ptx.reg<b32 x 2>, !ptx.reg<b32 x 2>, !ptx.reg<f32 x 4>, !ptx.reg<b32>)
       -> !ptx.reg<f32 x 4>
    ```

    The form is the mnemonic without `mma.` and `sync.aligned.`.
    """
