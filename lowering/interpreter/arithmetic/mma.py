"""MMAs on fragments: from registers to matrices, through the arithmetic, and back."""

from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np

from tilewright.dialects.cute_nvgpu.atoms.atom import WARP, MmaAtom
from tilewright.dialects.cute_nvgpu.lattice import WmmaRow
from tilewright.dialects.cute_nvgpu.lattice.row import MatrixOperand, Operand
from tilewright.lowering.interpreter.arithmetic.elements import values_of
from tilewright.lowering.interpreter.arithmetic.products import product_of
from tilewright.lowering.interpreter.arithmetic.sparse import select
from tilewright.lowering.interpreter.array_types import AnyArray, Int64Array
from tilewright.lowering.interpreter.numerics import Unit, model_for
from tilewright.lowering.interpreter.numerics.models import AnyModel

Elements = AnyArray
"""Elements in containers: [warps, threads, values]."""

Numerics = Literal["hardware", "exact"]


def numerics_model(atom: MmaAtom, arch: str, numerics: str) -> AnyModel:
    """The arithmetic of an atom on a chip. Raises NumericsError where it is not known."""
    if numerics == "exact":
        return "exact"
    a, b, _, d = atom.types
    unit: Unit = "mma.m8n8k4" if atom.row.matrices > 1 else "mma.sync"
    if isinstance(atom.row, WmmaRow):
        unit = "wmma"
    scaled = atom.row.scale is not None
    return model_for(arch, a, b, d, unit, atom.row.kind if scaled else None)  # type: ignore[arg-type]


def multiply_fragments(
    atom: MmaAtom,
    inputs: Sequence[Elements],
    model: AnyModel,
    selectors: Sequence[int],
) -> Elements:
    """D of the atom's inputs, in their order: elements in containers, [warps, threads, values]
    each."""
    operands = dict(zip(atom.inputs, inputs, strict=True))
    a, b, c = (_matrices(atom, operand, operands[operand]) for operand in ("A", "B", "C"))
    scaled, sparse = atom.row.scale is not None, atom.row.sparsity is not None
    d = product_of(
        atom,
        a,
        b,
        c,
        model,
        met=select(atom, b, operands["E"], selectors[0]) if sparse else None,
        scales=scale_factors(atom, operands["SFA"], operands["SFB"], selectors[-4:])
        if scaled
        else None,
        rounding=atom.rounding or "rn",
        bit_operation=atom.row.bit_op or "and",
    )
    flat = d.reshape(len(inputs[0]), -1)[:, _back(atom)]
    return flat.reshape(len(flat), WARP, -1)


@cache
def _places(atom: MmaAtom, operand: Operand) -> Int64Array:
    """The place of each matrix element in a warp's fragment, as indices into [threads, values]
    flattened: A [M, K], B [K, N], C and D [M, N]; in front of them, which of several MMAs it is,
    where one instruction computes several. Of an element that a thread holds several times the
    first counts: wmma's f16, as an H200 reads them (tests/silicon)."""
    rows, columns = atom.extents(operand)
    row, column = atom.coords(operand).reshape(-1, 2).T
    _, first = np.unique(row * columns + column, return_index=True)
    places = first.reshape(rows, columns)
    if (matrices := atom.row.matrices) > 1:
        places = places.reshape(rows, matrices, -1).transpose(1, 0, 2)
    return np.ascontiguousarray(places.swapaxes(-1, -2) if operand == "B" else places)


@cache
def _back(atom: MmaAtom) -> Int64Array:
    """The element of D, flattened, that each value of the fragment is: [threads * values]."""
    places = _places(atom, "D").ravel()
    back = np.empty_like(places)
    back[places] = np.arange(places.size)
    return back


def _matrices(atom: MmaAtom, operand: MatrixOperand, elements: Elements) -> AnyArray:
    """The matrices of an operand, [warps, rows, columns], padding bits removed."""
    flat = elements.reshape(len(elements), -1)[:, _places(atom, operand)]
    return values_of(flat, atom.element(operand))


# Block scaling: from the words of threads to matrices of scale factors. PTX ISA 9.7.14.3.

_GROUP = 4


def scale_factors(
    atom: MmaAtom, sfa: AnyArray, sfb: AnyArray, selectors: Sequence[int]
) -> tuple[AnyArray, AnyArray]:
    """The scale factors of A [warps, M, S] and of B [warps, S, N], one a byte.

    sfa, sfb [warps, threads, 4]: the bytes of every thread's word. selectors: byte-id-a,
    thread-id-a, byte-id-b, thread-id-b.
    """
    byte_a, thread_a, byte_b, thread_b = selectors
    places_a = _scale_places(atom, "SFA", thread_a, byte_a)
    places_b = _scale_places(atom, "SFB", thread_b, byte_b)
    a = sfa.reshape(len(sfa), -1)[:, places_a]
    b = sfb.reshape(len(sfb), -1)[:, places_b]
    return a, np.ascontiguousarray(b.swapaxes(-1, -2))


@cache
def _scale_places(atom: MmaAtom, operand: Operand, thread_id: int, byte_id: int) -> Int64Array:
    """The places of each row's (column's) scale factors, into [threads, bytes] flattened."""
    assert atom.row.scale is not None
    coords = atom.coords(operand)
    places = np.empty(atom.extents(operand), dtype=np.int64)
    threads = 2 if operand == "SFA" else 1
    for thread in range(WARP):
        if thread % _GROUP // threads == thread_id:
            for byte in range(byte_id, byte_id + atom.row.scale.vector):
                row, column = coords[thread, byte]
                places[row, column] = thread * 4 + byte
    return places
