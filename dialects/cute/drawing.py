"""Matrices as SVG drawings: a cell an element, a colour a thread, or an index.

drawing_of(Layout.parse("(4,8):(8,1)"))     the index of each coordinate
"""

from html import escape
from typing import Any, Protocol

from tilewright.dialects.cute.int_tuple import (
    LayoutError,
    Shape,
    flatten,
    is_tuple,
    product,
    to_text,
)
from tilewright.dialects.frozen import frozen

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


MOST = 1 << 14
"""Cells that are drawn, at most."""


@frozen
class Drawing:
    """A matrix as it is drawn: `cells[row][column]` is what is written there, and the number that
    gives it its colour. `about` stands below the title."""

    title: str
    about: str
    axes: tuple[str, str]
    cells: tuple[tuple[tuple[str, int], ...], ...]


class Drawable(Protocol):
    """A layout, composed or not."""

    @property
    def shape(self) -> Shape: ...

    def cosize(self) -> int: ...

    def __call__(self, *coord: Any) -> Any: ...


def drawing_of(layout: Drawable) -> Drawing:
    """The images of a layout: its first mode downwards, the others across; one mode across.

    Raises LayoutError for a layout of more than 16384 elements.
    """
    shape = layout.shape
    size = product(shape)
    if size > MOST:
        raise LayoutError(f"expected a layout of at most {MOST} elements to draw, got {size}")
    rows = product(shape[0]) if is_tuple(shape) and len(shape) > 1 else 1
    images = [layout(place) for place in range(size)]
    cells = tuple(
        tuple((to_text(images[i + rows * j]), _number(images[i + rows * j]))
              for j in range(size // rows)) for i in range(rows)
    )  # fmt: skip
    about = f"{rows} x {size // rows}, cosize {layout.cosize()}"
    return Drawing(str(layout), about, ("i", "j"), cells)


def _number(image: Any) -> int:
    """The number that gives an image its colour: its index, or the sum of its coordinates."""
    return sum(flatten(image))


def html(layout: Drawable) -> str:
    """The drawing, for notebooks; of a layout that is too large its text."""
    try:
        return svg(drawing_of(layout))
    except LayoutError:
        return f"<code>{escape(str(layout))}</code>"


def svg(shown: Drawing) -> str:
    """The drawing, complete and with nothing it refers to outside itself."""
    rows, columns = len(shown.cells), len(shown.cells[0])
    text_width = 2 * 12 + _CHARACTER * max(len(shown.title), len(shown.about))
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
        f'<text x="12" y="46">{escape(shown.about)}</text>',
        _axis(_MARGIN // 2, _HEADER + _MARGIN // 2, f"{down}\\{across}"),
        *(_axis(_left(j) + _CELL_WIDTH // 2, _HEADER + _MARGIN // 2, j) for j in range(columns)),
        *(_axis(_MARGIN // 2, _top(i) + _CELL_HEIGHT // 2, i) for i in range(rows)),
    ]
    for i, cells in enumerate(shown.cells):
        parts += [_cell(i, j, text, number) for j, (text, number) in enumerate(cells)]
    return "\n".join([*parts, "</svg>\n"])


def _left(column: int) -> int:
    return _MARGIN + column * _CELL_WIDTH


def _top(row: int) -> int:
    return _HEADER + _MARGIN + row * _CELL_HEIGHT


def _axis(x: int, y: int, label: int | str) -> str:
    return f'<text class="axis" x="{x}" y="{y}">{escape(str(label))}</text>'


def _cell(row: int, column: int, text: str, number: int) -> str:
    x, y = _left(column), _top(row)
    return (
        f'<rect x="{x}" y="{y}" width="{_CELL_WIDTH}" height="{_CELL_HEIGHT}"'
        f' fill="{colour(number)}"/>'
        f'<text class="cell" x="{x + _CELL_WIDTH // 2}" y="{y + _CELL_HEIGHT // 2}">'
        f"{escape(text)}</text>"
    )


def colour(thread: int) -> str:
    """The colour of a thread, or of an index, light enough for dark text: a hue for each group of
    four, a shade for each of the group. It repeats after 32."""
    group, place = thread // _GROUP % _GROUPS, thread % _GROUP
    return f"hsl({group * 360 // _GROUPS}, {85 - 12 * place}%, {90 - 6 * place}%)"
