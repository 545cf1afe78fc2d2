"""`tilewright.sparsify` and `densify`: a matrix A with structured zeros, and what a sparse MMA
reads of it.

Of each chunk of neighbours in a row half may be other than zero: of 4 elements (2:4), of 4 pairs of
4-bit elements (4:8), of 2 words (1:2). Those are stored; two 2-bit indices, the lower first, say
which. PTX ISA 9.7.14.6.1, 9.7.15.6.1 and tcgen05 sparse matrices.
"""

from __future__ import annotations

from math import prod
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tilewright.arguments.dtypes import dtype_of_element
from tilewright.arguments.options import AtomArgumentError, checked
from tilewright.dialects.cute_nvgpu.atoms.atom import AtomError, FragmentAtom, MmaAtom
from tilewright.dialects.cute_nvgpu.atoms.tmem_places import tensor_places
from tilewright.dialects.cute_nvgpu.atoms.traits import AnyMmaAtom
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.tmem import LANE_STRIDE, LANES
from tilewright.lowering.interpreter.arithmetic.elements import elements_of, values_of, words_of
from tilewright.lowering.interpreter.arithmetic.sparse import contributing_threads
from tilewright.lowering.interpreter.array_types import AnyArray, Int64Array, UInt32Array

_Stored = Literal["A", "E"]


class SparseMatrix(NamedTuple):
    """The result of `sparsify`: the stored elements of A and its metadata, in the atom's order."""

    values: NDArray[Any]
    metadata: NDArray[np.uint32]


@checked(AtomArgumentError)
@np.errstate(all="ignore")
def sparsify(a: ArrayLike, atom: AnyMmaAtom) -> SparseMatrix:
    """The stored elements and the metadata of a matrix A, as a sparse MMA atom wants them.

        values, metadata = tw.sparsify(a, atom)
        d = tw.simulate(atom, a=values, metadata=metadata, b=..., c=..., arch="sm_80")

    `a`: [..., M, K] of the atom, any leading axes, in the dtype of its elements (float32 for tf32,
    else NumPy's or ml_dtypes'). In registers `values` are uint32 [..., threads, words] and
    `metadata` uint32 [..., threads], good for every sparsity selector. Where the atom reads A from
    shared memory, `values` is the matrix [..., M, K / 2] in the dtype of `a`, to be laid out as
    its descriptor says. Of a `tcgen05.mma` the metadata (and an A in tensor memory) are cells,
    uint32 [..., 128, columns], of a pair [..., 2, 128, columns]: what lies at `sp_meta_tmem`
    (`a_tmem`) for selector 0; cells that the atom does not read are zeros.

    Raises AtomError for a dense atom, another shape or dtype, and for a matrix that is not sparse,
    naming the first bad chunk.
    """
    rows, stored = _extents(atom)
    dtype = dtype_of_element(atom.element("A").mlir)
    given = np.asarray(a)
    if given.dtype != dtype or given.shape[-2:] != (rows, 2 * stored):
        raise AtomError(
            f"'{atom.op}' expected A of {dtype} [..., {rows}, {2 * stored}] (M, K), "
            f"got {given.dtype} {list(given.shape)}"
        )
    units = _units(np.ascontiguousarray(given), atom.chunk)
    kept = _kept(atom, units)
    values = np.take_along_axis(units, kept[..., None], axis=-2)
    values = values.reshape(*given.shape[:-1], stored)
    indices = np.stack([2 * kept, 2 * kept + 1], axis=-1) if atom.chunk == 2 else kept
    indices = indices.reshape(*given.shape[:-2], *atom.extents("E")).astype(np.uint8)
    metadata = _ordered(atom, "E", indices)
    return SparseMatrix(
        _ordered(atom, "A", values), metadata[..., 0] if _in_registers(atom, "E") else metadata
    )


