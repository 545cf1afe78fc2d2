"""`ldmatrix` and `stmatrix`."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.lattice import LDMATRIX, STMATRIX, MatrixCopyRow
from tilewright.tools.instructions.listing import HEADING, Listing
from tilewright.tools.operand_forms import Address, OperandForm, Registers
from tilewright.tools.render_table import LABEL, line, table


def listings() -> Iterator[Listing]:
    """One of every row."""
    return map(_listing, (LDMATRIX, STMATRIX))


def _listing(row: MatrixCopyRow) -> Listing:
    return Listing(
        row.op,
        (8, 8),
        ({"matrix": "b16"},),
        "b16",
        (),
        (*(f"x{number}" for number in row.numbers), "trans"),
        row.target,
        row.ptx_version,
        row.section,
        tuple(row.mnemonic(number, trans) for trans in (False, True) for number in row.numbers),
        lambda mnemonic: _operands(row, *_choices(mnemonic)),
        lambda mnemonic: _explain(row, *_choices(mnemonic)),
    )


def _choices(mnemonic: str) -> tuple[int, bool]:
    """How many matrices, and whether they are transposed."""
    words = mnemonic.split(".")
    return int(words[4][1:]), "trans" in words


def _operands(row: MatrixCopyRow, number: int, transposed: bool) -> tuple[OperandForm, ...]:
    loads = row is LDMATRIX
    registers = Registers("r", "b32", number, row.section, target=loads)
    address = Address("p", row.section)
    return (registers, address) if loads else (address, registers)


def _explain(row: MatrixCopyRow, number: int, transposed: bool) -> Iterator[str]:
    turned = ", transposed on the way" if transposed else ""
    matrices = "one 8x8 matrix" if number == 1 else f"{number} 8x8 matrices"
    verb, where = ("load", "from") if row is LDMATRIX else ("store", "to")
    yield line("computes", f"{verb} {matrices} of 16-bit elements {where} shared memory{turned}")
    spelled = (form.spelling for form in _operands(row, number, transposed))
    yield line("operands", ", ".join(spelled))
    yield line("op", f"cute_nvgpu.{row.op}{' ... trans' if transposed else ''}")
    layout = _layout(number, transposed)
    matrices = (
        "matrices",
        f"{number} x .b32",
        f"{2 * number} x b16",
        f"{layout} -> row + 8*column" + (" + 64*matrix" if number > 1 else ""),
    )
    yield from table([HEADING, matrices], LABEL - 2, "  ")
    yield line("address", "thread 8*i + r gives row r of matrix i: 16 bytes, 16-byte aligned")


def _layout(number: int, transposed: bool) -> Layout:
    """`(T32, V) -> row + 8*column + 64*matrix`, rows as they lie in shared memory."""
    group, neighbour, lane = (8, 1, 2) if transposed else (1, 8, 16)
    if number == 1:
        return Layout(((4, 8), 2), ((lane, group), neighbour))
    return Layout(((4, 8), (2, number)), ((lane, group), (neighbour, 64)))
