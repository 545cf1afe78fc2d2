"""Why a mnemonic is illegal, and the legal one nearest to it.

A mnemonic is read as words between dots: its instruction, then qualifiers. Two mnemonics of one
instruction are the nearer the fewer words only one of them has, above all of those that say which
operands there are (`.sp`, `.kind::`, `.block_scale`). Among equals it counts which words stand at
the same place, from either end, and at last the numbers in the words.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import parse_mnemonic
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import parse_wgmma
from tilewright.dialects.cute_nvgpu.atoms.wmma import parse_access
from tilewright.dialects.cute_nvgpu.lattice.nearest import Nearest
from tilewright.tools.instructions.catalogue import (
    canonical,
    legal_mnemonics,
    listing,
    listings,
    runs,
)
from tilewright.tools.instructions.undocumented import in_order, remark

_NUMBER = re.compile(r"\d+")
_LONGEST_WORD = 64  # no instruction comes near it; difflib's time grows with the square
_CLOSE = 0.75  # a misspelling: mmma is mma, but fma is not
_KNOWN_REASONS = 1 << 14


COMPLETE = (
    *("mma", "wmma", "wgmma", "tcgen05", "ldmatrix", "stmatrix", "movmatrix", "ld", "st"),
    "fence.proxy.async",
)
"""Instructions whose every mnemonic is known: what is not, is illegal. Of others there may be more
than are read, and those are not judged."""
_COMPLETE = tuple(f"{name}." for name in COMPLETE)


def is_judged(mnemonic: str) -> bool:
    """True where the lattice says that a mnemonic is legal or illegal: it is listed, or one of an
    instruction of which all are, in another order of words and misspelt as well."""
    wanted = canonical(mnemonic)
    if listing(wanted) is not None:
        return True
    if in_order(wanted) is not None:
        return True
    return f"{_instruction(wanted)}.{wanted.partition('.')[2]}.".startswith(_COMPLETE)


@lru_cache(_KNOWN_REASONS)
def why_illegal_mnemonic(mnemonic: str, arch: str | None) -> str | None:
    """Why the target (or the lattice, where it is None) has no such mnemonic or does not judge it,
    and the nearest that it has; None where it is legal."""
    wanted = canonical(mnemonic)
    if runs(wanted, arch):
        return None
    row = listing(wanted)
    if not is_judged(wanted):
        reason = f"not judged: tilewright has no listing of '{mnemonic}'"
    elif row is None:
        reason = _no_such(wanted)
    else:
        reason = f"{mnemonic} requires {row.target.at_least}, got {arch} (PTX ISA {row.section})"
    undocumented = remark(wanted, arch) if is_judged(wanted) else None
    if undocumented is not None:
        reason += f" ({undocumented})"
    near = nearest(wanted, arch)
    if near is None or near in reason.replace(mnemonic, ""):
        return reason
    where = "" if arch is None else f" on {arch}"
    return f"{reason}; nearest legal mnemonic{where}: {near}"


_READERS: tuple[tuple[tuple[str, ...], Callable[[str], object]], ...] = (
    (("mma.", "wmma.mma."), parse),
    (("wmma.load.", "wmma.store."), parse_access),
    (("wgmma.mma_async.",), parse_wgmma),
    (("tcgen05.mma",), parse_mnemonic),
)
"""The functions that say of mnemonics that begin so why there is none such."""


def _no_such(mnemonic: str) -> str:
    """Why the lattice has no such mnemonic."""
    if (ordered := in_order(mnemonic)) is not None:
        return f"expected the order of words of {ordered}, got '{mnemonic}'"
    for beginnings, read in _READERS:
        if mnemonic.startswith(beginnings):
            try:
                read(mnemonic)
            except AtomError as error:
                return str(error)
    return _first_unexpected(mnemonic.split("."))


class _Words(dict[str, "_Words"]):
    """The words that may follow a beginning, each with those that may follow it; "" ends one."""


@cache
def _beginnings() -> _Words:
    root = _Words()
    for mnemonic in listings():
        node = root
        for word in (*mnemonic.split("."), ""):
            node = node.setdefault(word, _Words())
    return root


def _first_unexpected(words: list[str]) -> str:
    """The first word that no mnemonic of the lattice has there, and what they have."""
    node = _beginnings()
    for place, word in enumerate(words):
        if not word or word not in node:
            return _expected(words[:place], node, _spelled(word, place))
        node = node[word]
    return _expected(words, node, "the end")


def _expected(before: list[str], following: Iterable[str], got: str) -> str:
    choices = sorted(_spelled(word, len(before)) if word else "the end" for word in following)
    text = " or ".join([", ".join(choices[:-1]), choices[-1]] if len(choices) > 1 else choices)
    if not before:
        return f"expected an instruction of the lattice ({text}), got {got}"
    return f"expected {text} after '{'.'.join(before)}', got {got}"


def _spelled(word: str, place: int) -> str:
    return f".{word}" if place else f"'{word}'"


def nearest(mnemonic: str, arch: str | None) -> str | None:
    """The nearest legal mnemonic of the same instruction; None where the target has none such."""
    if (instruction := _instruction(mnemonic)) not in _families(arch):
        return None
    numbers = _numbers(mnemonic)
    candidates = _nearest_of(arch, instruction).find(_features(mnemonic))
    return min(candidates, key=lambda candidate: (_apart(_numbers(candidate), numbers), candidate))


@cache
def _families(arch: str | None) -> dict[str, list[str]]:
    """The legal mnemonics by instruction."""
    families: dict[str, list[str]] = {}
    for mnemonic in sorted(legal_mnemonics(arch)):
        families.setdefault(mnemonic.partition(".")[0], []).append(mnemonic)
    return families


@cache
def _nearest_of(arch: str | None, instruction: str) -> Nearest[str, str]:
    return Nearest(
        ((mnemonic, _features(mnemonic)) for mnemonic in _families(arch)[instruction]), _weight
    )


def _instruction(mnemonic: str) -> str:
    """The instruction that the mnemonic names, also where it is misspelt."""
    first = mnemonic.partition(".")[0]
    known = _families(None)
    if first in known:
        return first
    return next(
        iter(difflib.get_close_matches(first[:_LONGEST_WORD], known, n=1, cutoff=_CLOSE)), first
    )


def _features(mnemonic: str) -> Iterator[str]:
    """Its words, each with which one of its like it is; and every word with its places."""
    words = mnemonic.split(".")
    last = len(words) - 1
    seen: dict[str, int] = {}
    for place, word in enumerate(words):
        seen[word] = seen.get(word, 0) + 1
        yield f"{word} {seen[word]}"
        yield f"{place}.{word}"
        yield f"-{last - place}.{word}"


_FORMS = ("sp", "ws", "block_scale", "kind::")
_WEIGHT_OF_FORM, _WEIGHT_OF_WORD = 1 << 10, 1 << 5


def _weight(feature: str) -> int:
    """A word weighs more than the places of all of them."""
    if " " not in feature:
        return 1
    return _WEIGHT_OF_FORM if feature.startswith(_FORMS) else _WEIGHT_OF_WORD


@lru_cache(_KNOWN_REASONS)
def _numbers(mnemonic: str) -> list[int]:
    return [int(number[:9]) for number in _NUMBER.findall(mnemonic)]


def _apart(one: list[int], other: list[int]) -> int:
    return sum(abs(x - y) for x, y in zip(one, other, strict=False))
