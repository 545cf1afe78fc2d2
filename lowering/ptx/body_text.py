"""The text of a body: its registers, blocks and instructions."""

import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence
from functools import cache, cached_property
from io import StringIO
from itertools import zip_longest

from xdsl.dialects.builtin import (
    LocationAttr,
    NameLoc,
    StringAttr,
)
from xdsl.ir import Block, Operation, OpResult, SSAValue

from tilewright.dialects.cute_nvgpu.lattice.targets import Requirement
from tilewright.dialects.ptx import registers
from tilewright.dialects.ptx.atomics import AtomOp
from tilewright.dialects.ptx.control_flow import (
    GUARDED,
    TENSORMAP,
    BraOp,
    CondBraOp,
    EntryOp,
    parameter_layout,
)
from tilewright.dialects.ptx.data_movement import LdOp
from tilewright.dialects.ptx.functions import CallOp, ExitOp, FuncOp, RetOp, parts_of
from tilewright.dialects.ptx.identifiers import comment, unique
from tilewright.dialects.ptx.instruction import PtxOp, SharedPlace
from tilewright.dialects.ptx.launch_control import QueryCancelOp
from tilewright.dialects.ptx.mbarrier import TWO_WAYS, TryWaitParityOp
from tilewright.dialects.ptx.registers import NAMED
from tilewright.dialects.ptx.types import B64, KINDS, PRED
from tilewright.dialects.ptx.wgmma import WgmmaFenceOp, WgmmaOp
from tilewright.lowering.ptx.edges import Edge, edges_of
from tilewright.lowering.ptx.instructions import InstructionPrinter, Shapes, immediate
from tilewright.lowering.ptx.one_instruction import ONE_INSTRUCTION, one_instruction
from tilewright.lowering.ptx.parallel_moves import in_order
from tilewright.lowering.ptx.registers import PREFIXES, RegisterMove, names_of, needs_register
from tilewright.source.diagnostic import OpError, file_location

_BRANCH = re.compile(r"bra(?:\.uni)? (\S+);")
_LABEL = re.compile(r"^(\S+):\n", re.MULTILINE)
_HALVES = re.compile(r"\{[^{},]+, [^{},]+\}")
"""Two registers side by side."""


def parameter(type_: str, name: str) -> str:
    """The declaration of a parameter, or of a variable in which a value is passed to a function, or
    by it: of bytes where it is no scalar."""
    kind, *_ = type_.split()
    if kind != TENSORMAP and "_" not in kind:
        return f".param .{kind} {name}"
    size, align = parameter_layout(kind)
    return f".param .align {align} .b8 {name}[{size}]"


