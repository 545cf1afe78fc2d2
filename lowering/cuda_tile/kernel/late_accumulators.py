"""Accumulators that are stored part after part, each loaded from tensor memory where it is stored:
all of them at once have too few registers.

    tcgen05.ld of 256 columns; store 32; store 32; ..   ->   tcgen05.ld of 32; store them; ..
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

from tilewright.dialects.ancestors import makers
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.passes.cuda_tile.analysis.cost_model import MOST_AT_ONCE


class PartwiseElements:
    """Elements of a tile that are stored part after part; where they are too many for registers,
    each part is loaded before it is stored, and what is left as soon as it fits: MMAs wait for the
    last load."""

    def __init__(self, elements: Sequence[SSAValue], kernel: EntryLowering):
        self._left, self._kernel = dict.fromkeys(elements), kernel
        self._late = len(self._left) > MOST_AT_ONCE

    def load(self, part: Sequence[SSAValue]) -> None:
        """Load the next part."""
        if not self._late:
            return
        self._late = len(self._left) > MOST_AT_ONCE
        _load_late(part if self._late else [*self._left], self._kernel)
        for element in part:
            self._left.pop(element, None)


def _load_late(elements: Sequence[SSAValue], kernel: EntryLowering) -> None:
    """Have the loads of accumulators that only these elements come of at the end of the block,
    with what is computed of them."""
    block, loads = kernel.emitter.block, kernel.tensor.loads
    comes: dict[Operation, bool] = {load: True for load in loads if load.parent is block}
    pending = [element.owner for element in elements] if comes else []
    while pending:
        op = pending[-1]
        if op in comes or not isinstance(op, Operation) or op.parent is not block:
            pending.pop()
            continue
        before = makers(op)
        unknown = [x for x in before if x.parent is block and x not in comes]
        if unknown and is_side_effect_free(op):
            pending += unknown
            continue
        comes[op] = is_side_effect_free(op) and any(comes.get(x, False) for x in before)
    moved, op = dict[Operation, None](), block.last_op
    while op is not None and comes:
        uses = (use for result in op.results for use in result.uses)
        if comes.pop(op, False) and all(use.operation in moved for use in uses):
            moved[op] = None
        op = op.prev_op
    late = list(reversed(moved))
    for op in late:
        op.detach()
    kernel.tensor.load_again([op for op in late if op in loads])
    block.add_ops(op for op in late if op not in loads)
