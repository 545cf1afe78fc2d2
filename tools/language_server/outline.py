"""The parts of a text as an editor lists and colours them."""

import re
from keyword import kwlist

from xdsl.dialects.builtin import StringAttr

from tilewright.dialects.frozen import frozen
from tilewright.tools.language_server.name_index import NameIndex, Range

KINDS = ("comment", "string", "variable", "function", "type", "decorator", "keyword", "number")
"""The kinds of tokens."""
_STRING = r'"(?:[^"\\\n]|\\.)*"'
_TOKENS = {
    "mlir": {
        "comment": r"//[^\n]*",
        "string": _STRING,
        "variable": r"[%^][\w$.-]+(?:#\d+)?",
        "function": r"@[\w$.-]+",
        "type": r"![\w$.-]+|\b(?:[iuf]|bf|si|ui|tf)\d+\b|\bindex\b",
        "decorator": r"#[\w$.-]+",
        "keyword": r"\b[a-z_]\w*\.[\w.]+",
        "number": r"\b\d[\w.]*",
    },
    "ptx": {
        "comment": r"//[^\n]*|/\*[\s\S]*?\*/",
        "string": _STRING,
        "variable": r"%[\w$.]+",
        "function": r"\$[\w$]+|(?<=\.entry )[\w$]+|(?<=\.func )[\w$]+",
        "keyword": r"\b[a-z]\w*(?:\.[\w:]+)*(?=[ ;])",
        "type": r"\.(?:bf|tf|[busf])\d+(?:x\d)?\b|\.pred\b",
        "decorator": r"\.[a-z]\w*",
        "number": r"\b\d\w*",
    },
    "py": {
        "comment": r"#[^\n]*",
        "string": r'"""[\s\S]*?"""|' + _STRING + r"|'(?:[^'\\\n]|\\.)*'",
        "function": r"(?<=def )\w+",
        "decorator": r"@[\w.]+",
        "keyword": rf"\b(?:{'|'.join(kwlist)})\b",
        "number": r"\b\d[\w.]*",
    },
}
LANGUAGES = {
    suffix: ("|".join(f"({pattern})" for pattern in rows.values()), tuple(rows))
    for suffix, rows in _TOKENS.items()
}
"""Of a language, by the suffix of its files, the pattern of its tokens, which is one in JavaScript
too, and the kinds of its groups."""
_ENTRY = re.compile(r"\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)")


@frozen
class OutlineItem:
    """A symbol of a text: its name, where that is, and all that it names."""

    name: str
    at: Range
    whole: Range


def symbols(text: str, name: str) -> list[OutlineItem]:
    """The symbols that ops of IR define, or the functions of PTX, in order."""
    if name.endswith(".ptx"):
        return [OutlineItem(one[1], one.span(1), one.span()) for one in _ENTRY.finditer(text)]
    index = NameIndex.of(text, name)
    listed: list[OutlineItem] = []
    for whole, op in index.operations:
        defined = op.get_attr_or_prop("sym_name")
        if isinstance(defined, StringAttr):
            start = text.find(f"@{defined.data}", *whole)
            at = (start, start + len(defined.data) + 1) if start >= 0 else whole
            listed.append(OutlineItem(defined.data, at, whole))
    return sorted(listed, key=lambda symbol: symbol.whole)


def tokens(text: str, name: str) -> list[tuple[int, int, int]]:
    """Where each token begins and ends, and the number of its kind."""
    pattern, kinds = LANGUAGES.get(name.rpartition(".")[2], LANGUAGES["mlir"])
    return [
        (*match.span(), KINDS.index(kinds[(match.lastindex or 1) - 1]))
        for match in re.finditer(pattern, text)
    ]
