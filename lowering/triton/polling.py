"""Waiting until memory holds a value: a loop that loads it."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Block, Region, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.ops.control_flow import (
    BreakOp,
    ContinueOp,
    IfOp,
    LoopOp,
    YieldOp,
)
from tilewright.dialects.cuda_tile.ops.integer import AndIOp
from tilewright.lowering.triton.atomics import SCOPES
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.lookups import combined
from tilewright.lowering.triton.memory import load
from tilewright.passes.cuda_tile.layouts.elements import shape_of, tile_type
from tilewright.passes.cuda_tile.legalization.shaped_builder import EQUAL
from tilewright.source.diagnostic import OpError


@converts(triton.AtomicPollOp)
def _poll(op: Any, at: TritonConversion) -> SSAValue:
    if op.timeout is not None:
        raise OpError(op, f"'{op.name}' expected no timeout (Tile IR has no clock), got one")
    pointers, expected = at[op.ptr], at[op.expected]
    before, tokens = at.order, at.order.enter(at, op)
    types = [token.type for token in tokens]
    with at.inside(Block(arg_types=types)) as block:
        at.order = before.within(op, block.args)
        loaded = load(at, pointers, semantics=op.word("sem"), scope=SCOPES[op.word("scope")])
        equal = at.compare(EQUAL, loaded, expected)
        if shape_of(equal):
            row = at.reshape(equal, (tile_type(equal).elements,))
            equal = combined(at, AndIOp, row, 0, -1)
        left = at.order.leave(at, tokens)
        leaving = Region(Block([BreakOp.create(operands=left)]))
        at.insert(IfOp.create(
            operands=[equal], regions=[leaving, Region(Block([YieldOp.create()]))]
        ))  # fmt: skip
        at.insert(ContinueOp.create(operands=left))
    loop = LoopOp.create(operands=tokens, result_types=types, regions=[Region(block)])
    at.order = before.within(op, at.insert(loop).results)
    return at.constant(1, at.tile(op.result.type))
