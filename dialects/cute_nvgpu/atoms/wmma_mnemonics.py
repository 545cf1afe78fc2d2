"""How `wmma` mnemonics are read. PTX ISA 9.7.14.4.

The syntax blocks have layouts, shape and state space in this order, the examples of the same
sections have the shape first; ptxas takes them in any order.
"""

from __future__ import annotations

import re

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES

_ALIGNED = "sync.aligned"
_ORDER = re.compile(
    r"(?P<layout>row|col)|(?P<shape>m\d+n\d+k\d+)|(?P<space>global|shared(?:::cta)?)"
)
_ORDERED = ("layout", "shape", "space")

_MMA = re.compile(
    r"wmma\.mma(?:\.(?P<bit_op>\w+)\.popc)?\.sync\.aligned\.(?P<al>row|col)\.(?P<bl>row|col)"
    r"\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)(?:\.(?P<rounding>r[nzmp]))?"
    r"\.(?P<d>\w+)(?:\.(?P<a>\w+)\.(?P<b>\w+))?\.(?P<c>\w+?)(?P<satfinite>\.satfinite)?"
)


def canonical_wmma(mnemonic: str) -> str:
    """The mnemonic with layouts, shape and state space in the order of the syntax blocks."""
    head, aligned, rest = mnemonic.partition(f".{_ALIGNED}.")
    words = rest.split(".")
    kinds = [_kind(word) for word in words]
    first = next((i for i, kind in enumerate(kinds) if kind is None), len(words))
    ordered = sorted(range(first), key=lambda i: _ORDERED.index(kinds[i] or ""))
    return head + aligned + ".".join([*(words[i] for i in ordered), *words[first:]])


def _kind(word: str) -> str | None:
    match = _ORDER.fullmatch(word)
    return None if match is None else match.lastgroup


def read_wmma(mnemonic: str) -> re.Match[str]:
    """The parts of a canonical `wmma.mma`, which may name no legal atom.

    Raises AtomError where it is no such mnemonic, or has an unknown element type.
    """
    match = _MMA.fullmatch(mnemonic)
    if match is None:
        raise AtomError(
            "expected wmma.mma{.BITOP.popc}.sync.aligned.ALAYOUT.BLAYOUT.SHAPE{.ROUNDING}.DTYPE"
            f"{{.ATYPE.BTYPE}}.CTYPE{{.satfinite}}, got '{mnemonic}'"
        )
    for group in "dabc":
        if match[group] not in (None, *ELEMENT_TYPES):
            legal = ", ".join(ELEMENT_TYPES)
            raise AtomError(f"expected element types of {legal}, got {match[group]}")
    return match
