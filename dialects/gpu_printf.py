"""`gpu.printf`, which xDSL's `gpu` dialect lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, traits_def, var_operand_def
from xdsl.traits import MemoryWriteEffect


@irdl_op_definition
class PrintfOp(IRDLOperation):
    """Print as C's printf does, each thread for itself: `gpu.printf "%d\\0A", %x : i32`."""

    name = "gpu.printf"

    args = var_operand_def()
    format = prop_def(StringAttr)

    traits = traits_def(MemoryWriteEffect())

    assembly_format: ClassVar[str] = "$format attr-dict (`,` $args^ `:` type($args))?"

    def __init__(self, format_: str, args: Sequence[SSAValue]) -> None:
        super().__init__(operands=[args], properties={"format": StringAttr(format_)})


def with_printf(gpu: Dialect) -> Dialect:
    """xDSL's `gpu` dialect and this op."""
    return Dialect(gpu.name, [*gpu.operations, PrintfOp], list(gpu.attributes))
