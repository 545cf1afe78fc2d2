"""Variables in memory, as the text declares them. PTX ISA 5.4."""

import re
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    LocationAttr,
    StringAttr,
    TensorType,
    i8,
)
from xdsl.ir import Attribute

from tilewright.dialects.fields import number
from tilewright.dialects.frozen import factory, frozen
from tilewright.dialects.ptx.functions import FUNCTIONS
from tilewright.dialects.ptx.module_variables import GlobalOp
from tilewright.lowering.ptx.parsing.names import Names, Symbol
from tilewright.lowering.ptx.parsing.reader import Variables, constant_bits
from tilewright.lowering.ptx.parsing.statements import NAME, PtxError, PtxStatement

_VARIABLES = re.compile(
    r"(?:\.(?:extern|visible|weak|common)\s+)*\.(?P<space>shared|global|const|local|param)(?:::\w+)?"
    r"\s*(?:\.attribute\s*\([^)]*\)\s*)?(?:\.align\s+(?P<align>\d+)\s+)?(?:\.v(?P<count>[248])\s+)?"
    r"\.(?P<type>\w+)\s+(?P<names>[^.].*)",
    re.DOTALL,
)
_NAMED = re.compile(
    rf"(?P<name>{NAME})\s*(?P<extents>(?:\[\s*\d*\s*\]\s*)*)"
    r"(?:=\s*(?P<content>\{(?:[<>!=]=|[^=])*\}|[^,{}]*))?(?:,\s*|$)"
)
_ADDRESS = re.compile(
    rf"(?P<generic>generic\()?(?P<name>{NAME})(?(generic)\))(?:\+(?P<offset>.*))?"
)
"""A name, generic or of its own space, and bytes behind it. PTX ISA 5.4.2."""
_BYTE_OF_ADDRESS = re.compile(r"(\w+)\((.*)\)")
"""A mask that says which byte of an address, and the address. PTX ISA 5.4.2."""
_MASKS = [0xFF << 8 * place for place in range(8)]
_LARGEST = 1 << 30
"""Bytes: a variable's content is kept as a constant of the module."""


@frozen
class ModuleVariables:
    """The variables that the kernels of a module share, those that bodies declare too, their
    names, and which are `shared` memory of functions; `location` is that of a position."""

    location: Callable[[int], LocationAttr]
    ops: list[GlobalOp] = factory(list)
    names: set[str] = factory(set)
    shared: set[Symbol] = factory(set)

    def declare(self, statement: PtxStatement, scope: Names, *, inside: bool = False) -> bool:
        """Make variables known, of a module or `inside` of a body, where their names are one of
        many; False where the statement declares none. Raises PtxError."""
        match = _VARIABLES.fullmatch(f"{statement.name} {statement.text}".strip())
        if match is None:
            return False
        names, end = match["names"], 0
        while (named := _NAMED.match(names, end)) is not None:
            self._declare(statement, match, named, scope, inside=inside)
            end = named.end()
        if end < len(names):
            raise PtxError(
                f"expected the name of a variable, got {names[end:]}", statement.position
            )
        return True

    def share(self, memory: Variables, *, every: bool) -> None:
        """Let `every` address in shared memory, or that of a variable which a function has or,
        beside such, a launch says the size of, be one of a variable of the module."""
        for address in memory.addresses[:]:
            symbol, offset, op = address
            if not every and symbol not in self.shared and (symbol.size or not self.shared):
                continue
            name = StringAttr(symbol.name)
            if symbol not in self.shared:
                self.shared.add(symbol)
                type_ = TensorType(i8, [symbol.size or memory.limit])
                octets = DenseIntOrFPElementsAttr.from_list(type_, [0])
                self.ops.append(made := GlobalOp(name, symbol.align, octets, shared=True))
                made.location = self.location(symbol.position)
            op.properties |= {"offset": number(offset), "variable": name}
            memory.addresses.remove(address)

    def _declare(
        self, statement: PtxStatement, match: re.Match[str], named: re.Match[str], scope: Names,
        *, inside: bool,
    ) -> None:  # fmt: skip
        symbol = _symbol_of(match, named, statement.position)
        scope.names[symbol.name] = symbol
        if inside and symbol.space in ("global", "const", "shared"):
            symbol.name = f"{symbol.name}_{statement.position}"
        words = [*filter(None, map(str.strip, re.split(r"[{},]", named["content"] or "")))]
        if symbol.space not in ("global", "const"):
            if words:
                what = f"expected content of module variables alone, got that of {symbol.name}"
                raise PtxError(what, statement.position)
            return
        if inside and symbol.name in self.names:
            return  # A function may be read again.
        if symbol.size is None and words and named["extents"].count("[") == 1:
            symbol.size = symbol.element * len(words)
        if symbol.size is None:
            raise PtxError(f"expected the size of {symbol.name}", statement.position)
        if symbol.size > _LARGEST:
            what = f"expected a variable of at most {_LARGEST} bytes, got {symbol.size}"
            raise PtxError(what, statement.position)
        names, functions = dict[str, Attribute](), dict[str, Attribute]()
        content = _content(statement, match["type"], words, symbol.size, scope, names, functions)
        self.names.add(symbol.name)
        octets = DenseIntOrFPElementsAttr.from_list(TensorType(i8, [symbol.size]), list(content))
        is_constant = symbol.space == "const"
        op = GlobalOp(symbol.name, symbol.align, octets, constant=is_constant,
                      names=DictionaryAttr(names) if names else None)  # fmt: skip
        if functions:
            op.attributes[FUNCTIONS] = DictionaryAttr(functions)
        op.location = self.location(statement.position)
        self.ops.append(op)


