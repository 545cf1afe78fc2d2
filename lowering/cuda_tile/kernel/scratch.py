"""Elements that change threads: through shared memory that the whole kernel shares.

Each use waits until all threads have read what the one before left there, writes, waits, and reads.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from functools import partial
from math import inf

from xdsl.dialects import arith, gpu, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, UnitAttr, i8, i32, i64
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.cute.types.memref import shared_line
from tilewright.dialects.cute_nvgpu.ops import address, sync, tma
from tilewright.lowering.cuda_tile.kernel.threads import ThreadNumber
from tilewright.lowering.cuda_tile.kernel.warp_moves import WarpMoves
from tilewright.lowering.emit.emitter import Emitter
from tilewright.passes.cuda_tile.analysis.stages import STORED
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, TileLayout, spread
from tilewright.passes.cuda_tile.layouts.shared_matrices import (
    ALIGNMENT,
    MatrixOrder,
)
from tilewright.passes.cuda_tile.layouts.shared_order import CHUNK, SharedOrder, converting

_OWN_BARRIER = 1
"""The barrier of the threads that compute, where others copy."""

_LEAST_PART = 1 << 11
"""The bytes of the least part of a tile that leaves room for another CTA."""


class _Line:
    """Shared memory whose size is known once the kernel is."""

    def __init__(
        self, emitter: Emitter, alignment: int, type_: Callable[[int], MemRefType[Attribute]]
    ) -> None:
        self._type, self._alignment, self.size = type_, alignment, 0
        self._allocation = memref.AllocOp([], [], type_(1), IntegerAttr(alignment, i64))
        before = emitter.entry.first_op
        self._address = address.AddressOp(self._allocation.memref)
        if before is None:
            emitter.entry.add_ops([self._allocation, self._address])
        else:
            emitter.entry.insert_ops_before([self._allocation, self._address], before)
        self.memref, self.address = self._allocation.memref, self._address.result

    def take(self, size: int) -> None:
        """Have so many elements at least."""
        self.size = max(self.size, size)

    def finish(self) -> None:
        """Allocate as much as was used."""
        allocation, block = self._allocation, self._allocation.parent
        assert block is not None
        if self.address.first_use is None:
            Rewriter.erase_op(self._address)
        if self.size:
            alignment = IntegerAttr(self._alignment, i64)
            sized = memref.AllocOp([], [], self._type(self.size), alignment)
            block.insert_op_before(sized, allocation)
            allocation.memref.replace_all_uses_with(sized.memref)
        Rewriter.erase_op(allocation)


class Scratch:
    """The shared memory of a kernel, and its barriers. `state`: a thread may still read it, as at
    the start of a loop's body and behind regions. `limit`: the bytes that there are, of which
    tiles that change layout take `conversion_bytes` at most, part after part."""

    def __init__(self, emitter: Emitter, threads: ThreadNumber, limit: float) -> None:
        self.emitter, self.threads = emitter, threads
        self.limit = limit
        self.conversion_bytes: float = limit
        self.store_room = STORED
        """The bytes through which TMA stores a tile."""
        self.state = False
        self.reserved = 0
        """The bytes at its beginning that stages take."""
        self.shared: float = inf
        """Those up to which another CTA has room beside it."""
        self.sharers: int | None = None
        """The threads that meet at barriers, where they are not all of the CTA."""
        self.copied = False
        """True where TMA has stored a tile."""
        self.spare: float = 0
        """The bytes that stages leave."""
        self._plain, self._of_warps = (
            _Line(emitter, CHUNK, partial(shared_line, i8)) for _ in range(2)
        )
        self._lines: dict[tuple[Attribute, int, bool], _Line] = {}
        self.laid: dict[tuple[Block, SSAValue], object] = {}
        """The matrices that lie where `take_lines` took room last, by the block that wrote them."""
        self.on_barrier: list[Callable[[], None]] = []
        self.before_reuse: list[Callable[[], None]] = []

    @contextmanager
    def within(self, size: float) -> Generator[None]:
        """Tiles that change layout meanwhile take so many bytes at most, behind those of stages, or
        what is left beside another CTA, unless that is little."""
        outside, left = self.conversion_bytes, self.left_beside
        if left >= _LEAST_PART:
            size = min(size, left)
        self.conversion_bytes = min(outside, self.reserved + size)
        yield
        self.conversion_bytes = outside

    @property
    def left_beside(self) -> float:
        """The bytes that tiles which change layout may take so that another CTA has room; less than
        none where it has none as it is."""
        if self.bytes > self.shared:
            return -inf
        return self.shared - (self.bytes - self._plain.size) - self.reserved

    @property
    def is_short(self) -> bool:
        """True where that is too little for a part of a tile."""
        return 0 <= self.left_beside < _LEAST_PART

    @property
    def left(self) -> float:
        """The bytes that there are beside those of matrices."""
        return self.limit - (self.bytes - self._plain.size)

    @property
    def bytes(self) -> int:
        """The shared memory that it takes."""
        sizes = (
            line.size * address.bytes_of(element) for (element, *_), line in self._lines.items()
        )
        plain = self._plain.size + self._of_warps.size
        return plain + sum(-(-size // ALIGNMENT) * ALIGNMENT for size in sizes)

    def finish(self) -> None:
        """Allocate as much as was used."""
        for line in (self._plain, self._of_warps, *self._lines.values()):
            line.finish()

    # --- barriers ---

    def barrier(self) -> None:
        """Wait for all threads of the CTA."""
        if self.sharers is None:
            self.emitter.add(gpu.BarrierOp())
        else:
            self.emitter.add(sync.BarSyncOp(_OWN_BARRIER, self.sharers))
        self.state = False
        for notify in self.on_barrier:
            notify()

    def take(self, size: int) -> SSAValue:
        """The address of so many bytes, which no thread still reads."""
        self._free()
        self._plain.take(self.reserved + size)
        if not self.reserved:
            return self._plain.address
        return self.emitter.binary("add", self._plain.address, self.reserved)

    def _free(self) -> None:
        for notify in self.before_reuse:
            notify()
        if self.state:
            self.barrier()

    def _line(self, order: MatrixOrder, element: Attribute, *, stored: bool = False) -> _Line:
        """The memory of matrices in an order, of those that are `stored` another one."""
        key = element, order.width, stored
        if key not in self._lines:
            self._lines[key] = _Line(self.emitter, ALIGNMENT, partial(order.line, element))
        return self._lines[key]

    def take_lines(
        self, orders: Sequence[tuple[MatrixOrder, Attribute]]
    ) -> list[tuple[SSAValue, int, SSAValue]]:
        """Room for matrices, which no thread still reads: for each the line of memory, where it
        begins there in elements, and its address."""
        self._free()
        self.laid.clear()
        taken: dict[_Line, int] = {}
        places: list[tuple[SSAValue, int, SSAValue]] = []
        for order, element in orders:
            line = self._line(order, element)
            start = taken.get(line, 0)
            taken[line] = start + order.bytes // order.order.size
            line.take(taken[line])
            at = line.address
            if start:
                at = self.emitter.binary("add", at, start * order.order.size)
            places.append((line.memref, start, at))
        return places

    def written(self) -> None:
        """Wait until all threads have written."""
        self.barrier()
        self.state = True

    # --- stores by TMA ---

    def store_line(
        self, order: MatrixOrder, element: Attribute, count: int
    ) -> tuple[SSAValue, SSAValue]:
        """A line of memory that copies read, of so many elements, and its address."""
        line = self._line(order, element, stored=True)
        line.take(count)
        return line.memref, line.address

    def free_store_line(self, *, read: bool) -> None:
        """Wait until the copies have `read` it, or are complete: of those that come first there
        are none."""
        emitter = self.emitter
        fresh = not self.copied and emitter.block is emitter.straight
        self.copied = True
        if fresh:
            return
        self._wait_for_copies(read=read)
        self.barrier()

    def _wait_for_copies(self, *, read: bool) -> None:
        emitter = self.emitter
        flag = UnitAttr() if read else None
        emitter.when(self.threads.is_first, lambda: emitter.add(tma.BulkWaitGroupOp(0, read=flag)))

    def end(self) -> None:
        """Wait until copies have read the memory; they are complete when the kernel is."""
        if self.copied:
            self._wait_for_copies(read=True)

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
        if None not in (narrow := [_widened(element) for element in elements]):
            # Numbers that were i32 move as such.
            moved = self.converted(source, list(filter(None, narrow)), target)
            return [self.emitter.pure(arith.ExtSIOp, [x], elements[0].type, {}) for x in moved]
        moves = WarpMoves.paying(source, target, elements[0].type)
        if moves is not None:
            return moves.made(source, elements, self.emitter, self.threads)
        return self.exchanged(source, elements, target)

    def converted_in_warps(
        self, source: TileLayout, elements: Sequence[SSAValue], target: TileLayout
    ) -> Sequence[SSAValue]:
        """The same through memory of which each warp has a part for itself, so that none waits for
        another one: of elements that stay in their warps, where there is room for as many."""
        element, taken = elements[0].type, self._of_warps.size
        order = converting(source, target, address.bytes_of(element), source.threads[WARP_BITS:])
        moves = WarpMoves.between(source, target, order.size, packs=False)
        fits = taken == order.bytes or (not taken and order.bytes <= self.spare - self.bytes)
        if moves is None or not moves.shuffles or None in source.threads or not fits:
            return self.converted(source, elements, target)
        self._of_warps.take(order.bytes)
        self.emitter.add(sync.WarpSyncOp())
        self.store(self._of_warps.address, source, elements, order)
        self.emitter.add(sync.WarpSyncOp())
        return self.load(self._of_warps.address, target, element, order)

    def exchanged(
        self,
        source: TileLayout,
        elements: Sequence[SSAValue],
        target: TileLayout,
        knows: SSAValue | None = None,
    ) -> list[SSAValue]:
        """Elements in another layout, written by the threads for which `knows` holds, by default by
        the first of those that hold the same. A tile that is too large goes part after part: the
        threads that have some of a part write and read it."""
        size = address.bytes_of(elements[0].type)
        parted = self._parted(source, target, size)
        left, right = source.without(parted), target.without(parted)
        order = converting(left, right, size)
        every, matches = spread(-1, parted), self.threads.matches
        results: dict[int, SSAValue] = {}
        for number in range(1 << len(parted)):
            part = spread(number, parted)
            own = [elements[source.register_of(place | part)] for place in left.places]
            registers = [target.register_of(place | part) for place in right.places]
            writers = left.idle if knows is None else source.thread_of(every)
            writes = matches(writers, source.thread_of(part))
            if writes is not None and knows is not None:
                writes = self.emitter.binary("and", knows, writes)
            reads = matches(target.thread_of(every), target.thread_of(part))
            before = [results.get(register, own[0]) for register in registers] if reads else ()
            base = self.take(order.bytes)
            self.store(base, left, own, order, knows if writes is None else writes)
            self.written()
            moved = self.load(base, right, own[0].type, order, condition=reads, otherwise=before)
            results.update(zip(registers, moved, strict=True))
        return [results[register] for register in range(target.count)]

    def _parted(self, source: TileLayout, target: TileLayout, size: int) -> list[int]:
        """The bits of an element's number by which a tile goes through memory part after part, as
        it is too large for it: those that registers have on both sides, else on one."""
        order = converting(source, target, size)
        bits = sorted(
            order.position,
            key=lambda bit: ((bit in source.registers) + (bit in target.registers), bit),
        )
        parted: list[int] = []
        while bits and order.size << len(bits) > self.conversion_bytes - self.reserved:
            parted.append(bits.pop())
        return parted

    def lay_down(
        self, tiles: Sequence[tuple[TileLayout, Sequence[SSAValue], SharedOrder]]
    ) -> list[SSAValue]:
        """Write the elements of tiles in memory that no thread still reads; their addresses."""
        starts, size = list[int](), 0
        for *_, order in tiles:
            starts.append(size)
            size += -(-order.bytes // CHUNK) * CHUNK
        base, addresses = self.take(size), list[SSAValue]()
        for start, (layout, elements, order) in zip(starts, tiles, strict=True):
            addresses.append(self.emitter.binary("add", base, start) if start else base)
            self.store(addresses[-1], layout, elements, order)
        return addresses

    def store(
        self, base: SSAValue, layout: TileLayout, elements: Sequence[SSAValue], order: SharedOrder,
        knows: SSAValue | None = None,
    ) -> None:  # fmt: skip
        """Write a tile from an address on, by the threads for which a condition holds, by default
        the first of those that hold the same."""
        place = self.places(base, layout.threads, order)
        own = self.threads.first_of(layout) if knows is None else knows
        for registers in _runs(layout, order):
            at, offset = place(layout.places[registers[0]])
            run = [elements[register] for register in registers]
            self.emitter.add(address.StoreOp(at, run, offset, predicate=own))

    def load(
        self, base: SSAValue, layout: TileLayout, element: Attribute, order: SharedOrder,
        condition: SSAValue | None = None, otherwise: Sequence[SSAValue] = (),
    ) -> list[SSAValue]:  # fmt: skip
        """The inverse of `store`. Where a condition does not hold, others."""
        return self.loads(base, layout, element, order, condition, otherwise)(0)

    def loads(
        self, base: SSAValue, layout: TileLayout, element: Attribute, order: SharedOrder,
        condition: SSAValue | None = None, otherwise: Sequence[SSAValue] = (),
    ) -> Callable[[int], list[SSAValue]]:  # fmt: skip
        """The elements whose numbers have the bits of a part too, by that."""
        load_run = self._run_loader(base, layout, element, order, condition, otherwise)
        runs = _runs(layout, order)

        def load(part: int) -> list[SSAValue]:
            loaded: dict[int, SSAValue] = {}
            for registers in runs:
                loaded.update(load_run(registers, part))
            return [loaded[register] for register in range(layout.count)]

        return load

    def _run_loader(
        self, base: SSAValue, layout: TileLayout, element: Attribute, order: SharedOrder,
        condition: SSAValue | None = None, otherwise: Sequence[SSAValue] = (),
    ) -> Callable[[Sequence[int], int], Iterable[tuple[int, SSAValue]]]:  # fmt: skip
        """The elements of a run of registers, by the part that they are of."""
        place = self.places(base, layout.threads, order)

        def load(registers: Sequence[int], part: int) -> Iterable[tuple[int, SSAValue]]:
            at, offset = place(layout.places[registers[0]] | part)
            others = [otherwise[register] for register in registers] if otherwise else ()
            types = [element] * len(registers)
            op = address.LoadOp(at, others, types, offset, predicate=condition)
            return zip(registers, self.emitter.add(op).results, strict=True)

        return load

    def lazily(
        self, base: SSAValue, layout: TileLayout, element: Attribute, order: SharedOrder
    ) -> Callable[[int], SSAValue]:
        """The element of a register, which is loaded, with its neighbours, where it is first asked
        for."""
        load_run = self._run_loader(base, layout, element, order)
        loaded = dict[int, SSAValue]()
        runs = {register: run for run in _runs(layout, order) for register in run}

        def load(register: int) -> SSAValue:
            if register not in loaded:
                loaded.update(load_run(runs[register], 0))
            return loaded[register]

        return load

    def places(
        self, base: SSAValue, threads: Sequence[int | None], order: SharedOrder
    ) -> Callable[[int], tuple[SSAValue, int]]:
        """The address, and a constant beside it, of a part of an element's number, that of the
        thread added."""
        emitter = self.emitter
        own = self.threads.total(order.natural(threads))
        turned = self.threads.turned(order.turned(threads))
        if own is None or turned is None:
            own = turned if own is None else own
        else:
            own = emitter.binary("xor", own, turned)
        pattern = order.pattern(threads)

        def place(number: int) -> tuple[SSAValue, int]:
            known = order.at(number)
            both = known & pattern
            at = own
            if both and at is not None:
                at = emitter.binary("xor", at, both)
            free = known ^ both
            return (base if at is None else emitter.binary("add", base, at)), free

        return place


def _runs(layout: TileLayout, order: SharedOrder) -> list[list[int]]:
    """Registers side by side in memory, at most 16 bytes of them."""
    step = 1 << order.run_bits(layout)
    plain = SharedOrder(order.position, 1)
    registers = sorted(range(layout.count), key=lambda register: plain.at(layout.places[register]))
    return [registers[i : i + step] for i in range(0, len(registers), step)]


def _widened(element: SSAValue) -> SSAValue | None:
    """The i32 that is wider now."""
    match element.owner:
        case arith.ExtSIOp(input=narrow) if narrow.type == i32:
            return narrow
        case _:
            return None
