"""True where ptxas takes a mnemonic that is illegal here, and the rule of the PTX ISA that it
breaks.

Beside the forms of the table, ptxas takes the qualifiers of an instruction in any order: only
types, layouts and state spaces count by their own order.
"""

from functools import cache, lru_cache

from tilewright.dialects.cute_nvgpu.lattice.elements import ELEMENT_TYPES, SCALE_TYPES
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.cute_nvgpu.lattice.undocumented import UNDOCUMENTED, Undocumented
from tilewright.tools.instructions.catalogue import canonical, legal_mnemonics, listings

_CLASSES = (
    {*ELEMENT_TYPES, *SCALE_TYPES},
    {"row", "col"},
    {"shared", "global"},
    {"xor", "and", "popc"},
    {"ws", "sp"},
)
"""Words whose order among themselves has a meaning."""

_NAME_WORDS = {"wgmma": 2, "fence": 2, "tcgen05": 2}
"""How many words name the instruction and stand first, where that is more than one."""


_KNOWN_ORDERS = 1 << 10


def remark(mnemonic: str, arch: str | None) -> str | None:
    """`undocumented: …` where ptxas takes the illegal mnemonic for that target; for one or other
    where it is None."""
    row = _find(mnemonic, arch)
    if row is not None:
        return f"undocumented: ptxas takes it, but {row.rule}, PTX ISA {row.section}"
    ordered = in_order(mnemonic)
    if ordered is not None and _takes(ordered, arch):
        return "undocumented: ptxas takes its qualifiers in any order"
    return None


def _find(mnemonic: str, arch: str | None) -> Undocumented | None:
    """The row of the table that the mnemonic and the target are of."""
    for row in UNDOCUMENTED:
        plain = row.plain_form(mnemonic)
        if plain is None:
            continue
        if row.targets is None:
            taken = _takes(plain, arch)
        else:
            taken = arch is None or target(arch).supports(row.targets)
        if taken:
            return row
    return None


def _takes(mnemonic: str, arch: str | None) -> bool:
    """True where ptxas takes it, documented or not."""
    return canonical(mnemonic) in legal_mnemonics(arch) or _find(mnemonic, arch) is not None


@lru_cache(_KNOWN_ORDERS)
def in_order(mnemonic: str) -> str | None:
    """The mnemonic of the lattice that has the same words in another order, or None."""
    return _by_words().get(_words(mnemonic))


@cache
def _by_words() -> dict[tuple[str, ...], str]:
    return {_words(mnemonic): mnemonic for mnemonic in listings()}


def _words(mnemonic: str) -> tuple[str, ...]:
    """Its words: its name, those whose order counts by class, and the others sorted."""
    words = mnemonic.split(".")
    named = _NAME_WORDS.get(words[0], 1)
    name, rest = words[:named], words[named:]
    classes = [[word for word in rest if word in group] for group in _CLASSES]
    others = sorted(word for word in rest if not any(word in group for group in _CLASSES))
    return (*name, *(word for group in classes for word in (*group, "")), *others)
