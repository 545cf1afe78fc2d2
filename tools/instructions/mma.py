"""`mma`, dense and sparse, plain and block-scaled, and `wmma.mma`."""

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.atoms.atom import atoms_of
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.atoms.operands import mma_operands
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, WMMA_MMA, MmaRow
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS
from tilewright.tools.instructions.listing import Listing
from tilewright.tools.instructions.mma_explained import explain


def listings() -> Iterator[Listing]:
    """One of every row."""
    return map(_listing, (*MMA_ROWS, *WMMA_MMA))


def _listing(row: MmaRow) -> Listing:
    return Listing.of(
        row,
        row.shape,
        tuple(dict(zip(OPERANDS, types, strict=True)) for types in row.element_types()),
        f"{multiplicands(row.multiplicands)} -> {_pairs(row.accumulators)}",
        (_qualifiers(row), _modifiers(row)),
        (atom.mnemonic for atom in atoms_of(row)),
        lambda mnemonic: [mma_operands(parse(mnemonic))],
        lambda mnemonic, lists: explain(parse(mnemonic), *lists),
    )


def multiplicands(pairs: tuple[tuple[str, str], ...]) -> str:
    """The types of a and b: `f16,f16`, or `s8|u8,s8|u8` where each may be either."""
    first = tuple(dict.fromkeys(a for a, _ in pairs))
    if set(pairs) == {(a, b) for a in first for b in first}:
        return ",".join(["|".join(first)] * 2)
    return _pairs(pairs)


def _pairs(pairs: tuple[tuple[str, str], ...]) -> str:
    return " | ".join(",".join(pair) for pair in pairs)


def _qualifiers(row: MmaRow) -> Iterator[str]:
    if row.sparsity is not None:
        yield row.sparsity
    if row.kind is not None:
        yield f"kind::{row.kind}"
    if row.scale is not None:
        yield f"scale_vec::{row.scale.vector}X"
        yield row.scale.type
    if row.counting:
        yield row.counting


def _modifiers(row: MmaRow) -> Iterator[str]:
    if len(row.majors) > 1:
        yield from map(".".join, row.majors)
    yield from row.modifiers