class BodyText:
    """The text of what has instructions, in a module that has `taken` some names: its variables in
    shared memory begin at `starts`. Raises OpError where a register would be moved in flight."""

    def __init__(
        self, op: EntryOp | FuncOp, shapes: Shapes, taken: Collection[str],
        parameter_names: Iterable[str], starts: Sequence[int] = (0,),
    ):  # fmt: skip
        self._op, self._shapes = op, shapes
        self.local_name, *shared_names = unique(
            [f"{self.name}_local", *[f"{self.name}_shared"] * len(starts)], taken
        )
        self._shared = dict(zip(starts, shared_names, strict=True))
        self.registers = names_of(op.body)
        for conflict in self.registers.conflicts:
            raise conflict.error()
        labels = (f"${_label(block, i)}" for i, block in enumerate(op.body.blocks))
        self._labels = dict(zip(op.body.blocks, unique(labels, taken), strict=True))
        self._taken = {*taken, *self._labels.values()}
        # The kernel's shared memory is called after it like its parameters.
        self._parameter_names = unique(
            (f"{self.name}_{name}" for name in parameter_names),
            (*shared_names, self.local_name, *taken),
        )
        self._printer = InstructionPrinter(self.registers.names, self._shared, self.local_name)
        self._trampolines: list[tuple[str, Edge]] = []
        self._body = StringIO()
        self._written = set[Operation]()
        self._in_place: set[SSAValue | None] = {None}
        self.required = list[Requirement]()
        self._guard = ""
        self._comment: str | None = None
        self._location: LocationAttr | None = None
        self._sources: dict[int, str | None] = {}  # by the identities of locations

    @abstractmethod
    def _head(self) -> str:
        """The text in front of the body, with its opening brace."""

    @abstractmethod
    def _parameters(self) -> None:
        """Load what is given."""

    def is_in_place(self, argument: SSAValue, name: str) -> bool:
        """True where what reads an argument loads it from its parameter, which it is called."""
        if in_place := all(_loads_parameter(use.operation) for use in argument.uses):
            self.registers.names[argument] = [name]
            self._in_place.add(argument)
        return in_place

    @property
    def name(self) -> str:
        return self._op.sym_name.data

    def text(self) -> str:
        """All of it, from shared memory to the closing brace."""
        self._parameters()
        blocks = list(self._op.body.blocks)
        for block, following in zip_longest(blocks, blocks[1:]):
            self._block(block, following)
        for label, edge in self._trampolines:
            self._body.write(f"{label}:\n")
            self._moves(edge)
            self.line(f"bra.uni {self._labels[edge.dest]};")
        body = self._body.getvalue()
        named = {*_BRANCH.findall(body), *(self._labels[one] for one in blocks if one.name_hint)}
        body = _LABEL.sub(lambda label: label[0] if label[1] in named else "", body)
        return f"{self._head()}{self._declarations()}\n{body}}}\n"

    def _declarations(self) -> str:
        local, align = self._op.local, self._op.local_align
        place = "" if local is None else (
            f"\t.local .align {16 if align is None else align.value.data} .b8 "
            f"{self.local_name}[{local.value.data}];\n"
        )  # fmt: skip
        return place + "".join(
            f"\t.reg .{kind} {PREFIXES[kind]}<{count + 1}>;\n"
            for kind, count in self.registers.names.counts.items()
            if count
        )

    # Blocks and edges

    def _block(self, block: Block, following: Block | None) -> None:
        if block is not self._op.body.first_block and not self._guard:
            self._body.write(f"{self._labels[block]}:\n")
        last = block.last_op
        for op in block.ops:
            if op is last:
                self._terminator(op, following)
            else:
                self.instruction(op)

    def _terminator(self, op: Operation, following: Block | None) -> None:
        edges = edges_of(op)
        if isinstance(op, RetOp):
            self._leave(op)
        elif isinstance(op, ExitOp):
            self.line("exit;", op)
        elif isinstance(op, BraOp):
            self._moves(edges[0])
            self._guard = ""
            if op.dest is not following:
                self.line(f"bra.uni {self._labels[op.dest]};", op)
        elif isinstance(op, CondBraOp):
            predicate = self.register(op.condition)
            if GUARDED in op.attributes and self._is_guarded(following, edges, predicate):
                self._guard = f"@{predicate} " if op.then_block is following else f"@!{predicate} "
                return
            then, other = (self._target(edge) for edge in edges)
            branch = "bra" if op.uniform is None else "bra.uni"
            if op.then_block is following and then == self._labels[op.then_block]:
                self.line(f"@!{predicate} {branch} {other};", op)
                return
            self.line(f"@{predicate} {branch} {then};", op)
            if op.else_block is not following or other != self._labels[op.else_block]:
                self.line(f"bra.uni {other};", op)
        else:
            raise OpError(op, f"'{op.name}' ends a block but is no ptx terminator")

    def _leave(self, op: RetOp) -> None:
        self.line("ret;", op)

    def _is_guarded(self, inside: Block | None, ways: list[Edge], predicate: str) -> bool:
        """True where the block behind a branch, at one of whose ways it stands and leads to the
        other, is instructions that may each be under the predicate, which none of them writes."""
        if inside is None or not isinstance(last := inside.last_op, BraOp):
            return False
        *inner, _ = inside.ops
        written = {move.dest for edge in edges_of(last) for move in self._pending(edge)}
        results = (result for op in inner for result in op.results if result.type == PRED)
        return (
            {inside, last.dest} == {way.dest for way in ways}
            and not any(map(self._pending, ways))
            and written.isdisjoint({predicate, *self._unfenced})
            and predicate not in map(self.register, results)
            and all(_is_plain(type(op)) or isinstance(op, _UNWRITTEN) for op in inner)
        )

    def _target(self, edge: Edge) -> str:
        """Where an edge of a conditional branch goes: to its block, or to the moves before it."""
        if not self._pending(edge):
            return self._labels[edge.dest]
        label = f"{self._labels[edge.dest]}_from{len(self._trampolines)}"
        while label in self._taken:
            label += "_"
        self._trampolines.append((label, edge))
        return label

    def _pending(self, edge: Edge) -> list[RegisterMove]:
        """The moves that joining did not remove."""
        return [
            move
            for argument, value in zip(edge.dest.args, edge.values, strict=True)
            if argument.first_use is not None and not isinstance(value.owner, registers.UndefOp)
            for move in self.registers.moves(argument, value)
        ]

    def _moves(self, edge: Edge) -> None:
        """The edge's parallel moves."""
        waiting = self._pending(edge)
        touched = not self._unfenced.isdisjoint(move.dest for move in waiting) if waiting else False
        for kind, dest, source in in_order(waiting, self.registers.names.scratch):
            self.line(f"mov.{kind} {dest}, {source};")
        if touched:
            self.line("wgmma.fence.sync.aligned;")

    @cached_property
    def _unfenced(self) -> set[str]:
        """The registers that a wgmma accesses without a fence before it in its block: where a move
        writes them on the way there, the program's own fence may stand before the move."""
        accessed: set[str] = set()
        for block in self._op.body.blocks:
            for op in block.ops:
                if type(op) is WgmmaFenceOp:
                    break
                if type(op) is WgmmaOp:
                    accessed.update(self.registers.names[op.c])
                    accessed.update(self.registers.names[op.a] if op.a.type != B64 else ())
        return accessed

    # Instructions

    def instruction(self, op: Operation) -> None:
        """Print one instruction. Raises OpError for another op."""
        if ONE_INSTRUCTION in op.attributes and self._is_one(op):
            return
        if _is_plain(type(op)):
            if NAMED in op.attributes:
                if isinstance(place := getattr(op, "source", None), SharedPlace):
                    self.registers.names[op.results[0]] = [self._printer.place(place)]
            else:
                text = self._printer.text(op, self._shapes[op])  # type: ignore[arg-type]
                if type(op) is registers.SharedAddressOp and self._is_wide(op.result):
                    text = text.replace("mov.u32", "mov.u64", 1)
                self.line(text, op)
            return
        if isinstance(op, registers.NameOp):
            return
        if isinstance(op, registers.ConstOp) and not needs_register(op, self._shapes):
            return
        if isinstance(op, TryWaitParityOp):
            self._ask_until_done(op)
        elif isinstance(op, CallOp):
            self._call(op)
        elif isinstance(op, PtxOp):
            text = self._printer.text(op, self._shapes[op])
            if isinstance(op, WgmmaOp):
                self._settle(op)
            if ".b128" in text:
                self._on_whole(op, text)
            else:
                self._maybe(op, text)
        else:
            raise OpError(op, f"'{op.name}' has no PTX text")

    def _call(self, op: CallOp) -> None:
        """Declare what is passed, store it, call, and load what is returned."""
        function, name = op.function, op.callee.string_value()
        assert function is not None
        given, returned = (
            [f"{name}_{stem}{place}" for place in range(len(variables))]
            for stem, variables in (("given", function.parameters), ("result", function.returns))
        )
        kinds = (*function.parameters, *function.returns)
        declared = "".join(
            f" {parameter(kind.data, place)};"
            for kind, place in zip(kinds, (*given, *returned), strict=True)
        )
        self.line(f"{{{declared}", op)
        prototype, arguments = "", op.arguments
        if op.indirect is not None:
            address, *arguments = arguments
            name, prototype = self.register(address), ", called"
            results, inputs = (
                ", ".join(parameter(kind.data, "_") for kind in some)
                for some in (function.returns, function.parameters)
            )
            self.line(f"called: .callprototype ({results}) _ ({inputs});")
        self.store(arguments, function.parameters, given)
        results = f"({', '.join(returned)}), " if returned else ""
        passed = f", ({', '.join(given)})" if given else ""
        self.line(f"call{'.uni' if op.uniform else ''} {results}{name}{passed}{prototype};")
        self.load(op.returned, function.returns, returned)
        self.line("}")

    def store(
        self, values: Iterable[SSAValue], variables: Iterable[StringAttr], names: Sequence[str]
    ) -> None:
        """Store what is passed in variables."""
        for value, part in zip(values, parts_of(variables), strict=True):
            place, owner = f"{names[part.variable]}+{part.offset}", value.owner
            alone = isinstance(owner, registers.ConstOp) and not needs_register(owner, self._shapes)
            word = immediate(owner, part.type) if alone else self.register(value)  # type: ignore[arg-type]
            self.line(f"st.param.{part.type} [{place}], {word};")

    def load(
        self, values: Iterable[SSAValue], variables: Iterable[StringAttr], names: Sequence[str]
    ) -> None:
        """Load what is passed in variables, parameters where something reads them."""
        for value, part in zip(values, parts_of(variables), strict=True):
            place = f"{names[part.variable]}+{part.offset}"
            if isinstance(value, OpResult) or not self.is_in_place(value, place.removesuffix("+0")):
                self.line(f"ld.param.{part.type} {self.register(value)}, [{place}];")

    def _maybe(self, op: PtxOp, text: str) -> None:
        """An instruction, under its predicate if it has one: behind its result where it is not
        executed, as nothing waits for a load to choose."""
        under = self._under(op)
        if op.unguarded is not None and not isinstance(op.unguarded.owner, registers.UndefOp):
            for kind, into, source in self.registers.moves(op.results[0], op.unguarded):
                self.line(f"mov.{kind} {into}, {source};", op)
        self.line(f"{under}{text}", op)

    def _under(self, op: PtxOp) -> str:
        """The predicate in front of an instruction."""
        return "" if op.guard is None else f"@{self.register(op.guard)} "

    def _on_whole(self, op: PtxOp, text: str) -> None:
        """An instruction on registers of 128 bits, which the halves are put together to."""
        pairs = dict.fromkeys(_HALVES.findall(text))
        whole = {pair: f"whole{place}" for place, pair in enumerate(pairs)}
        given = _HALVES.sub(lambda pair: whole[pair[0]], text)
        result = next(iter(pairs)) if isinstance(op, AtomOp) else ""
        if whole:
            self.line(f"{{ .reg .b128 {', '.join(whole.values())};", op)
        for pair, name in whole.items():
            if pair != result or text.count(pair) > 1:
                self.line(f"mov.b128 {name}, {pair};")
        self._maybe(op, given)
        if result:
            self.line(f"{self._under(op)}mov.b128 {result}, {whole[result]};")
        if whole:
            self.line("}")

    def _ask_until_done(self, op: TryWaitParityOp) -> None:
        """The instruction waits for a while only: ask again until the phase is complete."""
        text = self._printer.text(op, self._shapes[op])
        self.line("{ .reg .pred done;", op)
        self.line("again:")
        self.line(text)
        match op.attributes.get(TWO_WAYS):
            case StringAttr(data=branch):
                self.line(f"@done {branch} over; {branch} again; over: }}")
            case _:
                self.line("@!done bra again; }")

    def _settle(self, op: WgmmaOp) -> None:
        """Copy c where it is needed later and so could not have the registers of d."""
        moves = [] if op.zero is not None else self.registers.moves(op.d, op.c)
        for kind, d, c in moves:
            self.line(f"mov.{kind} {d}, {c};", op)
        if moves:
            self.line("wgmma.fence.sync.aligned;")

    def line(self, text: str, op: Operation | None = None) -> None:
        """One line of the body, after a comment that names the source op where it changes."""
        if op is not None and (location := op.location) is not self._location:
            self._location = location
            if (source := self._sources.get(id(location), "")) == "":
                source = self._sources[id(location)] = _source(op)
            if source is not None and source != self._comment:
                self._body.write(f"\t{source}\n")
                self._comment = source
        self._body.write(f"\t{self._guard}{text}\n")

    def _is_one(self, op: Operation) -> bool:
        """True for an op that is written as one instruction with others, by the first of them."""
        one = None if op in self._written else one_instruction(op)
        if one is not None and one.parameter in self._in_place:
            self._written.update(one.ops)
            self.required.append(one.requirement)
            self.line(one.written(self.registers.names), op)
        return op in self._written

    def _is_wide(self, value: SSAValue) -> bool:
        """True for a single register of 64 bits."""
        return KINDS[self.registers.registers(value)[0].kind] == 64

    def register(self, value: SSAValue) -> str:
        """The name of a single register."""
        return self.registers.names[value][0]


@cache
def _is_plain(op: type[Operation]) -> bool:
    """An instruction without a predicate whose text is all that there is to it."""
    special = (
        registers.NameOp | registers.ConstOp | TryWaitParityOp | CallOp | WgmmaOp
        | QueryCancelOp
    )  # fmt: skip
    return issubclass(op, PtxOp) and "predicate" not in vars(op) and not issubclass(op, special)


def _loads_parameter(op: Operation) -> bool:
    """True for a load of a parameter, or of its bytes."""
    if isinstance(op, LdOp):
        return op.space.data == "param"
    return (one := one_instruction(op)) is not None and one.parameter is not None


_UNWRITTEN = registers.NameOp, registers.ConstOp


def _label(block: Block, index: int) -> str:
    return block.name_hint or f"block{index}"


def _source(op: Operation) -> str | None:
    """`// scf.for gemm.mlir:12`: the source op that an instruction comes from."""
    location = op.location
    if not isinstance(location, NameLoc):
        return None
    place = file_location(location)
    if place is None:
        return comment(location.desc.data)
    file = place.filename.data.rsplit("/", 1)[-1]
    return comment(f"{location.desc.data} {file}:{place.line.data}")
