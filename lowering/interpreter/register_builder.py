"""Programs of `ptx` kernels, on the registers of their text.

Values that the text gives the same registers share one of the program's. Values that share some
only, as a list and an element of it do, have one each: whoever writes a register makes it
unreadable in the others that it is part of. A list that is a name has those registers alone of
which something is read, as the others may be anything by then. So what an allocation gets wrong is
an error of the run, and not a value that no chip would have.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

from xdsl.ir import Operation, Region, SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.registers import NAMED, ListGetOp, ListMakeOp, NameOp, UndefOp
from tilewright.dialects.ptx.scalars import AddOp, CvtOp
from tilewright.dialects.ptx.tcgen05_access import LdOp, LdRedOp
from tilewright.dialects.ptx.types import RegType
from tilewright.dialects.ptx.wgmma import WgmmaOp
from tilewright.lowering.interpreter.builder import Builder, Step
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.program import CodeBlock, Jump, named
from tilewright.lowering.interpreter.values import Clobbered, InFlight, Parts, part

Slots = tuple[int, ...]
Allocation = Callable[[SSAValue], tuple[Hashable, ...]]
"""The registers of a value, which the text would name alike where they are equal."""

_ASYNCHRONOUS = (WgmmaOp, LdOp, LdRedOp)
"""The ops that write registers after their turn."""


class RegisterBuilder(Builder):
    """Turns the body of a `ptx.entry` into a program on its registers."""

    def __init__(self, body: Region, registers: Allocation):
        super().__init__()
        slots, read = dict[tuple[Hashable, ...], int](), _ReadRegisters()
        self._holding = defaultdict[Hashable, set[int]](set)
        self._registers_of: dict[int, tuple[Hashable, ...]] = {}
        for value in _values(body):
            is_apart = isinstance(value.owner, AddOp | CvtOp) and NAMED in value.owner.attributes
            own = (value,) if is_apart else registers(value)
            if isinstance(value.owner, ListMakeOp | ListGetOp):
                own = tuple(
                    register if read[value] >> place & 1 else (value, place)
                    for place, register in enumerate(own)
                )
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
        step = self._writing(op, step, writes)
        if isinstance(op, WgmmaOp) and op.zero is None and self.slot(op.c) != self.slot(op.d):
            step = _copying(step, self.slot(op.c))
        super().add(op, step, reads, writes, fenced=fenced)

    def _writing(self, op: Operation, step: Step, writes: Slots) -> Step:
        """The step, which may write no register in flight, and clobbers what shares those that it
        writes."""
        watched, clobbered = self._affected(writes)
        if isinstance(op, WgmmaOp):
            watched = tuple(slot for slot in watched if slot not in writes)
        if not watched and not clobbered:
            return step
        return Overwriting(step, watched, clobbered, Clobbered(named(op)))

    def _affected(self, writes: Slots) -> tuple[Slots, dict[int, list[bool]]]:
        """Of what shares registers with these: what may be in flight, and which registers of all
        the others."""
        sharing = frozenset[int]().union(*map(self._sharing, writes))
        written = {register for slot in writes for register in self._registers_of.get(slot, ())}
        return tuple(sorted(sharing & self.asynchronous)), {
            slot: [register in written for register in self._registers_of[slot]]
            for slot in sorted(sharing - set(writes))
        }

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


class _ReadRegisters(dict[SSAValue, int]):
    """The bits of those registers of each value that something reads, by whatever name."""

    def __missing__(self, value: SSAValue) -> int:
        bits = 0
        for use in value.uses:
            match use.operation:
                case ListGetOp() as op:
                    for place, register in enumerate(op.registers, op.position.value.data):
                        bits |= self[register] << place
                case ListMakeOp() as op:
                    bits |= self[op.result] >> sum(map(_count, op.parts[: use.index]))
                case _:
                    bits = -1
        self[value] = bits = bits & (1 << _count(value)) - 1
        return bits


def _count(value: SSAValue) -> int:
    """How many registers a value has."""
    assert isinstance(value.type, RegType)
    return value.type.count.data


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
    registers `lost`."""

    step: Step
    watched: Slots
    clobbered: dict[int, list[bool]]
    lost: Clobbered

    def __call__(self, machine: Machine, gang: Gang) -> None:
        regs = gang.regs
        _check_complete(regs, self.watched, "writes")
        self.step(machine, gang)
        for slot, lost in self.clobbered.items():
            if all(lost) or (value := regs[slot]) is None:
                regs[slot] = self.lost
            else:
                regs[slot] = Parts(
                    [self.lost if one else part(value, place) for place, one in enumerate(lost)]
                )


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
