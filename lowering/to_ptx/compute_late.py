"""Pure instructions right in front of what needs them, so that few registers hold values that wait:
elements of a tile that were computed an op after the other are computed an element after the other.
"""

from collections.abc import Iterator

from xdsl.ir import Block, Operation, Region
from xdsl.traits import Pure


def compute_late(region: Region) -> None:
    """Order the instructions of each block; those with effects stay in their order."""
    for block in region.blocks:
        for op in list(_ordered(block)):
            op.detach()
            block.add_op(op)


def _ordered(block: Block) -> Iterator[Operation]:
    pure = [op for op in block.ops if op.results and op.has_trait(Pure)]
    left, last = set(pure), block.last_op
    effects = [op for op in block.ops if op not in left]
    for op in effects:
        if op is last:  # other blocks need the rest
            for value in pure:
                if value in left:
                    left.discard(value)
                    yield from _needed(value, left)
        yield from _needed(op, left)


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
