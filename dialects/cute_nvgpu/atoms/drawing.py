"""An atom as notebooks show it: which thread holds which element of A, B and C."""

from __future__ import annotations

from html import escape
from typing import Any

from tilewright.dialects.cute.drawing import Drawing, svg
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError, FragmentAtom
from tilewright.dialects.cute_nvgpu.lattice.row import Operand

_AXES: dict[Operand, tuple[str, str]] = {"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}


def html(atom: FragmentAtom[Any]) -> str:
    """The drawings of the operands that registers hold."""
    parts = [f"<p><code>{escape(str(atom))}</code></p>"]
    for operand in _AXES:
        try:
            parts.append(svg(_operand(atom, operand)))
        except AtomError:
            continue
    return "\n".join(parts)


def _operand(atom: FragmentAtom[Any], operand: Operand) -> Drawing:
    coords = atom.coords(operand)
    if operand == "B":
        coords = coords[..., ::-1]
    rows, columns = (int(extent) for extent in coords.reshape(-1, 2).max(axis=0) + 1)
    cells = [[("", 0)] * columns for _ in range(rows)]
    for thread, values in enumerate(coords.tolist()):
        for value, (row, column) in enumerate(values):
            cells[row][column] = (f"T{thread}V{value}", thread)
    about = f"layout (thread, value) -> index: {atom.tv_layout(operand)}"
    title = f"{operand}, {rows} x {columns} of {atom.element(operand).name}"
    return Drawing(title, about, _AXES[operand], tuple(map(tuple, cells)))
