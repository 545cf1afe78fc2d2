"""True where ptxas takes a mnemonic that is illegal here, and the rule of the PTX ISA that it
breaks.

Beside the forms of the table, ptxas takes the qualifiers of an instruction in any order.
"""

from functools import cache, lru_cache

from tilewright.dialects.cute_nvgpu.lattice import accesses
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.dialects.cute_nvgpu.lattice.undocumented import UNDOCUMENTED, Undocumented
from tilewright.lowering.ptx.parsing.spellings import in_any_order
from tilewright.tools.instructions.catalogue import canonical, listings, runs

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
    return runs(canonical(mnemonic), arch) or _find(mnemonic, arch) is not None


@lru_cache(_KNOWN_ORDERS)
def in_order(mnemonic: str) -> str | None:
    """The mnemonic of the lattice that has the same words in another order, or None."""
    return _by_words().get(in_any_order(mnemonic)) or accesses.in_order(mnemonic)


@cache
def _by_words() -> dict[tuple[str, ...], str]:
    return {in_any_order(mnemonic): mnemonic for mnemonic in listings()}
