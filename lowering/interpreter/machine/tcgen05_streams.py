"""The order of operations in tensor memory. PTX ISA, tcgen05 memory consistency.

The loads of a warp, its stores, and the asynchronous instructions (MMAs, copies and shifts) of a
thread are a `Stream` each, cut into epochs. Whoever looks at a cell asks the stream through which
epoch it is complete, as far as the looking threads know: they know what they had learned of by
their last `tcgen05.fence.after_thread_sync`.
"""

from tilewright.dialects.frozen import entity, factory, frozen
from tilewright.lowering.interpreter.array_types import Int64Array
from tilewright.lowering.interpreter.machine.clocks import Known
from tilewright.lowering.interpreter.machine.last_accesses import LastReads

Columns = Int64Array
"""Clocks of a cluster, by their numbers."""


@frozen
class AsyncOperation:
    """An MMA, a copy or a shift: its kind, mma, cp or shift, and what two MMAs must share to work
    on the same cells one after the other, or a copy's shape; `number` is that of its op."""

    signature: tuple[str, object]
    number: int

    @property
    def kind(self) -> str:
        """mma, cp or shift."""
        return self.signature[0]


@entity
class Stream:
    """Accesses of one kind, of the warp or the thread that `lane` is the first lane of.

    `waited` is the last epoch that a wait completed, of loads and stores; `commits` are those that
    a phase of an mbarrier completes, (epoch, clock of the mbarrier, phase), of asynchronous
    operations. `fences` are the epochs before a `fence.before_thread_sync`, with its time.
    """

    number: int
    lane: int
    wait: str | None
    epoch: int = 1
    waited: int = 0
    fences: list[tuple[int, int]] = factory(list)
    commits: list[tuple[int, int, int]] = factory(list)
    unfenced: set[int] = factory(set)
    reads: dict[int, LastReads] = factory(dict)

    @property
    def asynchronous(self) -> bool:
        """True where commits complete it, and not waits."""
        return self.wait is None

    @property
    def warp(self) -> int:
        """The warp, in the wave."""
        return self.lane // 32

    def waits(self, lanes: list[int]) -> None:
        """The warp's accesses so far are complete."""
        self.waited = self.epoch
        self.epoch += 1
        self.unfenced = set(lanes)

    def fence(self, lane: int, now: int) -> None:
        """A thread executes `fence.before_thread_sync` at a time of its warp."""
        if self.asynchronous:
            self.fences.append((self.epoch, now))
            self.epoch += 1
            return
        self.unfenced.discard(lane)
        if self.waited and not self.unfenced:
            self.fences.append((self.waited, now))

    def commit(self, phases: list[tuple[int, int]]) -> None:
        """These phases of mbarriers, (clock, phase), complete what is before."""
        self.commits += [(self.epoch, clock, phase) for clock, phase in phases]
        self.epoch += 1

    # What somebody knows of it

    def complete(self, warp: int, known: Known, columns: Columns) -> int:
        """The last epoch that is complete for threads of a warp; `columns` are the clocks of the
        stream's threads."""
        if self.asynchronous:
            return self.complete_by_phase(known)
        return self.waited if warp == self.warp else self.begun(known, columns)

    def complete_by_phase(self, known: Known) -> int:
        """The last epoch that a known phase of an mbarrier completes."""
        width = len(known)
        for epoch, clock, phase in reversed(self.commits):
            if clock < width and known[clock] > phase:
                return epoch
        return 0

    def begun(self, known: Known, columns: Columns) -> int:
        """The last epoch before a `fence.before_thread_sync` that is known of."""
        for epoch, when in reversed(self.fences):
            if when < known[columns].max():
                return epoch
        return 0

    # Reads of cells

    def read(self, cta: int, cells: Int64Array, op: int, size: int) -> None:
        """It reads cells of a CTA."""
        if cta not in self.reads:
            self.reads[cta] = LastReads(size)
        self.reads[cta].note(cells, self.epoch, op)

    def why_incomplete(
        self, epoch: int, warp: int, known: Known, now: Known, columns: Columns
    ) -> str:
        """The step that is missing before somebody who has `known` at the last fence, and `now`
        altogether, may rely on an epoch."""
        if self.complete(warp, now, columns) >= epoch:
            return "no tcgen05.fence.after_thread_sync follows what it waited for"
        if self.asynchronous:
            if all(committed < epoch for committed, _, _ in self.commits):
                return "no tcgen05.commit of its thread follows it"
            return "no wait for the mbarrier of its tcgen05.commit is before this"
        if self.waited < epoch:
            return f"no {self.wait} of its threads follows it"
        if all(fenced < epoch for fenced, _ in self.fences):
            return "no tcgen05.fence.before_thread_sync of its threads follows it"
        return "no barrier orders them"
