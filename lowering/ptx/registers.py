"""Names for registers: which SSA values share one, and what it is called.

Every value has one slot per register of its list. Names of lists (`list.make`, `list.get`) share
the slots of what they name. A block argument and the values that branches pass to it are then
joined into one register wherever their live ranges do not overlap, so that a loop-carried
accumulator stays in place; where they do overlap a move is left on that edge. The registers of A
are read by a wgmma until the wait that completes it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp
from tilewright.dialects.ptx.matrix import WarpMmaOp
from tilewright.dialects.ptx.registers import (
    ConstOp,
    ListGetOp,
    ListMakeOp,
)
from tilewright.dialects.ptx.types import RegType, reg
from tilewright.dialects.ptx.wgmma import WgmmaOp
from tilewright.lowering.ptx.instructions import takes_immediate
from tilewright.lowering.ptx.wgmma_ranges import Span, in_flight

PREFIXES: dict[str, str] = {
    "pred": "%p",
    "b16": "%h",
    "b32": "%r",
    "f32": "%f",
    "b64": "%rd",
    "f64": "%fd",
}

Interval = tuple[int, int]
"""Live from after the first position to the second; -1 is the start of the block."""


@dataclass(eq=False)
class Slot:
    """One register before joining: where it is defined and read, once and over a span."""

    kind: str
    block: Block | None = None
    position: int = -1
    uses: list[tuple[Block, int]] = field(default_factory=list[tuple[Block, int]])
    spans: list[Span] = field(default_factory=list[Span])


@dataclass(frozen=True, slots=True)
class Edge:
    """A branch from one block to another and the values it passes."""

    source: Block
    dest: Block
    values: tuple[SSAValue, ...]


def edges_of(terminator: Operation) -> list[Edge]:
    """The edges out of a block, in the order of its successors."""
    block = terminator.parent
    assert block is not None
    match terminator:
        case BraOp():
            return [Edge(block, terminator.dest, tuple(terminator.arguments))]
        case CondBraOp():
            return [
                Edge(block, terminator.then_block, tuple(terminator.then_arguments)),
                Edge(block, terminator.else_block, tuple(terminator.else_arguments)),
            ]
        case _:
            return []


class RegisterNames:
    """The register names of one kernel body."""

    def __init__(self, region: Region):
        self._slots: dict[SSAValue, list[Slot]] = {}
        self._parent: dict[Slot, Slot] = {}
        self._ranges: dict[Slot, dict[Block, list[Interval]]] = {}
        self._predecessors: dict[Block, list[Block]] = defaultdict(list)
        self._names: dict[Slot, str] = {}
        self.counts: dict[str, int] = dict.fromkeys(PREFIXES, 0)
        self._define(region)
        self._read(region)
        self._join(region)

    # Slots

    def _define(self, region: Region) -> None:
        for block in region.blocks:
            for argument in block.args:
                self._slots[argument] = self._fresh(argument, block, -1)
            for position, op in enumerate(block.ops):
                for result in op.results:
                    self._slots[result] = self._named(op, result, block, position)

    def _fresh(self, value: SSAValue, block: Block, position: int) -> list[Slot]:
        type_ = value.type
        assert isinstance(type_, RegType)
        return [Slot(type_.kind.data, block, position) for _ in range(type_.count.data)]

    def _named(self, op: Operation, result: SSAValue, block: Block, position: int) -> list[Slot]:
        if isinstance(op, ListMakeOp):
            return [slot for part in op.parts for slot in self._slots[part]]
        if isinstance(op, ListGetOp):
            return [self._slots[op.source][op.position.value.data]]
        return self._fresh(result, block, position)

    def _read(self, region: Region) -> None:
        for block in region.blocks:
            for position, op in enumerate(block.ops):
                for edge in edges_of(op):
                    self._predecessors[edge.dest].append(block)
                for operand in op.operands:
                    for slot in self._slots[operand]:
                        slot.uses.append((block, position))
                if isinstance(op, WgmmaOp):
                    self._read_in_flight(op)

    def _read_in_flight(self, op: WgmmaOp) -> None:
        """The registers that a wgmma still reads or, where nobody else asks for it, writes."""
        values = [op.a] if op.a.type != reg("b64") else []
        if op.d.first_use is None:
            values.append(op.d)
        spans = list(in_flight(op, _successors)) if values else []
        for value in values:
            for slot in self._slots[value]:
                slot.spans += spans

    # Live ranges

    def _range(self, slot: Slot) -> dict[Block, list[Interval]]:
        """Where the slot is live, found backwards from its uses."""
        last: dict[Block, int] = {}
        work: list[Block] = []
        for block, position in slot.uses:
            if position > last.get(block, -2):
                last[block] = position
                work.append(block)
        seen: set[Block] = set()
        while work:
            block = work.pop()
            if block is slot.block or block in seen:
                continue
            seen.add(block)
            for predecessor in self._predecessors[block]:
                last[predecessor] = 1 << 30
                work.append(predecessor)
        ranges = {block: [(-1, end)] for block, end in last.items()}
        if slot.block is not None:
            # What nobody reads is written all the same: it takes its register for a moment.
            end = max(last.get(slot.block, -1), slot.position + 1)
            ranges[slot.block] = [(slot.position, end)]
        for block, start, end in slot.spans:
            ranges[block] = _union([*ranges.get(block, ()), (start, end)])
        return ranges

    def _find(self, slot: Slot) -> Slot:
        while (parent := self._parent.get(slot)) is not None:
            slot = parent
        return slot

    def _ranges_of(self, root: Slot) -> dict[Block, list[Interval]]:
        if root not in self._ranges:
            self._ranges[root] = self._range(root)
        return self._ranges[root]

    def _overlap(self, a: Slot, b: Slot) -> bool:
        mine, other = self._ranges_of(a), self._ranges_of(b)
        if len(mine) > len(other):
            mine, other = other, mine
        return any(
            _meet(intervals, other[block]) for block, intervals in mine.items() if block in other
        )

    # Joining

    def _join(self, region: Region) -> None:
        """Give d of a wgmma the registers of c, then block arguments those of what is passed to
        them, loops' edges first; then accumulate in place where c and d are of one kind and c is
        not read again."""
        self._join_accumulators(region, WgmmaOp)
        order = {block: index for index, block in enumerate(region.blocks)}
        edges = [
            edge
            for block in region.blocks
            if block.last_op is not None
            for edge in edges_of(block.last_op)
        ]
        edges.sort(key=lambda edge: order[edge.dest] > order[edge.source])
        for edge in edges:
            for argument, value in zip(edge.dest.args, edge.values, strict=True):
                if not isinstance(value.owner, ConstOp):
                    for a, b in zip(self._slots[argument], self._slots[value], strict=True):
                        self._unite(a, b)
        self._join_accumulators(region, WarpMmaOp)

    def _join_accumulators(self, region: Region, op_type: type[WarpMmaOp] | type[WgmmaOp]) -> None:
        for block in region.blocks:
            for op in block.ops:
                if isinstance(op, op_type) and op.c.type == op.d.type:
                    for a, b in zip(self._slots[op.c], self._slots[op.d], strict=True):
                        self._unite(a, b)

    def _unite(self, a: Slot, b: Slot) -> None:
        a, b = self._find(a), self._find(b)
        if a is b or a.kind != b.kind or self._overlap(a, b):
            return
        merged = self._ranges_of(a)
        for block, intervals in self._ranges.pop(b, {}).items():
            for interval in intervals:
                _insert(merged.setdefault(block, []), interval)
        self._parent[b] = a

    # Names

    def names(self, value: SSAValue) -> list[str]:
        """The registers of a value, named on first asking."""
        return [self._name(self._find(slot)) for slot in self._slots[value]]

    def _name(self, root: Slot) -> str:
        if root not in self._names:
            self.counts[root.kind] += 1
            self._names[root] = f"{PREFIXES[root.kind]}{self.counts[root.kind]}"
        return self._names[root]

    def prefix(self, kind: str) -> str:
        """How names of that kind begin."""
        return PREFIXES[kind]

    def scratch(self, kind: str) -> str:
        """A register of its own, to break a cycle of moves."""
        self.counts[kind] += 1
        return f"{PREFIXES[kind]}{self.counts[kind]}"


def _successors(terminator: Operation) -> list[Block]:
    return [edge.dest for edge in edges_of(terminator)]


def _union(intervals: list[Interval]) -> list[Interval]:
    """The intervals in order, those that overlap or touch as one."""
    union: list[Interval] = []
    for start, end in sorted(intervals):
        if union and start <= union[-1][1]:
            union[-1] = (union[-1][0], max(union[-1][1], end))
        else:
            union.append((start, end))
    return union


def _meet(few: list[Interval], many: list[Interval]) -> bool:
    """True where two sorted lists of intervals overlap anywhere."""
    if len(few) > len(many):
        few, many = many, few
    for start, end in few:
        place = bisect_left(many, (start, start))
        if place and many[place - 1][1] > start:
            return True
        if place < len(many) and many[place][0] < end:
            return True
    return False


def _insert(intervals: list[Interval], new: Interval) -> None:
    """Add an interval that overlaps none to a sorted list, joined to those that it touches."""
    start, end = new
    place = bisect_left(intervals, new)
    if place < len(intervals) and intervals[place][0] == end:
        end = intervals.pop(place)[1]
    if place and intervals[place - 1][1] == start:
        start = intervals.pop(place - 1)[0]
        place -= 1
    intervals.insert(place, (start, end))


def needs_register(constant: ConstOp) -> bool:
    """True where some reader of the constant takes a register alone."""
    return any(not takes_immediate(use.operation, use.index) for use in constant.result.uses)
