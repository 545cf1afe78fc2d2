"""Programs of `ptx` kernels, on the registers of their text.

Values that the text gives the same registers share one of the program's. Values that share some
only, as a list and an element of it do, have one each: whoever writes a register makes the others
that it is part of unreadable. So what an allocation gets wrong is an error of the run, and not a
value that no chip would have.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

from xdsl.ir import Operation, Region, SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.registers import NAMED, NameOp, UndefOp
from tilewright.dialects.ptx.scalars import AddOp, CvtOp
from tilewright.dialects.ptx.tcgen05_access import LdOp, LdRedOp
from tilewright.dialects.ptx.wgmma import WgmmaOp
from tilewright.lowering.interpreter.builder import Builder, Step
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.program import CodeBlock, Jump, named
from tilewright.lowering.interpreter.values import Clobbered, InFlight

Slots = tuple[int, ...]
Allocation = Callable[[SSAValue], tuple[Hashable, ...]]
"""The registers of a value, which the text would name alike where they are equal."""

_ASYNCHRONOUS = (WgmmaOp, LdOp, LdRedOp)
"""The ops that write registers after their turn."""


class RegisterBuilder(Builder):
    """Turns the body of a `ptx.entry` into a program on its registers."""

    def __init__(self, body: Region, registers: Allocation):
        super().__init__()
        slots: dict[tuple[Hashable, ...], int] = {}
        self._holding = defaultdict[Hashable, set[int]](set)
        self._registers_of: dict[int, tuple[Hashable, ...]] = {}
        for value in _values(body):
            is_apart = isinstance(value.owner, AddOp | CvtOp) and NAMED in value.owner.attributes
            own = (value,) if is_apart else registers(value)
            if own not in slots:
                slots[own] = self.fresh()
                self._registers_of[slots[own]] = own
                for register in own:
                    self._holding[register].add(slots[own])
            self._slots[value] = slots[own]
        self.asynchronous = {
            self._slots[result] for op in descendants(body, _ASYNCHRONOUS) for result in op.results
        }
        self._op: Operation | None = None

    def sharing(self, values: Sequence[SSAValue]) -> frozenset[int]:
        return frozenset[int]().union(*map(self._sharing, self.slots(values)))

    def _sharing(self, slot: int) -> frozenset[int]:
        registers = self._registers_of.get(slot, ())
        return frozenset({slot}).union(*(self._holding[register] for register in registers))

    # Ops

    def run(self, op: Operation) -> None:
        self._op = op
        super().run(op)

    def add(
        self, op: Operation, step: Step, reads: Slots, writes: Slots, *, fenced: bool = False
    ) -> None:
        if NAMED in op.attributes and reads == writes:
            return
        if isinstance(op, NameOp):
            super().add(op, Naming(step, reads, writes), reads, writes, fenced=True)
            return
        if isinstance(op, WgmmaOp) and op.zero is None and self.slot(op.c) != self.slot(op.d):
            step = _copying(step, self.slot(op.c))
        super().add(op, self._writing(op, step, writes), reads, writes, fenced=fenced)

    def _writing(self, op: Operation, step: Step, writes: Slots) -> Step:
        """The step, which may write no register in flight, and clobbers what shares those that it
        writes."""
        watched, clobbered = self._affected(writes)
        if isinstance(op, WgmmaOp):
            watched = tuple(slot for slot in watched if slot not in writes)
        if not watched and not clobbered:
            return step
        return Overwriting(step, watched, clobbered, Clobbered(named(op)))

    def _affected(self, writes: Slots) -> tuple[Slots, Slots]:
        """Of what shares registers with these: what may be in flight, and all the others."""
        sharing = frozenset[int]().union(*map(self._sharing, writes))
        return tuple(sorted(sharing & self.asynchronous)), tuple(sorted(sharing - set(writes)))

    # Branches

    def jump(
        self, target: CodeBlock, sources: Sequence[SSAValue] = (), dests: Sequence[SSAValue] = ()
    ) -> Jump:
        """A jump, by way of a block that makes the moves which its text makes."""
        moved = [
            (source, dest)
            for source, dest in zip(sources, dests, strict=True)
            if self.slot(source) != self.slot(dest) and dest.first_use is not None
        ]
        if not moved:
            return Jump(target)
        assert self._op is not None
        given, into = (self.slots(values) for values in zip(*moved, strict=True))
        defined = [dest for value, dest in moved if not isinstance(value.owner, UndefOp)]
        written = self.slots(defined)
        step = self._writing(self._op, Moving(given, into, written), written)
        way = CodeBlock(ending=Jump(target), ending_op=self._op)
        way.steps.append((self._op, step, ()))
        way.reads, way.writes = set(given), set(into)
        self._place(way)
        return Jump(way)


def _values(body: Region) -> list[SSAValue]:
    return [
        value
        for block in body.blocks
        for value in (*block.args, *(result for op in block.ops for result in op.results))
    ]


def _check_complete(regs: list[object], slots: Slots, verb: str) -> None:
    for slot in slots:
        if isinstance(value := regs[slot], InFlight):
            value.accessed(verb)


@frozen
class Overwriting:
    """A step that may write no register in flight, of those `watched`, and leaves the `clobbered`
    ones `lost`."""

    step: Step
    watched: Slots
    clobbered: Slots
    lost: Clobbered

    def __call__(self, machine: Machine, gang: Gang) -> None:
        regs = gang.regs
        _check_complete(regs, self.watched, "writes")
        self.step(machine, gang)
        for slot in self.clobbered:
            regs[slot] = self.lost


@frozen
class Naming:
    """A name of registers is no access to them: it may be used by a wgmma where they may."""

    step: Step
    reads: Slots
    writes: Slots

    def __call__(self, machine: Machine, gang: Gang) -> None:
        self.step(machine, gang)
        late = not gang.unfenced.isdisjoint(self.reads)
        (gang.unfenced.update if late else gang.unfenced.difference_update)(self.writes)


def _copying(step: Step, c: int) -> Step:
    """A wgmma whose text copies c to the registers of d."""

    def copy(machine: Machine, gang: Gang) -> None:
        _check_complete(gang.regs, (c,), "copies")
        step(machine, gang)

    return copy


@frozen
class Moving:
    """Parallel moves, to what is `written` and, without an instruction, from what is undefined."""

    sources: Slots
    dests: Slots
    written: Slots

    def __call__(self, machine: Machine, gang: Gang) -> None:
        _check_complete(gang.regs, self.sources, "moves")
        machine.shared.wgmmas.fragments.check_writes(self.written, gang.lanes)
        gang.move(self.sources, self.dests)
