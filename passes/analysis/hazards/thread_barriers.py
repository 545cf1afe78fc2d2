"""Barriers of threads: of a warp, of a CTA by number, and of a cluster."""

from functools import cached_property

from tilewright.passes.analysis.hazards.phases import Barrier
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.roles import RoleNumbers
from tilewright.passes.analysis.hazards.running import RoleRun
from tilewright.passes.analysis.hazards.trace import Event


class ThreadBarriers(RoleRun):
    """Who waits at which barrier."""

    @cached_property
    def _at_cluster(self) -> set[int]:
        """The roles that have arrived at the barrier of the cluster and not waited there since."""
        return set()

    def _warp_sync(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        for role in roles:
            self.gathered["warp", self.roles[role].warp].append(role)
        for warp in {self.roles[role].warp for role in roles}:
            if self._all_there(warp, self.gathered["warp", warp]):
                self._warp_turn(warp)
        return []

    def _all_there(self, warp: int, waiting: RoleNumbers) -> bool:
        return all(role in waiting or role in self._ended for role in self._warps[warp])

    def _warp_turn(self, warp: int) -> None:
        waiting = self.gathered.pop(("warp", warp))
        event, lanes = self._event_of(waiting[0]), [len(role.lanes) for role in self.roles]
        members = [
            role for role in self._warps[warp] if not event.constant[self.roles[role].lanes].all()
        ]
        if self.is_kernel and len(waiting) < len(members):
            there, whole = (sum(lanes[role] for role in who) for who in (waiting, members))
            missing = f"a warp together, got {there} of {whole}"
            raise Hazard("aligned", event.op, missing=missing, where=self._where(event, waiting[0]))
        self._meet(waiting)
        for role in waiting:
            self._advance(role)

    def _warp_left(self, warp: int) -> None:
        """A role has ended: the others of its warp do not wait for it."""
        waiting = self.gathered.get(("warp", warp))
        if waiting and self._all_there(warp, waiting):
            self._warp_turn(warp)

    def _bar(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        number, threads, waits = event.constant
        ready: RoleNumbers = []
        for role in roles:
            cta = self.roles[role].cta
            barrier = self.barriers[cta, number]
            expected = self.launch.threads if threads is None else threads
            self._check_round(event, barrier, role, expected)
            barrier.arrive(role, self._count(role), self._let_go(role))
            barrier.expected = expected
            if waits:
                barrier.waiting.append(role)
            else:
                ready.append(role)
            if barrier.threads >= expected:
                known, waiting = barrier.turn()
                for waiter in waiting:
                    self._learn(waiter, known)
                    if waiter in roles:
                        ready.append(waiter)
                    else:
                        self._advance(waiter)
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
        if (arriving := barrier.threads + self._count(role)) > expected:
            raise Hazard(
                "threads", event.op,
                missing=(
                    f"the threads that the barrier counts, got {expected} for "
                    f"{arriving} that arrive"
                ),
                nearest=str(arriving),
            )  # fmt: skip
        knows = self.knows[role]
        if knows[barrier.clock] >= barrier.rounds:
            return
        if not all(knows[r] >= time or r == role for r, time in barrier.last):
            raise Hazard("generation", event.op)

    def _cluster_arrive(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        for role in roles:
            if role in self._at_cluster and self.is_kernel:
                raise Hazard("turns", event.op, missing="an arrival", nearest="a wait")
            self._at_cluster.add(role)
            self.cluster.arrive(role, self._count(role), self._let_go(role))
        if self.cluster.threads >= self.launch.threads * self.launch.ctas:
            known, waiting = self.cluster.turn()
            for role in waiting:
                self._learn(role, known)
                self._advance(role)
        return roles

    def _cluster_wait(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        ready: RoleNumbers = []
        for role in roles:
            if role not in self._at_cluster and self.is_kernel:
                raise Hazard("turns", event.op, missing="a wait", nearest="an arrival")
            self._at_cluster.discard(role)
            if any(who == role for who, _ in self.cluster.roles):
                self.cluster.waiting.append(role)
            else:
                if self.cluster.rounds:
                    self._learn(role, self.cluster.released)
                ready.append(role)
        return ready
