"""Write the reference pages that come from the tables.

    python docs/generate.py

tests/docs/test_generated.py asks that they are as this script writes them.
"""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from atom_pages import atoms_page, layouts_page, mnemonics_page, ptx_page, table
from levels_picture import levels
from op_pages import DIALECTS, NOTE, dialect_page, ops_page
from overview_picture import overview
from public_pages import api_page, commands_page
from tensor_memory_picture import tensor_memory

from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom, atoms_of
from tilewright.dialects.cute_nvgpu.atoms.traits import mma_traits, umma_traits
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.lattice import (
    MMA_ROWS,
    UMMA_ROWS,
    WMMA_MMA,
    WmmaRow,
)
from tilewright.dialects.cute_nvgpu.lattice.composed import COMPOSED
from tilewright.dialects.cute_nvgpu.lattice.machine_code import MACHINE_ROWS, NEWEST, MachineRow
from tilewright.dialects.cute_nvgpu.lattice.row import shape_text
from tilewright.dialects.cute_nvgpu.lattice.scalar import SCALARS
from tilewright.dialects.cute_nvgpu.lattice.undocumented import (
    UNDOCUMENTED,
    UNDOCUMENTED_SELECTORS,
)
from tilewright.dialects.math_functions.functions import APPROXIMATIONS, FUNCTIONS, ON_INTEGERS
from tilewright.dialects.math_functions.libdevice import LIBDEVICE, RECORDED
from tilewright.lowering.ptx.parsing.refused import REFUSED
from tilewright.lowering.ptx.parsing.spellings import SPELLINGS
from tilewright.tools.instructions.catalogue import lattice

FOLDER = Path(__file__).parent


UNDOCUMENTED_NOTE = """
A form is legal where the PTX ISA documents it and ptxas assembles it. ptxas takes some more, which
tilewright rejects: a later ptxas may refuse them, and nobody says what they compute. `check-ptx`
and `explain` call them undocumented, on the targets on which ptxas 13.5 takes them
(`tests/tools/test_undocumented.py` asks it).
"""

ANY_ORDER = """
Beside these, ptxas takes the qualifiers of an instruction in any order, `.x4.m8n8` for `.m8n8.x4`.
The PTX ISA fixes the order by each instruction's syntax.
"""

OPERANDS_NOTE = """
Among the registers of a vector that is read ptxas takes constants, and `_` among those of one that
is written; every one must be a register. It takes a negated predicate as `scale-d` of wgmma, and a
constant as its descriptor.
"""


