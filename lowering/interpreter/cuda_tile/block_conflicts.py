"""Conflicts between blocks: what every element of an allocation has seen, in one word each.

Without acquire and release nothing orders two blocks, so it is enough to know who touched an
element and how; the word holds that (state << 24 | block).
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tilewright.lowering.interpreter.cuda_tile.accesses import Access, Conflict, Kind
from tilewright.lowering.interpreter.cuda_tile.allocations import Allocation
from tilewright.lowering.interpreter.cuda_tile.footprints import Box

Words: TypeAlias = NDArray[np.uint32]

_BLOCK = np.uint32((1 << 24) - 1)
_STATE = ~_BLOCK
_READ, _WRITTEN, _ATOMIC, _MIXED, _READ_BY_MANY, _ATOMIC_BY_MANY = (
    np.uint32(state << 24) for state in range(1, 7)
)
_NOBODY = _BLOCK
MAX_BLOCKS = (1 << 24) - 1


class BlockConflicts:
    """The words of one allocation, one for each `granule` bytes, and the accesses behind them."""

    def __init__(self, allocation: Allocation):
        self.allocation = allocation
        self.granule = 0
        self.words: Words = np.empty(0, np.uint32)
        self.accesses: list[Access] = []
        self._noted = 0
        self._spans: list[tuple[int, int]] = []

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
        if not self.granule:
            self.granule = itemsize
            self.words = np.zeros(-(-len(self.allocation) // itemsize), np.uint32)
        elif itemsize < self.granule:
            self.words = np.repeat(self.words, self.granule // itemsize)
            self.granule = itemsize

    def _note(self, access: Access) -> Conflict | None:
        footprint, blocks = access.footprint, access.blocks
        # One row for several blocks: each of them touches it, so none does alone.
        together = len(footprint.low) == 1 and len(blocks) > 1
        ids = np.full(1, _NOBODY, np.uint32) if together else blocks.astype(np.uint32)
        if together and access.kind is Kind.WRITE and footprint.high[0] > footprint.low[0]:
            byte = int(footprint.elements_of(0)[0]) * footprint.itemsize
            return Conflict(access, access, int(blocks[0]), int(blocks[1]), byte)
        wider = footprint.itemsize // self.granule
        if footprint.boxes is None:
            return self._note_scattered(access, ids, wider)
        for box in footprint.boxes:
            view = _granules(box, self.words, wider)
            rows = ids[box.rows].reshape(-1, *[1] * (view.ndim - 1))
            wrong = _update(view, rows, access.kind)
            if wrong is not None:
                where = np.argwhere(wrong)[0]
                strides = np.array(view.strides) // view.itemsize
                granule = box.first * wider + int((where * strides).sum())
                later = int(blocks[box.rows][where[0]] if not together else blocks[0])
                return self._conflict(access, later, granule)
        return None

    def _note_scattered(self, access: Access, ids: Words, wider: int) -> Conflict | None:
        footprint = access.footprint
        assert footprint.offsets is not None
        offsets = footprint.offsets
        rows = np.broadcast_to(ids.reshape(-1, *[1] * (offsets.ndim - 1)), offsets.shape)
        if footprint.mask is not None:
            offsets, rows = offsets[footprint.mask], rows[footprint.mask]
        if wider > 1:
            offsets = offsets[..., None] * wider + np.arange(wider)
            rows = np.broadcast_to(rows[..., None], offsets.shape)
        words = self.words[offsets]
        wrong = _transition(words, rows, access.kind)
        if wrong is None:
            self.words[offsets] = words
            wrong = _shared(self.words, offsets, rows, access.kind)
        if wrong is None or not wrong.any():
            return None
        at = tuple(np.argwhere(wrong)[0])
        block = int(rows[at])
        later = int(access.blocks[0]) if block == _NOBODY else block
        return self._conflict(access, later, int(offsets[at]))

    def _conflict(self, access: Access, later: int, granule: int) -> Conflict:
        """The conflict at a granule, with the latest access of another block that was there."""
        byte = granule * self.granule
        for earlier in reversed(self.accesses[: self._noted]):
            footprint = earlier.footprint
            if access.kind is Kind.READ and earlier.kind is Kind.READ:
                continue
            low, high = footprint.low * footprint.itemsize, footprint.high * footprint.itemsize
            for row in np.flatnonzero((low <= byte) & (byte < high)):
                several = len(low) == 1 and len(earlier.blocks) > 1
                block = int(earlier.blocks[-1 if several else row])
                if block == later:
                    continue
                if byte // footprint.itemsize in footprint.elements_of(int(row)):
                    return Conflict(earlier, access, block, later, byte)
        word = int(self.words[granule] & _BLOCK)
        return Conflict(None, access, word, later, byte)


def _granules(box: Box, words: Words, wider: int) -> Words:
    """The words of a box; where an element has several granules, they are a last axis."""
    if wider == 1:
        return box.on(words)
    finer = Box(
        box.rows,
        box.first * wider,
        (*box.shape, wider),
        (*(stride * wider for stride in box.strides), 1),
        box.part,
    )
    return finer.on(words)


def _update(view: Words, rows: Words, kind: Kind) -> NDArray[np.bool_] | None:
    """Note an access to the words of a box of blocks `rows`. Returns where it conflicts."""
    if not view.any():
        view[...] = _fresh(rows, kind)
    else:
        words = view.copy()
        wrong = _transition(words, rows, kind)
        if wrong is not None:
            return wrong
        view[...] = words
    if len(rows) == 1:
        return None
    differ = (view & _BLOCK) != rows
    if not differ.any():
        return None
    if kind is Kind.WRITE:
        return differ
    # The last of the blocks that share an element has written its word: it was not alone.
    many = _READ_BY_MANY if kind is Kind.READ else _ATOMIC_BY_MANY
    state = _READ if kind is Kind.READ else _ATOMIC
    view[...] = np.where(differ & ((view & _STATE) == state), many, view)
    return None


def _shared(words: Words, offsets: Any, rows: Words, kind: Kind) -> NDArray[np.bool_] | None:
    """Where several blocks of one scattered access met; reads and atomics may."""
    left = words[offsets]
    differ = (left & _BLOCK) != rows
    if kind is Kind.WRITE:
        return differ
    many = _READ_BY_MANY if kind is Kind.READ else _ATOMIC_BY_MANY
    state = _READ if kind is Kind.READ else _ATOMIC
    met = differ & ((left & _STATE) == state)
    words[offsets[met]] = many
    return None


def _fresh(rows: Words, kind: Kind) -> Words:
    """The words of elements that nobody had touched."""
    if kind is Kind.WRITE:
        return rows | _WRITTEN
    alone, many = (_READ, _READ_BY_MANY) if kind is Kind.READ else (_ATOMIC, _ATOMIC_BY_MANY)
    return np.where(rows == _NOBODY, many, rows | alone)


def _transition(words: Words, rows: Words, kind: Kind) -> NDArray[np.bool_] | None:
    """Replace words by what they are after an access. Returns where it conflicts with another
    block's; the words mean nothing there."""
    state, own = words & _STATE, (words & _BLOCK) == rows
    fresh = _fresh(rows, kind)
    single = (state == _READ) | (state == _WRITTEN) | (state == _ATOMIC) | (state == _MIXED)
    other = single & ~own
    many = (state == _READ_BY_MANY) | (state == _ATOMIC_BY_MANY)
    if kind is Kind.READ:
        wrong = (other & (state != _READ)) | (state == _ATOMIC_BY_MANY)
        after = np.where(other & (state == _READ), _READ_BY_MANY, words)
        after = np.where(own & (state == _ATOMIC), rows | _MIXED, after)
    elif kind is Kind.WRITE:
        wrong = other | many
        atomic = (state == _ATOMIC) | (state == _MIXED)
        after = np.where(atomic, rows | _MIXED, rows | _WRITTEN)
    else:
        wrong = (other & (state != _ATOMIC)) | (state == _READ_BY_MANY)
        after = np.where(other & (state == _ATOMIC), _ATOMIC_BY_MANY, words)
        after = np.where(own & ((state == _READ) | (state == _WRITTEN)), rows | _MIXED, after)
    words[...] = np.where(words == 0, fresh, after)
    return wrong if wrong.any() else None
