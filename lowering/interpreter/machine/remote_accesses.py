"""Accesses of CTAs to the shared memory of others of their cluster, which must be over before the
threads of the other one end. PTX ISA, distributed shared memory and barrier.cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.values import Lanes


class RemoteAccesses:
    """Of each CTA of a wave, of `threads` threads in `slots` thread slots: the last accesses of
    other CTAs to its shared memory, by who does them, and how many of its threads have ended."""

    def __init__(self, clocks: Clocks, threads: int, slots: int):
        self._clocks = clocks
        self._threads = threads
        self._slots = slots
        self._ended: dict[int, int] = {}
        self._accesses: dict[int, dict[object, tuple[int, int, str]]] = {}

    def note(self, lanes: Lanes, ctas: NDArray[np.int64], what: str) -> None:
        """Threads access the shared memory of these CTAs. Raises Fault where one has ended."""
        remote = np.flatnonzero(ctas != lanes // self._slots)
        stamps = self._clocks.now(lanes)
        for index in remote.tolist():
            lane = int(lanes[index])
            self._note(int(ctas[index]), lane, (lane, int(stamps[index]), what), index)

    def note_copy(self, lane: int, cta: int, when: tuple[int, int], what: str) -> None:
        """A copy of a thread, which a phase of an mbarrier, its clock and number, completes."""
        who = self._clocks.async_writer(when[0])
        if cta != lane // self._slots:
            self._note(cta, who, (who, when[1], what), None)

    def note_commit(self, lane: int, cta: int, when: tuple[int, int]) -> None:
        """A commit of a thread arrives at a phase of an mbarrier, after its earlier ones."""
        who = self._clocks.async_writer(when[0])
        if cta != lane // self._slots:
            self._note(cta, ("commit", lane), (who, when[1], "a tcgen05.commit"), None)

    def _note(self, cta: int, key: object, access: tuple[int, int, str], index: int | None) -> None:
        if self._ended.get(cta, 0) == self._threads:
            raise Fault(
                "accesses the shared memory of another CTA of its cluster, whose threads have all "
                "ended; nearest legal: a barrier of the cluster at their end",
                index,
            )
        self._accesses.setdefault(cta, {})[key] = access

    def exit(self, lanes: Lanes) -> None:
        """Threads end. Raises Fault where another CTA may still access what their CTA leaves."""
        ctas, counts = np.unique(lanes // self._slots, return_counts=True)
        for cta, count in zip(ctas.tolist(), counts.tolist(), strict=True):
            self._ended[cta] = self._ended.get(cta, 0) + count
            if self._ended[cta] < self._threads or cta not in self._accesses:
                continue
            first = cta * self._slots
            known = self._clocks.seen[first : first + self._slots].max(axis=0)[None]
            for who, stamp, what in self._accesses[cta].values():
                access = np.array([[who]], dtype=np.int32), np.array([[stamp]], dtype=np.int32)
                if not self._clocks.happened(known, *access).all():
                    raise Fault(
                        f"ends the kernel while {what} of another CTA of its cluster may still "
                        "reach its shared memory: no barrier of the cluster and no mbarrier says "
                        "that it is over",
                        int(np.argmax(lanes // self._slots == cta)),
                    )