def _symbol_of(match: re.Match[str], named: re.Match[str], position: int) -> Symbol:
    """A variable of a declaration."""
    bytes_ = max(int(re.sub(r"\D", "", match["type"].removesuffix("x2")) or 8) // 8, 1)
    bytes_ *= 2 if match["type"].endswith("x2") else 1
    size: int | None = bytes_ * int(match["count"] or 1)
    for extent in re.findall(r"\[\s*(\d*)\s*\]", named["extents"]):
        size = None if not extent or size is None else size * int(extent)
    align = int(match["align"] or bytes_ * int(match["count"] or 1))
    return Symbol(match["space"], named["name"], size, align, position, bytes_)


def _content(
    statement: PtxStatement, type_: str, words: Sequence[str], size: int, scope: Names,
    names: dict[str, Attribute], functions: dict[str, Attribute],
) -> bytes:  # fmt: skip
    """The bytes of a variable before a kernel runs, in `names` the variables whose addresses
    are added to them, and in `functions` those whose addresses are in it."""
    content = b""
    if not re.fullmatch(r"[bsuf](8|16|32|64|128)", type_):
        what = f"expected a type of numbers, such as .b32, got .{type_}"
        raise PtxError(what, statement.position)
    left = [*words]
    while left:
        word = left.pop(0)
        width = int(type_[1:])
        if type_ == "u8" and _BYTE_OF_ADDRESS.fullmatch(word):
            word, width = _whole_address([word, *left[:7]], len(content), statement), 64
            del left[:7]
        address = _ADDRESS.fullmatch(word)
        named = scope.find(address["name"]) if address and width == 64 else None
        bits: int | None
        if address and isinstance(named, Symbol) and named.space == "func":
            bits = named.position
            functions[str(len(content) // 8)] = StringAttr(named.name)
        elif (
            address and isinstance(named, Symbol)
            and (named.space == "global" or (named.space == "const" and address["generic"]))
        ):  # fmt: skip
            bits = constant_bits(address["offset"] or "0", "b64")
            names[str(len(content) // 8)] = StringAttr(named.name)
        else:
            bits = constant_bits(word, type_)
        if bits is None:
            raise PtxError(f"expected constants of .{type_}, got {word}", statement.position)
        content += (bits % (1 << width)).to_bytes(width // 8, "little")
    if len(content) > size:
        what = f"expected at most {size} bytes of constants, got {len(content)}"
        raise PtxError(what, statement.position)
    return content.ljust(size, b"\0")


def _whole_address(words: Sequence[str], place: int, statement: PtxStatement) -> str:
    """The address whose eight bytes these are. Raises PtxError for other bytes of addresses."""
    parts = [match.groups() for match in map(_BYTE_OF_ADDRESS.fullmatch, words) if match]
    masks, addresses = ([part[at] for part in parts] for at in range(2))
    if (
        place % 8
        or [constant_bits(mask, "b64") for mask in masks] != _MASKS
        or len({*addresses}) > 1
    ):
        what = (
            f"expected all bytes of an address in an aligned word, the lowest first, got {words[0]}"
        )
        raise PtxError(what, statement.position)
    return addresses[0]
