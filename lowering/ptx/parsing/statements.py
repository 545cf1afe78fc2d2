"""PTX text, taken apart into statements: declarations, labels, braces and instructions. PTX ISA 4.

Comments end at the end of their line or at `*/`. What debuggers alone read, `.section`s, is
nothing.
"""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

Kind = Literal["brace", "line", "function", "declaration", "label", "instruction"]


class PtxError(ValueError):
    """A text that is no PTX, or none that is read here: the fault, and its position in the text."""

    def __init__(self, message: str, position: int):
        super().__init__(message)
        self.message = message
        self.position = position


class PtxStatement(NamedTuple):
    """A statement and its position. `text` are an instruction's operands, what follows the name of
    a directive, a label's name, or the brace; `name` is the mnemonic or the directive, `guard` the
    predicate of an instruction, `!%p` where that is negated."""

    kind: Kind
    position: int
    name: str
    text: str = ""
    guard: str = ""


NAME = r"[A-Za-z_$%][\w$]*"
NAMES = re.compile(NAME)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_COMMENT_OR_MARK = re.compile(rf"{_COMMENT.pattern}|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
"""Marks of lines too, as few texts have: it is looked for thrice as long."""
_DIRECTIVE = re.compile(r"(\.\w+)\s*(.*?)\s*", re.DOTALL)
_SPACE = re.compile(r"[\s;]*")
_STATEMENT = re.compile(
    rf"""(?:(?P<brace>[{{}}])
    |\.(?:section\b[^{{]*\{{[^}}]*\}})
    |(?P<line>\.(?:version|target|address_size|loc|file)\b[^\n;]*);?
    |(?P<function>\.(?:(?:visible|weak|extern)\s+\.)*(?:entry|func)\b(?:\.pragma[^;{{]*;|[^{{;])*)(?=\{{)
    |(?P<declaration>\.\w[^;]*);
    |(?P<label>{NAME})\s*:(?!:)
    |(?:@\s*(?P<guard>!?\s*{NAME})\s+)?(?P<name>[a-z]\w*+(?:(?:\.|::)\w++)*+)\s*+(?P<instruction>[^;]*+);
    )[\s;]*
    """,
    re.VERBOSE | re.ASCII,
)


def without_comments(text: str) -> str:
    """The text, what is left of it where it was."""
    return (_COMMENT_OR_MARK if "#" in text else _COMMENT).sub(_blank, text)


def _blank(comment: re.Match[str]) -> str:
    text = comment[0]
    return " " * len(text) if text[1] == "/" else re.sub(r"[^\n]", " ", text)


def statements(text: str) -> Iterator[PtxStatement]:
    """The statements of a text without comments. Raises PtxError for what is none."""
    position = _SPACE.match(text).end()  # type: ignore[union-attr]  # it always matches
    for match in _STATEMENT.finditer(text, position):
        if match.start() != position:
            break
        kind = match.lastgroup
        if kind == "instruction":
            guard, name, operands = match.group("guard", "name", "instruction")
            yield PtxStatement("instruction", position, name, operands.rstrip(), guard or "")
        elif kind == "label" or kind == "brace":
            yield PtxStatement(kind, position, "", match[kind])
        elif kind is not None:
            directive: str = match[kind]
            name, rest = _DIRECTIVE.fullmatch(directive).groups()  # type: ignore[union-attr]
            yield PtxStatement(kind, position, name, rest)  # type: ignore[arg-type]
        position = match.end()
    if position < len(text):
        line = text[position:].split("\n", 1)[0].strip()
        raise PtxError(f"expected a PTX statement, got '{line}'", position)
