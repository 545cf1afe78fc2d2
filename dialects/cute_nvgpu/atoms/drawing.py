"""Drawings of what the threads of an atom hold: a cell an element, with its thread and value."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TYPE_CHECKING, Any

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.drawing import Drawing, svg
from tilewright.dialects.cute_nvgpu.lattice.row import Operand

if TYPE_CHECKING:
    from numpy.typing import NDArray

AXES: dict[Operand, tuple[str, str]] = {"A": ("m", "k"), "B": ("k", "n"), "C": ("m", "n")}
"""The operands that are drawn, and what their rows and columns are."""


def html(title: str, drawings: Iterable[Drawing]) -> str:
    """Drawings below a title."""
    return "\n".join((f"<p><code>{escape(title)}</code></p>", *map(svg, drawings)))


def drawing_of(operand: Operand, element: str, layout: Layout, coords: NDArray[Any]) -> Drawing:
    """The drawing of an operand, its elements' coordinates as `FragmentAtom.coords` gives them."""
    if operand == "B":
        coords = coords[..., ::-1]
    rows, columns = (int(extent) for extent in coords.reshape(-1, 2).max(axis=0) + 1)
    cells = [[("", 0)] * columns for _ in range(rows)]
    for thread, values in enumerate(coords.tolist()):
        for value, (row, column) in enumerate(values):
            cells[row][column] = (f"T{thread}V{value}", thread)
    about = f"layout (thread, value) -> index: {layout}"
    title = f"{operand}, {rows} x {columns} of {element}"
    return Drawing(title, about, AXES[operand], tuple(map(tuple, cells)))
