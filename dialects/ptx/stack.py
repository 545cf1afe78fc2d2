"""The stack of a thread in its local memory. PTX ISA, stacksave, stackrestore and alloca."""

from xdsl.irdl import BaseAttr, VarConstraint, operand_def, opt_prop_def, result_def

from tilewright.dialects.cute_nvgpu.lattice import stack as rows
from tilewright.dialects.fields import NUMBER, fields_op
from tilewright.dialects.ptx.instruction import FormOp, content
from tilewright.dialects.ptx.types import RegType, reg


class StackOp(FormOp):
    """An instruction on addresses of the stack of 32 or 64 bits, as its form says."""

    def verify_(self) -> None:
        super().verify_()
        self.expect((*self.operands, *self.results)[0], reg(f"b{self.form.data[1:]}"))


@fields_op("ptx.stacksave", *rows.STACKSAVE)
class StacksaveOp(StackOp):
    """`stacksave.TYPE d`: the top of the stack, an address of local memory.

    ```mlir
    %top = ptx.stacksave "u64" : !ptx.reg<b64>
    ```
    """

    result = result_def(RegType)


@fields_op("ptx.stackrestore", *rows.STACKRESTORE)
class StackrestoreOp(StackOp):
    """`stackrestore.TYPE a`: let the top of the stack be where it was, what is allocated below it
    being free.

    ```mlir
    ptx.stackrestore "u64" %top : !ptx.reg<b64>
    ```
    """

    top = operand_def(RegType)

    assembly_format = "$form $top attr-dict `:` type($top)"


@fields_op("ptx.alloca", *rows.ALLOCA)
class AllocaOp(StackOp):
    """`alloca.TYPE ptr, size{, immAlign}`: the address of so many bytes on the stack, aligned to a
    power of two of at most 2^23, or to 8.

    ```mlir
    %p = ptx.alloca "u64" %size align 16 : !ptx.reg<b64>
    ```
    """

    T = VarConstraint("T", BaseAttr(RegType))
    size = operand_def(T)
    align = opt_prop_def(NUMBER)
    result = result_def(T)

    assembly_format = "$form $size (`align` $align^)? attr-dict `:` type($result)"

    @property
    def alignment(self) -> int:
        """Of the address, in bytes."""
        return max(content(self.align) or 0, rows.FRAME_ALIGNMENT)

    def verify_(self) -> None:
        super().verify_()
        if self.align is not None and (align := content(self.align)) not in rows.ALIGNMENTS:
            raise self.fail(f"an alignment to a power of two of at most 2^23, got {align}")
