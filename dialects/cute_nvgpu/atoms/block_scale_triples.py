"""The (K, block size, scale type) triples of block-scaled MMAs, and their packed encoding."""

from __future__ import annotations

from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.lattice.sm100 import LONG_K, SM100_MMA_BS

Triple = tuple[int, int, str]
"""K of a dense MMA, how many elements share a scale factor, and the type of the factors."""

TRIPLES: dict[Triple, tuple[tuple[str, str], ...]] = {
    (row.k, row.scale_block, row.scale.type): row.multiplicands
    for row in SM100_MMA_BS
    if row.scale is not None and row.scale_block is not None and row.k != LONG_K
}
"""The element types (a, b) that each goes with."""


def packed_block_scale(
    k: int,
    block: int,
    *,
    a_type: str,
    b_type: str,
    c_type: str,
    sfa_type: str,
    sfb_type: str,
) -> int:
    """`k << 32 | block`, for the triples that `sm100.mma_bs` takes: 0x2000000020, 0x4000000010 and
    0x4000000020. Types are PTX names. Raises AtomError for every other combination."""
    if c_type != "f32":
        raise AtomError(f"expects c type to be Float32, got {c_type}; nearest legal: f32")
    if sfa_type != sfb_type:
        raise AtomError(
            f"expects sfa/sfb element types to be the same, got {sfa_type} and {sfb_type}; "
            f"nearest legal: {sfa_type} and {sfa_type}"
        )
    found = TRIPLES.get((k, block, sfa_type))
    if found is None or (a_type, b_type) not in found:
        legal = [each for each, pairs in TRIPLES.items() if (a_type, b_type) in pairs]
        listed = ", ".join(map(_text, legal or TRIPLES))
        raise AtomError(
            f"expects (K, block size, scale type) of {listed} for ({a_type}, {b_type}), got "
            f"{_text((k, block, sfa_type))}; nearest legal: "
            f"{_text(min(legal or TRIPLES, key=lambda each: _apart(each, (k, block, sfa_type))))}"
        )
    return k << 32 | block


def _text(triple: Triple) -> str:
    return f"({', '.join(map(str, triple))})"


def _apart(one: Triple, other: Triple) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))
