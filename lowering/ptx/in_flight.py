"""Registers in flight: those that an asynchronous instruction accesses until a wait completes it.

A wgmma writes its accumulator, and reads A where it lies in registers, until the first
`wgmma.wait_group N` that follows more than N commits; a `tcgen05.ld` writes its registers until
`tcgen05.wait::ld`. No other instruction may access them before, so no move either: what is in
flight has to be in the same registers on every path to its wait. PTX ISA 9.7.15.7.3 and
tcgen05.wait.

Facts are followed forward over all paths. Where a branch passes a value in flight to a block, the
block's argument is in flight from there on.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from xdsl.dialects.builtin import NameLoc
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.ancestors import terminator
from tilewright.dialects.cute_nvgpu.ops.wgmma_sync import WaitsForWgmmas
from tilewright.dialects.ptx.registers import NAMED, NameOp, UndefOp
from tilewright.dialects.ptx.tcgen05_access import LdOp, LdRedOp
from tilewright.dialects.ptx.tcgen05_sync import WaitLdOp
from tilewright.dialects.ptx.types import B64
from tilewright.dialects.ptx.wgmma import WgmmaCommitGroupOp, WgmmaOp, WgmmaWaitGroupOp
from tilewright.lowering.ptx.edges import Edge, edges_of
from tilewright.lowering.ptx.live_ranges import TO_THE_END, Slot
from tilewright.source.diagnostic import OpError, at


def _source(op: Operation) -> str:
    """The user's op that became an instruction."""
    return f"'{op.location.desc.data if isinstance(op.location, NameLoc) else op.name}'"


def _line(op: Operation) -> str:
    line = at(op.location, "").line
    return "" if line is None else f" at line {line}"


LOADS = (LdOp, LdRedOp)
_FLIGHT_TYPES = frozenset[type[Operation]]((WgmmaOp, *LOADS))
_EVENT_TYPES = _FLIGHT_TYPES | {WaitLdOp, WgmmaCommitGroupOp, WgmmaWaitGroupOp}
"""The ops that begin, count and end accesses in flight."""


class Flight(NamedTuple):
    """An access to a register that may not be complete: `commits` came since at least, on some
    path. `reads` of A, else writes."""

    op: Operation
    reads: bool = False
    commits: int = 0


State = dict[Slot, Flight]


class Tie(NamedTuple):
    """Two registers that have to be one, as what is in the first goes on in the second in flight:
    from c to d of a wgmma, or along an edge."""

    first: Slot
    second: Slot
    flight: Flight
    op: Operation
    edge: Edge | None


class RegisterConflict(NamedTuple):
    """A register in flight that would be written, or else moved: by an op, or along its edge."""

    flight: Flight
    op: Operation
    edge: Edge | None
    slot: Slot
    is_write: bool = False

    def error(self) -> OpError:
        """The message for the user."""
        operand = "operand A" if self.flight.reads else "the result"
        wait, legal = "wgmma.wait_group", "wgmma.wait_group 0"
        if isinstance(self.flight.op, LOADS):
            wait, legal = "tcgen05.wait.ld", "tmem.wait_load"
        doing = "write" if self.is_write else "copy" if self.edge is None else "move"
        return OpError(
            self.op,
            f"{_source(self.op)} expected registers that nothing accesses, got those of {operand} "
            f"of {_source(self.flight.op)}{_line(self.flight.op)}, which it would {doing} and no "
            f"{wait} has completed; nearest legal: cute_nvgpu.{legal} before it",
        )


def has_flights(region: Region) -> bool:
    """True where an instruction accesses registers behind the ones after it."""
    return any(type(op) in _FLIGHT_TYPES for block in region.blocks for op in block.ops)


