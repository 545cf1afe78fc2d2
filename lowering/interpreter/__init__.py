"""The interpreter: any level of IR, executed on the CPU.

`builder` turns a kernel into a `program`, blocks of steps, and `machine` runs them on gangs of
threads and checks every access; in `ops`, one module a dialect or instruction family says what its
ops do.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from tilewright.diagnostic import OpError
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import why_too_much
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.lowering.interpreter.builder import Builder
from tilewright.lowering.interpreter.machine.global_memory import GlobalMemory
from tilewright.lowering.interpreter.machine.machine import Launch, run_grid
from tilewright.lowering.interpreter.ops import base, instructions, tile
from tilewright.lowering.interpreter.register_builder import Allocation, RegisterBuilder
from tilewright.lowering.interpreter.timeline.record import Timeline

RULES_OF = (base, instructions, tile)
"""Importing them fills the table of rules."""


def run_kernel(
    op: Operation,
    launch: Launch,
    memory: GlobalMemory,
    arguments: list[Any],
    registers: Allocation | None = None,
    timeline: Timeline | None = None,
) -> int:
    """Run a kernel, a `ptx.entry` on `registers`, of which a `timeline` may be kept. Returns how
    many thread-steps it took.

    Raises OpError for an op that has no semantics, ExecutionError for what no kernel may do.
    """
    body = op.regions[0]
    shared = op.shared.value.data if isinstance(op, EntryOp) else 0
    builder = Builder() if registers is None else RegisterBuilder(body, registers)
    program = builder.build(body, shared)
    if (why := why_too_much(program.shared_bytes, target(launch.arch))) is not None:
        raise OpError(op, f"'{op.name}' {why}")
    if timeline is not None:
        timeline.watch(program, builder.slots, launch)
    return run_grid(program, launch, memory, arguments)
