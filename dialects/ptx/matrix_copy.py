"""Copies of whole matrices: ldmatrix, stmatrix and movmatrix. PTX ISA 9.7.14.5.15 to 9.7.14.5.17.

Their mnemonics, registers and requirements are read from the atom lattice.
"""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.irdl import operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import NoMemoryEffect

from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import MatrixCopy, check_trans, find_form
from tilewright.dialects.cute_nvgpu.atoms.operands import matrix_copy_operands
from tilewright.dialects.cute_nvgpu.lattice import MOVMATRIX, MatrixCopyRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import OffsetOp, RowOp
from tilewright.dialects.ptx.types import B32, RegType, reg

DEFAULT_FORM = "m8n8.b16"


class MatrixCopyOp(OffsetOp):
    """`ldmatrix` and `stmatrix`: some threads give the address of 16 bytes each.

    The form is shape and type, `m16n16.b8`; left out it is m8n8.b16.
    """

    MNEMONIC: ClassVar[str]

    form = opt_prop_def(StringAttr, StringAttr(DEFAULT_FORM))
    trans = opt_prop_def(UnitAttr)

    @property
    def row(self) -> MatrixCopyRow:
        """The row of the lattice. Raises AtomError where there is none."""
        return find_form(self.MNEMONIC, self.form.data)

    @property
    def matrix_copy(self) -> MatrixCopy:
        """The copy that it is."""
        row = self.row
        return MatrixCopy(row, self.data.type.count.data // row.registers, self.trans is not None)

    @property
    def mnemonic(self) -> str:
        return self.matrix_copy.mnemonic

    @property
    def operand_forms(self) -> Sequence[OperandForm]:
        return matrix_copy_operands(self.matrix_copy)

    def verify_(self) -> None:
        row = self.row
        check_trans(row, self.trans is not None)
        counts = [number * row.registers for number in row.numbers]
        if self.data.type not in [reg("b32", count) for count in counts]:
            raise self.fail(f"{' or '.join(map(str, counts))} registers b32, got {self.data.type}")


@fields_op("ptx.ldmatrix")
class LdmatrixOp(MatrixCopyOp):
    """`ldmatrix.sync.aligned.SHAPE.xN{.trans}.shared.TYPE d, [a]`. PTX ISA 9.7.14.5.15.

    ```mlir
    %d = ptx.ldmatrix trans %address, 256 : !ptx.reg<b32 x 4>
    %e = ptx.ldmatrix "m16n16.b8" trans %address, 0 : !ptx.reg<b32 x 2>
    ```
    """

    MNEMONIC = "ldmatrix"

    address = operand_def(B32)
    result = result_def(RegType)

    assembly_format = "($form^)? (`trans` $trans^)? $address `,` $offset"


@fields_op("ptx.stmatrix")
class StmatrixOp(MatrixCopyOp):
    """`stmatrix.sync.aligned.SHAPE.xN{.trans}.shared.TYPE [a], d`. PTX ISA 9.7.14.5.16.

    ```mlir
    ptx.stmatrix %address, 0, %d : !ptx.reg<b32 x 4>
    ptx.stmatrix "m16n8.b8" trans %address, 0, %d : !ptx.reg<b32 x 2>
    ```
    """

    MNEMONIC = "stmatrix"

    address = operand_def(B32)
    value = operand_def(RegType)

    assembly_format = "($form^)? (`trans` $trans^)? $address `,` $offset `,` $value"


@fields_op("ptx.movmatrix", MOVMATRIX)
class MovmatrixOp(RowOp):
    """`movmatrix.sync.aligned.m8n8.trans.b16 d, a`. PTX ISA 9.7.14.5.17.

    ```mlir
    %d = ptx.movmatrix %a
    ```
    """

    a = operand_def(B32)
    d = result_def(B32)

    traits = traits_def(NoMemoryEffect())
