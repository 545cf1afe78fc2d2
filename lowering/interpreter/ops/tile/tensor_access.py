"""Tensors of the `cute` dialect at run time: where their elements are, reading and writing them.

A `Tensor` of the algebra has a `base` then: the place in global or shared memory where its
allocation starts, or a `RegisterTensor`. Elements are counted colexicographically, the first mode
fastest, as CuTe counts them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.dialects.cute.int_tuple import ScaledBasis, flatten, is_tuple
from tilewright.dialects.cute.layout import Layout
from tilewright.dialects.cute.swizzle import AnyLayout, Swizzle
from tilewright.dialects.cute.symbolic.layouts import known
from tilewright.dialects.cute.symbolic.scalar import Scalar
from tilewright.dialects.cute.tensor import CoordTensor, Tensor
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import RANK_SHIFT
from tilewright.dialects.frozen import frozen
from tilewright.lowering.interpreter.arithmetic.elements import packed, unpacked
from tilewright.lowering.interpreter.arithmetic.lane_value import LaneInteger
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array
from tilewright.lowering.interpreter.errors import Fault, faults_of
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.machine.register_tensor import RegisterTensor
from tilewright.lowering.interpreter.values import Bits, spread

Places: TypeAlias = Int64Array
"""One number for each element of a tensor: [threads or 1, elements]."""


@frozen
class GlobalBase:
    """A kernel argument: the address of its first element in bytes."""

    address: int


@frozen
class SharedBase:
    """An allocation in shared memory: its first byte in that of the CTA."""

    address: int


# Where


def numbers(x: Any) -> Int64Array:
    """A leaf in every thread: [threads or 1]."""
    if isinstance(x, int):
        return np.array([x], dtype=np.int64)
    assert isinstance(x, LaneInteger)
    return x.numbers


def images(layout: Layout) -> Places:
    """A layout's values at all of its coordinates. Raises Fault where it has a dynamic extent."""
    if known(layout):
        return _static_images(layout)
    return _images(flatten(layout.shape), [numbers(stride) for stride in flatten(layout.stride)])


@lru_cache(maxsize=4096)
def _static_images(layout: Layout) -> Places:
    places = _images(flatten(layout.shape), [numbers(stride) for stride in flatten(layout.stride)])
    places.flags.writeable = False
    return places


def _images(extents: tuple[Scalar, ...], strides: list[Int64Array]) -> Places:
    places = np.zeros((1, 1), dtype=np.int64)
    for extent, stride in zip(extents, strides, strict=True):
        if not isinstance(extent, int):
            raise Fault("accesses a tensor with a dynamic extent; nearest legal: a slice of it")
        steps = stride[:, None] * np.arange(extent)
        wide = steps[:, :, None] + places[:, None, :]
        places = wide.reshape(len(wide), -1)
    return places


def first_sharing(tensor: Tensor) -> Places | None:
    """Of each element the first one that lies where it does; None where all lie apart."""
    modes = tensor.modes
    return _static_first_sharing(modes) if known(modes) else _first_sharing(images(modes))


@lru_cache(maxsize=4096)
def _static_first_sharing(layout: Layout) -> Places | None:
    return _first_sharing(_static_images(layout))


def _first_sharing(places: Places) -> Places | None:
    ordered = np.sort(places, axis=1)
    if (ordered[:, 1:] != ordered[:, :-1]).all():
        return None
    firsts = [np.unique(row, return_index=True, return_inverse=True)[1:] for row in places]
    return np.stack([first[number] for first, number in firsts])


def offsets(tensor: Tensor) -> Places:
    """The place of each element of a tensor, in elements from its base."""
    return numbers(tensor.offset)[:, None] + _values(tensor.layout)


def _values(layout: AnyLayout) -> Places:
    if isinstance(layout, Layout):
        return images(layout)
    assert isinstance(layout.inner, Swizzle) and not is_tuple(layout.offset)
    return layout.inner.apply(numbers(layout.offset)[:, None] + images(layout.outer))


def coordinates(tensor: CoordTensor) -> list[Places]:
    """The coordinates of a tensor of coordinates, axis by axis."""
    shape = flatten(tensor.layout.shape)
    strides = flatten(tensor.layout.stride)
    return [
        numbers(first)[:, None] + _images(shape, [_along(stride, path) for stride in strides])
        for path, first in _leaves(tensor.start, ())
    ]


def _leaves(t: Any, path: tuple[int, ...]) -> list[tuple[tuple[int, ...], Scalar]]:
    if not is_tuple(t):
        return [(path, t)]
    return [leaf for i, mode in enumerate(t) for leaf in _leaves(mode, (*path, i))]


def _along(stride: Any, path: tuple[int, ...]) -> Int64Array:
    """A stride's part along one axis."""
    if isinstance(stride, ScaledBasis):
        return numbers(stride.value) if tuple(stride.modes) == path else numbers(0)
    return numbers(stride if path == () else 0)


# Elements


def container(tensor: Tensor) -> np.dtype[Any]:
    """The dtype that holds an element's raw bits: a byte for a part of one. Raises Fault for an odd
    width."""
    if 64 % tensor.bits:
        raise Fault(
            f"accesses elements of {tensor.element}; nearest legal: elements of 1, 2, 4, 8, 16, 32 "
            "or 64 bits"
        )
    return np.dtype(f"uint{max(tensor.bits, 8)}")


def bit_offsets(tensor: Tensor) -> Places:
    """The address of each element, in bits."""
    return 8 * tensor.base.address + offsets(tensor) * tensor.bits


def byte_offsets(tensor: Tensor) -> Places:
    """The address of each element, in bytes: of less than a byte, of the byte that holds it."""
    return bit_offsets(tensor) // 8


