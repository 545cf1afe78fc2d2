"""Triton kernels: `@triton.jit` functions on the CPU, and compiled by tilewright.

    import tilewright as tw

    with tw.triton.on_cpu():                            # every launch of a script runs here
        add[(8,)](x, y, z, n, BLOCK=128)
    tw.triton.module(add, x, y, z, n, BLOCK=128)        # its Tile IR
    tw.triton.compile(add, x, y, z, n, BLOCK=128, arch="sm_90a")    # its PTX

Needs the extra `triton`, and no GPU: Triton's own front end makes TTIR, which becomes Tile IR
(`convert-triton-to-cuda-tile`). Arguments are torch tensors on the CPU, or arrays of NumPy.
"""

from tilewright.triton.launches import compile, module, on_cpu

__all__ = ["compile", "module", "on_cpu"]
