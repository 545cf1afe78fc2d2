"""The barriers of each CTA: threads arrive, and some wait until all have. PTX ISA, barrier.cta."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.clocks import Clocks, together
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.values import Lanes

BARRIERS = 16
"""How many barriers a CTA has."""


@dataclass(eq=False)
class BarrierPhase:
    """A phase of a barrier: how many threads have arrived, what they knew together, and the warps
    that wait for the others."""

    arrived: int = 0
    known: NDArray[np.int32] | None = None
    waiting: list[NDArray[np.int64]] = field(default_factory=list[NDArray[np.int64]])


@dataclass(eq=False)
class BarrierWait:
    """Threads that wait at a barrier of their CTAs, each for the end of a phase."""

    barriers: CtaBarriers
    op: Operation
    barrier: int
    ctas: Lanes
    phases: NDArray[np.int64]

    def take(self, lanes: Lanes) -> BarrierWait:
        """What some of the threads wait for."""
        ctas, phases = self.ctas[lanes], self.phases[lanes]
        return BarrierWait(self.barriers, self.op, self.barrier, ctas, phases)

    def ready(self) -> NDArray[np.bool_]:
        """Whether the phase of each thread is over: [threads]."""
        return self.barriers.completed(self.ctas, self.barrier) > self.phases

    def resume(self, lanes: Lanes) -> None:
        """What others did before they arrived is known since the last one came."""

    def deadlock(self, lanes: Lanes) -> str:
        """Which warps of a CTA wait in vain."""
        return self.barriers.deadlock(int(self.ctas[0]), self.barrier)


class CtaBarriers:
    """The barriers of a wave of CTAs, of `threads` threads in `slots` thread slots each."""

    def __init__(self, clocks: Clocks, ctas: int, threads: int, slots: int):
        self._clocks = clocks
        self._threads = threads
        self._slots = slots
        self._completed = np.zeros((ctas, BARRIERS), dtype=np.int64)
        self._phases: dict[tuple[int, int], BarrierPhase] = {}

    def arrive(
        self, lanes: Lanes, barrier: int, threads: int | None, *, waits: bool = False
    ) -> None:
        """Threads arrive at a barrier of `threads` threads, None being all of the CTA.

        Those who wait learn what all knew when they arrived; who only arrives learns nothing.
        """
        expected = self._threads if threads is None else threads
        ctas = lanes // self._slots
        for cta in np.unique(ctas).tolist():
            warps = np.unique(lanes[ctas == cta] // WARP)
            phase = self._phases.setdefault((cta, barrier), BarrierPhase())
            phase.arrived += int((ctas == cta).sum())
            self._clocks.release(warps)
            known = self._clocks.known(warps)
            phase.known = known if phase.known is None else together(phase.known, known)
            if waits:
                phase.waiting.append(warps)
            if phase.arrived > expected:
                raise Fault(
                    f"barrier {barrier} expects {expected} threads, and {phase.arrived} came"
                )
            if phase.arrived == expected:
                for waiting in phase.waiting:
                    self._clocks.learn(waiting, phase.known)
                del self._phases[cta, barrier]
                self._completed[cta, barrier] += 1

    def wait(self, op: Operation, lanes: Lanes, barrier: int, threads: int | None) -> BarrierWait:
        """Threads arrive, and wait for the others."""
        ctas = lanes // self._slots
        phases = self.completed(ctas, barrier)
        self.arrive(lanes, barrier, threads, waits=True)
        return BarrierWait(self, op, barrier, ctas, phases)

    def completed(self, ctas: Lanes, barrier: int) -> NDArray[np.int64]:
        """How many phases of the barrier are over in each of these CTAs."""
        return self._completed[ctas, barrier]

    def deadlock(self, cta: int, barrier: int) -> str:
        """Which warps of a CTA wait at a barrier in vain."""
        phase = self._phases[cta, barrier]
        warps = np.unique(np.concatenate(phase.waiting) * WARP % self._slots // WARP)
        return (
            f"deadlock: {phase.arrived} threads (warps {', '.join(map(str, warps.tolist()))}) wait "
            f"at barrier {barrier}, and no other thread of the CTA will come"
        )
