"""Hovers: an op and its instruction explained, a value's type, a layout's picture."""

import re
from base64 import b64encode
from contextlib import suppress
from inspect import getdoc

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.drawing import drawing_of, svg
from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute.swizzle import parse_layout
from tilewright.dialects.cute.text import LayoutParseError
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.source.parsing import default_context
from tilewright.tools.instructions.explanation import explanation
from tilewright.tools.instructions.why_mnemonic import is_judged, why_illegal_mnemonic
from tilewright.tools.language_server.name_index import NameIndex, Range
from tilewright.tools.language_server.ptx_statements import PtxText
from tilewright.tools.render_table import matrix

MOST = 1 << 10
"""Elements of a layout that a hover draws, at most."""

_WORD = re.compile(r"[%@^!#]?[\w$.:-]+")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def hover(text: str, name: str, offset: int, arch: str | None = None) -> tuple[str, Range] | None:
    """Markdown about what stands at a place of a text, and the range that it is about."""
    if name.endswith(".ptx"):
        return _of_ptx(PtxText(text), offset, arch)
    line_start = text.rfind("\n", 0, offset) + 1
    line = text[line_start:].partition("\n")[0]
    for match in _STRING.finditer(line):
        if match.start() <= offset - line_start <= match.end():
            drawn = picture(match[1])
            return None if drawn is None else (drawn, _moved(match.span(), line_start))
    for match in _WORD.finditer(line):
        if match.start() <= offset - line_start <= match.end():
            said = _of_word(match[0], text, name, offset)
            return None if said is None else (said, _moved(match.span(), line_start))
    return None


def _moved(span: Range, by: int) -> Range:
    return span[0] + by, span[1] + by


def _of_word(word: str, text: str, name: str, offset: int) -> str | None:
    """Markdown about a word of IR."""
    if word[0] in "!#":
        defined = re.search(rf"^{re.escape(word)}\s*=.*$", text, re.MULTILINE)
        return None if defined is None else _with_picture(_code(defined[0], "mlir"), defined[0])
    index = NameIndex.of(text, name)
    if word[0] == "%":
        definition = index.definition(offset)
        if definition is None:
            return None
        types = ", ".join(str(value.type) for value in definition.values)
        return _with_picture(_code(f"{word} : {types}", "mlir"), types)
    op = default_context().get_optional_op(word)
    if op is None:
        return None
    there = index.operation(offset)
    spelled = None if there is None or there.name != word else _mnemonic(there)
    said = f"**`{word}`**\n\n{getdoc(op) or ''}"
    if spelled is not None and why_illegal_mnemonic(spelled, None) is None:
        said += "\n\n" + _code("\n".join(explanation(spelled)))
    return said


def _mnemonic(op: Operation) -> str | None:
    """The instruction that an op of `cute_nvgpu` is."""
    spelled = getattr(op, "spelled", None)
    with suppress(AtomError, VerifyException, ValueError):
        return None if spelled is None else str(spelled())
    return None


def picture(text: str) -> str | None:
    """A layout in CuTe's notation as Markdown: its drawing, and its indices in columns."""
    try:
        layout = parse_layout(text)
        if layout.size() > MOST:
            return _code(f"{layout}, {layout.size()} elements, cosize {layout.cosize()}")
        drawn = drawing_of(layout)
    except (LayoutError, LayoutParseError):
        return None
    image = b64encode(svg(drawn).encode()).decode()
    return f"![{text}](data:image/svg+xml;base64,{image})\n\n{_code(matrix(drawn))}"


def _with_picture(said: str, types: str) -> str:
    """The same with the picture of the first layout that types speak of."""
    drawn = filter(None, (picture(match[1]) for match in _STRING.finditer(types)))
    return "\n\n".join([said, *list(drawn)[:1]])


def _of_ptx(ptx: PtxText, offset: int, arch: str | None) -> tuple[str, Range] | None:
    statement = ptx.statement(offset)
    if statement is None:
        return None
    match = _WORD.match(ptx.code, statement.mnemonic_start)
    if match is None or not match.start() <= offset <= match.end():
        return None
    why = why_illegal_mnemonic(match[0], ptx.target or arch)
    if why is None:
        return _code("\n".join(explanation(match[0]))), match.span()
    return (why, match.span()) if is_judged(match[0]) else None


def _code(text: str, language: str = "text") -> str:
    return f"```{language}\n{text}\n```"
