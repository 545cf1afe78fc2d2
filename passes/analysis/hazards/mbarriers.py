"""Arrivals at mbarriers and waits for their phases, which are told apart by counting."""

from heapq import heappush

from xdsl.dialects import memref

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.ptx.bulk_copy import BulkLoadOp
from tilewright.passes.analysis.hazards.phases import Clock, MbarrierState
from tilewright.passes.analysis.hazards.report import NO_ORDER, NO_PHASE, Hazard
from tilewright.passes.analysis.hazards.roles import RoleNumbers
from tilewright.passes.analysis.hazards.thread_barriers import ThreadBarriers
from tilewright.passes.analysis.hazards.trace import Event
from tilewright.source.diagnostic import named


class MbarrierPhases(ThreadBarriers):
    """Phases of mbarriers."""

    def _mbarriers(self, event: Event, role: int, mask: int | None = None) -> list[MbarrierState]:
        """The mbarrier of an event, in the role's own CTA or those of a mask."""
        assert event.barrier is not None
        own = self.roles[role].cta
        ctas = [own] if mask is None else [c for c in range(self.launch.ctas) if mask >> c & 1]
        return [self.mbarriers[cta, *event.barrier] for cta in ctas]

    def _init(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        for role in roles:
            (barrier,) = self._mbarriers(event, role)
            threads = self._count(role)
            if self.is_kernel and (threads > 1 or barrier.made is not None):
                what = f"{threads} threads" if threads > 1 else "it a second time"
                raise Hazard("again", event.op, missing=what)
            barrier.make(event.constant, (event.op, *self._stamp(role)))
        return roles

    def _inval(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        for role in roles:
            (barrier,) = self._mbarriers(event, role)
            if self.is_kernel and (threads := self._count(role)) > 1:
                raise Hazard("elected", event.op, missing=f"{threads} threads")
            self._check_made(event, barrier, role, False)
            self._check_unused(event, barrier, role)
            barrier.made = None
        return roles

    def _check_unused(self, event: Event, barrier: MbarrierState, role: int) -> None:
        """Raise Hazard where somebody may still look at an mbarrier that a role ends."""
        knows = self.knows[role]
        if not self.is_kernel:
            return
        for other, (time, op) in barrier.users.items():
            if knows[other] < time:
                where = self._meets(event, role, other)
                raise Hazard("ended", event.op, op, NO_ORDER, where)
        if barrier.copy is not None and knows[barrier.clock] < barrier.copy[0]:
            raise Hazard("ended", event.op, barrier.copy[1], NO_PHASE, self._where(event, role))

    def _fence_init(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        for barrier in self.mbarriers.values():
            if barrier.made is not None:
                _, maker, time = barrier.made
                if any(r == maker or self.knows[r][maker] >= time for r in roles):
                    barrier.fenced = True
        return roles

    def _use(
        self, event: Event, barrier: MbarrierState, role: int, *, asynchronous: bool = False
    ) -> None:
        """A role arrives or looks: at an mbarrier that is made, and ends later."""
        self._check_made(event, barrier, role, asynchronous)
        barrier.users[role] = self._stamp(role)[1], event.op

    def _complete(self, event: Event, barrier: MbarrierState, role: int) -> tuple[int, int]:
        """A copy or a commit of a role arrives at the phase that is under way: its clock, and when
        it is over."""
        self._use(event, barrier, role, asynchronous=True)
        done = barrier.clock, barrier.completed + 1
        self._reach(event, role, barrier.cta, [done])
        barrier.copy = barrier.completed + 1, event.op
        return done

    def _check_made(
        self, event: Event, barrier: MbarrierState, role: int, asynchronous: bool
    ) -> None:
        if not self.is_kernel:
            return
        if barrier.made is None:
            if barrier.count is None and not self._is_ours(event):
                return
            raise Hazard("unmade", event.op)
        op, maker, time = barrier.made
        if maker != role and self.knows[role][maker] < time:
            raise Hazard("made", event.op, op)
        # Bytes to the own CTA need no fence: libcu++'s memcpy_async has none.
        own = isinstance(event.op, BulkLoadOp) and event.op.mask is None
        if asynchronous and not (barrier.fenced or own):
            raise Hazard("unseen", event.op, op)

    def _is_ours(self, event: Event) -> bool:
        """The memory of an mbarrier is the function's own: nobody else makes one there."""
        assert event.barrier is not None
        memory = event.barrier[0]
        return memory is Space.SMEM or isinstance(getattr(memory, "owner", None), memref.AllocOp)

    def _check_behind(self, event: Event, barrier: MbarrierState, role: int) -> None:
        """An arrival, or a copy's bytes, are behind the phase before."""
        knows, last = self.knows[role], barrier.last
        if not self.is_kernel or knows[barrier.clock] >= barrier.completed or barrier.count is None:
            return
        if not last.asynchronous and all(knows[who] >= time for who, time in last.roles):
            return
        what = f"phase {barrier.completed - 1} of the mbarrier of {made_by(barrier)} goes on"
        raise Hazard("early", event.op, missing=what, where=self._where(event, role))

    def _arrive(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        mask = self._of_rank(*event.scalars) if event.scalars else None
        for role in roles:
            for barrier in self._mbarriers(event, role, mask):
                self._use(event, barrier, role)
                self._reach(event, role, barrier.cta, [self._stamp(role)])
                out = self._let_go(role)
                if barrier.cta != self.roles[role].cta:
                    if event.constant[2:] == (False,):
                        barrier.learn_writes(out)
                    for clock in self._of_writes:
                        out[clock] = 0
                self._arrive_at(event, barrier, role, out)
        return roles

    def _of_rank(self, rank: int) -> int:
        """The mask of a CTA: 0 of a rank outside the cluster."""
        return 1 << rank if 0 <= rank < self.launch.ctas else 0

    def _arrive_at(self, event: Event, barrier: MbarrierState, role: int, out: Clock) -> None:
        count, expected, *_ = event.constant
        threads = self._count(role)
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
            barrier.arrived[role] = barrier.completed
            barrier.now.asynchronous |= expected > 0
            barrier.bytes += expected * number
            barrier.pending -= count * number
            left -= number
            self._settle(barrier)

    def _overflow(self, event: Event, barrier: MbarrierState, count: int) -> None:
        raise Hazard(
            "count", event.op,
            missing=(
                f"no more arrivals than a phase waits for, got {count} where phase "
                f"{barrier.completed} of the mbarrier of {made_by(barrier)} waits for "
                f"{barrier.pending} of {barrier.count}"
            ),
            nearest=f"count {(barrier.count or 0) - barrier.pending + count} there",
        )  # fmt: skip

    def _settle(self, barrier: MbarrierState) -> None:
        """Complete the phase where nothing is missing, and let go on who waits for it."""
        if barrier.count is None or barrier.pending or barrier.bytes:
            return
        phase = barrier.completed - 1
        for role, time, op, was_over in barrier.waits.pop(phase, ()):
            if barrier.known[role] < time and self.is_kernel:
                self._miss(was_over, Hazard(
                    "missed", op,
                    missing=f"may come after the phase that follows it, {phase + 1}, is over too: "
                    f"nothing that phase {phase + 1} waits for is behind this",
                ))  # fmt: skip
        barrier.complete()
        blocked, barrier.blocked = barrier.blocked, []
        for role in blocked:
            heappush(self._queue, (self._traces[role][self._next[role]], role))

    def _miss(self, was_over: bool, hazard: Hazard) -> None:
        """Raise the hazard of a wait that may come a phase later. One for a phase that was over
        lets its thread go on where it may have meant another: other hazards say more of that."""
        if not was_over:
            raise hazard
        self._late = self._late or hazard

    def _wait(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        ready: RoleNumbers = []
        for role in roles:
            (barrier,) = self._mbarriers(event, role)
            self._use(event, barrier, role)
            if barrier.count is None:
                barrier.blocked.append(role)
                continue
            seen = max(self.knows[role][barrier.clock], barrier.before)
            if not event.scalars:
                seen = barrier.arrived.get(role, seen)
            phase = seen
            if event.scalars and (seen - barrier.before + 1) % 2 == event.scalars[0] % 2:
                phase -= 1  # It is over, but this wait is the next one's where it comes later.
            elif barrier.completed <= seen:
                barrier.blocked.append(role)
                continue
            was_over = phase < seen
            if barrier.completed > phase + 1 and self.is_kernel:
                self._miss(was_over, Hazard(
                    "missed", event.op, where=self._where(event, role),
                    missing=f"waits for phase {phase} and may come after phase {phase + 1} is "
                    "over too",
                ))  # fmt: skip
            if not was_over:
                self._learn(role, barrier.released[seen])
                if event.constant and barrier.handed_on[seen]:
                    self._learn(role, barrier.handed_on[seen])
            wait = (*self._stamp(role), event.op, was_over)
            barrier.waits.setdefault(phase, []).append(wait)
            ready.append(role)
        return ready

    def _open(self) -> bool:
        """Nobody can go on: mbarriers that are made elsewhere let go all who wait."""
        elsewhere = [barrier for barrier in self.mbarriers.values()
                 if barrier.count is None and barrier.blocked]  # fmt: skip
        for barrier in elsewhere:
            barrier.complete()
            blocked, barrier.blocked = barrier.blocked, []
            for role in blocked:
                self._learn(role, barrier.released[-1])
                self._advance(role)
        return bool(elsewhere)


def made_by(barrier: MbarrierState) -> str:
    return named(barrier.made[0]) if barrier.made else "the caller"


def waits_for(barrier: MbarrierState) -> tuple[str, str]:
    """The lack of a phase that never ends, and what would end it."""
    phase = f"phase {barrier.completed} of the mbarrier of {made_by(barrier)}"
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
