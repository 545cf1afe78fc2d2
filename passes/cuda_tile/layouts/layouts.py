"""Which element of a tile each register of each thread of a CTA holds: a thread-value layout.

Tiles have powers of two of elements, so a layout is a table of bits. The number of an element, in
row-major order, has bits 0, 1, ...; bit i of the thread's number and bit j of the register's are
each one of them:

    tile 4x8, 8 threads, 4 registers:   threads (2, 3, 4)   registers (0, 1)

holds neighbours along the row in a thread. A bit of the thread's number that is no bit of the
element's (None) says that threads that differ in it hold the same. A reshaped tile has the same
layout, a permuted one its bits renumbered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.dialects.builtin import DenseArrayBase

from tilewright.dialects.cuda_tile.ops.core import CatOp, PermuteOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.algebra import coalesce
from tilewright.dialects.cute.layout import stacked
from tilewright.dialects.sequences import numbered

WARP_BITS = 5


def log2(extent: int) -> int:
    """The bits that number so many things, a power of two."""
    return extent.bit_length() - 1


def bits_of(shape: Sequence[int]) -> int:
    """The bits of the number of an element of a tile."""
    return log2(prod(shape))


def dim_bits(shape: Sequence[int]) -> list[range]:
    """The bits of each dimension's coordinate in the number of an element."""
    bits: list[range] = []
    end = bits_of(shape)
    for extent in shape:
        bits.append(range(end - log2(extent), end))
        end -= log2(extent)
    return bits


def above(bits: Sequence[Sequence[int]], along: int | None) -> list[int]:
    """The bits of all dimensions but one, the last dimension's first."""
    return [bit for i in reversed(range(len(bits))) if i != along for bit in bits[i]]


@dataclass(frozen=True)
class TileLayout:
    """The bit of the element's number that each bit of the thread's and of the register's is."""

    threads: tuple[int | None, ...]
    registers: tuple[int, ...]

    @cached_property
    def count(self) -> int:
        """The registers of each thread."""
        return 1 << len(self.registers)

    @cached_property
    def places(self) -> tuple[int, ...]:
        """The part of the element's number that follows from the register's."""
        places = [0]
        for bit in self.registers:
            places += [place | 1 << bit for place in places]
        return tuple(places)

    @cached_property
    def register_at(self) -> dict[int, int]:
        """The register of each place."""
        return numbered(self.places)

    @cached_property
    def idle(self) -> int:
        """The mask of the thread bits that are no bit of the element's number."""
        return sum(1 << i for i, bit in enumerate(self.threads) if bit is None)

    @property
    def run_bits(self) -> int:
        """The lowest bits of the element's number that are the register's, in order."""
        count = 0
        while count < len(self.registers) and self.registers[count] == count:
            count += 1
        return count

    @property
    def dealt(self) -> TileLayout:
        """The layout in which lanes that hold the same have a part each of their registers."""
        left, lanes = [*self.registers], self.threads[:WARP_BITS]
        dealt = (left.pop() if bit is None and left else bit for bit in lanes)
        return TileLayout((*dealt, *self.threads[WARP_BITS:]), tuple(left))

    def renumbered(self, bits: Mapping[int, int]) -> TileLayout:
        """The layout of the tile whose bit `bits[b]` is bit b here; of bits that it has not got,
        registers are dropped and threads hold the same."""
        return TileLayout(
            tuple(None if bit is None else bits.get(bit) for bit in self.threads),
            tuple(bits[bit] for bit in self.registers if bit in bits),
        )

    def without(self, bits: Sequence[int]) -> TileLayout:
        """The layout of the elements in whose numbers some bits are not set; threads that differ in
        these hold the same."""
        return TileLayout(
            tuple(None if bit in bits else bit for bit in self.threads),
            tuple(bit for bit in self.registers if bit not in bits),
        )

    def thread_of(self, number: int) -> int:
        """The first thread that has an element."""
        return gathered(number, self.threads)

    def register_of(self, number: int) -> int:
        """The register of an element in the threads that have it."""
        return gathered(number, self.registers)

    def text(self) -> str:
        """The layout in CuTe's words, (thread, register) -> element's number."""
        modes = [mode_of(self.threads), mode_of(self.registers)]
        return str(stacked(modes))


def mode_of(bits: Sequence[int | None]) -> Layout:
    """The mode that counts through bits, None being a stride of 0."""
    if not bits:
        return Layout(1, 0)
    strides = tuple(0 if bit is None else 1 << bit for bit in bits)
    return coalesce(Layout((2,) * len(bits), strides))


def spread(number: int, bits: Sequence[int | None]) -> int:
    """The number whose bit `bits[i]` is bit i of a number."""
    return sum(1 << bit for i, bit in enumerate(bits) if bit is not None and number >> i & 1)


def gathered(number: int, bits: Sequence[int | None]) -> int:
    """The number whose bit i is bit `bits[i]` of a number."""
    return sum(1 << i for i, bit in enumerate(bits) if bit is not None and number >> bit & 1)


def blocked(order: Sequence[int], thread_bits: int, run: int = 0) -> TileLayout:
    """A layout that deals elements out: of the bits in `order`, fastest first, the first `run` to
    registers, the next to threads, the rest to registers."""
    dealt = order[run : run + thread_bits]
    idle = (None,) * (thread_bits - len(dealt))
    return TileLayout((*dealt, *idle), (*order[:run], *order[run + thread_bits :]))


def broadcast_bits(source: Sequence[int], result: Sequence[int]) -> dict[int, int]:
    """Of the bits of a broadcast tile those of its source, dimensions of one element left out."""
    bits: dict[int, int] = {}
    for extent, own, wide in zip(source, dim_bits(source), dim_bits(result), strict=True):
        if extent > 1:
            bits.update(zip(wide, own, strict=True))
    return bits


def permuted_bits(shape: Sequence[int], order: Sequence[int]) -> dict[int, int]:
    """Of the bits of a permuted tile, whose dimension i is dimension `order[i]` of one of `shape`,
    those of its source."""
    own, result = dim_bits(shape), dim_bits([shape[axis] for axis in order])
    return {
        wide: bit
        for bits, axis in zip(result, order, strict=True)
        for wide, bit in zip(bits, own[axis], strict=True)
    }


def permutation_of(op: PermuteOp) -> dict[int, int]:
    """Of the bits of a permuted tile those of its source."""
    assert isinstance(op.permutation, DenseArrayBase) and isinstance(op.source.type, TileType)
    return permuted_bits(op.source.type.shape, op.permutation.get_values())  # type: ignore[arg-type]


def joined_bits(op: CatOp) -> tuple[int, dict[int, int]]:
    """The bit of a tile of two parts that says which one has an element, and what the others are in
    the part."""
    assert isinstance(op.result.type, TileType)
    shape = op.result.type.shape
    dim: int = op.dim.value.data  # type: ignore[attr-defined]
    half = dim_bits(shape)[dim].stop - 1
    return half, {bit: bit - (bit > half) for bit in range(bits_of(shape)) if bit != half}


def inverse(bits: Mapping[int, int]) -> dict[int, int]:
    """The inverse of a renumbering."""
    return {value: key for key, value in bits.items()}
