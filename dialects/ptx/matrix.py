"""Warp-level matrix multiplication. PTX ISA 9.7.14.

Their mnemonics, registers and requirements are read from the atom lattice.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.atom import AtomError, MmaAtom, parse
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS
from tilewright.dialects.ptx.instruction import PtxOp, Requirement
from tilewright.dialects.ptx.types import RegType, reg

_MMA = "mma.sync.aligned."


@irdl_op_definition
class MmaOp(PtxOp):
    """`mma.sync.aligned.SHAPE.row.col... d, a, b, c`. PTX ISA 9.7.14.5.14.

    ```mlir
    %d = ptx.mma "m16n8k16.row.col.f32.bf16.bf16.f32" %a, %b, %c
       : (!ptx.reg<b32 x 4>, !ptx.reg<b32 x 2>, !ptx.reg<f32 x 4>) -> !ptx.reg<f32 x 4>
    ```
    """

    name = "ptx.mma"

    a = operand_def(RegType)
    b = operand_def(RegType)
    c = operand_def(RegType)
    form = prop_def(StringAttr)
    d = result_def(RegType)

    traits = traits_def(NoMemoryEffect())

    assembly_format = "$form $a `,` $b `,` $c attr-dict `:` functional-type(operands, results)"

    def __init__(self, a: SSAValue, b: SSAValue, c: SSAValue, atom: MmaAtom):
        super().__init__(
            operands=[a, b, c],
            properties={"form": StringAttr(atom.mnemonic.removeprefix(_MMA))},
            result_types=[reg(*atom.registers("D"))],
        )

    @property
    def mnemonic(self) -> str:
        return _MMA + self.form.data

    @property
    def mma_atom(self) -> MmaAtom:
        """The atom of the mnemonic. Raises AtomError where there is none."""
        return parse(self.mnemonic)

    def requirement(self) -> Requirement:
        row = self.mma_atom.row
        return Requirement(row.target, row.ptx_version)

    def verify_(self) -> None:
        try:
            atom = self.mma_atom
        except AtomError as error:
            raise VerifyException(f"'{self.name}' {error}") from None
        for operand, value in zip(OPERANDS, (self.a, self.b, self.c, self.d), strict=True):
            legal = reg(*atom.registers(operand))
            if value.type != legal:
                raise VerifyException(
                    f"'{self.name}' operand {operand} expected {legal}, got {value.type} "
                    f"({atom.mnemonic})"
                )


OPS = [MmaOp]
