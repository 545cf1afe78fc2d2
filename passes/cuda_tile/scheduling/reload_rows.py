"""Rows that are loaded once more behind a fold. What waits for it would be so many registers that a
multiprocessor has one block, and loads nothing while that computes.

    x = load p              x = load p
    m = reduce x      ->    m = reduce x
    store x - m             y = load p, late;  store y - m

The second load finds the row in a cache, an element after the other.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.passes.cuda_tile.analysis.view_access import tile_bytes
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.scheduling.unordered_loads import UNWRITTEN, promised

LATE = "cuda_tile.late"
"""The attribute of a load whose elements are loaded right in front of what needs them."""
_CROWD = 1 << 17
"""The bytes of rows that fill half of a multiprocessor's registers."""


def reload_rows(entry: EntryOp) -> None:
    """Load such rows of an entry again, of memory that it does not write."""
    if descendants(entry, Multiplication):
        return
    for block in {op.parent for op in descendants(entry, ReduceOp)}:
        if block is not None:
            _reload(block)


def _reload(block: Block) -> None:
    ops = list(block.ops)
    end = max(i for i, op in enumerate(ops) if isinstance(op, ReduceOp))
    before, after, last = ops[:end], ops[end + 1 :], ops[end]
    rows = [x for x in before if isinstance(x, LoadViewTkoOp) and UNWRITTEN in x.attributes]
    if sum(map(tile_bytes, rows)) < _CROWD:
        return
    made, needed = set[Operation](rows), set[Operation]()
    for op in before:
        if isinstance(op, PureOp) and not op.regions and not made.isdisjoint(_owners(op)):
            made.add(op)
    for op in (*after, *reversed(before)):
        if op in needed or op in after:
            needed |= made.intersection(_owners(op))
    again = dict[SSAValue, SSAValue]()
    for op in (op for op in before if op in needed):
        new = op.clone(again)
        block.insert_op_after(new, last)
        last = new
        if op in rows:
            promised(op, "is made again")
            new.attributes[LATE] = UnitAttr()
    for op in after:
        op.operands = [again.get(x, x) for x in op.operands]


def _owners(op: Operation) -> set[Operation]:
    return {x.owner for x in op.operands if isinstance(x.owner, Operation)}
