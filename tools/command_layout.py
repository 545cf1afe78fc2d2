"""Show which thread holds which element of an operand: T<thread>V<value> for every element, rows
and columns as the figures of the PTX ISA have them (A: m x k, B: k x n, C and D: m x n)."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import cast

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute_nvgpu.atom import AtomError, MmaAtom
from tilewright.dialects.cute_nvgpu.lattice.row import OPERANDS, Operand
from tilewright.dialects.cute_nvgpu.lookup import parse
from tilewright.tools.command_input import InputError
from tilewright.tools.output import UnwritableError, write_whole
from tilewright.tools.render_illegal import canonical, why_illegal

_AXES: dict[Operand, tuple[str, str]] = {
    "A": ("m", "k"),
    "B": ("k", "n"),
    "C": ("m", "n"),
    "D": ("m", "n"),
}


@dataclass(frozen=True, slots=True)
class Fragments:
    """An operand's matrix as it is drawn: `cells[row][column]` is the (thread, value) there."""

    title: str
    layout: Layout
    axes: tuple[str, str]
    cells: tuple[tuple[tuple[int, int], ...], ...]


def fragments(atom: MmaAtom, operand: Operand) -> Fragments:
    """Who holds what of that operand."""
    layout = atom.tv_layout(operand)
    threads = layout[0].size()
    held = {
        layout((thread, value)): (thread, value)
        for thread in range(threads)
        for value in range(atom.values(operand))
    }
    outer, inner = atom.extents(operand)
    # The index counts A's m and B's n fastest; the figures draw A's m downwards, B's n across.
    cells = tuple(tuple(held[i + outer * j] for j in range(inner)) for i in range(outer))
    if operand == "B":
        cells = tuple(zip(*cells, strict=True))
    down, across = _AXES[operand]
    title = (
        f"{atom.mnemonic}: {operand}, {len(cells)} x {len(cells[0])} of "
        f"{atom.element(operand).name}, rows {down}, columns {across}"
    )
    return Fragments(title, layout, (down, across), cells)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("mnemonic", metavar="MNEMONIC", help="an MMA, as PTX spells it")
    parser.add_argument(
        "operand", metavar="OPERAND", type=str.upper, choices=OPERANDS, help="A, B, C or D"
    )
    parser.add_argument("--svg", metavar="FILE", help="draw it into that file; - is stdout")


def run(options: argparse.Namespace) -> None:
    shown = fragments(_atom(options.mnemonic.strip()), cast(Operand, options.operand))
    if options.svg is None:
        print(_table(shown))
        return
    from tilewright.tools.render_svg import svg

    try:
        write_whole(options.svg, svg(shown))
    except UnwritableError as error:
        raise InputError(str(error)) from None


def _atom(mnemonic: str) -> MmaAtom:
    reason = why_illegal(mnemonic, None)
    if reason is not None:
        raise InputError(reason)
    try:
        return parse(canonical(mnemonic))
    except AtomError:
        raise InputError(
            f"expected an MMA, which has operands A, B, C and D, got '{mnemonic}'; "
            f"'tilewright explain {mnemonic}' shows what its threads hold"
        ) from None


def _table(shown: Fragments) -> str:
    """The title, the layout, and the matrix with its row and column numbers."""
    down, across = shown.axes
    rows = [[f"{down}\\{across}", *map(str, range(len(shown.cells[0])))]]
    for number, cells in enumerate(shown.cells):
        rows.append([str(number), *(f"T{thread}V{value}" for thread, value in cells)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        " ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    ]
    return "\n".join([shown.title, f"layout {shown.layout}", "", *lines])
