"""PTX text as a module of `ptx` ops."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, ModuleOp, StringAttr, TensorType, i8

from tilewright.dialects.cute_nvgpu.lattice.shared_memory import (
    shared_memory_limit,
)
from tilewright.dialects.cute_nvgpu.lattice.targets import TargetError, target
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.dialects.ptx.module_variables import GlobalOp
from tilewright.lowering.ptx.parsing.flow import Callee
from tilewright.lowering.ptx.parsing.kernels import (
    PARAMETER,
    KernelReading,
    Source,
    symbol_of,
    variable_of,
)
from tilewright.lowering.ptx.parsing.names import Names
from tilewright.lowering.ptx.parsing.reader import constant_bits
from tilewright.lowering.ptx.parsing.statements import (
    NAME,
    PtxError,
    PtxStatement,
    statements,
    without_comments,
)

_FUNCTION = re.compile(rf"\.func\s*(?:\(([^)]*)\)\s*)?({NAME})\s*(?:\(([^)]*)\))?", re.DOTALL)

_NO_NUMBER = re.compile(r"(?<![\w.$%])\d{40,}")
"""No number of 64 bits is near so many digits. PTX ISA 4.5."""
_LARGEST = 1 << 30
"""Bytes: a variable's content is kept as a constant of the module."""


def read_module(text: str, name: str = "<string>", line_offset: int = 0) -> ModuleOp:
    """The module of a PTX text, each op at its line. Raises PtxError for what is no PTX, and for
    what is not read here."""
    reading = _ModuleReading(text, name, line_offset)
    return ModuleOp([*reading.variables, *reading.kernels()])


class _ModuleReading:
    def __init__(self, text: str, name: str, line_offset: int):
        self._scope = Names()
        self._callees: dict[str, Callee] = {}
        self._entries: list[tuple[PtxStatement, Sequence[PtxStatement]]] = []
        self.variables: list[GlobalOp] = []
        plain = without_comments(text)
        if (number := _NO_NUMBER.search(plain)) is not None:
            what = f"expected a number of at most 64 bits, got one of {len(number[0])} digits"
            raise PtxError(what, number.start())
        starts = [0, *(end.end() for end in re.finditer("\n", plain))]
        self._source = Source(StringAttr(name), starts, line_offset)
        self._add(statements(plain))

    def kernels(self) -> Iterator[EntryOp]:
        """The kernels."""
        for head, body in self._entries:
            yield KernelReading(self._source, head, body, self._scope, self._callees).entry()

    def _add(self, following: Iterator[PtxStatement]) -> None:
        for statement in following:
            match statement.kind:
                case "line" if statement.name == ".target":
                    self._target(statement)
                case "declaration":
                    self._variable(statement)
                case "function":
                    self._function(statement, following)
                case "line":
                    pass
                case _:
                    raise PtxError(
                        "expected a kernel, a function or a variable", statement.position
                    )

    def _target(self, statement: PtxStatement) -> None:
        name = statement.text.partition(",")[0].strip()
        try:
            limit = shared_memory_limit(target(name))
        except TargetError as error:
            raise PtxError(str(error), statement.position) from error
        self._source = replace(self._source, shared_limit=limit)

    def _variable(self, statement: PtxStatement) -> None:
        if (match := variable_of(statement)) is None:
            return
        symbol = symbol_of(match, statement.position)
        self._scope.names[symbol.name] = symbol
        if symbol.space in ("global", "const"):
            if symbol.size is None:
                raise PtxError(f"expected the size of {symbol.name}", statement.position)
            if symbol.size > _LARGEST:
                what = f"expected a variable of at most {_LARGEST} bytes, got {symbol.size}"
                raise PtxError(what, statement.position)
            content = symbol.content = self._content(statement, match, symbol.size)
            octets = DenseIntOrFPElementsAttr.from_list(
                TensorType(i8, [symbol.size]), list(content)
            )
            op = GlobalOp(
                StringAttr(symbol.name), symbol.align, octets, constant=symbol.space == "const"
            )
            op.location = self._source.location(statement.position)
            self.variables.append(op)

    def _content(self, statement: PtxStatement, match: re.Match[str], size: int) -> bytes:
        """The bytes of a variable before a kernel runs."""
        type_, content = match["type"], b""
        if not type_[1:].isdigit():
            what = f"expected a type of numbers, such as .b32, got .{type_}"
            raise PtxError(what, statement.position)
        for word in filter(None, re.split(r"[{},\s]+", match["content"] or "")):
            if (bits := constant_bits(word, type_)) is None:
                raise PtxError(f"expected constants of .{type_}, got {word}", statement.position)
            width = int(type_[1:])
            content += (bits % (1 << width)).to_bytes(width // 8, "little")
        if len(content) > size:
            what = f"expected at most {size} bytes of constants, got {len(content)}"
            raise PtxError(what, statement.position)
        return content.ljust(size, b"\0")

    def _function(self, head: PtxStatement, following: Iterator[PtxStatement]) -> None:
        body, depth = list[PtxStatement](), 0
        for statement in following:
            if statement.kind == "brace":
                depth += 1 if statement.text == "{" else -1
            if depth == 0:
                break
            if depth > 1 or statement.kind != "brace" or body:
                body.append(statement)
        text = f"{head.name} {head.text}"
        if ".entry" in text:
            self._entries.append((head, body))
            return
        match = _FUNCTION.search(text)
        if match is None:
            raise PtxError("expected the name of a function behind .func", head.position)
        names = [
            parameter["name"]
            for some in (match[1], match[3])
            for one in (some or "").split(",")
            if (parameter := PARAMETER.fullmatch(one.strip())) is not None
        ]
        self._callees[match[2]] = Callee(match[2], names, body)
