"""Names for registers: which SSA values share one, and what it is called.

Every value has one slot per register of its list. Names of lists (`list.make`, `list.get`) share
the slots of what they name. A block argument and the values that branches pass to it are then
joined into one register wherever their live ranges do not overlap, so that a loop-carried
accumulator stays in place; where they do overlap a move is left on that edge. What is in flight
there has no such choice (`in_flight`): that is joined first, and where it overlaps is a conflict.

What a warp's MMA writes shares a register with what it reads only where that is the accumulator of
the same place. PTX would let it share any, but ptxas makes steps of some MMAs, of which the first
writes what later ones read: docs/decisions.md.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.matrix import WarpMmaOp
from tilewright.dialects.ptx.registers import IN_PLACE, NAMED, ConstOp, ListGetOp, ListMakeOp
from tilewright.dialects.ptx.scalars import AddOp
from tilewright.dialects.ptx.types import KINDS, RegType
from tilewright.dialects.ptx.wgmma import WgmmaOp
from tilewright.lowering.ptx.edges import edges_of
from tilewright.lowering.ptx.in_flight import InFlightRegisters, RegisterConflict, Tie
from tilewright.lowering.ptx.instructions import Shape, immediate
from tilewright.lowering.ptx.kept import kept
from tilewright.lowering.ptx.live_ranges import RegisterRanges, Slot, Uses
from tilewright.source.diagnostic import OpError

PREFIXES: dict[str, str] = {
    "pred": "%p",
    "b8": "%b",
    "b16": "%h",
    "b32": "%r",
    "f32": "%f",
    "b64": "%rd",
    "f64": "%fd",
}


_LISTS = (ListMakeOp, ListGetOp)
"""The ops that give registers another name."""


@cache
def _role(op: type[Operation]) -> str | None:
    """The part of ops of a class in the names of registers, if they have another than most."""
    roles = {"name": _LISTS, "constant": ConstOp, "mma": WgmmaOp | WarpMmaOp}
    for role, classes in roles.items():
        if issubclass(op, classes):  # type: ignore[arg-type]
            return role
    guarded = issubclass(op, PtxOp) and op.unguarded is not PtxOp.unguarded
    return "guarded" if guarded else None


def _no_register(value: SSAValue) -> OpError:
    owner = value.owner
    if isinstance(owner, Operation):
        return OpError(owner, f"'{owner.name}' has no PTX text")
    entry = owner.parent_op()
    assert entry is not None
    return OpError(entry, f"a block argument of {value.type} has no PTX text")


class RegisterMove(NamedTuple):
    """A move to one register, from another or of a constant."""

    kind: str
    dest: str
    source: str


class NamesOfValues(dict[SSAValue, list[str]]):
    """The registers of values, named on first asking, and how many of each kind there are."""

    def __init__(self, slots: Mapping[SSAValue, Sequence[Slot]]):
        super().__init__()
        self._slots = slots
        self.counts: dict[str, int] = dict.fromkeys(PREFIXES, 0)

    def __missing__(self, value: SSAValue) -> list[str]:
        names = self[value] = [slot.root.name or self.of(slot.root) for slot in self._slots[value]]
        owner = value.owner
        if isinstance(owner, AddOp) and NAMED in owner.attributes:
            offset: Any = owner.operands[1].owner
            names[0] += f"+{immediate(offset, owner.form.data)}"
        return names

    def of(self, root: Slot) -> str:
        """The name of a register."""
        if root.name is None:
            root.name = self.scratch(root.kind)
        return root.name

    def scratch(self, kind: str) -> str:
        """A register that no value has, to break a cycle of moves."""
        self.counts[kind] += 1
        return f"{PREFIXES[kind]}{self.counts[kind]}"


class RegisterNames:
    """The register names of one kernel body, and the `conflicts` in which a register in flight
    would be moved or written. `meetings` move no such register, but to where one is that came by
    another way."""

    def __init__(self, region: Region):
        self._region = region
        self._slots: dict[SSAValue, list[Slot]] = {}
        self._uses: defaultdict[SSAValue, Uses] = defaultdict(dict)
        self._known: dict[tuple[int, object], RegisterRanges] = {}
        self._unions: dict[tuple[RegisterRanges, RegisterRanges], RegisterRanges | None] = {}
        self._predecessors: dict[Block, list[Block]] = defaultdict(list)
        self._mmas: list[WgmmaOp | WarpMmaOp] = []
        self._define(region)
        self.in_flight = InFlightRegisters(region, self._slots.__getitem__)
        self._unite([(tie.second, tie.first) for tie in self.in_flight.ties])
        self.conflicts = [*self._apart(self.in_flight.ties), *self.in_flight.conflicts]

    @cached_property
    def meetings(self) -> list[RegisterConflict]:
        """The edges that bring a complete value to where another is in flight."""
        assert not self.in_flight.meetings or self._is_joined
        return list(self._apart(self.in_flight.meetings))

    # Slots

    def _define(self, region: Region) -> None:
        names, uses = list[Operation](), self._uses
        for block in region.blocks:
            for argument in block.args:
                self._slots[argument] = self._fresh(argument, block, -1)
            for edge in edges_of(block.last_op):
                self._predecessors[edge.dest].append(block)
            for position, op in enumerate(block.ops):
                if (role := _role(type(op))) != "name":
                    for operand in op._operands:  # pyright: ignore[reportPrivateUsage]
                        uses[operand][block] = position
                if role == "name" or (role is None and NAMED in op.attributes):
                    names.append(op)
                    continue
                for result in op.results:
                    self._slots[result] = self._fresh(result, block, position)
                if role == "constant":
                    self._slots[op.results[0]][0].constant = op  # type: ignore[assignment]
                elif role == "mma":
                    self._mmas.append(op)  # type: ignore[arg-type]
                    if isinstance(op, WarpMmaOp):
                        for operand in (*op.inputs[:2], *op.inputs[3:]):
                            uses[operand][block] = position + 1
                elif role == "guarded" and op.unguarded is not None:  # type: ignore[attr-defined]
                    # What a result is where it is not executed is written before it reads.
                    for operand in op._operands:  # pyright: ignore[reportPrivateUsage]
                        uses[operand][block] = position + 1
        while names:
            # What dominates a block may come after it in the text.
            later = [op for op in names if not self._named(op)]
            assert len(later) < len(names), "values are defined before they are used"
            names = later

    def _fresh(self, value: SSAValue, block: Block, position: int) -> list[Slot]:
        type_ = value.type
        if not isinstance(type_, RegType):
            raise _no_register(value)
        kind, uses = type_.kind.data, (self._uses[value],)
        if (count := type_.count.data) == 1:
            return [Slot(kind, block, position, uses)]
        return [Slot(kind, block, position, uses) for _ in range(count)]

    def _named(self, op: Operation) -> bool:
        """True where the registers that it names are known."""
        operands = op.operands[:1] if isinstance(op, AddOp) else op.operands
        parts = [self._slots.get(part, []) for part in operands]
        if not all(parts):
            return False
        named = [[slot for part in parts for slot in part]]
        if isinstance(op, ListGetOp):
            named = [[slot] for slot in parts[0][op.position.value.data :]]
        for result, slots in zip(op.results, named, strict=False):
            self._slots[result], uses, before, after = slots, self._uses[result], None, ()
            for slot in slots:
                if NAMED in op.attributes and isinstance(result.type, RegType):
                    slot.kind = f"b{max(KINDS[slot.kind], KINDS[result.type.kind.data])}"
                if slot.uses is not before:
                    before, after = slot.uses, (*slot.uses, uses)
                slot.uses = after
        return True

    # Live ranges

    def _ranges_of(self, root: Slot) -> RegisterRanges:
        # The registers of a list are mostly read together.
        key = id(root.uses), root.spans
        if (ranges := self._known.get(key)) is None:
            ranges = RegisterRanges(root.live(self._predecessors), root.flying())
            self._known[key] = ranges
        root.ranges = ranges
        return ranges

    # Joining

    def _apart(self, ties: Sequence[Tie]) -> Iterator[RegisterConflict]:
        """The pairs of registers that are not one."""
        for first, second, flight, op, edge in ties:
            if first.root is not second.root:
                yield RegisterConflict(flight, op, edge, first)

    @cached_property
    def _is_joined(self) -> bool:
        """True; on first asking, give d of a wgmma the registers of c, then block arguments those
        of what is passed to them, loops' edges first; then accumulate in place where c and d are of
        one kind and c is not read again; then compute in place where a text did."""
        region = self._region
        for op in self._mmas:
            if isinstance(op, WarpMmaOp):
                self._part_accumulators(op)
        self._join_accumulators(WgmmaOp)
        order = {block: index for index, block in enumerate(region.blocks)}
        edges = [edge for block in region.blocks for edge in edges_of(block.last_op)]
        edges.sort(key=lambda edge: order[edge.dest] > order[edge.source])
        for edge in edges:
            for argument, value in zip(edge.dest.args, edge.values, strict=True):
                self._unite(zip(self._slots[argument], self._slots[value], strict=True))
        self._join_accumulators(WarpMmaOp)
        for op in region.walk():
            for operand in op.operands if IN_PLACE in op.attributes else ():
                self._unite(zip(self._slots[op.results[0]], self._slots[operand], strict=True))
        return True

    def _part_accumulators(self, op: WarpMmaOp) -> None:
        """Keep each register of d from those of c that are at other places."""
        reads, writes = ([slot.root for slot in self._slots[list_]] for list_ in (op.c, op.d))
        for place, written in enumerate(writes):
            others = {*reads[:place], *reads[place + 1 :]}
            written.apart |= others
            for other in others:
                other.apart.add(written)

    def _join_accumulators(self, op_type: type[WarpMmaOp] | type[WgmmaOp]) -> None:
        for op in self._mmas:
            if isinstance(op, op_type) and op.c.type == op.d.type:
                self._unite(zip(self._slots[op.c], self._slots[op.d], strict=True))

    def _unite(self, pairs: Iterable[tuple[Slot, Slot]]) -> None:
        """Join the registers of each pair that may be one. A constant has its own: moves take it
        as it is, and ptxas would wait for an accumulator where what is read is the constant
        (C7517)."""
        unions = self._unions
        for a, b in pairs:
            a, b = a if a.joined is None else a.root, b if b.joined is None else b.root
            if a is b or KINDS[a.kind] != KINDS[b.kind] or a.constant or b.constant or b in a.apart:
                continue
            both = a.ranges or self._ranges_of(a), b.ranges or self._ranges_of(b)
            if both not in unions:
                # So are those of the lists that they are joined with.
                unions[both] = both[0].union(both[1])
            if (union := unions[both]) is not None:
                a.ranges, b.joined = union, a
                if a.kind != b.kind:
                    a.kind = f"b{KINDS[a.kind]}"
                a.apart |= b.apart
                for other in b.apart:
                    other.apart.add(a)

    # Names

    @cached_property
    def names(self) -> NamesOfValues:
        """The registers of values, which have their names from here on."""
        assert self._is_joined
        return NamesOfValues(self._slots)

    def registers(self, value: SSAValue) -> tuple[Slot, ...]:
        """The registers of a value, each as the one of all that it was joined with."""
        assert self._is_joined
        return tuple([slot.root for slot in self._slots[value]])

    def moves(self, into: SSAValue, source: SSAValue) -> list[RegisterMove]:
        """The moves that give one value the registers of another, constants as immediates."""
        moves: list[RegisterMove] = []
        for dest, slot in zip(self._slots[into], self._slots[source], strict=True):
            if dest is slot:
                continue
            kind, root, other = dest.kind, dest.root, slot.root
            if root is not other:
                name = self.names.of
                word = name(other) if slot.constant is None else immediate(slot.constant, kind)
                moves.append(RegisterMove(kind, name(root), word))
        return moves


def names_of(region: Region) -> RegisterNames:
    """The register names of a kernel body: those that were kept, to be written once."""
    return kept(RegisterNames, region) or RegisterNames(region)


def needs_register(constant: ConstOp, shapes: Mapping[Operation, Shape]) -> bool:
    """True where some reader of the constant in the kernel takes a register alone, or an
    instruction has one in the text that it was read from."""
    named = NAMED in constant.attributes
    readers = ((shapes.get(use.operation), use.index) for use in constant.result.uses)
    return any(
        shape is not None and ((named and not shape.ends_block) or not shape.immediates[index])
        for shape, index in readers
    )
