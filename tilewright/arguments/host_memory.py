"""The memory of a kernel's NumPy arrays: what overlaps is one block of bytes, on either side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import c_uint8
from typing import Any, cast

import numpy as np

from tilewright.arguments.tensor_map import TensorMap
from tilewright.dialects.cute.int_tuple import is_tuple
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK
from tilewright.dialects.frozen import frozen, frozen_entity
from tilewright.lowering.interpreter.array_spans import (
    Bounds,
    bounds_of,
    overlapping,
    read_only_bytes,
)
from tilewright.lowering.interpreter.array_types import AnyArray, BoolArray, UInt8Array, is_array

Named = tuple[str, AnyArray]


@frozen_entity
class HostBlock:
    """Memory that arrays have together, from an address `start` here: its bytes, which of them may
    not be written (None: all may), and the `address` of the copy that the kernel gets."""

    name: str
    start: int
    octets: UInt8Array
    read_only: BoolArray | None
    address: int


@frozen
class HostPlace:
    """Where an array lies: from a byte of a block on, which is the `number`th in the memory."""

    block: HostBlock
    number: int
    first: int
    size: int

    @property
    def address(self) -> int:
        """Where its copy begins."""
        return self.block.address + self.first

    def of(self, contents: Sequence[UInt8Array]) -> UInt8Array:
        """Its bytes, of what the blocks hold."""
        return contents[self.number][self.first : self.first + self.size]


class HostMemory:
    """The blocks of some arguments, each copied by `copy`, to the address that it returns, once an
    array of it is needed."""

    def __init__(
        self,
        arguments: Iterable[tuple[str, Any]],
        copy: Callable[[str, UInt8Array], int],
    ):
        named = [(name, array) for pair in arguments for name, array in arrays_of(*pair)]
        named = [(name, array) for name, array in named if array.size]
        bounds = [bounds_of(array) for _, array in named]
        members: dict[int, list[Named]] = {}
        for leader, pair in zip(overlapping(bounds), named, strict=True):
            members.setdefault(leader, []).append(pair)
        self._members: dict[Bounds, list[Named]] = {
            bounds_of(array): group for group in members.values() for _, array in group
        }
        self._copy = copy
        self._numbers: dict[Bounds, int] = {}
        self.blocks: list[HostBlock] = []

    def shared(self, array: AnyArray) -> list[str]:
        """The names of the arguments whose memory is an array's, where it is of several, and may be
        written through one of them."""
        group = self._members.get(bounds_of(array), ())
        writable = any(member.flags.writeable for _, member in group)
        return [name for name, _ in group] if len(group) > 1 and writable else []

    def place(self, name: str, flat: AnyArray) -> HostPlace:
        """Where the array lies whose memory from its first element to its last one is `flat`: with
        the arguments that it overlaps, or alone."""
        start, end = flat.ctypes.data, flat.ctypes.data + flat.nbytes
        if (start, end) not in self._numbers:
            group = self._members.get((start, end), [(name, flat)])
            numbers = dict.fromkeys((bounds_of(array) for _, array in group), len(self.blocks))
            self._numbers |= numbers
            self.blocks.append(self._block(group, flat))
        number = self._numbers[start, end]
        block = self.blocks[number]
        return HostPlace(block, number, start - block.start, flat.nbytes)

    def _block(self, group: list[Named], flat: AnyArray) -> HostBlock:
        name, octets = " / ".join(name for name, _ in group), flat.view(np.uint8)
        start = octets.ctypes.data
        if len(group) > 1:
            bounds = [bounds_of(array) for _, array in group]
            low, end = min(low for low, _ in bounds), max(high for _, high in bounds)
            octets = np.ctypeslib.as_array((c_uint8 * (end - low)).from_address(low))
            # What is aligned here stays so.
            start = low // CHUNK * CHUNK
            octets = np.concatenate([np.zeros(low - start, np.uint8), octets])
        read_only = read_only_bytes((array for _, array in group), start, len(octets))
        return HostBlock(name, start, octets, read_only, self._copy(name, octets))

    def changed(self, contents: Sequence[UInt8Array]) -> str | None:
        """The names of arguments that may not be written, and are not what they were."""
        for block, content in zip(self.blocks, contents, strict=True):
            kept = block.read_only
            if kept is not None and (content[kept] != block.octets[kept]).any():
                return block.name
        return None


def arrays_of(name: str, argument: Any) -> Iterator[Named]:
    """The arrays of NumPy of an argument, with names: of tensor maps, and of structs' parts."""
    if is_array(argument):
        yield name, argument
    elif isinstance(argument, TensorMap) and argument.array is not None:
        yield name, argument.array
    elif is_tuple(argument) or isinstance(argument, dict):
        parts = cast("dict[int, Any]", argument) if isinstance(argument, dict) else argument
        places = parts if isinstance(parts, dict) else range(len(parts))
        for place in places:
            yield from arrays_of(f"{name}[{place}]", parts[place])
