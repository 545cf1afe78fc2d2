"""`ldmatrix`, `stmatrix` and `movmatrix`."""

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.atoms.matrix_copy import MatrixCopy, copies_of, matrix_copies
from tilewright.dialects.cute_nvgpu.atoms.operands import matrix_copy_operands
from tilewright.dialects.cute_nvgpu.lattice import MATRIX_COPY_ROWS, MOVMATRIX, MatrixCopyRow
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import SPACES
from tilewright.dialects.cute_nvgpu.lattice.row import shape_text
from tilewright.tools.instructions.listing import HEADING, Listing, operands_line, version_text
from tilewright.tools.render_table import LABEL, line, table


def listings() -> Iterator[Listing]:
    """One of every row."""
    yield from map(_copy_listing, MATRIX_COPY_ROWS)
    yield _move_listing()


def _copy_listing(row: MatrixCopyRow) -> Listing:
    element, _, source = row.type.partition(".")
    numbers = (f"x{number}" for number in row.numbers)
    return Listing.of(
        row,
        row.shape,
        ({"source": source, "matrix": element} if source else {"matrix": element},),
        f"{source} -> {element}" if source else element,
        (
            () if False in row.trans else ("trans",),
            (*numbers, *(("trans",) if len(row.trans) > 1 else ())),
        ),
        (copy.mnemonic for copy in copies_of(row)),
        lambda mnemonic: [matrix_copy_operands(matrix_copies()[mnemonic])],
        lambda mnemonic, _: _explain_copy(matrix_copies()[mnemonic]),
    )


def _explain_copy(copy: MatrixCopy) -> Iterator[str]:
    row = copy.row
    yield line("computes", _computes(copy))
    yield operands_line(matrix_copy_operands(copy))
    yield line("op", f"cute_nvgpu.{row.op} ... {ir_form(copy)}".removesuffix(" ... "))
    yield from table([HEADING, _matrices(copy)], LABEL - 2, "  ")
    address = f"thread {row.runs(copy.trans)}*i + r gives row r of matrix i"
    yield line("address", f"{address}: 16 bytes, 16-byte aligned")
    if row.source is not None:
        padding = row.source.padding // 8
        yield line("row", f"16 elements, low bits first, then {padding} bytes of padding")
        where = f"each element fills the low {row.source.bits} bits of a byte"
        yield line("", f"{where}, with zeros above")
    yield line("space", ", ".join(map(_space, SPACES.items())))


def _computes(copy: MatrixCopy) -> str:
    row = copy.row
    bits = row.bits if row.source is None else row.source.bits
    shape = shape_text(row.shape)
    matrices = f"one {shape} matrix" if copy.number == 1 else f"{copy.number} {shape} matrices"
    verb, where = ("load", "from") if row.op == "ldmatrix" else ("store", "to")
    turned = ", transposed on the way" if copy.trans else ""
    return f"{verb} {matrices} of {bits}-bit elements {where} shared memory{turned}"


def ir_form(copy: MatrixCopy) -> str:
    """How IR spells the form of a copy: `trans shape 16x16 src_fmt b6x16_p32`."""
    row = copy.row
    words = ["trans"] if copy.trans else []
    words += [] if row.shape == (8, 8) else [f"shape {shape_text(row.shape)}"]
    words += [] if row.source is None else [f"src_fmt {row.source.name}"]
    return " ".join(words)


def _matrices(copy: MatrixCopy) -> tuple[str, str, str, str]:
    """The line of the table that says what a thread holds, rows as they lie in shared memory."""
    row = copy.row
    runs, elements = row.runs(copy.trans), row.shape[0] * row.shape[1]
    index = f"row + {runs}*column" + (f" + {elements}*matrix" if copy.number > 1 else "")
    return (
        "matrices",
        f"{copy.registers} x .b32",
        f"{copy.values} x b{row.bits}",
        f"{copy.tv_layout} -> {index}",
    )


def _space(space: tuple[str, tuple[int, int] | None]) -> str:
    name, version = space
    since = "" if version is None else f" (PTX ISA {version_text(version)})"
    return f".{name}{since}" if name else "none: a generic address into shared memory"


def _move_listing() -> Listing:
    row = MOVMATRIX
    return Listing(
        "movmatrix",
        row.shape,
        ({"matrix": row.type},),
        row.type,
        ("trans",),
        (),
        row.target,
        row.ptx_version,
        row.section,
        (row.mnemonic,),
        lambda _: [row.operands],
        lambda _, __: _explain_move(),
    )


def _explain_move() -> Iterator[str]:
    row = MOVMATRIX
    matrix = f"an {shape_text(row.shape)} matrix of {row.bits}-bit elements"
    yield line("computes", f"transpose {matrix} across the warp")
    yield operands_line(row.operands)
    yield line("op", "cute_nvgpu.movmatrix")
    index = f"row + {row.shape[0]}*column of a"
    rows = [
        (name, "1 x .b32", f"{row.values} x {row.type}", f"{layout} -> {index}")
        for name, layout in (("d", row.result_layout), ("a", row.source_layout))
    ]
    yield from table([HEADING, *rows], LABEL - 2, "  ")
