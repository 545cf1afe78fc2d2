"""Accesses to tensor memory, and the asynchronous operations of tcgen05. PTX ISA, tcgen05 memory
consistency."""

from tilewright.dialects.cute_nvgpu.lattice.tmem import are_pipelined
from tilewright.passes.analysis.hazards.accesses import Part, RoleAccess
from tilewright.passes.analysis.hazards.cells import Operand
from tilewright.passes.analysis.hazards.report import (
    NO_AFTER,
    NO_BEFORE,
    NO_COMMIT,
    NO_ORDER,
    NO_WAIT,
    Hazard,
)
from tilewright.passes.analysis.hazards.roles import RoleNumbers
from tilewright.passes.analysis.hazards.running import Key
from tilewright.passes.analysis.hazards.tensor_lifetimes import TensorLifetimes
from tilewright.passes.analysis.hazards.trace import Event, PlacedView

_PARTIAL = "cp", "4x256b"
"""A copy that writes one lane of 32."""


class TensorAccesses(TensorLifetimes):
    """Who accesses tensor memory when."""

    def _umma(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        for role in roles:
            self._check_alone(event, role)
            own = self.roles[role].cta
            ctas = [own, own ^ 1] if _pairs(event) and self.launch.ctas > 1 else [own]
            kind, signature = event.constant
            if kind == "mma":
                signature = signature, self.cells.tensor(event, event.accesses[-1], role)
            for cta in ctas:
                for operand in event.accesses:
                    self._operand(event, operand, role, cta, (kind, signature))
        return roles

    def _operand(
        self, event: Event, operand: Operand, role: int, cta: int, signature: tuple[str, object]
    ) -> None:
        place, view, _ = operand
        in_tensor = isinstance(view, PlacedView) and view.in_tensor
        if in_tensor:
            cells = self.cells.tensor(event, operand, role)
        else:
            cells = self.cells.all_of(event, operand, role)
        if cells is None:
            return
        access = RoleAccess("umma", role, place.writes, cells, [Part(event, cells)])
        access.signature = signature
        key = (cta, view.root)
        if in_tensor:
            self._check_allocated(event, key, cells)
            self._check_tensor(key, access, role)
            access = self._entered(key, access, role)
        else:
            self._begin(key, access, [role], role)
        self._reach(event, role, cta, access.done)

    def _check_alone(self, event: Event, role: int) -> None:
        threads = self._count(role)
        if self.is_kernel and threads > 1:
            raise Hazard("elected", event.op, missing=f"{threads} threads of a warp")

    def _tcgen05_commit(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        mask = event.scalars[0] if event.scalars else None
        for role in roles:
            self._check_alone(event, role)
            out = self._let_go(role)
            for barrier in self._mbarriers(event, role, mask):
                done = self._complete(event, barrier, role)
                if barrier.count is not None and not barrier.pending:
                    self._overflow(event, barrier, 1)
                for access in self.streams["umma", role]:
                    access.done.append(done)
                    access.committed = True
                barrier.learn(out)
                barrier.now.asynchronous = True
                barrier.pending -= 1
                self._settle(barrier)
            if len(self.streams["umma", role]) > 256:
                del self.streams["umma", role][:128]
        return roles

    def _fence_before(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        for role in roles:
            for kind in ("tmem.load", "tmem.store"):
                for access in self.streams[kind, self.roles[role].warp]:
                    if role in access.waited:
                        access.done.append(self._stamp(role))
            for access in self.streams["umma", role]:
                access.fences = access.fences or [self._stamp(role)]
        return roles

    def _fence_after(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        for role in roles:
            self.fenced[role] = list(self.knows[role])
        return roles

    def _tile(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        ready = self._together(event, roles)
        place, view, _ = event.accesses[0]
        for warp, members in self._by_team(ready, 1).items():
            cells = self.cells.tensor(event, event.accesses[0], members[0])
            if cells is None:
                continue
            access = RoleAccess(event.kind, members[0], place.writes, cells, [Part(event, cells)])
            key = (self.roles[members[0]].cta, view.root)
            self._check_allocated(event, key, cells)
            self._check_tensor(key, access, members[0])
            self._entered(key, access, warp)
        return ready

    def _given_back(self, event: Event, key: Key, role: int, cells: int) -> None:
        access = RoleAccess("tmem.dealloc", role, True, cells, [Part(event, cells)])
        self._check_tensor(key, access, role)

    def _tile_wait(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        for role in roles:
            for access in self.streams[event.kind.replace("wait_", ""), self.roles[role].warp]:
                access.waited.add(role)
        return roles

    def _entered(self, key: Key, access: RoleAccess, owner: int) -> RoleAccess:
        """An access that was checked, among those that are under way: one with the accesses of its
        kind that its role, or warp, made since it last waited, which are over when it is."""
        stream = self.streams[access.kind, owner]
        for other in reversed(stream):
            if other.done or other.waited or other.fences:
                break
            if other.key == key and other.cells and _alike(other, access):
                other.cells |= access.cells
                other.parts += access.parts
                return other
        access.key = key
        self.tensors[key].append(access)
        stream.append(access)
        return access

    def _check_tensor(self, key: Key, access: RoleAccess, role: int) -> None:
        known = self.fenced[role]
        passed = False
        for other in self.tensors.get(key, ()):
            if other.cells & access.cells and (access.writes or other.writes):
                if not (
                    self._is_over(other, role, known)
                    or self._follows(other, access, role)
                    or self._read_since(other, access, key)
                ):
                    raise self._tensor_hazard(other, access, role)
                if access.writes and access.signature != _PARTIAL:
                    # What waits for the later one waits for both.
                    other.cells &= ~access.cells
                    passed |= not other.cells
        if passed:
            self.tensors[key] = [other for other in self.tensors[key] if other.cells]

    def _follows(self, other: RoleAccess, access: RoleAccess, role: int) -> bool:
        """The role, or its warp, has the later access ordered by itself."""
        if other.kind == "umma":
            kind, _ = access.signature
            if kind == other.signature[0] == "mma" and not other.writes:
                return False
            if not are_pipelined(other.signature, access.signature):
                return False
            known = self.fenced[role]
            return other.role == role or any(known[who] >= time for who, time in other.fences)
        mine = self.roles[other.role].warp == self.roles[role].warp
        return mine and role in other.waited

    def _read_since(self, other: RoleAccess, access: RoleAccess, key: Key) -> bool:
        """A thread copies or shifts what its MMAs have read since it was written."""
        if access.signature[0] not in ("cp", "shift"):
            return False
        left = other.cells & access.cells
        for read in self.tensors[key]:
            if read.signature[0] == "mma" and read.role == access.role and not read.writes:
                left &= ~read.cells
        return not left

    def _tensor_hazard(self, other: RoleAccess, access: RoleAccess, role: int) -> Hazard:
        part = next(part for part in other.parts if part.cells & access.cells)
        op, before = access.parts[0].event.op, part.event.op
        where = self._meeting((part, access.parts[0]), other.role, role)
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


def _alike(first: RoleAccess, second: RoleAccess) -> bool:
    return (
        first.role == second.role
        and first.writes == second.writes
        and first.signature == second.signature
    )


def _pairs(event: Event) -> bool:
    return getattr(event.op, "group", 1) == 2
