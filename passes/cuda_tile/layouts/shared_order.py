"""Where the elements of a tile are in shared memory.

Bit b of an element's number is bit `position[b]` of its place. A swizzle adds to that, by exclusive
or, another bit of the address in bytes: rows of 16 bytes that lie whole lines of 128 apart then lie
in different banks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.layout import stacked
from tilewright.dialects.frozen import factory, frozen
from tilewright.dialects.sequences import numbered
from tilewright.passes.cuda_tile.layouts.layouts import (
    WARP_BITS,
    TileLayout,
    dim_bits,
    log2,
    mode_of,
    spread,
)

CHUNK = 16
"""The most bytes that one access moves, and a row of a matrix of ldmatrix."""
_BANK, _BANKS = 4, 32
"""The bytes of a bank, and how many there are."""
LINE_BITS = (4, 5, 6)
"""The bits of an address that say which chunk of a line of all banks it is in."""
_LINE = 128
"""The bytes of all banks."""


@frozen
class SharedOrder:
    """The order of elements of `size` bytes."""

    position: Mapping[int, int]
    size: int
    swizzle: Mapping[int, int] = factory(dict)

    @property
    def bytes(self) -> int:
        """The memory that the elements take."""
        return self.size << len(self.position)

    def natural(self, bits: Sequence[int | None]) -> list[int]:
        """The bytes that bits of an element's number stand for, the swizzle left out."""
        return [0 if bit is None else self.size << self.position[bit] for bit in bits]

    def turned(self, bits: Sequence[int | None]) -> list[int]:
        """The bytes that the swizzle turns for them."""
        return [
            1 << self.swizzle[bit] if bit is not None and bit in self.swizzle else 0 for bit in bits
        ]

    def renumbered(self, bits: Mapping[int, int]) -> SharedOrder:
        """The order of the tile whose element numbers have as bit `bits[b]` what is bit b here."""
        return SharedOrder(
            {bits[bit]: place for bit, place in self.position.items()},
            self.size,
            {bits[bit]: place for bit, place in self.swizzle.items()},
        )

    def pattern(self, bits: Sequence[int | None]) -> int:
        """Every bit of an address that bits of an element's number change."""
        changed = 0
        for part in (*self.natural(bits), *self.turned(bits)):
            changed |= part
        return changed

    def at(self, place: int) -> int:
        """The address of an element by its number, or of a part of its bits."""
        bits = [bit for bit in self.position if place >> bit & 1]
        address = 0
        for part in (*self.natural(bits), *self.turned(bits)):
            address ^= part
        return address

    def addresses(self, layout: TileLayout) -> int:
        """The registers that hold where a thread's elements lie: other bits of their addresses are
        constants."""
        pattern = self.pattern(layout.threads)
        return 1 << sum(self.at(1 << bit) & pattern > 0 for bit in layout.registers)

    def run_bits(self, layout: TileLayout) -> int:
        """The registers side by side that one access moves, as bits of their number."""
        taken = {self.position[bit] for bit in layout.registers if bit in self.position}
        low = 0
        while low in taken and self.size << (low + 1) <= CHUNK:
            low += 1
        return low

    def text(self, shape: Sequence[int]) -> str:
        """The layout in CuTe's words, coordinates in a tile -> elements behind its first one."""
        text = str(self.plain(shape))
        return f"{text}, chunks of {CHUNK} bytes swizzled" if self.swizzle else text

    def plain(self, shape: Sequence[int]) -> Layout:
        """The layout of what there is of a tile, which may be half of it, without the swizzle."""
        modes = [
            mode_of([self.position[bit] for bit in bits if bit in self.position])
            for bits in dim_bits(shape)
        ]
        return stacked(modes)

    def conflicts(self, layout: TileLayout) -> int:
        """The ways in which the accesses of a warp to a tile in a layout conflict; 1 is none. Those
        of 16 bytes go by 8 lanes at a time, of 8 bytes by 16."""
        width = self.size << self.run_bits(layout)
        lanes = min(32, 32 * _BANK // width)
        words: dict[int, set[int]] = {}
        for lane in range(min(lanes, 1 << len(layout.threads))):
            word = self.at(spread(lane, layout.threads)) // _BANK
            words.setdefault(word % _BANKS, set()).add(word)
        return max(len(of_bank) for of_bank in words.values())


def row_major(bits: int, size: int) -> SharedOrder:
    """Elements in the order of their numbers."""
    return SharedOrder({bit: bit for bit in range(bits)}, size)


def converting(
    source: TileLayout, target: TileLayout, size: int, last: Collection[int | None] = ()
) -> SharedOrder:
    """An order for a tile that is written in one layout and read in another: first the bits that
    registers have on both sides, then those that they have where it is read, or, if that is fewer
    accesses, conflicts or registers of addresses, where it is written; some are `last`."""
    bits = {bit for bit in (*source.threads, *source.registers) if bit is not None}
    widest = log2(CHUNK // size)
    both = [bit for bit in target.registers if bit in source.registers][:widest]

    def in_runs_of(side: TileLayout) -> SharedOrder:
        own = [bit for bit in side.registers if bit not in both][: widest - len(both)]
        first = [*both, *own]
        order = [*first, *sorted(bits.difference(first), key=lambda bit: (bit in last, bit))]
        plain = SharedOrder(numbered(order), size)
        swizzle: dict[int, int] = {}
        for layout in (source, target):
            swizzle |= _apart(plain, layout, swizzle)
        return SharedOrder(plain.position, size, swizzle)

    def effort(order: SharedOrder) -> tuple[int, ...]:
        layouts = source, target
        accesses = (1 << len(bits.difference(x.threads)) >> order.run_bits(x) for x in layouts)
        efforts = order.conflicts, order.addresses
        return sum(accesses), *(sum(map(effort, layouts)) for effort in efforts)

    return min(map(in_runs_of, (target, source)), key=effort)


def _apart(order: SharedOrder, layout: TileLayout, known: Mapping[int, int]) -> dict[int, int]:
    """The bits of an element's number that turn chunks of a line, so that the lanes that access
    shared memory at once do so in different banks: whole lines apart they would not."""
    together = log2(_LINE // (order.size << order.run_bits(layout)))
    lanes = [bit for bit in layout.threads[: min(together, WARP_BITS)] if bit is not None]
    inside = {order.position[bit] + log2(order.size) for bit in lanes}
    inside |= {known[bit] for bit in lanes if bit in known}
    free = [line for line in LINE_BITS if line not in inside]
    far = [bit for bit in lanes if order.size << order.position[bit] >= _LINE and bit not in known]
    return dict(zip(far, free, strict=False))


def rows_of_chunks(run: Sequence[int], rows: Sequence[int], size: int) -> SharedOrder:
    """An order for matrices: the bits of `run` lowest, rows of whole chunks; those of `rows` above,
    of which the lowest three turn the chunks of a line."""
    order = [*run, *rows]
    position = numbered(order)
    swizzle: dict[int, int] = {}
    free = [line for line in LINE_BITS if size << len(run) > 1 << line]
    for row in rows[:3]:
        if size << position[row] <= 1 << LINE_BITS[-1]:
            continue
        if free:
            swizzle[row] = free.pop(0)
    return SharedOrder(position, size, swizzle)
