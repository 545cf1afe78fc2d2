"""Pure instructions right in front of what needs them, so that few registers hold values that wait:
elements of a tile that were computed an op after the other are computed an element after the other.
Behind a store come those that need as many registers as they are the last to read.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import Pure

from tilewright.dialects.ptx.registers import ConstOp
from tilewright.dialects.ptx.types import KINDS, RegType


def compute_late(region: Region) -> None:
    """Order the instructions of each block; those with effects stay in their order."""
    readers = Counter(value for op in region.walk() for value in op.operands)
    for block in region.blocks:
        for op in list(_ordered(block, readers)):
            op.detach()
            block.add_op(op)


def _ordered(block: Block, readers: Counter[SSAValue]) -> Iterator[Operation]:
    """The instructions of a block; `readers` are the operands that the ones left have."""
    pure = [op for op in block.ops if op.results and op.has_trait(Pure)]
    left, last = set(pure), block.last_op
    waiting = set(block.ops)

    def made(op: Operation) -> Operation:
        waiting.discard(op)
        readers.subtract(op.operands)
        return op

    effects = [op for op in block.ops if op not in left]
    for op in effects:
        if op is last:  # other blocks need the rest
            for value in pure:
                if value in left:
                    left.discard(value)
                    yield from map(made, _needed(value, left))
        new = [made(one) for one in _needed(op, left)]
        yield from new
        while new and not op.results:
            users = [use.operation for value in new.pop().results for use in value.uses]
            for user in dict.fromkeys(users):
                ready = user in left and waiting.isdisjoint(x.owner for x in user.operands)
                if ready and _bits(user.results) <= _bits(_ended(user, readers)):
                    left.discard(user)
                    new.append(made(user))
                    yield user


def _ended(op: Operation, readers: Counter[SSAValue]) -> Iterator[SSAValue]:
    """The operands, constants apart, that nothing reads behind an instruction."""
    for value, count in Counter(op.operands).items():
        if readers[value] == count and not isinstance(value.owner, ConstOp):
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
