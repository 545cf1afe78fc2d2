"""Bank conflicts of accesses to shared memory, and the swizzle that avoids them.

Shared memory has 32 banks of 4 bytes. A warp's access goes in phases: all 32 threads of an access
of 4 bytes or less, 16 of one of 8 bytes, 8 of one of 16 bytes (the rows of one matrix of ldmatrix).
A phase takes as many cycles as there are different words in one bank; equal words are read once.

    (8,64):(64,1) of f16, thread t at row t, 16 bytes    8 ways: every row begins in bank 0
    S<3,3,3> o 0 o (8,64):(64,1)                         1 way
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilewright.dialects.cute import Layout, Swizzle
from tilewright.dialects.frozen import frozen

BANKS = 32
BANK_BYTES = 4
WARP = 32
_PHASE_BYTES = BANKS * BANK_BYTES
_MAX_BITS = 3
_SHIFT = 3
"""The swizzles that TMA and wgmma know: S<0..3,16 bytes,3>."""
VECTOR_BYTES = 16


def ways(addresses: Sequence[int], width: int) -> int:
    """How many cycles the slowest phase of an access takes: 1 where nothing conflicts.

    `addresses` are the first bytes of what each thread of a warp accesses, `width` bytes each.
    """
    return max(phases(addresses, width), default=1)


def phases(addresses: Sequence[int], width: int) -> list[int]:
    """The cycles of each phase of such an access."""
    threads = min(max(_PHASE_BYTES // max(width, BANK_BYTES), 1), WARP)
    starts = range(0, len(addresses), threads)
    return [_phase(addresses[start : start + threads], width) for start in starts]


def _phase(addresses: Iterable[int], width: int) -> int:
    words: set[int] = set()
    for address in addresses:
        last = address + max(width, 1) - 1
        words.update(range(address // BANK_BYTES, last // BANK_BYTES + 1))
    count = [0] * BANKS
    for word in words:
        count[word % BANKS] += 1
    return max(max(count), 1)


@frozen
class WarpAccess:
    """One access of a warp to a tile: where each thread's elements begin, in elements before the
    swizzle, and how many bytes it moves."""

    offsets: tuple[int, ...]
    width: int

    @classmethod
    def of(cls, threads: Layout, width: int) -> WarpAccess:
        """The access whose threads (up to a warp of them) a layout sends to offsets."""
        count = min(threads.size(), WARP)
        return cls(tuple(threads(i) for i in range(count)), width)

    def ways(self, bits: int, swizzle: Swizzle | None = None) -> int:
        """How many ways it conflicts on elements of `bits`, through a swizzle."""
        places = self.offsets if swizzle is None else [swizzle.apply(x) for x in self.offsets]
        return ways([place * bits // 8 for place in places], self.width)


def choose_swizzle(accesses: Sequence[WarpAccess], bits: int) -> Swizzle:
    """The swizzle under which the slowest of these accesses conflicts least, and of those the one
    with the fewest conflicts altogether that changes the fewest bits.

    It keeps 16 bytes together, and is one that TMA and wgmma know.
    """
    base = (8 * VECTOR_BYTES // bits).bit_length() - 1
    candidates = [Swizzle(count, base, _SHIFT) for count in range(_MAX_BITS + 1)]

    def cost(swizzle: Swizzle) -> tuple[int, int, int]:
        conflicts = [access.ways(bits, swizzle) for access in accesses]
        return max(conflicts, default=1), sum(conflicts), swizzle.bits

    return min(candidates, key=cost)
