"""The registers of each CTA, which its warpgroups give back and ask for. PTX ISA, setmaxnreg."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.lowering.interpreter.values import Lanes

WARPGROUP = 128

REGISTERS = 64 * 1024
"""The registers of an SM."""

MOST = 256
"""The most registers that a thread may have."""


@dataclass(eq=False)
class RegisterWait:
    """Threads whose warpgroups wait for registers, `count` a thread."""

    pool: RegisterPool
    op: Operation
    groups: NDArray[np.int64]
    count: int

    def take(self, lanes: Lanes) -> RegisterWait:
        """The waits of some of the threads."""
        return RegisterWait(self.pool, self.op, self.groups[lanes], self.count)

    def ready(self) -> NDArray[np.bool_]:
        """The threads whose warpgroups get what they ask for: [threads]."""
        return self.pool.grant(self.groups, self.count)

    def resume(self, lanes: Lanes) -> None:
        """The registers are theirs already."""

    def deadlock(self, lanes: Lanes) -> str:
        """The registers that are missing."""
        return self.pool.deadlock(int(self.groups[0]), self.count)


class RegisterPool:
    """The registers of a wave of CTAs of `threads` threads in `slots` thread slots.

    A kernel begins with as many a thread as one CTA may have on an SM: ptxas needs that to be known
    (`.minnctapersm 1`), or leaves setmaxnreg out.
    """

    def __init__(self, ctas: int, threads: int, slots: int):
        self._slots = slots
        self._groups = -(-slots // WARPGROUP)
        count = min(REGISTERS // max(threads, 1) // 8 * 8, MOST)
        self._held = np.full(ctas * self._groups, count, dtype=np.int64)
        self._free = np.zeros(ctas, dtype=np.int64)

    def groups_of(self, lanes: Lanes) -> NDArray[np.int64]:
        """The warpgroups of threads, in the wave."""
        return lanes // self._slots * self._groups + lanes % self._slots // WARPGROUP

    def release(self, lanes: Lanes, count: int) -> None:
        """`setmaxnreg.dec` by whole warpgroups: they keep `count` registers a thread."""
        for group in np.unique(self.groups_of(lanes)).tolist():
            extra = max(int(self._held[group]) - count, 0)
            self._held[group] -= extra
            self._free[group // self._groups] += extra

    def request(self, op: Operation, lanes: Lanes, count: int) -> RegisterWait:
        """`setmaxnreg.inc` by whole warpgroups: they wait for `count` registers a thread."""
        return RegisterWait(self, op, self.groups_of(lanes), count)

    def grant(self, groups: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
        """Give warpgroups what is free: the threads of those that have enough, [threads]."""
        for group in np.unique(groups).tolist():
            missing = count - int(self._held[group])
            if 0 < missing <= self._free[group // self._groups]:
                self._held[group] += missing
                self._free[group // self._groups] -= missing
        return self._held[groups] >= count

    def deadlock(self, group: int, count: int) -> str:
        """The registers that are missing."""
        own, free = int(self._held[group]), int(self._free[group // self._groups])
        return (
            f"deadlock: a warpgroup waits for {count} registers a thread and has {own}, while "
            f"others of its CTA have given back {free}; nearest legal: {own + free // 8 * 8}, or "
            "a setmaxnreg dec in another warpgroup"
        )
