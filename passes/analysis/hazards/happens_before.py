"""A launch run from event to event: the first thing that is wrong with it."""

from collections.abc import Callable, Iterable
from heapq import heappop
from typing import Any, ClassVar

from tilewright.passes.analysis.hazards.mbarriers import waits_for
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.roles import RoleNumbers
from tilewright.passes.analysis.hazards.running import WARPGROUP
from tilewright.passes.analysis.hazards.shared_accesses import no_wait
from tilewright.passes.analysis.hazards.tensor_accesses import TensorAccesses
from tilewright.passes.analysis.hazards.trace import WARP, Event

Handler = Callable[[Any, Event, list[int]], Iterable[int]]


class HappensBefore(TensorAccesses):
    """The roles of a launch; `run` raises Hazard for the first thing that is wrong."""

    _HANDLERS: ClassVar[dict[str, Handler]] = {
        "access": TensorAccesses._access,
        "array": TensorAccesses._array,
        "global": TensorAccesses._global,
        "cp.async": TensorAccesses._cp_async,
        **dict.fromkeys(("cp.commit", "bulk.commit"), TensorAccesses._commit),
        **dict.fromkeys(("cp.wait", "bulk.wait"), TensorAccesses._group_wait),
        "cp.arrive": TensorAccesses._arrive_behind_copies,
        **dict.fromkeys(("tma.load", "tma.pair"), TensorAccesses._tma_load),
        "tma.store": TensorAccesses._tma_store,
        "init": TensorAccesses._init,
        "inval": TensorAccesses._inval,
        "arrive": TensorAccesses._arrive,
        "wait": TensorAccesses._wait,
        "fence.init": TensorAccesses._fence_init,
        "fence.proxy": TensorAccesses._fence_proxy,
        "bar": TensorAccesses._bar,
        "warp.sync": TensorAccesses._warp_sync,
        "cluster.arrive": TensorAccesses._cluster_arrive,
        "cluster.wait": TensorAccesses._cluster_wait,
        "wgmma": TensorAccesses._wgmma,
        "wgmma.fence": TensorAccesses._together,
        "wgmma.commit": TensorAccesses._wgmma_commit,
        "wgmma.wait": TensorAccesses._wgmma_wait,
        "umma": TensorAccesses._umma,
        "commit": TensorAccesses._tcgen05_commit,
        "fence.before": TensorAccesses._fence_before,
        "fence.after": TensorAccesses._fence_after,
        **dict.fromkeys(("tmem.load", "tmem.store"), TensorAccesses._tile),
        **dict.fromkeys(("tmem.wait_load", "tmem.wait_store"), TensorAccesses._tile_wait),
        "tmem.alloc": TensorAccesses._alloc,
        "tmem.relinquish": TensorAccesses._relinquish,
        "tmem.dealloc": TensorAccesses._dealloc,
        "registers": TensorAccesses._registers,
    }
    """The handler of an event, by its kind: the roles that go on at once."""

    def run(self) -> None:
        """Run all roles to their ends."""
        for role in range(len(self.roles)):
            self._enqueue(role)
        while True:
            while self._queue:
                self._step()
            if not self._open():
                break
        stuck = [role for role in range(len(self.roles)) if role not in self._ended]
        if stuck:
            self._deadlock(stuck)
        self._check_leaving()
        self._check_handed_on()
        self._check_locked()
        if self._late is not None:
            raise self._late

    def _step(self) -> None:
        index, role = heappop(self._queue)
        roles = [role]
        while self._queue and self._queue[0][0] == index:
            roles.append(heappop(self._queue)[1])
        event = self.events[index]
        if event.kind != "access":
            for waiting in roles:
                if self.pending[waiting]:
                    self._flush(waiting)
        for waiting in self._HANDLERS[event.kind](self, event, roles):
            self._next[waiting] += 1
            self._enqueue(waiting)

    def _end(self, role: int) -> None:
        if self.pending[role]:
            self._flush(role)
        self._ended.add(role)
        for access in self.streams["bulk", role]:
            if self.is_kernel and not access.done:
                raise Hazard(
                    "end", self._last_op(role), access.parts[0].event.op, no_wait("bulk", access)
                )
        self._warp_left(self.roles[role].warp)

    def _deadlock(self, stuck: RoleNumbers) -> None:
        """Say what the first of the roles that do not end waits for."""
        if not self.is_kernel or self.trace.undecided:
            return
        role = min(stuck, key=lambda role: self._rank(role))
        event = self._event_of(role)
        missing, nearest = "others of its threads never come here", "a way that they all take"
        if event.kind == "wait":
            (barrier,) = self._mbarriers(event, role)
            missing, nearest = waits_for(barrier)
        elif event.kind == "registers":
            team = self._team(role, WARPGROUP // WARP)
            cta, count, _ = self.asking.get(team, (self.roles[role].cta, 0, []))
            most = (self.registers.get(team, 0) + self.free[cta]) // 8 * 8
            missing = (
                f"its warpgroup asks for {count} registers a thread, has "
                f"{self.registers.get(team, 0)}, and others have given back {self.free[cta]}"
            )
            nearest = f"{most}, or a setmaxnreg dec in another warpgroup"
        elif event.kind == "bar":
            barrier = self.barriers[self.roles[role].cta, event.constant[0]]
            missing = f"the barrier counts {barrier.expected} threads, and {barrier.threads} arrive"
            nearest = f"{barrier.threads} threads"
        raise Hazard("deadlock", event.op, missing=missing, nearest=nearest,
                     where=self._where(event, role))  # fmt: skip

    def _rank(self, role: int) -> tuple[bool, int]:
        event = self._event_of(role)
        consumer = False
        if event.kind == "wait":
            (barrier,) = self._mbarriers(event, role)
            consumer = barrier.bytes == 0 and barrier.pending == barrier.count
        return consumer, self._traces[role][self._next[role]]

    def _check_leaving(self) -> None:
        """Check that tensor memory is given back, and that what reaches another CTA of the cluster
        is over, as its threads know at their end."""
        if not self.is_kernel:
            return
        for left in (allocation for cta in self.allocated for allocation in self._live(cta)):
            raise Hazard("leak", left.op)
        for cta, done, op in self._remote:
            rows = [self.knows[role.number] for role in self.roles if role.cta == cta]
            if not any(row[clock] >= time for row in rows for clock, time in done):
                last = [self._last_op(role.number) for role in self.roles
                        if role.cta == cta and self._traces[role.number]]  # fmt: skip
                raise Hazard("leaves", last[-1] if last else op, op)
