"""`scf` and `cf` to the blocks and branches of `ptx`.

A loop is a header that tests, a body, and an end; the loop-carried values are the header's block
arguments, so the values after the loop are those arguments themselves:

    bra for1(%lb, %init)
    for1(%iv, %acc):  setp.lt; @p bra for1_body, for1_end
    for1_body:        ...; bra for1(%iv + %step, %next)
    for1_end:         ... %acc ...
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf, scf
from xdsl.ir import Block, Operation, SSAValue

from tilewright.diagnostic import OpError
from tilewright.dialects.ptx.arithmetic import AddOp
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp
from tilewright.dialects.ptx.logic import SetpOp
from tilewright.dialects.ptx.scalar_types import register_type
from tilewright.dialects.ptx.types import RegType
from tilewright.lowering.to_ptx.conversion import Conversion, lowers
from tilewright.lowering.to_ptx.convert_arith import scalar


def registers(op: Operation, values: Sequence[SSAValue]) -> list[RegType]:
    """The registers of values that a block of the structured op carries."""
    types: list[RegType] = []
    for value in values:
        type_ = register_type(value.type)
        if type_ is None:
            raise OpError(
                op,
                f"'{op.name}' cannot carry a value of {value.type}; nearest legal: scalars and "
                "fragments (carry an index into the memref instead)",
            )
        types.append(type_)
    return types


def _terminator(block: Block) -> Operation:
    last = block.last_op
    assert last is not None
    return last


@lowers(scf.ForOp)
def _for(op: scf.ForOp, to: Conversion) -> None:
    storage = scalar(op, op.lb.type)
    if storage.bits < 16:
        raise OpError(
            op, f"'{op.name}' over {op.lb.type} has no lowering to ptx; nearest legal: i16"
        )
    signed = f"s{storage.width}"
    name = to.fresh("for")
    carried = [op.lb, *op.iter_args]
    header = to.new_block(name, registers(op, carried))
    body, end = to.new_block(f"{name}_body"), to.new_block(f"{name}_end")
    upper, step = to[op.ub], to[op.step]

    to.add(BraOp(header, [to[value] for value in carried]))
    to.enter(header, loop=True, header=True)
    for argument, register in zip(op.body.block.args, header.args, strict=True):
        to[argument] = register
    inside = to.scalar(SetpOp, f"lt.{signed}", header.args[0], upper)
    to.add(CondBraOp(inside, body, end))

    to.enter(body, loop=True)
    to.lower_block(op.body.block)
    following = to.scalar(AddOp, signed, header.args[0], step)
    yielded = [to[operand] for operand in _terminator(op.body.block).operands]
    to.add(BraOp(header, [following, *yielded]))
    to.leave()
    to.leave()
    to.proceed(end)
    for result, register in zip(op.results, header.args[1:], strict=True):
        to[result] = register


@lowers(scf.WhileOp)
def _while(op: scf.WhileOp, to: Conversion) -> None:
    name = to.fresh("while")
    before, after = op.before_region.block, op.after_region.block
    header = to.new_block(name, registers(op, op.arguments))
    body, end = to.new_block(f"{name}_body"), to.new_block(f"{name}_end")

    to.add(BraOp(header, [to[argument] for argument in op.arguments]))
    to.enter(header, loop=True, header=True)
    for argument, register in zip(before.args, header.args, strict=True):
        to[argument] = register
    to.lower_block(before)
    condition = _terminator(before)
    assert isinstance(condition, scf.ConditionOp)
    passed = [to[arg] for arg in condition.args]
    to.add(CondBraOp(to[condition.condition], body, end))

    to.enter(body, loop=True)
    for argument, register in zip(after.args, passed, strict=True):
        to[argument] = register
    to.lower_block(after)
    to.add(BraOp(header, [to[operand] for operand in _terminator(after).operands]))
    to.leave()
    to.leave()
    to.proceed(end)
    for result, register in zip(op.results, passed, strict=True):
        to[result] = register


@lowers(scf.IfOp)
def _if(op: scf.IfOp, to: Conversion) -> None:
    name = to.fresh("if")
    then = to.new_block(f"{name}_then")
    other = to.new_block(f"{name}_else") if op.false_region.blocks else None
    end = to.new_block(f"{name}_end", registers(op, op.results))
    to.add(CondBraOp(to[op.cond], then, end if other is None else other))
    for block, region in ((then, op.true_region), (other, op.false_region)):
        if block is not None:
            to.enter(block)
            to.lower_block(region.block)
            yielded = [to[operand] for operand in _terminator(region.block).operands]
            to.add(BraOp(end, yielded))
            to.leave()
    to.proceed(end)
    for result, register in zip(op.results, end.args, strict=True):
        to[result] = register


@lowers(cf.BranchOp)
def _branch(op: cf.BranchOp, to: Conversion) -> None:
    to.add(BraOp(to.block_of(op.successor), [to[argument] for argument in op.arguments]))


@lowers(cf.ConditionalBranchOp)
def _conditional_branch(op: cf.ConditionalBranchOp, to: Conversion) -> None:
    then, other = to.block_of(op.then_block), to.block_of(op.else_block)
    arguments = (
        [to[argument] for argument in op.then_arguments],
        [to[argument] for argument in op.else_arguments],
    )
    to.add(CondBraOp(to[op.cond], then, other, *arguments))
