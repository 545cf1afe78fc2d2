"""LLVM, by llvmlite, which has no types; and vectors of values, one of each of some threads."""

from importlib import import_module
from typing import Any

ir: Any = import_module("llvmlite.ir")
binding: Any = import_module("llvmlite.binding")

I1, I8, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))
POINTER = ir.PointerType()
LANES = 16
"""The threads of a vector."""


def like(type_: Any, element: Any) -> Any:
    """The type of such elements where the other one is a vector, else the element's."""
    return ir.VectorType(element, LANES) if isinstance(type_, ir.VectorType) else element


class _Splat(ir.Constant):
    """The same number in all elements, in few words."""

    def _get_reference(self) -> str:
        return f"splat ({self.constant[0]})"


def constant(type_: Any, value: Any) -> Any:
    """A number, in a vector that of all threads."""
    return (_Splat if isinstance(type_, ir.VectorType) else ir.Constant)(type_, value)
