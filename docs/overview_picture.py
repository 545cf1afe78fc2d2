"""docs/tilewright.svg, the README's picture: one kernel, what it becomes, and the fragments of its
MMA. Every text in it is what tilewright says of examples/mma.mlir."""

from collections.abc import Iterator
from html import escape
from pathlib import Path

import numpy as np

import tilewright as tw
from tilewright.dialects.cute.drawing import Drawing, colour
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.tools.commands.layout import fragment_atom, fragments

KERNEL = Path(__file__).parents[1] / "examples" / "mma.mlir"
ARCH = "sm_90a"
MNEMONIC = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"

WIDTH, MARGIN = 1120, 24
CELL, ROW = 20, 14
"""A cell of a matrix: its width and its height."""
LEFT = 600
"""Where the matrices begin."""
WRAP = 70
"""Characters of a line in a box."""

STYLE = """\
  text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1b1b1f; }
  .label { font: 600 13px system-ui, sans-serif; }
  .note { font: 12px system-ui, sans-serif; fill: #55555f; }
  .end { text-anchor: end; }
  .cell { font-size: 8px; text-anchor: middle; dominant-baseline: central; }
  .box { fill: #f6f6fa; stroke: #c9c9d4; }
  .wrong { fill: #fdeceb; stroke: #d98a85; }
  .arrow { fill: none; stroke: #8a8a96; stroke-width: 2; }"""


def overview() -> str:
    """The picture, complete and with nothing it refers to outside itself."""
    boxes, bottom = _boxes()
    matrices = list(_matrices())
    height = max(bottom, MARGIN + 44 + 33 * ROW + 40)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            "<title>An MMA atom in IR, its fragments, its PTX, and what it computes</title>",
            f"<style>\n{STYLE}\n</style>",
            f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
            *boxes,
            *matrices,
            "</svg>\n",
        ]
    )


def _boxes() -> tuple[list[str], int]:
    """The steps on the left, one below the other, and where they end."""
    text = KERNEL.read_text()
    atom_line = next(line.strip() for line in text.splitlines() if "sm80.mma" in line)
    kernel = tw.compile(text, ARCH)
    instruction = next(line.strip() for line in kernel.ptx.splitlines() if MNEMONIC in line)
    start = np.zeros(32, np.float32)
    (out,) = tw.interpret(text, grid=(1, 1, 1), block=(32, 1, 1), args=[1.5, 2.0, start])
    bits = " ".join(f"{word:08x}" for word in out.view(np.uint32)[:4])
    steps = [
        ("IR: an MMA atom", "box", atom_line),
        ("proven legal for the target, or told why not", "wrong", _refusal(text)),
        ("lowered to PTX, without LLVM or a CUDA toolkit", "box", instruction),
        ("executed on the CPU, bit for bit as the chip", "box", f"out[0:4] = {bits}"),
    ]
    drawn: list[str] = []
    top = MARGIN
    for number, (label, kind, content) in enumerate(steps):
        lines = [piece for line in content.splitlines() for piece in _wrapped(line)]
        height = 16 * len(lines) + 16
        if number:
            arrow = f"M {MARGIN + 20} {top - 22} v 14 m -5 -6 l 5 6 l 5 -6"
            drawn.append(f'<path class="arrow" d="{arrow}"/>')
        drawn.append(f'<text class="label" x="{MARGIN}" y="{top + 12}">{escape(label)}</text>')
        box = f'x="{MARGIN}" y="{top + 20}" width="{LEFT - 3 * MARGIN}" height="{height}" rx="5"'
        drawn.append(f'<rect class="{kind}" {box}/>')
        drawn += [
            f'<text x="{MARGIN + 10}" y="{top + 40 + 16 * place}">{escape(line)}</text>'
            for place, line in enumerate(lines)
        ]
        top += height + 20 + 30
    return drawn, top


def _refusal(text: str) -> str:
    """The message where the shape is none."""
    try:
        tw.compile(text.replace("16x8x16", "16x8x12"), ARCH)
    except tw.CompileError as error:
        return f"16x8x12: {error.message}"
    raise AssertionError("16x8x12 is legal")


def _wrapped(line: str) -> Iterator[str]:
    """A line in pieces that fit into a box, broken at spaces."""
    while len(line) > WRAP:
        end = line.rfind(" ", 0, WRAP)
        yield line[:end]
        line = "  " + line[end + 1 :]
    yield line


def _matrices() -> Iterator[str]:
    """A to the left of D, B above it, a colour a thread."""
    atom = fragment_atom(MNEMONIC)
    top = MARGIN + 44
    across, down = LEFT + 16 * CELL + 16, top + 16 * ROW + 16
    yield f'<text class="label" x="{LEFT}" y="{MARGIN + 12}">{escape("who holds what")}</text>'
    yield f'<text class="note" x="{LEFT}" y="{MARGIN + 30}">threads of the warp, by colour</text>'
    placed: dict[Operand, tuple[int, int]] = {
        "A": (LEFT, down),
        "B": (across, top),
        "D": (across, down),
    }
    for operand, (x, y) in placed.items():
        yield from _matrix(fragments(atom, operand), x, y)
    right, below = across + 8 * CELL, down + 16 * ROW + 16
    notes: dict[Operand, tuple[str, int, int]] = {
        "A": ("note", LEFT, below),
        "B": ("note end", right, top - 6),
        "D": ("note end", right, below),
    }
    for operand, (kind, x, y) in notes.items():
        yield f'<text class="{kind}" x="{x}" y="{y}">{operand}: {atom.tv_layout(operand)}</text>'


def _matrix(drawing: Drawing, x: int, y: int) -> Iterator[str]:
    for i, row in enumerate(drawing.cells):
        for j, (text, thread) in enumerate(row):
            left, top = x + CELL * j, y + ROW * i
            place = f'x="{left}" y="{top}" width="{CELL}" height="{ROW}"'
            yield f'<rect {place} fill="{colour(thread)}" stroke="#ffffff" stroke-width="0.5"/>'
            middle = f'x="{left + CELL // 2}" y="{top + ROW // 2}"'
            yield f'<text class="cell" {middle}>{text.partition("V")[0]}</text>'
