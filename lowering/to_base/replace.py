"""An op and its results, replaced by others."""

from collections.abc import Callable, Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.lowering.emit.emitter import Emitter


def replace(op: Operation, rule: Callable[[Emitter], Sequence[SSAValue]]) -> None:
    """Put the ops that a rule emits in the place of an op, and the values that it returns in that
    of its results."""
    emitter = Emitter(Block(), fold=False)
    emitter.location = op.location
    results = rule(emitter)
    Rewriter.inline_block(emitter.block, InsertPoint.before(op))
    Rewriter.replace_op(op, [], results)