def undocumented_page() -> str:
    """docs/undocumented.md: what ptxas takes beyond the PTX ISA."""
    forms = [
        [
            row.form,
            row.rule,
            row.section,
            "those of the plain form" if row.targets is None else row.targets.at_least,
            f"`{row.example}`",
        ]
        for row in UNDOCUMENTED
    ]
    selectors = [[row.form, row.rule, row.section, f"`{row.example}`"] for row in
                 UNDOCUMENTED_SELECTORS]  # fmt: skip
    return (
        f"# What ptxas takes and the PTX ISA does not have\n\n{NOTE}{UNDOCUMENTED_NOTE}\n"
        "## Mnemonics\n\n"
        + table(["form", "what the PTX ISA has", "section", "targets", "example"], forms)
        + f"{ANY_ORDER}\n## Operands\n\n"
        + table(["form", "what the PTX ISA has", "section", "example"], selectors)
        + OPERANDS_NOTE
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


def math_page() -> str:
    """The functions of `math`: how far from the mathematical result each may be."""

    def error(ulps: float) -> str:
        return "exact" if ulps == 0 else f"{ulps:g}"

    rows = [
        [f"`{name}`", *map(error, function.ulps), approximation(name)]
        for name, function in FUNCTIONS.items()
    ]
    integers = ", ".join(f"`{name}`" for name in ON_INTEGERS)
    return f"""# `math` (generated by docs/generate.py)

Each function is one straight-line program of scalar PTX instructions
(`dialects/math_functions/functions.py`): the lowering emits it, the interpreter computes it on
arrays, so all levels have the same bits. The errors are bounds in units in the last place of the
result, tested against 40 digits (`tests/dialects/math_functions`). f16 and bf16 are computed in f32
and rounded once more.

{table(["op", "f32", "f64", "`fastmath<afn>` on f32"], rows)}

Functions of Tile IR have, unless `accuracy="exact"` asks `tw.compile`, `tw.interpret` or
`tw.cutile` for those above, the bits of CUDA's libdevice without fast math, as tileiras and PyTorch
do: its algorithms from its constants, each again one program
(`dialects/math_functions/libdevice.py`). What is not in the table below is as above.
`cute_nvgpu.libdevice` of scalars and `cuda_tile.libdevice` of tiles are any of them by its name, or
a PTX instruction on single registers (`"shl.b32"`); integers are signless. Where the table says so
the bits are libdevice's own: `python tests/silicon/record_libdevice.py` compares them with CUDA's
on a GPU, those of one f32 on all 2^32 arguments. The others are exact, or as accurate as `math`;
of `j0`, `j1`, `y0` and `y1` the errors are in units in the last place of 1 where they are less.

{table(["function", "types", "error", "bits"], libdevice_rows())}

Exact on integers of 1 to 64 bits: {integers}. `math.fpowi` is `math.powf` in f64. `math.fma`, and
conversions of `arith` (f64 to bf16 and fp8, integers to bf16 too) round once, whatever the chip
lacks.
"""


def libdevice_rows() -> list[list[str]]:
    """The functions of libdevice, their types and errors, and whose bits are recorded."""
    return [
        [f"`{name}`", f"{', '.join(row.operands)} → {row.result}", f"{row.ulps:g}" * bool(row.ulps),
         "its own" if name in RECORDED else ""]
        for name, row in LIBDEVICE.items()
    ]  # fmt: skip


def approximation(name: str) -> str:
    """The docstring of what `afn` allows instead, where there is anything."""
    program = APPROXIMATIONS.get(name)
    return f"`{(program.__doc__ or '').rstrip('.')}`, approximate" if program else "the same"


_UNTILED = ("<!-- begin: MMAs without tiles -->\n", "<!-- end: MMAs without tiles -->\n")


def tile_page() -> str:
    """docs/tile.md, with the MMAs that make no tiles."""
    text = (FOLDER / "tile.md").read_text()
    before, after = text.split(_UNTILED[0])[0], text.split(_UNTILED[1])[1]
    rows = [[f"`{op}`", shapes, types, why] for (op, why, types), shapes in untiled().items()]
    rows.sort()
    body = table(["op", "shape", "types", "why"], rows)
    return f"{before}{_UNTILED[0]}\n{body}\n{_UNTILED[1]}{after}"


def untiled() -> dict[tuple[str, str, str], str]:
    """The shapes of MMAs that make no tiles, by their op, the reason and the element types."""
    shapes: dict[tuple[str, str, str], list[str]] = {}
    atoms: list[MmaAtom | UmmaAtom] = [
        atom for row in (*MMA_ROWS, *WMMA_MMA) for atom in atoms_of(row)
    ]
    atoms += [
        UmmaAtom(row, tile.m, tile.ns[-1], types, tile.cta_group)
        for row in UMMA_ROWS
        for types in row.element_types()
        for tile in row.tiles
    ]
    for atom in atoms:
        why = why_no_traits(atom)
        if why is not None:
            types = "any" if isinstance(atom.row, WmmaRow) else ", ".join(atom.types)
            m, n, k = map(str, atom.shape)
            shape = f"{m}xNx{k}" if isinstance(atom, UmmaAtom) else f"{m}x{n}x{k}"
            shapes.setdefault((atom.op, why, types), []).append(shape)
    every = shapes.items()
    return {key: ", ".join(dict.fromkeys(each)) for key, each in every}


def why_no_traits(atom: MmaAtom | UmmaAtom) -> str | None:
    """The reason in brackets of its error, or None where an MMA makes tiles."""
    try:
        umma_traits(atom) if isinstance(atom, UmmaAtom) else mma_traits(atom)
    except LayoutError as error:
        return str(error).split("(", 1)[1].split(")", 1)[0]
    return None


_READ = (
    "<!-- begin: instructions that are read -->\n",
    "<!-- end: instructions that are read -->\n",
)


def ptx_input_page() -> str:
    """docs/ptx_input.md, with the instructions of the PTX ISA: read, read as others, refused."""
    text = (FOLDER / "ptx_input.md").read_text()
    before, after = text.split(_READ[0])[0], text.split(_READ[1])[1]
    names = {mnemonic.split(".")[0] for row in lattice() for mnemonic in row.mnemonics}
    rows = [
        ["read, checked and run", _listed(sorted({*names, *SCALARS}))],
        *(["refused: " + kind, _listed(refused)] for kind, refused in REFUSED.items()),
    ]  # fmt: skip
    body = table(["what", "instructions"], rows)
    body += "\nOther spellings are read as these, and some instructions as several others:\n\n"
    as_others = [
        [f"`{_shown(pattern.pattern)}`", "; ".join(f"`{_shown(line)}`" for line in lines)]
        for pattern, lines in (
            *((pattern, (spelling,)) for pattern, spelling in SPELLINGS), *COMPOSED,
        )
    ]  # fmt: skip
    body += table(["in the text, a regular expression", "read as"], as_others)
    return f"{before}{_READ[0]}\n{body}\n{_READ[1]}{after}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _shown(text: str) -> str:
    """A piece of code in a cell of a table."""
    return text.replace("|", "\\|")


PAGES = {
    "tilewright.svg": overview,
    "levels.svg": levels,
    "tensor_memory.svg": tensor_memory,
    "api.md": api_page,
    "commands.md": commands_page,
    "ops.md": ops_page,
    **{f"ops_{name}.md": partial(dialect_page, name) for name in DIALECTS},
    "tile.md": tile_page,
    "math.md": math_page,
    "atoms.md": atoms_page,
    "atoms_layouts.md": layouts_page,
    "atoms_mnemonics.md": mnemonics_page,
    "machine_code.md": machine_code_page,
    "ptx.md": ptx_page,
    "ptx_input.md": ptx_input_page,
    "undocumented.md": undocumented_page,
}


def main() -> None:
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page())


if __name__ == "__main__":
    main()
