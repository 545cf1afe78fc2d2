"""Loads of loops that cannot come iterations ahead, since where they lie is loaded too: they are
made in front of the iteration's products, and are in flight together, as are those of few elements
that nobody copies ahead. What is loaded behind a loop is on its way while that multiplies.

    %n = load_ptr_tko weak %p                    %n = load_ptr_tko weak %p
    %k = load_ptr_tko weak (offset %a, %n)       %k = load_ptr_tko weak (offset %a, %n)
    %s = mmaf %q, %k, 0                     ->   %v = load_ptr_tko weak (offset %b, %n)
    %v = load_ptr_tko weak (offset %b, %n)       %s = mmaf %q, %k, 0
    %o = mmaf %s, %v, %o0                        %o = mmaf %s, %v, %o0
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.ancestors import descendants
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, is_reached
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.passes.cuda_tile.analysis.computed_again import SCALAR, needed_ahead
from tilewright.passes.cuda_tile.analysis.cost_model import thread_count
from tilewright.passes.cuda_tile.analysis.facts import pointee_bytes
from tilewright.passes.cuda_tile.analysis.tensor_maps import (
    BoxedAccess,
    boxed_load,
    is_repeatable,
    is_weak,
)
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication

_MOST = 64
"""The bytes of a load that a thread has room for beside the operands of a product."""


def make_loads_early(entry: EntryOp, arch: Target | None) -> None:
    """Move such loads of an entry, and what says where they lie."""
    for loop in list(entry.walk()):
        if arch is not None and isinstance(loop, ForOp):
            threads = thread_count(entry, arch)
            _make_early(loop, _MOST * threads)
            _make_few_early(loop, threads, arch)
            _make_earlier(loop, threads)


def _make_earlier(loop: ForOp, most: int) -> None:
    """Move loads behind the last loop that multiplies, of so many elements at most, in front of it:
    what an epilogue reads is there when the sums are."""
    block = loop.parent
    later = [op for op in block.ops if loop.is_before_in_block(op)] if block else []
    if not _multiplies(loop) or any(map(_multiplies, later)):
        return
    for op in later:
        loads = isinstance(op, LoadPtrTkoOp | LoadViewTkoOp) and is_repeatable(op)
        if loads and prod(shape_of(op.results[0])) <= most:
            _move(op, loop)


def _multiplies(op: Operation) -> bool:
    return bool(descendants(op, Multiplication))


def _make_few_early(loop: ForOp, most: int, arch: Target) -> None:
    """Move loads of so many elements at most, which TMA does not make, in front of the products."""
    products = [op for op in loop.region.block.ops if isinstance(op, Multiplication)]
    for op in list(loop.region.block.ops) if products else ():
        if not isinstance(op, LoadPtrTkoOp | LoadViewTkoOp) or not is_repeatable(op):
            continue
        boxed = isinstance(op, LoadViewTkoOp) and isinstance(boxed_load(op, arch), BoxedAccess)
        if not boxed and prod(shape_of(op.results[0])) <= most:
            _move(op, products[0])


def _make_early(loop: ForOp, room: int) -> None:
    products = [op for op in loop.region.block.ops if isinstance(op, Multiplication)]
    for op in list(loop.region.block.ops) if products else ():
        if not isinstance(op, LoadPtrTkoOp) or not is_weak(op):
            continue
        places = [op.source] if op.mask is None else [op.source, op.mask]
        fits = prod(shape_of(op.result)) * pointee_bytes(op.source) <= room
        if fits and isinstance(needed_ahead(places, loop), str):
            _move(op, products[0])


def _move(load: Operation, first: Operation) -> None:
    """Move a load in front of an op of its block, if nothing that it needs is behind that one but
    what is computed of numbers, and no branch between them leaves the block."""
    if not is_reached(load, first):
        return
    moved, todo = dict[Operation, None](), list[Operation]([load])
    while todo:
        op = todo.pop()
        if op.parent is not first.parent or op.is_before_in_block(first):
            continue
        if op is not load and not isinstance(op, SCALAR):
            return
        moved[op] = None
        todo += [x.owner for x in op.operands if isinstance(x.owner, Operation)]
    block = first.parent
    assert block is not None
    for op in [op for op in block.ops if op in moved]:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(first))
