"""Lines of text in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
