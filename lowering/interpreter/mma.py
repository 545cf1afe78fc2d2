"""MMAs on fragments: from registers to matrices, through the arithmetic, and back."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute_nvgpu.atom import WARP, MmaAtom
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.lowering.interpreter.numerics import Model, dot_add, model_for

Numerics = Literal["hardware", "exact"]
NUMERICS: tuple[Numerics, ...] = ("hardware", "exact")


def numerics_model(atom: MmaAtom, arch: str, numerics: str) -> Model | Literal["exact"]:
    """The arithmetic of an atom on a chip. Raises NumericsError where it is not known."""
    if numerics == "exact":
        return "exact"
    a, b, _, d = atom.types
    return model_for(arch, a, b, d)


@cache
def _places(atom: MmaAtom, operand: Operand) -> NDArray[np.int64]:
    """Where in a warp's fragment each matrix element is: A [M, K], B [K, N], C and D [M, N], as
    indices into [threads, values] flattened."""
    coords = atom.coords(operand)
    rows, columns = atom.row.extents(operand)
    places = np.empty((rows, columns), dtype=np.int64)
    places[coords[..., 0], coords[..., 1]] = np.arange(WARP * atom.values(operand)).reshape(
        WARP, -1
    )
    return np.ascontiguousarray(places.T) if operand == "B" else places


@cache
def _back(atom: MmaAtom) -> NDArray[np.int64]:
    """Which element of D, flattened, each value of the fragment is: [threads * values]."""
    places = _places(atom, "D").ravel()
    back = np.empty_like(places)
    back[places] = np.arange(places.size)
    return back


def multiply_fragments(
    atom: MmaAtom,
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any],
    model: Model | Literal["exact"],
) -> NDArray[Any]:
    """D of A, B and C: elements in containers, [warps, threads, values] each."""
    matrices = [
        each.reshape(len(each), -1)[:, _places(atom, operand)]
        for operand, each in zip(("A", "B", "C"), (a, b, c), strict=True)
    ]
    a_type, b_type, c_type, d_type = atom.types
    d = dot_add(
        *matrices,
        a_type=a_type,
        b_type=b_type,
        c_type=c_type,
        d_type=d_type,
        model=model,
        satfinite=atom.satfinite,
        rounding=atom.rounding or "rn",  # type: ignore[arg-type]
        bit_operation=atom.row.bit_op or "and",  # type: ignore[arg-type]
    )
    flat = d.reshape(len(d), -1)[:, _back(atom)]
    return flat.reshape(len(d), WARP, -1)
