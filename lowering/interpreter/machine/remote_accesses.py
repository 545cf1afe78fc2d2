"""Accesses of CTAs to the shared memory of others of their cluster, which must have begun, and may
not end before they are over. PTX ISA, distributed shared memory and barrier.cluster."""

from collections.abc import Callable

import numpy as np

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import Int64Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.clocks import Clocks, Known
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.machine.tcgen05_streams import Stream
from tilewright.lowering.interpreter.values import Lanes

Over = Callable[[Known], bool]
"""True where an access is over for those who know so much: [clocks]."""


@entity
class RemoteAccesses:
    """Of each CTA of a wave, of `threads` threads in `slots` thread slots: the last accesses of
    other CTAs to its shared memory, by who does them, and how many of its threads have ended."""

    _clocks: Clocks
    _threads: int
    _slots: int
    _ended: dict[int, int] = factory(dict)
    _accesses: dict[int, dict[object, tuple[Over, str]]] = factory(dict)

    def note(self, lanes: Lanes, ctas: Int64Array, what: str) -> None:
        """Threads access the shared memory of these CTAs. Raises Fault where one may not have
        begun, or has ended."""
        remote = np.flatnonzero(ctas != lanes // self._slots)
        stamps = self._clocks.now(lanes)
        for index in remote.tolist():
            lane = int(lanes[index])
            over = self._happened(lane, int(stamps[index]))
            self._check_begun(lane, int(ctas[index]), what, index)
            self._note(int(ctas[index]), lane, over, what, index)

    def note_copy(self, lane: int, cta: int, when: tuple[int, int], what: str) -> None:
        """A copy of a thread, or a commit's arrival, which a phase of an mbarrier, its clock and
        number, completes. Nothing orders it after earlier ones of the thread at other mbarriers."""
        column, phase = when
        if cta != lane // self._slots:
            self._check_begun(lane, cta, what, None)
            who = self._clocks.async_writer(column)
            self._note(cta, who, self._happened(who, phase), what, None)

    def note_operand(self, lane: int, cta: int, stream: Stream, what: str) -> None:
        """A tcgen05 operation of a thread reads, until a commit of its stream is known of."""
        if cta != lane // self._slots:
            self._check_begun(lane, cta, what, None)
            epoch = stream.epoch
            self._note(
                cta, stream, lambda known: stream.complete_by_phase(known) >= epoch, what, None
            )

    def _check_begun(self, lane: int, cta: int, what: str, index: int | None) -> None:
        warps = self._slots // WARP
        first = cta * warps % self._clocks.warps
        if not self._clocks.has_begun(self._clocks.seen[lane], first, first + warps):
            raise Fault(
                f"lets {what} access the shared memory of another CTA of its cluster, which may "
                "not have begun; nearest legal: a barrier of the cluster before it",
                index,
            )

    def _happened(self, who: int, stamp: int) -> Over:
        access = np.array([[who]], dtype=np.int32), np.array([[stamp]], dtype=np.int32)
        return lambda known: bool(self._clocks.happened(known[None], *access).all())

    def _note(self, cta: int, key: object, over: Over, what: str, index: int | None) -> None:
        if self._ended.get(cta, 0) == self._threads:
            raise Fault(
                "accesses the shared memory of another CTA of its cluster, whose threads have all "
                "ended; nearest legal: a barrier of the cluster at their end",
                index,
            )
        self._accesses.setdefault(cta, {})[key] = over, what

    def exit(self, lanes: Lanes) -> None:
        """Threads end. Raises Fault where another CTA may still access what their CTA leaves."""
        ctas, counts = np.unique(lanes // self._slots, return_counts=True)
        for cta, count in zip(ctas.tolist(), counts.tolist(), strict=True):
            self._ended[cta] = self._ended.get(cta, 0) + count
            if self._ended[cta] < self._threads or cta not in self._accesses:
                continue
            first = cta * self._slots
            known: Known = self._clocks.seen[first : first + self._slots].max(axis=0)
            for over, what in self._accesses[cta].values():
                if not over(known):
                    raise Fault(
                        f"ends the kernel while {what} of another CTA of its cluster may still "
                        "reach its shared memory: no barrier of the cluster and no mbarrier says "
                        "that it is over",
                        int(np.argmax(lanes // self._slots == cta)),
                    )
