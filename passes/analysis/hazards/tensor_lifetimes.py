"""Who allocates tensor memory and gives it back. PTX ISA, tcgen05.alloc.

Of ops `cute-nvgpu-check-tmem` says which columns they have; instructions have them here, from the
address on that the trace says they get.
"""

from collections import defaultdict
from functools import cached_property

from xdsl.ir import Operation

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANES
from tilewright.dialects.frozen import entity
from tilewright.passes.analysis.hazards.placement import COLUMNS, HALF, tensor_set
from tilewright.passes.analysis.hazards.report import NO_ORDER, Hazard
from tilewright.passes.analysis.hazards.roles import RoleNumbers
from tilewright.passes.analysis.hazards.running import Key
from tilewright.passes.analysis.hazards.trace import Event
from tilewright.passes.analysis.hazards.warpgroups import Warpgroups


@entity
class TensorAllocation:
    """Tensor memory of a CTA: the op that allocates it, its role and the role's clock, how many
    columns and which cells those are, if that is known, and the op that gives it back."""

    op: Operation
    role: int
    time: int
    columns: int | None = None
    cells: int = 0
    freed: Operation | None = None


class TensorLifetimes(Warpgroups):
    """Allocations of tensor memory, by CTA, and the ops with which CTAs give up the permit."""

    @cached_property
    def allocated(self) -> defaultdict[int, list[TensorAllocation]]:
        """The allocations of each CTA, in order."""
        return defaultdict(list)

    @cached_property
    def relinquished(self) -> dict[int, Operation]:
        """By CTA, the op with which it has given up the permit."""
        return {}

    def _alloc(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        ready = self._together(event, roles)
        self._check_one_warp(event)
        _, view, _ = event.accesses[0]
        for members in self._by_team(ready, 1).values():
            cta = self.roles[members[0]].cta
            if cta in self.relinquished:
                raise Hazard("relinquished", event.op, self.relinquished[cta])
            allocation = TensorAllocation(event.op, *self._stamp(members[0]))
            if (columns := self.trace.columns.get(event.number)) is not None:
                allocation.columns, allocation.cells = columns[1], _cells(*columns)
            self.allocated[cta].append(allocation)
            (touched,) = self.cells.shared(event, event.accesses[0], members[:1], "warp")
            if touched is not None:
                self._add(members[0], (cta, view.root), "write", touched)
                self._flush(members[0])
        return ready

    def _relinquish(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        ready = self._together(event, roles)
        for role in ready:
            cta = self.roles[role].cta
            self.relinquished.setdefault(cta, event.op)
            for allocation in self.allocated[cta] if self.is_kernel else ():
                if self.knows[role][allocation.role] < allocation.time:
                    where = self._where(event, role)
                    raise Hazard("permit", event.op, allocation.op, NO_ORDER, where)
        return ready

    def _dealloc(self, event: Event, roles: RoleNumbers) -> RoleNumbers:
        ready = self._together(event, roles)
        self._check_one_warp(event)
        _, view, _ = event.accesses[0]
        for members in self._by_team(ready, 1).values():
            key = self.roles[members[0]].cta, view.root
            cells = self.cells.tensor(event, event.accesses[0], members[0])
            if cells is not None:
                self._check_allocated(event, key, cells)
                self._given_back(event, key, members[0], cells)
            live = self._live(key[0])
            if same := [own for own in live if own.columns is None or own.cells == cells]:
                same[-1].freed = event.op
            elif live and cells is not None and self.is_kernel:
                other = next(own for own in live if own.cells & cells)
                given = len(_columns(cells))
                raise Hazard("part", event.op, other.op, str(given), nearest=str(other.columns))
        return ready

    def _given_back(self, event: Event, key: Key, role: int, cells: int) -> None:
        """A role gives cells back: nobody accesses them any more."""
        raise NotImplementedError

    def _live(self, cta: int) -> list[TensorAllocation]:
        """The allocations of a CTA that it has not given back."""
        return [own for own in self.allocated[cta] if own.freed is None]

    def _check_allocated(self, event: Event, key: Key, cells: int) -> None:
        """Raise Hazard for cells that an instruction accesses and its CTA does not have."""
        cta, root = key
        if root is not Space.TMEM or not self.is_kernel:
            return
        for allocation in self._live(cta):
            cells &= ~allocation.cells
        if not cells:
            return
        for allocation in reversed(self.allocated[cta]):
            if allocation.freed is not None and allocation.cells & cells:
                raise Hazard("freed", event.op, allocation.freed)
        columns, other = _columns(cells), self.allocated[cta][-1:]
        missing = f"columns {min(columns)} to {max(columns)}"
        raise Hazard("unallocated", event.op, other[0].op if other else None, missing)

    def _check_one_warp(self, event: Event) -> None:
        """Raise Hazard where more than one warp of a CTA allocates, or gives back."""
        roles = self.members[event.mask.number]
        warps = {self.roles[role].warp for role in roles}
        ctas = {self.roles[role].cta for role in roles}
        if self.is_kernel and len(warps) > len(ctas):
            raise Hazard("warps", event.op, missing=f"{len(warps) // len(ctas)}")


def _cells(first: int, columns: int) -> int:
    return tensor_set(first, range(LANES // HALF), (1 << columns) - 1)


def _columns(cells: int) -> set[int]:
    """The columns of a set of cells."""
    return {bit % COLUMNS for bit in range(cells.bit_length()) if cells >> bit & 1}
