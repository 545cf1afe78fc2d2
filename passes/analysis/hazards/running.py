"""Roles as they run against each other: what each knows, and which goes on.

What a role knows is a row of numbers: of each role how often it had let go of something when what
it did then is before, and of each barrier how many of its rounds are over. The package's docstring
says why one order of running stands for all.
"""

from collections import defaultdict
from collections.abc import Sequence
from heapq import heappush
from itertools import islice

from xdsl.ir import Operation

from tilewright.dialects.cute_nvgpu.lattice.sm90 import WARPGROUP
from tilewright.passes.analysis.hazards.accesses import Part, RoleAccess
from tilewright.passes.analysis.hazards.cells import Cells, Memory
from tilewright.passes.analysis.hazards.launches import ClusterLaunch
from tilewright.passes.analysis.hazards.phases import Barrier, Clock, MbarrierState, join
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.roles import Role, RoleNumbers
from tilewright.passes.analysis.hazards.trace import WARP, Event, EventTrace
from tilewright.source.diagnostic import named

ALWAYS = 1 << 30
"""When a thread alone knows of itself: always."""

Key = tuple[int, object]
"""Memory of a CTA."""


class RoleRun:
    """The roles of a launch, their clocks, and whose turn it is."""

    def __init__(
        self, trace: EventTrace, launch: ClusterLaunch, roles: list[Role],
        members: dict[int, list[int]], memory: Memory,
    ):  # fmt: skip
        self.events, self.launch, self.trace = trace.events, launch, trace
        self.roles, self.members = roles, members
        self.is_kernel = launch.is_kernel
        self._number_clocks()
        self._late: Hazard | None = None
        # Of a wait for a phase that was over, if there is no other one.
        self.knows: list[Clock] = [[0] * self.width for _ in roles]
        self.fenced: list[Clock] = [[0] * self.width for _ in roles]
        self.now = [1] * len(roles)
        for role in roles:
            if role.alone:
                self.knows[role.number][role.number] = ALWAYS
                self.knows[role.number][role.number + self.wrote] = ALWAYS
        self.accesses: defaultdict[Key, list[RoleAccess]] = defaultdict(list)
        self.written: defaultdict[Key, int] = defaultdict(int)
        self.tensors: defaultdict[Key, list[RoleAccess]] = defaultdict(list)
        self.pending: list[dict[tuple[Key, str], RoleAccess]] = [{} for _ in roles]
        self.streams: defaultdict[tuple[str, int], list[RoleAccess]] = defaultdict(list)
        self.groups: defaultdict[tuple[str, int], int] = defaultdict(int)
        self.gathered: defaultdict[tuple[object, int], list[int]] = defaultdict(list)
        self._remote: list[tuple[int, list[tuple[int, int]], Operation]] = []
        # What reaches the shared memory of another CTA: its clocks when it is over, and its op.
        self.cells = Cells(trace, launch, roles, memory)
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
        self._traces: list[list[int]] = [[] for _ in roles]
        for index, event in enumerate(self.events):
            for role in self.members[event.mask.number]:
                self._traces[role].append(index)

    def _number_clocks(self) -> None:
        """The clocks of roles, of barriers and, where some arrivals pass on reads alone, of what
        roles and copies wrote."""
        barriers = {
            (cta, *event.barrier)
            for event in self.events
            if event.barrier is not None
            for cta in range(self.launch.ctas)
        }
        named_barriers = {event.constant[0] for event in self.events if event.kind == "bar"}
        self.wrote = len(self.roles) if any(map(is_far, self.events)) else 0
        first = len(self.roles) + self.wrote
        self.landed = len(barriers) if self.wrote else 0
        self.width = (
            first + len(barriers) + self.landed + self.launch.ctas * len(named_barriers) + 1
        )
        clocks = iter(range(first, self.width))
        self.mbarriers = {
            key: MbarrierState(key[0], clock := next(clocks), clock + self.landed, self.width)
            for key in barriers
        }
        self._of_writes = [*range(self.wrote, 2 * self.wrote), *islice(clocks, self.landed)]
        self.barriers = {
            (cta, number): Barrier(next(clocks), self.width)
            for cta in range(self.launch.ctas)
            for number in named_barriers
        }
        self.cluster = Barrier(next(clocks), self.width)

    def _end(self, role: int) -> None:
        """A role has no more events."""
        raise NotImplementedError

    def _advance(self, role: int) -> None:
        self._next[role] += 1
        self._enqueue(role)

    def _enqueue(self, role: int) -> None:
        """A role goes on with its next event, or ends."""
        if self._next[role] < len(self._traces[role]):
            heappush(self._queue, (self._traces[role][self._next[role]], role))
            return
        self._end(role)

    def _let_go(self, role: int) -> Clock:
        """The knowledge of a role, of what it did itself too; what it does from now on is after
        that."""
        self._stirred[role] += 1
        out = list(self.knows[role])
        out[role] = out[role + self.wrote] = self.now[role]
        self.now[role] += 1
        return out

    def _count(self, role: int) -> int:
        """The threads of a role."""
        return len(self.roles[role].lanes)

    def _stamp(self, role: int) -> tuple[int, int]:
        """The time of what a role does, or has learned is over, now: others may learn of it."""
        self._stirred[role] += 1
        return role, self.now[role]

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
            self._stirred[role] += 1
            knows = self.knows[role]
            knows[:] = together
            if self.roles[role].alone:
                knows[role] = knows[role + self.wrote] = ALWAYS
        self._met[who] = [self._stirred[role] for role in roles]
        for part in self._by_team(roles, 1).values():
            self._met[tuple(part)] = [self._stirred[role] for role in part]

    def _is_over(
        self, access: RoleAccess, role: int, known: Clock, *, reading: bool = False
    ) -> bool:
        """A role that knows so much knows that an access is over, and by `reading` sees what a copy
        wrote: of a wgmma, of which all have a part, it may have waited itself."""
        own = role if access.kind == "wgmma" else -1
        shift = self.wrote if access.writes and access.generic else 0
        if reading and access.kind == "tma.load":
            shift = self.landed
        for clock, time in access.done:  # noqa: SIM110
            if known[clock + shift] >= time or clock == own:
                return True
        return False

    def _together(
        self, event: Event, roles: RoleNumbers, team: int = 1, *, meet: bool = True
    ) -> list[int]:
        """The roles that may go on, once all of their warp, or warps, of this event are there."""
        ready: RoleNumbers = []
        for warp, there in self._by_team(roles, team).items():
            key = (event.mask.number, warp, team)
            if (wanted := self._wanted.get(key)) is None:
                members = self.members[event.mask.number]
                wanted = [r for r in members if self._team(r, team) == warp]
                if self.is_kernel:
                    self._check_aligned(event, wanted, warp, team)
                self._wanted[key] = wanted
            gathered = self.gathered[event.number, warp]
            gathered += there
            if len(gathered) == len(wanted):
                del self.gathered[event.number, warp]
                if meet:
                    self._meet(wanted)
                ready += wanted
        return ready

    def _reach(self, event: Event, role: int, cta: int, done: list[tuple[int, int]]) -> None:
        """A role reaches the shared memory of a CTA, until one of the clocks `done`. Raises Hazard
        where that may not have begun: nothing is known that one of its threads has done."""
        if not self.is_kernel or cta == self.roles[role].cta:
            return
        self._remote.append((cta, done, event.op))
        knows = self.knows[role]
        if not any(knows[other.number] for other in self.roles if other.cta == cta):
            raise Hazard("begun", event.op, missing=str(cta), where=self._where(event, role))

    def _team_of(self, role: Role, size: int) -> int:
        first = role.cta * self.launch.stride // WARP
        return first + (role.warp - first) // size * size

    def _team(self, role: int, size: int) -> int:
        """The first warp of so many that a role is of."""
        return self._teams[size][role]

    def _by_team(self, roles: Sequence[int], size: int) -> dict[int, list[int]]:
        teams: dict[int, list[int]] = {}
        numbers = self._teams[size]
        for role in roles:
            teams.setdefault(numbers[role], []).append(role)
        return teams

    def _check_aligned(self, event: Event, wanted: list[int], warp: int, size: int) -> None:
        lanes = sum(self._count(role) for role in wanted)
        there = sum(
            self._count(role)
            for number in range(warp, warp + size)
            for role in self._warps.get(number, ())
        )
        if lanes < there:
            what = "a warp" if size == 1 else "a warpgroup"
            raise Hazard("aligned", event.op, missing=f"{what} together, got {lanes} of {there}")

    def _event_of(self, role: int) -> Event:
        """The event that a role has come to."""
        return self.events[self._traces[role][self._next[role]]]

    def _last_op(self, role: int) -> Operation:
        """Where a role ends: its last event."""
        return self.events[self._traces[role][-1]].op

    def _threads(self, role: int) -> str:
        threads = self.roles[role]
        first = int(threads.lanes[0]) % self.launch.stride
        name = (
            f"thread {first}"
            if threads.alone
            else f"threads {first} to {int(threads.lanes[-1]) % self.launch.stride}"
        )
        return name if self.launch.ctas == 1 else f"{name} of CTA {threads.cta}"

    def _where(self, event: Event, role: int) -> str:
        rounds = ", ".join(
            f"round {number} of the loop at line {_line(op)}" for op, number in event.rounds
        )
        return f"{self._threads(role)}{' in ' + rounds if rounds else ''}" if self.is_kernel else ""

    def _meets(self, event: Event, role: int, other: int | str) -> str:
        """A role comes to an event and meets another one, or what is said of that."""
        verb = "meets" if self.roles[role].alone else "meet"
        whom = other if isinstance(other, str) else self._threads(other)
        return f"{self._where(event, role)} {verb} {whom}"

    def _meeting(self, parts: tuple[Part, Part], other: int, role: int) -> str:
        if not self.is_kernel:
            return ""
        return self._meets(parts[1].event, role, self._where(parts[0].event, other))


def is_far(event: Event) -> bool:
    """An arrival in a CTA of the cluster, which may be another one."""
    return event.kind == "arrive" and len(event.constant) > 2


def _line(op: Operation) -> str:
    return named(op).rpartition(" ")[2]
