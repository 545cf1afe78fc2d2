"""PTX text as a module of `ptx` ops."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp, StringAttr

from tilewright.dialects.cute_nvgpu.lattice.shared_memory import (
    shared_memory_limit,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import TargetError, target
from tilewright.dialects.fields import number
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.functions import FuncOp
from tilewright.lowering.ptx.parsing.functions import FunctionReading
from tilewright.lowering.ptx.parsing.kernels import (
    KernelReading,
    Source,
)
from tilewright.lowering.ptx.parsing.names import Names, Symbol
from tilewright.lowering.ptx.parsing.signatures import Callee, parameters, signature, types_of
from tilewright.lowering.ptx.parsing.statements import (
    NAMES,
    PtxError,
    PtxStatement,
    statements,
    without_comments,
)
from tilewright.lowering.ptx.parsing.variables import ModuleVariables

_FILE = re.compile(r'(\d+)\s+"([^"]*)"')
_NO_NUMBER = re.compile(r"(?<![\w.$%])\d{40,}")
_DIGITS = str.maketrans("123456789", "0" * 9)
"""No number of 64 bits is near so many digits. PTX ISA 4.5."""
_ADDRESSES = re.compile(r"(?:\bmov\.\w64\s|=)([^;]*);")
"""Where the address of a function may be taken: a `mov`, and the content of a variable."""


def read_module(text: str, name: str = "<string>", line_offset: int = 0) -> ModuleOp:
    """The module of a PTX text, each op at its line. Raises PtxError for what is no PTX, and for
    what is not read here."""
    reading = _ModuleReading(text, name, line_offset)
    kernels = list(reading.kernels())
    return ModuleOp([*reading.variables.ops, *reading.functions(), *kernels])


class _ModuleReading:
    def __init__(self, text: str, name: str, line_offset: int):
        self._scope = Names()
        self._callees: dict[str, Callee] = {}
        self._functions: dict[str, FuncOp | None] = {}
        self._entries: list[tuple[PtxStatement, Sequence[PtxStatement]]] = []
        plain = without_comments(text)
        many = "0" * 40 in plain.translate(_DIGITS)  # takes a tenth of a search
        if many and (number := _NO_NUMBER.search(plain)) is not None:
            what = f"expected a number of at most 64 bits, got one of {len(number[0])} digits"
            raise PtxError(what, number.start())
        self._source = Source(StringAttr(name), plain, line_offset)
        self.variables = ModuleVariables(self._source.location)
        of_addresses = ".callprototype" in plain
        self._taken = {*NAMES.findall(" ".join(_ADDRESSES.findall(plain) if of_addresses else ()))}
        self._add(statements(plain))
        if of_addresses and ".calltargets" not in plain:
            self._keep()

    def kernels(self) -> Iterator[EntryOp]:
        """The kernels."""
        for head, body in self._entries:
            yield KernelReading(
                self._source, head, body, self._scope, self._callees, self.variables
            ).entry()

    def functions(self) -> Sequence[FuncOp]:
        """The functions that are called, each before its callers: those from elsewhere in the order
        of the text, in which ptxas has their addresses."""
        own = [one for one in self._functions.values() if one is not None and one.body.blocks]
        known = filter(None, map(self._functions.get, self._callees))
        return [*(one for one in known if not one.body.blocks), *own]

    def _keep(self) -> None:
        """Let calls of addresses be calls, if all functions of one prototype pass the same
        parts."""
        passed = dict[str, object]()
        taken = [callee for callee in self._callees.values() if callee.is_taken]
        for callee in taken:
            callee.is_kept = True
        for callee in taken:
            types, function = str(types_of(signature(callee.head))), callee.read(callee)
            assert function is not None
            parts = function.parameters, function.returns
            if passed.setdefault(types, parts) != parts:
                self._functions.clear()
                for other in taken:
                    other.is_kept = False
                return
            symbol = self._scope.names[callee.name]
            assert isinstance(symbol, Symbol)
            function.address = number(symbol.position)

    def _add(self, following: Iterator[PtxStatement]) -> None:
        aliases = list[list[str]]()
        for statement in following:
            match statement.kind:
                case "line" if statement.name == ".target":
                    self._target(statement)
                case "declaration" if statement.name == ".alias":
                    aliases += [statement.text.split(",")]
                case "declaration":
                    self._name_function(statement)
                    self.variables.declare(statement, self._scope)
                case "function":
                    self._function(statement, following)
                case "line" if statement.name == ".file":
                    self._source.files.update(_FILE.findall(statement.text))
                case "line":
                    pass
                case _:
                    raise PtxError(
                        "expected a kernel, a function or a variable", statement.position
                    )
        for alias, name in aliases:
            if (callee := self._callees.get(name.strip())) is not None:
                self._callees[alias.strip()] = callee

    def _target(self, statement: PtxStatement) -> None:
        name = statement.text.partition(",")[0].strip()
        try:
            limit = shared_memory_limit(target(name))
        except TargetError as error:
            raise PtxError(str(error), statement.position) from error
        self._source = replace(self._source, shared_limit=limit)

    def _function(self, head: PtxStatement, following: Iterator[PtxStatement]) -> None:
        body, depth = list[PtxStatement](), 0
        self._source.mark(head)
        for statement in following:
            if depth and statement.kind == "instruction":
                body.append(statement)
                continue
            if statement.kind == "brace":
                depth += 1 if statement.text == "{" else -1
            if depth == 0:
                break
            if statement.name == ".loc":
                self._source.mark(statement)
            if depth > 1 or statement.kind != "brace" or body:
                body.append(statement)
        if ".entry" in f"{head.name} {head.text}":
            self._entries.append((head, body))
            return
        if not self._name_function(head, body):
            raise PtxError("expected the name of a function behind .func", head.position)

    def _name_function(self, head: PtxStatement, body: list[PtxStatement] | None = None) -> bool:
        """Let a function be known, and its address be the place where the text has its name first;
        False where the statement is of none."""
        if (match := signature(head)) is None:
            return False
        symbol = Symbol("func", name := match["name"], position=head.position)
        self._scope.names.setdefault(name, symbol)
        if body is not None or name not in self._callees:
            lists = map(parameters, match.group("results", "inputs"))
            results, inputs = (list(filter(None, some)) for some in lists)
            self._callees[name] = Callee(
                name, head, body, self._read, results, inputs, name in self._taken
            )
        return True

    def _read(self, callee: Callee) -> FuncOp | None:
        """A function; while it is read, it is none. Raises PtxError."""
        if (name := callee.name) not in self._functions:
            self._functions[name] = None
            reading = FunctionReading(
                self._source, callee.head, callee.statements or (), self._scope, self._callees,
                self.variables, callee,
            )  # fmt: skip
            function = reading.function()
            del self._functions[name]
            self._functions[name] = function
        return self._functions[name]
