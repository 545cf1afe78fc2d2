"""Lines of text in columns."""

import re
from collections.abc import Iterator, Sequence
from itertools import starmap, zip_longest

from tilewright.dialects.cute.drawing import Drawing

LABEL = 10
"""How wide the first column is in what `explain` prints."""


def line(label: str, text: str) -> str:
    """One labelled line of what `explain` prints."""
    return f"  {label.ljust(LABEL)}{text}"


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Of each column."""
    return [max(map(len, column)) for column in zip(*rows, strict=True)]


def table(rows: Sequence[Sequence[str]], first: int = 0, indent: str = "") -> Iterator[str]:
    """The rows with their cells below each other; `first` is the least width of a first cell."""
    widths = _widths(rows)
    widths[0] = max(widths[0], first)
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield (indent + "  ".join(cells)).rstrip()


_LEAST = 8
"""The least width to which a column is narrowed."""


def fitted(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """The rows as a table at most so many characters wide where that is possible: the widest
    columns are narrowed, and what they hold goes on in the lines below."""
    widths = _widths(rows)
    while sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > _LEAST:
        widths[widths.index(max(widths))] -= 1
    lines: list[tuple[str, ...]] = []
    for row in rows:
        parts = starmap(_parts, zip(row, widths, strict=True))
        lines += zip_longest(*parts, fillvalue="")
    yield from table(lines)


def _parts(text: str, width: int) -> list[str]:
    """The text in parts of at most so many characters, which end behind a comma, a bar or a space
    where there is one."""
    parts = [""]
    for word in re.findall(rf"[^,| ]{{1,{width - 1}}}[,| ]?|[,| ]", text):
        if len(parts[-1]) + len(word.rstrip()) > width:
            parts.append("")
        parts[-1] += word
    return [part.rstrip() for part in parts]


def matrix(shown: Drawing) -> str:
    """The title, the layout, and the matrix with its row and column numbers."""
    down, across = shown.axes
    rows = [[f"{down}\\{across}", *map(str, range(len(shown.cells[0])))]]
    for number, cells in enumerate(shown.cells):
        rows.append([str(number), *(text for text, _ in cells)])
    return "\n".join([shown.title, shown.about, "", *numbers(rows)])


def numbers(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows, each cell at the right of its column."""
    widths = _widths(rows)
    for row in rows:
        yield " ".join(map(str.rjust, row, widths))
