"""Registers that are written again and again, as SSA values: block arguments where writes meet.

A block is asked for a variable when something reads it, and asks those before it: it gets an
argument where they answer with several values. The head of a loop, which comes before a block that
leads to it, gets one whose values are asked for when all blocks are read. Arguments that are one
value on every way are that value. M. Braun et al., Simple and Efficient Construction of Static
Single Assignment Form, 2013.
"""

import sys
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.frozen import entity, factory
from tilewright.dialects.ptx.registers import NAMED, ConstOp, ListGetOp, ListMakeOp, MovOp, UndefOp
from tilewright.dialects.ptx.tcgen05_access import LdOp
from tilewright.dialects.ptx.types import RegType, reg
from tilewright.dialects.ptx.wgmma import WgmmaOp


@entity
class Variable:
    """A register of the text: the kind of its values where ways meet, how often it is written, the
    position where first, and the place of the last block that writes it, as these are filled; and
    the list that it is of, of the registers that a wgmma writes."""

    kind: str
    writes: int = 0
    first: int = 0
    last: int = sys.maxsize
    list: "VariableList | None" = None


@entity
class VariableList:
    """Registers of a kind that wgmmas write side by side, and where blocks meet while they may."""

    kind: str
    variables: Sequence[Variable]
    meets: set[Block] = factory(set)

    @property
    def first(self) -> int:
        """The position where the text writes one of them first."""
        return min(variable.first for variable in self.variables)


@entity
class ListedRegister:
    """A register of a list, which gets a name of its own when something reads it by itself."""

    type = None
    source: SSAValue
    position: int
    alone: dict[Block | None, SSAValue] = factory(dict)

    def value(self, block: Block) -> SSAValue:
        """The register by itself; one that may be written until a wait, from where the block that
        reads it has come to on."""
        owner = self.source.owner
        where = block if isinstance(owner, _IN_FLIGHT) else None
        if (known := self.alone.get(where)) is None:
            get = ListGetOp(self.source, self.position)
            if isinstance(owner, _IN_FLIGHT):
                block.add_op(get)
            else:
                _add_behind(owner, get)
            if isinstance(owner, Operation):
                get.location = owner.location
            known = self.alone[where] = get.registers[0]
        return known


_IN_FLIGHT = WgmmaOp, LdOp, Block
Value = SSAValue | ListedRegister


@entity
class Way:
    """A way from one block to another, and the values that it passes."""

    source: Block
    dest: Block
    values: list[SSAValue] = factory(list)


