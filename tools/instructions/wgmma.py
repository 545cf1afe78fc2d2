"""`wgmma.mma_async`, dense and sparse."""

from collections.abc import Iterator
from dataclasses import replace

from tilewright.dialects.cute_nvgpu.atoms.operands import wgmma_operands
from tilewright.dialects.cute_nvgpu.atoms.wgmma import FragmentKind
from tilewright.dialects.cute_nvgpu.atoms.wgmma_lookup import parse_wgmma, wgmmas_of
from tilewright.dialects.cute_nvgpu.lattice import WGMMA_ROWS, WgmmaRow
from tilewright.tools.instructions.listing import Listing, Lists
from tilewright.tools.instructions.mma import multiplicands
from tilewright.tools.instructions.wgmma_explained import explain


def listings() -> Iterator[Listing]:
    """One of every row."""
    return map(_listing, WGMMA_ROWS)


def _listing(row: WgmmaRow) -> Listing:
    m, _, k = row.shape(row.ns[0])
    counting = f"{row.bit_op}.popc"
    return Listing.of(
        row,
        (m, row.ns, k),
        tuple(dict(zip("ABD", types, strict=True)) for types in row.element_types()),
        f"{multiplicands(row.multiplicands)} -> {' | '.join(row.accumulators)}",
        (
            (*(("sp",) if row.sparse else ()), *((counting,) if row.bit_op else ())),
            ("satfinite",) if row.satfinite else (),
        ),
        (atom.mnemonic for atom in wgmmas_of(row)),
        _lists,
        lambda mnemonic, lists: explain(parse_wgmma(mnemonic), *lists),
    )


def _lists(mnemonic: str) -> Lists:
    """The operands with A in shared memory, and in registers."""
    kinds: tuple[FragmentKind, ...] = "ss", "rs"
    return [wgmma_operands(replace(parse_wgmma(mnemonic), frag_kind=kind)) for kind in kinds]
