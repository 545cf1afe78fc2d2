"""The answers of the language server about a text, made in a process of their own."""

import re

from tilewright.tools.language_server.complete import complete
from tilewright.tools.language_server.diagnose import diagnose
from tilewright.tools.language_server.hover import hover
from tilewright.tools.language_server.name_index import NameIndex
from tilewright.tools.language_server.outline import symbols, tokens
from tilewright.tools.language_server.ptx_statements import PtxText


def definition(text: str, name: str, offset: int) -> tuple[int, int] | None:
    """Where the name at a place of a text is defined: a value, a block, a symbol or an alias of
    IR; a label, a register, a variable or a function of PTX."""
    word = _word(text, name, offset)
    if word is None:
        return None
    if name.endswith(".ptx"):
        return PtxText(text).declaration(word[0], offset)
    if word[0][0] in "!#":
        alias = re.search(rf"^{re.escape(word[0])}(?=\s*=)", text, re.MULTILINE)
        return None if alias is None else alias.span()
    index = NameIndex.of(text, name)
    if word[0][0] == "@":
        return index.symbol(word[0][1:])
    use = index.definition(offset)
    return None if use is None else use.at


def _word(text: str, name: str, offset: int) -> re.Match[str] | None:
    """The name at a place of a text."""
    words = re.finditer(_NAME if not name.endswith(".ptx") else r"[\w$%]+", text)
    return next((match for match in words if match.start() <= offset <= match.end()), None)


def references(text: str, name: str, offset: int) -> list[tuple[int, int]]:
    """Where the name at a place of IR is defined and used: a value or a block, a symbol or an
    alias. There are none of PTX."""
    word = _word(text, name, offset)
    if word is None or name.endswith(".ptx") or word[0][0] not in "%^@!#":
        return []
    if word[0][0] in "@!#":
        spans = [(start, end) for start, end, _ in tokens(text, name)]
        return [span for span in spans if text[slice(*span)] == word[0]]
    index = NameIndex.of(text, name)
    own = index.definition(offset)
    spans = {use.at for use in index.uses if own is not None and use.definition is own}
    # A use of one of several results, %x#1, has the name of all.
    names = (_NAME.match(text, start) for start, _ in sorted(spans))
    return [match.span() for match in names if match is not None]


def rename(text: str, name: str, offset: int, new: str) -> list[tuple[int, int]] | None:
    """The places of a name, without the sign in front of it; None where the new name is none, or
    another thing's already."""
    spans = references(text, name, offset)
    signs = {text[start] for start, _ in spans}
    legal = re.fullmatch(r"[A-Za-z_$][\w$.-]*", new) is not None
    taken = any(match[0] in {sign + new for sign in signs} for match in re.finditer(_NAME, text))
    return [(start + 1, end) for start, end in spans] if legal and not taken else None


_NAME = re.compile(r"[%@^!#]?[\w$.-]+")

ANSWERS = {
    "diagnose": diagnose, "hover": hover, "definition": definition, "complete": complete,
    "references": references, "rename": rename, "symbols": symbols, "tokens": tokens,
}  # fmt: skip

diagnose("", "", "sm_90a")  # so that all it needs is imported before anybody asks
