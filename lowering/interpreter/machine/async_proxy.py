"""The async proxy and threads: registers of A that wgmmas read, and the fences after which the
proxy sees what a thread wrote. PTX ISA 9.7.15.7 and 9.7.13.4.
"""

import numpy as np

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import Int32Array, Int64Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.clocks import Clocks, Known
from tilewright.lowering.interpreter.values import Lanes


@entity
class AsyncFragment:
    """The registers of A that one wgmma reads: `slots` of the program, in threads `lanes`, whose
    groups are `group`."""

    slots: frozenset[int]
    lanes: Lanes
    group: Int64Array
    op: int


@entity
class AsyncFragments:
    """The registers of A that wgmmas in flight read; `completed` are each thread's groups."""

    _completed: Int64Array
    _op_names: dict[int, str]
    _fragments: list[AsyncFragment] = factory(list)

    def __len__(self) -> int:
        return len(self._fragments)

    def issue(self, fragment: AsyncFragment) -> None:
        """A wgmma that reads A from registers begins."""
        self._fragments.append(fragment)

    def forget(self) -> None:
        """Let go of what no wgmma in flight reads any more."""
        self._fragments = [
            fragment
            for fragment in self._fragments
            if (fragment.group >= self._completed[fragment.lanes]).any()
        ]

    def check_writes(self, slots: tuple[int, ...], lanes: Lanes) -> None:
        """Raise Fault where threads are about to write registers that a wgmma in flight reads."""
        for fragment in self._fragments:
            if not fragment.slots.isdisjoint(slots):
                self._check(fragment, lanes)

    def _check(self, fragment: AsyncFragment, lanes: Lanes) -> None:
        _, mine, theirs = np.intersect1d(lanes, fragment.lanes, return_indices=True)
        mine = mine[fragment.group[theirs] >= self._completed[fragment.lanes[theirs]]]
        if len(mine):
            raise Fault(
                f"overwrites registers of operand A of {self._op_names[fragment.op]}, "
                "which no wgmma.wait_group has completed",
                int(mine[0]),
            )


class ProxyFences:
    """The writes of threads that the async proxy sees.

    Of each unit of shared memory it knows how many fences its writer had executed before, and of
    each fence when it was, in the clock of its thread.
    """

    def __init__(self, clocks: Clocks, size: int, op_names: dict[int, str]):
        threads = len(clocks.seen)
        self._clocks = clocks
        self.before = np.full(size, -1, dtype=np.int32)
        self.count = np.zeros(threads, dtype=np.int32)
        self._when = np.zeros((threads, 1), dtype=np.int32)
        self._op_names = op_names

    def wrote(self, lanes: Lanes, units: Int64Array) -> None:
        """Threads wrote units: [threads, units]."""
        self.before[units] = self.count[lanes][:, None]

    def wrote_async(self, units: Int64Array) -> None:
        """The async proxy wrote units itself, and sees them without a fence."""
        self.before[units] = -1

    def fence(self, lanes: Lanes) -> None:
        """Threads execute `fence.proxy.async`."""
        count = self.count[lanes]
        if int(count.max()) == self._when.shape[1]:
            self._when = np.concatenate([self._when, np.zeros_like(self._when)], axis=1)
        self._when[lanes, count] = self._clocks.now(lanes)
        self.count[lanes] += 1

    def check(
        self,
        units: Int64Array,
        writer: Int32Array,
        known: Known,
        write_op: Int32Array,
        verb: str,
        lane: int | None,
    ) -> None:
        """Raise Fault where the async proxy accesses units, [1, units], that their `writer` did not
        fence, or whose fence is not known to who starts the access: a thread `lane`, or several."""
        before = self.before[units]
        generic = before >= 0
        if not generic.any():
            return
        unfenced = generic & (before >= self.count[writer])
        number = np.minimum(np.maximum(before, 0), self._when.shape[1] - 1)
        late = generic & ~unfenced & (writer != (-1 if lane is None else lane))
        fences = self._when[writer, number]
        late &= ~self._clocks.happened(known, writer, fences, writes=True)
        for wrong, why in (
            (unfenced, "no fence.proxy.async of its thread follows it"),
            (late, "no barrier follows the fence.proxy.async of its thread"),
        ):
            if wrong.any():
                op = int(write_op[units[wrong][0]])
                raise Fault(f"{verb} shared memory that {self._op_names[op]} wrote, and {why}")
