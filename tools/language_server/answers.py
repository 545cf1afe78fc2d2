"""The answers of the language server about a text, made in a process of their own."""

import re

from tilewright.tools.language_server.complete import complete
from tilewright.tools.language_server.diagnose import diagnose
from tilewright.tools.language_server.hover import hover
from tilewright.tools.language_server.name_index import NameIndex
from tilewright.tools.language_server.ptx_statements import PtxText


def definition(text: str, name: str, offset: int) -> tuple[int, int] | None:
    """Where the name at a place of a text is defined: a value, a block, a symbol or an alias of
    IR; a label, a register, a variable or a function of PTX."""
    words = re.finditer(r"[%@^!#]?[\w$.-]+" if not name.endswith(".ptx") else r"[\w$%]+", text)
    word = next((match for match in words if match.start() <= offset <= match.end()), None)
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


ANSWERS = {"diagnose": diagnose, "hover": hover, "definition": definition, "complete": complete}

diagnose("", "", "sm_90a")  # so that all it needs is imported before anybody asks
