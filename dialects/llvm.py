"""xDSL's `llvm` dialect with the intrinsics that Triton's TTIR has, and it lacks."""

from xdsl.dialects.builtin import i1
from xdsl.dialects.llvm import LLVM
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, traits_def
from xdsl.traits import MemoryWriteEffect


@irdl_op_definition
class AssumeOp(IRDLOperation):
    """The condition holds: `llvm.intr.assume %c : i1`."""

    name = "llvm.intr.assume"

    cond = operand_def(i1)

    traits = traits_def(MemoryWriteEffect())

    assembly_format = "$cond attr-dict `:` type($cond)"


EXTENDED = Dialect("llvm", [*LLVM.operations, AssumeOp], [*LLVM.attributes])
