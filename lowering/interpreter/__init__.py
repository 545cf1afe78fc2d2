"""The interpreter: any level of IR, executed on the CPU.

`program` turns a kernel into blocks of steps, `machine` runs them on gangs of threads, `memory`
checks every access; one module a dialect says what its ops do.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.lowering.interpreter.machine.global_memory import GlobalMemory
from tilewright.lowering.interpreter.machine.machine import Launch, run_grid
from tilewright.lowering.interpreter.ops.base import arith, control_flow, gpu, llvm, memref, vector
from tilewright.lowering.interpreter.ops.instructions import cluster as cluster_steps
from tilewright.lowering.interpreter.ops.instructions import (
    cute_nvgpu,
    matrix_copy,
    ptx,
    smem_desc,
    tma,
    wmma,
)
from tilewright.lowering.interpreter.ops.instructions import mbarrier as mbarrier_steps
from tilewright.lowering.interpreter.ops.instructions import tcgen05_sync as tcgen05_steps
from tilewright.lowering.interpreter.ops.instructions import tensor_memory as tensor_memory_steps
from tilewright.lowering.interpreter.ops.instructions import umma as umma_steps
from tilewright.lowering.interpreter.ops.instructions import wgmma as warpgroup
from tilewright.lowering.interpreter.ops.tile import algebra as cute
from tilewright.lowering.interpreter.ops.tile import elements as tile_elements
from tilewright.lowering.interpreter.ops.tile import pipeline as tile_pipeline
from tilewright.lowering.interpreter.ops.tile import scheduler as tile_scheduler
from tilewright.lowering.interpreter.ops.tile import tensors as tile
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
