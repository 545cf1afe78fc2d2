"""Events as they are met: by which threads, with what in hand."""

from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cute.types.memref import Space
from tilewright.dialects.ptx import bulk_copy, cluster, tcgen05_memory
from tilewright.passes.analysis.hazards.effects import Effect, MemoryPlace
from tilewright.passes.analysis.hazards.placement import COLUMNS
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.scalars import UNKNOWN
from tilewright.passes.analysis.hazards.slices import LOADS, MMAS
from tilewright.passes.analysis.hazards.trace import (
    Event,
    Mask,
    Operands,
    PendingRegisters,
    PlacedView,
    alike,
)
from tilewright.passes.analysis.hazards.values import APART, NO_CONDITION, Step, Values

Accesses = tuple[tuple[MemoryPlace, Any, tuple[Any, ...]], ...]

OF_RANK = ("arrive", "tma.pair")
"""The events whose number, where they have one, is the rank of a CTA."""

NO_SUCH_CTA = "no cluster is known to have the CTA that it is of"


class Recording(Values):
    """The events of a launch."""

    def _event(self, op: Operation, effect: Effect) -> Step:
        boxed = effect.kind in ("tma.load", "tma.pair")
        if effect.kind == "unknown" or (boxed and effect.constant is None):
            return lambda mask: self._leave_open(op)
        if effect.kind == "use":
            operands = [self._slots[value] for value in op.operands if value in self._loaded]
            return self._user(op, operands)
        slots, barrier = self._slots, effect.barrier
        operands = Operands(
            [(place, slots[place.memref], [slots[index] for index in place.indices])
             for place in effect.places],
            None if barrier is None else slots[barrier.memref],
            [] if barrier is None else [slots[index] for index in barrier.indices],
            [slots[value] for value in effect.scalars],
            None if effect.predicate is None else slots[effect.predicate],
        )  # fmt: skip
        before = self._of_registers(op, effect)
        loaded = [slots[value] for value in op.operands if value in self._loaded]
        if loaded and not isinstance(op, MMAS):
            before = self._user(op, loaded)
        if before is None:
            return lambda mask: self._record(op, effect, operands, mask)
        return lambda mask: (before(mask), self._record(op, effect, operands, mask))[0]

    def _leave_open(self, op: Operation) -> None:
        self.say_unproven(op, "what it does is not known before it runs")
        self.trace.undecided = True

    def _of_registers(self, op: Operation, effect: Effect) -> Step | None:
        """The step for registers on their way, and for addresses that memory holds."""
        match effect.kind:
            case "tmem.wait_load":
                return lambda mask: self._arrived(mask, LOADS, 0)
            case "wgmma.fence":
                return self._fence_registers
            case "wgmma" if isinstance(op, MMAS):
                return lambda mask: self._check_fenced(op, mask)
            case "wgmma.commit":
                return self._committed
            case "wgmma.wait":
                return lambda mask: self._arrived(mask, MMAS, effect.constant + 1)
            case "tmem.alloc" if isinstance(op, tcgen05_memory.AllocOp):
                slot = self._slots[op.slot]
                return lambda mask: self._allocate(op, self.env[slot])
            case "tmem.dealloc" if isinstance(op, tcgen05_memory.DeallocOp):
                address = self._slots[op.address]
                return lambda mask: self._free(op, self.env[address])
            case _:
                return None

    def _allocate(self, op: tcgen05_memory.AllocOp, slot: Any) -> None:
        """The first columns that are free are given: their address is in shared memory."""
        columns = op.columns.value.data
        span = (1 << columns) - 1
        firsts = (n for n in range(0, COLUMNS, columns) if not self._columns & span << n)
        if (first := next(firsts, None)) is None:
            return
        self._columns |= span << first
        self.trace.columns[len(self.trace.events)] = first, columns
        if isinstance(slot, int):
            self._addresses[slot + op.offset.value.data] = first

    def _free(self, op: tcgen05_memory.DeallocOp, first: Any) -> None:
        if isinstance(first, int):
            self._columns &= ~(((1 << op.columns.value.data) - 1) << first)

    def _fence_registers(self, mask: Mask) -> None:
        self._fenced |= mask.flags

    def _check_fenced(self, op: Operation, mask: Mask) -> None:
        if (mask.flags & ~self._fenced).any():
            raise Hazard("fence", op)

    def _committed(self, mask: Mask) -> None:
        for loading in self._loading:
            if (loading.flags & mask.flags).any():
                loading.commits += 1

    def _user(self, op: Operation, operands: list[int]) -> Step:
        return lambda mask: self._use(op, operands, mask)

    def _use(self, op: Operation, operands: list[int], mask: Mask) -> None:
        for place in operands:
            loading = self.env[place]
            if isinstance(loading, PendingRegisters) and (loading.flags & mask.flags).any():
                rule = "registers" if isinstance(loading.op, LOADS) else "accumulator"
                raise Hazard(rule, op, loading.op)

    def _arrived(self, mask: Mask, kinds: Any, commits: int) -> None:
        """Registers that so many commits lie behind have arrived."""
        for loading in self._loading:
            if isinstance(loading.op, kinds) and loading.commits >= commits:
                loading.flags &= ~mask.flags
        self._loading = [loading for loading in self._loading if loading.flags.any()]

    def _record(self, op: Operation, effect: Effect, slots: Operands, mask: Mask) -> None:
        self._tick()
        env = self.env
        condition = True if slots.predicate is None else env[slots.predicate]
        if condition is UNKNOWN and effect.kind == "access" and self.covers:
            self.trace.covering.setdefault(op, NO_CONDITION)
        elif condition is not True:
            then, _ = self.parted(op, condition, mask)
            if then is None:
                return
            mask = then
        accesses = tuple(
            (place, *self._located(env[memref_], mask, [
                env[index] if number else _behind(env[index], place.offset)
                for number, index in enumerate(indices)
            ]))
            for place, memref_, indices in slots.places
        )  # fmt: skip
        if slots.barrier is None and any(place.of_cluster for place, *_ in accesses):
            self._record_far(op, effect, mask, accesses)
            return
        if slots.barrier is None:
            self._emit(op, effect, mask, None, (), accesses)
            return
        self._record_at_barrier(op, effect, slots, mask, accesses)

    def _record_at_barrier(
        self, op: Operation, effect: Effect, slots: Operands, mask: Mask, accesses: Accesses
    ) -> None:
        """An event at an mbarrier, by the mbarriers that threads have."""
        env = self.env
        assert effect.barrier is not None and slots.barrier is not None
        scalars = tuple([env[value] for value in slots.scalars])
        view = env[slots.barrier]
        indices = [env[index] for index in slots.indices]
        cell: Any = UNKNOWN
        if isinstance(view, PlacedView) and not any(index is UNKNOWN for index in indices):
            cell = _behind(self._element(view, indices), effect.barrier.offset)
        if cell is not UNKNOWN and (
            isinstance(op, cluster.MbarrierArriveOp)
            or (isinstance(op, bulk_copy.TensorLoadOp) and op.pair is not None)
        ):
            cell, scalars = self.of_cluster(cell)
        if cell is UNKNOWN or any(value is UNKNOWN for value in scalars):
            self.say_unproven(op, "its mbarrier or parity is not known before it runs")
            self.trace.undecided = True
            return
        size = view.placement
        for part, (number, *others) in self._split(mask, (cell, *scalars)):
            outside = size is not None and not 0 <= number - view.first < size.size
            if outside and view.type is not None:
                last, _ = self.trace.beside.get(op, (number, 0))
                assert size is not None
                self.trace.beside[op] = (max(last, number) if number >= 0 else -1, size.size)
                self.trace.undecided = True
                continue
            if effect.kind in OF_RANK and others and not 0 <= others[0] < self.launch.ctas:
                self.say_unproven(op, NO_SUCH_CTA)
                self.trace.undecided = True
                continue
            self._emit(op, effect, part, (view.root, number), tuple(others), accesses)

    def _record_far(self, op: Operation, effect: Effect, mask: Mask, accesses: Accesses) -> None:
        """An access to shared memory of the cluster, by the CTA that it is of."""
        ((place, view, indices),) = accesses
        rank = getattr(view, "rank", UNKNOWN)
        if rank is None and indices[0] is not UNKNOWN:
            number, (rank,) = self.of_cluster(indices[0])
            indices = number, *indices[1:]
        if rank is UNKNOWN or rank is None:
            self.say_unproven(op, "the CTA that it is of is not known before it runs")
            return
        for part, (cta,) in self._split(mask, (rank,)):
            if not 0 <= cta < self.launch.ctas:
                self.say_unproven(op, NO_SUCH_CTA)
                continue
            self._emit(op, effect, part, None, (cta,), ((place, view, indices),))

    def _located(self, view: Any, mask: Mask, indices: list[Any]) -> tuple[Any, tuple[Any, ...]]:
        """The memref and the numbers of an access; of an address the memref that it is in."""
        if not self._roots or not indices or not isinstance(view, PlacedView):
            return view, tuple(indices)
        if view.root is not Space.SMEM or indices[0] is UNKNOWN:
            return view, tuple(indices)
        number, *others = indices
        roots = np.unique(np.asarray(number)[mask.flags if np.ndim(number) else ...] // APART)
        if len(roots) > 1 or not 0 < roots[0] <= len(self._roots):
            return UNKNOWN, tuple(indices)
        return self._roots[int(roots[0]) - 1], (number % APART, *others)

    def _element(self, view: PlacedView, indices: list[Any]) -> Any:
        placement = view.placement
        if placement is None:
            return UNKNOWN
        if len(indices) == 1 and isinstance(indices[0], int) and placement.plain:
            return indices[0] + view.first
        if all(isinstance(index, int) for index in indices):
            return int(placement.cells(indices, ())[0, 0]) + view.first
        wide = [np.broadcast_to(index, self.launch.slots) for index in indices]
        return placement.cells(wide, ())[:, 0] + view.first

    def _split(self, mask: Mask, values: tuple[Any, ...]) -> list[tuple[Mask, tuple[int, ...]]]:
        """The threads by what they have."""
        if not any(isinstance(value, np.ndarray) for value in values):
            return [(mask, tuple(int(value) for value in values))]
        lanes = np.flatnonzero(mask.flags)
        columns = [np.broadcast_to(value, len(mask.flags))[lanes] for value in values]
        parts: list[tuple[Mask, tuple[int, ...]]] = []
        for rows in alike(columns):
            flags = np.zeros(len(mask.flags), dtype=np.bool_)
            flags[lanes[rows]] = True
            parts.append((self.mask(flags), tuple(int(column[rows[0]]) for column in columns)))
        return parts

    def _emit(
        self, op: Operation, effect: Effect, mask: Mask, barrier: tuple[object, int] | None,
        scalars: tuple[int, ...], accesses: Accesses,
    ) -> None:  # fmt: skip
        events = self.trace.events
        constant = self.gone.copy() if effect.kind == "warp.sync" else effect.constant
        event = Event(
            len(events), effect.kind, op, mask, barrier, scalars, accesses, constant, self.rounds
        )
        events.append(event)


def _behind(address: Any, offset: int) -> Any:
    return address if not offset or address is UNKNOWN else address + offset
