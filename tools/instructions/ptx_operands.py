"""Operands as PTX writes them, taken apart: `{%r0, %r1}, [%rd0+16], %r2, 0x1`.

Names of registers are free: which type one was declared with is not known here. Constants are
literals; constant expressions are not read. PTX ISA 4.4, 4.5, 6.1 and 6.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Kind = Literal["vector", "address", "register", "sink", "integer", "float", "other"]


@dataclass(frozen=True, slots=True)
class Written:
    """An operand as it was written; a vector has items, an integer a value."""

    kind: Kind
    text: str
    items: tuple[Written, ...] = ()
    value: int = 0


_KNOWN_TEXTS = 1 << 14
_COMMA = re.compile(r",(?![^{}]*\})")
_STATEMENT = re.compile(r"([^\s{\[;]++)\s*+([^;]*+)(;?)\s*")

_NAME = r"(?:[A-Za-z][\w$]*|[%$_][\w$]+)(?:\.[\w$]+)*"
_INTEGER = r"[-+]?\s*(?:0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}|0[0-7]{0,22}|[1-9][0-9]{0,19})U?"
_FLOAT = r"[-+]?(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}"
_SCALARS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("register", re.compile(_NAME, re.ASCII)),
    ("integer", re.compile(_INTEGER, re.ASCII)),
    ("sink", re.compile("_")),
    ("address", re.compile(rf"\[\s*{_NAME}\s*(?:\+\s*{_INTEGER}\s*)*\]", re.ASCII)),
    ("float", re.compile(_FLOAT, re.ASCII)),
)


def split(line: str) -> tuple[str, tuple[Written, ...] | None] | None:
    """The mnemonic of an instruction and its operands: None where there are none and no `;`
    either, the mnemonic standing alone. None for a line that is no instruction."""
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
        items = tuple(_scalar(item.strip()) for item in text[1:-1].split(","))
        return Written("vector", text, items)
    return _scalar(text)


@lru_cache(_KNOWN_TEXTS)
def _scalar(text: str) -> Written:
    for kind, pattern in _SCALARS:
        if pattern.fullmatch(text):
            return Written(kind, text, value=_value(text) if kind == "integer" else 0)
    return Written("other", text)


def _value(text: str) -> int:
    """Of an integer literal: decimal, hexadecimal, binary or octal."""
    digits = text.lstrip("-+ \t").rstrip("U")
    if digits[1:2] in "xX" and len(digits) > 2:
        value = int(digits[2:], 16)
    elif digits[1:2] in "bB" and len(digits) > 2:
        value = int(digits[2:], 2)
    else:
        value = int(digits, 8 if digits.startswith("0") else 10)
    return -value if text.startswith("-") else value
