"""The registers of each CTA, which its warpgroups give back and ask for. PTX ISA, setmaxnreg."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cute_nvgpu.lattice.sm90 import WARPGROUP
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array
from tilewright.lowering.interpreter.machine.wait import Wait
from tilewright.lowering.interpreter.values import Lanes

REGISTERS = 64 * 1024
"""The registers of an SM."""

MOST = 256
"""The most registers that a thread may have."""


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

    def groups_of(self, lanes: Lanes) -> Int64Array:
        """The warpgroups of threads, in the wave."""
        return lanes // self._slots * self._groups + lanes % self._slots // WARPGROUP

    def release(self, lanes: Lanes, count: int) -> None:
        """`setmaxnreg.dec` by whole warpgroups: they keep `count` registers a thread."""
        for group in np.unique(self.groups_of(lanes)).tolist():
            extra = max(int(self._held[group]) - count, 0)
            self._held[group] -= extra
            self._free[group // self._groups] += extra

    def request(self, op: Operation, lanes: Lanes, count: int) -> Wait:
        """`setmaxnreg.inc` by whole warpgroups: they wait for `count` registers a thread."""
        return Wait(self, op, (self.groups_of(lanes), np.full(len(lanes), count)))

    def ready(self, groups: Int64Array, counts: Int64Array) -> BoolArray:
        """Give warpgroups what is free: the threads of those that have enough, [threads]."""
        for group in np.unique(groups).tolist():
            missing = int(counts[0] - self._held[group])
            if 0 < missing <= self._free[group // self._groups]:
                self._held[group] += missing
                self._free[group // self._groups] -= missing
        return self._held[groups] >= counts

    def resume(self, *_: Int64Array) -> None:
        """The registers are theirs already."""

    def deadlock(self, lanes: Lanes, groups: Int64Array, counts: Int64Array) -> str:
        """The registers that are missing."""
        group, count = int(groups[0]), int(counts[0])
        own, free = int(self._held[group]), int(self._free[group // self._groups])
        return (
            f"deadlock: a warpgroup waits for {count} registers a thread and has {own}, while "
            f"others of its CTA have given back {free}; nearest legal: {own + free // 8 * 8}, or "
            "a setmaxnreg dec in another warpgroup"
        )
