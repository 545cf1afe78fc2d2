"""Global memory of a running kernel: the buffers and the tensor maps that its arguments are.

Every access is checked: it must lie in a buffer, on its own alignment.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import TensorBox
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK, TENSOR_MAP_BYTES, TensorElement
from tilewright.dialects.frozen import entity
from tilewright.lowering.interpreter.address_windows import base_of, window_of
from tilewright.lowering.interpreter.array_spans import why_read_only
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array, UInt8Array
from tilewright.lowering.interpreter.errors import OCTET, Fault, Unwritten, first_of
from tilewright.lowering.interpreter.machine.global_copies import Span
from tilewright.lowering.interpreter.machine.tensor_map import ElementRun, TensorImage
from tilewright.lowering.interpreter.machine.tensor_map_bytes import decoded, encoded
from tilewright.lowering.interpreter.values import Bits, Lanes, spread

SHARED_WINDOW = 1 << 32
"""The generic address of a CTA's shared memory: below all buffers, above all of its addresses."""

WORKSPACE = "the workspace of the grid"
"""The name of the memory by which the CTAs of a cooperative launch wait for each other."""

_TENSOR_MAPS = 1 << 62
_MAP_ALIGNMENT = 64
WIDE = np.dtype([("low", np.uint64), ("high", np.uint64)])
"""Words of 128 bits."""
_WORDS: dict[int, Any] = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: WIDE}


@entity
class Allocation:
    """A buffer of global memory: `data` is padded to whole 16-byte words, `size` is not. Some of
    its bytes may be `read_only`, and some may not be read yet, as nothing has written them; None:
    none are. Of local memory each thread has a `share` of bytes: its variables, the `frame`, and
    its stack, whose top goes down from the end."""

    name: str
    base: int
    data: UInt8Array
    size: int
    read_only: BoolArray | None = None
    unwritten: BoolArray | None = None
    share: int = 0
    frame: int = 0

    def check_own(self, address: Bits, size: int, threads: Bits) -> None:
        """Raise Fault, with its row, where a thread of the grid accesses more than its share."""
        first = address.astype(np.int64) - self.base - threads.astype(np.int64) * self.share
        beyond = (first < 0) | (first + size > self.share)
        wrong = beyond & (window_of(address) == window_of(self.base))
        if (row := first_of(wrong)) is not None:
            raise Fault(
                f"access out of bounds: bytes {first[row]} to {first[row] + size - 1} of "
                f"{self.name}, of which each thread has {self.share}",
                row,
            )

    def check_written(self, first: Int64Array, size: int, lanes: Lanes) -> None:
        """Raise Fault, with the thread, where nothing has written one of `size` bytes from some
        place on."""
        if self.unwritten is None:
            return
        wrong = self.unwritten[first[:, None] + np.arange(size)].any(axis=1)
        if OCTET.get() is None and (row := first_of(wrong)) is not None:
            raise Unwritten(f"read of {self.name} that nothing has written", int(lanes[row]))

    def check_writable(self, first: Int64Array, size: int, lanes: Lanes) -> None:
        """Raise Fault, with the thread, where one of `size` bytes from some place on may not be
        written."""
        if self.read_only is None or not len(first):
            return
        octets = np.minimum(first[:, None] + np.arange(size), self.size - 1)
        wrong = self.read_only[octets].any(axis=1)
        if (row := first_of(wrong)) is not None:
            byte = int(octets[row, np.argmax(self.read_only[octets[row]])])
            raise Fault(why_read_only(byte, f"'{self.name}'"), int(lanes[row]))


