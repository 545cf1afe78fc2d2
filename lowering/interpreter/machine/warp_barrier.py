"""The barrier of each warp: threads wait until all of theirs have come. PTX ISA, bar.warp.sync."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.values import Lanes


@dataclass(eq=False)
class WarpWait:
    """Threads that wait for the rest of their warps."""

    barrier: WarpBarrier
    op: Operation
    warps: NDArray[np.int64]
    phases: NDArray[np.int64]

    def take(self, lanes: Lanes) -> WarpWait:
        """What some of the threads wait for."""
        return WarpWait(self.barrier, self.op, self.warps[lanes], self.phases[lanes])

    def ready(self) -> NDArray[np.bool_]:
        """Whether the warp of each thread is complete: [threads]."""
        return self.barrier.completed(self.warps) > self.phases

    def resume(self, lanes: Lanes) -> None:
        """What the warp's threads did before is before what follows since the last one came."""

    def deadlock(self, lanes: Lanes) -> str:
        """How many of a warp's threads have come in vain."""
        count = int((self.warps == self.warps[0]).sum())
        return (
            f"{self.op.name} needs all {WARP} threads of a warp, and {count} execute it "
            "(bar.warp.sync: no other one will come)"
        )


class WarpBarrier:
    """The barriers of the warps of a wave."""

    def __init__(self, clocks: Clocks):
        self._clocks = clocks
        self._count = np.zeros(len(clocks.seen), dtype=np.int64)
        self._phase = np.zeros(len(clocks.seen), dtype=np.int64)

    def wait(self, op: Operation, lanes: Lanes) -> WarpWait:
        """Threads arrive: what they wait for."""
        warps = lanes // WARP
        waits = WarpWait(self, op, warps, self._phase[warps])
        np.add.at(self._count, warps, 1)
        full = np.flatnonzero(self._count == WARP)
        self._count[full] = 0
        self._phase[full] += 1
        self._clocks.release(full)
        return waits

    def completed(self, warps: NDArray[np.int64]) -> NDArray[np.int64]:
        """How often each of these warps was complete."""
        return self._phase[warps]
