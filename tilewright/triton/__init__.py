"""Triton kernels: `@triton.jit` functions on the CPU, and compiled by tilewright.

    import tilewright as tw

    with tw.triton.on_cpu():                            # every launch of a script runs here
        add[(8,)](x, y, z, n, BLOCK=128)
    with tw.triton.on_gpu():                            # or compiled by tilewright, on the GPU
        add[(8,)](x, y, z, n, BLOCK=128)
    tw.triton.module(add, x, y, z, n, BLOCK=128)        # its Tile IR
    tw.triton.compile(add, x, y, z, n, BLOCK=128, arch="sm_90a")    # its PTX

Needs the extra `triton`: Triton's own front end makes TTIR, which becomes Tile IR
(`convert-triton-to-cuda-tile`). On the CPU arguments are torch tensors there, or arrays of NumPy.
Triton imports this package to find its back end, so that it is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tilewright.triton.launches import compile, module, on_cpu, on_gpu

__all__ = ["compile", "module", "on_cpu", "on_gpu"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'tilewright.triton' has no attribute '{name}'")
    return getattr(import_module("tilewright.triton.launches"), name)
