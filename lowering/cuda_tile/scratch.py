"""Elements that change threads: through shared memory that the whole kernel shares.

Each use waits until all threads have read what the one before left there, writes, waits, and reads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import gpu, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, NoneAttr, i8, i64
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cute.types.memref import Space, SpaceAttr
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.lowering.cuda_tile.layouts import TileLayout, log2, spread
from tilewright.lowering.cuda_tile.threads import ThreadNumber
from tilewright.lowering.tile.emitter import Emitter

_WIDEST = 16
"""The most bytes that one access moves."""


def _bytes(count: int) -> MemRefType[Attribute]:
    return MemRefType(i8, [count], NoneAttr(), SpaceAttr(Space.SMEM))


class Scratch:
    """The shared memory of a kernel, and its barriers. `state`: a thread may still read it, as at
    the start of a loop's body and behind regions."""

    def __init__(self, emitter: Emitter, threads: ThreadNumber) -> None:
        self.emitter, self.threads = emitter, threads
        self._size = 0
        self.state = False
        self._allocation = memref.AllocOp([], [], _bytes(1), IntegerAttr(_WIDEST, i64))
        emitter.add(self._allocation)
        self._address = emitter.emit(address.AddressOp(self._allocation.memref))
        self.on_barrier: list[Callable[[], None]] = []

    def finish(self) -> None:
        """Allocate as much as was used."""
        allocation = self._allocation
        if not self._size:
            assert isinstance(self._address.owner, address.AddressOp)
            self._address.owner.detach()
            self._address.owner.erase()
        else:
            sized = memref.AllocOp([], [], _bytes(self._size), IntegerAttr(_WIDEST, i64))
            block = allocation.parent
            assert block is not None
            block.insert_op_before(sized, allocation)
            allocation.memref.replace_all_uses_with(sized.memref)
        allocation.detach()
        allocation.erase()

    # --- barriers ---

    def barrier(self) -> None:
        """Wait for all threads of the CTA."""
        self.emitter.add(gpu.BarrierOp())
        self.state = False
        for told in self.on_barrier:
            told()

    def take(self, size: int) -> SSAValue:
        """The address of so many bytes, which no thread still reads."""
        self._size = max(self._size, size)
        if self.state:
            self.barrier()
        return self._address

    def written(self) -> None:
        """Wait until all threads have written."""
        self.barrier()
        self.state = True

    # --- layouts ---

    def converted(
        self, source: TileLayout, elements: Sequence[SSAValue], target: TileLayout
    ) -> Sequence[SSAValue]:
        """Elements of one layout in another."""
        if source.threads == target.threads:
            return [elements[source.register_at[place]] for place in target.places]
        if all(element is elements[0] for element in elements) and not any(
            bit is not None for bit in source.threads
        ):
            return [elements[0]] * target.count
        size = address.bytes_of(elements[0].type)
        order = _memory_order(source, target, size)
        position = {bit: i for i, bit in enumerate(order)}
        base = self.take(size << len(order))
        self.store(base, source, elements, position)
        self.written()
        return self.load(base, target, elements[0].type, position)

    def told(self, layout: TileLayout, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """Elements that the first of the threads that hold the same knows, in all of them."""
        size = address.bytes_of(elements[0].type)
        order = _memory_order(layout, layout, size)
        position = {bit: i for i, bit in enumerate(order)}
        base = self.take(size << len(order))
        self.store(base, layout, elements, position)
        self.written()
        return self.load(base, layout, elements[0].type, position)

    def store(
        self, base: SSAValue, layout: TileLayout, elements: Sequence[SSAValue],
        position: dict[int, int],
    ) -> None:  # fmt: skip
        """Write a tile, bit b of an element's number being bit `position[b]` of its place."""
        size = address.bytes_of(elements[0].type)
        at = self._thread_address(base, layout, position, size)
        own = self.threads.first_of(layout)
        for registers, offset in _runs(layout, position, size):
            run = [elements[register] for register in registers]
            self.emitter.add(address.StoreOp(at, run, offset * size, predicate=own))

    def load(
        self, base: SSAValue, layout: TileLayout, element: Attribute, position: dict[int, int]
    ) -> list[SSAValue]:
        """The inverse of `store`."""
        size = address.bytes_of(element)
        at = self._thread_address(base, layout, position, size)
        loaded: dict[int, SSAValue] = {}
        for registers, offset in _runs(layout, position, size):
            load = address.LoadOp(at, (), [element] * len(registers), offset * size)
            loaded.update(zip(registers, self.emitter.add(load).results, strict=True))
        return [loaded[register] for register in range(layout.count)]

    def _thread_address(
        self, base: SSAValue, layout: TileLayout, position: dict[int, int], size: int
    ) -> SSAValue:
        weights = [0 if bit is None else size << position[bit] for bit in layout.threads]
        own = self.threads.total(weights)
        return base if own is None else self.emitter.binary("add", base, own)


def _memory_order(source: TileLayout, target: TileLayout, size: int) -> list[int]:
    """The bits of elements' numbers, lowest first as memory has them: first those that registers
    have on both sides, then those that they have where the tile is read."""
    bits = {bit for bit in (*source.threads, *source.registers) if bit is not None}
    widest = log2(_WIDEST // size)
    both = [bit for bit in target.registers if bit in source.registers][:widest]
    reads = [bit for bit in target.registers if bit not in both][: widest - len(both)]
    first = [*both, *reads]
    return [*first, *sorted(bits.difference(first))]


def _runs(layout: TileLayout, position: dict[int, int], size: int) -> list[tuple[list[int], int]]:
    """Registers side by side in memory, at most 16 bytes of them, and where they are."""
    place = [spread(register, [position[bit] for bit in layout.registers])
             for register in range(layout.count)]  # fmt: skip
    order = sorted(range(layout.count), key=place.__getitem__)
    low = 0
    taken = {position[bit] for bit in layout.registers}
    while low in taken and size << (low + 1) <= _WIDEST:
        low += 1
    step = 1 << low
    return [(order[i : i + step], place[order[i]]) for i in range(0, len(order), step)]
