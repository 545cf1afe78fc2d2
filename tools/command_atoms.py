"""List the atom lattice: every tensor-core instruction, and the copies that feed them."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from functools import cache

from tilewright.dialects.cute_nvgpu.atom import atoms_of
from tilewright.dialects.cute_nvgpu.lattice import (
    CP_ASYNC,
    MATRIX_COPY_ROWS,
    MMA_ROWS,
    MOVMATRIX,
    MatrixCopyRow,
    MmaRow,
)
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS
from tilewright.dialects.cute_nvgpu.matrix_copy import copies_of, undocumented_mnemonics
from tilewright.dialects.cute_nvgpu.targets import Minimum, alternatives, target
from tilewright.tools.command_input import read_target


@dataclass(frozen=True, slots=True)
class Listing:
    """A row of the lattice as it is listed; `mnemonics` are all that it spells, in a fixed
    order, `types` the legal element types by operand, `undocumented` the mnemonics that ptxas
    takes although the PTX ISA has none such."""

    op: str
    shape: tuple[int, ...]
    types: tuple[dict[str, str], ...]
    types_text: str
    target: Minimum
    ptx_version: tuple[int, int]
    modifiers: tuple[str, ...]
    section: str
    mnemonics: tuple[str, ...]
    undocumented: tuple[str, ...] = ()


@cache
def lattice() -> tuple[Listing, ...]:
    """Every row of the lattice."""
    return (
        *map(_mma, MMA_ROWS),
        *map(_matrix_copy, MATRIX_COPY_ROWS),
        _matrix_move(),
        _async_copy(),
    )


@cache
def listings() -> dict[str, Listing]:
    """The row of every mnemonic of the lattice."""
    return {mnemonic: row for row in lattice() for mnemonic in row.mnemonics}


@cache
def undocumented() -> dict[str, Listing]:
    """The row of every mnemonic that ptxas takes although the PTX ISA has none such."""
    return {mnemonic: row for row in lattice() for mnemonic in row.undocumented}


@cache
def legal_mnemonics(arch: str | None) -> frozenset[str]:
    """Every mnemonic that the target runs; of the whole lattice where it is None."""
    if arch is None:
        return frozenset(listings())
    chip = target(arch)
    return frozenset(each for each, row in listings().items() if chip.supports(row.target))


def _mma(row: MmaRow) -> Listing:
    multiplicands = " | ".join(",".join(pair) for pair in row.multiplicands)
    accumulators = " | ".join(",".join(pair) for pair in row.accumulators)
    return Listing(
        row.op,
        row.shape,
        tuple(dict(zip(OPERANDS, types, strict=True)) for types in row.element_types()),
        f"{multiplicands} -> {accumulators} {row.counting}".rstrip(),
        row.target,
        row.ptx_version,
        row.modifiers,
        row.section,
        tuple(atom.mnemonic for atom in atoms_of(row)),
    )


def _matrix_copy(row: MatrixCopyRow) -> Listing:
    held, _, source = row.type.partition(".")
    return Listing(
        row.op,
        row.shape,
        ({"source": source, "matrix": held} if source else {"matrix": held},),
        f"{source} -> {held}" if source else held,
        row.target,
        row.ptx_version,
        (*(f"x{number}" for number in row.numbers), *(("trans",) if True in row.trans else ())),
        row.section,
        tuple(copy.mnemonic for copy in copies_of(row)),
        tuple(undocumented_mnemonics(row)),
    )


def _matrix_move() -> Listing:
    row = MOVMATRIX
    return Listing(
        "movmatrix",
        row.shape,
        ({"matrix": row.type},),
        row.type,
        row.target,
        row.ptx_version,
        ("trans",),
        row.section,
        (row.mnemonic,),
    )


def _async_copy() -> Listing:
    row = CP_ASYNC
    return Listing(
        "cp.async",
        (),
        (),
        "; ".join(f"{cache} {'|'.join(map(str, sizes))} B" for cache, sizes in row.sizes.items()),
        row.target,
        row.ptx_version,
        tuple(row.sizes),
        row.section,
        tuple(map(row.mnemonic, row.sizes)),
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--arch", metavar="TARGET", help="only what that target runs: sm_90a")
    parser.add_argument(
        "--json", action="store_true", help="a JSON list, with the mnemonics of every row"
    )


def run(options: argparse.Namespace) -> None:
    rows = lattice()
    if options.arch is not None:
        arch = read_target(options.arch)
        rows = tuple(row for row in rows if arch.supports(row.target))
    if options.json:
        print("[\n" + ",\n".join(json.dumps(_json(row)) for row in rows) + "\n]")
    else:
        print(_table(rows))


def _json(row: Listing) -> dict[str, object]:
    return {
        "op": row.op,
        "shape": row.shape,
        "types": row.types,
        "targets": [each.name for each in alternatives(row.target)],
        "ptx": version_text(row.ptx_version),
        "modifiers": row.modifiers,
        "section": row.section,
        "mnemonics": row.mnemonics,
    }


def version_text(version: tuple[int, int]) -> str:
    """`7.0`."""
    return ".".join(map(str, version))


def _table(rows: tuple[Listing, ...]) -> str:
    """One line a row below a line of headings, in columns."""
    lines = [("op", "shape", "a,b -> c,d", "target", "PTX", "modifiers", "section")]
    for row in rows:
        lines.append(
            (
                row.op,
                "x".join(map(str, row.shape)) or "-",
                row.types_text,
                row.target.name,
                version_text(row.ptx_version),
                ",".join(row.modifiers) or "-",
                row.section,
            )
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
