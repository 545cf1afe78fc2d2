"""Write the reference pages that come from the tables.

    python docs/generate.py

tests/docs/test_generated.py asks that they are as this script writes them.
"""

from __future__ import annotations

from pathlib import Path

from tilewright.compiler import PIPELINE
from tilewright.dialects.cute_nvgpu.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.lattice import (
    CP_ASYNC,
    MATRIX_COPY_ROWS,
    MMA_ROWS,
    MOVMATRIX,
    MatrixCopyRow,
    MmaRow,
)
from tilewright.dialects.cute_nvgpu.lattice.copy import AsyncCopyRow
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import MatrixMoveRow
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS, shape_text
from tilewright.dialects.cute_nvgpu.matrix_copy import MatrixCopy, copies_of
from tilewright.dialects.ptx.arithmetic import OPS as ARITHMETIC
from tilewright.dialects.ptx.convert import OPS as CONVERT
from tilewright.dialects.ptx.logic import OPS as LOGIC
from tilewright.dialects.ptx.matrix_copy import DEFAULT_FORM

FOLDER = Path(__file__).parent
NOTE = "Written by `python docs/generate.py` from the tables; do not edit.\n"


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def version(pair: tuple[int, int]) -> str:
    return f"{pair[0]}.{pair[1]}"


def types_of(row: MmaRow) -> str:
    pairs = ", ".join(" x ".join(pair) for pair in row.multiplicands)
    results = ", ".join(c if c == d else f"{c} to {d}" for c, d in row.accumulators)
    return f"{pairs} into {results} {row.counting}".rstrip()


def atoms_page() -> str:
    """docs/atoms.md: the lattice, its layouts and every mnemonic."""
    rows = [
        [
            f"`{row.op}`",
            shape_text(row.shape),
            types_of(row),
            ", ".join(row.modifiers) or "-",
            str(row.target),
            version(row.ptx_version),
            row.section,
        ]
        for row in MMA_ROWS
    ]
    header = ["op", "M x N x K", "types", "modifiers", "target", "PTX", "section"]
    layouts = [
        [
            shape_text(row.shape),
            row.element_types()[0][0],
            f"`{operand}`",
            str(len_of(row, operand)),
            f"`{layout_of(row, operand)}`",
        ]
        for row in MMA_ROWS
        for operand in OPERANDS[:3]
    ]
    mnemonics = "".join(f"- `{atom.mnemonic}`\n" for row in MMA_ROWS for atom in atoms_of(row))
    return (
        f"# Atoms\n\n{NOTE}\n## The lattice\n\n{table(header, rows)}"
        f"{copies_section()}\n## Canonical layouts\n\n"
        "`(thread, value) -> index`: m + M\\*k for A, n + N\\*k for B, m + M\\*n for C and D.\n\n"
        + table(["shape", "a", "operand", "elements a thread", "layout"], layouts)
        + f"\n## Mnemonics\n\n{mnemonics}"
    )


COPIES_NOTE = """
`.num` is `.x1`, `.x2` or `.x4` (two matrices of m16n16 at most). Where several minimum targets
stand, any of them will do. `.shared::cta` (PTX ISA 7.8) is the same space, and without a space the
address is a generic one.
"""

MATRICES_NOTE = """
Where the elements that a thread holds lie in shared memory, whose rows are 16 bytes that one
thread gives the address of: `(thread, value) -> row + rows*column + rows*columns*matrix`.
`b6x16_p32` and `b4x16_p64` are rows of 16 elements, low bits first, and padding; each element
lands in the low bits of a byte, with zeros above. The line of movmatrix says which elements of its
source a thread gets.
"""


