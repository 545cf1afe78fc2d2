"""Tensors behind tensor maps: read with zeros or NaN out of bounds, and written within bounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Protocol

import numpy as np

from tilewright.dialects.cute.symbolic.sharing import steps_over
from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorBox
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK, OUT_OF_BOUNDS
from tilewright.lowering.interpreter.arithmetic.reductions import combined
from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, Int64Array, UInt8Array
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.global_copies import Span
from tilewright.lowering.interpreter.values import Lanes

_SIGN, _INFINITY, _NAN = np.uint32(1 << 31), np.uint32(0x7F800000), np.uint32(0x7FFFE000)
"""The sign of an f32, its exponent, and NaN as tf32."""


class ElementRun(TensorBox):
    """Elements that lie one after the other, as many as they are."""

    def __post_init__(self) -> None:
        """Any number of them is copied."""


Corner = Sequence[int] | Sequence[Sequence[int]]
"""Where in a tensor a copy begins, or each of its pieces does, outermost first."""


class Buffer(Protocol):
    """A buffer of global memory."""

    name: str
    data: UInt8Array

    def check_writable(self, first: Int64Array, size: int, lanes: Lanes) -> None: ...


@dataclass(frozen=True)
class TensorImage:
    """A tensor in a buffer of global memory, as the hardware sees it through a tensor map.

    `first` is the byte of the buffer that it begins with; `shape` and `strides` (in bytes) are the
    tensor's, outermost first, the last stride being the size of an element. Of each 16 elements
    those are copied whose bits of the `mask` are set.
    """

    name: str
    buffer: Buffer
    first: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: TensorBox
    mask: int = (1 << CHUNK) - 1

    @cached_property
    def _elements(self) -> AnyArray:
        width = self.box.element.bytes
        data = self.buffer.data[self.first :]
        return data[: len(data) // width * width].view(f"uint{8 * width}")

    def check_writable(self, corner: Corner) -> None:
        """Raise Fault where a write of the box at a corner would change what is read-only."""
        span = self.span(0, corner, written=True)
        self.buffer.check_writable(span.first, span.size, span.lanes)

    def span(self, lane: int, corner: Corner, *, written: bool = False) -> Span:
        """The accesses of a thread to the elements of the box at a corner, or to those that are
        written."""
        inside, places = self.places(corner, written=written)
        first = self.first + places[inside] * self.box.element.bytes
        lanes, rows = np.full(len(first), lane), np.arange(len(first))
        return Span(lanes, rows, self.buffer.data, first, self.box.element.bytes)

    def read(self, corner: Corner) -> UInt8Array:
        """The bytes of the box at a corner, densely: zeros, or NaN, where it lies outside."""
        inside, places = self.places(corner)
        values = loaded(self._elements[np.where(inside, places, 0)], self.box.element.mlir)
        outside = np.full(4, OUT_OF_BOUNDS * self.box.nan, np.uint16).view(values.dtype)[0]
        return np.where(inside, values, outside).reshape(-1).view(np.uint8)

    def put(self, kind: str | None, corner: Corner, content: UInt8Array) -> None:
        """Write the bytes of the box at a corner, or combine the tensor with them as a reduction of
        a kind. What lies outside is left out, but the last 16 bytes of a row change whole (H200:
        stores, and reductions that add)."""
        corners = np.atleast_2d(np.array(corner)) if kind is not None else [corner]
        for one, part in zip(corners, np.split(content, len(corners)), strict=True):
            at, values = self._result(kind, one, part)
            self._elements[at] = values

    def changes(self, kind: str | None, corner: Corner, content: UInt8Array) -> BoolArray:
        """Which of the box's elements inside of the tensor `put` gives other values."""
        at, values = self._result(kind, corner, content)
        changed: BoolArray = self._elements[at] != values
        return changed

    def _result(
        self, kind: str | None, corner: Corner, content: UInt8Array
    ) -> tuple[Int64Array, AnyArray]:
        inside, places = self.places(corner, written=True)
        values = np.ascontiguousarray(content).view(self._elements.dtype).reshape(places.shape)
        at, values = places[inside], values[inside]
        if not steps_over(zip(self.shape, self.strides, strict=True)) or (
            kind is None and len(places) > 1
        ):
            check_written_apart(at)
        if kind is not None:
            values = combined(self.box.element.mlir, kind, self._elements[at], values)
        return at, values

    def size(self, corner: Corner) -> int:
        """The bytes of a copy."""
        pieces = np.atleast_2d(np.array(corner)).shape[0]
        return pieces * prod(self.box.piece) * self.box.element.bytes

    def pixels(self, begin: Sequence[int], offsets: Sequence[int]) -> Corner:
        """The corners of the pixels of a copy by im2col, from coordinates on, each so far from
        where the box has it: along W, then H and D within the box, then N (H200, which traps where
        they begin outside of it)."""
        box = self.box.im2col
        assert box is not None
        space = self.box.space
        bounds = [*zip(box.lower, box.upper, self.shape[space], box.steps, strict=True)]
        batch, at, corners = begin[0], [*begin[space]], list[list[int]]()
        for place, more, (lower, upper, extent, _) in zip(at, offsets, bounds, strict=True):
            if not lower <= place < extent + upper:
                raise Fault(
                    f"expected pixels from {lower} to {extent + upper - 1}, as the tensor map has "
                    f"them, got {place}"
                )
            if more >> box.bits:
                raise Fault(f"expected offsets of {box.bits} bits, got {more}")
        for _ in range(self.box.shape[0]):
            moved = (place + more for place, more in zip(at, offsets, strict=True))
            corners.append([batch, *begin[1 : space.start], *moved, begin[-1]])
            for axis in reversed(range(len(at))):
                lower, upper, extent, step = bounds[axis]
                at[axis] += step
                if at[axis] <= extent - 1 + upper:
                    break
                at[axis] = lower
            else:
                batch += 1
        return corners

    def pixels_of_a_row(self, begin: Sequence[int], offset: int, halo: int) -> Corner:
        """The corners of the pixels of a copy along W, then N: behind all of them, or each 32 of
        `im2col::w::128`, those of a halo. PTX ISA 5.5.5."""
        box = self.box.im2col
        assert box is not None
        count, group, most = self.box.shape[0], self.box.shape[0], 512
        if box.mode == "im2col::w::128":
            count, group, most = 128, 32, 32
        if not (0 <= halo < most and 0 <= offset < 32):
            raise Fault(
                f"expected wHalo below {most} and wOffset below 32 of {box.mode}, got {halo} and "
                f"{offset}"
            )
        (batch, *lines, place, channel), step = begin, box.steps[-1]
        last, corners = self.shape[-2] - 1 + box.upper[-1], list[list[int]]()
        if place > last:
            raise Fault(f"expected pixels up to {last}, as the tensor map has them, got {place}")
        for index in range(1, count + 1):
            pieces = 1 if index % group else 1 + halo
            if place + (pieces - 1) * step > last:
                raise Fault(
                    f"expected a halo up to pixel {last}, as the tensor map has them, got {halo} "
                    f"behind {place}: PTX does not say where those beyond are"
                )
            for piece in range(pieces):
                corners.append([batch, *lines, place + piece * step + offset, channel])
            place += step
            if place > last:
                batch, place = batch + 1, box.lower[-1]
        return corners

    def places(self, corner: Corner, *, written: bool = False) -> tuple[BoolArray, Int64Array]:
        """The elements of the box in the tensor, or those that are written, and their places in
        elements from its beginning on."""
        chunk = CHUNK // self.box.element.bytes if written else 1
        shape = (*self.shape[:-1], -(-self.shape[-1] // chunk) * chunk)
        corners = np.atleast_2d(np.array(corner, dtype=np.int64))
        piece = self.box.piece
        inside, places = np.ones((1,) * (len(piece) + 1), dtype=bool), np.zeros(1, dtype=np.int64)
        for axis, extent in enumerate(piece):
            along = np.arange(extent) * self.box.steps[axis]
            along = along.reshape([-1 if at == axis else 1 for at in range(len(piece))])
            index = corners[:, axis].reshape(-1, *(1,) * len(piece)) + along
            inside = inside & (index >= 0) & (index < shape[axis])
            places = places + index * (self.strides[axis] // self.box.element.bytes)
        inside = inside & (places < len(self._elements))
        if ~self.mask & (1 << CHUNK) - 1:
            inside = inside & (self.mask >> np.arange(self.box.shape[-1]) % CHUNK & 1).astype(bool)
        return inside, places


def loaded(words: AnyArray, element: str) -> AnyArray:
    """Elements as a copy leaves them in shared memory: f32 as tf32 rounded to nearest even, of
    which subnormal numbers are kept and NaN is one (H200)."""
    if not element.startswith("tf32"):
        return words
    rounded = words + (0xFFF + (words >> 13 & 1)) & 0xFFFFE000
    finite = (words & _INFINITY) != _INFINITY
    is_nan = (words & ~_SIGN) > _INFINITY
    return np.where(finite, rounded, np.where(is_nan, _NAN, words))


def check_written_apart(places: AnyArray) -> None:
    """Raise Fault where a copy writes two elements to one place of a tensor."""
    if len(np.unique(places)) < places.size:
        raise Fault(
            "writes two elements to one place of the tensor, in no order; nearest legal: a tensor "
            "whose elements lie apart"
        )


def chunk_addresses(start: int, box: TensorBox, size: int) -> Int64Array:
    """The places of the 16-byte chunks of boxes that start at an address of shared memory: the
    swizzle XORs bits 7 and up into those from its atom's on, in rows of its own."""
    chunks, row = np.arange(0, size, CHUNK, dtype=np.int64), box.shape[-1] * box.element.bytes
    pitch = box.swizzle if box.swizzle and not box.interleaved else row
    addresses = start + chunks // row * pitch + chunks % row
    mask = (1 << box.swizzle_bits) - 1
    return addresses ^ ((addresses >> 7 & mask) * box.swizzle_atom)
