"""The barrier of a cluster: threads arrive, and wait for all others. PTX ISA, barrier.cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.clocks import Clocks, together
from tilewright.lowering.interpreter.values import Lanes


@dataclass(eq=False)
class ClusterWait:
    """Threads that wait for a phase of their cluster's barrier."""

    barrier: ClusterBarrier
    op: Operation
    clusters: NDArray[np.int64]
    phases: NDArray[np.int64]

    def take(self, lanes: Lanes) -> ClusterWait:
        """What some of the threads wait for."""
        return ClusterWait(self.barrier, self.op, self.clusters[lanes], self.phases[lanes])

    def ready(self) -> NDArray[np.bool_]:
        """Whether the phase of each thread is complete: [threads]."""
        return self.barrier.completed(self.clusters) > self.phases

    def resume(self, lanes: Lanes) -> None:
        """Let threads know what all knew when they arrived."""
        self.barrier.resume(self.clusters, lanes)

    def deadlock(self, lanes: Lanes) -> str:
        """What the threads wait for in vain."""
        return self.barrier.deadlock(int(self.clusters[0]))


class ClusterBarrier:
    """The barriers of the clusters of a wave; each of `ctas` CTAs has `threads` threads in `slots`
    slots."""

    def __init__(self, clocks: Clocks, threads: int, slots: int, ctas: int):
        self._clocks = clocks
        self._threads = threads * ctas
        self._slots = slots * ctas
        self._count: dict[int, int] = {}
        self._phase: dict[int, int] = {}
        self._known: dict[int, NDArray[np.int32]] = {}
        self._released: dict[int, NDArray[np.int32]] = {}
        self._arrived: dict[int, int] = {}

    def arrive(self, lanes: Lanes) -> None:
        """Threads arrive. Raises Fault where one has arrived in this phase already."""
        warps = np.unique(lanes // 32)
        self._clocks.release(warps)
        for index, lane in enumerate(lanes.tolist()):
            phase = self._phase.get(lane // self._slots, 0)
            if self._arrived.get(lane, -1) >= phase:
                raise Fault("arrives at the barrier of the cluster twice in one phase", index)
            self._arrived[lane] = phase
        for cluster in np.unique(lanes // self._slots).tolist():
            known = self._clocks.known(warps[warps * 32 // self._slots == cluster])
            before = self._known.get(cluster)
            self._known[cluster] = known if before is None else together(before, known)
            count = int((lanes // self._slots == cluster).sum())
            self._count[cluster] = self._count.get(cluster, 0) + count
            if self._count[cluster] == self._threads:
                self._released[cluster] = self._known.pop(cluster)
                self._count[cluster] = 0
                self._phase[cluster] = self._phase.get(cluster, 0) + 1

    def wait(self, op: Operation, lanes: Lanes) -> ClusterWait:
        """What threads wait for. Raises Fault where one has not arrived."""
        phases = np.array([self._arrived.get(lane, -1) for lane in lanes.tolist()])
        if (phases < 0).any():
            raise Fault(
                "waits at the barrier of the cluster without having arrived",
                int(np.argmax(phases < 0)),
            )
        return ClusterWait(self, op, lanes // self._slots, phases)

    def completed(self, clusters: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many phases of each cluster are complete."""
        return np.array([self._phase.get(cluster, 0) for cluster in clusters.tolist()])

    def resume(self, clusters: NDArray[np.int64], lanes: Lanes) -> None:
        """Let threads know what all knew when they arrived."""
        for cluster in np.unique(clusters).tolist():
            warps = np.unique(lanes[clusters == cluster] // 32)
            self._clocks.learn(warps, self._released[cluster])

    def deadlock(self, cluster: int) -> str:
        """How many threads are missing."""
        return (
            f"deadlock: {self._count.get(cluster, 0)} of {self._threads} threads of the cluster "
            "have arrived at its barrier, and no other one will come"
        )
