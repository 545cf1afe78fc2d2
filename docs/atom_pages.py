"""The pages on atoms, and on the instructions of the `ptx` dialect."""

import re

from op_pages import NOTE

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import MatrixCopy, copies_of
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.lattice import (
    CP_ASYNC,
    MATRIX_COPY_ROWS,
    MMA_ROWS,
    MOVMATRIX,
    WGMMA_ROWS,
    WMMA_MMA,
    MatrixCopyRow,
    WmmaRow,
)
from tilewright.dialects.cute_nvgpu.lattice.data_movement import AsyncCopyRow
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import MatrixMoveRow
from tilewright.dialects.cute_nvgpu.lattice.row import Operand, shape_text
from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS
from tilewright.dialects.ptx.matrix_copy import DEFAULT_FORM
from tilewright.pipeline import PIPELINE
from tilewright.tools.commands.atoms import cells
from tilewright.tools.instructions.catalogue import lattice


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def version(pair: tuple[int, int]) -> str:
    return f"{pair[0]}.{pair[1]}"


def atoms_page() -> str:
    """docs/atoms.md: the lattice."""
    header = ["op", "shape", "types", "qualifiers", "modifiers", "target", "PTX", "section"]
    alike = dict.fromkeys(tuple(cells(row)) for row in lattice())
    rows = [[f"`{cell}`" if n == 0 else escaped(cell) for n, cell in enumerate(own)]
            for own in alike]  # fmt: skip
    return f"# The lattice of atoms\n\n{NOTE}{LATTICE_NOTE}\n{table(header, rows)}"


def mnemonics_page() -> str:
    """docs/atoms_mnemonics.md: every mnemonic, by op."""
    spelled: dict[str, dict[str, None]] = {}
    for row in lattice():
        # docs/ptx.md has the forms of the ptx dialect's own.
        if not row.op.startswith("ptx."):
            spelled.setdefault(row.op, {}).update(dict.fromkeys(map(any_n, row.mnemonics)))
    sections = (
        "\n".join(["", f"## `{op}`", "", "```text", *own, "```", ""]) for op, own in spelled.items()
    )
    return f"# Mnemonics of atoms\n\n{NOTE}{''.join(sections)}"


def any_n(mnemonic: str) -> str:
    """The mnemonic with N for the N of a wgmma, and for how often a load or store of tensor memory
    repeats its shape."""
    mnemonic = re.sub(r"(tcgen05\.(?:ld|st)\..*\.x)\d+", r"\1N", mnemonic)
    return re.sub(r"(wgmma\..*\.m64n)\d+(k\d+)", r"\1N\2", mnemonic)


LATTICE_NOTE = """
As `tilewright atoms` lists it. Every mnemonic of a row has its qualifiers, and may have one of its
modifiers. Where several targets stand, any of them will do; of a target with the suffix f, later
ones of its family run it too. N is any number of its list.
"""

LAYOUTS_NOTE = """
`(thread, value) -> index`: m + M\\*k for A, n + N\\*k for B, m + M\\*n for C and D; the matrices of
an m8n8k4 on f16 follow each other. A sparse A is stored, and counted, without its zeros: half of K.
E, which depends on the type of A, holds m + M\\*j for the j-th 2-bit index of a row, SFA m + M\\*s
and SFB n + N\\*s for the s-th scale factor. What several threads hold, the selectors of the
instruction choose among. Those of wmma are an H200's, whichever way the matrix lay in memory: the
PTX ISA leaves them to the chip, and a program that does not look into its fragments cannot tell.
Those of wgmma have the 128 threads of a warpgroup; its B, and its A where registers do not hold it,
are in shared memory (`tilewright explain` shows the layouts that descriptors express).
"""


def escaped(cell: str) -> str:
    """A cell whose bars are no columns."""
    return cell.replace("|", r"\|")


def layouts_section() -> str:
    """The canonical layouts of docs/atoms_layouts.md, those alike in one line."""
    elements: dict[tuple[str, ...], dict[str, None]] = {}
    for atom in (atom for row in (*MMA_ROWS, *WMMA_MMA) for atom in atoms_of(row)):
        shape = shape_text(atom.shape) + (" sparse" if atom.row.sparsity else "")
        shape += " wmma" if isinstance(atom.row, WmmaRow) else ""
        for operand in (*atom.inputs, "D"):
            count, layout = str(atom.values(operand)), f"`{atom.tv_layout(operand)}`"
            of = atom.element("A" if operand == "E" else operand).name
            elements.setdefault((shape, lying(atom, operand), count, layout), {})[of] = None
    rows = [
        [shape, operand, ", ".join(names), count, layout]
        for (shape, operand, count, layout), names in elements.items()
    ]
    rows += wgmma_layouts()
    header = ["shape", "operand", "types", "elements a thread", "layout"]
    return f"## Canonical layouts\n{LAYOUTS_NOTE}\n{table(header, rows)}"


def layouts_page() -> str:
    """docs/atoms_layouts.md: who holds what of the matrices of MMAs and of copies."""
    return f"# Layouts of atoms\n\n{NOTE}\n{layouts_section()}{copies_section()}"


def wgmma_layouts() -> list[list[str]]:
    """The layouts of wgmma, D for an N of 16: its last extent is N/8."""
    elements: dict[tuple[str, ...], dict[str, None]] = {}
    for row, types in (
        (of_shape, types) for of_shape in WGMMA_ROWS for types in of_shape.element_types()
    ):
        atom = WgmmaAtom(row, 16, types)
        shape = f"64xNx{row.k}{' sparse' if row.sparse else ''} wgmma"
        for operand in ("A", "D", "E") if row.sparse else ("A", "D"):
            count, layout = str(atom.values(operand)), f"`{atom.tv_layout(operand)}`"
            name, where = operand, shape
            if operand == "D":
                name, where, count = "C, D", "64xNxK wgmma, N = 16", f"N/2 ({count})"
            of = atom.element("A" if operand == "E" else operand).name
            elements.setdefault((where, name, count, layout), {})[of] = None
    return [[where, name, ", ".join(names), count, layout]
            for (where, name, count, layout), names in elements.items()]  # fmt: skip


def lying(atom: MmaAtom, operand: Operand) -> str:
    """An operand, and how it lies where its layout depends on that; C and D lie alike."""
    choice = len(atom.row.majors) > 1 and not isinstance(atom.row, WmmaRow)
    if operand in ("A", "B") and choice:
        return f"{operand} {atom.majors['AB'.index(operand)]}"
    return "C, D" if operand in ("C", "D") else operand


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
    """The copies of docs/atoms_layouts.md, and how their matrices lie."""
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


def ptx_page() -> str:
    """docs/ptx.md: scalar instructions and matrix copies, their forms, and the pipeline."""
    rows = [
        [
            f"`ptx.{row.name}`",
            f"{row.does}. PTX ISA {row.section}.",
            " ".join(f"`{form}`" for form in row.forms),
        ]
        for row in SCALARS.values()
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
