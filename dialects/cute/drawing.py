"""An operand's fragments as an SVG drawing: a cell an element, a colour a thread."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from tilewright.dialects.cute import Layout

_CELL_WIDTH = 56
_CELL_HEIGHT = 28
_MARGIN = 36
_HEADER = 64
_CHARACTER = 7.3  # of 12 px monospace, rounded up
_GROUP = 4
_GROUPS = 8

_STYLE = """\
  text { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 12px; fill: #1b1b1f; }
  .cell { text-anchor: middle; dominant-baseline: central; }
  .axis { text-anchor: middle; dominant-baseline: central; fill: #6b6b76; }
  .title { font-weight: 600; }
  rect { stroke: #ffffff; stroke-width: 1; }"""


@dataclass(frozen=True, slots=True)
class Fragments:
    """An operand's matrix as it is drawn: `cells[row][column]` is the (thread, value) there."""

    title: str
    layout: Layout
    axes: tuple[str, str]
    cells: tuple[tuple[tuple[int, int], ...], ...]


def svg(shown: Fragments) -> str:
    """The drawing, complete and with nothing it refers to outside itself."""
    rows, columns = len(shown.cells), len(shown.cells[0])
    subtitle = f"layout (thread, value) -> index: {shown.layout}"
    text_width = 2 * 12 + _CHARACTER * max(len(shown.title), len(subtitle))
    width = max(_MARGIN + columns * _CELL_WIDTH + 12, round(text_width))
    height = _HEADER + _MARGIN + rows * _CELL_HEIGHT + 12
    down, across = shown.axes
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(shown.title)}</title>",
        f"<style>\n{_STYLE}\n</style>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text class="title" x="12" y="24">{escape(shown.title)}</text>',
        f'<text x="12" y="46">{escape(subtitle)}</text>',
        _axis(_MARGIN // 2, _HEADER + _MARGIN // 2, f"{down}\\{across}"),
        *(_axis(_left(j) + _CELL_WIDTH // 2, _HEADER + _MARGIN // 2, j) for j in range(columns)),
        *(_axis(_MARGIN // 2, _top(i) + _CELL_HEIGHT // 2, i) for i in range(rows)),
    ]
    for i, cells in enumerate(shown.cells):
        parts += [_cell(i, j, thread, value) for j, (thread, value) in enumerate(cells)]
    return "\n".join([*parts, "</svg>\n"])


def _left(column: int) -> int:
    return _MARGIN + column * _CELL_WIDTH


def _top(row: int) -> int:
    return _HEADER + _MARGIN + row * _CELL_HEIGHT


def _axis(x: int, y: int, label: int | str) -> str:
    return f'<text class="axis" x="{x}" y="{y}">{escape(str(label))}</text>'


def _cell(row: int, column: int, thread: int, value: int) -> str:
    x, y = _left(column), _top(row)
    return (
        f'<rect x="{x}" y="{y}" width="{_CELL_WIDTH}" height="{_CELL_HEIGHT}"'
        f' fill="{colour(thread)}"/>'
        f'<text class="cell" x="{x + _CELL_WIDTH // 2}" y="{y + _CELL_HEIGHT // 2}">'
        f"T{thread}V{value}</text>"
    )


def colour(thread: int) -> str:
    """A thread's own colour, light enough for dark text: a hue for each group of four threads,
    a shade for each thread of the group. It repeats after a warp."""
    group, place = thread // _GROUP % _GROUPS, thread % _GROUP
    return f"hsl({group * 360 // _GROUPS}, {85 - 12 * place}%, {90 - 6 * place}%)"
