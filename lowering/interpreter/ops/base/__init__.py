"""Upstream dialects."""

from tilewright.lowering.interpreter.ops.base import (
    arith,
    control_flow,
    gpu,
    llvm,
    math,
    memref,
    printf,
    vector,
)

__all__ = ["arith", "control_flow", "gpu", "llvm", "math", "memref", "printf", "vector"]
