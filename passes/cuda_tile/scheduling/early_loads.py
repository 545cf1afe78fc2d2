"""Loads of loops that cannot come iterations ahead, since where they lie is loaded too: they are
made in front of the iteration's products, and are in flight together, as are those of few elements
that nobody copies ahead. What is loaded behind a loop is on its way while that multiplies.

    %n = load_ptr_tko weak %p                    %n = load_ptr_tko weak %p
    %k = load_ptr_tko weak (offset %a, %n)       %k = load_ptr_tko weak (offset %a, %n)
    %s = mmaf %q, %k, 0                     ->   %v = load_ptr_tko weak (offset %b, %n)
    %v = load_ptr_tko weak (offset %b, %n)       %s = mmaf %q, %k, 0
    %o = mmaf %s, %v, %o0                        %o = mmaf %s, %v, %o0

A branch that keeps a load from rows that lie outside of the tensor keeps it from nothing that the
load does not leave out itself: it is made in front of the branch.

    if %row < %rows {                            %k = load_view_tko %a[%row]
      %k = load_view_tko %a[%row]          ->    if %row < %rows {
      %s = mmaf %q, %k, %s0                        %s = mmaf %q, %k, %s0
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation

from tilewright.dialects.ancestors import descendants, makers
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, IfOp, is_reached
from tilewright.dialects.cuda_tile.ops.integer import CmpIOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, MakeTensorViewOp, MakeView
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.dialects.insertion import insert_before
from tilewright.passes.cuda_tile.analysis.computed_again import (
    SCALAR,
    is_computed_from,
    needed_ahead,
    places_of,
)
from tilewright.passes.cuda_tile.analysis.cost_model import thread_count
from tilewright.passes.cuda_tile.analysis.facts import pointee_bytes
from tilewright.passes.cuda_tile.analysis.guards import comparisons
from tilewright.passes.cuda_tile.analysis.polynomials import LESS, ONE, Polynomials
from tilewright.passes.cuda_tile.analysis.tensor_maps import (
    BoxedAccess,
    boxed_load,
    is_repeatable,
    is_weak,
)
from tilewright.passes.cuda_tile.analysis.view_access import tile_dimensions
from tilewright.passes.cuda_tile.layouts.elements import element_of, scalar_type, shape_of
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.layouts.warpgroup_layouts import multiplies_by_warpgroups
from tilewright.passes.cuda_tile.scheduling.carried_loads import carry_loads

_MOST = 64
"""The bytes of a load that a thread has room for beside the operands of a product."""


def make_loads_early(entry: EntryOp, arch: Target | None) -> None:
    """Move such loads of an entry, and what says where they lie."""
    numbers, multiplies = Polynomials(), any(descendants(entry, Multiplication))
    for loop in list(entry.walk()):
        if arch is not None and isinstance(loop, ForOp):
            threads = thread_count(entry, arch)
            for branch in reversed(descendants(loop, IfOp)):
                _lift(branch, _MOST * threads, numbers)
            _make_early(loop, _MOST * threads)
            _make_few_early(loop, threads, arch)
            _make_earlier(loop, threads, arch, multiplies=multiplies)
            carry_loads(loop, threads, arch)


def _lift(branch: IfOp, room: int, numbers: Polynomials) -> None:
    """Make loads of a branch that multiplies in front of it where it only keeps them from rows
    outside of their tensor."""
    guard = branch.condition.owner
    if not isinstance(guard, CmpIOp) or not any(comparisons(guard.result)):
        return
    block = branch.then_region.block
    multiplies = any(descendants(op, Multiplication) for op in block.ops)
    for op in list(block.ops) if multiplies else ():
        if not isinstance(op, LoadViewTkoOp) or not is_repeatable(op):
            continue
        size = bytes_of(scalar_type(op, element_of(op.tile)))
        outside = not any(branch.is_ancestor(operand.owner) for operand in op.operands)
        if outside and prod(shape_of(op.tile)) * size <= room and _is_outside(op, guard, numbers):
            op.detach()
            insert_before(op, branch)


def _is_outside(load: LoadViewTkoOp, guard: CmpIOp, numbers: Polynomials) -> bool:
    """True of a load whose tile begins behind the last row wherever a comparison fails."""
    less, more = guard.lhs, guard.rhs
    if guard.comparison_predicate.data not in LESS:
        less, more = more, less
    low, high = numbers.of(less), numbers.of(more)
    if low is None or high is None:
        return False
    for dimension, index in zip(tile_dimensions(load), load.index, strict=True):
        size, number = dimension.size, numbers.of(index)
        end = {ONE: size} if isinstance(size, int) else numbers.of(size)
        if dimension.within or dimension.gathered or number is None or end is None:
            continue
        begin = numbers.product(number, {ONE: dimension.step})
        by = numbers.sum(numbers.sum(begin, end, -1), numbers.sum(low, high, -1), -1)
        if numbers.is_natural(by):
            return True
    return False


def _make_earlier(loop: ForOp, most: int, arch: Target, *, multiplies: bool) -> None:
    """Move loads behind the last loop that multiplies, of so many elements at most, in front of it:
    what an epilogue reads is there when the sums are. Those from places that are loaded, too, stay
    where `wgmma`s are in flight: in front of the loop all would wait for the places. Of a kernel
    that multiplies nothing the others come in front of every loop."""
    ops = list(loop.parent.ops) if loop.parent else []
    later = [op for op in ops if loop.is_before_in_block(op)]
    products = descendants(loop, Multiplication)
    if multiplies and (not products or any(descendants(op, Multiplication) for op in later)):
        return
    loads = [op for op in ops if isinstance(op, LoadPtrTkoOp | LoadViewTkoOp)]
    in_flight = all(multiplies_by_warpgroups(op, arch) for op in products)
    numbers = {op.results[0] for op in loads if in_flight}
    for op in loads:
        if (
            op in later and is_repeatable(op) and prod(shape_of(op.results[0])) <= most
            and not any(is_computed_from(x, numbers) for x in places_of(op))
        ):  # fmt: skip
            _move(op, loop)


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
        if op is not load and not isinstance(op, (*SCALAR, MakeTensorViewOp, MakeView)):
            return
        moved[op] = None
        todo += makers(op)
    block = first.parent
    assert block is not None
    for op in [op for op in block.ops if op in moved]:
        op.detach()
        insert_before(op, first)
