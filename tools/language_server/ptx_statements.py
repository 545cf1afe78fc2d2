"""The statements of a PTX text, and where its names are declared."""

import re
from collections.abc import Iterator
from functools import cached_property

from tilewright.dialects.cute_nvgpu.lattice.targets import TargetError, target
from tilewright.dialects.frozen import frozen

_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_STATEMENT = re.compile(r"\s*([^;{}\s](?:[^;{}]|\{[^{};]*\})*)(;|[{}]|\Z)")
_LABEL = re.compile(r"([\w$.%]+)\s*:(?!:)\s*")
_TARGET = re.compile(r"^\s*\.target\s+(\w+)", re.MULTILINE)


@frozen
class Statement:
    """An instruction or a directive: where it stands, and its text in one line with its `;`."""

    start: int
    end: int
    text: str

    @property
    def mnemonic_start(self) -> int:
        """Where the mnemonic begins, behind a guard."""
        guard = re.match(r"@!?\S+\s+", self.text)
        return self.start + (0 if guard is None else guard.end())


class PtxText:
    """A PTX text taken apart."""

    def __init__(self, text: str):
        self.text = text
        # Comments and strings become spaces: places stay.
        self.code = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)

    @property
    def target(self) -> str | None:
        """The target that `.target` names, if it is one."""
        named = _TARGET.search(self.code)
        try:
            return None if named is None else target(named[1]).name
        except TargetError:
            return None

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """All of them, in order, without labels."""
        return tuple(self._statements())

    def _statements(self) -> Iterator[Statement]:
        place = 0
        # Directives such as `.version 8.0` end with their line, not by a semicolon.
        code = re.sub(r"^[ \t]*\.(version|target|address_size)\b.*$",
                      lambda match: " " * len(match[0]), self.code, flags=re.MULTILINE)  # fmt: skip
        while (match := _STATEMENT.search(code, place)) is not None:
            start, place = match.start(1), match.end()
            while (label := _LABEL.match(code, start, match.end(1))) is not None:
                start = label.end()
            written = code[start : match.end(1)].rstrip()
            if written:
                semicolon = ";" if match[2] == ";" else ""
                yield Statement(start, start + len(written), " ".join(written.split()) + semicolon)

    @property
    def instructions(self) -> Iterator[Statement]:
        """The statements that are no directives."""
        return (one for one in self.statements if one.text[0] != "." and one.text.endswith(";"))

    def statement(self, offset: int) -> Statement | None:
        """The statement at that place."""
        around = (one for one in self.statements if one.start <= offset <= one.end)
        return next(around, None)

    def declaration(self, name: str, offset: int) -> tuple[int, int] | None:
        """Where a label, a register, a variable or a function is declared: the last such before
        that place, or the first after it."""
        stem = name.rstrip("0123456789")
        words = [rf"{re.escape(name)}(?![\w$])"]
        if stem != name:
            words.append(rf"{re.escape(stem)}<\d+>")
        either = "|".join(words)
        declared = rf"^[ \t]*({re.escape(name)})\s*:(?!:)|^[ \t]*\.[^;{{}}]*?(?<![\w$%.])({either})"
        places = [
            match.span(1 if match[1] else 2)
            for match in re.finditer(declared, self.code, re.MULTILINE)
        ]
        before = [place for place in places if place[0] <= offset]
        return before[-1] if before else next(iter(places), None)
