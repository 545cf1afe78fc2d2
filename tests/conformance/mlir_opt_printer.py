"""IR as mlir-opt prints it, where xDSL prints it otherwise.

%r:2 = scf.if ...              the results of an op under one name, %r#0 and %r#1 where used
%r = call @f(%x)               ops of `func` without their dialect
!llvm.struct<(struct<()>)>     LLVM types within LLVM types without theirs
%r = iota : tile<4xi32> loc(#loc)      an unknown location under a name
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnknownLoc
from xdsl.dialects.func import Func
from xdsl.dialects.llvm import LLVMArrayType, LLVMFunctionType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, Operation

from tilewright.dialects.cuda_tile.ops.facts import Arity
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp
from tilewright.source.printing import ShortPrinter

_NESTED = (LLVMArrayType, LLVMFunctionType, LLVMPointerType, LLVMStructType)
_SHORT = {
    op.name: op.name.removeprefix("func.") for op in Func.operations if op.name != "func.func"
}


def _has_named_results(op: Operation) -> bool:
    return isinstance(op, CudaTileOp) and all(
        place.arity is Arity.ONE for place in op.facts.results
    )


class MlirOptPrinter(ShortPrinter):
    """Prints so."""

    _depth = 0

    def _print_results(self, op: Operation) -> None:
        if len(op.results) < 2 or _has_named_results(op):
            super()._print_results(op)
            return
        name = self.print_ssa_value(op.results[0])
        for i, result in enumerate(op.results):
            self._ssa_values[result] = f"{name}#{i}"
        self.print_string(f":{len(op.results)} = ")

    def print_attribute(self, attribute: Attribute) -> None:
        if self.print_debuginfo and isinstance(attribute, UnknownLoc):
            self.aliases[attribute] = "#loc"
            with self.in_location():
                self.print_string("#loc")
            return
        if not isinstance(attribute, _NESTED):
            super().print_attribute(attribute)
            return
        self.print_string("" if self._depth else "!llvm.")
        self.print_string(attribute.name.removeprefix("llvm."))
        self._depth += 1
        attribute.print_parameters(self)
        self._depth -= 1

    def print_op(self, op: Operation) -> None:
        if self.print_generic_format or op.name not in _SHORT:
            super().print_op(op)
            return
        self._print_results(op)
        self.print_string(_SHORT[op.name])
        op.print(self)
