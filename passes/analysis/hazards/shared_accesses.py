"""Accesses to shared memory, and which of them nothing orders."""

from collections.abc import Sequence
from functools import cached_property

from xdsl.dialects import memref

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.ops import address, tmem
from tilewright.dialects.ptx import data_movement
from tilewright.passes.analysis.hazards.accesses import Part, RoleAccess, clash
from tilewright.passes.analysis.hazards.handovers import Handovers
from tilewright.passes.analysis.hazards.report import (
    NO_ACQUIRE,
    NO_COMMIT,
    NO_LANDING,
    NO_WAIT,
    Hazard,
)
from tilewright.passes.analysis.hazards.roles import RoleNumbers
from tilewright.passes.analysis.hazards.running import Key
from tilewright.passes.analysis.hazards.trace import Event
from tilewright.source.diagnostic import named

READS = (tmem.RetrieveOp, data_movement.LdOp, address.LoadOp)
"""Ops that read what something has written before."""


READ, WRITE, STRONG_READ, ATOMIC = "read", "write", "strong read", "atomic"
BESIDE = {
    READ: (WRITE, ATOMIC),
    WRITE: (WRITE, READ, STRONG_READ, ATOMIC),
    STRONG_READ: (WRITE,),
    ATOMIC: (WRITE, READ),
}
"""Kinds of accesses that may not come beside one of a kind to the same cells."""


_STREAMS = {"cp.async": "cp", "tma.store": "bulk", "wgmma": "wgmma", "umma": "umma"}
"""By the kind of an access, the kind of the groups that complete it."""


