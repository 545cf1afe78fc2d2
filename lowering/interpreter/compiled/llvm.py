"""LLVM, by llvmlite, which has no types."""

from importlib import import_module
from typing import Any

ir: Any = import_module("llvmlite.ir")
binding: Any = import_module("llvmlite.binding")

I1, I8, I64, POINTER = *(ir.IntType(bits) for bits in (1, 8, 64)), ir.PointerType()
