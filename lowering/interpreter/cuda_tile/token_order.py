"""Order within a block: tokens as sets of the memory operations that came before.

A token is a whole number whose bit i says that operation i happens before whatever takes the
token. Where blocks synchronise, an acquiring operation adds what the releasing one had seen, and
one numbering runs through all blocks.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import BoolArray, Int64Array
from tilewright.lowering.interpreter.cuda_tile.accesses import CONFLICTS, Access, Conflict, Kind
from tilewright.lowering.interpreter.cuda_tile.footprints import Footprint

Token: TypeAlias = int


class Log:
    """The history of one allocation: accesses with their numbers and the bytes that they span, and
    for each kind the set of numbers."""

    def __init__(self) -> None:
        self.accesses: list[Access] = []
        self.kinds: dict[Kind, int] = dict.fromkeys(Kind, 0)
        self._spans = np.empty((16, 3), np.int64)

    def add(self, number: int, access: Access) -> None:
        """Note an access."""
        count = len(self.accesses)
        if count == len(self._spans):
            self._spans = np.concatenate([self._spans, np.empty_like(self._spans)])
        self._spans[count] = number, *_span(access.footprint)
        self.accesses.append(access)
        self.kinds[access.kind] |= 1 << number

    def meeting(self, access: Access) -> Iterator[tuple[int, Access]]:
        """The accesses whose span meets one's, with their numbers, latest first."""
        spans = self._spans[: len(self.accesses)]
        low, high = _span(access.footprint)
        for i in np.flatnonzero((spans[:, 1] < high) & (low < spans[:, 2]))[::-1].tolist():
            yield int(spans[i, 0]), self.accesses[i]


def _span(footprint: Footprint) -> tuple[int, int]:
    """The first byte that any block touches, and the one behind the last."""
    size = footprint.itemsize
    return int(footprint.low.min()) * size, int(footprint.high.max()) * size


@entity
class TokenOrder:
    """The memory operations of a gang of blocks; with `synchronising`, of single blocks that see
    each other's."""

    synchronising: bool = False
    count: int = 0
    _logs: dict[int, Log] = factory(dict)
    _released: dict[int, Token] = factory(dict)

    def add(self, access: Access, before: Token) -> tuple[Token, Conflict | None]:
        """Note an access that takes a token. Returns its own token, and the first conflict."""
        log = self._logs.setdefault(id(access.footprint.allocation), Log())
        unordered = 0
        for kind in CONFLICTS[access.kind]:
            unordered |= log.kinds[kind]
        unordered &= ~before
        conflict = self._first(log, unordered, access) if unordered else None
        log.add(self.count, access)
        self.count += 1
        return before | 1 << (self.count - 1), conflict

    def acquired(self, addresses: Int64Array) -> Token:
        """The accesses that an acquire of these addresses knows to have happened."""
        token = 0
        for address in np.unique(addresses).tolist():
            token |= self._released.get(address, 0)
        return token

    def release(self, addresses: Int64Array, token: Token) -> None:
        """Let acquires of these addresses know what a token has behind it."""
        for address in np.unique(addresses).tolist():
            self._released[address] = self._released.get(address, 0) | token

    def _first(self, log: Log, unordered: int, later: Access) -> Conflict | None:
        for number, earlier in log.meeting(later):
            if unordered >> number & 1:
                met = self._meeting(earlier, later)
                if met is not None:
                    one, other, byte = met
                    return Conflict(earlier, later, one, other, byte)
        return None

    def _meeting(self, earlier: Access, later: Access) -> tuple[int, int, int] | None:
        """The blocks of both and a byte that both touch, or None."""
        one, other = earlier.footprint, later.footprint
        if self.synchronising or earlier.blocks is later.blocks:
            left = right = np.arange(max(len(one.low), len(other.low)))
        else:
            _, left, right = np.intersect1d(earlier.blocks, later.blocks, return_indices=True)
        left_rows = left if len(one.low) > 1 else np.zeros_like(left)
        right_rows = right if len(other.low) > 1 else np.zeros_like(right)
        meet = (one.low[left_rows] * one.itemsize < other.high[right_rows] * other.itemsize) & (
            other.low[right_rows] * other.itemsize < one.high[left_rows] * one.itemsize
        )
        if not meet.any():
            return None
        if one.geometry is not None and one.geometry == other.geometry:
            meet &= _boxes_meet(one, other, left_rows, right_rows)
        for pair in np.flatnonzero(meet):
            byte = _common_byte(one, int(left_rows[pair]), other, int(right_rows[pair]))
            if byte is not None:
                return int(earlier.blocks[left[pair]]), int(later.blocks[right[pair]]), byte
        return None


def _boxes_meet(one: Footprint, other: Footprint, left: Int64Array, right: Int64Array) -> BoolArray:
    """True where boxes in the index space of one tensor have an index in common."""
    assert one.corner is not None and other.corner is not None
    (start, extent), (begin, size) = one.corner, other.corner
    meet = (start[left] < begin[right] + size[right]) & (begin[right] < start[left] + extent[left])
    return np.all(meet, axis=1)


def _common_byte(one: Footprint, left: int, other: Footprint, right: int) -> int | None:
    """A byte that two blocks' accesses have in common, or None."""
    finest = min(one.itemsize, other.itemsize)
    parts = one.finer(finest).elements_of(left), other.finer(finest).elements_of(right)
    common = np.intersect1d(*parts)
    return int(common[0]) * finest if len(common) else None
