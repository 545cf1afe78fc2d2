"""Loads that wait for no store: those of memory that a kernel does not write.

    for %i: %x = load_view_tko weak %a[%i] token = %t; %u = store_view_tko weak %y, %c[%i] ...
    ->      %x = load_view_tko weak %a[%i]

A caller who says so promises that what the kernel writes through a parameter, nothing else reaches.
Where the memory that parameters reach tells it, and a later launch may be taken for one like it, an
address has to follow from the arguments alone, not from numbers that are loaded.
"""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.conversions import BitcastOp, FToIOp, PtrToPtrOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, MakeTokenOp, MemoryOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, MakeTensorViewOp, MakeView
from tilewright.dialects.cuda_tile.types import TOKEN, PointerType, TileType, TileView
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder

DISJOINT = "tt.disjoint"
"""The attribute of a module by which a caller promises that."""

_ONWARDS = (
    core.OffsetOp, core.BroadcastOp, core.ReshapeOp, AssumeOp, PtrToPtrOp, MakeTensorViewOp,
    MakeView,
)  # fmt: skip


def forget_order(entry: EntryOp) -> None:
    """Let an entry's loads of what it does not write wait for nothing, by that promise."""
    ops = list(entry.walk())
    loads = [op for op in ops if isinstance(op, LoadViewTkoOp | LoadPtrTkoOp) and is_weak(op)]
    others = {op for op in ops if isinstance(op, MemoryOp)}.difference(loads)
    written = {_parameter(op) for op in others}
    if None in written or any(map(_gives_numbers, ops)):
        return
    at = ShapedBuilder(entry, InsertPoint.at_start(entry.body.block))
    first = at.insert(MakeTokenOp.create(result_types=[TOKEN])).result
    for load in loads:
        if load.token is not None and _parameter(load) not in {None, *written}:
            load.operands[list(load.operands).index(load.token)] = first
            remark(load, "order", f"'{load.name}' waits for no store: {DISJOINT} is promised")


def _gives_numbers(op: Operation) -> bool:
    """True of an op by which addresses may depend on what is loaded."""
    if not isinstance(op, MemoryOp | FToIOp | BitcastOp):
        return False
    type_ = op.results[0].type
    return isinstance(type_, TileType) and not isinstance(type_.element_type, AnyFloat)


def _parameter(op: Operation) -> SSAValue | None:
    """The parameter through which an access is, if there is one."""
    value = next((x for x in op.operands if _is_place(x.type)), None)
    while value is not None and isinstance(value.owner, _ONWARDS):
        value = value.owner.operands[0]
    if not isinstance(value, BlockArgument) or not isinstance(value.block.parent_op(), EntryOp):
        return None
    return value


def _is_place(type_: Attribute) -> bool:
    pointers = isinstance(type_, TileType) and isinstance(type_.element_type, PointerType)
    return pointers or isinstance(type_, TileView)
