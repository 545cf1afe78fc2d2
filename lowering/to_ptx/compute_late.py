"""Pure instructions, and `late` loads, right in front of what needs them, so that few registers
hold values that wait: elements of a tile that were computed an op after the other are computed an
element after the other.
Behind a store come those that need as many registers as they are the last to read.
"""

from collections.abc import Iterable, Iterator

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import Pure

from tilewright.dialects.ancestors import users
from tilewright.dialects.ptx.data_movement import LdOp
from tilewright.dialects.ptx.registers import ConstOp
from tilewright.dialects.ptx.types import KINDS, RegType


def compute_late(region: Region) -> None:
    """Order the instructions of each block; those with effects stay in their order."""
    for block in region.blocks:
        for op in list(_ordered(block)):
            op.detach()
            block.add_op(op)


def _ordered(block: Block) -> Iterator[Operation]:
    pure = [op for op in block.ops if op.results and _may_wait(op)]
    left, last, waiting = set(pure), block.last_op, set(block.ops)
    effects = [op for op in block.ops if op not in left]
    for op in effects:
        if op is last:  # other blocks need the rest
            for value in pure:
                if value in left:
                    left.discard(value)
                    yield from _needed(value, left)
        new = list(_needed(op, left))
        waiting.difference_update(new)
        yield from new
        while new and not op.results:
            for user in list(users(*new.pop().results)):
                ready = user in left and waiting.isdisjoint(x.owner for x in user.operands)
                if ready and _bits(user.results) <= _bits(_ended(user, waiting)):
                    left.discard(user)
                    waiting.discard(user)
                    new.append(user)
                    yield user


def _may_wait(op: Operation) -> bool:
    return op.has_trait(Pure) or (isinstance(op, LdOp) and op.late is not None)


def _ended(op: Operation, waiting: set[Operation]) -> Iterator[SSAValue]:
    """The operands, constants apart, that nothing of a block reads behind an instruction, and
    nothing of others."""
    for value in set(op.operands):
        if not isinstance(value.owner, ConstOp) and all(
            user is op or (user.parent is op.parent and user not in waiting)
            for user in users(value)
        ):
            yield value


def _bits(values: Iterable[SSAValue]) -> int:
    """The bits of the registers of values."""
    types = (value.type for value in values)
    return sum(KINDS[x.kind.data] * x.count.data for x in types if isinstance(x, RegType))


def _needed(op: Operation, left: set[Operation]) -> Iterator[Operation]:
    """An instruction behind those of the ones left that it needs."""
    needs = [(op, iter(op.operands))]
    while needs:
        own, operands = needs[-1]
        for value in operands:
            if value.owner in left:
                assert isinstance(value.owner, Operation)
                left.discard(value.owner)
                needs.append((value.owner, iter(value.owner.operands)))
                break
        else:
            needs.pop()
            yield own
