"""Registers that are written again and again, as SSA values: block arguments where writes meet.

A block is asked for a variable when something reads it. Where one way alone leads to the block, it
asks the block before; else it gets an argument, whose values are asked for when all blocks are
read. Arguments that are one value on every way are that value. M. Braun et al., Simple and
Efficient Construction of Static Single Assignment Form, 2013.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilewright.dialects.ptx.registers import ListGetOp, MovOp, UndefOp
from tilewright.dialects.ptx.types import reg


@dataclass(eq=False, slots=True)
class Variable:
    """A register of the text: the kind of its values where ways meet, how often it is written, and
    the position where first."""

    kind: str
    writes: int = 0
    first: int = 0


@dataclass(eq=False, slots=True)
class ListedRegister:
    """A register of a list, which gets a name of its own when something reads it by itself."""

    source: SSAValue
    position: int
    alone: SSAValue | None = None

    def value(self) -> SSAValue:
        """The register by itself."""
        if self.alone is None:
            get, owner = ListGetOp(self.source, self.position), self.source.owner
            assert isinstance(owner, Operation)
            _add_behind(owner, get)
            self.alone = get.registers[0]
        return self.alone


Value = SSAValue | ListedRegister


@dataclass(eq=False, slots=True)
class Way:
    """A way from one block to another, and the values that it passes."""

    source: Block
    dest: Block
    values: list[SSAValue] = field(default_factory=list[SSAValue])


class SsaBuilder:
    """The values of variables in the blocks of a kernel, between which there are `edges`. Blocks
    are filled so that each but one with several ways to it comes after one that leads to it."""

    def __init__(self, entry: Block, edges: Sequence[Way]):
        self._entry = entry
        self._defined = defaultdict[Block, dict[Variable, Value]](dict)
        self._arguments: dict[SSAValue, Variable] = {}
        self._moved: dict[tuple[SSAValue, str], SSAValue] = {}
        self._before = defaultdict[Block, list[Way]](list)
        self.settled: dict[SSAValue, SSAValue] = {}
        for edge in edges:
            self._before[edge.dest].append(edge)

    def write(self, block: Block, variable: Variable, value: Value) -> None:
        """Give a variable a value from here on in the block."""
        self._defined[block][variable] = value

    def read(self, block: Block, variable: Variable) -> Value:
        """The value of a variable where the block has come to."""
        asked = list[dict[Variable, Value]]()
        while (value := (defined := self._defined[block]).get(variable)) is None:
            asked.append(defined)
            if block is self._entry:
                value = self._undefined(variable)
                break
            if len(edges := self._before[block]) != 1:
                value = self._argument(block, variable)
                break
            block = edges[0].source
        for defined in asked:
            defined[variable] = value
        return value

    def _argument(self, block: Block, variable: Variable) -> BlockArgument:
        """A new argument of a block, in the order in which the text writes the registers first:
        so the moves on the way there come back in their order."""
        known = self._arguments
        place = bisect_left(block.args, variable.first, key=lambda other: known[other].first)
        argument = block.insert_arg(reg(variable.kind), place)
        known[argument] = variable
        return argument

    def _undefined(self, variable: Variable) -> SSAValue:
        undefined = UndefOp(reg(variable.kind))
        _add_first(self._entry, undefined)
        return undefined.result

    def register(self, value: Value, kind: str) -> SSAValue:
        """A single register of a kind, which has the bits of a value of its width."""
        if isinstance(value, ListedRegister):
            value = value.value()
        if value.type == reg(kind):
            return value
        if (moved := self._moved.get((value, kind))) is None:
            move = MovOp(value, reg(kind))
            add = _add_behind if isinstance(value.owner, Operation) else _add_first
            add(value.owner, move)  # type: ignore[arg-type]  # an op or a block
            moved = self._moved[value, kind] = move.result
        return moved

    def close(self) -> None:
        """Give all edges their values, when all blocks but their terminators are read. Arguments
        that are values elsewhere are these: they are `settled`."""
        given: dict[SSAValue, list[SSAValue]] = {}
        waiting = self._arguments
        while len(given) < len(waiting):
            for argument, variable in list(waiting.items())[len(given) :]:
                given[argument] = [
                    self.register(self.read(edge.source, variable), variable.kind)
                    for edge in self._before[argument.owner]  # type: ignore[index]  # its block
                ]
        known = self.settled = _settled(given)
        for block, edges in self._before.items():
            passed = [given[argument] for argument in block.args if argument not in known]
            for place, edge in enumerate(edges):
                edge.values = [known.get(ways[place], ways[place]) for ways in passed]
        for argument, value in known.items():
            argument.replace_all_uses_with(value)
            assert isinstance(argument, BlockArgument)
            argument.owner.erase_arg(argument)


def _settled(given: dict[SSAValue, list[SSAValue]]) -> dict[SSAValue, SSAValue]:
    """The arguments that have one value on all ways, and that value, which is no such argument."""
    known: dict[SSAValue, SSAValue] = {}

    def final(value: SSAValue) -> SSAValue:
        while value in known:
            value = known[value]
        return value

    changed = True
    while changed:
        changed = False
        for argument, ways in given.items():
            if argument in known:
                continue
            values = {final(value) for value in ways} - {argument}
            if len(values) == 1:
                [known[argument]] = values
                changed = True
    return {argument: final(value) for argument, value in known.items()}


def _add_first(block: Block, op: Operation) -> None:
    if (first := block.first_op) is None:
        block.add_op(op)
    else:
        block.insert_op_before(op, first)


def _add_behind(owner: Operation, op: Operation) -> None:
    op.location = owner.location
    block = owner.parent
    assert block is not None
    block.insert_op_after(op, owner)
