"""Every instruction of the lattice: by row, and by mnemonic."""

import re
from collections.abc import Sequence
from functools import cache

from tilewright.dialects.cute_nvgpu.atoms import lookup
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import canonical_wgmma
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import OperandForm
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.lowering.ptx.parsing.spellings import SIGNED_SELP, normal
from tilewright.tools.instructions import matrix_copy, mma, plain, tmem, umma, wgmma, wmma
from tilewright.tools.instructions.listing import Listing, Lists

KINDS = (mma, wmma, wgmma, umma, matrix_copy, plain, tmem)


@cache
def lattice() -> tuple[Listing, ...]:
    """Every row of the lattice."""
    return tuple(row for kind in KINDS for row in kind.listings())


@cache
def listings() -> dict[str, Listing]:
    """The row of every mnemonic of the lattice."""
    return {mnemonic: row for row in lattice() for mnemonic in row.mnemonics}


@cache
def legal_mnemonics(arch: str | None) -> frozenset[str]:
    """Every mnemonic that the target runs; of the whole lattice where it is None."""
    if arch is None:
        return frozenset(listings())
    chip = target(arch)
    return frozenset(mnemonic for mnemonic, row in listings().items() if chip.supports(row.target))


def operand_forms(mnemonic: str) -> Sequence[OperandForm]:
    """The operands of a mnemonic of the lattice, in PTX's order; of several lists the first."""
    return operand_lists(mnemonic)[0]


@cache
def operand_lists(mnemonic: str) -> Lists:
    """Every list of operands that a mnemonic of the lattice takes."""
    return listings()[mnemonic].lists(mnemonic)


def canonical(mnemonic: str) -> str:
    """The spelling that the lattice uses: `.shared::cta` is PTX's long name of `.shared`, and what
    may be left out is there."""
    if mnemonic.startswith("wgmma."):
        return canonical_wgmma(mnemonic)
    if mnemonic.startswith("tcgen05.") or mnemonic in listings():
        return mnemonic
    if (spelled := normal(re.sub(*SIGNED_SELP, mnemonic))) in listings():
        return spelled
    if "shared::cta" in mnemonic:
        words = mnemonic.split(".")
        mnemonic = ".".join("shared" if word == "shared::cta" else word for word in words)
    return lookup.canonical(mnemonic) if mnemonic.startswith("mma.") else normal(mnemonic)
