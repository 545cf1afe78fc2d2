"""A kernel followed once for all its threads, without its data: the events that each has.

Only what decides control flow, barriers and addresses is computed. Where threads take different
branches both are followed, in the order of the text, each for its threads: the list is no schedule,
but what one thread has of it is what that thread does, in order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.ancestors import terminator
from tilewright.passes.analysis.hazards.blocks import (
    Edge,
    between,
    condition_of,
    edges_of,
    joins,
    onward,
)
from tilewright.passes.analysis.hazards.launches import ClusterLaunch
from tilewright.passes.analysis.hazards.recording import Recording
from tilewright.passes.analysis.hazards.scalars import UNKNOWN, select
from tilewright.passes.analysis.hazards.trace import EventTrace, Mask
from tilewright.passes.analysis.hazards.values import Step

QUIET = ("access", "global", "use")
"""Events of a thread by itself."""


@dataclass(slots=True)
class Parting:
    """Threads that part at a branch: where all their ways meet, if anywhere, the values before it,
    the ways that are left with their threads, and the threads and values at the ends of others."""

    join: Block | None
    env: list[Any]
    ways: list[tuple[Edge, Mask]]
    ends: list[tuple[Mask, list[Any]]]


class ProgramSlice(Recording):
    """A function, cut down to what its events depend on; `run` follows it."""

    def __init__(self, function: Operation):
        super().__init__(function)
        self._blocks = {block: self._compile(block) for block in self._body.blocks}
        self._joins = joins(self._body) if len(self._blocks) > 1 else {}
        self._ends = {
            block: (block.last_op, edges_of(block.last_op), condition_of(block.last_op))
            for block in self._blocks
        }
        self._eventful = {op.parent for op in self._effects}
        self._passed: dict[Block, Edge | None] = {}
        self._both: dict[Block, Sequence[Edge]] = {}
        self._leaving: dict[Block, bool] = {}

    def _says_nothing(self, of: Block | Operation) -> bool:
        """How often threads come here says nothing of others: they access global memory alone."""
        effects = map(self._effects.get, of.walk())
        return all(effect is None or effect.kind == "global" for effect in effects)

    def run(self, launch: ClusterLaunch) -> EventTrace:
        """The events of a launch. Raises Hazard, OutOfBounds and TooLong."""
        self.begin(launch)
        for argument in self._body.blocks[0].args:
            if argument in self._needed:
                self.env[self._slots[argument]] = self._argument(argument)
        self._run_blocks(self._body.blocks[0], self.mask(launch.present))
        return self.trace

    def _run_blocks(self, block: Block, mask: Mask) -> None:
        """Follow blocks to their ends. Threads that part meet again where all their ways do."""
        parted: list[Parting] = []
        while True:
            while not parted or block is not parted[-1].join:
                for step in self._blocks[block]:
                    step(mask)
                if (way_on := self._way_on(block, mask)) is None:
                    break
                if isinstance(way_on, Parting):
                    parted.append(way_on)
                    block, mask = self._go(way_on)
                    continue
                dest, values = way_on
                self._assign(dest.args, values)
                block = dest
            else:
                parted[-1].ends.append((mask, self.env))
            while parted and not parted[-1].ways and not parted[-1].ends:
                parted.pop()
            if not parted:
                return
            if parted[-1].ways:
                block, mask = self._go(parted[-1])
            else:
                last = parted.pop()
                assert last.join is not None
                block, mask = last.join, self._meet(last.ends)

    def _way_on(self, block: Block, mask: Mask) -> "Edge | Parting | None":
        """The edge that threads take at the end of a block, or all of them; None where they end."""
        last, edges, condition = self._ends[block]
        if not edges or last is None:
            return None
        self._tick()
        if condition is None:
            return edges[0]
        decided = self.env[self._slots[condition]]
        if decided is UNKNOWN and (way_on := self._passed_by(block)) is not None:
            return way_on
        if decided is UNKNOWN and (both := self._both_ways(block)):
            return Parting(self._joins[block], self.env, [(edge, mask) for edge in both], [])
        then, other = self.parted(last, decided, mask)
        if then is not None and other is not None:
            ways, join = [(edges[1], other), (edges[0], then)], self._joins[block]
            if join is None or join.first_op is join.last_op:
                for (dest, _), part in ways:
                    if self._leaves(dest):
                        self.gone |= part.flags
            return Parting(join, self.env, ways, [])
        return edges[then is None]

    def _leaves(self, block: Block) -> bool:
        """Threads that come to a block end, and meet no others before."""
        if block not in self._leaving:
            self._leaving[block] = False
            self._leaving[block] = all(
                op not in self._aligned
                and (op not in self._effects or getattr(self._effects[op], "kind", "") in QUIET)
                for op in block.ops
            ) and all(self._leaves(dest) for dest, _ in edges_of(block.last_op))
        return self._leaving[block]

    def _passed_by(self, block: Block) -> Edge | None:
        """The way on from a block whose condition says nothing of events."""
        if block not in self._passed:
            way_on, join = onward(block, self._says_nothing), self._joins[block]
            if way_on is None and join is not None and all(
                other is not block and other not in self._eventful
                for other in between(block, join)
            ):  # fmt: skip
                way_on = join, ()
            self._passed[block] = way_on
        return self._passed[block]

    def _both_ways(self, block: Block) -> Sequence[Edge]:
        """The ways on from a block where all threads may go both: through blocks that use registers
        alone, and past them, last, so that the registers of that way are those that count then."""
        if block not in self._both:
            join = self._joins[block]
            ways = [] if join is None else sorted(edges_of(block.last_op), key=self._is_past)
            self._both[block] = ways if join and self._is_past(ways[-1]) and all(
                other is not block and self._only_uses(other, join)
                for other in between(block, join)
            ) else ()  # fmt: skip
        return self._both[block]

    def _is_past(self, way: Edge) -> bool:
        return way[0] not in self._eventful

    def _only_uses(self, block: Block, join: Block) -> bool:
        """A block uses registers, and hands on others to a join."""
        effects = (self._effects[op] for op in block.ops if op in self._effects)
        return (
            all(effect is not None and effect.kind == "use" for effect in effects)
            and self._aligned.isdisjoint(block.ops)
            and all(dest is join for dest, _ in edges_of(block.last_op))
            and self._needed.isdisjoint(set(join.args) - self._loaded)
        )

    def _go(self, parting: "Parting") -> tuple[Block, Mask]:
        """Begin one more way, for its threads."""
        (dest, values), part = parting.ways.pop()
        self.env = list(parting.env)
        self._assign(dest.args, values)
        return dest, part

    def _meet(self, ends: Sequence[tuple[Mask, list[Any]]]) -> Mask:
        """Go on with the threads of one end, or two."""
        (one, self.env), *others = ends
        for two, env in others:
            self.env = [
                b if a is b or (isinstance(a, int) and isinstance(b, int) and a == b)
                else select(one.flags, a, b)
                for a, b in zip(self.env, env, strict=True)
            ]  # fmt: skip
            one = self.mask(one.flags | two.flags)
        return one

    def _assign(self, dests: Sequence[SSAValue], sources: Sequence[SSAValue]) -> None:
        values = [self.env[self._slots[s]] if s in self._slots else UNKNOWN for s in sources]
        values = values or [UNKNOWN] * len(dests)
        for dest, value in zip(dests, values, strict=True):
            if dest in self._slots:
                self.env[self._slots[dest]] = value

    def _compile(self, block: Block) -> list[Step]:
        return [step for op in block.ops if (step := self._step(op)) is not None]

    def _step(self, op: Operation) -> Step | None:
        step = self._step_of_any(op)
        if op not in self._aligned:
            return step
        if step is None:
            return lambda mask: self.check_whole(op, mask)
        return lambda mask: (self.check_whole(op, mask), step(mask))[0]

    def _step_of_any(self, op: Operation) -> Step | None:
        effect = self._effects.get(op)
        if effect is not None:
            event = self._event(op, effect)
            value = None if self._needed.isdisjoint(op.results) else self._value(op)
            if value is None:
                return event
            return lambda mask: (event(mask), value(mask))[0]
        relevant = op in self._effects or not self._needed.isdisjoint(op.results)
        if not relevant and op not in self._apart:
            return None
        match op:
            case scf.ForOp():
                return self._for(op)
            case scf.IfOp():
                return self._if(op)
            case scf.WhileOp():
                return self._while(op)
            case _:
                if op.regions:
                    return lambda mask: self._give_up(op)
                return self._value(op)

    def _give_up(self, op: Operation) -> None:
        self.say_unproven(op, "it is no control flow that is followed")
        self.trace.undecided = True

    def _for(self, op: scf.ForOp) -> Step:
        block = op.body.block
        body, last = self._compile(block), terminator(block)
        bounds = [self.slot(value) for value in (op.lb, op.ub, op.step)]
        variable = self.slot(block.args[0])
        carried = self._carried(block.args[1:], op.iter_args, last.operands, op.results)

        def loop(mask: Mask) -> None:
            lower, upper, step = (self.env[place] for place in bounds)
            if lower is UNKNOWN or upper is UNKNOWN or step is UNKNOWN:
                if op in self._apart and not carried:
                    return  # How often threads go round says nothing of events.
                self.say_unproven(op, "its length is not known before it runs")
                lower, upper, step = 0, 3, 1
            before, values = self.rounds, [self.env[first] for _, first, _, _ in carried]
            number = 0
            while True:
                parts = self.parted(op, lower < upper, mask)
                if parts[0] is None:
                    break
                self._tick()
                inside = parts[0]
                self.rounds = (*before, (op, number))
                self.env[variable] = lower
                for (place, _, _, _), value in zip(carried, values, strict=True):
                    self.env[place] = value
                for step_of in body:
                    step_of(inside)
                after = [self.env[place] for _, _, place, _ in carried]
                values = after if inside is mask else [
                    select(inside.flags, new, old)
                    for new, old in zip(after, values, strict=True)
                ]  # fmt: skip
                lower, number = lower + step, number + 1
            self.rounds = before
            for (_, _, _, place), value in zip(carried, values, strict=True):
                self.env[place] = value

        return loop

    def _carried(
        self, args: Sequence[SSAValue], inits: Sequence[SSAValue], yields: Sequence[SSAValue],
        results: Sequence[SSAValue],
    ) -> list[tuple[int, int, int, int]]:  # fmt: skip
        """Slots of the values that a loop carries, as far as anybody asks for them."""
        return [
            (self.slot(arg), self.slot(init), self.slot(given), self.slot(result))
            for arg, init, given, result in zip(args, inits, yields, results, strict=True)
            if arg in self._needed or result in self._needed
        ]

    def _if(self, op: scf.IfOp) -> Step:
        condition = self.slot(op.cond)
        branches: list[tuple[list[Step], list[int]]] = []
        wanted = [place for place, result in enumerate(op.results) if result in self._needed]
        for region in (op.true_region, op.false_region):
            if not region.blocks:
                branches.append(([], []))
                continue
            last = region.block.last_op
            given = [self.slot(last.operands[place]) for place in wanted] if last else []
            branches.append((self._compile(region.block), given))
        results = [self.slot(op.results[place]) for place in wanted]

        def branch(mask: Mask) -> None:
            decided = self.env[condition]
            if decided is UNKNOWN and op in self._apart and not wanted:
                return  # Which way threads go says nothing of events.
            parts = self.parted(op, decided, mask)
            given: list[list[Any]] = []
            for part, (steps, values) in zip(parts, branches, strict=True):
                if part is not None:
                    for step in steps:
                        step(part)
                    given.append([self.env[place] for place in values])
            for number, place in enumerate(results):
                if len(given) == 1:
                    self.env[place] = given[0][number]
                else:
                    assert parts[0] is not None
                    self.env[place] = select(parts[0].flags, given[0][number], given[1][number])

        return branch

    def _while(self, op: scf.WhileOp) -> Step:
        before, after = op.before_region.block, op.after_region.block
        test, body = self._compile(before), self._compile(after)
        last, condition = after.last_op, before.last_op
        assert isinstance(condition, scf.ConditionOp) and last is not None
        asked, waits = self.slot(condition.condition), self._says_nothing(op)
        back = [(self.slot(a), self.slot(i), self.slot(y)) for a, i, y in
                zip(before.args, op.arguments, last.operands, strict=True)]  # fmt: skip
        handed = [(self.slot(a), self.slot(c), self.slot(r)) for a, c, r in
                  zip(after.args, condition.args, op.results, strict=True)]  # fmt: skip

        def loop(mask: Mask) -> None:
            values, rounds, number, active = [self.env[i] for _, i, _ in back], self.rounds, 0, mask
            while True:
                self._tick()
                self.rounds = (*rounds, (op, number))
                for (place, _, _), value in zip(back, values, strict=True):
                    self.env[place] = value
                for step in test:
                    step(active)
                goes = self.env[asked]
                if goes is UNKNOWN:
                    if not waits:
                        self.say_unproven(op, "its length is not known before it runs")
                    goes = number < 2
                inside, _ = self.parted(op, goes, active)
                for place, source, result in handed:
                    given, before = self.env[source], self.env[result]
                    late = active is not mask and number > 0
                    self.env[result] = select(active.flags, given, before) if late else given
                    self.env[place] = given
                if inside is None:
                    break
                for step in body:
                    step(inside)
                values, active, number = [self.env[y] for _, _, y in back], inside, number + 1
            self.rounds = rounds

        return loop
