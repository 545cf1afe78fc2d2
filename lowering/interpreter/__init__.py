"""The interpreter: any level of IR, executed on the CPU.

`program` turns a kernel into blocks of steps, `machine` runs them on gangs of threads, `memory`
checks every access; one module a dialect says what its ops do.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.lowering.interpreter import (
    arith,
    cluster_steps,
    control_flow,
    cute,
    cute_nvgpu,
    gpu,
    llvm,
    matrix_copy,
    mbarrier_steps,
    memref,
    ptx,
    smem_desc,
    tcgen05_steps,
    tensor_memory_steps,
    tile,
    tile_elements,
    tile_pipeline,
    tile_scheduler,
    tma,
    umma_steps,
    vector,
    warpgroup,
    wmma,
)
from tilewright.lowering.interpreter.global_memory import GlobalMemory
from tilewright.lowering.interpreter.machine import Launch, run_grid
from tilewright.lowering.interpreter.program import Builder

# Importing them fills the table of rules.
DIALECTS = (
    arith,
    cluster_steps,
    control_flow,
    cute,
    cute_nvgpu,
    gpu,
    llvm,
    matrix_copy,
    mbarrier_steps,
    memref,
    ptx,
    smem_desc,
    tcgen05_steps,
    tensor_memory_steps,
    tile,
    tile_elements,
    tile_pipeline,
    tile_scheduler,
    tma,
    umma_steps,
    vector,
    warpgroup,
    wmma,
)


def run_kernel(op: Operation, launch: Launch, memory: GlobalMemory, arguments: list[Any]) -> int:
    """Run a kernel. Returns how many thread-steps it took.

    Raises OpError for an op that has no semantics, ExecutionError for what no kernel may do.
    """
    shared = op.shared.value.data if isinstance(op, EntryOp) else 0
    program = Builder().build(op.regions[0], shared)
    return run_grid(program, launch, memory, arguments)
