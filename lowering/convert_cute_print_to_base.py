"""`cute.print` as `gpu.printf` on the GPU, as a call of C's `printf` on the host.

    cute.print(%s) : !cute.shape<"(?,4)">
becomes, in a kernel,
    gpu.printf "(%d,4)\\0A", %n : i32
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from xdsl.builder import Builder
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp, StringAttr, i8, i32
from xdsl.dialects.llvm import (
    AddressOfOp,
    CallOp,
    FuncOp,
    GEPOp,
    GlobalOp,
    LinkageAttr,
    LLVMArrayType,
    LLVMFunctionType,
    LLVMPointerType,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import SymbolTable

from tilewright.diagnostic import OpError
from tilewright.dialects.cute.values import Typed
from tilewright.dialects.gpu import PrintfOp
from tilewright.lowering.convert_cute_nvgpu_to_ptx import is_kernel

PRINTF = "printf"
PRINTF_TYPE = LLVMFunctionType([LLVMPointerType()], i32, is_variadic=True)


def format_of(typed: Typed) -> str:
    """What prints a value whose dynamic leaves are given in the order of its text."""
    return re.sub(r"\?(\{i\d+\})?", _conversion, typed.text) + "\n"


def _conversion(leaf: re.Match[str]) -> str:
    return "%lld" if leaf[1] == "{i64}" else "%d"


def print_on_gpu(op: Operation, format_: str, values: Sequence[SSAValue]) -> None:
    """Emit, before `op`, what prints the values."""
    Builder(InsertPoint.before(op)).insert(PrintfOp(format_, values))


def is_on_gpu(op: Operation) -> bool:
    """Whether a kernel, or a module of kernels, holds an op."""
    return any(
        isinstance(each, gpu.ModuleOp | gpu.LaunchOp) or is_kernel(each) for each in _ancestors(op)
    )


class HostPrintf:
    """C's printf, and the formats it is called with, as symbols at the top of each module."""

    def __init__(self) -> None:
        self._last: dict[ModuleOp, Operation] = {}
        self._number = 0

    def print_values(self, op: Operation, format_: str, values: Sequence[SSAValue]) -> None:
        """Emit, before `op`, what prints the values. Raises OpError where @printf is another."""
        module = next(each for each in _ancestors(op) if isinstance(each, ModuleOp))
        if module not in self._last:
            self._last[module] = _printf(op, module)
        text = self._format(module, f"{format_}\0")
        builder = Builder(InsertPoint.before(op))
        address = builder.insert(AddressOfOp(text.sym_name, LLVMPointerType()))
        first = builder.insert(GEPOp(address, [0, 0], text.global_type))
        call = CallOp(PRINTF, first, *values, return_type=i32, var_callee_type=PRINTF_TYPE)
        builder.insert(call)

    def _format(self, module: ModuleOp, text: str) -> GlobalOp:
        """A new constant behind the last one."""
        while SymbolTable.lookup_symbol(module, name := f"{PRINTF}Format_{self._number}"):
            self._number += 1
        self._number += 1
        type_ = LLVMArrayType(len(text), i8)
        op = GlobalOp(type_, name, "internal", constant=True, value=StringAttr(text))
        Builder(InsertPoint.after(self._last[module])).insert(op)
        self._last[module] = op
        return op


def _printf(op: Operation, module: ModuleOp) -> FuncOp:
    """The module's declaration of printf; a new one at its top where there is none."""
    found = SymbolTable.lookup_symbol(module, PRINTF)
    if found is None:
        found = FuncOp(PRINTF, PRINTF_TYPE, LinkageAttr("external"))
        Builder(InsertPoint.at_start(module.body.block)).insert(found)
    if isinstance(found, FuncOp) and found.function_type == PRINTF_TYPE:
        return found
    got = found.function_type if isinstance(found, FuncOp) else f"a '{found.name}'"
    raise OpError(op, f"'{op.name}' expected @{PRINTF} to be of {PRINTF_TYPE}, got {got}")


def _ancestors(op: Operation) -> Iterator[Operation]:
    parent = op.parent_op()
    while parent is not None:
        yield parent
        parent = parent.parent_op()
