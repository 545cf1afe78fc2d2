"""Variables in memory, as the text declares them. PTX ISA 5.4."""

import re
from collections.abc import Callable
from dataclasses import field

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    LocationAttr,
    StringAttr,
    TensorType,
    i8,
)
from xdsl.ir import Attribute

from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.module_variables import GlobalOp
from tilewright.lowering.ptx.parsing.names import Names, Symbol
from tilewright.lowering.ptx.parsing.reader import constant_bits
from tilewright.lowering.ptx.parsing.statements import NAME, PtxError, PtxStatement

_VARIABLE = re.compile(
    rf"(?:\.(?:extern|visible|weak|common)\s+)*\.(?P<space>shared|global|const|local|param)"
    rf"(?:::\w+)?\s*(?:\.align\s+(?P<align>\d+)\s+)?\.(?P<type>\w+)\s+(?P<name>{NAME})\s*"
    r"(?P<extents>(?:\[\s*\d*\s*\]\s*)*)(?:=\s*(?P<content>.*))?",
    re.DOTALL,
)
_ADDRESS = re.compile(rf"(?P<generic>generic\()?(?P<name>{NAME})(?(generic)\))(?P<offset>\+\d+)?")
"""A name, generic or of its own space, and bytes behind it. PTX ISA 5.4.2."""
_LARGEST = 1 << 30
"""Bytes: a variable's content is kept as a constant of the module."""


@frozen
class ModuleVariables:
    """The variables that the kernels of a module share, those that bodies declare too, and what is
    in each before one runs."""

    ops: list[GlobalOp] = field(default_factory=list[GlobalOp])
    contents: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def declare(
        self, statement: PtxStatement, scope: Names, location: Callable[[int], LocationAttr], *,
        inside: bool = False,
    ) -> bool:  # fmt: skip
        """Make a variable known, of a module or `inside` of a body, where its name is one of many;
        False where the statement declares none. Raises PtxError."""
        if (match := _variable_of(statement)) is None:
            return False
        symbol = _symbol_of(match, statement.position)
        scope.names[symbol.name] = symbol
        if symbol.space not in ("global", "const"):
            if match["content"]:
                what = f"expected content of module variables alone, got that of {symbol.name}"
                raise PtxError(what, statement.position)
            return True
        if inside:
            symbol.name = f"{symbol.name}_{statement.position}"
        if symbol.size is None:
            raise PtxError(f"expected the size of {symbol.name}", statement.position)
        if symbol.size > _LARGEST:
            what = f"expected a variable of at most {_LARGEST} bytes, got {symbol.size}"
            raise PtxError(what, statement.position)
        names = dict[str, Attribute]()
        content = self.contents[symbol.name] = _content(statement, match, symbol.size, scope, names)
        octets = DenseIntOrFPElementsAttr.from_list(TensorType(i8, [symbol.size]), list(content))
        is_constant = symbol.space == "const"
        op = GlobalOp(StringAttr(symbol.name), symbol.align, octets, constant=is_constant,
                      names=DictionaryAttr(names) if names else None)  # fmt: skip
        op.location = location(statement.position)
        self.ops.append(op)
        return True


def _symbol_of(match: re.Match[str], position: int) -> Symbol:
    """The variable of a declaration."""
    bytes_ = max(int(re.sub(r"\D", "", match["type"].removesuffix("x2")) or 8) // 8, 1)
    bytes_ *= 2 if match["type"].endswith("x2") else 1
    size: int | None = bytes_
    for extent in re.findall(r"\[\s*(\d*)\s*\]", match["extents"]):
        size = None if not extent or size is None else size * int(extent)
    return Symbol(match["space"], match["name"], size, int(match["align"] or bytes_), position)


def _variable_of(statement: PtxStatement) -> re.Match[str] | None:
    """The parts of the declaration of a variable in memory."""
    return _VARIABLE.fullmatch(f"{statement.name} {statement.text}".strip())


def _content(
    statement: PtxStatement, match: re.Match[str], size: int, scope: Names,
    names: dict[str, Attribute],
) -> bytes:  # fmt: skip
    """The bytes of a variable before a kernel runs, and in `names` the variables whose addresses
    are added to them."""
    type_, content = match["type"], b""
    if not re.fullmatch(r"[bsuf](8|16|32|64|128)", type_):
        what = f"expected a type of numbers, such as .b32, got .{type_}"
        raise PtxError(what, statement.position)
    for word in filter(None, re.split(r"[{},\s]+", match["content"] or "")):
        address = _ADDRESS.fullmatch(word)
        named = scope.find(address["name"]) if address and type_[1:] == "64" else None
        bits: int | None
        if address and isinstance(named, Symbol) and named.space == "func":
            bits = named.position
        elif (
            address and isinstance(named, Symbol)
            and (named.space == "global" or (named.space == "const" and address["generic"]))
        ):  # fmt: skip
            bits = int(address["offset"] or 0)
            names[str(len(content) // 8)] = StringAttr(named.name)
        else:
            bits = constant_bits(word, type_)
        if bits is None:
            raise PtxError(f"expected constants of .{type_}, got {word}", statement.position)
        width = int(type_[1:])
        content += (bits % (1 << width)).to_bytes(width // 8, "little")
    if len(content) > size:
        what = f"expected at most {size} bytes of constants, got {len(content)}"
        raise PtxError(what, statement.position)
    return content.ljust(size, b"\0")
