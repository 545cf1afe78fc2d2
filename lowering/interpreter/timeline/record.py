"""The events of a run, warp by warp: a program of PTX instructions, watched as it runs.

The steps of the program are wrapped, and nothing else knows of it. A step runs for a gang at once;
of each of its warps the clock goes on by the row of the op in `latencies`, from when its operands
are there and its pipe is free. Threads that wait go on once the last of those that they waited for
has come, by its own clock.
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.frozen import entity, factory, frozen
from tilewright.dialects.intervals import insert_interval
from tilewright.dialects.ptx.registers import NameOp, UndefOp
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array
from tilewright.lowering.interpreter.builder import Builder
from tilewright.lowering.interpreter.machine.barriers import Barriers
from tilewright.lowering.interpreter.machine.launch import Launch
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.mbarrier import Mbarriers
from tilewright.lowering.interpreter.machine.special_registers import WARP
from tilewright.lowering.interpreter.machine.wait import Wait
from tilewright.lowering.interpreter.program import Awaited, Program, Step, Suspend
from tilewright.lowering.interpreter.timeline.instructions import (
    ARRIVING,
    Line,
    TimedInstruction,
    line_of,
)
from tilewright.lowering.interpreter.timeline.latencies import latency
from tilewright.lowering.interpreter.timeline.turns import (
    DATA,
    Slots,
    access_cycles,
    turn_of,
    units_of,
)
from tilewright.lowering.interpreter.values import Lanes
from tilewright.source.checked import checking, number_from

NOTHING: tuple[int, Sequence[tuple[str, float]]] = 0, ()

WARPS = 64
"""The warps of the first CTAs, whose every step is recorded."""


@frozen
class TimelineEvent:
    """A thing that a warp of a CTA did, or that ran beside it: `kind` is "run", "wait" (for what
    `name` says) or the pipe where it was in flight; cycles."""

    cta: int
    warp: int
    kind: str
    name: str
    start: int
    end: int
    line: int | None
    file: str | None = None


@entity
class Pipe:
    """A unit that does one thing at a time: the stretches of time that are taken, how long they are
    in all, and when what it was given last is over."""

    taken: list[tuple[int, int]] = factory(list)
    busy: float = 0
    last: int = 0

    def reserve(self, start: int, cycles: int) -> int:
        """Take the first gap of so many cycles from `start` on; when it begins."""
        taken = self.taken
        self.busy += cycles
        at = bisect(taken, (start, inf))
        if at:
            start = max(start, taken[at - 1][1])
        while at < len(taken) and taken[at][0] < start + cycles:
            start, at = taken[at][1], at + 1
        insert_interval(taken, (start, start + cycles))
        return start


@entity
class WarpClock:
    """The clock of a warp: when its registers are there, by number, and what it has started: the
    ends of what is in no group yet, and of each group, by kind."""

    now: int = 0
    since: int = 0
    """When it began with its block of instructions, or waited last."""
    ready: dict[int, int] = factory(dict)
    open: dict[str, int] = factory(lambda: defaultdict[str, int](int))
    groups: dict[str, list[int]] = factory(lambda: defaultdict[str, list[int]](list))


@entity
class TimedWait:
    """A wait that is watched: `keys` are what each thread waits for."""

    timeline: Timeline
    inner: Awaited
    keys: list[Any]

    @property
    def op(self) -> Operation:
        return self.inner.op

    def take(self, lanes: Int64Array) -> TimedWait:
        keys = [self.keys[lane] for lane in lanes.tolist()]
        return TimedWait(self.timeline, self.inner.take(lanes), keys)

    def ready(self) -> BoolArray:
        return self.inner.ready()

    def resume(self, lanes: Int64Array) -> None:
        self.inner.resume(lanes)
        self.timeline.resumed(self, lanes)

    def deadlock(self, lanes: Int64Array) -> str:
        return self.inner.deadlock(lanes)


class Timeline:
    """The events of a run: give it to `tilewright.interpret` among `watchers`.

    Of the first wave of CTAs the first `warps` are recorded, at the level of PTX instructions.
    """

    level: str | None = "ptx"
    reorders = False
    """True where what gives a value runs as soon as its operands are there, as ptxas orders the
    instructions of a block, and nothing waits behind it."""
    sustained = 1.0
    """The part of its rate that `wgmma` keeps."""

    @checking({"warps": number_from(1)})
    def __init__(self, warps: int = WARPS):
        self.events: list[TimelineEvent] = []
        self.arch = ""
        self.blocks: list[str] = []
        self._most = warps
        self._machine: Machine | None = None
        self._recorded: tuple[Lanes | None, list[int]] = None, []
        """The threads of the gang that ran last, and the warps of them that are recorded."""
        self._clocks = defaultdict[int, WarpClock](WarpClock)
        self._pipes = defaultdict[tuple[str, int], Pipe](Pipe)
        self._arrived = defaultdict[Any, int](int)
        self._done: dict[tuple[int, int], int] = {}
        self._busy = defaultdict[tuple[int, str], float](float)
        """The cycles that units of a CTA's SM are taken, or those of its first quarter."""
        self._shares: dict[Operation, tuple[int, Sequence[tuple[str, float]]]] = {}
        """Of ops, where they reorder, the turn of the path of data, and cycles of units."""

    @property
    def cycles(self) -> int:
        """When the last event ends."""
        return max((event.end for event in self.events), default=0)

    # Watching a program

    def watch(self, program: Program, builder: Builder, launch: Launch) -> None:
        """Wrap the steps of a program."""
        self.arch, slots = launch.arch, builder.slots
        for block in program.blocks:
            block.steps[:] = [
                (op, step if isinstance(op, UndefOp) else self._timed(op, step, slots), writes)
                for op, step, writes in block.steps
            ]
            if block.steps:
                op, step, writes = block.steps[0]
                block.steps[0] = op, self._opening(step), writes
            if isinstance(block.ending, Suspend):
                assert block.ending_op is not None
                begin = self._timed_wait(block.ending_op, block.ending.begin)
                block.ending = Suspend(begin, block.ending.following)

    def _warps(self, machine: Machine, gang: Gang) -> list[int]:
        """The warps of a gang that are recorded; those of the first wave alone are."""
        if self._machine is None:
            self._machine = machine
            ctas = range(min(len(machine.ctas), -(-self._most * WARP // machine.slots)))
            width, height, _ = machine.launch.grid
            places = [int(machine.ctas[cta]) for cta in ctas]
            self.blocks = [
                f"({number % width}, {number // width % height}, {number // width // height})"
                for number in places
            ]
        if machine is not self._machine:
            return []
        lanes, warps = self._recorded
        if gang.lanes is not lanes:
            lanes = gang.lanes[gang.lanes < len(self.blocks) * machine.slots]
            warps = np.unique(lanes // WARP).tolist()
            self._recorded = gang.lanes, warps
        return warps

    def _opening(self, step: Step) -> Step:
        """The first step of a block."""

        def opening(machine: Machine, gang: Gang) -> None:
            for warp in self._warps(machine, gang):
                self._clocks[warp].since = self._clocks[warp].now
            step(machine, gang)

        return opening

    def _timed(self, op: Operation, step: Step, slots: Slots) -> Step:
        reads, writes = slots(op.operands), slots(op.results)
        if isinstance(op, NameOp):

            def named(machine: Machine, gang: Gang) -> None:
                step(machine, gang)
                for warp in self._warps(machine, gang):
                    ready = self._clocks[warp].ready
                    late = max((ready.get(slot, 0) for slot in reads), default=0)
                    ready.update(dict.fromkeys(writes, late))

            return named
        this = TimedInstruction(op, reads, writes)
        arrives = op.name in ARRIVING

        def timed(machine: Machine, gang: Gang) -> None:
            warps = self._warps(machine, gang)
            if not warps:
                step(machine, gang)
                return
            work = turn_of(op, machine, gang, slots) if this.row.pipe else 0
            if op.name == "ptx.wgmma.mma_async":
                work = round(work / self.sustained)
            if self.reorders and op not in self._shares:
                units = units_of(op, machine, gang, slots)
                self._shares[op] = access_cycles(op, gang, slots), units
            before = machine.mbarriers.state() if arrives else {}
            if op.name == "ptx.bar.arrive":
                self._arrive(op, machine, warps)
            step(machine, gang)
            cycles, units = self._shares.get(op, NOTHING)
            per_cta, ends = machine.slots // WARP, dict[int, int]()
            for warp in warps:
                cta, own = divmod(warp, per_cta)
                if own % 4 == 0:
                    for unit, taken in this.slots:
                        self._busy[cta, unit] += taken
                for unit, taken in units:
                    self._busy[cta, unit] += taken
                ends[warp] = self._issue(this, cta, warp, own, work, cycles)
            if arrives:
                self._completed(machine, before, ends)

        return timed

    def _issue(
        self, this: TimedInstruction, cta: int, warp: int, own: int, work: int, cycles: int
    ) -> int:
        """A warp, its CTA's `own`, executes an instruction that takes so many cycles of the path of
        data; when what it starts is over."""
        clock, row, name, line = self._clocks[warp], this.row, this.name, this.line
        ready, known = clock.ready, 0
        for slot in this.reads:
            if (late := ready.get(slot, 0)) > known:
                known = late
        early = self.reorders and this.gives
        start = max(clock.since if early else clock.now, known)
        if cycles:
            start = self._pipes[DATA, cta * 4].reserve(start, cycles)
        if early:
            clock.now += row.issue
            self._note(cta, warp, "run", name, start, start + row.issue, line)
            for slot in this.writes:
                ready[slot] = start + row.result
            return start + row.result
        if start > clock.now + row.issue:
            self._note(cta, warp, "wait", f"operands of {name}", clock.now, start, line)
        if name.endswith("commit_group"):
            kind = name.removesuffix(".commit_group")
            clock.groups[kind].append(clock.open.pop(kind, 0))
        elif name.endswith("wait_group"):
            groups = clock.groups[name.removesuffix(".wait_group")]
            pending: int = this.op.properties["pending"].value.data  # type: ignore[attr-defined]
            due = max(groups[: len(groups) - pending], default=0)
            start = self._until(cta, warp, name, start, due, line)
        elif name.startswith("tcgen05.wait"):
            start = self._until(cta, warp, name, start, clock.open.pop(name, 0), line)
        clock.now = start + row.issue
        self._note(cta, warp, "run", name, start, clock.now, line)
        group = this.group
        if row.pipe:
            pipe = self._pipes[row.pipe, cta * 4 + (warp % 4 if "quarter" in row.pipe else 0)]
            if row.pipe == "wgmma" and own % 4:
                # The first warp of the warpgroup has issued it.
                end = pipe.last
            else:
                begin = pipe.reserve(start, work)
                end = pipe.last = begin + work + row.result
                self._note(cta, warp, row.pipe, name, begin, end, line)
        else:
            end = start + row.result
            if group is not None:
                self._note(cta, warp, group, name, start, end, line)
        if name == "tcgen05.commit":
            end = max(end, self._pipes["tcgen05", cta * 4].last)
        if group is not None:
            clock.open[group] = max(clock.open[group], end)
        ready.update(dict.fromkeys(this.writes, clock.now if group == "wgmma" else end))
        return end

    def _until(
        self, cta: int, warp: int, name: str, start: int, due: int, line: Line | None
    ) -> int:
        """A warp waits until something is due; when it goes on."""
        if due > start:
            self._note(cta, warp, "wait", name, start, due, line)
            self._clocks[warp].since = due
        return max(start, due)

    def _note(
        self, cta: int, warp: int, kind: str, name: str, start: int, end: int, line: Line | None
    ) -> None:
        own = warp - cta * (self._wave.slots // WARP)
        file, number = (None, None) if line is None else line
        self.events.append(TimelineEvent(cta, own, kind, name, start, end, number, file))

    def _cta(self, warp: int) -> int:
        return warp * WARP // self._wave.slots

    @property
    def _wave(self) -> Machine:
        assert self._machine is not None
        return self._machine

    # Waits

    def _arrive(self, op: Operation, machine: Machine, warps: list[int]) -> None:
        """Warps arrive at a barrier of their CTA, and go on."""
        any_op: Any = op
        barrier: int = any_op.barrier.value.data
        for warp in warps:
            number = warp * WARP // machine.slots * 16 + barrier
            phase = int(machine.barriers.completed[number])
            key = id(machine.barriers), number, phase
            self._arrived[key] = max(self._arrived[key], self._clocks[warp].now)

    def _completed(
        self, machine: Machine, before: dict[int, tuple[int, ...]], ends: dict[int, int]
    ) -> None:
        """Warps have done what counts for mbarriers: those whose state has changed."""
        per_cta = machine.slots // WARP
        for place, (done, *left) in machine.mbarriers.state().items():
            was = before.get(place)
            if was is None or was == (done, *left):
                continue
            cta = place // machine.shared.stride
            own = [end for warp, end in ends.items() if warp // per_cta == cta]
            when = max(own or ends.values())
            self._arrived[place] = max(self._arrived[place], when)
            if done > was[0]:
                self._done[place, done] = self._arrived.pop(place)

    def _timed_wait(
        self, op: Operation, begin: Callable[[Any, Any], Awaited]
    ) -> Callable[[Any, Any], Awaited]:
        row = latency(op.name)

        def timed(machine: Machine, gang: Gang) -> Awaited:
            warps = self._warps(machine, gang)
            for warp in warps:
                self._clocks[warp].now += row.issue
            wait = begin(machine, gang)
            if not warps:
                return wait
            keys: list[Any] = [None] * gang.count
            if isinstance(wait, Wait) and isinstance(wait.place, Mbarriers):
                places, parity, _ = wait.keys
                state = machine.mbarriers.state()
                keys = [
                    (place, state[place][0] + (state[place][3] % 2 == want))
                    for place, want in zip(places.tolist(), parity.tolist(), strict=True)
                ]
            elif isinstance(wait, Wait) and isinstance(wait.place, Barriers):
                pairs = zip(*(key.tolist() for key in wait.keys), strict=True)
                keys = [(id(wait.place), number, phase) for number, phase in pairs]
                for lane, key in zip(gang.lanes.tolist(), keys, strict=True):
                    now = self._clocks[lane // WARP].now if lane // WARP in warps else 0
                    self._arrived[key] = max(self._arrived[key], now)
            return TimedWait(self, wait, keys)

        return timed

    def resumed(self, wait: TimedWait, lanes: Int64Array) -> None:
        """Threads go on."""
        name, row, line = wait.op.name.removeprefix("ptx."), latency(wait.op.name), line_of(wait.op)
        warps, first = np.unique(lanes // WARP, return_index=True)
        for warp, index in zip(warps.tolist(), first.tolist(), strict=True):
            cta = self._cta(warp)
            if cta >= len(self.blocks):
                continue
            key, clock = wait.keys[index], self._clocks[warp]
            if key is None:
                due = max(clock.now for clock in self._clocks.values())
            elif len(key) == 2:
                place, phase = key
                due = self._done.get(key, 0)
                name = f"{name} {place % self._wave.shared.stride:#x} phase {phase}"
            else:
                due = self._arrived[key]
            started, clock.now = clock.now, max(clock.now, due) + row.result
            clock.since = clock.now
            self._note(cta, warp, "wait", name, started, clock.now, line)
            name = wait.op.name.removeprefix("ptx.")
