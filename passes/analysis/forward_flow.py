"""Facts that may hold, followed over all paths of a function.

A forward dataflow to a fixpoint, over `scf.for`, `scf.if`, `scf.while` and branches between blocks.
A state is a set of facts, and two ways that meet have those of both.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from xdsl.dialects import cf, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.cute_nvgpu.ops.memory_operand import constant_index
from tilewright.passes.analysis.thread_dependence import depends_on_thread

Fact = TypeVar("Fact", bound=Hashable)


class ForwardFlow(Generic[Fact]):
    """A function as its CTA executes it.

    Where an `scf.if` asks which thread it is, some threads take either branch: the CTA does what
    both do, in the order of the text. Any other condition is true or false for all of them.
    """

    def follow(self, body: Region, start: frozenset[Fact]) -> None:
        """Follow all paths of a function's body from what holds at its beginning."""
        known = {body.blocks[0]: start}
        work = [body.blocks[0]]
        while work:
            block = work.pop()
            after = self._block(block, known[block])
            for dest, coming in self._branches(block.last_op, after):
                before = known.get(dest)
                facts = coming if before is None else self.joined(before | coming)
                if facts != before:
                    known[dest] = facts
                    work.append(dest)

    # What an analysis says

    def visit(self, op: Operation, state: frozenset[Fact]) -> frozenset[Fact]:
        """The state after an op without regions of control flow."""
        raise NotImplementedError

    def ops_of(self, block: Block) -> Iterable[Operation]:
        """The ops of a block that change a state, and those with regions."""
        return block.ops

    def passed(
        self, state: frozenset[Fact], dests: Sequence[SSAValue], sources: Sequence[SSAValue]
    ) -> frozenset[Fact]:
        """The state once `dests` have been given the values of `sources`."""
        return state

    def assumed(self, state: frozenset[Fact], condition: SSAValue, holds: bool) -> frozenset[Fact]:
        """The state where a condition holds, or does not."""
        return state

    def left(
        self,
        before: frozenset[Fact],
        after: frozenset[Fact],
        condition: SSAValue,
        holds: bool,
    ) -> frozenset[Fact]:
        """The state behind the branch of an `scf.if` that a condition guards."""
        return after

    def joined(self, state: frozenset[Fact]) -> frozenset[Fact]:
        """The facts of ways that have met."""
        return state

    # Structure

    def _block(self, block: Block, state: frozenset[Fact]) -> frozenset[Fact]:
        for op in self.ops_of(block):
            if not op.regions:
                state = self.visit(op, state)
                continue
            match op:
                case scf.ForOp():
                    state = self._for(op, state)
                case scf.IfOp():
                    state = self._if(op, state)
                case scf.WhileOp():
                    state = self._while(op, state)
                case _:
                    state = self.visit(op, state)
        return state

    def _for(self, op: scf.ForOp, state: frozenset[Fact]) -> frozenset[Fact]:
        body = op.body.block
        yielded = _last(body).operands
        rounds = _rounds(op)
        never = self.passed(state, op.results, op.iter_args)
        if rounds == 0:
            return never
        head = self.passed(state, body.args, (op.lb, *op.iter_args))
        while True:
            after = self._block(body, head)
            back = self.passed(after, body.args, (op.lb, *yielded))
            joined = self.joined(head | back)
            if rounds == 1 or joined == head:
                break
            head = joined
        left = self.passed(after, op.results, yielded)
        return left if rounds else self.joined(left | never)

    def _if(self, op: scf.IfOp, state: frozenset[Fact]) -> frozenset[Fact]:
        if depends_on_thread(op.cond):
            for region in (op.true_region, op.false_region):
                state = self._branch(op, region, state)
            return state
        facts: frozenset[Fact] = frozenset()
        for region, holds in ((op.true_region, True), (op.false_region, False)):
            before = self.assumed(state, op.cond, holds)
            after = self._branch(op, region, before)
            facts |= self.left(before, after, op.cond, holds)
        return self.joined(facts)

    def _branch(self, op: scf.IfOp, region: Region, state: frozenset[Fact]) -> frozenset[Fact]:
        if not region.blocks:
            return state
        after = self._block(region.block, state)
        return self.passed(after, op.results, _last(region.block).operands)

    def _while(self, op: scf.WhileOp, state: frozenset[Fact]) -> frozenset[Fact]:
        before, after = op.before_region.block, op.after_region.block
        condition = _last(before)
        assert isinstance(condition, scf.ConditionOp)
        head = self.passed(state, before.args, op.arguments)
        while True:
            tested = self._block(before, head)
            inside = self._block(after, self.passed(tested, after.args, condition.args))
            back = self.passed(inside, before.args, _last(after).operands)
            joined = self.joined(head | back)
            if joined == head:
                return self.passed(tested, op.results, condition.args)
            head = joined

    def _branches(
        self, op: Operation | None, state: frozenset[Fact]
    ) -> list[tuple[Block, frozenset[Fact]]]:
        match op:
            case cf.BranchOp():
                return [(op.successor, self.passed(state, op.successor.args, op.arguments))]
            case cf.ConditionalBranchOp():
                then, other = (self.assumed(state, op.cond, holds) for holds in (True, False))
                return [
                    (op.then_block, self.passed(then, op.then_block.args, op.then_arguments)),
                    (op.else_block, self.passed(other, op.else_block.args, op.else_arguments)),
                ]
            case _:
                return []


def _last(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def _rounds(op: scf.ForOp) -> int | None:
    """How often a loop runs; None where that is not known."""
    lower, upper, step = (constant_index(operand) for operand in (op.lb, op.ub, op.step))
    if lower is None or upper is None or not step or step < 0:
        return None
    return max(0, -(-(upper - lower) // step))
