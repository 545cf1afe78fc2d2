"""`scf` and `cf` to the blocks and branches of `ptx`.

A loop is a header that tests, a body, and an end; the loop-carried values are the header's block
arguments, so the values after the loop are those arguments themselves:

    bra for1(%lb, %init)
    for1(%iv, %acc):  setp.lt; @p bra for1_body, for1_end
    for1_body:        ...; bra for1(%iv + %step, %next)
    for1_end:         ... %acc ...
"""

from xdsl.dialects import cf, scf
from xdsl.dialects.builtin import UnitAttr

from tilewright.dialects.ancestors import terminator
from tilewright.dialects.ptx.control_flow import (
    BY_WARPS,
    COMPUTES_AGAIN,
    GUARDED,
    BraOp,
    CondBraOp,
)
from tilewright.dialects.ptx.scalars import AddOp, SetpOp
from tilewright.dialects.ptx.types import PRED
from tilewright.dialects.ptx.warp import VoteOp
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_arith import scalar
from tilewright.lowering.to_ptx.convert_llvm import give, register_types, registers_of
from tilewright.source.diagnostic import OpError


@lowers
def _for(op: scf.ForOp, to: Conversion) -> None:
    storage = scalar(op, op.lb.type)
    if storage.bits < 16:
        raise OpError(
            op, f"'{op.name}' over {op.lb.type} has no lowering to ptx; nearest legal: i16"
        )
    signed = f"s{storage.width}"
    name = to.fresh("for")
    carried = [op.lb, *op.iter_args]
    header = to.new_block(name, register_types(op, carried))
    body, end = to.new_block(f"{name}_body"), to.new_block(f"{name}_end")
    upper, step = to[op.ub], to[op.step]

    to.add(BraOp(header, registers_of(carried, to)))
    moves = COMPUTES_AGAIN not in op.attributes
    to.enter(header, loop=moves, header=True)
    give(op.body.block.args, header.args, to)
    inside = to.scalar(SetpOp, f"lt.{signed}", header.args[0], upper)
    to.add(CondBraOp(inside, body, end))

    to.enter(body, loop=moves)
    to.lower_block(op.body.block)
    following = to.scalar(AddOp, signed, header.args[0], step)
    yielded = registers_of(terminator(op.body.block).operands, to)
    to.add(BraOp(header, [following, *yielded]))
    to.leave()
    to.leave()
    to.proceed(end)
    give(op.results, header.args[1:], to)


@lowers
def _while(op: scf.WhileOp, to: Conversion) -> None:
    name = to.fresh("while")
    before, after = op.before_region.block, op.after_region.block
    header = to.new_block(name, register_types(op, op.arguments))
    body, end = to.new_block(f"{name}_body"), to.new_block(f"{name}_end")

    to.add(BraOp(header, registers_of(op.arguments, to)))
    to.enter(header, loop=True, header=True)
    give(before.args, header.args, to)
    to.lower_block(before)
    condition = terminator(before)
    assert isinstance(condition, scf.ConditionOp)
    passed = registers_of(condition.args, to)
    to.add(CondBraOp(to[condition.condition], body, end))

    to.enter(body, loop=True)
    give(after.args, passed, to)
    to.lower_block(after)
    to.add(BraOp(header, registers_of(terminator(after).operands, to)))
    to.leave()
    to.leave()
    to.proceed(end)
    give(op.results, passed, to)


@lowers
def _if(op: scf.IfOp, to: Conversion) -> None:
    name = to.fresh("if")
    then = to.new_block(f"{name}_then")
    other = to.new_block(f"{name}_else") if op.false_region.blocks else None
    end = to.new_block(f"{name}_end", register_types(op, op.results))
    condition = to[op.cond]
    if BY_WARPS in op.attributes:
        everyone = to.const(0xFFFFFFFF, "b32")
        condition = to.emit(VoteOp(condition, everyone, PRED, "all.pred"))
    branch = CondBraOp(condition, then, end if other is None else other)
    to.add(branch)
    if guarded := GUARDED in op.attributes:
        branch.attributes[GUARDED] = UnitAttr()
    for block, region in ((then, op.true_region), (other, op.false_region)):
        if block is not None:
            to.enter(block, loop=guarded)  # What is pure needs no predicate.
            to.lower_block(region.block)
            to.add(BraOp(end, registers_of(terminator(region.block).operands, to)))
            to.leave()
    to.proceed(end)
    give(op.results, end.args, to)


@lowers
def _branch(op: cf.BranchOp, to: Conversion) -> None:
    to.add(BraOp(to.block_of(op.successor), registers_of(op.arguments, to)))


@lowers
def _conditional_branch(op: cf.ConditionalBranchOp, to: Conversion) -> None:
    then, other = to.block_of(op.then_block), to.block_of(op.else_block)
    arguments = (registers_of(op.then_arguments, to), registers_of(op.else_arguments, to))
    to.add(CondBraOp(to[op.cond], then, other, *arguments))
