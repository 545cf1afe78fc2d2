"""Write the reference pages that come from the tables.

    python docs/generate.py

tests/docs/test_generated.py asks that they are as this script writes them.
"""

from __future__ import annotations

from pathlib import Path

from tilewright.compiler import PIPELINE
from tilewright.dialects.cute_nvgpu.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.lattice import CP_ASYNC, LDMATRIX, MMA_ROWS, STMATRIX, MmaRow
from tilewright.dialects.cute_nvgpu.lattice.machine_code import MACHINE_ROWS, NEWEST, MachineRow
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS, shape_text
from tilewright.dialects.ptx.arithmetic import OPS as ARITHMETIC
from tilewright.dialects.ptx.convert import OPS as CONVERT
from tilewright.dialects.ptx.logic import OPS as LOGIC

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
    copies = [
        [f"`{row.mnemonic(n, False)}`", str(row.target), version(row.ptx_version), row.section]
        for row in (LDMATRIX, STMATRIX)
        for n in row.numbers
    ] + [
        [
            f"`{CP_ASYNC.mnemonic(cache)}` {', '.join(map(str, sizes))} bytes",
            str(CP_ASYNC.target),
            version(CP_ASYNC.ptx_version),
            CP_ASYNC.section,
        ]
        for cache, sizes in CP_ASYNC.sizes.items()
    ]
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
        "\n## Copies\n\n"
        + table(["instruction", "target", "PTX", "section"], copies)
        + "\n## Canonical layouts\n\n`(thread, value) -> index`: m + M\\*k for A, n + N\\*k for B, "
        "m + M\\*n for C and D.\n\n"
        + table(["shape", "a", "operand", "elements a thread", "layout"], layouts)
        + f"\n## Mnemonics\n\n{mnemonics}"
    )


def layout_of(row: MmaRow, operand: str) -> str:
    return str(MmaAtom(row, row.element_types()[0]).tv_layout(operand))  # type: ignore[arg-type]


def len_of(row: MmaRow, operand: str) -> int:
    return MmaAtom(row, row.element_types()[0]).values(operand)  # type: ignore[arg-type]


def ptx_page() -> str:
    """docs/ptx.md: the scalar instructions and their forms, and the pipeline that makes them."""
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
        f"# Scalar instructions of the `ptx` dialect\n\n{NOTE}\n"
        "An op is written with its form: `%2 = ptx.add rn.f32 %0, %1`.\n\n"
        + table(["op", "meaning", "forms"], rows)
        + f"\n## The pipeline of `tilewright.compile`\n\n{stages}"
    )


def machine_code_page() -> str:
    """docs/machine_code.md: what the chips run MMAs as, where it is not one instruction."""
    rows = [[chips_of(row), mmas_of(row), row.code.how, row.code.words] for row in MACHINE_ROWS]
    return (
        f"# What chips run an MMA as\n\n{NOTE}\n"
        "A later chip runs the MMAs of an earlier one, but not always as one instruction of its "
        "own. An MMA that is not listed is one machine instruction; where several rows fit, the "
        "first holds.\n\n"
        + table(["chips", "MMA", "how", "as"], rows)
        + "\nRead from the machine code that ptxas 13.5 makes of one MMA whose inputs differ from "
        "thread to thread (nvdisasm 13.5; for sm_70 and sm_72 12.4). "
        "`tests/dialects/ptx/test_machine_code.py` asks ptxas again, for every row of the lattice: "
        "how many machine instructions an MMA becomes, and whether it calls a subroutine.\n\n"
        "`native` is the tensor core itself, `split` several smaller MMAs and nothing else, "
        "`padded` a larger MMA, part of it idle, `emulated` conversions, a subroutine, or no "
        "tensor core at all. `tilewright select` puts emulated atoms last.\n"
    )


def chips_of(row: MachineRow) -> str:
    if row.last == NEWEST:
        return f"sm_{row.first} and later"
    return f"sm_{row.first} to sm_{row.last}"


def mmas_of(row: MachineRow) -> str:
    """The MMAs that a row speaks of: element types of A, shapes, metadata, operation, result."""
    metadata = {(None,): "", ("sp",): "`mma.sp`, plain metadata"}.get(row.sparsity, "`mma.sp`")
    words = [
        ", ".join(row.elements),
        " or ".join(map(shape_text, row.shapes)),
        metadata,
        f".{row.bit_op}" if row.bit_op else "",
        f"into {', '.join(row.results)}" if row.results else "",
    ]
    return " ".join(filter(None, words))


PAGES = {"atoms.md": atoms_page, "machine_code.md": machine_code_page, "ptx.md": ptx_page}


def main() -> None:
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page())


if __name__ == "__main__":
    main()
