"""One mbarrier, and the arrivals of its phases."""

from dataclasses import field

import numpy as np

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import BoolArray, Int32Array
from tilewright.lowering.interpreter.machine.clocks import Clocks, together
from tilewright.lowering.interpreter.values import Lanes


@entity
class Arrivals:
    """The arrivals of one phase: threads and their clocks, and whether bytes or what threads
    started completed it too."""

    arrivals: list[tuple[Lanes, Int32Array]] = factory(list)
    asynchronous: bool = False

    def note(self, lanes: Lanes, stamps: Int32Array, *, asynchronous: bool) -> None:
        """Threads arrive."""
        self.arrivals.append((lanes, stamps))
        self.asynchronous |= asynchronous

    def known_to(self, lanes: Lanes, clocks: Clocks) -> BoolArray:
        """True for threads that know of all of these, or are the ones that arrived: [threads]."""
        columns = map(np.concatenate, zip(*self.arrivals, strict=True))
        who, stamps, _ = np.broadcast_arrays(*columns, lanes[:, None])
        happened = clocks.happened(clocks.seen[lanes], who, stamps)
        return (happened | (who == lanes[:, None])).all(axis=1)


@entity
class Mbarrier:
    """One mbarrier: how many arrivals and bytes its phase still waits for.

    `known` is what those knew who arrived, `released` what who waited for a phase learns, of other
    CTAs what they have read alone; `written` and `handed_on` are what they wrote, too.

    `column` is its clock, `landed` that by which others know of what copies wrote. `arrived` are
    the arrivals of the phase, `last` those of the one before. `completed` counts the phases of all
    mbarriers that were ever at its address, `first` those before it. `fenced` says that a fence of
    its `maker` showed it to copies. `used` is when each thread of the cluster last arrived or
    looked, 0 for never, and `copied` the phase that the last copy or commit arrives at; `watched`
    are how many phases threads saw complete by relaxed looks.
    """

    expected: int
    column: int
    landed: int
    first: int
    maker: int
    op: int
    released: Int32Array
    used: Int32Array
    copied: int = -1
    pending: int = 0
    bytes: int = 0
    completed: int = 0
    fenced: bool = False
    arrived: Arrivals = factory(Arrivals)
    last: Arrivals = factory(Arrivals)
    watched: dict[int, int] = factory(dict)
    known: Int32Array = field(init=False)
    written: Int32Array = field(init=False)
    handed_on: Int32Array = field(init=False)

    def __post_init__(self) -> None:
        self.pending, self.completed = self.expected, self.first
        self.known = self.written = self.handed_on = self.released

    @property
    def phase(self) -> int:
        """The number of the phase that is not complete."""
        return self.completed - self.first

    def settle(self) -> None:
        """Complete the phase where nothing is left to wait for."""
        if self.pending or self.bytes:
            return
        self.completed += 1
        self.pending = self.expected
        self.arrived, self.last = Arrivals(), self.arrived
        self.handed_on = together(self.handed_on, self.written)
        self.released = together(self.released, self.known)
        missing = max(self.landed + 1 - len(self.released), 0)
        self.released = np.pad(self.released, (0, missing))
        self.released[[self.column, self.landed]] = self.completed
