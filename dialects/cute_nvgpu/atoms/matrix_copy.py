"""A matrix copy: a row of `ldmatrix` or `stmatrix`, its count of matrices and `.trans` chosen.

Plain values (no xDSL), as atoms are: ops name the row by shape and source format, or by PTX's
words, and mnemonics parse to copies.
"""

from collections.abc import Iterator
from functools import cache

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError
from tilewright.dialects.cute_nvgpu.lattice import MATRIX_COPY_ROWS, MatrixCopyRow
from tilewright.dialects.cute_nvgpu.lattice.matrix_copy import Shape
from tilewright.dialects.cute_nvgpu.lattice.nearest import distance
from tilewright.dialects.cute_nvgpu.lattice.row import shape_text
from tilewright.dialects.frozen import frozen


@frozen
class MatrixCopy:
    """One legal `ldmatrix` or `stmatrix`; `space` is the state space of its address."""

    row: MatrixCopyRow
    number: int
    trans: bool
    space: str = "shared"

    @property
    def mnemonic(self) -> str:
        """The PTX mnemonic, `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16`."""
        return self.row.mnemonic(self.number, self.trans, self.space)

    @property
    def registers(self) -> int:
        """How many 32-bit registers a thread passes."""
        return self.number * self.row.registers

    @property
    def values(self) -> int:
        """How many elements a thread holds."""
        return self.number * self.row.values

    @property
    def runs(self) -> int:
        """How many threads, from the first, give the address of a run of 16 bytes."""
        return self.number * self.row.runs(self.trans)

    @property
    def tv_layout(self) -> Layout:
        """`(T32, V) -> run + runs*place + runs*places*matrix` of shared memory."""
        return self.row.tv_layout(self.number, self.trans)

    def __str__(self) -> str:
        return self.mnemonic


def copies_of(row: MatrixCopyRow) -> Iterator[MatrixCopy]:
    """Every copy of a row, first those that name their address `.shared`, as we emit them."""
    for space in ("shared", ""):
        for trans in row.trans:
            for number in row.numbers:
                yield MatrixCopy(row, number, trans, space)


@cache
def matrix_copies() -> dict[str, MatrixCopy]:
    """Every copy of the lattice by its mnemonic."""
    return {copy.mnemonic: copy for row in MATRIX_COPY_ROWS for copy in copies_of(row)}


def find_row(op: str, shape: Shape, source: str | None) -> MatrixCopyRow:
    """The row of `ldmatrix` or `stmatrix` of that shape and source format (a name, or None).

    Raises AtomError, naming what is legal, where there is none.
    """
    rows = [row for row in MATRIX_COPY_ROWS if row.op == op]
    for row in rows:
        if row.shape == shape and _source(row) == source:
            return row
    legal = [_text(row) for row in rows if _source(row) == source] or ["none"]
    near = min(
        rows, key=lambda row: (source not in (None, _source(row)), distance(row.shape, shape))
    )
    raise AtomError(
        f"expected shape {' or '.join(legal)} {_with(source)}, got {shape_text(shape)} "
        f"(PTX ISA {near.section}); nearest legal: shape {_text(near)} {_with(_source(near))}"
    )


def find_form(op: str, form: str) -> MatrixCopyRow:
    """The row whose shape and type PTX spells so: `m16n16.b8`. Raises AtomError."""
    rows = {row.form: row for row in MATRIX_COPY_ROWS if row.op == op}
    if form not in rows:
        raise AtomError(f"expected a form of {', '.join(rows)}, got {form}")
    return rows[form]


def transposing(op: str, bits: int) -> MatrixCopyRow | None:
    """The row that transposes unpacked elements of that width, or None."""
    rows = (row for row in MATRIX_COPY_ROWS if row.op == op and row.source is None)
    return next((row for row in rows if row.bits == bits and True in row.trans), None)


def check_trans(row: MatrixCopyRow, trans: bool) -> None:
    """Raise AtomError unless the row has the form with, or without, `.trans`."""
    if trans not in row.trans:
        wanted, got = ("no trans", "trans") if trans else ("trans", "none")
        always = "without .trans" if trans else "with .trans"
        raise AtomError(
            f"expected {wanted} with {row.form}, got {got} (PTX has it {always} alone); "
            f"nearest legal: {wanted}"
        )


def _source(row: MatrixCopyRow) -> str | None:
    return None if row.source is None else row.source.name


def _text(row: MatrixCopyRow) -> str:
    return shape_text(row.shape)


def _with(source: str | None) -> str:
    return "without src_fmt" if source is None else f"with src_fmt {source}"
