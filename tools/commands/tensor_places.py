"""Cells of tensor memory, and the elements of an operand of tcgen05.mma that they hold."""

from __future__ import annotations

from collections.abc import Iterator

from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom

_AXES = {"D": ("m", "n"), "C": ("m", "n"), "A": ("m", "k"), "E": ("m", "j"), "SFA": ("m", "s"),
         "SFB": ("n", "s")}  # fmt: skip
"""The rows and columns of each operand."""

_CELL_BITS = 32


def tensor_table(atom: UmmaAtom, operand: str) -> Iterator[str]:
    """The lines that say where each element of what one CTA has of an operand is: L<lane>C<column>,
    and .<bit> where several share a cell; counted from the operand's address.

    Raises AtomError for an operand that is not in tensor memory.
    """
    layout, bits = atom.cta_layout(operand), atom.cell_bits(operand)
    rows, columns = atom.cta_extents(operand)
    down, across = _AXES[operand]
    copies = atom.copies(operand)
    times = f", in {copies.size()} copies {copies}" if copies.size() > 1 else ""
    yield (
        f"{atom.mnemonic}: {operand} of {atom.parameters}, {rows} x {columns} of "
        f"{atom.element(operand).name}, rows {down}, columns {across}{times}"
    )
    yield f"layout {layout}"
    yield ""
    cells = [[f"{down}\\{across}", *map(str, range(columns))]]
    for row in range(rows):
        offsets = (layout[0](row) + layout[1](column) for column in range(columns))
        cells.append([str(row), *(_place(offset * bits, bits) for offset in offsets)])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield " ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))


def _place(bit: int, bits: int) -> str:
    cell, within = divmod(bit, _CELL_BITS)
    inside = "" if bits == _CELL_BITS else f".{within}"
    return f"L{cell >> 16}C{cell & 0xFFFF}{inside}"
