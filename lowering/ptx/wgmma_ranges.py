"""How long a wgmma reads its A registers: until the wait that completes it, on every path."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.ir import Block, Operation

from tilewright.dialects.ptx.wgmma import WgmmaCommitGroupOp, WgmmaOp, WgmmaWaitGroupOp

Span = tuple[Block, int, int]
"""In a block, from after the first position to the second; -1 is the start of the block."""

Successors = Callable[[Operation], Sequence[Block]]


def in_flight(op: WgmmaOp, successors: Successors) -> Iterator[Span]:
    """Where a wgmma may be in flight.

    It is complete at the first `wait_group N` that follows more than N commits; a path is followed
    once for each count of commits.
    """
    block = op.parent
    assert block is not None
    highest = _highest_wait(block)
    work = [(block, block.get_operation_index(op), 0)]
    seen: set[tuple[Block, int]] = set()
    while work:
        block, start, commits = work.pop()
        end, commits = _follow(block, start, commits, highest)
        yield block, start, end
        last = block.last_op
        if end == _TO_THE_END and last is not None:
            for successor in successors(last):
                if (successor, commits) not in seen:
                    seen.add((successor, commits))
                    work.append((successor, -1, commits))


_TO_THE_END = 1 << 30


def _follow(block: Block, start: int, commits: int, highest: int) -> tuple[int, int]:
    """Where in the block it completes, or the block's end; the commits on the way."""
    for position, op in enumerate(block.ops):
        if position <= start:
            continue
        if isinstance(op, WgmmaCommitGroupOp):
            commits = min(commits + 1, highest + 1)
        elif isinstance(op, WgmmaWaitGroupOp) and op.pending.value.data < commits:
            return position, commits
    return _TO_THE_END, commits


def _highest_wait(block: Block) -> int:
    """The most groups that a wait of the kernel leaves pending."""
    region = block.parent
    assert region is not None
    waits = (op for block in region.blocks for op in block.ops if isinstance(op, WgmmaWaitGroupOp))
    return max((op.pending.value.data for op in waits), default=0)