def copies_section() -> str:
    """The copies of docs/atoms.md, and how their matrices lie."""
    emitted = [copy for row in MATRIX_COPY_ROWS for copy in copies_of(row) if copy.space]
    copies = [
        *([f"`{pattern(row)}`", *facts(row)] for row in MATRIX_COPY_ROWS),
        [f"`{MOVMATRIX.mnemonic}`", *facts(MOVMATRIX)],
        *(
            [f"`{CP_ASYNC.mnemonic(cache)}` {', '.join(map(str, sizes))} bytes", *facts(CP_ASYNC)]
            for cache, sizes in CP_ASYNC.sizes.items()
        ),
    ]
    moved = [f"`{MOVMATRIX.mnemonic}`", "-", str(MOVMATRIX.values), f"`{MOVMATRIX.result_layout}`"]
    return (
        "\n## Copies\n\n"
        + table(["instruction", "target", "PTX", "section"], copies)
        + f"{COPIES_NOTE}\n## Matrices in shared memory\n{MATRICES_NOTE}\n"
        + table(["instruction", "addresses of threads", "values", "layout"],
                [*map(matrix_line, emitted), moved])
    )  # fmt: skip


def pattern(row: MatrixCopyRow) -> str:
    """All mnemonics of a row: `ldmatrix.sync.aligned.m8n8.num{.trans}.shared.b16`."""
    spelled = row.mnemonic(row.numbers[0], row.trans[-1]).replace(f".x{row.numbers[0]}", ".num")
    return spelled.replace(".trans", "{.trans}") if len(row.trans) > 1 else spelled


def facts(row: MatrixCopyRow | MatrixMoveRow | AsyncCopyRow) -> list[str]:
    """Target, version and section of a row."""
    return [str(row.target), version(row.ptx_version), row.section]


def matrix_line(copy: MatrixCopy) -> list[str]:
    threads = f"0 to {copy.runs - 1}"
    return [f"`{copy.mnemonic}`", threads, str(copy.values), f"`{copy.tv_layout}`"]


def layout_of(row: MmaRow, operand: str) -> str:
    return str(MmaAtom(row, row.element_types()[0]).tv_layout(operand))  # type: ignore[arg-type]


def len_of(row: MmaRow, operand: str) -> int:
    return MmaAtom(row, row.element_types()[0]).values(operand)  # type: ignore[arg-type]


def ptx_page() -> str:
    """docs/ptx.md: scalar instructions and matrix copies, their forms, and the pipeline."""
    rows = [
        [
            f"`{op.name}`",
            (op.__doc__ or "").split("\n")[0],
            " ".join(f"`{form}`" for form in op.FORMS),
        ]
        for op in (*ARITHMETIC, *LOGIC, *CONVERT)
    ]
    stages = "".join(f"{i}. `{stage.name}`\n" for i, stage in enumerate(PIPELINE, 1))
    return (
        f"# Instructions of the `ptx` dialect\n\n{NOTE}\n"
        "An op is written with its form: `%2 = ptx.add rn.f32 %0, %1`.\n\n"
        + table(["op", "meaning", "forms"], rows)
        + f"\n{ptx_matrix_copies()}"
        + f"\n## The pipeline of `tilewright.compile`\n\n{stages}"
    )


def ptx_matrix_copies() -> str:
    """The matrix copies of docs/ptx.md."""
    rows = [
        [
            f"`ptx.{row.op}`",
            "" if row.form == DEFAULT_FORM else f'`"{row.form}"`',
            " or ".join("`trans`" if trans else "-" for trans in row.trans),
            ", ".join(str(number * row.registers) for number in row.numbers),
        ]
        for row in MATRIX_COPY_ROWS
    ]
    return (
        "## Matrix copies\n\n"
        '`%d = ptx.ldmatrix "m16n16.b8" trans %address, 0 : !ptx.reg<b32 x 2>`; '
        f"without a form, {DEFAULT_FORM}. `%d = ptx.movmatrix %a` transposes one register.\n\n"
        + table(["op", "form", "trans", "registers"], rows)
    )


PAGES = {"atoms.md": atoms_page, "ptx.md": ptx_page}


def main() -> None:
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page())


if __name__ == "__main__":
    main()