class SharedAccesses(Handovers):
    """Who accesses shared memory when, and in which proxy."""

    @cached_property
    def _locked(self) -> list[tuple[Hazard, int]]:
        return []

    def _access(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        place, view, _ = access = event.accesses[0]
        touched = self.cells.shared(event, access, roles, event.constant)
        reads = isinstance(event.op, READS) and self.is_kernel
        for role, part in zip(roles, touched, strict=True):
            if part is None:
                continue
            key = (self.roles[role].cta, view.root)
            if event.scalars:
                key = (event.scalars[0], view.root)
                self._reach(event, role, key[0], [self._stamp(role)])
            if reads:
                self._check_written(key, part.cells, event)
            modes = (STRONG_READ, ATOMIC) if place.atomic else (READ, WRITE)
            self._add(role, key, modes[place.writes], part)
        return roles

    def _add(self, role: int, key: Key, mode: str, part: Part) -> None:
        """An access of a role since it last let go of something."""
        pending = self.pending[role]
        if not self.roles[role].alone and self.is_kernel:
            for other in BESIDE[mode]:
                before = pending.get((key, other))
                if before is None or not before.cells & part.cells:
                    continue
                if parts := clash(before, [part], apart=True):
                    self._raise(self._race(parts, role, role), role, role)
        if (access := pending.get((key, mode))) is None:
            access = pending[key, mode] = RoleAccess(
                "threads", role, mode in (WRITE, ATOMIC), 0, []
            )
            access.atomic = mode in (STRONG_READ, ATOMIC)
        access.cells |= part.cells
        access.parts.append(part)
        if access.writes:
            self.written[key] |= part.cells

    def _flush(self, role: int) -> None:
        """Check the accesses since the last event of a role that orders anything."""
        pending, self.pending[role] = self.pending[role], {}
        for (key, _), access in pending.items():
            access.done.append(self._stamp(role))
            self._check(key, access, [role])
            self._keep(key, access)

    def _keep(self, key: Key, access: RoleAccess) -> None:
        """Remember an access; what it covers and comes after needs no more."""
        known, cells = self.knows[access.role], access.cells
        self.accesses[key] = [
            other
            for other in self.accesses[key]
            if not (access.writes or other.role == access.role)
            or not covers(access, other)
            or other.cells & cells != other.cells
            or not (self._is_over(other, access.role, known) or self._own(other, access.role))
        ]
        self.accesses[key].append(access)

    def _begin(
        self, key: Key, access: RoleAccess, roles: Sequence[int], owner: int | None = None
    ) -> None:
        """Check an access of the async proxy that roles begin, and remember it: of a stream of its
        owner's where a group of it completes it."""
        self._check(key, access, roles)
        if access.writes:
            self.written[key] |= access.cells
            self._keep(key, access)
        else:
            self.accesses[key].append(access)
        if owner is not None:
            self.streams[_STREAMS[access.kind], owner].append(access)

    def _own(self, access: RoleAccess, role: int) -> bool:
        return access.role == role and access.kind == "threads"

    def _check(self, key: Key, access: RoleAccess, roles: Sequence[int]) -> None:
        """Raise Hazard where an access that roles start conflicts with one before."""
        if self.is_kernel and not access.writes and not access.generic:
            self._check_written(key, access.cells, access.parts[0].event)
        others = self.accesses[key]
        self.trace.pair(len(others))
        for other in others:
            if not (access.writes or other.writes) or not other.cells & access.cells:
                continue
            if access.atomic and other.atomic:
                continue
            for role in roles:
                self._check_pair(other, access, role)

    def _check_written(self, key: Key, cells: int, event: Event) -> None:
        """Raise Hazard where none of these cells was ever written."""
        owner = getattr(key[1], "owner", None)
        if (
            (isinstance(owner, memref.AllocOp) or key[1] is Space.SMEM)
            and cells
            and not self.cells.writes_anywhere
            and not self.written[key] & cells
        ):
            raise Hazard("nothing", event.op)

    def _check_pair(self, other: RoleAccess, access: RoleAccess, role: int) -> None:
        if not self.is_kernel and "umma" not in (other.kind, access.kind):
            return
        self._check_seen(other, access, role)
        if not self.is_kernel and other.kind != "umma":
            return
        if self._is_over(other, role, self.knows[role], reading=not access.writes):
            return
        own = other.role == role and other.kind in ("threads", "cp.async") and bool(other.done)
        if own and self.roles[role].alone:
            return
        parts = clash(other, access.parts, apart=own)
        if parts is None:
            return
        self._raise(self._conflict(other, access, parts, role), other.role, role)

    def _check_seen(self, other: RoleAccess, access: RoleAccess, role: int) -> None:
        """Check that the async proxy sees what threads wrote, behind a fence; that what they read
        has arrived where it writes is not proven without one: on a chip barriers and arrivals
        overtake loads whose values nothing has used."""
        if not other.generic or access.generic or not (other.writes or access.writes):
            return
        if any(self.knows[role][who] >= time or who == role for who, time in other.fences):
            return
        parts = clash(other, access.parts, apart=False)
        if parts is None or (other.fences and not self._is_over(other, role, self.knows[role])):
            return
        before, op = (part.event.op for part in parts)
        if other.writes:
            section = {"umma": "tcgen05.mma", "wgmma": "9.7.15.7.1"}.get(access.kind, "9.7.13.4")
            where = self._meeting(parts, other.role, role)
            raise Hazard("proxy", op, before, section, where)
        self.trace.unproven.setdefault(
            op, f"no fence.proxy.async is behind what {named(before)} reads"
        )

    def _raise(self, hazard: Hazard, before: int, role: int) -> None:
        """Raise a hazard, at the end where the later role of a race has acquired something, as of a
        lock, and the one before may release it yet."""
        if hazard.rule != "race" or all(step.role != role for step in self._acquires):
            raise hazard
        self._locked.append((hazard, before))

    def _check_locked(self) -> None:
        """Raise the first race for which nothing is released: others are not proven."""
        for hazard, before in self._locked:
            if all(step.role != before for step in self._releases):
                raise hazard
            self.trace.unproven.setdefault(hazard.op, "what is acquired is not known")

    def _race(self, parts: tuple[Part, Part], one: int, other: int) -> Hazard:
        """Two roles' own accesses; the later one in the list of events is wrong."""
        (before, was), (after, mine) = sorted(
            zip(parts, (one, other), strict=True), key=lambda pair: pair[0].event.number
        )
        verb = "writes" if before.event.accesses[0][0].writes else "reads"
        where = self._meeting((before, after), was, mine)
        return Hazard("race", after.event.op, before.event.op, verb, where)

    def _conflict(
        self, other: RoleAccess, access: RoleAccess, parts: tuple[Part, Part], role: int
    ) -> Hazard:
        where = self._meeting(parts, other.role, role)
        op, before = parts[1].event.op, parts[0].event.op
        if other.kind in _STREAMS and other.kind != "umma":
            return Hazard(other.kind, op, before, no_wait(_STREAMS[other.kind], other), where)
        match other.kind:
            case "tma.load":
                landed = self._is_over(other, role, self.knows[role])
                return Hazard("copied", op, before, NO_ACQUIRE if landed else NO_LANDING, where)
            case "umma":
                missing = NO_WAIT if other.committed else NO_COMMIT
                return Hazard("memory", op, before, missing, where)
            case _ if access.kind == "threads":
                return self._race(parts, other.role, role)
            case _:
                verb = "writes" if other.writes else "reads"
                return Hazard("race", op, before, verb, where)

    def _fence_proxy(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        for accesses in self.accesses.values():
            for access in accesses:
                if access.generic and access.role in roles and access.done and not access.fences:
                    access.fences.append(self._stamp(access.role))
        self._fence_arrays(event, roles)
        return self._fence_init(event, roles)


def covers(access: RoleAccess, other: RoleAccess) -> bool:
    """Whatever would conflict with the other one does with this one, which comes after it."""
    if access.atomic:
        return other.atomic and other.role == access.role
    return access.writes or (other.role == access.role and not other.writes)


def no_wait(kind: str, access: RoleAccess) -> str:
    """Why a group is not complete for somebody."""
    name = {"bulk": "cp.async.bulk.wait_group", "cp": "cp.async.wait_group"}.get(
        kind, "wgmma.wait_group"
    )
    if access.done:
        return f"which no barrier orders behind its {name}; nearest legal: a barrier behind it"
    return f"which no {name} has completed; nearest legal: cute_nvgpu.{name} 0 before it"