def run_addresses(tensor: Tensor, width: int) -> Places:
    """The addresses, in bytes, of each run of so many elements. Raises Fault where parts of bytes
    are not side by side."""
    places = bit_offsets(tensor)
    if tensor.bits < 8:
        runs = places.reshape(len(places), -1, width)
        if (runs != runs[:, :, :1] + tensor.bits * np.arange(width)).any() or (
            runs[..., 0] % 8
        ).any():
            raise Fault(
                f"accesses elements of {tensor.element} that do not lie side by side in whole "
                f"bytes, {width} at a time"
            )
    return places[:, ::width] // 8


def read(
    machine: Machine,
    gang: Gang,
    tensor: Tensor,
    op: int,
    *,
    width: int = 1,
    chosen: BoolArray | None = None,
) -> Bits:
    """The elements of a tensor as raw bits, [threads, elements], `width` at each access; zeros
    where they are not chosen."""
    if isinstance(tensor.base, RegisterTensor):
        values = tensor.base.read(gang.lanes, offsets(tensor))
        return values if chosen is None else np.where(chosen, values, values.dtype.type(0))
    access = _Access.of(gang, tensor, width, chosen)
    result = np.zeros((access.total, access.width), dtype=container(tensor))
    if len(access.rows):
        with faults_of(access.threads):
            result[access.rows] = _load(machine, access, gang, tensor, op)
    return result.reshape(gang.count, -1)


def write(
    machine: Machine,
    gang: Gang,
    tensor: Tensor,
    values: Bits,
    op: int,
    *,
    width: int = 1,
    chosen: BoolArray | None = None,
) -> None:
    """The inverse of `read`; elements that are not chosen stay. A thread writes them in the order
    of their coordinates: of those that lie in one place the last one stays."""
    if isinstance(tensor.base, RegisterTensor):
        if chosen is None:
            tensor.base.write(gang.lanes, offsets(tensor), values)
        else:
            wide = np.broadcast_to(chosen, (gang.count, chosen.shape[1]))
            tensor.base.write_some(gang.lanes, offsets(tensor), values, wide)
        return
    access = _Access.of(gang, tensor, width, chosen)
    size = tensor.modes.size() // access.width
    wide = np.broadcast_to(values, (gang.count, values.shape[1]))
    by_row = wide.reshape(gang.count * size, -1)
    in_turn = first_sharing(tensor) is not None
    if isinstance(tensor.base, SharedBase):
        in_turn = in_turn or access.meets(size)
    for part in access.one_by_one(size) if in_turn else [access]:
        if len(part.rows):
            with faults_of(part.threads):
                data = np.ascontiguousarray(by_row[part.rows])
                _store(machine, part, gang, tensor, data, op)


@frozen
class _Access:
    """Accesses of `width` elements each: the `rows` that happen of `total`, each by the thread of
    the gang `threads` at the byte `address`."""

    width: int
    total: int
    rows: Int64Array
    threads: Int64Array
    address: NDArray[np.uint64]

    @classmethod
    def of(cls, gang: Gang, tensor: Tensor, width: int, chosen: BoolArray | None) -> _Access:
        least = max(8 // tensor.bits, 1)
        width = max(width, least)
        happens = None
        if chosen is not None:
            wide = np.broadcast_to(chosen, (gang.count, tensor.modes.size()))
            grouped = wide.reshape(gang.count, -1, width)
            if not (grouped.all(axis=2) == grouped.any(axis=2)).all():
                # An access that is chosen in part is one of single elements.
                grouped, width = wide.reshape(gang.count, -1, least), least
            happens = grouped[:, :, 0]
        address = spread(run_addresses(tensor, width), gang.count)
        threads = np.repeat(np.arange(gang.count), address.shape[1])
        rows = np.arange(address.size) if happens is None else np.flatnonzero(happens)
        return cls(width, address.size, rows, threads[rows],
                   address.ravel()[rows].astype(np.uint64))  # fmt: skip

    def meets(self, size: int) -> bool:
        """Accesses to one address of shared memory, of `size` each, have two numbers: threads
        instructions apart write it."""
        if size == 1 or not len(self.rows):
            return False
        units = (self.address & ((1 << RANK_SHIFT) - 1)).astype(np.int64)
        number, latest = self.rows % size, np.empty(int(units.max()) + 1, dtype=np.int64)
        latest[units] = number
        return bool((latest[units] != number).any())

    def one_by_one(self, size: int) -> Iterator[_Access]:
        """The first access of each thread, of `size` each, then the second one, and so on."""
        for number in range(size):
            mine = self.rows % size == number
            yield _Access(
                self.width, self.total, self.rows[mine], self.threads[mine], self.address[mine]
            )


def _load(machine: Machine, access: _Access, gang: Gang, tensor: Tensor, op: int) -> Bits:
    """The elements of each access: [accesses, width]."""
    size, lanes = access.width * tensor.bits // 8, gang.lanes[access.threads]
    if isinstance(tensor.base, SharedBase):
        data = machine.shared.load(lanes, access.address, size, op)
    else:
        counts = np.full(len(access.rows), size, dtype=np.int64)
        data = machine.accesses.read_bytes(lanes, access.address, counts, size, op)
    return unpacked(data, tensor.bits)


def _store(
    machine: Machine, access: _Access, gang: Gang, tensor: Tensor, data: Bits, op: int
) -> None:
    size, raw = access.width * tensor.bits // 8, packed(data, tensor.bits)
    lanes = gang.lanes[access.threads]
    if isinstance(tensor.base, SharedBase):
        machine.shared.store(lanes, access.address, raw, op)
        return
    word = min(size, 8)
    words = raw.view(f"uint{8 * word}")
    machine.accesses.store(lanes, access.address, words, word, size // word, op)
