"""MMAs in tensor memory: matrices from shared memory and tensor memory, through the arithmetic, and
back.

Everything here is of one CTA, or of one CTA of a pair, on arrays; what may be accessed when is no
business of this module. Nothing was measured: no chip with tensor memory was at hand.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from tilewright.dialects.cute_nvgpu.atoms.tmem_places import tensor_places
from tilewright.dialects.cute_nvgpu.atoms.umma import UmmaAtom
from tilewright.dialects.cute_nvgpu.descriptors.instruction_descriptor import InstructionDescriptor
from tilewright.dialects.cute_nvgpu.descriptors.smem_descriptor import TCGEN05
from tilewright.dialects.cute_nvgpu.descriptors.zero_column_mask import ZeroColumnMask
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.arithmetic.elements import values_of
from tilewright.lowering.interpreter.arithmetic.products import product_of, turned
from tilewright.lowering.interpreter.arithmetic.sparse import select_rows
from tilewright.lowering.interpreter.arithmetic.wgmma import chunk_addresses
from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, Int64Array, UInt32Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.numerics import (
    decode,
    encode,
    format_named,
    model_for,
)
from tilewright.lowering.interpreter.numerics.models import AnyModel


@frozen
class UmmaOptions:
    """The options of one MMA beside its atom. `zero_columns`, [N], are the columns of B
    that count as zeros, `kept_lanes`, [lanes of all its CTAs], those of D that are not written."""

    accumulate: bool
    negated: tuple[bool, bool] = (False, False)
    selector: int = 0
    sfa_id: int = 0
    sfb_id: int = 0
    input_scale: int = 0
    zero_columns: BoolArray | None = None
    kept_lanes: BoolArray | None = None


def umma_model(atom: UmmaAtom, arch: str, numerics: str) -> AnyModel:
    """The arithmetic of an atom on a chip. Raises NumericsError where it is not known."""
    if numerics == "exact":
        return "exact"
    scaled = atom.row.scale is not None
    return model_for(arch, *atom.types, "tcgen05", atom.row.kind if scaled else None)  # type: ignore[arg-type]


# Shared memory


def matrix_addresses(atom: UmmaAtom, operand: Literal["A", "B"], word: int) -> Int64Array:
    """The places of the 16-byte chunks of one CTA's part of a matrix, [rows or k, chunks]. Raises
    DescriptorError for a word that is no descriptor."""
    extents = atom.shared_extents(operand)
    major = atom.majors["AB".index(operand)]
    return chunk_addresses(word, major, extents, atom.element(operand).bits, TCGEN05)


# Tensor memory


def tensor_addresses(atom: UmmaAtom, operand: str, address: int, first: int = 0) -> Int64Array:
    """The cells of what one CTA has of an operand at an address: [copies, rows, columns]. Raises
    Fault for an address at which it cannot begin."""
    lane, column = address >> 16, address & 0xFFFF
    halves = operand in ("D", "A", "E") and atom.path.letter in ("C", "F")
    legal = (0, 16) if halves else (0,)
    if lane not in legal:
        raise Fault(
            f"expected operand {operand} to begin in lane {' or '.join(map(str, legal))} (data "
            f"path {atom.path.letter}), got address {address:#x}"
        )
    if operand == "E" and atom.row.selectors == (0, 1) and column % 2:
        raise Fault(
            "expected metadata that begin in an even column, from which the selector goes on, got "
            f"address {address:#x}"
        )
    return address + tensor_places(atom, operand, first).cells


def check_halves(atom: UmmaAtom, addresses: Mapping[str, int]) -> None:
    """Raise Fault where D, A and the metadata lie in different halves of the lanes."""
    lanes = {name: addresses[name] >> 16 for name in ("D", "A", "E") if name in addresses}
    if len(set(lanes.values())) > 1:
        raise Fault(
            f"{atom.mnemonic} expected {', '.join(lanes)} to begin in one lane, got "
            f"{', '.join(map(str, lanes.values()))} (data path {atom.path.letter})"
        )


def elements_of_cells(atom: UmmaAtom, operand: str, words: UInt32Array, first: int = 0) -> AnyArray:
    """The elements in the cells at `tensor_addresses`: in containers, [rows, columns].

    Raises Fault where the copies of the operand are not the same.
    """
    element = atom.element(operand)
    shifts = tensor_places(atom, operand, first).bits
    mask = np.uint32((1 << element.bits) - 1)
    every = (words >> shifts & mask).astype(element.container)
    if (every != every[:1]).any():
        copy, row, column = (int(axis[0]) for axis in np.nonzero(every != every[:1]))
        raise Fault(
            f"expected {len(every)} equal copies of operand {operand}, got "
            f"{int(every[0, row, column]):#x} and, in copy {copy}, "
            f"{int(every[copy, row, column]):#x} of row {row}"
        )
    return values_of(every[0], element)


# Arithmetic


def multiply(
    atom: UmmaAtom,
    a: AnyArray,
    b: AnyArray,
    d: AnyArray | None,
    model: AnyModel,
    options: UmmaOptions,
    *,
    e: AnyArray | None = None,
    scales: tuple[AnyArray, AnyArray] | None = None,
) -> AnyArray:
    """D of what one CTA has: a [rows, stored K], b [N, K], d [rows, N] or None where it is not
    added, e [rows, indices], scale factors [rows, S] and [N, S]. Words of D's type, [rows, N].

    Raises Fault for metadata that PTX leaves undefined.
    """
    a = turned(a, atom.element("A"), options.negated[0] != options.negated[1])
    if options.zero_columns is not None:
        b = np.where(options.zero_columns[:, None], b.dtype.type(0), b)
    rows, columns = a[None], np.ascontiguousarray(b.T)[None]
    met = None
    if e is not None:
        check_metadata(atom, e)
        met = select_rows(atom.chunk, columns, e[None].astype(np.int64))
    sums = product_of(
        atom,
        rows,
        columns,
        _addend(atom, d, a, b, options)[None],
        model,
        met=met,
        scales=scales and (scales[0][None], np.ascontiguousarray(scales[1].T)[None]),
    )
    return sums.reshape(len(a), -1)


def _addend(
    atom: UmmaAtom, d: AnyArray | None, a: AnyArray, b: AnyArray, options: UmmaOptions
) -> AnyArray:
    """The addend: D before, scaled down, or zeros."""
    container = np.dtype(atom.element("D").container)
    if d is None:
        return np.zeros((len(a), len(b)), dtype=container)
    words = d.astype(container)
    if not options.input_scale:
        return words
    return _scaled_down(words, atom.types[2], options.input_scale)


def _scaled_down(words: AnyArray, type_: str, exponent: int) -> AnyArray:
    """Words of a float type times 2 to minus an exponent, rounded to nearest even."""
    fmt = format_named(type_)
    return encode(np.ldexp(decode(words, fmt), -exponent), fmt)


_LEGAL_PAIRS = (0x4, 0x8, 0xC, 0x9, 0xD, 0x6, 0xE)
_LEGAL_HALVES = (0x4, 0xE)


def check_metadata(atom: UmmaAtom, e: AnyArray) -> None:
    """Raise Fault for metadata that PTX leaves undefined: e [rows, indices], two bits each."""
    low, high = e[:, ::2].astype(np.int64), e[:, 1::2].astype(np.int64)
    nibbles = high << 2 | low
    legal = _LEGAL_HALVES if atom.chunk == 2 else _LEGAL_PAIRS
    bad = ~np.isin(nibbles, legal)
    if bad.any():
        row, chunk = (int(axis[0]) for axis in np.nonzero(bad))
        raise Fault(
            f"{atom.mnemonic} expected metadata of {', '.join(f'{word:#x}' for word in legal)} for "
            f"each chunk, got {int(nibbles[row, chunk]):#x} for chunk {chunk} of row {row} "
            "(PTX ISA, tcgen05 sparse matrices)"
        )


def options_of(
    atom: UmmaAtom,
    descriptor: InstructionDescriptor,
    *,
    accumulate: bool,
    input_scale: int,
    zero_column_mask: int | None,
    lane_words: Sequence[int] | None,
) -> UmmaOptions:
    """The options that an instruction descriptor, and the operands after it, say.

    Raises Fault for what is not modelled, DescriptorError for a word that is no mask.
    """
    if descriptor.max_shift:
        raise Fault("a maximum shift of B is not modelled (no source says what it does)")
    columns = None if zero_column_mask is None else _zero_columns(atom, zero_column_mask)
    return UmmaOptions(
        accumulate,
        (descriptor.negate_a, descriptor.negate_b),
        descriptor.selector,
        descriptor.sfa_id,
        descriptor.sfb_id,
        input_scale,
        columns,
        None if lane_words is None else _lanes_of(lane_words),
    )


def _zero_columns(atom: UmmaAtom, word: int) -> BoolArray:
    mask = ZeroColumnMask.decode(word)
    mask.check(atom.m)
    if mask.shift:
        raise Fault("a column shift is not modelled (no source says what it does)")
    return np.array(mask.zeros(atom.m, atom.n), dtype=np.bool_)


def _lanes_of(words: Sequence[int]) -> BoolArray:
    """The lanes that a lane mask names: a bit each, [32 * words]."""
    mask = np.array(words, dtype=np.uint32).view(np.uint8)
    return np.unpackbits(mask, bitorder="little").astype(np.bool_)