@checked(AtomArgumentError)
@np.errstate(all="ignore")
def densify(
    values: ArrayLike, metadata: ArrayLike, atom: AnyMmaAtom, *, selector: int = 0
) -> NDArray[Any]:
    """The matrix A [..., M, K] of what `sparsify` returns, in the dtype of its elements.

    `selector` is the sparsity selector: the threads whose metadata count. Raises AtomError for a
    dense atom, arrays of another shape or dtype, and metadata that PTX leaves undefined.
    """
    rows, stored = _extents(atom)
    atom.check_selectors((selector, *(0 for _ in atom.selectors[1:])))
    chunk, words = atom.chunk, np.asarray(metadata)
    if _in_registers(atom, "E"):
        words = words[..., None]
    kept = _matrix(atom, "E", words, selector).astype(np.int64)
    kept = kept.reshape(*kept.shape[:-1], kept.shape[-1] // 2, 2)
    _check_indices(atom, kept)
    if chunk == 2:
        kept = kept[..., :1] // 2
    data = _matrix(atom, "A", np.asarray(values), selector)
    dtype = dtype_of_element(atom.element("A").mlir)
    if data.shape[:-1] != kept.shape[:-2]:
        raise AtomError(
            f"'{atom.op}' expected values and metadata with equal leading axes, got "
            f"{data.shape[:-2]} and {kept.shape[:-3]}"
        )
    units = np.zeros((*kept.shape[:-1], min(chunk, 4), max(chunk // 4, 1)), dtype=dtype)
    stored_units = data.reshape(*kept.shape, units.shape[-1])
    np.put_along_axis(units, kept[..., None], stored_units, axis=-2)
    return units.reshape(*data.shape[:-2], rows, 2 * stored)


def _extents(atom: AnyMmaAtom) -> tuple[int, int]:
    """(M, stored K). Raises AtomError for what is no sparse atom."""
    sparse = "E" in atom.inputs if isinstance(atom, MmaAtom) else atom.row.sparse
    if not sparse:
        raise AtomError(f"'{atom.op}' expected a sparse MMA, got {atom.mnemonic}, which is dense")
    return atom.extents("A")


# Chunks


def _units(matrix: AnyArray, chunk: int) -> AnyArray:
    """[..., K] by chunks: [..., chunks, units, elements of a unit]."""
    chunks = matrix.shape[-1] // chunk
    return matrix.reshape(*matrix.shape[:-1], chunks, min(chunk, 4), max(chunk // 4, 1))


def _kept(atom: AnyMmaAtom, units: AnyArray) -> Int64Array:
    """Which units of each chunk are stored, in increasing order: those that are not zeros, and the
    first of the others. Raises AtomError for a chunk with too many."""
    # A NaN is not zero, a negative zero is.
    taken = (units != units.dtype.type(0)).any(axis=-1)
    half = taken.shape[-1] // 2
    if (bad := taken.sum(axis=-1) > half).any():
        *batch, row, place = (int(axis[0]) for axis in np.nonzero(bad))
        chunk = units[(*batch, row, place)].ravel()
        first, pairs = place * len(chunk), " pairs" if atom.chunk == 8 else ""
        within = f" of matrix {tuple(batch)}" if batch else ""
        raise AtomError(
            f"'{atom.op}' expected at most {half}{pairs} of {taken.shape[-1]} neighbours in a row "
            f"of A that are not zeros, got {int(taken[(*batch, row, place)].sum())} in row {row}, "
            f"columns {first} to {first + len(chunk) - 1}{within}: "
            f"{', '.join(map(str, chunk))} ({atom.row.section})"
        )
    order = np.argsort(~taken, axis=-1, kind="stable")[..., :half]
    return np.sort(order, axis=-1)


def _check_indices(atom: AnyMmaAtom, kept: Int64Array) -> None:
    """Raise AtomError for metadata [..., M, chunks, 2] that PTX leaves undefined."""
    low, high = kept[..., 0], kept[..., 1]
    bad, legal = low == high, "two different indices"
    if atom.chunk == 2:
        bad, legal = (low % 2 != 0) | (high != low + 1), "0b0100 or 0b1110"
    if bad.any():
        *_, row, place = (int(axis[0]) for axis in np.nonzero(bad))
        got = int((high << 2 | low)[bad][0])
        raise AtomError(
            f"'{atom.op}' expected metadata of {legal} for each chunk, got {got:#06b} for chunk "
            f"{place} of row {row} ({atom.row.section})"
        )


# The order of an atom


def _in_registers(atom: AnyMmaAtom, operand: _Stored) -> bool:
    if isinstance(atom, UmmaAtom):
        return False
    return operand == "E" or isinstance(atom, MmaAtom) or atom.frag_kind == "rs"


def _ordered(atom: AnyMmaAtom, operand: _Stored, matrix: AnyArray) -> AnyArray:
    """A matrix [..., rows, columns] in the order in which an atom takes the operand."""
    in_registers = _in_registers(atom, operand)
    if not in_registers and operand not in _tmem_operands(atom):
        return matrix
    element = atom.element(operand)
    bits = _padded(matrix, element)
    if isinstance(atom, UmmaAtom):
        return to_cells(atom, operand, bits)
    row, column = np.moveaxis(atom.coords(operand), -1, 0)
    return words_of(bits[..., row, column], element).view(np.uint32)


def _matrix(atom: AnyMmaAtom, operand: _Stored, data: AnyArray, selector: int) -> AnyArray:
    """The inverse of `_ordered`. Raises AtomError for another shape or dtype."""
    element, extents = atom.element(operand), atom.extents(operand)
    dtype = dtype_of_element(element.mlir) if operand == "A" else np.dtype(np.uint8)
    if isinstance(atom, FragmentAtom) and _in_registers(atom, operand):
        _check(atom, operand, data, np.dtype(np.uint32), (atom.threads, atom.registers(operand)[1]))
        every = list(range(atom.threads))
        threads = contributing_threads(atom, selector) if operand == "E" else every
        row, column = np.moveaxis(atom.coords(operand)[threads], -1, 0)
        bits = np.zeros((*data.shape[:-2], *extents), dtype=element.container)
        bits[..., row, column] = elements_of(data, element)[..., threads, :]
    elif isinstance(atom, UmmaAtom) and operand in _tmem_operands(atom):
        bits = _from_cells(atom, operand, data)
    else:
        _check(atom, operand, data, dtype, extents)
        return data
    return bits if operand == "E" else _unpadded(bits, element, dtype)


def _check(
    atom: AnyMmaAtom,
    operand: _Stored,
    data: AnyArray,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
) -> None:
    if data.dtype != dtype or data.shape[-len(shape) :] != shape:
        raise AtomError(
            f"'{atom.op}' expected {operand} of {dtype} [..., {', '.join(map(str, shape))}], "
            f"got {data.dtype} {list(data.shape)}"
        )


def _padded(matrix: AnyArray, element: ElementType) -> AnyArray:
    """The bits of elements, as a register or a cell holds one."""
    bits = np.ascontiguousarray(matrix).view(element.container)
    return (bits & bits.dtype.type((1 << (element.width or element.bits)) - 1)) << element.shift


def _unpadded(bits: AnyArray, element: ElementType, dtype: np.dtype[Any]) -> AnyArray:
    """The inverse of `_padded`."""
    bare = np.ascontiguousarray(values_of(bits, element))
    if element.name == "s4":
        return ((bare ^ 8).astype(np.int8) - 8).astype(dtype)
    return bare.view(dtype)


# Tensor memory


def _tmem_operands(atom: AnyMmaAtom) -> tuple[str, ...]:
    return atom.tmem_operands if isinstance(atom, UmmaAtom) else ()


def _cells(atom: UmmaAtom, operand: _Stored) -> tuple[AnyArray, AnyArray, AnyArray]:
    """The lane, the column and the first bit of each element that one CTA has: [copies, rows,
    columns] each."""
    places = tensor_places(atom, operand)
    lane, column = np.divmod(places.cells, LANE_STRIDE)
    return lane, column, np.broadcast_to(places.bits, lane.shape)


def to_cells(atom: UmmaAtom, operand: _Stored, bits: AnyArray) -> UInt32Array:
    lane, column, first = _cells(atom, operand)
    batch = bits.shape[:-2]
    parts = bits.reshape(prod(batch), atom.cta_group, 1, *atom.cta_extents(operand))
    parts = np.broadcast_to(parts, (*parts.shape[:2], *lane.shape)).astype(np.uint32)
    image = np.zeros((*parts.shape[:2], LANES, int(column.max()) + 1), dtype=np.uint32)
    for shift in np.unique(first):  # of one shift every element has a cell of its own
        at = first == shift
        image[:, :, lane[at], column[at]] |= parts[:, :, at] << shift
    return image.reshape(*batch, *_ctas(atom), *image.shape[2:])


def _from_cells(atom: UmmaAtom, operand: _Stored, image: AnyArray) -> AnyArray:
    lane, column, first = (axis[0] for axis in _cells(atom, operand))
    shape = (*_ctas(atom), LANES, int(column.max()) + 1)
    _check(atom, operand, image, np.dtype(np.uint32), shape)
    element = atom.element(operand)
    batch = image.shape[: -len(shape)]
    whole = image.reshape(*batch, atom.cta_group, *shape[-2:])
    bits = whole[..., lane, column] >> first & np.uint32((1 << element.bits) - 1)
    return bits.reshape(*batch, *atom.extents(operand)).astype(element.container)


def _ctas(atom: UmmaAtom) -> tuple[int, ...]:
    return (atom.cta_group,) if atom.cta_group > 1 else ()
