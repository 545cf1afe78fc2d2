"""Why a PTX mnemonic is illegal, and the legal one nearest to it.

A mnemonic is read as words between dots: its instruction, then qualifiers. Two mnemonics of one
instruction are the nearer the more words they share, the more so at the same place (counted from
either end), where the same operands are there; among equals the numbers in the words decide.
"""

from __future__ import annotations

import difflib
import re
from functools import cache

from tilewright.dialects.cute_nvgpu.atom import AtomError
from tilewright.dialects.cute_nvgpu.lookup import parse
from tilewright.dialects.cute_nvgpu.matrix_copy import matrix_copies
from tilewright.dialects.cute_nvgpu.targets import target
from tilewright.tools.command_atoms import legal_mnemonics, listings, undocumented

_NUMBER = re.compile(r"\d+")
_LONGEST_WORD = 64  # no instruction comes near it; difflib's time grows with the square
_CLOSE = 0.75  # a misspelling: mmma is mma, but fma is not


def canonical(mnemonic: str) -> str:
    """The spelling that the lattice uses: `.shared::cta` is PTX's long name of `.shared`."""
    if "::" not in mnemonic or mnemonic.startswith("mma"):
        return mnemonic
    return ".".join("shared" if word == "shared::cta" else word for word in mnemonic.split("."))


def why_illegal(mnemonic: str, arch: str | None) -> str | None:
    """Why the target (or the lattice, where it is None) has no such mnemonic, and the nearest
    that it has; None where it is legal."""
    wanted, legal = canonical(mnemonic), legal_mnemonics(arch)
    if wanted in legal:
        return None
    row = listings().get(wanted)
    if row is None:
        reason = _no_such(wanted) + _undocumented(wanted, arch)
    else:
        reason = f"{mnemonic} requires {row.target.at_least}, got {arch} (PTX ISA {row.section})"
    found = _nearest(wanted, legal)
    if found is None or found in reason:
        return reason
    where = "" if arch is None else f" on {arch}"
    return f"{reason}; nearest legal mnemonic{where}: {found}"


def _undocumented(mnemonic: str, arch: str | None) -> str:
    """A remark where ptxas takes the mnemonic for that target nevertheless."""
    row = undocumented().get(mnemonic)
    if row is None or (arch is not None and not target(arch).supports(row.target)):
        return ""
    return f" (undocumented: ptxas takes it, PTX ISA {row.section} does not have it)"


def _no_such(mnemonic: str) -> str:
    """Why the lattice has no such mnemonic."""
    if mnemonic.startswith("mma."):
        try:
            parse(mnemonic)
        except AtomError as error:
            return str(error)
    return _first_unexpected(mnemonic.split("."))


def _first_unexpected(words: list[str]) -> str:
    """The first word that no mnemonic of the lattice has there, and what they have."""
    following = [each.split(".") for each in listings()]
    for place, word in enumerate(words):
        matching = [each for each in following if each[place : place + 1] == [word]]
        if not matching:
            return _expected(words[:place], following, _spelled(word, place))
        following = matching
    return _expected(words, following, "the end")


def _expected(prefix: list[str], following: list[list[str]], got: str) -> str:
    place = len(prefix)
    choices = sorted(
        {_spelled(each[place], place) if place < len(each) else "the end" for each in following}
    )
    text = " or ".join([", ".join(choices[:-1]), choices[-1]] if len(choices) > 1 else choices)
    if not prefix:
        return f"expected an instruction of the lattice ({text}), got {got}"
    return f"expected {text} after '{'.'.join(prefix)}', got {got}"


def _spelled(word: str, place: int) -> str:
    return f".{word}" if place else f"'{word}'"


def _nearest(mnemonic: str, legal: frozenset[str]) -> str | None:
    """The nearest of `legal` that is of the same instruction; None where there is none such."""
    family = _families(legal).get(_instruction(mnemonic), [])
    if not family:
        return None
    wanted, numbers, form = _features(mnemonic), _numbers(mnemonic), _form(mnemonic)
    scored = [((len(form ^ _form(each)), -len(wanted & features)), each)
              for each, features in family]  # fmt: skip
    best = min(score for score, _ in scored)
    return min(
        (each for score, each in scored if score == best),
        key=lambda each: (_apart(_numbers(each), numbers), each),
    )


@cache
def _families(legal: frozenset[str]) -> dict[str, list[tuple[str, frozenset[str]]]]:
    """The mnemonics, each with its features, by instruction; copies as we emit them, with
    `.shared`."""
    families: dict[str, list[tuple[str, frozenset[str]]]] = {}
    generic = {name for name, copy in matrix_copies().items() if not copy.space}
    for each in sorted(legal - generic):
        families.setdefault(each.partition(".")[0], []).append((each, _features(each)))
    return families


def _instruction(mnemonic: str) -> str:
    """The instruction that the mnemonic names, also where it is misspelt."""
    first = mnemonic.partition(".")[0]
    known = _families(legal_mnemonics(None))
    if first in known:
        return first
    return next(
        iter(difflib.get_close_matches(first[:_LONGEST_WORD], known, n=1, cutoff=_CLOSE)), first
    )


def _features(mnemonic: str) -> frozenset[str]:
    """Its words, with and without their places; without them they count twice."""
    words = mnemonic.split(".")
    return frozenset(words).union(
        (f"any.{word}" for word in words),
        (f"{place}.{word}" for place, word in enumerate(words)),
        (f"-{place}.{word}" for place, word in enumerate(reversed(words))),
    )


@cache
def _form(mnemonic: str) -> frozenset[str]:
    """The words that change which operands there are."""
    return frozenset(
        word for word in mnemonic.split(".") if word.startswith(("sp", "block_scale", "kind::"))
    )


def _numbers(mnemonic: str) -> list[int]:
    return [int(number[:9]) for number in _NUMBER.findall(mnemonic)]


def _apart(one: list[int], other: list[int]) -> int:
    return sum(abs(x - y) for x, y in zip(one, other, strict=False))
