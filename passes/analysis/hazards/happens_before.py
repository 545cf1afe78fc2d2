"""Roles run against each other, from event to event, under vector clocks.

What a role knows is a row of numbers: of each role how often it had let go of something when what it
did then is before, and of each barrier how many of its rounds are over. The package's docstring says
why one order of running stands for all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np
from xdsl.dialects import memref
from xdsl.ir import Operation

from tilewright.diagnostic import named
from tilewright.dialects.cute_nvgpu.ops import tmem
from tilewright.passes.analysis.hazards.accesses import Access, Part, clash
from tilewright.passes.analysis.hazards.events import Place
from tilewright.passes.analysis.hazards.follow import WARP, Event, OutOfBounds, Trace, View
from tilewright.passes.analysis.hazards.launches import Launch
from tilewright.passes.analysis.hazards.phases import Barrier, Clock, Mbarrier, join
from tilewright.passes.analysis.hazards.cells import Cells, Memory
from tilewright.passes.analysis.hazards.placement import is_tensor
from tilewright.passes.analysis.hazards.report import (
    NO_AFTER,
    NO_BEFORE,
    NO_COMMIT,
    NO_ORDER,
    NO_WAIT,
    Hazard,
)
from tilewright.passes.analysis.hazards.roles import Role
from tilewright.passes.analysis.hazards.scalars import UNKNOWN

WARPGROUP = 128
REGISTERS, MOST_REGISTERS = 64 * 1024, 256
"""The registers of an SM, and the most that a thread may have."""

ALWAYS = 1 << 30
"""When a thread alone knows of itself: always."""

_ORDERED = {("cp", "mma"), ("shift", "mma"), ("mma", "shift"), ("mma", "cp")}
"""Kinds of tcgen05 operations of which one thread's first is done before its second. PTX ISA,
tcgen05 memory consistency; that of mma and cp is CUTLASS's."""

Key = tuple[int, object]


