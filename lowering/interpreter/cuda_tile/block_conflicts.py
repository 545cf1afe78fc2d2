"""Conflicts between blocks: which of them had an access of some kind to each element of an
allocation, one or several.

Without acquire and release nothing orders two blocks, so that is enough to know.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np

from tilewright.dialects.frozen import entity, factory
from tilewright.lowering.interpreter.array_types import BoolArray, UInt32Array
from tilewright.lowering.interpreter.cuda_tile.accesses import CONFLICTS, Access, Conflict, Kind
from tilewright.lowering.interpreter.cuda_tile.allocations import TileAllocation
from tilewright.lowering.interpreter.cuda_tile.footprints import Box, Scatter

Words: TypeAlias = UInt32Array

MAX_BLOCKS = (1 << 24) - 1
_NOBODY, _SEVERAL = np.uint32(0), np.uint32((1 << 32) - 1)
"""Words in place of that of a block alone, its number from 1 on."""


@entity
class BlockConflicts:
    """The words of one allocation, by kind of access one for each `granule` bytes, and the accesses
    behind them."""

    allocation: TileAllocation
    accesses: list[Access] = factory(list)
    _granule: int = 0
    _words: dict[Kind, Words] = factory(dict)
    _noted: int = 0
    _spans: list[tuple[int, int]] = factory(list)

    def add(self, access: Access) -> Conflict | None:
        """Note an access. Returns the first conflict with another block's, or None.

        As long as all that blocks touched lies apart, in spans of bytes, the spans are enough;
        the words are filled in once two spans meet.
        """
        self.accesses.append(access)
        if self._noted == len(self.accesses) - 1 == 0 or self._spans:
            if self._lies_apart(access):
                return None
            self._spans.clear()
        for pending in self.accesses[self._noted :]:
            self._refine(pending.footprint.itemsize)
            self._noted += 1
            conflict = self._note(pending)
            if conflict is not None:
                return conflict
        return None

    def _lies_apart(self, access: Access) -> bool:
        """True where no two blocks' spans meet, those of earlier accesses included; notes them."""
        footprint = access.footprint
        low, high = footprint.low * footprint.itemsize, footprint.high * footprint.itemsize
        if len(low) != len(access.blocks):
            return False
        order = np.argsort(low, kind="stable")
        if (low[order][1:] < high[order][:-1]).any():
            return False
        first, last = int(low.min()), int(high.max())
        if any(first < end and start < last for start, end in self._spans):
            return False
        if self._spans and self._spans[-1][1] == first:
            first = self._spans.pop()[0]
        self._spans.append((first, last))
        return True

    def _refine(self, itemsize: int) -> None:
        """Let granules be no larger than elements of so many bytes."""
        factor = self._granule // itemsize
        if factor != 1 or not self._granule:
            self._granule = min(self._granule or itemsize, itemsize)
        if factor > 1:
            self._words = {kind: np.repeat(words, factor) for kind, words in self._words.items()}

    def _note(self, access: Access) -> Conflict | None:
        footprint, blocks = access.footprint, access.blocks
        # One row for several blocks: each of them touches it, so none does alone.
        together = len(footprint.low) == 1 and len(blocks) > 1
        if together and access.kind is Kind.WRITE and footprint.high[0] > footprint.low[0]:
            byte = int(footprint.elements_of(0)[0]) * footprint.itemsize
            return Conflict(access, access, int(blocks[0]), int(blocks[1]), byte)
        finer = footprint.finer(self._granule)
        own = np.full(1, _SEVERAL) if together else blocks.astype(np.uint32) + np.uint32(1)
        own = own.reshape(-1, *[1] * len(finer.tile))
        for part in finer.parts:
            wrong = self._update(part, part.of_tiles(own), access.kind)
            if wrong is not None:
                at = tuple(np.argwhere(wrong)[0])
                block = int(np.broadcast_to(part.of_tiles(own), wrong.shape)[at]) - 1
                laters = blocks.tolist() if together else [block]
                return self._conflict(access, laters, int(part.places()[at]))
        return None

    def _update(self, part: Box | Scatter, own: Words, kind: Kind) -> BoolArray | None:
        """Note an access to elements by the blocks of words `own`. Returns where it conflicts."""
        for other in CONFLICTS[kind]:
            if other in self._words:
                words = part.get(self._words[other])
                wrong = (words != _NOBODY) & ((words != own) | (words == _SEVERAL))
                if wrong.any():
                    return wrong
        if kind not in self._words:
            size = -(-len(self.allocation) // self._granule)
            self._words[kind] = np.full(size, _NOBODY)
        before, after = part.get(self._words[kind]), own
        if before.any():
            after = np.where((before == _NOBODY) | (before == own), own, _SEVERAL)
        part.put(self._words[kind], after)
        if own.size == 1:
            return None
        # Of the blocks that share an element the last has written its word: it was not alone.
        shared = part.get(self._words[kind]) != after
        if shared.any():
            if kind is Kind.WRITE:
                return shared
            part.put(self._words[kind], _SEVERAL, shared)
        return None

    def _conflict(self, access: Access, laters: Iterable[int], granule: int) -> Conflict:
        """The conflict at a granule of the access by one of some blocks, with the latest access of
        another block that was there."""
        byte = granule * self._granule
        return next(
            Conflict(earlier, access, block, later, byte)
            for later in laters
            for earlier in reversed(self.accesses[: self._noted])
            if earlier.kind in CONFLICTS[access.kind]
            for block in _blocks_at(earlier, byte)
            if block != later
        )


def _blocks_at(access: Access, byte: int) -> Iterator[int]:
    """The blocks whose access touches a byte of its allocation; of one for all of them the last
    comes first."""
    footprint, blocks = access.footprint, access.blocks.tolist()
    element = byte // footprint.itemsize
    for row in np.flatnonzero((footprint.low <= element) & (element < footprint.high)).tolist():
        if element in footprint.elements_of(row):
            yield from (blocks[row],) if len(footprint.low) == len(blocks) else blocks[::-1]
