"""Facts that may hold at each place of a function, followed over all its paths.

A forward dataflow to a fixpoint, over `scf.for`, `scf.if`, `scf.while` and branches between blocks.
Two ways that meet have what holds on either.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from xdsl.dialects import cf, scf
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.integers import constant_integer

State = TypeVar("State")


class ForwardFlow(Generic[State]):
    """A function as it is executed; an analysis says what its ops do to a state."""

    def follow(self, body: Region, start: State) -> None:
        """Follow all paths of a function's body from what holds at its beginning."""
        known = {body.blocks[0]: start}
        work = [body.blocks[0]]
        while work:
            block = work.pop()
            after = self._block(block, known[block])
            for dest, coming in self._branches(block.last_op, after):
                before = known.get(dest)
                if before is None or not self.covers(before, coming):
                    known[dest] = coming if before is None else self.join(coming, before)
                    work.append(dest)

    # What an analysis says

    def visit(self, op: Operation, state: State) -> State:
        """The state after an op without regions of control flow; that before may be changed."""
        raise NotImplementedError

    def ops_of(self, block: Block) -> Iterable[Operation]:
        """The ops of a block that change a state, and those with regions."""
        return block.ops

    def passed(
        self, state: State, dests: Sequence[SSAValue], sources: Sequence[SSAValue], op: Operation
    ) -> State:
        """Another state, once an op has given `dests` the values of `sources`."""
        raise NotImplementedError

    def join(self, state: State, other: State) -> State:
        """The state where two ways meet."""
        raise NotImplementedError

    def covers(self, state: State, other: State) -> bool:
        """Joining the other adds nothing."""
        raise NotImplementedError

    def copied(self, state: State) -> State:
        """A state that the ops of a block may change."""
        return state

    def assumed(self, state: State, condition: SSAValue, holds: bool) -> State:
        """The state where a condition holds, or does not."""
        return state

    def rounds(self, op: scf.ForOp) -> int | None:
        """How often a loop goes round; None where that is not known."""
        lower, upper, step = (constant_integer(operand) for operand in (op.lb, op.ub, op.step))
        if lower is None or upper is None or not step or step < 0:
            return None
        return max(0, -(-(upper - lower) // step))

    # Structure

    def _block(self, block: Block, state: State) -> State:
        state = self.copied(state)
        for op in self.ops_of(block):
            state = self.structured(op, state) if op.regions else self.visit(op, state)
        return state

    def structured(self, op: Operation, state: State) -> State:
        """The state after an op with regions."""
        match op:
            case scf.ForOp():
                return self._for(op, state)
            case scf.IfOp():
                return self.branched(op, state)
            case scf.WhileOp():
                return self._while(op, state)
            case _:
                return self.visit(op, state)

    def _for(self, op: scf.ForOp, state: State) -> State:
        body, rounds = op.body.block, self.rounds(op)
        last = _last(body)
        never = self.passed(state, op.results, op.iter_args, op)
        if rounds == 0:
            return never
        head = self.passed(state, body.args, (op.lb, *op.iter_args), op)
        while True:
            after = self._block(body, head)
            back = self.passed(after, body.args, (op.lb, *last.operands), last)
            if rounds == 1 or self.covers(head, back):
                break
            head = self.join(head, back)
        left = self.passed(after, op.results, last.operands, last)
        return left if rounds else self.join(never, left)

    def branched(self, op: scf.IfOp, state: State) -> State:
        """The state after both branches."""
        return self.join(
            self.branch(op, op.true_region, self.assumed(state, op.cond, True)),
            self.branch(op, op.false_region, self.assumed(state, op.cond, False)),
        )

    def branch(self, op: scf.IfOp, region: Region, state: State) -> State:
        """The state after one of them."""
        if not region.blocks:
            return state
        last = _last(region.block)
        return self.passed(self._block(region.block, state), op.results, last.operands, last)

    def _while(self, op: scf.WhileOp, state: State) -> State:
        before, after = op.before_region.block, op.after_region.block
        condition, last = _last(before), _last(after)
        assert isinstance(condition, scf.ConditionOp)
        head = self.passed(state, before.args, op.arguments, op)
        while True:
            tested = self._block(before, head)
            inside = self.passed(tested, after.args, condition.args, condition)
            back = self.passed(self._block(after, inside), before.args, last.operands, last)
            if self.covers(head, back):
                return self.passed(tested, op.results, condition.args, condition)
            head = self.join(head, back)

    def _branches(self, op: Operation | None, state: State) -> Iterator[tuple[Block, State]]:
        match op:
            case cf.BranchOp():
                yield op.successor, self.passed(state, op.successor.args, op.arguments, op)
            case cf.ConditionalBranchOp():
                for dest, values, holds in (
                    (op.then_block, op.then_arguments, True),
                    (op.else_block, op.else_arguments, False),
                ):
                    assumed = self.assumed(state, op.cond, holds)
                    yield dest, self.passed(assumed, dest.args, values, op)
            case _:
                pass


def _last(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op
