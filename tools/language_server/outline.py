"""The parts of a text as an editor lists and colours them."""

import re
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr

from tilewright.tools.language_server.name_index import NameIndex, Range

KINDS = ("comment", "string", "variable", "function", "type", "decorator", "keyword", "number")
"""The kinds of tokens of IR, in the order of `_TOKENS`."""
_TOKENS = re.compile(
    r"(//[^\n]*)"
    r'|("(?:[^"\\\n]|\\.)*")'
    r"|([%^][\w$.-]+(?:#\d+)?)"
    r"|(@[\w$.-]+)"
    r"|(![\w$.-]+|\b(?:[iuf]|bf|si|ui|tf)\d+\b|\bindex\b)"
    r"|(#[\w$.-]+)"
    r"|(\b[a-z_]\w*\.[\w.]+)"
    r"|(\b\d[\w.]*)"
)
_ENTRY = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol of a text: its name, where that is, and all that it names."""

    name: str
    at: Range
    whole: Range


def symbols(text: str, name: str) -> list[Symbol]:
    """The symbols that ops of IR define, or the functions of PTX, in order."""
    if name.endswith(".ptx"):
        return [Symbol(one[1], one.span(1), one.span()) for one in _ENTRY.finditer(text)]
    index = NameIndex.of(text, name)
    listed: list[Symbol] = []
    for whole, op in index.operations:
        defined = op.get_attr_or_prop("sym_name")
        if isinstance(defined, StringAttr):
            start = text.find(f"@{defined.data}", *whole)
            at = (start, start + len(defined.data) + 1) if start >= 0 else whole
            listed.append(Symbol(defined.data, at, whole))
    return sorted(listed, key=lambda symbol: symbol.whole)


def tokens(text: str, name: str) -> list[tuple[int, int, int]]:
    """Where each token begins and ends, and the number of its kind; none of PTX."""
    if name.endswith(".ptx"):
        return []
    return [(*match.span(), (match.lastindex or 1) - 1) for match in _TOKENS.finditer(text)]
