"""Accesses of threads and of the async proxy to one array in global memory. PTX ISA, memory
consistency model, proxies.

Threads' own accesses to it are not checked against each other here: those of other blocks are not
followed, and what orders them is their kernel's affair.
"""

from collections import defaultdict
from functools import cached_property

import numpy as np

from tilewright.dialects.frozen import entity, factory
from tilewright.passes.analysis.hazards.arrays import ArgumentArray, Elements
from tilewright.passes.analysis.hazards.mbarriers import MbarrierPhases
from tilewright.passes.analysis.hazards.report import NO_ORDER, NO_PHASE, NO_SENT, Hazard
from tilewright.passes.analysis.hazards.roles import RoleNumbers
from tilewright.passes.analysis.hazards.scalars import UNKNOWN, meet, run_from
from tilewright.passes.analysis.hazards.trace import Event


@entity
class ArrayAccess:
    """An access to elements of an array, in the generic proxy or by a copy; over for who has one of
    the clocks `done`. `fences` are the times of proxy fences behind it, by role."""

    event: Event
    role: int
    array: ArgumentArray
    elements: Elements
    writes: bool
    generic: bool
    done: list[tuple[int, int]]
    fences: list[tuple[int, int]] = factory(list)
    group: int = 0


class ArrayAccesses(MbarrierPhases):
    """Who accesses arrays that are reached both ways."""

    @cached_property
    def _reached(self) -> defaultdict[tuple[ArgumentArray, bool], list[ArrayAccess]]:
        """The accesses to each array, those in the generic proxy apart."""
        return defaultdict(list)

    def _array(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        ((place, pointer, (number,)),) = event.accesses
        array, bytes_, run = event.constant
        if number is UNKNOWN or (bytes_ and pointer is UNKNOWN):
            return roles
        for role in roles:
            lanes = self.roles[role].lanes
            numbers = run_from(number, lanes, run * (bytes_ or 1))
            elements = np.unique((numbers - pointer) // bytes_ if bytes_ else numbers)
            self._add_to_array(
                ArrayAccess(event, role, array, elements, place.writes, True, [self._stamp(role)])
            )
        return roles

    def _copied(self, event: Event, role: int, done: list[tuple[int, int]], group: int = 0) -> None:
        """A copy of a box from or to an array begins."""
        place, _, corner = event.accesses[-1]
        map_ = self.trace.arrays.of_map.get(place.memref)  # type: ignore[arg-type]
        if map_ is None or any(number is UNKNOWN for number in corner):
            return
        lane = self.roles[role].lanes[0]
        numbers = [n if isinstance(n, int) else int(n[lane]) for n in corner]
        elements = map_.elements(numbers)
        self._add_to_array(ArrayAccess(
            event, role, map_.array, elements, place.writes, False, done, group=group
        ))  # fmt: skip

    def _add_to_array(self, access: ArrayAccess) -> None:
        if not len(access.elements):
            return
        for other in self._reached[access.array, not access.generic]:
            if (other.writes or access.writes) and meet(other.elements, access.elements):
                self._check_array(other, access)
        self._reached[access.array, access.generic].append(access)

    def _check_array(self, other: ArrayAccess, access: ArrayAccess) -> None:
        if not self.is_kernel:
            return
        op, before, knows = access.event.op, other.event.op, self.knows[access.role]
        where = self._meets(access.event, access.role, other.role)
        if not any(knows[clock] >= time for clock, time in other.done):
            verb = "writes" if other.writes else "reads"
            missing = NO_ORDER if other.generic else NO_SENT if other.writes else NO_PHASE
            raise Hazard("array", op, before, f"{verb}, and {missing}", where)
        if (
            other.generic
            and other.writes
            and not any(knows[role] >= time or role == access.role for role, time in other.fences)
        ):
            raise Hazard("unfenced", op, before, where=where)

    def _fence_arrays(self, event: Event, roles: RoleNumbers) -> None:
        """Roles make the async proxy see what they know that threads have written."""
        if getattr(event.op, "space", None) is not None:
            return  # Of shared memory alone.
        written = (access for (_, generic), accesses in self._reached.items() if generic
                   for access in accesses if access.writes)  # fmt: skip
        for access in written:
            for role in roles:
                known = any(self.knows[role][clock] >= time for clock, time in access.done)
                if known or role == access.role:
                    access.fences.append(self._stamp(role))

    def _sent(self, event: Event, role: int, last: int) -> None:
        """A role has waited for its copies to global memory, up to a group."""
        if getattr(event.op, "read", None) is not None:
            return  # They have read what they send: more is not known.
        for access in (access for accesses in self._reached.values() for access in accesses):
            if access.group and access.role == role and access.group <= last and not access.done:
                access.done.append(self._stamp(role))
