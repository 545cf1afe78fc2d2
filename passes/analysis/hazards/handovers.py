"""Handovers: data that threads of a cluster hand each other through global memory. PTX ISA, memory
consistency model, causality order.

Besides barriers a release behind an access and an acquire before another one order them, where
both scopes have both threads in them, or a strong read of what a strong access has written. As
between blocks (`publications`), which of them belong together is not asked, nor who comes first. It
is looked at in kernels of which some scope is narrow: other orders are meant for blocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain, product, starmap
from typing import NamedTuple

import numpy as np

from tilewright.dialects.cute_nvgpu.lattice.data_movement import SCOPES, WEAK
from tilewright.dialects.cute_nvgpu.ops.sync import OrdersThreads
from tilewright.passes.analysis.hazards.array_accesses import ArrayAccesses
from tilewright.passes.analysis.hazards.phases import Clock
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.roles import RoleNumbers
from tilewright.passes.analysis.hazards.scopes import (
    GlobalAccess,
    access_of,
    check_scopes,
    order_of,
)
from tilewright.passes.analysis.hazards.thread_accesses import reads, writes
from tilewright.passes.analysis.hazards.trace import Event
from tilewright.source.diagnostic import named


class ScopedAccess(NamedTuple):
    """An access to global memory of a role, or a fence, by its number: when, by the clock from
    which others know of it, what the role knew, and the scope, from 0 for `cta`; -1 of a weak
    access."""

    number: int
    role: int
    clock: int
    time: int
    known: Clock
    scope: int
    event: Event
    access: GlobalAccess | None

    def knows(self, other: ScopedAccess) -> bool:
        """Another step is before this one, in its role or as that knew."""
        if self.role == other.role:
            return other.number < self.number
        return self.known[other.clock] >= other.time

    def is_seen_by(self, other: ScopedAccess) -> bool:
        """The other one reads bytes that this one writes."""
        if self.access is None or other.access is None or not self.access.writes:
            return False
        return reads(other.event.op) and self.access.meets(other.access)


class Handovers(ArrayAccesses):
    """Who accesses global memory in a cluster, and what threads hand on by that."""

    @cached_property
    def _steps(self) -> list[ScopedAccess]:
        return []

    @cached_property
    def _acquires(self) -> list[ScopedAccess]:
        return []

    @cached_property
    def _releases(self) -> list[ScopedAccess]:
        """They know of what they release, of their own too."""
        return []

    @cached_property
    def _fences(self) -> dict[tuple[int, int], ScopedAccess]:
        """The last fence of each role and scope: a strong write behind it makes it a release."""
        return {}

    def _global(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        word, scope = order_of(event.op) or (WEAK, -1)
        for role in roles:
            access = access_of(event, self.roles[role].lanes, self.launch)
            known = list(self.knows[role])
            _, now = self._stamp(role)
            clock = role + self.wrote if access is not None and access.writes else role
            step = ScopedAccess(len(self._steps), role, clock, now, known, scope, event, access)
            self._steps.append(step)
            if isinstance(event.op, OrdersThreads):
                scopes = (s.scope for s in self._steps if s.role == role and reads(s.event.op))
                self._acquires.append(step._replace(scope=min(scope, max(scopes, default=-1))))
                self._fences[role, scope] = step._replace(known=self._let_go(role))
                continue
            if word in ("acquire", "acq_rel") and reads(event.op):
                self._acquires.append(step)
            if scope >= 0 and writes(event.op):
                fences = [fence for (who, _), fence in self._fences.items() if who == role]
                self._releases += [f._replace(scope=min(f.scope, scope)) for f in fences]
                if word in ("release", "acq_rel"):
                    self._releases.append(step._replace(known=self._let_go(role)))
        return roles

    def _check_handed_on(self) -> None:
        """Raise Hazard for the first accesses that nothing orders, where one reads what the other
        one writes, or that are strong for too few."""
        for one, other in self._conflicts() if self.is_kernel else ():
            if one.knows(other) or other.knows(one):
                continue
            where = self._meets(other.event, other.role, one.role)
            wanted = list(SCOPES)[self._least_scope(one, other)]
            assert one.access is not None and other.access is not None
            check_scopes(one.access, other.access, wanted=wanted, where=where)
            if min(one.scope, other.scope) < 0:
                for write, read in ((one, other), (other, one)):
                    if write.is_seen_by(read) and not (
                        self._is_handed_on(write, read) or self._is_handed_on(read, write)
                    ):
                        raise self._unordered(write, read, where)

    def _conflicts(self) -> Iterator[tuple[ScopedAccess, ScopedAccess]]:
        """Accesses of two roles to some bytes, one of them a write, the later one with each before
        it."""
        known = [(s, s.access) for s in self._steps if s.access and len(s.access.bytes)]
        rows = [(s.role, a.writes, a.bytes[0], a.bytes[-1]) for s, a in known]
        roles, writing, first, last = np.array(rows, dtype=np.int64).reshape(-1, 4).T
        for number, (other, access) in enumerate(known):
            near = (first[:number] <= last[number]) & (last[:number] >= first[number])
            near &= (roles[:number] != roles[number]) & (writing[:number] | writing[number] > 0)
            for one, before in (known[place] for place in np.flatnonzero(near)):
                if before.meets(access):
                    yield one, other

    def _least_scope(self, one: ScopedAccess, other: ScopedAccess) -> int:
        """The least scope that has two roles in it."""
        return int(self.roles[one.role].cta != self.roles[other.role].cta)

    def _have_both(self, one: ScopedAccess, other: ScopedAccess) -> bool:
        """The scopes of two strong steps have both roles in them."""
        return min(one.scope, other.scope) >= self._least_scope(one, other)

    def _releases_of(self, step: ScopedAccess) -> list[ScopedAccess]:
        return [r for r in self._releases if r.number == step.number or r.knows(step)]

    def _is_handed_on(self, step: ScopedAccess, other: ScopedAccess) -> bool:
        """A step is before another one by what their threads, or others, hand on."""
        releases, acquires = self._releases_of(step), filter(other.knows, self._acquires)
        observed = (read for read in filter(other.knows, self._steps) if step.is_seen_by(read))
        pairs = chain(product(releases, acquires), ((step, read) for read in observed))
        return any(starmap(self._have_both, pairs))

    def _unordered(self, write: ScopedAccess, read: ScopedAccess, where: str) -> Hazard:
        """The hazard of what one thread writes and another one reads."""
        least = self._least_scope(write, read)
        scope, given = list(SCOPES)[least], self._releases_of(write)
        missing = f"no release.{scope} follows it"
        if any(release.scope >= least for release in given):
            given = [*filter(read.knows, self._acquires)]
            missing = f"no acquire.{scope} is before this"
        narrow = [step for step in given if 0 <= step.scope < least]
        nearest = f"the scope {scope} in {named(narrow[0].event.op)}" if narrow else "one"
        return Hazard("published", read.event.op, write.event.op, missing, where, nearest)
