"""A kernel of the text as `ptx.entry`: its parameters, memory and blocks."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FileLineColLoc,
    FusedLoc,
    IntegerAttr,
    NoneAttr,
    StringAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import locations
from tilewright.dialects.cute_nvgpu.lattice.scalar import REGISTER_OF
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import STATIC_SHARED_LIMIT
from tilewright.dialects.dominators import immediate_dominators
from tilewright.dialects.frozen import entity, factory, frozen
from tilewright.dialects.illegal import Illegal
from tilewright.dialects.ptx.control_flow import (
    EXPLICIT_CLUSTER,
    GUARDED,
    MAX_REGISTERS,
    MIN_CTAS,
    SHARED_VARIABLES,
    TENSORMAP,
    BraOp,
    CondBraOp,
    EntryOp,
    parameter_register,
)
from tilewright.dialects.ptx.functions import ExitOp, RetOp
from tilewright.dialects.ptx.types import KINDS, reg
from tilewright.lowering.ptx.parsing import calls, composed, matrices, memory, moves
from tilewright.lowering.ptx.parsing.accumulators import list_accumulators, written
from tilewright.lowering.ptx.parsing.flow import BodyPart, Flow
from tilewright.lowering.ptx.parsing.instructions import rule_of
from tilewright.lowering.ptx.parsing.names import Names, Symbol
from tilewright.lowering.ptx.parsing.reader import Reader, ReadingRule, Variables
from tilewright.lowering.ptx.parsing.refused import why_unread
from tilewright.lowering.ptx.parsing.signatures import Callee, parameters, signature
from tilewright.lowering.ptx.parsing.ssa import SsaBuilder, Variable, Way
from tilewright.lowering.ptx.parsing.statements import NAME, PtxError, PtxStatement
from tilewright.lowering.ptx.parsing.variables import ModuleVariables

RULES_OF = (calls, composed, matrices, memory, moves)
"""Importing them fills the table of rules."""

_LOC = re.compile(r"(\d+)\s+(\d+)\s+(\d+)")
_NO_METADATA = NoneAttr()
_WHOLE_NAMES = re.compile(rf"(?<![.\w$]){NAME}")
"""Names, and not the `x` of `%tid.x`."""
_EXTENTS = re.compile(r"\.(reqntid|maxntid|maxnreg|minnctapersm|reqnctapercluster)\s+([\d,\s]*\d)")


@frozen
class Source:
    """The text of a module: its name, how many lines are before it, and how much shared memory a
    CTA of its target may have. What is behind a position of `marked` comes from the
    line that its `.loc` names, of one of `files`; what begins at a head comes from none."""

    name: StringAttr
    text: str
    line_offset: int
    shared_limit: int = STATIC_SHARED_LIMIT + 1
    files: dict[str, str] = factory(dict)
    marked: list[int] = factory(list)
    marks: list[re.Match[str] | None] = factory(list)
    _starts: list[int] = factory(list)

    def mark(self, statement: PtxStatement) -> None:
        """Let what is behind a head, or a `.loc`, come from no line, or from its."""
        self.marked.append(statement.position)
        self.marks.append(_LOC.match(statement.text) if statement.name == ".loc" else None)

    def location(self, position: int) -> FileLineColLoc | FusedLoc:
        """The location of a position, fused with that of what it was compiled from."""
        starts = self._starts
        if not starts:
            starts += [0, *accumulate(len(line) + 1 for line in self.text.split("\n"))]
        line = bisect_right(starts, position)
        column = position - starts[line - 1] + 1
        place = locations.place(self.name, line + self.line_offset, column)
        mark = bisect_right(self.marked, position) - 1
        if mark < 0 or (match := self.marks[mark]) is None:
            return place
        name = locations.string(self.files.get(match[1], match[1]))
        origin = locations.place(name, int(match[2]), int(match[3]))
        both = locations.unverified(ArrayAttr, data=(place, origin))
        return locations.unverified(FusedLoc, locations=both, metadata=_NO_METADATA)


@entity
class KernelReading:
    """The reading of one kernel: of its head, the text before its brace, and its body."""

    EXIT: ClassVar[type[ExitOp | RetOp]] = RetOp

    source: Source
    head: PtxStatement
    body: Sequence[PtxStatement]
    outer: Names
    callees: dict[str, Callee]
    variables: ModuleVariables

    def entry(self) -> EntryOp:
        """The kernel. Raises PtxError."""
        head = signature(self.head)
        if head is None:
            raise PtxError("expected the name of a kernel behind .entry", self.head.position)
        given, name = parameters(head["inputs"]), head["name"]
        known = [match for match in given if match]
        if len(known) < len(given):
            raise PtxError("expected parameters such as `.param .u64 name`", self.head.position)
        outer = Names(self.outer)
        scope = Names(outer)
        flow = self._flow()
        first = flow.parts[0].block
        addressed = self._addressed({match["name"] for match in known})
        kinds = [self._parameter_type(match, addressed) for match in known]
        for match, kind in zip(known, kinds, strict=True):
            argument = first.insert_arg(reg(parameter_register(kind) or ""), len(first.args))
            outer.names[match["name"]] = Symbol(
                "param",
                match["name"],
                int(match["size"] or kind.rpartition("_")[2])
                if kind.startswith(("bytes", TENSORMAP))
                else None,
                value=argument,
            )
        flow.add(self.body, scope)
        region, reader = self._read(flow.parts, scope, {})
        shared = reader.memory
        names = [match["name"].removeprefix(f"{name}_") for match in known]
        bounds = {
            word: [int(n) for n in numbers.split(",")]
            for word, numbers in _EXTENTS.findall(head["rest"])
        }
        block, most, cluster = (
            [*bounds[word], 1, 1][:3] if word in bounds else None
            for word in ("reqntid", "maxntid", "reqnctapercluster")
        )
        op: Any = EntryOp(
            name, list(zip(names, kinds, strict=True)), region, shared.end,
            shared.align if shared.end else 16, block, cluster, local=reader.local.end,
            local_align=reader.local.align if reader.local.end else 16,
            maxntid=most,
        )  # fmt: skip
        for name, word in ((MIN_CTAS, "minnctapersm"), (MAX_REGISTERS, "maxnreg")):
            if word in bounds:
                op.attributes[name] = IntegerAttr(bounds[word][0], i32)
        if ".explicitcluster" in head["rest"]:
            op.attributes[EXPLICIT_CLUSTER] = UnitAttr()
        if len(places := list(shared.places.values())) > 1:
            op.attributes[SHARED_VARIABLES] = DenseArrayBase.from_list(i64, places)
        op.located = partial(self.source.location, self.head.position)
        return op

    def _flow(self) -> Flow:
        return Flow(self._declare, self.callees)

    def _addressed(self, names: set[str]) -> set[str]:
        """The parameters whose address something takes, or bytes that do not begin there."""
        return {
            name
            for one in self.body
            if one.name.startswith(("mov.", "ld.param"))
            for name in names.intersection(_WHOLE_NAMES.findall(one.text.partition(",")[2]))
            if one.name[0] == "m" or not one.text.endswith((f"[{name}]", f"[{name}+0]"))
        }

    def _parameter_type(self, match: re.Match[str], addressed: set[str]) -> str:
        """The type of a parameter."""
        type_, size, align = match.group("type", "size", "align")
        if size is not None:
            if (size, align) == ("128", "64"):
                return TENSORMAP
            is_word = (size, align) == ("8", "8") and self._is_word(match["name"])
            return "u64" if is_word else f"bytes{size}_{align or 1}"
        if type_ not in (*REGISTER_OF, "b8"):
            legal = ", ".join(REGISTER_OF)
            raise PtxError(f"expected a type of {legal}, got {type_}", self.head.position)
        width = 8 if type_[1:] == "8" else KINDS[REGISTER_OF[type_]]
        if match["name"] in addressed:
            return f"bytes{width // 8}_{width // 8}"
        return type_ if type_ in ("f32", "f64") else f"u{width}"

    def _is_word(self, name: str) -> bool:
        """Bytes that are read as one number alone are one, and may be a pointer."""
        readers = [one for one in self.body if name in one.text]
        return all(
            re.fullmatch(r"ld\.param\.[bu]64", one.name) and one.text.endswith(f"[{name}]")
            for one in readers
        )

    def _declare(self, statement: PtxStatement, scope: Names) -> None:
        """Make a declaration in the body known. Raises PtxError."""
        if statement.name == ".reg":
            if (why := scope.declare_registers(statement.text)) is not None:
                raise PtxError(why, statement.position)
        elif (
            not self.variables.declare(statement, scope, inside=True)
            and statement.name not in (".pragma", ".noreturn", ".callprototype")
        ):  # fmt: skip
            what = f"expected a declaration that is read here, got {statement.name}"
            raise PtxError(what, statement.position)

    # Blocks

    def _returned(self, reader: Reader) -> Sequence[SSAValue]:
        """The values that a block which goes nowhere leaves with."""
        return ()

    def _read(
        self, parts: Sequence[BodyPart], scope: Names, given: Mapping[Variable, SSAValue]
    ) -> tuple[Region, Reader]:
        """The blocks, where registers hold what is `given`."""
        by_block = {part.block: part for part in parts}
        dominators = immediate_dominators(parts[0].block, lambda block: by_block[block].ways())
        order = [by_block[block] for block in dominators]
        edges = {part: [Way(part.block, way) for way in part.ways()] for part in order}
        ssa = SsaBuilder(dominators, [edge for some in edges.values() for edge in some])
        shared = Variables(self.source.shared_limit)
        reader = Reader(ssa, parts[0].block, scope, shared)
        reader.callees = self.callees
        reader.registers.update(given)
        self._choose_kinds(order)
        list_accumulators(order)
        conditions = {part: self._fill(reader, part) for part in order}
        ssa.close()
        self.variables.share(reader.memory, every=self.EXIT is ExitOp)
        for variables in (reader.memory, reader.local):
            variables.place()
        ends = _threaded(edges, parts)
        for part in order:
            if part not in ends:
                continue
            condition = conditions[part]
            condition = condition and ssa.settled.get(condition, condition)
            part.block.add_op(self._terminator(part, ends[part], condition))
        reader.finish()
        return Region([part.block for part in parts if part in ends]), reader

    def _choose_kinds(self, order: Sequence[BodyPart]) -> None:
        """Find the rules. Where values of variables meet, they are of the kind of what writes them,
        if of one; count how often that is, and the place of the last write of each in each part."""
        known = defaultdict[Variable, set[str]](set)
        for place, part in enumerate(order):
            for statement, scope in part.statements:
                rule, position = self._rule(statement), statement.position
                part.rules.append(rule)
                for variable in written(statement, scope):
                    if not variable.writes or position < variable.first:
                        variable.first = position
                    variable.writes += 1
                    variable.last = place
                    part.last[variable] = position
                    if rule.kind:
                        known[variable].add(rule.kind)
        for variable, kinds in known.items():
            if len(kinds) == 1 and KINDS[kind := next(iter(kinds))] == KINDS[variable.kind]:
                variable.kind = kind

    def _rule(self, statement: PtxStatement) -> ReadingRule:
        try:
            rule = rule_of(statement.name)
        except Illegal as error:
            raise PtxError(str(error), statement.position) from error
        if rule is None:
            raise PtxError(why_unread(statement.name), statement.position)
        return rule

    def _fill(self, reader: Reader, part: BodyPart) -> SSAValue | None:
        """Read the instructions of a part: the predicate of its end, where it has one."""
        reader.block, reader.registers = part.block, reader.ssa.defined[part.block]
        reader.last = part.last
        locate = self.source.location
        for (statement, scope), rule in zip(part.statements, part.rules, strict=True):
            _, position, name, text, guard = statement
            reader.scope, reader.position = scope, position
            reader.located = partial(locate, position)
            reader.guard = reader.take(guard, "pred") if guard else None
            try:
                rule.read(reader, text)
            except PtxError:
                raise
            except (Illegal, VerifyException) as error:
                raise PtxError(str(error), position) from error
            except (ValueError, LookupError) as error:
                what = f"expected operands that {name} takes, got '{text}'"
                raise PtxError(what, position) from error
        if not part.ways() and not part.exits:
            part.returned = self._returned(reader)
        if part.ending is None or not part.ending[0].guard:
            return None
        statement, reader.scope = part.ending
        reader.position = statement.position
        return reader.take(statement.guard.lstrip("! "), "pred")

    def _terminator(self, part: BodyPart, ways: list[Way], condition: SSAValue | None) -> Operation:
        op: Any
        if not ways:
            op = self.EXIT.create() if part.exits else RetOp(part.returned)
        elif condition is None or len(ways) == 1:
            op = BraOp(ways[0].dest, ways[0].values)
        else:
            assert part.ending is not None
            then, other = ways if part.ending[0].guard[0] != "!" else reversed(ways)
            op = CondBraOp(condition, then.dest, other.dest, then.values, other.values)
            name, _, suffix = part.ending[0].name.partition(".")
            op.uniform = UnitAttr() if suffix == "uni" else None
            if name not in ("bra", "ret", "exit"):
                op.attributes[GUARDED] = UnitAttr()
        if part.ending is not None:
            op.located = partial(self.source.location, part.ending[0].position)
        return op


def _threaded(
    edges: dict[BodyPart, list[Way]], parts: Sequence[BodyPart]
) -> dict[BodyPart, list[Way]]:
    """The ways, without the blocks that do nothing, that one way leads to, and that stand between
    no branch and where it goes."""
    following = dict(pairwise(parts))
    before: dict[Block, list[tuple[BodyPart, int]]] = {}
    for part, ways in edges.items():
        for place, edge in enumerate(ways):
            before.setdefault(edge.dest, []).append((part, place))
    for part in list(edges):
        ways, into = edges[part], before.get(part.block, [])
        is_way = part.ending is not None and not part.block.first_op and part is not parts[0]
        if not is_way or len(ways) != 1 or len(into) != 1:
            continue
        source, place = into[0]
        is_between = part in following and source.then is following[part].block
        if ways[0].dest is part.block or is_between:
            continue
        edges[source][place] = Way(source.block, ways[0].dest, ways[0].values)
        position = before[ways[0].dest].index((part, 0))
        before[ways[0].dest][position] = source, place
        del edges[part]
    return edges
