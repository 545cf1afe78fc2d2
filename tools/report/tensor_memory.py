"""The picture of tensor memory over a run: the lifetimes of allocated columns, and the accesses."""

from collections.abc import Iterator, Sequence
from html import escape

from tilewright.tools.report.watch import ColumnAccess, ColumnLifetime

WIDTH, HEIGHT, LEFT, RIGHT, TOP = 1400, 260, 60, 10, 8
FILLS = ("#2a78d6", "#d6662a", "#1f9d6b", "#8a4fd3", "#8a8a96")
ALLOCATED = "#8a8a9640"
STYLE = "text { font: 11px ui-monospace, Menlo, Consolas, monospace; fill: #77777f; }"


def picture(lifetimes: Sequence[ColumnLifetime], accesses: Sequence[ColumnAccess]) -> str:
    """An SVG: downwards columns, across the accesses in the order of the run. Rectangles have
    titles, and say of which line of the source they are."""
    steps = [access.step for access in accesses]
    steps += [step for own in lifetimes for step in (own.begin, own.end or 0)]
    ends = [own.first + own.columns for own in (*lifetimes, *accesses)]
    if not ends:
        return ""
    kinds = list(dict.fromkeys(access.op for access in accesses))
    fills = {kind: FILLS[number % len(FILLS)] for number, kind in enumerate(kinds)}
    last, most = max(steps), max(ends)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT + 44}" role="img">',
        f"<style>{STYLE}</style>",
        *_scale(most),
    ]

    def rectangle(
        begin: float, end: float, first: int, columns: int, fill: str, title: str, line: int | None
    ) -> str:
        x, unit = LEFT + (WIDTH - LEFT - RIGHT) * begin / last, HEIGHT / most
        width = max((WIDTH - LEFT - RIGHT) * (end - begin) / last - 0.4, 0.8)
        stroke = ' stroke="#8a8a96"' * (fill == ALLOCATED)
        at = "" if line is None else f' data-line="{line}"'
        return (
            f'<rect x="{x:.1f}" y="{TOP + unit * first:.1f}" width="{width:.1f}" '
            f'height="{max(unit * columns - 1, 1):.1f}" fill="{fill}"{stroke}{at}>'
            f"<title>{escape(title)}</title></rect>"
        )

    for own in lifetimes:
        ending = "to the end" if own.end is None else f"to step {own.end}"
        freed = "" if own.freed is None else f", freed at line {own.freed}"
        title = (
            f"allocated: columns {own.first} to {own.first + own.columns - 1}, line {own.line}"
            f"{freed}; from step {own.begin} {ending}"
        )
        end = last if own.end is None else own.end
        parts.append(
            rectangle(own.begin - 1, end, own.first, own.columns, ALLOCATED, title, own.line)
        )
    for access in accesses:
        title = (
            f"{access.op}: columns {access.first} to {access.first + access.columns - 1}, "
            f"line {access.line}"
        )
        parts.append(
            rectangle(access.step - 1, access.step, access.first, access.columns,
                      fills[access.op], title, access.line)
        )  # fmt: skip
    parts += _legend({"allocated": ALLOCATED, **fills})
    return "\n".join([*parts, "</svg>\n"])


def _scale(most: int) -> Iterator[str]:
    for part in range(5):
        yield f'<text x="8" y="{TOP + 4 + HEIGHT * part / 4}">{round(most * part / 4)}</text>'


def _legend(fills: dict[str, str]) -> Iterator[str]:
    x = LEFT
    for name, fill in fills.items():
        yield f'<rect x="{x}" y="{HEIGHT + 22}" width="10" height="10" fill="{fill}"/>'
        yield f'<text x="{x + 15}" y="{HEIGHT + 31}">{escape(name)}</text>'
        x += 40 + 7 * len(name)
