"""MMAs of warps on views whose own modes share registers: any factors, any sums to begin with."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from tilewright.dialects.cute_nvgpu.atoms.atom import MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse

if TYPE_CHECKING:
    from views import Kernel, View

ATOMS = {
    "f32": ("m16n8k16.row.col.f32.f16.f16.f32", "16x8x16, elem_type = (f16, f16, f32)"),
    "f16": ("m16n8k16.row.col.f16.f16.f16.f16", "16x8x16, elem_type = (f16, f16, f16)"),
    "f64": ("m8n8k4.row.col.f64.f64.f64.f64", "8x8x4, elem_type = (f64, f64, f64)"),
}
"""By the element of the sums: the instruction, and its atom in a type."""


@cache
def _coords(element: str) -> tuple[MmaAtom, dict[str, np.ndarray]]:
    atom = parse(f"mma.sync.aligned.{ATOMS[element][0]}")
    return atom, {operand: atom.coords(operand) for operand in ("A", "B", "C")}


def warp_mma(k: Kernel) -> None:
    """d = c + a b of a warp, each a view of the registers of its threads."""
    if k.element not in ATOMS or k.active is not True:
        return
    atom, coords = _coords(k.element)
    m, n, depth = (k.draw.number(1, 2) for _ in range(3))
    factors = ("h",) if k.element == "f32" else ("r", "q")
    a, b, c, d = (
        k.view(k.draw.pick(tensors), (count := coords[operand].shape[1], *rest), count)
        for operand, tensors, rest in (
            ("A", factors, (m, depth)), ("B", factors, (n, depth)),
            ("C", ("r", "q"), (m, n)), ("C", ("r", "q"), (m, n)),
        )
    )  # fmt: skip
    if k.draw.chance(50):
        c = d
    left, right, start = (
        _matrix(k, view, coords[operand], atom.extents(operand))
        for operand, view in (("A", a), ("B", b), ("C", c))
    )
    result = start + left @ right.T
    if not k.fits(result):
        return
    if not d.is_apart:
        k.refused = "whose elements lie apart"
    name = k.name()
    k.add(
        f"{name} = cute.make_tiled_mma : !cute.tiled_mma<!cute_nvgpu.sm80.mma<"
        f"{ATOMS[k.element][1]}>>"
    )
    into = k.made(d)
    k.add(f"cute.gemm({name}, {into}, {k.made(a)}, {k.made(b)}, {into if c is d else k.made(c)})")
    rows, columns = atom.extents("C")
    tiles = result.reshape(m, rows, n, columns)
    row, column = np.moveaxis(coords["C"], -1, 0)
    k.write(d, np.concatenate(
        [tiles[i, row, j, column] for j in range(n) for i in range(m)], axis=1
    ).astype(k.state[d.tensor].dtype))  # fmt: skip


def _matrix(k: Kernel, view: View, coords: np.ndarray, extents: tuple[int, int]) -> np.ndarray:
    """The matrix whose fragments a view is: values, tiles down, tiles along."""
    _, down, along = view.extents
    values = k.read(view).astype(np.float64).reshape(32, along, down, -1)
    whole = np.zeros((down, extents[0], along, extents[1]))
    row, column = np.moveaxis(coords, -1, 0)
    for i in range(down):
        for j in range(along):
            whole[i, row, j, column] = values[:, j, i]
    return whole.reshape(down * extents[0], along * extents[1])
