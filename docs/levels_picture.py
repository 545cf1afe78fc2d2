"""docs/levels.svg: the levels of IR, who writes each, and the passes that lead down."""

from collections.abc import Iterator
from html import escape

from overview_picture import STYLE

from tilewright.pipeline import stages_of

LEVELS = (
    ("triton", "Triton's TTIR: tiles of pointers", "@triton.jit", "convert-triton-to-cuda-tile"),
    ("cuda_tile", "whole tiles and views; no threads, no layouts", "@ct.kernel, CUDA Tile IR",
     "convert-cuda-tile-to-cute"),
    ("cute", "tensors, tiled MMAs and copies, pipelines", "a front end: text, or the builder",
     "convert-cute-to-cute-nvgpu"),
    ("cute_nvgpu", "one tensor-core instruction: fragments, barriers", "text, as the README's MMA",
     "convert-cute-nvgpu-to-ptx"),
    ("ptx", "one op an instruction", "PTX of nvcc, Triton and others", ""),
)  # fmt: skip
"""Dialects from the top: what they speak of, who writes them, the pass to the next."""

RUNS = ("any level, here:", "the chip's bits; races,", "bounds, missing waits", "are errors")

WIDTH, HEIGHT, STEP = 900, 44, 78
WRITER, LEVEL, RUN = 16, 270, 730
"""Where the columns begin."""


def levels() -> str:
    """The picture, complete. Raises ArgumentError where no pass is called so."""
    stages_of(",".join(down for *_, down in LEVELS if down))
    bottom = STEP * len(LEVELS) + 24
    arrow = "M0 0 L8 4 L0 8 z"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom}" role="img">',
            "<title>The levels of IR, who writes them, and the passes between them</title>",
            f"<style>\n{STYLE}\n</style>",
            '<marker id="to" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">'
            f'<path d="{arrow}" fill="#8a8a96"/></marker>',
            f'<rect width="{WIDTH}" height="{bottom}" rx="8" fill="#ffffff"/>',
            *(line for number in range(len(LEVELS)) for line in _level(number)),
            _box(RUN, 16, WIDTH - RUN - 16, bottom - 32),
            _text(RUN + 14, 40, "label", "interpreter"),
            *(_text(RUN + 14, 64 + 18 * line, "note", words) for line, words in enumerate(RUNS)),
            "</svg>\n",
        ]
    )


def _level(number: int) -> Iterator[str]:
    dialect, about, writer, down = LEVELS[number]
    top = 16 + STEP * number
    middle = top + HEIGHT // 2
    yield _text(WRITER, middle + 4, "note", writer)
    yield _arrow(LEVEL - 36, middle, LEVEL - 4, middle)
    yield _box(LEVEL, top, 400, HEIGHT)
    yield _text(LEVEL + 12, top + 18, "label", dialect)
    yield _text(LEVEL + 12, top + 36, "note", about)
    yield _arrow(LEVEL + 404, middle, RUN - 4, middle)
    below = top + HEIGHT
    words = down or "PTX text, for the driver or ptxas"
    yield _arrow(LEVEL + 40, below + 2, LEVEL + 40, top + STEP - 4)
    yield _text(LEVEL + 56, below + 21, "", words)


def _box(x: int, y: int, width: int, height: int) -> str:
    return f'<rect class="box" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'


def _text(x: int, y: int, kind: str, words: str) -> str:
    kind = f' class="{kind}"' if kind else ""
    return f'<text{kind} x="{x}" y="{y}">{escape(words)}</text>'


def _arrow(x: int, y: int, to_x: int, to_y: int) -> str:
    return f'<path class="arrow" marker-end="url(#to)" d="M{x} {y} L{to_x} {to_y}"/>'
