"""Events as they are met: by which threads, with what in hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.passes.analysis.hazards.events import Effect
from tilewright.passes.analysis.hazards.report import Hazard
from tilewright.passes.analysis.hazards.scalars import UNKNOWN
from tilewright.passes.analysis.hazards.trace import Event, Loading, Mask, Operands, PlacedView
from tilewright.passes.analysis.hazards.values import Step, Values


class Recording(Values):
    """The events of a launch."""

    def _event(self, op: Operation, effect: Effect) -> Step:
        if effect.kind == "use":
            operands = [self._slots[value] for value in op.operands if value in self._loaded]
            return lambda mask: self._use(op, operands, mask)
        slots, barrier = self._slots, effect.barrier
        operands = Operands(
            [(place, slots[place.memref], [slots[index] for index in place.indices])
             for place in effect.places],
            None if barrier is None else slots[barrier.memref],
            [] if barrier is None else [slots[index] for index in barrier.indices],
            [slots[value] for value in effect.scalars],
            None if effect.predicate is None else slots[effect.predicate],
        )  # fmt: skip
        if effect.kind == "tmem.wait_load":
            return lambda mask: (self._wait_load(mask), self._record(op, effect, operands, mask))[0]
        return lambda mask: self._record(op, effect, operands, mask)

    def _use(self, op: Operation, operands: list[int], mask: Mask) -> None:
        for place in operands:
            loading = self.env[place]
            if isinstance(loading, Loading) and (loading.flags & mask.flags).any():
                raise Hazard("registers", op, loading.op)

    def _wait_load(self, mask: Mask) -> None:
        for loading in self._loading:
            loading.flags &= ~mask.flags
        self._loading = [loading for loading in self._loading if loading.flags.any()]

    def _record(self, op: Operation, effect: Effect, slots: Operands, mask: Mask) -> None:
        self._tick()
        env = self.env
        if slots.predicate is not None:
            then, _ = self.parted(op, env[slots.predicate], mask)
            if then is None:
                return
            mask = then
        accesses = tuple(
            (place, env[memref_], tuple([env[index] for index in indices]))
            for place, memref_, indices in slots.places
        )
        if slots.barrier is None:
            self._emit(op, effect, mask, None, (), accesses)
            return
        scalars = tuple([env[value] for value in slots.scalars])
        view = env[slots.barrier]
        indices = [env[index] for index in slots.indices]
        cell: Any = UNKNOWN
        if isinstance(view, PlacedView) and not any(index is UNKNOWN for index in indices):
            cell = self._element(view, indices)
        if cell is UNKNOWN or any(value is UNKNOWN for value in scalars):
            self.say_unproven(op, "its mbarrier or parity is not known before it runs")
            self.trace.undecided = True
            return
        size = view.placement
        for part, (number, *others) in self._split(mask, (cell, *scalars)):
            if size is not None and not 0 <= number - view.first < size.size:
                last, _ = self.trace.beside.get(op, (number, 0))
                self.trace.beside[op] = (max(last, number) if number >= 0 else -1, size.size)
                self.trace.undecided = True
                continue
            self._emit(op, effect, part, (view.root, number), tuple(others), accesses)

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
        rows = np.stack([np.broadcast_to(value, len(mask.flags)) for value in values], axis=1)
        lanes = np.flatnonzero(mask.flags)
        kinds, which = np.unique(rows[lanes], axis=0, return_inverse=True)
        parts: list[tuple[Mask, tuple[int, ...]]] = []
        for number, kind in enumerate(kinds.tolist()):
            flags = np.zeros(len(mask.flags), dtype=np.bool_)
            flags[lanes[which.reshape(-1) == number]] = True
            parts.append((self.mask(flags), tuple(kind)))
        return parts

    def _emit(
        self, op: Operation, effect: Effect, mask: Mask, barrier: tuple[object, int] | None,
        scalars: tuple[int, ...], accesses: tuple[Any, ...],
    ) -> None:  # fmt: skip
        events = self.trace.events
        event = Event(
            len(events), effect.kind, op, mask, barrier, scalars, accesses, effect.constant,
            self.rounds,
        )  # fmt: skip
        events.append(event)