class SsaBuilder:
    """The values of variables in the blocks of a kernel, between which there are `edges`. Blocks
    are filled in the order of `dominators`, the immediate one of each: all that lead to one come
    before it, but for loops. What variables are where a block has come to is `defined`, as far as
    something has written them there, or asked."""

    def __init__(self, dominators: Mapping[Block, Block], edges: Sequence[Way]):
        self._dominators = dominators
        self._places = {block: place for place, block in enumerate(dominators)}
        self.defined: dict[Block, dict[Variable, Value]] = {block: {} for block in dominators}
        self._arguments: dict[SSAValue, Variable | VariableList] = {}
        self._waiting = list[BlockArgument]()
        self._moved: dict[tuple[SSAValue, str], SSAValue] = {}
        self._before = defaultdict[Block, list[Way]](list)
        self.settled: dict[SSAValue, SSAValue] = {}
        for edge in edges:
            self._before[edge.dest].append(edge)

    def read(self, block: Block, variable: Variable) -> Value:
        """The value of a variable where the block has come to."""
        known = self.defined
        if (value := known[block].get(variable)) is not None:
            return value
        work = [block]
        while work:
            defined = known[asked := work[-1]]
            if variable in defined:
                work.pop()
                continue
            sources = self._sources(asked, variable)
            if unknown := [source for source in sources if variable not in known[source]]:
                work += unknown
            else:
                defined[variable] = self._met(asked, variable, sources)
        return known[block][variable]

    def _sources(self, block: Block, variable: Variable) -> list[Block]:
        """The blocks that say what a variable is where a block begins: its dominator alone, where
        nothing behind that writes it; none where that cannot be asked yet."""
        dominator, places = self._dominators[block], self._places
        if dominator is block:
            return []
        if variable.last <= places[dominator]:
            return [dominator]
        sources = [edge.source for edge in self._before[block]]
        return sources if all(places[one] < places[block] for one in sources) else []

    def _met(self, block: Block, variable: Variable, sources: Sequence[Block]) -> Value:
        """The value of a variable where a block begins: that of all sources, else an argument."""
        if self._dominators[block] is block:
            return self._undefined(variable)
        of = variable.list
        if of is not None and block not in of.meets:
            of = None
        values = [self.defined[source][variable] for source in sources]
        if len(values) > 1:
            registers = (
                self.register(value, variable.kind, source)
                for value, source in zip(values, sources, strict=True)
            )
            values = list(dict.fromkeys(values if of else registers))
        if len(values) == 1:
            return values[0]
        if of is None:
            return self._argument(block, variable, reg(variable.kind))
        argument, known = self._argument(block, of, reg(of.kind, len(of.variables))), self.defined
        for place, one in enumerate(of.variables):
            known[block].setdefault(one, ListedRegister(argument, place))
        return known[block][variable]

    def _argument(
        self, block: Block, variable: Variable | VariableList, type_: RegType
    ) -> BlockArgument:
        """A new argument of a block, in the order in which the text writes the registers first:
        so the moves on the way there come back in their order."""
        known = self._arguments
        place = bisect_left(block.args, variable.first, key=lambda other: known[other].first)
        argument = block.insert_arg(type_, place)
        known[argument] = variable
        self._waiting.append(argument)
        return argument

    def _undefined(self, variable: Variable) -> SSAValue:
        undefined = UndefOp(reg(variable.kind))
        _add_behind(next(iter(self._dominators)), undefined)
        return undefined.result

    def register(self, value: Value, kind: str, block: Block) -> SSAValue:
        """A single register of a kind, which has the bits of a value of its width, where a block
        has come to."""
        if isinstance(value, ListedRegister):
            value = value.value(block)
        if value.type == reg(kind):
            return value
        if (moved := self._moved.get((value, kind))) is None:
            move = MovOp(value, reg(kind))
            listed = value.owner.source if isinstance(value.owner, ListGetOp) else None
            is_moved = listed is not None and isinstance(listed.owner, WgmmaOp | Block)
            if not is_moved and not isinstance(value.owner, ConstOp):
                move.attributes[NAMED] = UnitAttr()
            _add_behind(value.owner, move)
            moved = self._moved[value, kind] = move.result
        return moved

    def _passed(self, block: Block, variable: Variable | VariableList) -> SSAValue:
        """The value of a variable, or of the variables of a list, at the end of a block."""
        if isinstance(variable, Variable):
            return self.register(self.read(block, variable), variable.kind, block)
        values = [self.read(block, one) for one in variable.variables]
        type_ = reg(variable.kind, len(values))
        if (listed := side_by_side(values, type_)) is None:
            made = ListMakeOp([self.register(one, variable.kind, block) for one in values], type_)
            block.add_op(made)
            listed = made.result
        return listed

    def close(self) -> None:
        """Give all edges their values, when all blocks but their terminators are read. Arguments
        that are values elsewhere are these: they are `settled`."""
        given: dict[SSAValue, list[SSAValue]] = {}
        for argument in self._waiting:  # those that it adds too
            variable = self._arguments[argument]
            given[argument] = [
                self._passed(edge.source, variable) for edge in self._before[argument.block]
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


def side_by_side(values: Sequence[Value], type_: RegType) -> SSAValue | None:
    """The list of a type that values are the registers of, in order; None where they are none."""
    first = values[0]
    if not isinstance(first, ListedRegister) or first.source.type != type_:
        return None
    is_list = all(
        isinstance(value, ListedRegister)
        and value.source is first.source
        and value.position == place
        for place, value in enumerate(values)
    )
    return first.source if is_list else None


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


def _add_behind(owner: Operation | Block, op: Operation) -> None:
    """Add an op behind another one, or where a block begins."""
    if isinstance(owner, Block):
        Rewriter.insert_op(op, InsertPoint.at_start(owner))
    else:
        op.location = owner.location
        Rewriter.insert_op(op, InsertPoint.after(owner))
