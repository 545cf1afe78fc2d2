"""Loops that repeat themselves, of a run for times alone: of their periods but few are run. Where
the threads of a wave are twice back where they were, each time after as long, and with registers
that have gone on by the same numbers, they will be there again until a comparison of these numbers
comes out otherwise; nothing is known of a period that loads decide."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.scalars import SetpOp
from tilewright.lowering.interpreter.array_types import AnyArray, Int64Array, is_array
from tilewright.lowering.interpreter.builder import Step, nothing
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.program import Program
from tilewright.lowering.interpreter.timeline.deciding import LOADS
from tilewright.lowering.interpreter.timeline.turns import Slots

LONGEST = 32
"""The turns of a loop in a period at most."""
ALIKE = 0.01
"""The part by which the times of periods may differ."""

Counts = dict[Any, float]
"""Clocks, and how long units were taken: a period adds to them."""
Compared = dict[tuple[Operation, int], Int64Array]
"""By how much numbers differ that gangs have compared last, by the op and the first thread."""


@frozen
class Turn:
    """The begin of a turn of a loop: the registers of all gangs then."""

    registers: list[AnyArray | None]
    compared: Compared
    counts: Counts


class Periods:
    """Runs gangs, but not through all periods: `skip` is told of what those that are left out add,
    in all, to `counts`. `deciding` are the registers that branches and waits depend on."""

    def __init__(
        self, program: Program, slots: Slots, deciding: set[int], counts: Callable[[], Counts],
        skip: Callable[[Counts], None],
    ):  # fmt: skip
        self._counts, self._skip, self._deciding = counts, skip, deciding
        self._live = {block: sorted(live & deciding) for block, live in program.live.items()}
        self._turns, self._compared = defaultdict[Any, list[Turn]](list), Compared()
        self._loads = 0
        """How many loads have decided something."""
        self._headers = {
            jump.target for block in program.blocks for jump in block.jumps()
            if jump.target.number <= block.number
        }  # fmt: skip
        for block in program.blocks:
            block.steps[:] = [
                (op, self._noting(op, step, slots), writes) for op, step, writes in block.steps
            ]

    def _noting(self, op: Operation, step: Step, slots: Slots) -> Step:
        """The step, of which is noted what it compares, or that it decides by what memory has."""
        reads = slots(op.operands)

        def compare(machine: Machine, gang: Gang) -> None:
            a, b, *_ = (_signed(gang.regs[slot]) for slot in reads)
            self._compared[op, int(gang.lanes[0])] = a - b
            step(machine, gang)

        def load(machine: Machine, gang: Gang) -> None:
            self._loads += 1
            step(machine, gang)

        if step is not nothing and isinstance(op, SetpOp):
            return compare
        decides = isinstance(op, LOADS) and not self._deciding.isdisjoint(slots(op.results))
        return load if decides else step

    def run(self, machine: Machine, gang: Gang, others: Sequence[Gang]) -> list[Gang]:
        """Run a gang."""
        if gang.block in self._headers:
            self._begin(machine, [gang, *sorted(others, key=lambda one: int(one.lanes[0]))])
        return machine.run_steps(gang)

    def _begin(self, machine: Machine, gangs: list[Gang]) -> None:
        """A turn of a loop begins, of the first of the gangs."""
        places = [(gang.block, gang.awaited is None, gang.lanes.tobytes()) for gang in gangs]
        phases = [
            (place, done % 2, arrivals, size)
            for place, (done, arrivals, size, _) in machine.mbarriers.state().items()
        ]
        where = [(gang, slot) for gang in gangs for slot in self._live[gang.block]]
        registers = [value if is_array(value := gang.regs[slot]) else None for gang, slot in where]
        turns = self._turns[tuple(places), tuple(phases), self._loads]
        turns.append(Turn(registers, self._compared.copy(), self._counts()))
        del turns[: -1 - 2 * LONGEST]
        for length in range(1, (len(turns) + 1) // 2):
            last = turns[-1 - 2 * length], turns[-1 - length], turns[-1]
            if not _alike(*(turn.counts for turn in last)):
                continue
            left = _left(*(turn.compared for turn in last))
            steps = _steps(*(turn.registers for turn in last)) if left else None
            if steps is None:
                continue
            counts = last[2].counts
            for (gang, slot), value, step in zip(where, registers, steps, strict=True):
                if value is not None and step is not None:
                    gang.regs[slot] = value + step * value.dtype.type(left)
            self._skip({key: left * (counts[key] - last[1].counts.get(key, 0)) for key in counts})
            return


def _signed(bits: AnyArray) -> Int64Array:
    return bits.view(f"i{bits.dtype.itemsize}").astype(np.int64)


def _alike(first: Counts, second: Counts, third: Counts) -> bool:
    """The second period adds what the first one did."""
    for key, count in third.items():
        middle = second.get(key, 0)
        one, other = middle - first.get(key, 0), count - middle
        if abs(one - other) > ALIKE * max(one, other):
            return False
    return True


def _left(first: Compared, second: Compared, third: Compared) -> int:
    """The periods that follow, less one, in which comparisons come out as they did; 0 where nobody
    knows."""
    periods = list[int]()
    for key, apart in third.items():
        one, other = first.get(key), second.get(key)
        if other is apart:
            continue
        if one is None or other is None or not one.shape == other.shape == apart.shape:
            return 0
        step = apart - other
        if (step != other - one).any():
            return 0
        nearing = (step != 0) & (step * apart <= 0)
        if nearing.any():
            periods.append(int((np.abs(apart[nearing]) // np.abs(step[nearing])).min()))
    return max(min(periods, default=0) - 2, 0)


def _steps(
    first: list[AnyArray | None], second: list[AnyArray | None], third: list[AnyArray | None]
) -> list[AnyArray | None] | None:
    """By how much registers go on in a period, those that do; None where one goes on otherwise."""
    steps = list[AnyArray | None]()
    for a, b, c in zip(first, second, third, strict=True):
        if a is c or a is None or b is None or c is None:
            steps.append(None)
            continue
        step, before = (c != b, b != a) if c.dtype == np.bool_ else (c - b, b - a)
        if (step != before).any() or (c.dtype == np.bool_ and step.any()):
            return None
        steps.append(step if step.any() else None)
    return steps
