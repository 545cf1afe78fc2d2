"""The grid of a launch, run in waves of CTAs."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from tilewright.lowering.interpreter.checks import ASKED
from tilewright.lowering.interpreter.machine.global_accesses import GlobalAccesses
from tilewright.lowering.interpreter.machine.global_memory import WORKSPACE, GlobalMemory
from tilewright.lowering.interpreter.machine.launch import Launch
from tilewright.lowering.interpreter.machine.machine import Machine
from tilewright.lowering.interpreter.machine.special_registers import clustered
from tilewright.lowering.interpreter.program import Program

RESIDENT_THREADS = 8192
"""The threads that are resident at a time: CTAs are run in waves of about this many threads,
or all of them where they wait for each other by the workspace of their grid."""


@np.errstate(all="ignore")
def run_grid(program: Program, launch: Launch, memory: GlobalMemory, arguments: list[Any]) -> int:
    """Run all CTAs of a launch, in waves. Returns how many thread-steps were executed."""
    size = prod(launch.cluster)
    per_wave = max(1, RESIDENT_THREADS // max(launch.threads * size, 1)) * size
    ctas = clustered(launch.grid, launch.cluster)
    if WORKSPACE in memory.variables:
        per_wave = launch.ctas
    first, last = 0, launch.ctas
    if (share := launch.share) is not None:
        # Random orders, and counts of steps, are those of whole waves.
        in_waves = launch.schedule is not None or launch.max_steps is not None
        first, last = share.part(launch.ctas, per_wave if in_waves else size)
    waiting: list[int] = ctas[first:last].tolist()
    if launch.ends is not None:
        waiting = [*waiting[:size], *(waiting[size:][-size:] if launch.ends > 1 else ())]
    executed, accesses = 0, GlobalAccesses(memory, launch.races, alone=share is None)
    while waiting:
        wave = np.array(waiting[:per_wave])
        del waiting[:per_wave]
        machine = Machine(program, launch, memory, accesses, wave, waiting)
        machine.run(list(arguments))
        executed += machine.executed
        if launch.progress is not None:
            launch.progress(last - len(waiting), launch.ctas)
    if "unwritten" in ASKED.get():
        launch.written = accesses.written()
    if share is not None:
        share.executed, share.uses = executed, accesses.uses()
    return executed
