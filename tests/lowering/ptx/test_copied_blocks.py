"""Copies of the loops of random control flow change nothing that is stored."""

from __future__ import annotations

import random
from itertools import islice

import pytest
from test_registers_against_ssa import STORES, kernel, stores_of_text, stores_of_values
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.lowering.ptx.copied_blocks import CopiedBlocks, split
from tilewright.lowering.ptx.edges import erase_unreachable
from tilewright.lowering.ptx.rename_in_flight import loops_of
from tilewright.lowering.ptx.text import module_text
from tilewright.source.verification import verify


def copied_loops(entry: EntryOp, pick: random.Random) -> int:
    """Lay out a loop of the kernel a few times, with what is behind it up to somewhere."""
    loops = [loop for loop in loops_of(entry.body) if loop.exit is not None]
    for loop in loops[:1]:
        blocks, exit = [*loop.blocks], loop.exit
        assert exit is not None
        before = [op for op in exit.ops if op is not exit.last_op]
        if before and pick.random() < 0.7:
            blocks, exit = [*blocks, exit], split(pick.choice(before))
        again = CopiedBlocks(blocks, exit)
        for _ in range(pick.randint(1, 3)):
            again.copy()
    return len(loops)


@pytest.mark.parametrize("start", range(0, 300, 150))
def test_copies_of_a_loop_store_what_the_loop_does(start: int) -> None:
    loops = 0
    for seed in range(start, start + 150):
        entry = kernel(seed)
        erase_unreachable(entry.body)
        module = ModuleOp([entry])
        values = list(islice(stores_of_values(entry), STORES))
        loops += copied_loops(entry, random.Random(seed))
        verify(module)
        assert list(islice(stores_of_values(entry), STORES)) == values, seed
        assert list(islice(stores_of_text(module_text(module)), STORES)) == values, seed
    assert loops > 2
