"""Mutants of texts and of bytes: a seed gives the same mutant every time."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|[%@#!^][\w.$-]+|0x[0-9a-fA-F]+|\d+\.\d+(?:[eE][+-]?\d+)?|\d+'
    r"|[A-Za-z_][\w.$]*|->|::|\n[ \t]*|[ \t]+|."
)

# Numbers and words at the edges of what is meant.
NUMBERS = (
    "0", "1", "-1", "2", "3", "7", "8", "15", "16", "31", "32", "33", "63", "64", "128", "129",
    "255", "256", "1000", "1024", "4096", "65535", "65536", "2147483647", "2147483648",
    "-2147483648", "4294967296", "9223372036854775807", "9223372036854775808",
    "100000000000000000000", "9" * 5000, "0x7f800000", "0xffffffffffffffffff", "1.0", "1e400",
    "-0.0", "2.5e-1",
)  # fmt: skip
WORDS = (
    "", "?", "_", "*", "²", "\x00", "é", "\ud800", '"', "'", "{", "}", "(", ")", "<", ">", "[", "]",
    ",", ":", "=", "->", "f16", "f32", "f64", "bf16", "i1", "i8", "i32", "i64", "index", "none",
    "banana", "tf32", "f8E4M3FN", "f8E5M2", "f4E2M1FN", "memref<4xf32>", "vector<4xf32>",
    '!cute.layout<"(4,8):(1,4)">', '"(4,?):(1,?)"', "unit", "true", "false", "dense<0>", "@nobody",
    "%nothing", "^nowhere",
)  # fmt: skip

Edit = Callable[[random.Random, list[str], Sequence[str]], None]


def tokens(text: str) -> list[str]:
    """The text in tokens, spaces included: joined they are the text."""
    return _TOKEN.findall(text)


def _meaningful(words: list[str]) -> list[int]:
    return [index for index, word in enumerate(words) if word.strip()] or [0]


def _delete(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    start = rng.choice(_meaningful(words))
    del words[start : start + rng.choice((1, 1, 1, 2, 4, 12))]


def _duplicate(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    start = rng.choice(_meaningful(words))
    words[start:start] = words[start : start + rng.choice((1, 1, 3, 9))]


def _swap(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    one, other = rng.choice(_meaningful(words)), rng.choice(_meaningful(words))
    words[one], words[other] = words[other], words[one]


def _replace(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    words[rng.choice(_meaningful(words))] = rng.choice(others)


def _replace_alike(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    """Another token of the same kind: a value for a value, a type for a type."""
    place = rng.choice(_meaningful(words))
    alike = [word for word in others if word[:1] == words[place][:1]]
    words[place] = rng.choice(alike or list(others))


def _number(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    numbers = [index for index, word in enumerate(words) if word[:1].isdigit()]
    words[rng.choice(numbers or _meaningful(words))] = rng.choice(NUMBERS)


def _word(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    words[rng.choice(_meaningful(words))] = rng.choice(WORDS)


def _string(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    """A string without its end, or with one character changed."""
    strings = [index for index, word in enumerate(words) if len(word) > 2 and word[0] == '"']
    if not strings:
        return _word(rng, words, others)
    place = rng.choice(strings)
    word = words[place]
    at = rng.randrange(1, len(word))
    words[place] = rng.choice(
        (word[:-1], word[1:], word[:at], word[:at] + rng.choice("?,():0²\\") + word[at + 1 :])
    )
    return None


def _lines(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    """A line dropped, written twice, or moved."""
    lines = "".join(words).split("\n")
    start = rng.randrange(len(lines))
    line = lines.pop(start) if rng.random() < 0.7 else lines[start]
    if rng.random() < 0.6:
        lines.insert(rng.randrange(len(lines) + 1), line)
    words[:] = tokens("\n".join(lines))


def _truncate(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    del words[rng.choice(_meaningful(words)) :]


def _nearby(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    """Another token of the same kind from the same text: values and types that it has."""
    place = rng.choice([i for i, word in enumerate(words) if word[0] in '%!#@"'] or [0])
    alike = [word for word in words if word[0] == words[place][0] and word != words[place]]
    words[place] = rng.choice(alike or [words[place]])


def _scaled(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    """A number doubled, halved, or off by one; those inside of strings too."""
    numbers = [index for index, word in enumerate(words) if re.search(r"\d", word[:400])]
    if not numbers:
        return
    place = rng.choice(numbers)
    number = rng.choice(list(re.finditer(r"\d+", words[place][:400])))
    value = int(number[0][:18])
    other = rng.choice((value * 2, value // 2, value + 1, max(value - 1, 0), value * 4, 0, 1))
    words[place] = words[place][: number.start()] + str(other) + words[place][number.end() :]


EDITS: tuple[Edit, ...] = (
    _delete, _duplicate, _swap, _replace, _replace, _replace_alike, _replace_alike, _replace_alike,
    _number, _number, _number, _word, _string, _lines, _truncate,
)  # fmt: skip
GENTLE: tuple[Edit, ...] = (_nearby, _nearby, _scaled, _scaled, _scaled, _lines)
"""Edits after which a text may well parse."""

Followers = Mapping[str, Sequence[str]]


def followers(texts: Iterable[str]) -> Followers:
    """For each token those that stand behind it somewhere, spaces left out."""
    behind: dict[str, dict[str, None]] = {}
    for text in texts:
        words = [word for word in tokens(text) if word.strip()]
        for word, following in pairwise(words):
            behind.setdefault(word, {})[following] = None
    return {word: tuple(others) for word, others in behind.items()}


def _in_context(rng: random.Random, words: list[str], behind: Followers) -> None:
    """Another token that stands somewhere behind the one before it."""
    places = _meaningful(words)
    at = rng.randrange(len(places))
    before = words[places[at - 1]]
    words[places[at]] = rng.choice(behind.get(before) or (words[places[at]],))


def mutant(
    rng: random.Random, text: str, others: Sequence[str], behind: Followers | None = None
) -> str:
    """The text after one to four edits, mostly gentle ones; `others` are tokens of the
    whole corpus, `behind` says which of them follow which."""
    words = tokens(text)
    edits = rng.choice((EDITS, GENTLE, GENTLE))
    for _ in range(rng.choice((1, 1, 1, 2, 2, 4))):
        if behind and edits is GENTLE and rng.random() < 0.4:
            _in_context(rng, words, behind)
        else:
            rng.choice(edits)(rng, words, others)
        words = words or [" "]
    return "".join(words)


def mutant_bytes(rng: random.Random, data: bytes) -> bytes:
    """The bytes after one to eight edits: bits flipped, runs filled, cut, doubled, truncated."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        if not changed:
            break
        place, run = rng.randrange(len(changed)), rng.choice((1, 1, 2, 4, 16, 200))
        match rng.randrange(5):
            case 0:
                changed[place] ^= 1 << rng.randrange(8)
            case 1:
                changed[place : place + run] = bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF))]) * run
            case 2:
                del changed[place : place + run]
            case 3:
                changed[place:place] = changed[place : place + run]
            case _:
                del changed[place:]
    return bytes(changed)
