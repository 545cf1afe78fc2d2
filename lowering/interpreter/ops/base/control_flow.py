"""`scf`, `cf` and `func`/`gpu` returns: structured control flow as jumps between blocks."""

from typing import Any

from xdsl.dialects import cf, func, gpu, scf
from xdsl.traits import SymbolTable

from tilewright.dialects.ancestors import terminator
from tilewright.dialects.gpu import FunctionOp, ReturnOp
from tilewright.lowering.interpreter.arithmetic.scalar import scalar
from tilewright.lowering.interpreter.arithmetic.typed_words import typed
from tilewright.lowering.interpreter.builder import Builder, runs
from tilewright.lowering.interpreter.errors import Fault, first_of
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.ops.base.arith import type_name
from tilewright.lowering.interpreter.program import CodeBlock, Exit, Fork, Jump
from tilewright.source.diagnostic import OpError


@runs
def _for(op: scf.ForOp, builder: Builder) -> None:
    body = op.body.block
    type_ = type_name(op, op.lb.type)
    header, inside, end = CodeBlock(), CodeBlock(), CodeBlock()
    builder.end(builder.jump(header, [op.lb, *op.iter_args], body.args), op)

    builder.start(header)
    variable, upper, step = builder.slots([body.args[0], op.ub, op.step])
    condition = builder.fresh()
    less, add = scalar("setp", f"lt.{type_}"), scalar("add", type_)

    def test(machine: Machine, gang: Gang) -> None:
        gang.regs[condition] = less(gang.regs[variable], gang.regs[upper])

    builder.add(op, test, (variable, upper), (condition,))
    leave = builder.jump(end, body.args[1:], op.results)
    builder.end(Fork(condition, Jump(inside), leave), op)

    builder.start(inside)
    builder.run_block(body)
    following = builder.fresh()

    def advance(machine: Machine, gang: Gang) -> None:
        stuck = typed(gang.regs[step], type_) <= 0
        if (lane := first_of(stuck)) is not None:
            raise Fault(f"steps by {int(typed(gang.regs[step], type_)[lane])}, not forward", lane)
        gang.regs[following] = add(gang.regs[variable], gang.regs[step])

    builder.add(op, advance, (variable, step), (following,))
    yielded = builder.slots(terminator(body).operands)
    builder.end(Jump(header, (following, *yielded), builder.slots(body.args)), op)
    builder.start(end)


@runs
def _while(op: scf.WhileOp, builder: Builder) -> None:
    before, after = op.before_region.block, op.after_region.block
    header, inside, end = CodeBlock(), CodeBlock(), CodeBlock()
    builder.end(builder.jump(header, op.arguments, before.args), op)

    builder.start(header)
    builder.run_block(before)
    condition = terminator(before)
    assert isinstance(condition, scf.ConditionOp)
    go_on = builder.jump(inside, condition.args, after.args)
    leave = builder.jump(end, condition.args, op.results)
    builder.end(Fork(builder.slot(condition.condition), go_on, leave), op)

    builder.start(inside)
    builder.run_block(after)
    builder.end(builder.jump(header, terminator(after).operands, before.args), op)
    builder.start(end)


@runs
def _if(op: scf.IfOp, builder: Builder) -> None:
    then, other, end = CodeBlock(), CodeBlock(), CodeBlock()
    has_else = bool(op.false_region.blocks)
    condition = builder.slot(op.cond)
    builder.end(Fork(condition, Jump(then), Jump(other if has_else else end)), op)
    for code, region in ((then, op.true_region), (other, op.false_region)):
        if region.blocks:
            builder.start(code)
            builder.run_block(region.block)
            yielded = terminator(region.block).operands
            builder.end(builder.jump(end, yielded, op.results), op)
    builder.start(end)


@runs(cf.BranchOp)
def branch(op: Any, builder: Builder) -> None:
    """To its only successor."""
    (dest,) = op.successors
    builder.end(builder.jump(builder.label(dest), op.arguments, dest.args), op)


@runs(cf.ConditionalBranchOp)
def conditional_branch(op: Any, builder: Builder) -> None:
    """To one of two blocks, by the first operand."""
    then = builder.jump(builder.label(op.then_block), op.then_arguments, op.then_block.args)
    other = builder.jump(builder.label(op.else_block), op.else_arguments, op.else_block.args)
    builder.end(Fork(builder.slot(op.operands[0]), then, other), op)


@runs(func.ReturnOp, gpu.ReturnOp, ReturnOp)
def _return(op: func.ReturnOp, builder: Builder) -> None:
    call = builder.call
    if call is None:
        builder.end(Exit(), op)
    else:
        builder.end(builder.jump(call.following, op.operands, call.results), op)


@runs
def _call(op: func.CallOp, builder: Builder) -> None:
    callee = SymbolTable.lookup_symbol(op, op.callee)
    if not isinstance(callee, FunctionOp) or not callee.body.blocks:
        raise OpError(op, f"'{op.name}' expected a function with a body, got {op.callee}")
    builder.add_call(op, callee.body)
