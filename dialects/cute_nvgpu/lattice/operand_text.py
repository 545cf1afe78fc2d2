"""Operands as PTX writes them, taken apart: `{%r0, %r1}, [%rd0+16], [%rd1, {%r2, 0}], %r3|%p0`.

Names of registers are free: which type one was declared with is not known here.
PTX ISA 4.4, 4.5, 6.1 and 6.4.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from tilewright.dialects.cute_nvgpu.lattice.constant_expressions import evaluate
from tilewright.dialects.frozen import frozen

Kind = Literal[
    "vector",
    "address",
    "box",
    "register",
    "sum",
    "element",
    "pair",
    "negation",
    "passed",
    "sink",
    "integer",
    "float",
    "other",
]


@frozen
class Written:
    """An operand as it was written. A vector has items; so have an address and a sum (what is in
    front of the offset), a box (the map, then the coordinates), a pair and a negation. An integer
    has a value, an address and a sum that of the offset."""

    kind: Kind
    text: str
    items: tuple[Written, ...] = ()
    value: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        """Its registers and constants in order, as the `write` of its form takes them."""
        if self.kind == "sum":
            return (self.text,)
        texts = tuple(item.text for item in self.items) or (self.text,)
        return (*texts, str(self.value)) if self.kind == "address" else texts


_KNOWN_TEXTS = 1 << 14
_COMMA = re.compile(r",(?![^{}]*\})(?![^\[\]]*\])(?![^()]*\))")

_NAME = r"(?:[A-Za-z][\w$]*|[%$_][\w$]+)(?:\.[\w$]+)*"
_STATEMENT = re.compile(rf"(?:@!?{_NAME}\s+)?([^\s{{\[;]++)\s*+([^;]*+)(;?)\s*", re.ASCII)
_REGISTER = re.compile(_NAME, re.ASCII)
_ADDRESS = re.compile(rf"\[\s*({_NAME})\s*(?:\+([^\[\]]*))?\]", re.ASCII)
_SUM = re.compile(rf"({_NAME})\s*\+([^|]*)", re.ASCII)
_BOX = re.compile(rf"\[\s*({_NAME})\s*,\s*\{{([^{{}}]*)\}}\s*\]", re.ASCII)
_ELEMENT = re.compile(rf"({_NAME})\s*\[[^\[\]]+\]", re.ASCII)
_BITS = re.compile(r"\(*0[fF][0-9a-fA-F]{8}\)*", re.ASCII)


def split(line: str) -> tuple[str, tuple[Written, ...] | None] | None:
    """The mnemonic of an instruction, guarded by a predicate or not, and its operands: None where
    there are none and no `;` either, the mnemonic standing alone. None for a line that is no
    instruction."""
    match = _STATEMENT.fullmatch(line)
    if match is None:
        return None
    mnemonic, operands, semicolon = match.groups()
    if not operands:
        return mnemonic, () if semicolon else None
    return mnemonic, read(operands.rstrip())


@lru_cache(_KNOWN_TEXTS)
def read(text: str) -> tuple[Written, ...]:
    """The operands of a list."""
    return tuple(_operand(piece.strip()) for piece in _COMMA.split(text))


def _operand(text: str) -> Written:
    if text.startswith("{") and text.endswith("}"):
        return Written("vector", text, _scalars(text[1:-1].split(",")))
    if text.startswith("["):
        return _bracketed(text)
    if (written := _scalar(text)).kind != "other":
        return written
    if text.startswith("("):
        return Written("passed", text)
    if text.startswith("!"):
        return Written("negation", text, (_scalar(text[1:].lstrip()),))
    if _ELEMENT.fullmatch(text):
        return Written("element", text)
    if "|" in text:
        return Written("pair", text, _scalars(text.split("|")))
    if (match := _SUM.fullmatch(text)) and isinstance(offset := evaluate(match[2]), int):
        return Written("sum", text, (_scalar(match[1]),), offset)
    return written


def _bracketed(text: str) -> Written:
    if match := _ADDRESS.fullmatch(text):
        offset = evaluate(match[2] or "0")
        if isinstance(offset, int):
            return Written("address", text, (_scalar(match[1]),), offset)
    if (match := _BOX.fullmatch(text)) is not None:
        return Written("box", text, _scalars([match[1], *match[2].split(",")]))
    return Written("other", text)


def _scalars(texts: Sequence[str]) -> tuple[Written, ...]:
    return tuple(_scalar(text.strip()) for text in texts)


@lru_cache(_KNOWN_TEXTS)
def _scalar(text: str) -> Written:
    if _REGISTER.fullmatch(text):
        return Written("register", text)
    if text == "_":
        return Written("sink", text)
    if isinstance(value := evaluate(text), int):
        return Written("integer", text, value=value)
    return Written("other" if value is None and not _BITS.fullmatch(text) else "float", text)


def constant(bits: int, type_: str) -> str:
    """Bits as a constant of an instruction type; `x32` are 32 bits in hexadecimal digits."""
    unsigned = bits % (1 << int(type_[1:])) if type_ != "pred" else bits
    match type_:
        case "f32":
            return f"0f{unsigned:08X}"
        case "f64":
            return f"0d{unsigned:016X}"
        case "x32":
            return f"{unsigned:#010x}"
        case _:
            return str(unsigned if type_[0] == "u" else bits)
