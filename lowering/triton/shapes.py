"""Shapes: the same elements elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.triton import types
from tilewright.lowering.triton.conversion import TritonConversion, converts


def _shape(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor of Triton."""
    return types.shape_of(value.type)


@converts
def _splat(op: triton.SplatOp, at: TritonConversion) -> SSAValue:
    return at.spread(at[op.src], _shape(op.result))


@converts(triton.UnsplatOp, triton.ExpandDimsOp, triton.ReshapeOp)
def _reshape(op: triton.ReshapeOp, at: TritonConversion) -> SSAValue:
    return at.reshape(at[op.src], _shape(op.result))


@converts
def _broadcast(op: triton.BroadcastOp, at: TritonConversion) -> SSAValue:
    return at.broadcast(at[op.src], _shape(op.result))


@converts(triton.TransOp)
def _trans(op: Any, at: TritonConversion) -> SSAValue:
    if len(_shape(op.result)) < 2:
        return at[op.src]
    order = DenseArrayBase.from_list(i32, op.order.get_values())
    return at.add(core.PermuteOp, [at[op.src]], at.tile(op.result.type), permutation=order)


@converts
def _join(op: triton.JoinOp, at: TritonConversion) -> SSAValue:
    shape = _shape(op.lhs)
    return at.joined([at.reshape(at[x], (*shape, 1)) for x in op.operands], len(shape))


@converts
def _split(op: triton.SplitOp, at: TritonConversion) -> Sequence[SSAValue]:
    *shape, _ = _shape(op.src)
    halves = (at.part(at[op.src], len(shape), i, 1) for i in range(2))
    return [at.reshape(half, shape) for half in halves]


@converts
def _cat(op: triton.CatOp, at: TritonConversion) -> SSAValue:
    return at.joined(at.all(op.operands), 0)


@converts
def _make_range(op: triton.MakeRangeOp, at: TritonConversion) -> SSAValue:
    (extent,), start = _shape(op.result), op.number("start")
    numbers = at.iota(extent, i32)
    if not start:
        return numbers
    return at.add(integer.AddIOp, [numbers, start])


@converts
def _program_id(op: triton.GetProgramIdOp, at: TritonConversion) -> SSAValue:
    return at.grid(core.GetTileBlockIdOp)["xyz".index(op.word("axis"))]


@converts
def _num_programs(op: triton.GetNumProgramsOp, at: TritonConversion) -> SSAValue:
    return at.grid(core.GetNumTileBlocksOp)["xyz".index(op.word("axis"))]
