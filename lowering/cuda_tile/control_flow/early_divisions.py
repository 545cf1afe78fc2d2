"""Divisions of which a loop computes where its loads lie, in front of it: ptxas leaves them there.

%r = remi %rows, %n;  %p = offset %a, %r      in the layout of the load of the loop that lies
for %k { load_ptr_tko (offset %p, %k) }       at %p, now
"""

from __future__ import annotations

from collections.abc import Container

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.sequences import reachable
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.passes.cuda_tile.analysis.computed_again import SCALAR, is_derived, scalar_operands
from tilewright.passes.cuda_tile.analysis.facts import known_integer
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, broadcast_bits


def divide_before(loop: ForOp, copied: Container[Operation], kernel: EntryLowering) -> None:
    """Compute what a loop's loads, but those that are `copied`, lie by that is divided, and does
    not change in it."""
    for load in loop.region.block.ops:
        if isinstance(load, LoadPtrTkoOp) and load not in copied:
            layout = kernel.layout(load.result)
            if layout is not None:
                _divide(load.source, layout, loop, kernel)


def _divide(value: SSAValue, layout: TileLayout, loop: ForOp, kernel: EntryLowering) -> None:
    op = value.owner
    if not isinstance(op, SCALAR) or not is_derived(value) or not shape_of(value):
        return
    if not loop.is_ancestor(op):
        if _is_divided(value):
            kernel.elements(value, layout)
        return
    if isinstance(op, core.BroadcastOp):
        layout = layout.renumbered(broadcast_bits(shape_of(op.source), shape_of(op.result)))
    for operand in op.operands:
        _divide(operand, layout, loop, kernel)


def _is_divided(value: SSAValue) -> bool:
    """True of what a division by a number that is not known is a part of."""
    return any(
        isinstance(op := x.owner, integer.DivIOp | integer.RemIOp)
        and bool(shape_of(x))
        and known_integer(op.operands[1]) is None
        for x in reachable([value], scalar_operands)
    )
