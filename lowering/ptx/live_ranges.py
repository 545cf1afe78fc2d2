"""Where a register is live or in flight: in each block, intervals of the places between its ops."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from xdsl.ir import Block

from tilewright.dialects.frozen import entity, factory
from tilewright.dialects.intervals import insert_interval
from tilewright.dialects.ptx.registers import ConstOp

Interval = tuple[int, int]
"""Live from after the first position to the second; -1 is the start of the block."""

Ranges = dict[Block, list[Interval]]

TO_THE_END = 1 << 30
"""Past the last op of any block."""


Uses = dict[Block, int]
"""The last place in each block where a value is read."""


@entity
class Slot:
    """One register before joining: where it is defined, the uses of each value that it is part of,
    and while in flight; the register that it became part of, where that is live, what it is called,
    the constant that it is, and the registers that it may not become part of."""

    kind: str
    block: Block
    position: int
    uses: tuple[Uses, ...]
    spans: tuple[tuple[Block, Interval], ...] = ()
    joined: Slot | None = None
    ranges: RegisterRanges | None = None
    name: str | None = None
    constant: ConstOp | None = None
    apart: set[Slot] = factory(set)

    @property
    def root(self) -> Slot:
        """The register that all joined with it have become."""
        if self.joined is None:
            return self
        root = self.joined
        while root.joined is not None:
            root = root.joined
        slot = self
        while slot.joined is not None:
            slot.joined, slot = root, slot.joined
        return root

    def live(self, predecessors: Mapping[Block, Sequence[Block]]) -> Ranges:
        """Where the slot is live, found backwards from its uses."""
        last: dict[Block, int] = {}
        for uses in self.uses:
            for block, position in uses.items():
                if position > last.get(block, -2):
                    last[block] = position
        work = list(last)
        seen: set[Block] = set()
        while work:
            block = work.pop()
            if block is self.block or block in seen:
                continue
            seen.add(block)
            for predecessor in predecessors.get(block, ()):
                last[predecessor] = TO_THE_END
                work.append(predecessor)
        ranges: Ranges = {block: [(-1, end)] for block, end in last.items()}
        # What nobody reads is written all the same: it takes its register for a moment.
        end = max(last.get(self.block, -1), self.position + 1)
        ranges[self.block] = [(self.position, end)]
        return ranges

    def flying(self) -> Ranges:
        """Where it is in flight."""
        flying: Ranges = {}
        for block, span in self.spans:
            flying[block] = _union([*flying[block], span]) if block in flying else [span]
        return flying


@entity
class RegisterRanges:
    """Where a register has a value that is read later, and where it is in flight."""

    live: Ranges
    flying: Ranges

    def union(self, other: RegisterRanges) -> RegisterRanges | None:
        """The ranges of both as one register; None where one is live where the other is anything.
        Nobody looks at what is in flight alone: two such may be what one register is on two paths
        that have met."""
        if (
            _overlap(self.live, other.live)
            or _overlap(self.live, other.flying)
            or _overlap(self.flying, other.live)
        ):
            return None
        # What is joined with many others grows: only the fewer blocks are gone through.
        few, many = sorted((self.live, other.live), key=len)
        live, flying = dict(many), dict(self.flying)
        for block, intervals in few.items():
            if block not in live:
                live[block] = intervals
                continue
            live[block] = list(live[block])
            for interval in intervals:
                insert_interval(live[block], interval)
        for block, intervals in other.flying.items():
            if (own := flying.get(block, intervals)) != intervals:
                intervals = _union([*own, *intervals])
            flying[block] = intervals
        return RegisterRanges(live, flying)


def _overlap(few: Ranges, many: Ranges) -> bool:
    if len(few) > len(many):
        few, many = many, few
    for block, intervals in few.items():  # noqa: SIM110
        if block in many and _meet(intervals, many[block]):
            return True
    return False


def _union(intervals: list[Interval]) -> list[Interval]:
    """The intervals in order, those that overlap or touch as one."""
    union: list[Interval] = []
    for start, end in sorted(intervals):
        if union and start <= union[-1][1]:
            union[-1] = (union[-1][0], max(union[-1][1], end))
        else:
            union.append((start, end))
    return union


def _meet(few: list[Interval], many: list[Interval]) -> bool:
    """True where two sorted lists of intervals overlap anywhere."""
    if len(few) > len(many):
        few, many = many, few
    for start, end in few:
        place = bisect_left(many, (start, start))
        if place and many[place - 1][1] > start:
            return True
        if place < len(many) and many[place][0] < end:
            return True
    return False
