"""Folds of what a fold has left, as one along both dimensions: warps meet once, not twice.

%r = reduce %x dim=0 : 16x512 -> 512        %y = reshape %x : 16x512 -> 8192
%s = reduce %r dim=0 : 512 -> scalar   ->   %s = reduce %y dim=0 : 8192 -> scalar
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder, replace

_SIMPLE = 2
"""The ops of a region that combines by one."""


def merge_folds(entry: EntryOp) -> None:
    """Merge the folds of neighbouring dimensions that one function folds, one after the other."""
    for second in descendants(entry, ReduceOp):
        first = second.operands[0].owner
        if isinstance(first, ReduceOp) and _is_alike(first, second):
            _merge(first, second)


def _dim(op: ReduceOp) -> int:
    return op.dim.value.data  # type: ignore[attr-defined]


def _is_alike(first: ReduceOp, second: ReduceOp) -> bool:
    """True of folds by one op of a tile and of its result alone, along neighbouring dimensions."""
    inner, outer = (list(op.body.block.ops) for op in (first, second))
    return (
        len(first.operands) == 1 == len(list(first.results[0].uses))
        and first.parent is second.parent
        and first.identities == second.identities
        and len(inner) == _SIMPLE == len(outer)
        and _function(inner[0]) == _function(outer[0])
        and _dim(second) in (_dim(first), _dim(first) - 1)
    )


def _function(op: Operation) -> object:
    """The function of its region's arguments that an op computes."""
    assert op.parent is not None and op.next_op is not None
    last = op.next_op.operands[0] is op.results[0]
    return type(op), op.properties, [op.parent.args.index(x) for x in op.operands], last


def _merge(first: ReduceOp, second: ReduceOp) -> None:
    (tile,), dim = first.operands, _dim(second)
    shape, at = shape_of(tile), ShapedBuilder(second)
    merged = (*shape[:dim], shape[dim] * shape[dim + 1], *shape[dim + 2 :])
    behind = InsertPoint.after(tile.owner) if isinstance(tile.owner, Operation) else None
    flat = ShapedBuilder(first, behind).reshape(tile, merged)
    new = ReduceOp.create(
        operands=[flat], result_types=second.result_types, regions=[second.detach_region(0)],
        properties={**second.properties, "dim": IntegerAttr(dim, i32)},
    )  # fmt: skip
    replace(second, at.insert(new).results[0])
    for op in (second, first):
        Rewriter.erase_op(op)
