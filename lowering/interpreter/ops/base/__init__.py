"""Upstream dialects."""

from tilewright.lowering.interpreter.ops.base import (
    arith,
    control_flow,
    gpu,
    llvm,
    memref,
    printf,
    vector,
)

__all__ = ["arith", "control_flow", "gpu", "llvm", "memref", "printf", "vector"]
