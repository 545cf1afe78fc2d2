"""ldmatrix, stmatrix and movmatrix assemble on the targets and versions that their rows say, and on
no others; among what the lattice leaves out, ptxas takes only what it calls undocumented."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
from covering import THOROUGH
from ptx_kernels import (
    OLDEST,
    Kernel,
    Ptxas,
    complaints,
    directives,
    gpu_of,
    instructions,
    older_target,
    older_version,
    refuse_older,
    text_of,
    with_target,
    with_version,
)

from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import MatrixCopy, copies_of, matrix_copies
from tilewright.dialects.cute_nvgpu.lattice import MATRIX_COPY_ROWS, MOVMATRIX, MatrixCopyRow
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import SPACES, MatrixMoveRow
from tilewright.dialects.cute_nvgpu.lattice.targets import TARGETS, AnyOf, Target
from tilewright.dialects.cute_nvgpu.lattice.undocumented import UNDOCUMENTED
from tilewright.dialects.ptx.matrix_copy import LdmatrixOp, MovmatrixOp, StmatrixOp
from tilewright.dialects.ptx.types import reg

Row = MatrixCopyRow | MatrixMoveRow

ROWS: tuple[Row, ...] = (*MATRIX_COPY_ROWS, MOVMATRIX)
NEWEST = (9, 0)
"""A version that has every row and every target."""
KNOWN = [each for each in TARGETS.values() if each.number >= TARGETS[OLDEST].number]
OFFSETS = (0, 32, -32)
UNDOCUMENTED_NUMBERS = (8, 16, 32, 64, 128)
"""Of matrices, that ptxas takes with any number of registers."""


def add_copies(kernel: Kernel, row: Row) -> None:
    """Every form of a row, as ops."""
    if isinstance(row, MatrixMoveRow):
        kernel.output(kernel.add(MovmatrixOp(kernel.input("b32"))))
        return
    for copy in emitted(row):
        for offset in OFFSETS:
            address = kernel.shared_address(256)
            form = {"form": copy.row.form, "trans": copy.trans}
            if row.op == "ldmatrix":
                registers = reg("b32", copy.registers)
                kernel.output(kernel.add(LdmatrixOp(address, registers, offset, **form)))
            else:
                value = kernel.input("b32", copy.registers)
                kernel.add(StmatrixOp(address, value, offset, **form))


def emitted(row: MatrixCopyRow) -> Iterator[MatrixCopy]:
    return (copy for copy in copies_of(row) if copy.space)


def mnemonics(row: Row) -> set[str]:
    if isinstance(row, MatrixMoveRow):
        return {row.mnemonic}
    return {copy.mnemonic for copy in emitted(row)}


def minimums(row: Row) -> tuple[Target, ...]:
    return row.target.targets if isinstance(row.target, AnyOf) else (row.target,)


def name(row: Row) -> str:
    return f"{row.op}.{row.form}" if isinstance(row, MatrixCopyRow) else "movmatrix"


@pytest.mark.parametrize("arch", KNOWN, ids=str)
def test_rows_assemble_exactly_where_they_say(arch: Target, ptxas: Ptxas):
    """Every target that ptxas knows runs the rows that its lattice gives it, and no other."""
    kernel = Kernel()
    for row in ROWS:
        add_copies(kernel, row)
    text = with_version(with_target(text_of(kernel), arch.name), NEWEST)
    lines = {line for op in ("ldmatrix", "stmatrix", "movmatrix") for line in
             instructions(text, op)}  # fmt: skip
    assert {line.split()[0] for line in lines} == {each for row in ROWS for each in mnemonics(row)}
    refused = set(complaints(text, ptxas(text, arch.name)))
    legal = {each for row in ROWS if arch.supports(row.target) for each in mnemonics(row)}
    assert {line for line in lines if line in refused} == {
        line for line in lines if line.split()[0] not in legal
    }


@pytest.mark.parametrize("row", ROWS, ids=name)
def test_the_text_asks_for_the_row_of_the_arch(row: Row, ptxas: Ptxas):
    """For each chip the lowest target that it runs, at its version, and no lower one; every third
    chip assembles it."""
    for place, arch in enumerate(each for each in KNOWN if each.supports(row.target)):
        kernel = Kernel()
        add_copies(kernel, row)
        text = text_of(kernel, arch=arch)
        found, version = directives(text)
        target = TARGETS[found]
        assert target.supports(row.target) and arch.supports(target)
        assert version == max(row.ptx_version, target.ptx_version)
        if THOROUGH or place % 3 == 0:
            assert complaints(text, ptxas(text, arch.name)) == {}


LOWEST = sorted(
    {(target.name, max(row.ptx_version, target.ptx_version)) for row in ROWS
     for target in minimums(row)}
)  # fmt: skip


@pytest.mark.parametrize("target, version", LOWEST)
def test_nothing_lower_will_do(target: str, version: tuple[int, int], ptxas: Ptxas):
    """Of the rows that need no more than that: none runs on less, at the version before none."""
    kernel, lowest = Kernel(), TARGETS[target]
    rows = [row for row in ROWS if lowest in minimums(row)]
    rows = [row for row in rows if max(row.ptx_version, lowest.ptx_version) == version]
    for row in rows:
        add_copies(kernel, row)
    text = text_of(kernel, arch=lowest)
    assert directives(text) == (target, version)
    assert complaints(text, ptxas(text, gpu_of(target))) == {}
    older = older_target(target)
    lowered = with_target(text, older)
    lines = set().union(*(instructions(text, name) for row in rows for name in mnemonics(row)))
    assert lines <= set(complaints(lowered, ptxas(lowered, gpu_of(older))))
    refuse_older(text, lines, ptxas)


def line(mnemonic: str, registers: int) -> str:
    """The instruction on that many registers."""
    group = "{" + ", ".join(f"%r{i}" for i in range(registers)) + "}"
    if mnemonic.startswith("stmatrix"):
        return f"{mnemonic} [%rd1], {group};"
    return f"{mnemonic} {group}, [%rd1];"


def kernel_of(lines: set[str], target: str, version: tuple[int, int] = NEWEST) -> str:
    return (
        f".version {version[0]}.{version[1]}\n.target {target}\n.address_size 64\n"
        ".visible .entry k()\n{\n.reg .b32 %r<16>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<2>;\n"
        + "\n".join(sorted(lines))
        + "\nret;\n}\n"
    )


def accepted(lines: set[str], ptxas: Ptxas, target: str) -> set[str]:
    """Which of the lines ptxas takes; some it refuses only when the others are gone."""
    refused = {""}
    while refused:
        text = kernel_of(lines, target)
        refused = set(complaints(text, ptxas(text, target)))
        lines = lines - refused
    return lines


@pytest.mark.parametrize("space", ["", "shared", "shared::cta"])
@pytest.mark.parametrize("target", ["sm_90", "sm_103a", "sm_120f"])
def test_ptxas_takes_no_copy_that_the_lattice_leaves_out(space: str, target: str, ptxas: Ptxas):
    """Every shape, count, type and number of registers; .x8 and more are what the ISA has not."""
    types = ("b8", "b16", *(f"{held}b6x16_p32" for held in ("", "b8x16.", "b4x16_p64.")),
             "b8x16.b4x16_p64")  # fmt: skip
    choices = product(
        ("ldmatrix", "stmatrix"), ("m8n8", "m8n16", "m16n8", "m16n16"),
        (1, 2, 3, 4, 8, 16, 32, 64, 128, 256),
        ("", ".trans"), types, (1, 2, 4),
    )  # fmt: skip
    where = f".{space}" if space else ""
    lines = {
        line(f"{op}.sync.aligned.{shape}.x{number}{trans}{where}.{type_}", registers)
        for op, shape, number, trans, type_, registers in choices
    }
    rows = [row for row in MATRIX_COPY_ROWS if TARGETS[target].supports(row.target)]
    spelled = [(copy, copy.row.mnemonic(copy.number, copy.trans, space)) for row in rows
               for copy in emitted(row)]  # fmt: skip
    legal = {line(mnemonic, copy.registers) for copy, mnemonic in spelled}
    undocumented = {
        line(row.mnemonic(number, trans, space), registers)
        for row in rows for number in UNDOCUMENTED_NUMBERS for trans in row.trans
        for registers in (1, 2, 4)
    }  # fmt: skip
    assert accepted(lines, ptxas, target) == legal | undocumented


@pytest.mark.parametrize("number", UNDOCUMENTED_NUMBERS)
def test_what_the_lattice_says_of_other_numbers(number: int):
    """Each stands for the form of one matrix, and is none of the lattice."""
    for row in MATRIX_COPY_ROWS:
        for trans, space in product(row.trans, ("shared", "")):
            mnemonic = row.mnemonic(number, trans, space)
            plain = {row.plain_form(mnemonic) for row in UNDOCUMENTED} - {None}
            assert plain == {row.mnemonic(1, trans, space)}
            assert mnemonic not in matrix_copies()


def test_the_long_name_of_shared_came_later(ptxas: Ptxas):
    version = SPACES["shared::cta"]
    assert version is not None
    row = MATRIX_COPY_ROWS[0]
    mnemonic = row.mnemonic(1, False, "shared::cta")
    text = kernel_of({line(mnemonic, 1)}, "sm_75", version)
    assert ptxas(text, "sm_75").ok
    text = with_version(text, older_version(version))
    assert line(mnemonic, 1) in complaints(text, ptxas(text, "sm_75"))
    text = text.replace("::cta", "")
    assert ptxas(text, "sm_75").ok


def test_movmatrix_in_other_forms(ptxas: Ptxas):
    """ptxas takes registers of f32 too, which the ISA does not give it: our op has b32 alone."""
    lines = {
        f"movmatrix.sync.aligned.{shape}{trans}.{type_} %r1, %r2;"
        for shape, trans, type_ in product(
            ("m8n8", "m8n16", "m16n16", "m16n8"), ("", ".trans"), ("b16", "b8")
        )
    }
    assert accepted(lines, ptxas, "sm_120a") == {f"{MOVMATRIX.mnemonic} %r1, %r2;"}
    floats = {f"{MOVMATRIX.mnemonic} %f1, %f2;"}
    assert accepted(floats, ptxas, "sm_120a") == floats
