"""`tcgen05.mma`: dense, sparse, block-scaled and weight-stationary."""

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.atoms.operands import umma_operands
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaFragmentKind
from tilewright.dialects.cute_nvgpu.atoms.umma_mnemonic import (
    UmmaMnemonic,
    collectors,
    mnemonics_of,
    parse_mnemonic,
    spelled_rows,
)
from tilewright.dialects.cute_nvgpu.lattice import UMMA_ROWS, UmmaRow
from tilewright.dialects.cute_nvgpu.lattice.sm100 import Spelling, UmmaKind
from tilewright.tools.instructions.listing import Listing, Lists
from tilewright.tools.instructions.mma import multiplicands
from tilewright.tools.instructions.umma_explained import explain


def listings() -> Iterator[Listing]:
    """One of every op, kind and spelling of its block scaling."""
    kinds: dict[tuple[str, UmmaKind], None] = {(row.op, row.kind): None for row in UMMA_ROWS}
    for op, kind in kinds:
        for words, rows in spelled_rows(op, kind).items():
            spelling = next(spelling for spelling in rows[0].spellings if spelling.words == words)
            yield _listing(op, kind, spelling, rows)


def _listing(op: str, kind: UmmaKind, spelling: Spelling, rows: tuple[UmmaRow, ...]) -> Listing:
    tiles = [tile for row in rows for tile in row.tiles]
    ks = tuple(dict.fromkeys(row.k for row in rows))
    return Listing(
        op,
        (
            tuple(sorted({tile.m for tile in tiles})),
            tuple(sorted({n for tile in tiles for n in tile.ns})),
            ks[0] if len(ks) == 1 else ks,
        ),
        tuple(_types(rows)),
        "; ".join(dict.fromkeys(map(_types_text, rows))),
        tuple(_qualifiers(rows[0], spelling)),
        tuple(_modifiers(rows[0])),
        spelling.target,
        spelling.ptx_version,
        rows[0].section,
        tuple(
            mnemonic.text for mnemonic in mnemonics_of(op, kind) if mnemonic.spelling == spelling
        ),
        lambda mnemonic: _lists(parse_mnemonic(mnemonic)),
        lambda mnemonic, lists: explain(parse_mnemonic(mnemonic), lists),
    )


def _types(rows: tuple[UmmaRow, ...]) -> Iterator[dict[str, str]]:
    seen: set[tuple[str, ...]] = set()
    for row in rows:
        for types in row.element_types():
            key = (*types, "" if row.scale is None else row.scale.type)
            if key not in seen:
                seen.add(key)
                scale = {} if row.scale is None else {"SF": row.scale.type}
                yield dict(zip("ABD", types, strict=True)) | scale


def _types_text(row: UmmaRow) -> str:
    scaled = "" if row.scale is None else f" by {row.scale.type}"
    return f"{multiplicands(row.multiplicands)}{scaled} -> {' | '.join(row.accumulators)}"


def _qualifiers(row: UmmaRow, spelling: Spelling) -> Iterator[str]:
    if row.ws:
        yield "ws"
    if row.sparse:
        yield "sp"
    if row.ws:
        yield "cta_group::1"
    yield f"kind::{row.kind}"
    yield from (word for word in spelling.words.split(".") if word not in ("", "block_scale"))


def _modifiers(row: UmmaRow) -> Iterator[str]:
    if not row.ws:
        yield "cta_group::1"
        yield "cta_group::2"
    if row.scale is None and not row.ws:
        yield "ashift"
    for usage in collectors(ws=row.ws):
        yield f"collector::{usage}"


def _lists(said: UmmaMnemonic) -> Lists:
    """The lists of operands: A by descriptor or in tensor memory, with lanes that are not written
    or without. A is in tensor memory where it is shifted."""
    row = said.rows[0]
    places: tuple[UmmaFragmentKind, ...] = ("ts",) if said.ashift else ("ss", "ts")
    lanes = (False,) if row.ws or row.scale is not None else (False, True)
    return tuple(umma_operands(said, place, masked=masked) for masked in lanes for place in places)
