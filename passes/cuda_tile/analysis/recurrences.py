"""Loops that multiply or store what they add up, as the state of a recurrence: an iteration waits
for the sums of the one before.

    for %i iter_values(%h = 0): %v = mmaf %w, (ftof %h), 0
                                %x = mmaf %k, (ftof %v), %h
                                continue %x
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.core import PermuteOp, ReshapeOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import StoreViewTkoOp
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import FINDERS
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication


def is_recurrent(loop: ForOp) -> bool:
    """True of such a loop."""
    products = [op for op in loop.region.block.ops if isinstance(op, Multiplication)]
    sums = {x for op in products for x in _elements(op.operands[2])}
    used = [operand for op in products for operand in op.operands[:2]]
    used += [op.tile for op in loop.region.block.ops if isinstance(op, StoreViewTkoOp)]
    read = {x for value in used for x in _elements(value)}
    return not sums.isdisjoint(read.intersection(loop.region.block.args))


def _elements(value: SSAValue) -> Iterator[SSAValue]:
    """A tile, and those that it is computed of element by element, transposed as they may be."""
    yield value
    op = value.owner
    if isinstance(op, PermuteOp | ReshapeOp):
        yield from _elements(op.source)
    elif isinstance(op, PureOp) and type(op) not in FINDERS and not op.regions:
        for operand in op.operands:
            if shape_of(operand) == shape_of(value):
                yield from _elements(operand)
