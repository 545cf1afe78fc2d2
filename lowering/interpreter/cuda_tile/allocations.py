"""Global memory as allocations: each argument array, each global, each `alloca` is one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.address_windows import base_of
from tilewright.lowering.interpreter.array_spans import bounds_of, overlapping, read_only_bytes
from tilewright.lowering.interpreter.array_types import (
    AnyArray,
    AnyDType,
    BoolArray,
    Int64Array,
    UInt8Array,
)


@entity
class TileAllocation:
    """A run of bytes with a name, at `base`. `constant`: no kernel may write it."""

    name: str
    octets: UInt8Array
    base: int
    constant: bool = False
    written: bool = False
    """True where any operation of the kernel may write it; loads from others need no copy."""
    read_only: BoolArray | None = None
    """Which bytes are those of arguments that may not be written alone; None: none."""
    copied: bool = True
    """True where the bytes are the run's own, not an argument's."""
    stored: BoolArray | None = None
    """Which bytes a block has written; None where nobody asks."""
    filled: BoolArray | None = None
    """Which bytes something has written; None where all hold something from the start."""

    def __len__(self) -> int:
        return len(self.octets)

    def elements(self, dtype: AnyDType) -> AnyArray:
        """All of it as elements of one type, from its first byte."""
        return self.octets[: len(self) - len(self) % dtype.itemsize].view(dtype)


@entity
class Allocations:
    """All allocations of a run, found by address."""

    all: list[TileAllocation] = factory(list)

    def add(self, name: str, octets: UInt8Array, *, constant: bool = False) -> TileAllocation:
        """Place bytes in memory; the allocation works on them in place."""
        allocation = TileAllocation(name, octets, base_of(len(self.all)), constant=constant)
        self.all.append(allocation)
        return allocation

    def at(self, window: int) -> TileAllocation | None:
        """The allocation of a number, or None."""
        return self.all[window] if 0 <= window < len(self.all) else None


class PointedArray(np.ndarray[Any, Any]):
    """An array whose pointer reaches what lies in front of it, too: all of `memory`."""

    memory: AnyArray


@entity
class ArrayTable:
    """A list of arrays as a kernel takes it: for each a row of 64-bit words in memory, its address,
    its shape and its strides in elements."""

    arrays: Sequence[AnyArray]

    def words(self, addresses: Sequence[int]) -> Int64Array:
        """The table, where the arrays lie at some addresses."""
        rows = [
            [address, *array.shape, *(stride // array.itemsize for stride in array.strides)]
            for array, address in zip(self.arrays, addresses, strict=True)
        ]
        return np.array(rows, np.int64)


class AddressTable(ArrayTable):
    """Words of memory, some of which are addresses in arrays: `places[i]` are the number of an
    array, and of a byte of it, that word i is the address of."""

    def __init__(
        self,
        content: Int64Array,
        arrays: Sequence[AnyArray],
        places: Mapping[int, tuple[int, int]],
    ):
        super().__init__(arrays)
        self._content, self._places = content, places

    def words(self, addresses: Sequence[int]) -> Int64Array:
        """The words, where the arrays lie at some addresses."""
        content = self._content.copy()
        for i, (number, byte) in self._places.items():
            content[i] = addresses[number] + byte
        return content


class PlacedArguments:
    """Argument arrays in memory: arrays that share memory share an allocation. Memory that the
    kernel does not write (`written` says so for each array) is the arrays' own; else a copy.

    `addresses[i]` is where array i begins; `results()` are the arrays as the kernel left them.
    """

    def __init__(
        self,
        arrays: Sequence[AnyArray],
        written: Sequence[bool],
        names: Sequence[str],
        memory: Allocations,
    ):
        pointed = [array.ctypes.data for array in arrays]
        arrays = [x.memory if isinstance(x, PointedArray) else x for x in arrays]
        self.arrays = arrays
        self._names = names
        self.addresses: list[int] = []
        self._spans: list[tuple[TileAllocation, int]] = []
        bounds = [bounds_of(array) for array in arrays]
        groups = overlapping(bounds)
        placed: dict[int, tuple[TileAllocation, int]] = {}
        filled: dict[int, bool] = {}
        for i, array in enumerate(arrays):
            first = groups[i]
            if first not in placed:
                members = [j for j, group in enumerate(groups) if group == first]
                start = min(bounds[j][0] for j in members)
                end = max(bounds[j][1] for j in members)
                octets = _own_octets(arrays[members[0]]) if len(members) == 1 else None
                filled[first] = octets is not None
                copied = octets is None or any(written[j] for j in members)
                if octets is None:
                    octets = np.zeros(end - start, np.uint8)
                elif copied:
                    octets = octets.copy()
                name = " / ".join(names[j] for j in members)
                placed[first] = memory.add(name, octets), start
                placed[first][0].copied = copied
                own = (arrays[j] for j in members)
                placed[first][0].read_only = read_only_bytes(own, start, end - start)
            allocation, start = placed[first]
            allocation.written |= written[i]
            begin = array.ctypes.data - start
            self._spans.append((allocation, begin))
            self.addresses.append(allocation.base + pointed[i] - start)
            if not filled[first]:
                self._image(i)[...] = array

    @property
    def allocations(self) -> list[TileAllocation]:
        """Where each array lies."""
        return [allocation for allocation, _ in self._spans]

    def _image(self, i: int) -> AnyArray:
        """Array i as it lies in its allocation."""
        return self._seen(i, self._spans[i][0].octets, self.arrays[i].dtype)

    def _seen(self, i: int, octets: AnyArray, dtype: Any) -> AnyArray:
        """The values at the first bytes of the elements of array i, of something that has one for
        each byte of its allocation."""
        array, begin = self.arrays[i], self._spans[i][1]
        if not array.size:
            return np.zeros(array.shape, dtype)
        return np.ndarray(array.shape, dtype, octets.data, offset=begin, strides=array.strides)

    def follow(self, outputs: Mapping[int, int]) -> None:
        """Note what is stored to some arrays, of elements of so many bytes."""
        self._outputs = outputs
        for i in outputs:
            allocation = self._spans[i][0]
            allocation.stored = np.zeros(len(allocation), np.bool_)

    def unwritten(self) -> Iterator[tuple[str, BoolArray]]:
        """Each array that has elements to which nothing was stored, by its name: those; an array of
        bytes has elements of a kernel's type."""
        for i, (allocation, _) in enumerate(self._spans):
            if allocation.stored is not None:
                missing = ~self._seen(i, allocation.stored, np.bool_)
                size = self._outputs[i] // self.arrays[i].itemsize
                if size > 1 and missing.size % size == 0:
                    missing = np.asarray(missing.reshape(-1, size).any(axis=1))
                if missing.any():
                    yield self._names[i], missing

    def fill(self, i: int, content: AnyArray) -> None:
        """Let array i hold something else from the start."""
        self._image(i)[...] = content

    def results(self) -> list[AnyArray]:
        """The arrays after the run, C-contiguous and apart from the arguments."""
        images = [self._image(i) for i in range(len(self.arrays))]
        return [
            np.ascontiguousarray(image) if self._alone(i) else np.array(image, order="C")
            for i, image in enumerate(images)
        ]

    def _alone(self, i: int) -> bool:
        """True where the memory of an array is a copy that no other array shares."""
        allocation = self._spans[i][0]
        sharing = sum(other is allocation for other, _ in self._spans)
        return allocation.copied and sharing == 1

    def write_back(self) -> None:
        """Let each array that the kernel may have written be what it is now, unless it is
        read-only: then it is what it was, or shares its memory with another one."""
        for i, array in enumerate(self.arrays):
            if self._spans[i][0].written and array.flags.writeable:
                np.copyto(array, self._image(i))


def _own_octets(array: AnyArray) -> UInt8Array | None:
    """The bytes of an array itself, where they lie in a row; None where they do not."""
    if not array.flags.c_contiguous:
        return None
    return array.reshape(-1).view(np.uint8)
