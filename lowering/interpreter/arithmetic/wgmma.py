"""MMAs of warpgroups: matrices from shared memory and registers, through the arithmetic, and back.

What a descriptor reads and what a wgmma computes equal an H100 (tests/silicon).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np

from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.atoms.wgmma import WgmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import (
    CHUNK,
    WGMMA,
    DescriptorFormat,
    MajorMode,
    SmemDescriptor,
)
from tilewright.dialects.cute_nvgpu.lattice.elements import ElementType
from tilewright.dialects.cute_nvgpu.lattice.row import Operand
from tilewright.lowering.interpreter.arithmetic.elements import elements_of
from tilewright.lowering.interpreter.arithmetic.mma import Elements
from tilewright.lowering.interpreter.arithmetic.products import product_of, turned
from tilewright.lowering.interpreter.arithmetic.sparse import select
from tilewright.lowering.interpreter.array_types import AnyArray, Int64Array, UInt8Array
from tilewright.lowering.interpreter.numerics import model_for
from tilewright.lowering.interpreter.numerics.models import AnyModel

ReadBytes = Callable[[Int64Array], UInt8Array]
"""The 16 bytes at each of these addresses of shared memory: [...] to [..., 16]."""


def wgmma_model(atom: WgmmaAtom, arch: str, numerics: str) -> AnyModel:
    """The arithmetic of an atom on a chip. Raises NumericsError where it is not known."""
    return "exact" if numerics == "exact" else model_for(arch, *atom.types, "wgmma")


def read_matrix(
    atom: WgmmaAtom, operand: Literal["A", "B"], word: int, read: ReadBytes
) -> AnyArray:
    """The matrix of a descriptor, elements in containers: A [M, stored K], B [N, K].

    Raises DescriptorError for a word that is no descriptor.
    """
    element, extents = atom.element(operand), atom.extents(operand)
    major = atom.majors["AB".index(operand)]
    data = read(chunk_addresses(word, major, extents, element.bits))
    return matrix_of_chunks(atom, operand, data)


def matrix_of_chunks(
    atom: WgmmaAtom | UmmaAtom, operand: Literal["A", "B"], data: UInt8Array
) -> AnyArray:
    """The matrix that the bytes at its `chunk_addresses` are, [..., 16]: elements in containers."""
    values = chunk_elements(data, atom.element(operand))
    # K-major: [mn, chunks, elements]; MN-major: [k, chunks, elements].
    matrix = values.reshape(values.shape[0], -1)
    k_major = atom.majors["AB".index(operand)] == "k"
    return matrix if k_major else np.ascontiguousarray(matrix.T)


def chunk_elements(data: UInt8Array, element: ElementType) -> AnyArray:
    """The elements of chunks [..., 16] in containers: [..., elements]. Of elements that take a byte
    and have 4 or 6 bits, sixteen lie in the first 8 or 12 bytes of a chunk."""
    if not element.padded:
        return elements_of(data, element)
    bits = np.unpackbits(data[..., : 2 * element.width], axis=-1, bitorder="little")
    wide = bits.reshape(*data.shape[:-1], 16, element.width)
    return np.packbits(wide, axis=-1, bitorder="little")[..., 0]


def chunk_addresses(
    word: int,
    major: MajorMode,
    extents: tuple[int, int],
    bits: int,
    format: DescriptorFormat = WGMMA,
) -> Int64Array:
    """The places of the 16-byte chunks of a matrix, in bytes: [rows, chunks of a row] of a K-major
    one, [k, chunks] of an MN-major one. Raises DescriptorError for a word that is no descriptor
    of the format."""
    descriptor = SmemDescriptor.decode(word, format)
    start = replace(descriptor, start_address=0, base_offset=0)
    offsets = _chunk_offsets(start, major, extents, bits)
    return descriptor.swizzled(descriptor.start_address + offsets)


@cache
def _chunk_offsets(
    descriptor: SmemDescriptor, major: MajorMode, extents: tuple[int, int], bits: int
) -> Int64Array:
    per_chunk = 8 * CHUNK // bits
    layout = descriptor.layout(major, extents, bits)
    along, across = (1, 0) if major == "k" else (0, 1)
    chunks = np.arange(0, extents[along], per_chunk, dtype=np.int64)
    rows = np.arange(extents[across], dtype=np.int64)
    offsets = layout[across](rows)[:, None] + layout[along](chunks)[None, :]
    return offsets * bits // 8


def multiply_matrices(
    atom: WgmmaAtom,
    a: AnyArray,
    b: AnyArray,
    c: Elements,
    model: AnyModel,
    *,
    negated: tuple[bool, bool] = (False, False),
    e: Elements | None,
    selector: int = 0,
) -> Elements:
    """D of matrices a [warpgroups, M, stored K] and b [warpgroups, N, K], and of fragments
    c and e [warpgroups, threads, values]: [warpgroups, threads, values]."""
    a = turned(a, atom.element("A"), negated[0] != negated[1])
    b = np.ascontiguousarray(b.swapaxes(1, 2))
    c_matrix = c.reshape(len(c), -1)[:, _places(atom, "C")]
    met = None if e is None else select(atom, b, e, selector)
    d = product_of(atom, a, b, c_matrix, model, met=met, bit_operation="and")
    flat = np.empty((len(c), c_matrix.size // len(c)), dtype=d.dtype)
    flat[:, _places(atom, "D").ravel()] = d.reshape(len(c), -1)
    return flat.reshape(c.shape)


def fragment_matrix(atom: WgmmaAtom, a: Elements) -> AnyArray:
    """A from registers: [warpgroups, threads, values] to [warpgroups, M, stored K]."""
    return a.reshape(len(a), -1)[:, _places(atom, "A")]


@cache
def _places(atom: WgmmaAtom, operand: Operand) -> Int64Array:
    """The place of each matrix element in a warpgroup's fragment, as indices into [threads, values]
    flattened: A [M, stored K], C and D [M, N]."""
    row, column = atom.coords(operand).reshape(-1, 2).T
    places = np.empty(atom.extents(operand), dtype=np.int64)
    places[row, column] = np.arange(row.size)
    return places