class InFlightRegisters:
    """The registers in flight in one kernel body: `ties` between them, and `conflicts` that no
    joining mends, as a value is given anew while in flight. `meetings` are edges by which complete
    values come to registers that are in flight where they come from elsewhere."""

    def __init__(self, region: Region, slots: Callable[[SSAValue], Sequence[Slot]]):
        self._slots = slots
        self.ties: list[Tie] = []
        self.conflicts: list[RegisterConflict] = []
        self.meetings: list[Tie] = []
        self.at: dict[Block, State] = {}
        if not has_flights(region):
            return
        self._events = {
            block: [op for op in block.ops if type(op) in _EVENT_TYPES] for block in region.blocks
        }
        events = chain.from_iterable(self._events.values())
        waits = (op for op in events if isinstance(op, WaitsForWgmmas))
        self._limit = 1 + max((op.pending.value.data for op in waits), default=0)
        self._follow(region)
        for block in region.blocks:
            self._note(block)

    def _follow(self, region: Region) -> None:
        """The accesses in flight at the beginning of each block."""
        self.at[region.blocks[0]] = {}
        work = [region.blocks[0]]
        while work:
            block = work.pop()
            state = dict(self.at[block])
            for op in self._events[block]:
                self._execute(op, state)
            for edge in edges_of(block.last_op):
                coming, known = self._across(edge, state), self.at.get(edge.dest)
                after = coming if known is None else _joined(known, coming)
                if after != known:
                    self.at[edge.dest] = after
                    work.append(edge.dest)

    def _execute(self, op: Operation, state: State) -> None:
        match op:
            case WgmmaOp():
                for slot in self._slots(op.c):
                    state.pop(slot, None)
                if op.a.type != B64:
                    state.update(dict.fromkeys(self._slots(op.a), Flight(op, reads=True)))
                state.update(dict.fromkeys(self._slots(op.d), Flight(op)))
            case LdOp() | LdRedOp():
                for result in op.results:
                    state.update(dict.fromkeys(self._slots(result), Flight(op)))
            case WgmmaCommitGroupOp():
                for slot, flight in state.items():
                    if flight.commits < self._limit:
                        state[slot] = Flight(flight.op, flight.reads, flight.commits + 1)
            case WaitsForWgmmas():
                pending = op.pending.value.data
                _keep(state, lambda f: f.commits <= pending or isinstance(f.op, LOADS))
            case WaitLdOp():
                _keep(state, lambda f: not isinstance(f.op, LOADS))
            case _:
                pass

    def _across(self, edge: Edge, state: State) -> State:
        """The accesses in flight behind an edge: what it passes, in the arguments that have it."""
        after, passed = dict(state), State()
        for argument, slot in self._passed(edge):
            if (flight := state.get(slot)) is not None:
                after.pop(slot, None)
                passed[argument] = flight
        return _joined(after, passed)

    def _passed(self, edge: Edge) -> Iterator[tuple[Slot, Slot]]:
        """The registers of an edge's arguments, each with that of the value passed."""
        for argument, value in zip(edge.dest.args, edge.values, strict=True):
            if argument.first_use is not None and not isinstance(value.owner, UndefOp):
                yield from zip(self._slots(argument), self._slots(value), strict=True)

    def settled(self, block: Block, blocks: Collection[Block]) -> Operation | None:
        """The op of a block after which nothing is in flight that was at its beginning in
        registers of the blocks; None where there is no such op before the terminator."""
        flying = {slot for slot in self.at.get(block, ()) if slot.block in blocks}
        state = {slot: self.at[block][slot] for slot in flying}
        for op in block.ops:
            if type(op) in _EVENT_TYPES:
                if isinstance(op, WgmmaOp) and not flying.isdisjoint(self._slots(op.c)):
                    flying.update(self._slots(op.d))
                self._execute(op, state)
            if flying.isdisjoint(state) and op is not block.last_op:
                return op if flying else None
        return None

    # What follows for the registers

    def _note(self, block: Block) -> None:
        """The spans, ties and conflicts of a block."""
        coming = self.at.get(block, {})
        state, since = dict(coming), dict.fromkeys(coming, -1)
        for position, op in enumerate(block.ops):
            is_event = type(op) in _EVENT_TYPES
            if is_event and isinstance(op, WgmmaOp):
                self._note_accumulator(op, state)
            elif coming and state and not (isinstance(op, NameOp) or NAMED in op.attributes):
                # What a block writes first is in flight there if it comes round.
                self._note_writes(op, state)
            if is_event:
                self._execute(op, state)
                for slot in since.keys() - state.keys():
                    slot.spans += ((block, (since.pop(slot), position)),)
                for slot in state.keys() - since.keys():
                    since[slot] = position
        for slot, start in since.items():
            slot.spans += ((block, (start, TO_THE_END)),)
        for edge in edges_of(block.last_op):
            self._note_edge(edge, state)

    def _note_accumulator(self, op: WgmmaOp, state: State) -> None:
        for c, d in zip(self._slots(op.c), self._slots(op.d), strict=True):
            if (flight := state.get(c)) is not None:
                self.ties.append(Tie(c, d, flight, op, None))
            elif d in state and op.zero is None:
                self._refuse(op, d, state)
            for slot in (c, d):
                if slot in state and state[slot].reads:
                    self._refuse(op, slot, state)

    def _note_writes(self, op: Operation, state: State) -> None:
        for result in op.results:
            for slot in self._slots(result):
                # A load of tensor memory may come round before its wait: texts leave it to ptxas.
                if slot in state and state[slot].op is not op:
                    self._refuse(op, slot, state)

    def _note_edge(self, edge: Edge, state: State) -> None:
        op = terminator(edge.source)
        passed = list(self._passed(edge))
        going = {slot for _, slot in passed}
        for argument, slot in passed:
            if slot in state:
                self.ties.append(Tie(slot, argument, state[slot], op, edge))
            elif argument in self.at[edge.dest]:
                flight = self.at[edge.dest][argument]
                self.meetings.append(Tie(slot, argument, flight, op, edge))
            if argument in state and argument not in going:
                self._refuse(op, argument, state, edge)

    def _refuse(self, op: Operation, slot: Slot, state: State, edge: Edge | None = None) -> None:
        """Note that a register in flight would be written."""
        self.conflicts.append(RegisterConflict(state[slot], op, edge, slot, True))


def _keep(state: State, is_left: Callable[[Flight], bool]) -> None:
    for slot in [slot for slot, flight in state.items() if not is_left(flight)]:
        del state[slot]


def _joined(known: State, coming: State) -> State:
    """The accesses in flight after either way: of two accesses the one that completes last."""
    joined = dict(known)
    for slot, flight in coming.items():
        other = joined.get(slot)
        if other is None or flight.commits < other.commits:
            joined[slot] = flight
    return joined
