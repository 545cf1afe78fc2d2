"""Asynchronous copies from and to shared memory: `cp.async`, and boxes by TMA."""

from tilewright.passes.analysis.hazards.accesses import Part, RoleAccess
from tilewright.passes.analysis.hazards.roles import RoleNumbers
from tilewright.passes.analysis.hazards.running import ALWAYS
from tilewright.passes.analysis.hazards.shared_accesses import SharedAccesses
from tilewright.passes.analysis.hazards.trace import Event


class Copies(SharedAccesses):
    """Copies in flight: groups of threads, and bytes that mbarriers count."""

    def _cp_async(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        _, view, _ = event.accesses[0]
        touched = self.cells.shared(event, event.accesses[0], roles)
        for role, part in zip(roles, touched, strict=True):
            if part is None:
                continue
            access = RoleAccess("cp.async", role, True, part.cells, [part])
            access.group[role] = self.groups["cp", role] + 1
            self._begin((self.roles[role].cta, view.root), access, [role], role)
        return roles

    def _commit(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        for role in roles:
            self.groups[event.kind.partition(".")[0], role] += 1
        return roles

    def _group_wait(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        """A thread's own groups: what is complete is as if it had accessed it itself, now."""
        kind = event.kind.partition(".")[0]
        for role in roles:
            last = self.groups[kind, role] - event.constant
            if kind == "bulk":
                self._sent(event, role, last)
            stream = self.streams[kind, role]
            for access in stream:
                if access.group[role] <= last:
                    access.done.append(self._stamp(role))
            self.streams[kind, role] = [access for access in stream if not access.done]
        return roles

    def _arrive_behind_copies(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        """The copies of each role's threads are over with the phase that they arrive at, for the
        async proxy too: from here on they are as those by TMA."""
        for role in roles:
            (barrier,) = self._mbarriers(event, role)
            barrier.copy = barrier.completed + 1, event.op
            barrier.now.asynchronous = True
            for access in self.streams.pop(("cp", role), ()):
                access.kind = "tma.load"
                access.done.append((barrier.clock, barrier.completed + 1))
        return self._arrive(event, roles)

    def _tma_load(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        _, view, _ = event.accesses[0]
        mask, pair = event.scalars[0] if event.scalars else None, event.kind == "tma.pair"
        if mask is not None and pair:
            mask = 1 << mask
        for role in roles:
            threads = self._count(role)
            cells = self.cells.all_of(event, event.accesses[0], role)
            for barrier in self._mbarriers(event, role, mask):
                done = self._complete(event, barrier, role)
                self._check_behind(event, barrier, role)
                self._copied(event, role, [done])
                cta = self.roles[role].cta if pair else barrier.cta
                if cells is not None:
                    access = RoleAccess("tma.load", role, True, cells, [Part(event, cells)], [done])
                    self._begin((cta, view.root), access, [role])
                known = [0 if time == ALWAYS else time for time in self.knows[role]]
                if pair:
                    # Of the thread that copies no arrival says that it has waited before.
                    known[role] = self._let_go(role)[role]
                barrier.learn(known)
                barrier.now.asynchronous = True
                barrier.bytes -= event.constant * threads
                self._settle(barrier)
        return roles

    def _tma_store(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        _, view, _ = event.accesses[0]
        for role in roles:
            self._copied(event, role, [], self.groups["bulk", role] + 1)
            cells = self.cells.all_of(event, event.accesses[0], role)
            if cells is None:
                continue
            access = RoleAccess("tma.store", role, False, cells, [Part(event, cells)])
            access.group[role] = self.groups["bulk", role] + 1
            self._begin((self.roles[role].cta, view.root), access, [role], role)
        return roles
