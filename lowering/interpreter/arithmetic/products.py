"""Products of matrices by the arithmetic of an MMA, dense or sparse."""

from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.atoms.traits import AnyMmaAtom
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.lowering.interpreter.arithmetic.watched import floats
from tilewright.lowering.interpreter.array_types import AnyArray
from tilewright.lowering.interpreter.checks import ASKED, check_finite
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.numerics import dot_add
from tilewright.lowering.interpreter.numerics.models import AnyModel

Matrices = AnyArray
"""Elements in containers: [batch, rows, columns]."""


def product_of(
    atom: AnyMmaAtom,
    a: Matrices,
    b: Matrices,
    c: Matrices,
    model: AnyModel,
    *,
    met: AnyArray | None = None,
    scales: tuple[Matrices, Matrices] | None = None,
    **modifiers: Any,
) -> Matrices:
    """D = A * B + C, in the shape of C. Of a sparse A `met` are the rows of B that each of its rows
    meets, [batch, M, K / 2, N]; scale factors are [batch, M, S] and [batch, S, N]."""
    if met is not None:
        # Every row of A meets rows of B of its own: each becomes an MMA with M = 1.
        a, b, c = a[:, :, None, :], met, c[:, :, None, :]
    if scales is not None:
        scale_a, scale_b = scales
        if met is not None:
            scale_a = scale_a[:, :, None, :]
            scale_b = np.broadcast_to(scale_b[:, None], (*met.shape[:2], *scale_b.shape[1:]))
        scale: Any = getattr(atom.row, "scale", None)
        modifiers |= {"scale_a": scale_a, "scale_b": scale_b, "scale_type": scale.type}
    a_type, b_type, *types = atom.types
    d = dot_add(
        a, b, c, a_type=a_type, b_type=b_type, c_type=types[0], d_type=types[-1], model=model,
        satfinite=atom.satfinite, **modifiers,
    )  # fmt: skip
    if "nan" in ASKED.get():
        given = [(a, a_type), (b, b_type), (c, types[0])]
        if scales is not None:
            given += [(scale, modifiers["scale_type"]) for scale in scales]
        try:
            check_finite(floats(given), floats([(d, types[-1])]))
        except Fault as fault:  # the row is no thread
            raise Fault(fault.message) from None
    return d


def turned(a: Matrices, element: ElementType, negative: bool) -> Matrices:
    """The elements with their signs turned: of the products only the sign shows. With metadata that
    PTX leaves undefined, a half of one tf32 of B can meet the other half of another, and the sign
    turns after that."""
    if not negative:
        return a
    return a ^ a.dtype.type(1 << ((element.width or element.bits) - 1))
