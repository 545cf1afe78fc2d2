"""Accesses to multicast objects, which several GPUs hold a copy of each. PTX ISA 9.7.9.14."""

from xdsl.dialects.builtin import StringAttr
from xdsl.irdl import operand_def, opt_operand_def, prop_def, result_def

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.multimem import MULTIMEM, registers_of
from tilewright.dialects.fields import fields_op
from tilewright.dialects.ptx.instruction import AlternativeOp, FormOp, OffsetOp
from tilewright.dialects.ptx.types import B64, PRED, RegType, reg


def register_of(form: str) -> RegType:
    """The registers that a form of `ld_reduce`, `st` or `red` loads or stores."""
    return reg(*registers_of(form))


class MultimemOp(OffsetOp, FormOp):
    """An access to registers side by side in every copy, at an address plus a constant offset."""

    WORDS = None

    form = prop_def(StringAttr)
    address = operand_def(B64)

    @property
    def row_form(self) -> str:
        """The key of its row."""
        return self.mnemonic.removeprefix("multimem.")

    @property
    def row(self) -> InstructionRow:
        return MULTIMEM[self.row_form]

    def verify_(self) -> None:
        if self.row_form not in MULTIMEM:
            raise self.fail(
                f"a form of PTX ISA 9.7.9.14 such as "
                f"{next(form for form in MULTIMEM if f'multimem.{form}'.startswith(self.name[4:]))}"
                f", got {self.row_form}"
            )
        self.expect(self.data, register_of(self.row_form))


@fields_op("ptx.multimem.ld_reduce")
class MultimemLoadReduceOp(AlternativeOp, MultimemOp):
    """Load what all copies hold, combined; with a predicate where that holds, the result being
    other registers where it does not. PTX ISA 9.7.9.14.

    ```mlir
    %d = ptx.multimem.ld_reduce "weak.global.add.v2.f32" %a, 0 : !ptx.reg<f32, 2>
    ```
    """

    predicate = opt_operand_def(PRED)
    otherwise = opt_operand_def(RegType)
    result = result_def(RegType)

    assembly_format = (
        "$form $address `,` $offset (`if` $predicate^)? (`else` $otherwise^ `:` type($otherwise))?"
    )


class MultimemWriteOp(MultimemOp):
    """A store to all copies, or their reduction with registers."""

    value = operand_def(RegType)
    predicate = opt_operand_def(PRED)

    assembly_format = (
        "$form $address `,` $offset `,` $value (`if` $predicate^)? attr-dict `:` type($value)"
    )


@fields_op("ptx.multimem.st")
class MultimemStoreOp(MultimemWriteOp):
    """Store registers to every copy, with a predicate where that holds. PTX ISA 9.7.9.14.

    ```mlir
    ptx.multimem.st "weak.global.v2.f32" %a, 0, %v : !ptx.reg<f32, 2>
    ```
    """


@fields_op("ptx.multimem.red")
class MultimemReduceOp(MultimemWriteOp):
    """Combine every copy with registers, with a predicate where that holds. PTX ISA 9.7.9.14.

    ```mlir
    ptx.multimem.red "relaxed.sys.global.add.f32" %a, 16, %v if %p : !ptx.reg<f32>
    ```
    """


MultimemAccess = MultimemLoadReduceOp | MultimemStoreOp | MultimemReduceOp
