"""Parts of large tiles, computed of parts of what the tiles are computed of, down to their loads.

extract (addf (load p), (broadcast x)), [3]        addf (load (part of p)), (broadcast x)
"""

from __future__ import annotations

from math import prod

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.analysis.split_dimensions import relations
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_repeatable
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder
from tilewright.passes.cuda_tile.scheduling.part_accesses import access_part, as_part


def part_extracts(entry: EntryOp, limit: int) -> None:
    """Compute the parts that are extracted of tiles of more elements."""
    for op in list(entry.walk()):
        if not isinstance(op, core.ExtractOp) or prod(shape_of(op.source)) <= limit:
            continue
        at, part = ShapedBuilder(op), op.source
        for axis, extent in enumerate(shape_of(op.result)):
            parts = shape_of(op.source)[axis] // extent
            if parts > 1 and not is_parted(part, axis, parts):
                break
            if parts > 1:
                part = part_of(part, axis, parts, op.indices[axis], at)
        else:
            op.result.replace_all_uses_with(part)
            erase(op)


def is_parted(value: SSAValue, axis: int, parts: int) -> bool:
    """True of a tile whose parts along a dimension are computed as it is."""
    op = value.owner
    if shape_of(value)[axis] < parts or not isinstance(op, Operation):
        return False
    match op:
        case core.ConstantOp():
            return op.elements.is_splat
        case core.IotaOp():
            return True
        case LoadViewTkoOp() | LoadPtrTkoOp():
            if op.result_token.first_use is not None or not is_repeatable(op):
                return False
        case _ if not isinstance(op, PureOp) or op.regions or len(op.results) > 1:
            return False
        case _:
            pass
    operands = _parted_operands(op, value, axis)
    return operands is not None and all(is_parted(x, i, parts) for x, i in operands.items())


def _parted_operands(op: Operation, value: SSAValue, axis: int) -> dict[SSAValue, int] | None:
    """The operands whose parts a part of a tile is computed of, and their dimensions; None where it
    takes all of them."""
    for relation in relations(op):
        for tile, along in relation:
            if tile is value and (label := along[axis]) is not None:
                return {
                    operand: list(own).index(label)
                    for operand, own in relation
                    if operand is not value and label in own
                }
    return None


def part_of(
    value: SSAValue, axis: int, parts: int, number: SSAValue, at: ShapedBuilder
) -> SSAValue:
    """A part of a tile, by its number."""
    op = value.owner
    assert isinstance(op, Operation)
    operands = _parted_operands(op, value, axis) or {}
    given = {operand: part_of(operand, i, parts, number, at) for operand, i in operands.items()}
    new = at.insert(op.clone())
    new.operands = [given.get(operand, operand) for operand in op.operands]
    shape = tuple(x // parts if i == axis else x for i, x in enumerate(shape_of(value)))
    type_ = TileType.get(shape, element_of(value))
    if isinstance(new, LoadViewTkoOp):
        access_part(new, axis, parts, number)
    return as_part(new.results[op.results.index(value)], type_, number)


def erase(op: Operation) -> None:
    """Erase an op that nobody reads, and what nobody but it has read."""
    made = dict.fromkeys(value.owner for value in op.operands)
    Rewriter.erase_op(op)
    for owner in made:
        if isinstance(owner, PureOp | LoadViewTkoOp | LoadPtrTkoOp) and all(
            result.first_use is None for result in owner.results
        ):
            erase(owner)
