"""Every instruction of the lattice: by row, and by mnemonic."""

from collections.abc import Sequence
from functools import cache, lru_cache

from tilewright.dialects.cute_nvgpu.atoms import lookup
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import canonical_wgmma
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.ptx.parsing.spellings import normal, on_shared
from tilewright.tools.instructions import matrix_copy, mma, plain, tmem, umma, wgmma, wmma
from tilewright.tools.instructions.listing import Listing, Lists

_KNOWN_MNEMONICS = 1 << 14

KINDS = (mma, wmma, wgmma, umma, matrix_copy, plain, tmem)


@cache
def lattice() -> tuple[Listing, ...]:
    """Every row of the lattice."""
    return tuple(row for kind in KINDS for row in kind.listings())


@cache
def listings() -> dict[str, Listing]:
    """The row of every mnemonic of the lattice."""
    return {mnemonic: row for row in lattice() for mnemonic in row.mnemonics}


@lru_cache(_KNOWN_MNEMONICS)
def listing(mnemonic: str) -> Listing | None:
    """The row of a mnemonic, of those too that tables have no list of."""
    return listings().get(mnemonic) or plain.unlisted(mnemonic, _known)


def _known(mnemonic: str) -> tuple[Listing, Lists] | None:
    row = listing(canonical(mnemonic))
    return None if row is None else (row, row.lists(canonical(mnemonic)))


def runs(mnemonic: str, arch: str | None) -> bool:
    """True where the target, or one or other, where it is None, has the mnemonic."""
    row = listing(mnemonic)
    return row is not None and (arch is None or target(arch).supports(row.target))


@cache
def legal_mnemonics(arch: str | None) -> frozenset[str]:
    """Every mnemonic that the target runs; of the whole lattice where it is None."""
    if arch is None:
        return frozenset(listings())
    chip = target(arch)
    return frozenset(mnemonic for mnemonic, row in listings().items() if chip.supports(row.target))


def section(mnemonic: str) -> str:
    """The section of the PTX ISA that a mnemonic is of."""
    return "" if (row := listing(mnemonic)) is None else row.section


def operand_forms(mnemonic: str) -> Sequence[OperandForm]:
    """The operands of a mnemonic of the lattice, in PTX's order; of several lists the first."""
    return operand_lists(mnemonic)[0]


@cache
def operand_lists(mnemonic: str) -> Lists:
    """Every list of operands that a mnemonic of the lattice takes."""
    row = listing(mnemonic)
    return () if row is None else row.lists(mnemonic)


def canonical(mnemonic: str) -> str:
    """The spelling that the lattice uses: `.shared::cta` is PTX's long name of `.shared`, and what
    may be left out is there."""
    if mnemonic.startswith("wgmma."):
        return canonical_wgmma(mnemonic)
    if mnemonic.startswith("tcgen05.") or listing(mnemonic) is not None:
        return mnemonic
    if (spelled := normal(on_shared(mnemonic) or mnemonic)) in listings():
        return spelled
    if "shared::cta" in mnemonic:
        words = mnemonic.split(".")
        mnemonic = ".".join("shared" if word == "shared::cta" else word for word in words)
    return lookup.canonical(mnemonic) if mnemonic.startswith("mma.") else normal(mnemonic)
