"""Where all ways on from a block meet, against what is left of the ways without a block."""

from __future__ import annotations

import random

import pytest
from xdsl.dialects.builtin import i1
from xdsl.dialects.cf import BranchOp, ConditionalBranchOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Region

from tilewright.passes.analysis.hazards.blocks import joins


def graph(rng: random.Random) -> list[Block]:
    """Blocks that go on to none, one or two of them."""
    blocks = [Block(arg_types=[i1]) for _ in range(rng.randint(1, 8))]
    for block in blocks:
        one, other, (flag,) = rng.choice(blocks), rng.choice(blocks), block.args
        block.add_op(rng.choice((
            ReturnOp(), BranchOp(one, flag), ConditionalBranchOp(flag, one, [flag], other, [flag]),
        )))  # fmt: skip
    Region(blocks)
    return blocks


def ends(block: Block, without: Block | None = None) -> bool:
    """True where a way on from a block comes to an end."""
    met, work = {without, block}, [block]
    while work:
        last = work.pop().last_op
        assert last is not None
        if isinstance(last, ReturnOp):
            return True
        work += set(last.successors) - met
        met |= set(last.successors)
    return False


@pytest.mark.parametrize("seed", range(0, 300, 50))
def test_all_ways_meet_there_first(seed: int):
    for number in range(seed, seed + 50):
        blocks = graph(random.Random(number))
        met = joins(blocks[0].parent)  # type: ignore[arg-type]
        for block in filter(ends, blocks):
            behind = [b for b in blocks if b is not block and ends(b) and not ends(block, b)]
            first = [b for b in behind if all(c is b or not ends(b, c) for c in behind)]
            assert [met[block]] == (first or [None])