class GlobalMemory:
    """The buffers that kernel arguments point to, each in its window of addresses."""

    def __init__(self) -> None:
        self.allocations: list[Allocation] = []
        self._tensor_maps: dict[int, TensorImage] = {}
        self._map_bytes = Allocation("tensor maps", _TENSOR_MAPS, np.zeros(0, np.uint8), 0)
        self._made_maps: dict[bytes, TensorImage] = {}
        self.variables: dict[str, int] = {}
        self.constants: list[int] = []
        self.local: Allocation | None = None

    def place(self, name: str, content: UInt8Array) -> int:
        """The address of a new buffer holding a copy of these bytes."""
        return self.allocate(name, content).base

    def place_variables(self, variables: Mapping[str, tuple[bytes, bool]]) -> None:
        """Give the variables of a kernel's module, by their names, addresses: what is in each, and
        whether it is constant."""
        for name, (content, constant) in variables.items():
            buffer = self.allocate(name, np.frombuffer(content, np.uint8))
            self.variables[name] = buffer.base
            if constant:
                buffer.read_only = np.ones(buffer.size, np.bool_)
                self.constants.append(window_of(buffer.base))

    def link(self, variable: str, names: Mapping[int, str]) -> None:
        """Add the addresses of variables to words of one, by the number of the word."""
        words = self._buffer(self.variables[variable]).data.view(np.uint64)
        for word, name in names.items():
            words[word] += np.uint64(self.variables[name])

    def place_local(self, share: int, threads: int, frame: int = 0) -> None:
        """Give the threads of a grid so many bytes each, one behind the other."""
        size = share * threads
        self.local = self.allocate("local memory", np.zeros(size, np.uint8))
        self.local.share, self.local.frame = share, frame
        self.local.unwritten = np.ones(size, np.bool_)

    def forget(self, addresses: Bits, size: int) -> bool:
        """Let so many bytes from addresses on be unwritten; False where they are of no local
        memory."""
        if self.local is None or self.local.unwritten is None:
            return not len(addresses)
        first = addresses.astype(np.int64) - self.local.base
        if (first < 0).any() or (first > self.local.size - size).any():
            return False
        octets = first[:, None] + np.arange(size)
        self.local.unwritten[octets] = True
        if (octet := OCTET.get()) is not None:
            self.local.data[octets] = octet
        return True

    def add_tensor_map(
        self,
        name: str,
        address: int,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        box: TensorBox,
    ) -> int:
        """The address of a new tensor map in the kernel's parameters, of a tensor at an address;
        strides in bytes."""
        buffer = self._buffer(address)
        handle = _TENSOR_MAPS + len(self._tensor_maps) * TENSOR_MAP_BYTES
        first = address - buffer.base
        image = TensorImage(name, buffer, first, shape, strides, box)
        self._tensor_maps[handle], maps = image, self._map_bytes
        content = encoded(image, address, len(self._tensor_maps))
        maps.data = np.concatenate([maps.data, content])
        maps.size, maps.read_only = len(maps.data), np.ones(len(maps.data), np.bool_)
        return handle

    def map_bytes(self, handle: int) -> bytes:
        """The bytes of the tensor map of an argument."""
        first = handle - _TENSOR_MAPS
        return self._map_bytes.data[first : first + TENSOR_MAP_BYTES].tobytes()

    def protect(self, address: int, read_only: BoolArray) -> None:
        """Let some bytes of the buffer at an address be read alone."""
        self._buffer(address).read_only = read_only

    def in_space(self, address: Bits, chosen: Bits | None, space: str) -> Bits:
        """The addresses of a space, those of local memory of 32 bits being in its window. Raises
        Fault, with the thread, where a chosen one names memory of another space."""
        if self.local is None and space != "local":
            return address
        if self.local is not None and space == "local":
            address = np.where(address >> np.uint64(32), address, address | self.local.base)
        own = -1 if self.local is None else window_of(self.local.base)
        wrong = (window_of(address.astype(np.int64)) == own) != (space == "local")
        if chosen is not None:
            wrong = wrong & chosen
        if wrong.any():
            got = "global" if space == "local" else "local"
            message = f"expected an address of {space} memory, got one of {got} memory"
            raise Fault(message, int(np.argmax(wrong)))
        return address

    def _buffer(self, address: int) -> Allocation:
        return self.allocations[window_of(address)]

    def is_argument(self, address: int) -> bool:
        """True of the address of an argument's tensor map."""
        return address in self._tensor_maps

    def tensor_map(self, address: int) -> TensorImage:
        """The tensor map at an address: of an argument, or what a kernel has made in memory. Raises
        Fault where there is none."""
        if (tensor_map := self._tensor_maps.get(address)) is not None:
            return tensor_map
        if not 0 <= window_of(address) < len(self.allocations) or address % _MAP_ALIGNMENT:
            raise Fault(
                f"expected the address of a tensor map among the arguments, or in memory at "
                f"a multiple of {_MAP_ALIGNMENT} bytes, got {address:#x}"
            )
        where, first = self._found(address, TENSOR_MAP_BYTES)
        content = where.data[first : first + TENSOR_MAP_BYTES].tobytes()
        if content not in self._made_maps:
            self._made_maps[content] = decoded(content, self._argument, self._found)
        return self._made_maps[content]

    def _argument(self, number: int) -> TensorImage:
        return self.tensor_map(_TENSOR_MAPS + (number - 1) * TENSOR_MAP_BYTES)

    def _found(self, address: int, size: int = 1) -> tuple[Allocation, int]:
        """The buffer of so many bytes at an address, and the first byte there."""
        at, lanes = np.array([address], np.uint64), np.zeros(1, np.int64)
        where, [first] = self._bounds(at, lanes, np.array([size]), "tensor")
        return where, int(first)

    def run_of(
        self, address: int, size: int, element: TensorElement, around: tuple[int, int] = (0, 0)
    ) -> TensorImage:
        """The elements that a bulk copy of so many bytes names, without so many bytes on either
        side. Raises Fault where it may not."""
        for what, number in (("address", address), ("size in bytes", size)):
            if number % CHUNK or number < CHUNK:
                raise Fault(
                    f"expected a multiple of {CHUNK} as {what}, got {number}; nearest legal: "
                    f"{max(round(number / CHUNK), 1) * CHUNK}"
                )
        if max(around) >= CHUNK or sum(around) >= size:
            raise Fault(f"expected 0 to {CHUNK - 1} bytes to ignore, got {max(around)}")
        thread, inner = np.zeros(1, np.int64), size - sum(around)
        begin = np.array([address + around[0]], np.uint64)
        where, first = self._bounds(begin, thread, np.array([inner]), "copy")
        box = ElementRun((size // element.bytes,), element)
        extent = inner // element.bytes
        return TensorImage(where.name, where, int(first[0]), (extent,), (element.bytes,), box)

    def allocate(self, name: str, content: UInt8Array) -> Allocation:
        """A new buffer holding a copy of these bytes."""
        data = np.zeros(-(-max(content.size, 1) // 16) * 16, dtype=np.uint8)
        data[: content.size] = content
        base = base_of(len(self.allocations))
        allocation = Allocation(name, base, data, content.size)
        self.allocations.append(allocation)
        return allocation

    def spans(self, lanes: Lanes, address: Bits, size: int) -> Iterator[Span]:
        """Accesses of `size` bytes by the buffers that they are of."""
        if not len(lanes):
            return
        every = spread(address, len(lanes)).astype(np.int64)
        for rows in self._groups(every):
            sizes = np.full(len(rows), size)
            where, first = self._bounds(every[rows], rows, sizes, "access")
            yield Span(lanes[rows], rows, where.data, first, size)

    def load(self, address: Bits, width: int, count: int = 1) -> Bits:
        """`count` words of `width` bytes at each address: [threads, count], or [threads]."""
        loaded = np.empty((len(address), count), _WORDS[width])
        for rows, data, words in self._located(address, width, count, "read"):
            loaded[rows] = data[words]
        return loaded[:, 0] if count == 1 else loaded

    def store(self, address: Bits, value: Bits, width: int, count: int = 1) -> None:
        """The inverse of `load`; of threads that write one place the last one wins."""
        self.exchange(address, value, width, count)

    def exchange(self, address: Bits, value: Bits, width: int, count: int = 1) -> tuple[Bits, Bits]:
        """Store, and return what was there and what is there now: [threads, count]."""
        value = np.broadcast_to(value.reshape(len(value), count), (len(address), count))
        before: Bits = np.empty(value.shape, _WORDS[width])
        after = np.empty_like(before)
        for rows, data, words in self._located(address, width, count, "write"):
            before[rows], data[words] = data[words], value[rows]
            after[rows] = data[words]
        return before, after

    def read_bytes(self, address: Bits, counts: Int64Array, size: int) -> UInt8Array:
        """The first `counts` bytes at each address, then zeros up to `size`: [threads, size].

        A thread that reads no byte may name any address.
        """
        result = np.zeros((len(address), size), dtype=np.uint8)
        reading = np.flatnonzero(counts > 0)
        for group in self._groups(address[reading]):
            lanes = reading[group]
            where, first = self._bounds(address[lanes], lanes, counts[lanes], "read")
            check_aligned(first, size, lanes, "read", where.name)
            place = first[:, None] + np.arange(size)
            inside = np.arange(size) < counts[lanes, None]
            data = where.data[np.minimum(place, where.data.size - 1)]
            result[lanes] = np.where(inside, data, 0)
        return result

    def text(self, address: int) -> str:
        """The characters from an address up to a NUL."""
        at = np.array([address], np.uint64)
        where, [first] = self._bounds(at, np.arange(1), np.ones(1, np.int64), "read of a text")
        return bytes(where.data[first : where.size]).partition(b"\0")[0].decode(errors="replace")

    def check_writable(self, address: Bits, width: int) -> None:
        """Raise Fault where a word at one of these addresses may not be written."""
        if any(allocation.read_only is not None for allocation in self.allocations):
            for rows in self._groups(address):
                size = np.full(len(rows), width)
                where, first = self._bounds(address[rows], rows, size, "access")
                where.check_writable(first, width, rows)

    def _groups(self, address: Bits) -> list[Lanes]:
        """Threads by the allocation they name."""
        if not len(address):
            return []
        number = window_of(address)
        if (number == number[0]).all():
            return [np.arange(len(address))]
        return [np.flatnonzero(number == allocation) for allocation in np.unique(number)]

    def _located(
        self, address: Bits, width: int, count: int, verb: str
    ) -> Iterator[tuple[Lanes, Bits, Int64Array]]:
        """Accesses by the allocations that they are of: threads, the allocation's words, and which
        of them each thread accesses."""
        for lanes in self._groups(address):
            size = np.full(len(lanes), width * count, dtype=np.int64)
            where, first = self._bounds(address[lanes], lanes, size, verb)
            check_aligned(first, width * count, lanes, verb, where.name)
            if verb == "write":
                where.check_writable(first, width * count, lanes)
                if where.unwritten is not None:
                    where.unwritten[first[:, None] + np.arange(width * count)] = False
            else:
                where.check_written(first, width * count, lanes)
            yield lanes, where.data.view(_WORDS[width]), first[:, None] // width + np.arange(count)

    def _bounds(
        self, address: Bits, lanes: Lanes, size: Int64Array, verb: str
    ) -> tuple[Allocation, Int64Array]:
        """The allocation of the addresses and the offsets in it."""
        number = window_of(int(address[0]))
        is_map = number == window_of(_TENSOR_MAPS)
        if not is_map and not 0 <= number < len(self.allocations):
            raise Fault(
                f"{verb} out of bounds: address {int(address[0]):#x} is in no kernel argument",
                int(lanes[0]),
            )
        where = self._map_bytes if is_map else self.allocations[number]
        first = address.astype(np.int64) - where.base
        outside = (first < 0) | (first + size > where.size)
        if (lane := first_of(outside)) is not None:
            raise Fault(
                f"{verb} out of bounds: bytes {first[lane]} to {first[lane] + size[lane] - 1} of "
                f"'{where.name}', which has {where.size}",
                int(lanes[lane]),
            )
        return where, first


def check_aligned(first: Int64Array, size: int, lanes: Lanes, verb: str, name: str) -> None:
    if (lane := first_of(first % size)) is not None:
        raise Fault(
            f"misaligned {verb}: byte {first[lane]} of '{name}' is no multiple of {size}",
            int(lanes[lane]),
        )