class Machine:
    """The roles of a launch; `run` raises Hazard for the first thing that is wrong."""

    def __init__(
        self, trace: Trace, launch: Launch, roles: list[Role], members: dict[int, list[int]],
        memory: Memory,
    ):  # fmt: skip
        self.events, self.launch, self.trace = trace.events, launch, trace
        self.roles, self.members = roles, members
        self.is_kernel = launch.is_kernel
        barriers = {
            (cta, *event.barrier)
            for event in self.events
            if event.barrier is not None
            for cta in range(launch.ctas)
        }
        named_barriers = {event.constant[0] for event in self.events if event.kind == "bar"}
        self.width = len(roles) + len(barriers) + launch.ctas * len(named_barriers) + 1
        clocks = iter(range(len(roles), self.width))
        self.mbarriers = {key: Mbarrier(next(clocks), self.width) for key in barriers}
        self.barriers = {
            (cta, number): Barrier(next(clocks), self.width)
            for cta in range(launch.ctas)
            for number in named_barriers
        }
        self.cluster = Barrier(next(clocks), self.width)
        self.knows: list[Clock] = [[0] * self.width for _ in roles]
        self.fenced: list[Clock] = [[0] * self.width for _ in roles]
        self.now = [1] * len(roles)
        for role in roles:
            if role.alone:
                self.knows[role.number][role.number] = ALWAYS
        self.accesses: defaultdict[Key, list[Access]] = defaultdict(list)
        self.tensors: defaultdict[Key, list[Access]] = defaultdict(list)
        self.pending: list[dict[tuple[Key, bool], list[Part]]] = [{} for _ in roles]
        self.streams: defaultdict[tuple[str, int], list[Access]] = defaultdict(list)
        self.groups: defaultdict[tuple[str, int], int] = defaultdict(int)
        self.gathered: defaultdict[tuple[object, int], list[int]] = defaultdict(list)
        self.remote: list[tuple[int, tuple[int, int], Operation]] = []
        self.cells = Cells(trace, roles, memory)
        self._warps: defaultdict[int, list[int]] = defaultdict(list)
        for role in roles:
            self._warps[role.warp].append(role.number)
        self._ended: set[int] = set()
        self._stirred = [0] * len(roles)
        self._wanted: dict[tuple[int, int, int], list[int]] = {}
        self._met: dict[tuple[int, ...], list[int]] = {}
        self._teams = {
            size: [self._team_of(role, size) for role in roles] for size in (1, WARPGROUP // WARP)
        }
        self.registers: dict[int, int] = {}
        self.free: defaultdict[int, int] = defaultdict(int)
        self.asking: dict[int, tuple[int, int, list[int]]] = {}
        self._queue: list[tuple[int, int]] = []
        self._next = [0] * len(roles)
        self._handlers: dict[str, Callable[[int, Event, list[int]], Iterable[int]]] = {
            "access": self._access,
            "cp.async": self._cp_async,
            "cp.commit": lambda index, event, roles: self._commit("cp", roles),
            "cp.wait": lambda index, event, roles: self._group_wait("cp", event, roles),
            "tma.load": self._tma_load,
            "tma.store": self._tma_store,
            "bulk.commit": lambda index, event, roles: self._commit("bulk", roles),
            "bulk.wait": lambda index, event, roles: self._group_wait("bulk", event, roles),
            "init": self._init,
            "inval": self._inval,
            "arrive": self._arrive,
            "wait": self._wait,
            "fence.init": self._fence_init,
            "fence.proxy": self._fence_proxy,
            "bar": self._bar,
            "warp.sync": self._warp_sync,
            "cluster.arrive": self._cluster_arrive,
            "cluster.wait": self._cluster_wait,
            "wgmma": self._wgmma,
            "wgmma.fence": lambda index, event, roles: self._together(index, event, roles),
            "wgmma.commit": self._wgmma_commit,
            "wgmma.wait": self._wgmma_wait,
            "umma": self._umma,
            "commit": self._tcgen05_commit,
            "fence.before": self._fence_before,
            "fence.after": self._fence_after,
            "tmem.load": self._tile,
            "tmem.store": self._tile,
            "tmem.wait_load": lambda index, event, roles: self._tile_wait("tmem.load", roles),
            "tmem.wait_store": lambda index, event, roles: self._tile_wait("tmem.store", roles),
            "tmem.alloc": self._alloc,
            "tmem.dealloc": self._dealloc,
            "registers": self._registers,
        }

    # Running

    def run(self) -> None:
        """Run all roles to their ends."""
        traces: list[list[int]] = [[] for _ in self.roles]
        for index, event in enumerate(self.events):
            for role in self.members[event.mask.number]:
                traces[role].append(index)
        self._traces = traces
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

    def _enqueue(self, role: int) -> None:
        """A role goes on with its next event, or ends."""
        if self._next[role] < len(self._traces[role]):
            heappush(self._queue, (self._traces[role][self._next[role]], role))
            return
        self._end(role)

    def _step(self) -> None:
        index, role = heappop(self._queue)
        roles = [role]
        while self._queue and self._queue[0][0] == index:
            roles.append(heappop(self._queue)[1])
        event = self.events[index]
        if event.kind != "access":
            for each in roles:
                if self.pending[each]:
                    self._flush(each)
        for each in self._handlers[event.kind](index, event, roles):
            self._advance(each)

    def _advance(self, role: int) -> None:
        self._next[role] += 1
        self._enqueue(role)

    def _end(self, role: int) -> None:
        if self.pending[role]:
            self._flush(role)
        self._ended.add(role)
        for access in self.streams["bulk", role]:
            if self.is_kernel and not access.done:
                raise Hazard(
                    "end", self._last_op(role), access.parts[0].event.op, _no_wait("bulk", access)
                )
        self._warp_left(self.roles[role].warp)

    def _last_op(self, role: int) -> Operation:
        """Where a role ends: its last event."""
        return self.events[self._traces[role][-1]].op

    # Clocks

    def _let_go(self, role: int) -> Clock:
        """What a role knows, of what it did itself too; what it does from now on is after that."""
        self._stirred[role] += 1
        out = list(self.knows[role])
        out[role] = self.now[role]
        self.now[role] += 1
        return out

    def _learn(self, role: int, known: Sequence[int]) -> None:
        self._stirred[role] += 1
        join(self.knows[role], known)

    def _meet(self, roles: Sequence[int]) -> None:
        """Roles learn all of each other."""
        if len(roles) == 1 and self.roles[roles[0]].alone:
            return
        who = tuple(roles)
        if self._met.get(who) == [self._stirred[role] for role in roles]:
            return
        together = self._let_go(roles[0])
        for role in roles[1:]:
            join(together, self._let_go(role))
        for role in roles:
            self._learn(role, together)
        self._met[who] = [self._stirred[role] for role in roles]

    def _is_over(self, access: Access, role: int, known: Clock) -> bool:
        """Somebody who knows that knows that the access is over."""
        for clock, time in access.done:
            if known[clock] >= time:
                return True
        return False

    # Gathering

    def _together(
        self, index: int, event: Event, roles: list[int], team: int = 1, *, meet: bool = True
    ) -> list[int]:
        """The roles that may go on, once all of their warp, or warps, of this event are there."""
        ready: list[int] = []
        for warp, there in self._by_team(roles, team).items():
            key = (event.mask.number, warp, team)
            if (wanted := self._wanted.get(key)) is None:
                members = self.members[event.mask.number]
                wanted = [r for r in members if self._team(r, team) == warp]
                if self.is_kernel:
                    self._check_aligned(event, wanted, warp, team)
                self._wanted[key] = wanted
            gathered = self.gathered[index, warp]
            gathered += there
            if len(gathered) == len(wanted):
                del self.gathered[index, warp]
                if meet:
                    self._meet(wanted)
                ready += wanted
        return ready

    def _team_of(self, role: Role, size: int) -> int:
        first = role.cta * self.launch.stride // WARP
        return first + (role.warp - first) // size * size

    def _team(self, role: int, size: int) -> int:
        """The first warp of so many that a role is of."""
        return self._teams[size][role]

    def _by_team(self, roles: list[int], size: int) -> dict[int, list[int]]:
        teams: dict[int, list[int]] = {}
        numbers = self._teams[size]
        for role in roles:
            teams.setdefault(numbers[role], []).append(role)
        return teams

    def _check_aligned(self, event: Event, wanted: list[int], warp: int, size: int) -> None:
        lanes = sum(len(self.roles[role].lanes) for role in wanted)
        there = sum(
            len(self.roles[role].lanes)
            for each in range(warp, warp + size)
            for role in self._warps.get(each, ())
        )
        if lanes < there:
            what = "a warp" if size == 1 else "a warpgroup"
            raise Hazard("aligned", event.op, missing=f"{what} together, got {lanes} of {there}")

    def _warp_left(self, warp: int) -> None:
        """A role has ended: the others of its warp do not wait for it."""
        waiting = self.gathered.get(("warp", warp))
        if waiting and self._all_there(warp, waiting):
            self._warp_turn(warp)

    def _all_there(self, warp: int, waiting: list[int]) -> bool:
        return all(role in waiting or role in self._ended for role in self._warps[warp])

    def _warp_turn(self, warp: int) -> None:
        waiting = self.gathered.pop(("warp", warp))
        self._meet(waiting)
        for role in waiting:
            self._advance(role)

    def _warp_sync(self, index: int, event: Event, roles: list[int]) -> list[int]:
        for role in roles:
            self.gathered["warp", self.roles[role].warp].append(role)
        for warp in {self.roles[role].warp for role in roles}:
            if self._all_there(warp, self.gathered["warp", warp]):
                self._warp_turn(warp)
        return []

    # Barriers of threads

    def _bar(self, index: int, event: Event, roles: list[int]) -> list[int]:
        number, threads, waits = event.constant
        ready: list[int] = []
        for role in roles:
            cta = self.roles[role].cta
            barrier = self.barriers[cta, number]
            expected = self.launch.threads if threads is None else threads
            self._check_round(event, barrier, role, expected)
            barrier.arrive(role, len(self.roles[role].lanes), self._let_go(role))
            barrier.expected = expected
            if waits:
                barrier.waiting.append(role)
            else:
                ready.append(role)
            if barrier.threads >= expected:
                known, waiting = barrier.turn()
                for each in waiting:
                    self._learn(each, known)
                    if each in roles:
                        ready.append(each)
                    else:
                        self._advance(each)
        return ready

    def _check_round(self, event: Event, barrier: Barrier, role: int, expected: int) -> None:
        if not self.is_kernel:
            return
        if barrier.threads and barrier.expected != expected:
            raise Hazard(
                "threads", event.op,
                missing=f"as many threads as others expect at the barrier, got {expected}",
                nearest=str(barrier.expected),
            )  # fmt: skip
        if barrier.threads + len(self.roles[role].lanes) > expected:
            raise Hazard(
                "threads", event.op,
                missing=(
                    f"the threads that the barrier counts, got {expected} for "
                    f"{barrier.threads + len(self.roles[role].lanes)} that arrive"
                ),
                nearest=str(barrier.threads + len(self.roles[role].lanes)),
            )  # fmt: skip
        knows = self.knows[role]
        if knows[barrier.clock] >= barrier.rounds:
            return
        if not all(knows[r] >= time or r == role for r, time in barrier.last):
            raise Hazard("generation", event.op)

    def _cluster_arrive(self, index: int, event: Event, roles: list[int]) -> list[int]:
        for role in roles:
            self.cluster.arrive(role, len(self.roles[role].lanes), self._let_go(role))
        if self.cluster.threads >= self.launch.threads * self.launch.ctas:
            known, waiting = self.cluster.turn()
            for role in waiting:
                self._learn(role, known)
                self._advance(role)
        return roles

    def _cluster_wait(self, index: int, event: Event, roles: list[int]) -> list[int]:
        ready: list[int] = []
        for role in roles:
            if any(each == role for each, _ in self.cluster.roles):
                self.cluster.waiting.append(role)
            else:
                if self.cluster.rounds:
                    self._learn(role, self.cluster.released)
                ready.append(role)
        return ready

    # mbarriers

    def _mbarriers(self, event: Event, role: int, mask: int | None = None) -> list[Mbarrier]:
        """The mbarrier of an event, in the role's own CTA or those of a mask."""
        assert event.barrier is not None
        own = self.roles[role].cta
        ctas = [own] if mask is None else [c for c in range(self.launch.ctas) if mask >> c & 1]
        return [self.mbarriers[cta, *event.barrier] for cta in ctas]

    def _init(self, index: int, event: Event, roles: list[int]) -> list[int]:
        for role in roles:
            (barrier,) = self._mbarriers(event, role)
            threads = len(self.roles[role].lanes)
            if self.is_kernel and (threads > 1 or barrier.made is not None):
                what = f"{threads} threads" if threads > 1 else "it a second time"
                raise Hazard("again", event.op, missing=what)
            barrier.make(event.constant, (event.op, role, self.now[role]))
        return roles

    def _inval(self, index: int, event: Event, roles: list[int]) -> list[int]:
        for role in roles:
            (barrier,) = self._mbarriers(event, role)
            barrier.made = None
        return roles

    def _fence_init(self, index: int, event: Event, roles: list[int]) -> list[int]:
        for barrier in self.mbarriers.values():
            if barrier.made is not None:
                _, maker, time = barrier.made
                if any(r == maker or self.knows[r][maker] >= time for r in roles):
                    barrier.fenced = True
        return roles

    def _check_made(self, event: Event, barrier: Mbarrier, role: int, asynchronous: bool) -> None:
        if not self.is_kernel:
            return
        if barrier.made is None:
            if barrier.count is None and not self._is_ours(event):
                return
            raise Hazard("unmade", event.op)
        op, maker, time = barrier.made
        if maker != role and self.knows[role][maker] < time:
            raise Hazard("made", event.op, op)
        if asynchronous and not barrier.fenced:
            raise Hazard("unseen", event.op, op)

    def _is_ours(self, event: Event) -> bool:
        """The memory of an mbarrier is the function's own: nobody else makes one there."""
        assert event.barrier is not None
        return isinstance(getattr(event.barrier[0], "owner", None), memref.AllocOp)

    def _check_behind(self, event: Event, barrier: Mbarrier, role: int) -> None:
        """An arrival, or a copy's bytes, are behind the phase before."""
        knows, last = self.knows[role], barrier.last
        if not self.is_kernel or knows[barrier.clock] >= barrier.completed or barrier.count is None:
            return
        if not last.asynchronous and all(
            knows[each] >= time or each == role for each, time in last.roles
        ):
            return
        what = f"phase {barrier.completed - 1} of the mbarrier of {_made(barrier)} goes on"
        raise Hazard("early", event.op, missing=what, where=self._where(event, role))

    def _arrive(self, index: int, event: Event, roles: list[int]) -> list[int]:
        count, expected = event.constant
        mask = 1 << event.scalars[0] if event.scalars else None
        for role in roles:
            for barrier in self._mbarriers(event, role, mask):
                self._check_made(event, barrier, role, False)
                if mask is not None and mask != 1 << self.roles[role].cta:
                    self.remote.append((event.scalars[0], (role, self.now[role]), event.op))
                self._arrive_at(event, barrier, role, count, expected)
        return roles

    def _arrive_at(
        self, event: Event, barrier: Mbarrier, role: int, count: int, expected: int
    ) -> None:
        threads = len(self.roles[role].lanes)
        out = self._let_go(role)
        left = threads
        while left:
            self._check_behind(event, barrier, role)
            if barrier.count is None:
                number = left
            else:
                number = min(barrier.pending // count, left)
                if not number:
                    self._overflow(event, barrier, count * left)
            barrier.learn(out)
            barrier.now.roles.append((role, out[role]))
            barrier.now.asynchronous |= expected > 0
            barrier.bytes += expected * number
            barrier.pending -= count * number
            left -= number
            self._settle(barrier)

    def _overflow(self, event: Event, barrier: Mbarrier, count: int) -> None:
        raise Hazard(
            "count", event.op,
            missing=(
                f"no more arrivals than a phase waits for, got {count} where phase "
                f"{barrier.completed} of the mbarrier of {_made(barrier)} waits for "
                f"{barrier.pending} of {barrier.count}"
            ),
            nearest=f"count {(barrier.count or 0) - barrier.pending + count} there",
        )  # fmt: skip

    def _settle(self, barrier: Mbarrier) -> None:
        """Complete the phase where nothing is missing, and let go on who waits for it."""
        if barrier.count is None or barrier.pending or barrier.bytes:
            return
        phase = barrier.completed - 1
        for role, time, op in barrier.waits.pop(phase, ()):
            if barrier.known[role] < time and self.is_kernel:
                raise Hazard(
                    "missed", op,
                    missing=f"may come after the phase that follows it, {phase + 1}, is over too: "
                    f"nothing that phase {phase + 1} waits for is behind this",
                )  # fmt: skip
        barrier.complete()
        blocked, barrier.blocked = barrier.blocked, []
        for role in blocked:
            heappush(self._queue, (self._traces[role][self._next[role]], role))

    def _wait(self, index: int, event: Event, roles: list[int]) -> list[int]:
        ready: list[int] = []
        for role in roles:
            (barrier,) = self._mbarriers(event, role)
            self._check_made(event, barrier, role, False)
            if barrier.count is None:
                barrier.blocked.append(role)
                continue
            seen = self.knows[role][barrier.clock]
            if (seen + 1) % 2 != event.scalars[0] % 2:
                # The phase behind the last one known of is the one that is waited for.
                if barrier.completed <= seen:
                    barrier.blocked.append(role)
                    continue
                if barrier.completed > seen + 1 and self.is_kernel:
                    raise Hazard(
                        "missed", event.op, where=self._where(event, role),
                        missing=f"waits for phase {seen} and may come after phase {seen + 1} is "
                        "over too",
                    )  # fmt: skip
                self._learn(role, barrier.released[seen])
                barrier.waits.setdefault(seen, []).append((role, self.now[role], event.op))
            ready.append(role)
        return ready

    def _open(self) -> bool:
        """Nobody can go on: mbarriers that are made elsewhere let go all who wait."""
        found = [barrier for barrier in self.mbarriers.values()
                 if barrier.count is None and barrier.blocked]  # fmt: skip
        for barrier in found:
            barrier.complete()
            blocked, barrier.blocked = barrier.blocked, []
            for role in blocked:
                self._learn(role, barrier.released[-1])
                self._advance(role)
        return bool(found)

    def _deadlock(self, stuck: list[int]) -> None:
        """Say what the first of the roles that do not end waits for."""
        if not self.is_kernel or self.trace.undecided:
            return
        role = min(stuck, key=lambda role: self._rank(role))
        event = self.events[self._traces[role][self._next[role]]]
        missing, nearest = "others of its threads never come here", "a way that they all take"
        if event.kind == "wait":
            (barrier,) = self._mbarriers(event, role)
            missing, nearest = _waits_for(barrier)
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
        event = self.events[self._traces[role][self._next[role]]]
        consumer = False
        if event.kind == "wait":
            (barrier,) = self._mbarriers(event, role)
            consumer = barrier.bytes == 0 and barrier.pending == barrier.count
        return consumer, self._traces[role][self._next[role]]

    # Threads' own accesses

    def _access(self, index: int, event: Event, roles: list[int]) -> list[int]:
        place, view, _ = access = event.accesses[0]
        touched = self.cells.shared(event, access, roles, event.constant)
        for role, found in zip(roles, touched, strict=True):
            if found is None:
                continue
            key = (self.roles[role].cta, view.root)
            if isinstance(event.op, tmem.RetrieveOp) and self.is_kernel:
                self._check_written(key, found.cells, event)
            self._add(role, key, place.writes, Part(event, *found))
        return roles

    def _add(self, role: int, key: Key, writes: bool, part: Part) -> None:
        """An access of a role since it last let go of something."""
        pending = self.pending[role]
        if not self.roles[role].alone and self.is_kernel:
            for other in (True, False) if writes else (True,):
                before = pending.get((key, other))
                if before and (found := clash(before, [part], apart=True)):
                    self._race(found, other, role)
        pending.setdefault((key, writes), []).append(part)

    def _flush(self, role: int) -> None:
        """Check the accesses since the last event of a role that orders anything."""
        pending, self.pending[role] = self.pending[role], {}
        self._stirred[role] += 1
        for (key, writes), parts in pending.items():
            cells = 0
            for part in parts:
                cells |= part.cells
            access = Access("threads", role, writes, cells, parts, [(role, self.now[role])])
            self._check(key, access, [role])
            self._keep(key, access)

    def _keep(self, key: Key, access: Access) -> None:
        """Remember an access; what it covers and comes after needs no more."""
        known, cells = self.knows[access.role], access.cells
        self.accesses[key] = [
            other
            for other in self.accesses[key]
            if other.cells & ~cells
            or not (access.writes or (other.role == access.role and not other.writes))
            or not (self._is_over(other, access.role, known) or self._own(other, access.role))
        ]
        self.accesses[key].append(access)

    def _own(self, access: Access, role: int) -> bool:
        return access.role == role and access.kind == "threads"

    def _check(self, key: Key, access: Access, roles: Sequence[int]) -> None:
        """Raise Hazard where an access that roles start conflicts with one before."""
        if self.is_kernel and not access.writes and not access.generic:
            self._check_written(key, access.cells, access.parts[0].event)
        for other in self.accesses.get(key, ()):
            if not other.cells & access.cells or not (access.writes or other.writes):
                continue
            for role in roles:
                self._check_pair(other, access, role)

    def _check_written(self, key: Key, cells: int, event: Event) -> None:
        """Raise Hazard where none of these cells was ever written."""
        owner = getattr(key[1], "owner", None)
        if isinstance(owner, memref.AllocOp) and cells and not any(
            other.writes and other.cells & cells for other in self.accesses.get(key, ())
        ):
            raise Hazard("nothing", event.op)

    def _check_pair(self, other: Access, access: Access, role: int) -> None:
        if not self.is_kernel and "umma" not in (other.kind, access.kind):
            return
        self._check_seen(other, access, role)
        if not self.is_kernel and other.kind != "umma":
            return
        if self._is_over(other, role, self.knows[role]):
            return
        own = other.role == role and other.kind in ("threads", "cp.async") and bool(other.done)
        if own and self.roles[role].alone:
            return
        found = clash(other.parts, access.parts, apart=own)
        if found is None:
            return
        raise self._conflict(other, access, found, role)

    def _check_seen(self, other: Access, access: Access, role: int) -> None:
        """What threads wrote is seen by the async proxy behind a fence."""
        if not other.generic or access.generic or not other.writes:
            return
        if any(self.knows[role][who] >= time or who == role for who, time in other.fences):
            return
        found = clash(other.parts, access.parts, apart=False)
        if found is not None and (not other.fences or self._is_over(other, role, self.knows[role])):
            section = {"umma": "tcgen05.mma", "wgmma": "9.7.15.7.1"}.get(access.kind, "9.7.13.4")
            raise Hazard("proxy", found[1].event.op, found[0].event.op, section,
                         self._meeting(found, other, role))  # fmt: skip

    def _race(self, found: tuple[Part, Part], wrote: bool, role: int) -> None:
        verb = "writes" if wrote else "reads"
        raise Hazard("race", found[1].event.op, found[0].event.op, verb,
                     self._where(found[1].event, role))  # fmt: skip

    def _conflict(
        self, other: Access, access: Access, found: tuple[Part, Part], role: int
    ) -> Hazard:
        where = self._meeting(found, other, role)
        op, before = found[1].event.op, found[0].event.op
        match other.kind:
            case "tma.load":
                return Hazard("copied", op, before, where=where)
            case "tma.store":
                return Hazard("storing", op, before, _no_wait("bulk", other), where)
            case "cp.async":
                return Hazard("cp.async", op, before, _no_wait("cp", other), where)
            case "wgmma":
                return Hazard("wgmma", op, before, _no_wait("wgmma", other), where)
            case "umma":
                missing = NO_WAIT if other.committed else NO_COMMIT
                return Hazard("memory", op, before, missing, where)
            case _:
                verb = "writes" if other.writes else "reads"
                return Hazard("race", op, before, verb, where)

    # Asynchronous copies

    def _cp_async(self, index: int, event: Event, roles: list[int]) -> list[int]:
        _, view, _ = event.accesses[0]
        touched = self.cells.shared(event, event.accesses[0], roles)
        for role, found in zip(roles, touched, strict=True):
            if found is None:
                continue
            access = Access("cp.async", role, True, found.cells, [Part(event, *found)])
            access.group[role] = self.groups["cp", role] + 1
            key = (self.roles[role].cta, view.root)
            self._check(key, access, [role])
            self._keep(key, access)
            self.streams["cp", role].append(access)
        return roles

    def _commit(self, kind: str, roles: list[int]) -> list[int]:
        for role in roles:
            self.groups[kind, role] += 1
        return roles

    def _group_wait(self, kind: str, event: Event, roles: list[int]) -> list[int]:
        """A thread's own groups: what is complete is as if it had accessed it itself, now."""
        for role in roles:
            last = self.groups[kind, role] - event.constant
            stream = self.streams[kind, role]
            for access in stream:
                if access.group[role] <= last:
                    access.done.append((role, self.now[role]))
            self.streams[kind, role] = [access for access in stream if not access.done]
        return roles

    def _tma_load(self, index: int, event: Event, roles: list[int]) -> list[int]:
        _, view, _ = event.accesses[0]
        mask = event.scalars[0] if event.scalars else None
        for role in roles:
            threads = len(self.roles[role].lanes)
            found = self.cells.one(event, event.accesses[0], role)
            own = self.roles[role].cta
            ctas = [own] if mask is None else [c for c in range(self.launch.ctas) if mask >> c & 1]
            for cta, barrier in zip(ctas, self._mbarriers(event, role, mask), strict=True):
                self._check_made(event, barrier, role, True)
                self._check_behind(event, barrier, role)
                done = (barrier.clock, barrier.completed + 1)
                if cta != own:
                    self.remote.append((cta, done, event.op))
                if found is not None:
                    access = Access("tma.load", role, True, found[0], [Part(event, found[0])],
                                    [done])  # fmt: skip
                    self._check((cta, view.root), access, [role])
                    self._keep((cta, view.root), access)
                barrier.learn(self.knows[role] if not self.roles[role].alone else [
                    0 if time == ALWAYS else time for time in self.knows[role]
                ])  # fmt: skip
                barrier.now.asynchronous = True
                barrier.bytes -= event.constant * threads
                self._settle(barrier)
        return roles

    def _tma_store(self, index: int, event: Event, roles: list[int]) -> list[int]:
        _, view, _ = event.accesses[0]
        for role in roles:
            found = self.cells.one(event, event.accesses[0], role)
            if found is None:
                continue
            access = Access("tma.store", role, False, found[0], [Part(event, found[0])])
            access.group[role] = self.groups["bulk", role] + 1
            key = (self.roles[role].cta, view.root)
            self._check(key, access, [role])
            self.accesses[key].append(access)
            self.streams["bulk", role].append(access)
        return roles

    def _fence_proxy(self, index: int, event: Event, roles: list[int]) -> list[int]:
        for accesses in self.accesses.values():
            for access in accesses:
                if access.writes and access.generic:
                    for role in roles:
                        if self._own(access, role) or self._is_over(access, role, self.knows[role]):
                            access.fences.append((role, self.now[role]))
        return self._fence_init(index, event, roles)

    # wgmma

    def _wgmma(self, index: int, event: Event, roles: list[int]) -> list[int]:
        ready = self._together(index, event, roles, WARPGROUP // WARP, meet=False)
        self._meet_warps(ready)
        for team, members in self._by_team(ready, WARPGROUP // WARP).items():
            speakers = list({self.roles[role].warp: role for role in members}.values())
            for operand in event.accesses:
                cells, root = 0, getattr(operand[1], "root", None)
                for found in self.cells.shared(event, operand, speakers):
                    cells |= found.cells if found else 0
                access = Access("wgmma", speakers[0], False, cells, [Part(event, cells)])
                access.group = {role: self.groups["wgmma", role] + 1 for role in members}
                key = (self.roles[speakers[0]].cta, root)
                self._check(key, access, speakers)
                self.accesses[key].append(access)
                self.streams["wgmma", team].append(access)
            self._meet(members)
        return ready

    def _wgmma_commit(self, index: int, event: Event, roles: list[int]) -> list[int]:
        return self._commit("wgmma", self._together(index, event, roles))

    def _wgmma_wait(self, index: int, event: Event, roles: list[int]) -> list[int]:
        ready = self._together(index, event, roles)
        for role in ready:
            last = self.groups["wgmma", role] - event.constant
            for access in self.streams["wgmma", self._team(role, WARPGROUP // WARP)]:
                if access.group.get(role, last + 1) <= last:
                    access.done.append((role, self.now[role]))
        for team in self._by_team(ready, WARPGROUP // WARP):
            stream = self.streams["wgmma", team]
            self.streams["wgmma", team] = [
                access for access in stream if len(access.done) < len(access.group)
            ]
        self._meet_warps(ready)
        return ready

    def _meet_warps(self, roles: list[int]) -> None:
        for members in self._by_team(roles, 1).values():
            self._meet(members)

    # Registers

    def _registers(self, index: int, event: Event, roles: list[int]) -> list[int]:
        """`setmaxnreg`: what a warpgroup gives back is there for others of its CTA. It begins with
        as many a thread as one CTA may have on an SM, or ptxas leaves setmaxnreg out."""
        ready = self._together(index, event, roles, WARPGROUP // WARP)
        action, count = event.constant
        waiting = list[int]()
        for team, members in self._by_team(ready, WARPGROUP // WARP).items():
            cta = self.roles[members[0]].cta
            first = min(REGISTERS // self.launch.threads // 8 * 8, MOST_REGISTERS)
            held = self.registers.setdefault(team, first)
            if action == "inc":
                self.asking[team] = (cta, count, members)
                waiting += members
            else:
                self.free[cta] += max(held - count, 0)
                self.registers[team] = min(held, count)
        self._grant(waiting)
        return [role for role in ready if role not in waiting]

    def _grant(self, waiting: list[int]) -> None:
        """Give warpgroups the registers that they ask for, as far as there are any."""
        for team, (cta, count, members) in list(self.asking.items()):
            missing = count - self.registers[team]
            if missing <= self.free[cta]:
                self.free[cta] -= max(missing, 0)
                self.registers[team] = max(count, self.registers[team])
                del self.asking[team]
                for role in members:
                    self._advance(role)

    # tcgen05

    def _umma(self, index: int, event: Event, roles: list[int]) -> list[int]:
        for role in roles:
            self._check_alone(event, role)
            own = self.roles[role].cta
            ctas = [own, own ^ 1] if _pairs(event) and self.launch.ctas > 1 else [own]
            for cta in ctas:
                for operand in event.accesses:
                    self._operand(event, operand, role, cta)
        return roles

    def _operand(
        self, event: Event, operand: tuple[Place, View, tuple[Any, ...]], role: int, cta: int
    ) -> None:
        place, view, _ = operand
        in_tensor = isinstance(view, View) and is_tensor(view.type)
        if in_tensor:
            cells = self.cells.tensor(event, operand, role)
        else:
            found = self.cells.one(event, operand, role)
            cells = None if found is None else found.cells
        if cells is None:
            return
        access = Access("umma", role, place.writes, cells, [Part(event, cells)])
        access.signature = event.constant
        key = (cta, view.root)
        if in_tensor:
            self._check_tensor(key, access, role)
            self.tensors[key].append(access)
        else:
            self._check(key, access, [role])
            self.accesses[key].append(access)
        if cta != self.roles[role].cta:
            self.remote.append((cta, (-1, id(access)), event.op))
        self.streams["umma", role].append(access)

    def _check_alone(self, event: Event, role: int) -> None:
        threads = len(self.roles[role].lanes)
        if self.is_kernel and threads > 1:
            raise Hazard("elected", event.op, missing=f"{threads} threads of a warp")

    def _tcgen05_commit(self, index: int, event: Event, roles: list[int]) -> list[int]:
        mask = event.scalars[0] if event.scalars else None
        for role in roles:
            self._check_alone(event, role)
            out = self._let_go(role)
            for barrier in self._mbarriers(event, role, mask):
                self._check_made(event, barrier, role, True)
                if barrier.count is not None and not barrier.pending:
                    self._overflow(event, barrier, 1)
                for access in self.streams["umma", role]:
                    access.done.append((barrier.clock, barrier.completed + 1))
                    access.committed = True
                barrier.learn(out)
                barrier.now.asynchronous = True
                barrier.pending -= 1
                self._settle(barrier)
            if len(self.streams["umma", role]) > 256:
                del self.streams["umma", role][:128]
        return roles

    def _fence_before(self, index: int, event: Event, roles: list[int]) -> list[int]:
        for role in roles:
            for kind in ("tmem.load", "tmem.store"):
                for access in self.streams[kind, self.roles[role].warp]:
                    if role in access.waited:
                        access.done.append((role, self.now[role]))
        return roles

    def _fence_after(self, index: int, event: Event, roles: list[int]) -> list[int]:
        for role in roles:
            self.fenced[role] = list(self.knows[role])
        return roles

    def _tile(self, index: int, event: Event, roles: list[int]) -> list[int]:
        ready = self._together(index, event, roles)
        place, view, _ = event.accesses[0]
        for warp, members in self._by_team(ready, 1).items():
            cells = self.cells.tensor(event, event.accesses[0], members[0])
            if cells is None:
                continue
            access = Access(event.kind, members[0], place.writes, cells, [Part(event, cells)])
            key = (self.roles[members[0]].cta, view.root)
            self._check_tensor(key, access, members[0])
            self.tensors[key].append(access)
            self.streams[event.kind, warp].append(access)
        return ready

    def _tile_wait(self, kind: str, roles: list[int]) -> list[int]:
        for role in roles:
            for access in self.streams[kind, self.roles[role].warp]:
                access.waited.add(role)
        return roles

    def _alloc(self, index: int, event: Event, roles: list[int]) -> list[int]:
        ready = self._together(index, event, roles)
        self._check_one_warp(event)
        place, view, _ = event.accesses[0]
        for members in self._by_team(ready, 1).values():
            found = self.cells.one(event, event.accesses[0], members[0], "warp")
            if found is not None:
                self._add(members[0], (self.roles[members[0]].cta, view.root), True,
                          Part(event, *found))  # fmt: skip
                self._flush(members[0])
        return ready

    def _dealloc(self, index: int, event: Event, roles: list[int]) -> list[int]:
        ready = self._together(index, event, roles)
        self._check_one_warp(event)
        place, view, _ = event.accesses[0]
        for members in self._by_team(ready, 1).values():
            cells = self.cells.tensor(event, event.accesses[0], members[0])
            if cells is not None:
                access = Access("tmem.dealloc", members[0], True, cells, [Part(event, cells)])
                self._check_tensor((self.roles[members[0]].cta, view.root), access, members[0])
        return ready

    def _check_one_warp(self, event: Event) -> None:
        """Raise Hazard where more than one warp of a CTA allocates, or gives back."""
        roles = self.members[event.mask.number]
        warps = {self.roles[role].warp for role in roles}
        ctas = {self.roles[role].cta for role in roles}
        if self.is_kernel and len(warps) > len(ctas):
            raise Hazard("warps", event.op, missing=f"{len(warps) // len(ctas)}")

    def _check_tensor(self, key: Key, access: Access, role: int) -> None:
        known = self.fenced[role]
        kept: list[Access] = []
        for other in self.tensors.get(key, ()):
            if other.cells & access.cells and (access.writes or other.writes):
                if self._is_over(other, role, known):
                    if access.writes and not other.cells & ~access.cells:
                        continue
                elif not self._follows(other, access, role):
                    raise self._tensor_hazard(other, access, role)
            kept.append(other)
        self.tensors[key] = kept

    def _follows(self, other: Access, access: Access, role: int) -> bool:
        """The role, or its warp, has the later access ordered by itself."""
        if other.kind == "umma":
            if access.kind != "umma" or other.role != role:
                return False
            return _ordered(other.signature, access.signature)
        mine = self.roles[other.role].warp == self.roles[role].warp
        return mine and role in other.waited

    def _tensor_hazard(self, other: Access, access: Access, role: int) -> Hazard:
        op, before = access.parts[0].event.op, other.parts[0].event.op
        where = self._meeting((other.parts[0], access.parts[0]), other, role)
        if other.kind == "umma":
            if not other.committed:
                missing = NO_COMMIT
            elif self._is_over(other, role, self.knows[role]):
                missing = NO_AFTER
            else:
                missing = NO_WAIT
            return Hazard("result" if other.writes else "read", op, before, missing, where)
        if not other.waited:
            return Hazard("stored" if other.writes else "loading", op, before, where=where)
        if not other.done:
            missing = NO_BEFORE
        elif self._is_over(other, role, self.knows[role]):
            missing = NO_AFTER
        else:
            missing = NO_ORDER
        return Hazard("result" if other.writes else "read", op, before, missing, where)

    # The end of a cluster

    def _check_leaving(self) -> None:
        """What reaches another CTA of the cluster is over, as its threads know at their end."""
        if not self.is_kernel or not self.remote:
            return
        for cta, (clock, time), op in self.remote:
            rows = [self.knows[role.number] for role in self.roles if role.cta == cta]
            if clock >= 0 and not any(row[clock] >= time for row in rows):
                last = [self._last_op(role.number) for role in self.roles
                        if role.cta == cta and self._traces[role.number]]  # fmt: skip
                raise Hazard("leaves", last[-1] if last else op, op)

    # Words

    def _threads(self, role: int) -> str:
        found = self.roles[role]
        first = int(found.lanes[0]) % self.launch.stride
        name = f"thread {first}" if found.alone else f"threads {first} to {int(found.lanes[-1]) % self.launch.stride}"
        return name if self.launch.ctas == 1 else f"{name} of CTA {found.cta}"

    def _where(self, event: Event, role: int) -> str:
        rounds = ", ".join(
            f"round {number} of the loop at line {_line(op)}" for op, number in event.rounds
        )
        return f"{self._threads(role)}{' in ' + rounds if rounds else ''}" if self.is_kernel else ""

    def _meeting(self, found: tuple[Part, Part], other: Access, role: int) -> str:
        if not self.is_kernel:
            return ""
        mine = self._where(found[1].event, role)
        return f"{mine} meets {self._where(found[0].event, other.role)}"


def _line(op: Operation) -> str:
    return named(op).rpartition(" ")[2]


def _made(barrier: Mbarrier) -> str:
    return named(barrier.made[0]) if barrier.made else "the caller"


def _pairs(event: Event) -> bool:
    return getattr(event.op, "group", 1) == 2


def _ordered(earlier: Any, later: Any) -> bool:
    kinds = earlier[0], later[0]
    if kinds == ("mma", "mma"):
        return earlier[1] == later[1]
    if kinds == ("shift", "cp"):
        return later[1] == "4x256b"
    return kinds in _ORDERED


def _waits_for(barrier: Mbarrier) -> tuple[str, str]:
    """What a phase that never ends lacks, and what would end it."""
    phase = f"phase {barrier.completed} of the mbarrier of {_made(barrier)}"
    if barrier.pending:
        got = (barrier.count or 0) - barrier.pending
        return (
            f"{phase} waits for {barrier.count} arrivals, and {got} come",
            f"count {got}" if got else "an arrival",
        )
    if barrier.bytes:
        verb = "more" if barrier.bytes > 0 else "fewer"
        return (
            f"{phase} expects {abs(barrier.bytes)} bytes {verb} than copies bring",
            "the bytes of the copies",
        )
    return f"{phase} is the one of that parity, and nothing arrives at it", "the other parity"


def _no_wait(kind: str, access: Access) -> str:
    """Why a group is not complete for somebody."""
    name = {"bulk": "cp.async.bulk.wait_group", "cp": "cp.async.wait_group"}.get(
        kind, "wgmma.wait_group"
    )
    if access.done:
        return f"which no barrier orders behind its {name}; nearest legal: a barrier behind it"
    return f"which no {name} has completed; nearest legal: cute_nvgpu.{name} 0 before it"
