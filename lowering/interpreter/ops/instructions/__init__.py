"""Instructions, as atoms of `cute_nvgpu` and as ops of `ptx`."""

from tilewright.lowering.interpreter.ops.instructions import (
    address,
    atomics,
    cluster,
    cute_nvgpu,
    matrix_copy,
    mbarrier,
    multimem,
    ptx,
    smem_desc,
    tcgen05_sync,
    tensor_memory,
    tma,
    umma,
    wgmma,
    wmma,
)

__all__ = [
    "address",
    "atomics",
    "cluster",
    "cute_nvgpu",
    "matrix_copy",
    "mbarrier",
    "multimem",
    "ptx",
    "smem_desc",
    "tcgen05_sync",
    "tensor_memory",
    "tma",
    "umma",
    "wgmma",
    "wmma",
]
