"""Loads that wait for no store: those of memory that a kernel does not write; and, in kernels
without atomics, a store that nothing else reaches what it writes.

    for %i: %x = load_view_tko weak %a[%i] token = %t; %u = store_view_tko weak %y, %c[%i] ...
    ->      %x = load_view_tko weak %a[%i]

A caller who says so promises that what the kernel writes through a parameter, nothing else reaches.
Where the memory that parameters reach tells it, and a later launch may be taken for one like it, an
address has to follow from the arguments alone, not from numbers that are loaded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import AnyFloat, UnitAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cuda_tile.constraints import is_pointer_tile
from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, LoopOp
from tilewright.dialects.cuda_tile.ops.conversions import BitcastOp, FToIOp, PtrToPtrOp
from tilewright.dialects.cuda_tile.ops.memory import (
    LoadPtrTkoOp,
    MakeTokenOp,
    MemoryOp,
    StorePtrTkoOp,
)
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import (
    LoadViewTkoOp,
    MakeTensorViewOp,
    MakeView,
    StoreViewTkoOp,
)
from tilewright.dialects.cuda_tile.types import TOKEN, TileType, TileView
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak, reads_only
from tilewright.passes.cuda_tile.legalization.shaped_builder import at_start

DISJOINT = "tt.disjoint"
"""The attribute of a module by which a caller promises that."""
UNWRITTEN = "cuda_tile.unwritten"
"""The attribute of a load of memory that the kernel does not write."""

_Weak = LoadViewTkoOp | LoadPtrTkoOp | StoreViewTkoOp | StorePtrTkoOp
_ONWARDS = (
    core.OffsetOp, core.BroadcastOp, core.ReshapeOp, AssumeOp, PtrToPtrOp, MakeTensorViewOp,
    MakeView,
)  # fmt: skip


def forget_order(entry: EntryOp) -> None:
    """Let an entry's loads of what it does not write, and single stores, wait for nothing, by that
    promise."""
    ops = list(entry.walk())
    accesses = [op for op in ops if isinstance(op, MemoryOp)]
    weak = [op for op in accesses if isinstance(op, _Weak) and is_weak(op)]
    loads = [op for op in weak if isinstance(op, LoadViewTkoOp | LoadPtrTkoOp)]
    written = {_parameter(op) for op in set(accesses).difference(loads)}
    if None in written or any(map(_gives_numbers, ops)):
        return
    free: list[_Weak] = [op for op in loads if _parameter(op) not in {None, *written}]
    for op in free:
        op.attributes[UNWRITTEN] = UnitAttr()
    if weak == accesses:
        stores = [op for op in weak if op not in loads]
        free += _alone(stores, Counter(map(_parameter, weak)))
    at = at_start(entry)
    first = at.insert(MakeTokenOp.create(result_types=[TOKEN])).result
    for op in free:
        if op.token is not None:
            op.operands[list(op.operands).index(op.token)] = first
            promised(op, "waits for no store")


def promised(op: Operation, what: str) -> None:
    """Remark what an access does by that promise: launches look at memory for kernels that have
    such remarks."""
    remark(op, "order", f"'{op.name}' {what}: {DISJOINT} is promised")


def _alone(stores: Iterable[_Weak], times: Counter[SSAValue | None]) -> Iterator[_Weak]:
    """The stores behind others through parameters that nothing else is accessed through, each made
    once."""
    for op in stores:
        alone = times[_parameter(op)] == 1 and not reads_only(op.token)
        if alone and not any(enclosing(op, ForOp | LoopOp)):
            yield op


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
    return is_pointer_tile(type_) or isinstance(type_, TileView)
