"""Lines of text in columns."""

from collections.abc import Iterator, Sequence

from tilewright.dialects.cute.drawing import Drawing

LABEL = 10
"""How wide the first column is in what `explain` prints."""


def line(label: str, text: str) -> str:
    """One labelled line of what `explain` prints."""
    return f"  {label.ljust(LABEL)}{text}"


def table(rows: Sequence[Sequence[str]], first: int = 0, indent: str = "") -> Iterator[str]:
    """The rows with their cells below each other; `first` is the least width of a first cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    widths[0] = max(widths[0], first)
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield (indent + "  ".join(cells)).rstrip()


def matrix(shown: Drawing) -> str:
    """The title, the layout, and the matrix with its row and column numbers."""
    down, across = shown.axes
    rows = [[f"{down}\\{across}", *map(str, range(len(shown.cells[0])))]]
    for number, cells in enumerate(shown.cells):
        rows.append([str(number), *(text for text, _ in cells)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        " ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows
    ]
    return "\n".join([shown.title, shown.about, "", *lines])
