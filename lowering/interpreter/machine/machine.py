"""The machine: gangs of threads that run a program together.

A gang is a set of threads at one place of the program. All threads of all resident CTAs begin as
one gang, and every step runs for the whole gang on NumPy arrays. Where a branch goes two ways the
gang splits; gangs that reach one block merge again. The gang that is furthest behind runs first,
so threads meet where the text of the program meets. A gang that waits for something is left alone
until that has come about: warps that take different paths run independently of each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from math import prod
from typing import Any, NoReturn

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, Int64Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.async_copies import AsyncCopies
from tilewright.lowering.interpreter.machine.atomics import Atomics
from tilewright.lowering.interpreter.machine.barriers import (
    ClusterBarrier,
    CtaBarriers,
    WarpBarriers,
)
from tilewright.lowering.interpreter.machine.bulk_stores import BulkStores
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.global_accesses import GlobalAccesses
from tilewright.lowering.interpreter.machine.global_memory import GlobalMemory
from tilewright.lowering.interpreter.machine.launch import Launch
from tilewright.lowering.interpreter.machine.livelock import Livelock
from tilewright.lowering.interpreter.machine.mbarrier import Mbarriers
from tilewright.lowering.interpreter.machine.register_pool import RegisterPool
from tilewright.lowering.interpreter.machine.register_tensor import RegisterFile
from tilewright.lowering.interpreter.machine.remote_accesses import RemoteAccesses
from tilewright.lowering.interpreter.machine.schedule import Schedule
from tilewright.lowering.interpreter.machine.shared_memory import SharedMemory
from tilewright.lowering.interpreter.machine.special_registers import (
    WARP,
    SpecialRegisters,
    all_lanes,
)
from tilewright.lowering.interpreter.machine.tensor_allocation import TensorAllocator
from tilewright.lowering.interpreter.machine.tensor_memory import TensorMemory
from tilewright.lowering.interpreter.program import (
    Awaited,
    CodeBlock,
    Exit,
    Fork,
    Jump,
    Program,
    Suspend,
)
from tilewright.lowering.interpreter.values import Bits, Lanes, joined, take
from tilewright.source.diagnostic import ExecutionError, at


@entity
class Gang:
    """Threads that execute together.

    `lanes` numbers them within the wave (CTA * threads of a CTA + thread), in ascending order;
    `regs` holds one value per register of the program, and `unfenced` are the registers that no
    wgmma may access yet: they were written after the last `wgmma.fence`. `awaited` is what the gang
    waits for.
    """

    lanes: Lanes
    regs: list[Any]
    block: CodeBlock
    unfenced: set[int] = factory(set)
    awaited: Awaited | None = None

    @property
    def count(self) -> int:
        return len(self.lanes)

    @property
    def is_through(self) -> bool:
        """It has nothing left to do but to end."""
        ends = isinstance(self.block.ending, Exit) and not self.block.steps
        return ends and self.awaited is None

    @property
    def is_whole(self) -> bool:
        """It is whole warps."""
        if self.count % WARP or (self.lanes[::WARP] % WARP).any():
            return False
        return bool((np.diff(self.lanes.reshape(-1, WARP), axis=1) == 1).all())

    def warps(self, op: str) -> int:
        """The number of warps of the gang. Raises Fault unless it is whole warps."""
        if not self.is_whole:
            self._partial(op)
        return self.count // WARP

    def _partial(self, op: str) -> None:
        warps, counts = np.unique(self.lanes // WARP, return_counts=True)
        missing = int(warps[np.argmax(counts != WARP)])
        present = int(counts[np.argmax(counts != WARP)])
        raise Fault(
            f"{op} needs all {WARP} threads of a warp, and {present} execute it "
            "(.sync.aligned: PTX ISA 9.7.14)",
            int(np.argmax(self.lanes // WARP == missing)),
        )

    def move(self, sources: Iterable[int], dests: Iterable[int]) -> None:
        """Give registers the values of others, all at once."""
        moved = [(self.regs[slot], slot in self.unfenced) for slot in sources]
        for slot, (value, late) in zip(dests, moved, strict=True):
            self.regs[slot] = value
            (self.unfenced.add if late else self.unfenced.discard)(slot)

    def part(self, chosen: BoolArray, live: Iterable[int]) -> Gang:
        """The threads that are chosen, with the registers that are `live`."""
        lanes = np.flatnonzero(chosen)
        regs: list[Any] = [None] * len(self.regs)
        for slot in live:
            regs[slot] = take(self.regs[slot], lanes)
        awaited = None if self.awaited is None else self.awaited.take(lanes)
        return Gang(self.lanes[lanes], regs, self.block, set(self.unfenced), awaited)


def _place(gang: Gang) -> int:
    return gang.block.number


class Machine:
    """One wave of CTAs that run a program to its end."""

    def __init__(
        self,
        program: Program,
        launch: Launch,
        memory: GlobalMemory,
        accesses: GlobalAccesses,
        ctas: Int64Array,
        waiting: list[int] | None = None,
    ):
        # The CTAs that begin after this wave.
        self.waiting = [] if waiting is None else waiting
        self.program = program
        self.launch = launch
        self.memory = memory
        self.accesses = accesses
        self.ctas = ctas
        self.threads = launch.threads
        self._warps = -(-self.threads // WARP)
        # Shadows count whole warps; a CTA whose last warp is not full still has it.
        cluster = prod(launch.cluster)
        self.lanes = all_lanes(len(ctas), self.slots, self.threads)
        # By slot, the threads that have not ended.
        self.there = np.zeros(len(ctas) * self.slots, np.bool_)
        self.there[self.lanes] = True
        # By slot, where the stacks end in the local memory of a thread.
        share = 0 if memory.local is None else memory.local.share
        self.tops = np.full(len(self.there), share, np.int64)
        clusters = len(ctas) // cluster
        self.clocks = Clocks(
            clusters, self._warps * cluster, self.lanes, writes_apart=program.passes_reads
        )
        self.remote = RemoteAccesses(self.clocks, self.threads, self.slots)
        self.shared = SharedMemory(
            len(ctas), program.shared_bytes, self.slots, self.clocks, self.remote, cluster
        )
        self.schedule = Schedule(launch.schedule, self.slots)
        self.mbarriers = Mbarriers(self.shared, self.clocks, self.schedule, cluster)
        self.shared.op_names.ops = program.ops
        self.registers = RegisterFile(len(ctas) * self.slots, self.shared.op_names)
        self.tensor = TensorMemory(self.clocks, self.shared, len(ctas) * self.slots)
        self.register_pool = RegisterPool(len(ctas), self.threads, self.slots)
        self._operands = self.shared.wgmmas.fragments
        self.allocator = TensorAllocator(self.tensor, self.shared, self.slots, cluster)
        self.warp_barriers = WarpBarriers(self.clocks, self.there)
        self.barriers = CtaBarriers(self.clocks, len(ctas), self.threads, self.slots)
        self.cluster_barrier = ClusterBarrier(
            self.clocks, clusters, self.threads, self.slots, cluster
        )
        self._special = SpecialRegisters(
            launch.block, launch.grid, launch.cluster, ctas, self.slots, launch.arch
        )
        accesses.begin(
            len(ctas), self.slots, cluster, self.clocks, self.shared.op_names, self._special
        )
        self.copies = AsyncCopies(self.shared, accesses, len(ctas) * self.slots)
        self.bulk_stores = BulkStores(self.shared, accesses, self.schedule)
        self.atomics = Atomics(self.clocks, self.slots, self.shared, accesses, self.schedule)
        self.executed = 0
        self._steps = 0
        self._turns, self._last = Counter[CodeBlock](), dict[CodeBlock, int]()
        self._livelock = Livelock(
            self.program.live.__getitem__, self._observable, self._not_ahead, self.schedule.tire
        )

    def special(self, register: str) -> Bits:
        """A special register of every thread slot of the wave: uint32."""
        return self._special[register]

    # Running

    def run(self, arguments: list[Any]) -> None:
        """Run the wave. Raises ExecutionError for what no kernel may do."""
        regs: list[Any] = [None] * self.program.registers
        for slot, value in zip(self.program.arguments, arguments, strict=True):
            regs[slot] = value
        gangs = [Gang(self.lanes, regs, self.program.blocks[0])]
        while gangs:
            gang = self._next(gangs)
            spins = self._livelock.turn(gang, gangs)
            if spins is not None and not self.schedule.land(must=True):
                self._fail_livelock(gang, spins)
            runner = self.launch.runner
            for one in self.run_steps(gang) if runner is None else runner.run(self, gang, gangs):
                # Who has come to the end is there no more: votes of others do not wait.
                gangs += self.run_steps(one) if one.is_through else [one]
        while self.schedule.land(must=True):
            pass
        self.accesses.finish()

    def _next(self, gangs: list[Gang]) -> Gang:
        """Take out the runnable gang that is furthest behind, merged with all at its place."""
        if len(gangs) == 1 and gangs[0].awaited is None and not self.schedule.is_random:
            return gangs.pop()
        ready: list[Gang] = []
        while not ready:
            self.schedule.land()
            gangs[:] = [part for gang in gangs for part in self._by_readiness(gang)]
            # Threads of a team wait for those further behind, asleep or not, while anything moves.
            held_back = self.schedule.may_run_ahead and not self._livelock.stuck
            level = self._not_ahead(gangs) if held_back else gangs
            ready = [gang for gang in level if gang.awaited is None]
            if not ready and not self.schedule.land(must=True):
                ready = self._not_ahead([gang for gang in gangs if gang.awaited is None])
                if not ready:
                    self._deadlock(gangs)
        if self._livelock.stuck:
            ready = self._livelock.unheard(ready) or ready
        numbers = [gang.block.number for gang in ready]
        first = self.schedule.choose(ready, numbers, [int(gang.lanes[0]) for gang in ready])
        if self._livelock.stuck and first not in self._not_ahead(gangs):
            self._livelock.release()
            self.schedule.tire(int(first.lanes[0]))
        same = [gang for gang in ready if gang.block is first.block]
        for gang in same:
            gangs.remove(gang)
        gang = same[0] if len(same) == 1 else self._merge(same)
        some = self.schedule.some(gang.lanes)
        if some is not None:
            live = self.program.live[gang.block]
            gangs.append(gang.part(~some, live))
            gang = gang.part(some, live)
        return gang

    def _not_ahead(self, gangs: list[Gang]) -> list[Gang]:
        """Those of which no team has threads further behind, so that its threads meet where the
        text lets them; nor has a team of those that would run with them. A team is a warp or, of a
        program with MMAs of warpgroups, one of these."""
        by_warpgroups = self.program.by_warpgroups
        behind: list[Gang] = []
        late: set[int] = set()
        for _, group in groupby(sorted(gangs, key=_place), _place):
            members = list(group)
            numbers = (
                self.schedule.teams(gang.lanes) if by_warpgroups else gang.lanes // WARP
                for gang in members
            )  # fmt: skip
            teams = [set(own.tolist()) for own in numbers]
            while any(not late.isdisjoint(own) and not own <= late for own in teams):
                late |= set().union(*(own for own in teams if not late.isdisjoint(own)))
            behind += [
                gang for gang, own in zip(members, teams, strict=True) if late.isdisjoint(own)
            ]
            late = late.union(*teams)
        return behind

    def _merge(self, gangs: list[Gang]) -> Gang:
        """One gang of several at one block."""
        result = gangs[0]
        live = self.program.live[result.block]
        for other in gangs[1:]:
            lanes = np.concatenate([result.lanes, other.lanes])
            order = np.argsort(lanes)
            counts = (result.count, other.count)
            regs: list[Any] = [None] * len(result.regs)
            for slot in live:
                regs[slot] = joined(result.regs[slot], other.regs[slot], counts, order)
            result = Gang(lanes[order], regs, result.block, result.unfenced | other.unfenced)
        return result

    def run_steps(self, gang: Gang, first: int = 0, last: int | None = None) -> list[Gang]:
        """Run the gang through its block, or some steps of it; the gangs that go on."""
        block, unfenced = gang.block, gang.unfenced
        op: Operation | None = None
        try:
            steps = block.steps if not first and last is None else block.steps[first:last]
            for op, step, writes in steps:  # noqa: B007
                if self._operands:
                    self._operands.check_writes(writes, gang.lanes)
                step(self, gang)
                unfenced.update(writes)
            if last is not None:
                return [gang]
            self.executed += gang.count * (len(block.steps) + 1)
            op = block.ending_op
            if self.launch.max_steps is not None:
                self._count(gang, block, self.launch.max_steps)
            return self._go_on(gang, block)
        except Fault as fault:
            assert op is not None
            lane = None if fault.lane is None else int(gang.lanes[fault.lane % gang.count])
            self.fail(op, fault.message + self._livelock.suspicion, lane, gang)

    def _count(self, gang: Gang, block: CodeBlock, most: int) -> None:
        """End a run that takes more steps than it may where it spends the latter half of them."""
        self._steps += len(block.steps) + 1
        if self._steps <= most // 2:
            return
        self._turns[block] += len(block.steps) + 1
        self._last[block] = int(gang.lanes[0])
        if self._steps > most:
            spinning = max(self._turns, key=self._turns.__getitem__)
            assert spinning.ending_op is not None
            self.fail(
                spinning.ending_op,
                f"is reached after more than max_steps={most} steps: a loop waits for what never "
                "comes, or takes longer",
                self._last[spinning],
            )

    def _go_on(self, gang: Gang, block: CodeBlock) -> list[Gang]:
        ending = block.ending
        if isinstance(ending, Jump):
            return [self._jump(gang, ending)]
        if isinstance(ending, Fork):
            return self._fork(gang, ending)
        if isinstance(ending, Suspend):
            gang.awaited = ending.begin(self, gang)
            return [self._jump(gang, ending.following)]
        self.there[gang.lanes] = False
        self.shared.wgmmas.check_done(gang.lanes)
        self.shared.bulk_stores.check_done(gang.lanes)
        self.allocator.exit(gang.lanes, self.threads)
        self.remote.exit(gang.lanes)
        return []

    def _jump(self, gang: Gang, jump: Jump) -> Gang:
        gang.move(jump.sources, jump.dests)
        gang.block = jump.target
        return gang

    def _fork(self, gang: Gang, fork: Fork) -> list[Gang]:
        condition = np.asarray(gang.regs[fork.condition])
        if condition.all():
            return [self._jump(gang, fork.then)]
        if not condition.any():
            return [self._jump(gang, fork.other)]
        return [
            self._jump(gang.part(chosen, self.program.live_before(jump)), jump)
            for chosen, jump in ((condition, fork.then), (~condition, fork.other))
        ]

    def spare_turns(self) -> int:
        """The turns that a gang may take at once."""
        return 0 if self.schedule.may_run_ahead else self._livelock.spare

    def took(self, turns: int, thread_steps: int) -> None:
        """A gang has taken turns at once."""
        self._livelock.took(turns)
        self.executed += thread_steps

    # Waiting

    @property
    def slots(self) -> int:
        """The number of thread slots of a CTA: whole warps."""
        return self._warps * WARP

    def cta_of(self, lanes: Lanes) -> Lanes:
        """The CTA of each thread, as its place in the wave."""
        return lanes // (self._warps * WARP)

    def _by_readiness(self, gang: Gang) -> list[Gang]:
        """Threads that have what they wait for go on, apart from those that wait for it still."""
        if gang.awaited is None or not (ready := gang.awaited.ready()).any():
            return [gang]
        parts = [gang]
        if not ready.all():
            live = self.program.live[gang.block]
            parts = [gang.part(ready, live), gang.part(~ready, live)]
        first = parts[0]
        assert first.awaited is not None
        try:
            first.awaited.resume(first.lanes)
        except Fault as fault:
            lane = None if fault.lane is None else int(first.lanes[fault.lane])
            self.fail(first.awaited.op, fault.message, lane, first)
        first.awaited = None
        return parts

    def _deadlock(self, gangs: list[Gang]) -> NoReturn:
        gang = min(gangs, key=lambda gang: gang.block.number)
        assert gang.awaited is not None
        lane: int | None = int(gang.lanes[0])
        try:
            message = gang.awaited.deadlock(gang.lanes)
        except Fault as fault:
            message, lane = fault.message, fault.lane
        self.fail(gang.awaited.op, message, lane)

    def _observable(self) -> list[AnyArray]:
        """All that threads can look at or wait for, but their registers."""
        return [
            *(allocation.data for allocation in self.memory.allocations),
            self.shared.data,
            *self.registers.contents(),
            *self.tensor.contents(),
            np.array(self.mbarriers.progress() + self.barriers.progress(), dtype=np.int64),
        ]

    def _fail_livelock(self, gang: Gang, spins: CodeBlock) -> NoReturn:
        op = spins.ending_op or gang.block.ending_op
        assert op is not None
        self.fail(
            op,
            "is reached for ever: all threads that may run come back to where they were, with the "
            "same in registers and in memory, so that a loop waits for what never comes",
            int(gang.lanes[0]),
        )

    # Errors

    def where(self, lane: int) -> str:
        """The block and the thread of a thread slot."""
        return self._special.where(lane)

    def fail(
        self, op: Operation, message: str, lane: int | None, gang: Gang | None = None
    ) -> NoReturn:
        """Raise ExecutionError for an op of a gang."""
        place = "" if lane is None else f" ({self.where(lane)})"
        diagnostic = at(op.location, f"'{op.name}' {message}{place}", self.launch.source)
        notes = [str(diagnostic)]
        if gang is not None and self.launch.explain is not None:
            notes += self.launch.explain(self, gang, op, lane, message)
        raise ExecutionError("\n".join(notes)) from None
