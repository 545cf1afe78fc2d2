"""`mma`, dense and sparse, plain and block-scaled, and `wmma.mma`."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse
from tilewright.dialects.cute_nvgpu.lattice import MMA_ROWS, WMMA_MMA, MmaRow
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS
from tilewright.tools.instructions.listing import Listing
from tilewright.tools.instructions.mma_explained import explain
from tilewright.tools.instructions.operand_forms import (
    Constant,
    OperandForm,
    Register,
    Registers,
    Selectors,
)

_SPARSE_STORAGE = "9.7.14.6.1"
_BLOCK_SCALING = "9.7.14.3"


def listings() -> Iterator[Listing]:
    """One of every row."""
    return map(_listing, (*MMA_ROWS, *WMMA_MMA))


def _listing(row: MmaRow) -> Listing:
    return Listing(
        row.op,
        row.shape,
        tuple(dict(zip(OPERANDS, types, strict=True)) for types in row.element_types()),
        f"{multiplicands(row.multiplicands)} -> {_pairs(row.accumulators)}",
        tuple(_qualifiers(row)),
        tuple(_modifiers(row)),
        row.target,
        row.ptx_version,
        row.section,
        tuple(atom.mnemonic for atom in atoms_of(row)),
        lambda mnemonic: tuple(operands(parse(mnemonic))),
        lambda mnemonic: explain(parse(mnemonic), operands(parse(mnemonic))),
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


def operands(atom: MmaAtom) -> Iterator[OperandForm]:
    """The operands of an MMA, in PTX's order."""
    section = atom.row.section
    yield Registers("d", *atom.registers("D"), section, target=True)
    for operand in OPERANDS[:3]:
        yield Registers(operand.lower(), *atom.registers(operand), section)
    legal = iter([selector.legal for selector in atom.selectors])
    if "E" in atom.inputs:
        yield Register("e", _SPARSE_STORAGE)
        yield Constant("sparsity selector", next(legal), _SPARSE_STORAGE)
    if "SFA" in atom.inputs:
        for side in ("a", "b"):
            yield Register(f"scale-{side}-data", _BLOCK_SCALING)
            names = f"{{byte-id-{side}, thread-id-{side}}}"
            yield Selectors(names, (next(legal), next(legal)), _BLOCK_SCALING)
