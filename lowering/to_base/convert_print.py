"""`cute.print` as `gpu.printf` on the GPU, as a call of C's `printf` on the host.

    cute.print(%s) : !cute.shape<"(?,4)">
becomes, in a kernel,
    gpu.printf "(%d,4)\\0A", %n : i32
"""

from collections.abc import Sequence
from itertools import count

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
from xdsl.traits import SymbolOpInterface, SymbolTable

from tilewright.dialects.ancestors import ancestors, enclosing
from tilewright.dialects.gpu import PrintfOp, is_kernel
from tilewright.lowering.emit.emitter import Emitter
from tilewright.source.diagnostic import OpError

PRINTF = "printf"
PRINTF_TYPE = LLVMFunctionType([LLVMPointerType()], i32, is_variadic=True)


class Prints:
    """Emits what prints, where an op is: `gpu.printf`, or calls with the symbols that they need."""

    def __init__(self) -> None:
        self._hosts: dict[ModuleOp, _HostPrintf] = {}

    def emit(
        self, op: Operation, emitter: Emitter, format_: str, values: Sequence[SSAValue]
    ) -> None:
        """Emit what prints the values in place of `op`. Raises OpError where @printf is another."""
        if any(map(_is_on_gpu, ancestors(op))):
            emitter.add(PrintfOp(format_, values))
            return
        module = next(enclosing(op, ModuleOp))
        if module not in self._hosts:
            self._hosts[module] = _HostPrintf(op, module)
        self._hosts[module].call(emitter, format_, values)


def _is_on_gpu(op: Operation) -> bool:
    """True of an op whose regions run on the GPU."""
    return isinstance(op, gpu.ModuleOp | gpu.LaunchOp) or is_kernel(op)


class _HostPrintf:
    """C's printf, and the formats it is called with, as symbols at the top of a module."""

    def __init__(self, op: Operation, module: ModuleOp):
        names = set(map(_symbol, module.body.block.ops))
        numbered = (f"{PRINTF}Format_{number}" for number in count())
        self._free = (name for name in numbered if name not in names)
        self._last: Operation = _printf(op, module)

    def call(self, emitter: Emitter, format_: str, values: Sequence[SSAValue]) -> None:
        text = self._constant(f"{format_}\0")
        address = emitter.emit(AddressOfOp(text.sym_name, LLVMPointerType()))
        first = emitter.emit(GEPOp(address, [0, 0], text.global_type))
        emitter.add(CallOp(PRINTF, first, *values, return_type=i32, var_callee_type=PRINTF_TYPE))

    def _constant(self, text: str) -> GlobalOp:
        """A new constant behind the last one, the first behind the declaration of printf."""
        type_, value = LLVMArrayType(len(text), i8), StringAttr(text)
        op = GlobalOp(type_, next(self._free), "internal", constant=True, value=value)
        Builder(InsertPoint.after(self._last)).insert(op)
        self._last = op
        return op


def _symbol(op: Operation) -> str | None:
    trait = op.get_trait(SymbolOpInterface)
    name = None if trait is None else trait.get_sym_attr_name(op)
    return None if name is None else name.data


def _printf(op: Operation, module: ModuleOp) -> FuncOp:
    """The module's declaration of printf; a new one at its top where there is none."""
    printf = SymbolTable.lookup_symbol(module, PRINTF)
    if printf is None:
        printf = FuncOp(PRINTF, PRINTF_TYPE, LinkageAttr("external"))
        Builder(InsertPoint.at_start(module.body.block)).insert(printf)
    if isinstance(printf, FuncOp) and printf.function_type == PRINTF_TYPE:
        return printf
    got = printf.function_type if isinstance(printf, FuncOp) else f"a '{printf.name}'"
    raise OpError(op, f"'{op.name}' expected @{PRINTF} to be of {PRINTF_TYPE}, got {got}")
