"""Products whose operands are larger than shared memory, computed slice after slice of K.

Where both operands are loaded the slices are loaded by a loop, ahead of their use as in any loop;
else they are parts of the tiles that are there:

    mmaf a, b, c        for s: c = mmaf load(a, s), load(b, s), c
                        mmaf part(a, 1), part(b, 1), mmaf part(a, 0), part(b, 0), c

Where slices have no room either, half of the rows, columns or matrices are multiplied after the
other half:
                        cat (mmaf part(a, 0), b, part(c, 0)), (mmaf part(a, 1), b, part(c, 1))
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp
from tilewright.dialects.cuda_tile.ops.conversions import ConversionOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFScaledOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import PartitionViewType, TileType
from tilewright.dialects.cute_nvgpu.lattice.shared_memory import shared_memory_limit
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.passes.cuda_tile.analysis.remarks import remark
from tilewright.passes.cuda_tile.analysis.split_dimensions import relations
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_repeatable
from tilewright.passes.cuda_tile.layouts.elements import (
    element_of,
    scalar_type,
    shape_of,
)
from tilewright.passes.cuda_tile.layouts.mma_layouts import (
    Multiplication,
    atom_of,
    multiplications,
)
from tilewright.passes.cuda_tile.legalization.shaped_builder import INDEX, ShapedBuilder, replace
from tilewright.passes.cuda_tile.scheduling.computed_parts import erase, is_parted, part_of
from tilewright.passes.cuda_tile.scheduling.strip_mine import LARGE

_FEWEST, _UNROLLED = 2, 1024
"""The slices at least, and the K of one that threads multiply without MMAs."""
_SHALLOW, _STAGES = 64, 3
"""The bytes of K of a slice at least, and the slices that have room at once."""


def slice_products(entry: EntryOp, arch: Target | None) -> None:
    """Slice the products of an entry whose operands have no room in shared memory, and products of
    loads where two stages have none."""
    if arch is None:
        return
    room = shared_memory_limit(arch)
    waiting = [*multiplications(entry)]
    while waiting:
        op = waiting.pop()
        size = _bytes(op, op.lhs) + _bytes(op, op.rhs)
        loaded = all(_is_loaded(value, axis) for value, axis in _sliced(op))
        if size <= room // 2 if loaded and _is_loaded(*_sliced(op)[0], op) else size <= room:
            continue
        depth, slices = _bytes(op, op.lhs) // prod(shape_of(op.lhs)[:-1]), 1
        while _STAGES * size > room * slices and depth > _SHALLOW * slices:
            slices *= 2
        while atom_of(op) is None and shape_of(op.lhs)[-1] > _UNROLLED * slices > _UNROLLED:
            slices *= 2
        if size > room * slices and atom_of(op) is not None:
            waiting += _halve(op)
        elif slices > 1:
            remark(op, "pipeline", f"'{op.name}' multiplies {slices} slices of K one after the "
                   f"other: its operands take {size} of {room} bytes of shared memory")  # fmt: skip
            (_loop if loaded else _unrolled)(op, slices)


def _bytes(op: Operation, value: SSAValue) -> int:
    return prod(shape_of(value)) * bytes_of(scalar_type(op, element_of(value)))


def _sliced(op: Multiplication) -> list[tuple[SSAValue, int]]:
    """The operands that have K, and their dimension of it."""
    rank = len(shape_of(op.lhs))
    scales = [op.lhs_scale, op.rhs_scale] if isinstance(op, MmaFScaledOp) else []
    return [
        (value, rank - 1 - i % 2) for i, value in enumerate([op.lhs, op.rhs, *scales])
    ]  # fmt: skip


def _is_loaded(value: SSAValue, axis: int, beside: Operation | None = None) -> bool:
    """True of an operand whose slices are as well loaded where the product is, and that is loaded
    in the block of another op, where one is given."""
    if prod(shape_of(value)) > LARGE:
        return is_parted(value, axis, _FEWEST)
    match value.owner:
        case core.PermuteOp() | ConversionOp():
            return _is_loaded(value.owner.operands[0], axis, beside)
        case LoadViewTkoOp() as load:
            return (
                (beside is None or load.parent is beside.parent)
                and isinstance(load.view_type, PartitionViewType)
                and load.result_token.first_use is None
                and is_repeatable(load)
            )
        case core.ConstantOp() as constant:
            return constant.elements.is_splat
        case _:
            return False


def _loop(op: Multiplication, slices: int) -> None:
    """The product as a loop over slices."""
    block = Block(arg_types=[INDEX, op.acc.type])
    number, acc = block.args
    last = ContinueOp.create(operands=[acc])
    block.add_op(last)
    inner = ShapedBuilder(op, InsertPoint.before(last))
    last.operands[0] = _product(op, slices, number, acc, inner)
    _replace(op, ShapedBuilder(op).loop(slices, block, [op.acc]).results[0])


def _unrolled(op: Multiplication, slices: int) -> None:
    """The product as a chain of those of slices."""
    at, total = ShapedBuilder(op), op.acc
    for number in range(slices):
        total = _product(op, slices, at.constant(number, i32), total, at)
    _replace(op, total)


def _product(
    op: Multiplication, slices: int, number: SSAValue, acc: SSAValue, at: ShapedBuilder
) -> SSAValue:
    new = op.clone()
    for value, axis in _sliced(op):
        new.operands[list(op.operands).index(value)] = _slice(value, axis, slices, number, at)
    new.operands[list(op.operands).index(op.acc)] = acc
    return at.insert(new).results[0]


def _halve(op: Multiplication) -> list[Multiplication]:
    """The halves of a product: along batches, else along M or N, whose operand is larger."""
    at, two = ShapedBuilder(op), 2
    (relation,) = relations(op)
    shape = list(shape_of(op.result))
    larger = len(shape) - 2 + (_bytes(op, op.lhs) < _bytes(op, op.rhs))
    axis = 0 if shape[0] > 1 and len(shape) > two else larger
    label = relation[-1][1][axis]
    shape[axis] //= two
    halves: list[Multiplication] = []
    for number in range(two):
        new = op.clone()
        for i, (value, along) in enumerate(relation[:-1]):
            if label in along:
                part = at.constant(number, i32)
                new.operands[i] = _slice(value, list(along).index(label), two, part, at)
        type_ = TileType.get(tuple(shape), element_of(op.result))
        Rewriter.replace_value_with_new_type(new.result, type_)
        halves.append(at.insert(new))
    _replace(op, at.joined([half.result for half in halves], axis))
    return halves


def _slice(
    value: SSAValue, axis: int, slices: int, number: SSAValue, at: ShapedBuilder
) -> SSAValue:
    """A slice of a tile: loaded or computed of what is, else a part of it."""
    if _is_loaded(value, axis):
        return part_of(value, axis, slices, number, at)
    return at.part(value, axis, number, shape_of(value)[axis] // slices)


def _replace(op: Multiplication, result: SSAValue) -> None:
    """Have another result in the place of an op's, and nothing of what it alone was made of."""
    replace(op, result)
    erase(op)
