"""Control flow between blocks: where branches go, and where threads that part meet again."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise

from xdsl.dialects import cf
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects.dominators import immediate_dominators
from tilewright.dialects.frozen import frozen_entity
from tilewright.dialects.ptx import control_flow
from tilewright.dialects.sequences import numbered

Edge = tuple[Block, Sequence[SSAValue]]


def condition_of(op: Operation | None) -> SSAValue | None:
    """The condition of a branch to one of two blocks."""
    match op:
        case cf.ConditionalBranchOp():
            return op.cond
        case control_flow.CondBraOp():
            return op.condition
        case _:
            return None


def edges_of(op: Operation | None) -> tuple[Edge, ...]:
    """The blocks that control goes to, that of a condition that holds first, and what they get."""
    match op:
        case cf.BranchOp():
            return ((op.successor, op.arguments),)
        case control_flow.BraOp():
            return ((op.dest, op.arguments),)
        case cf.ConditionalBranchOp() | control_flow.CondBraOp():
            return (op.then_block, op.then_arguments), (op.else_block, op.else_arguments)
        case _:
            return ()


def edges_into(region: Region) -> Mapping[Block, Sequence[Edge]]:
    """The blocks that control comes from to each block, in their order, and what they give."""
    coming = defaultdict[Block, list[Edge]](list)
    for block in region.blocks:
        for dest, values in edges_of(block.last_op):
            coming[dest].append((block, values))
    return coming


def between(block: Block, join: Block) -> Iterator[Block]:
    """The blocks on the ways from one to where they meet; the first itself where one leads back."""
    seen, work = {join}, [dest for dest, _ in edges_of(block.last_op)]
    while work:
        if (other := work.pop()) not in seen:
            seen.add(other)
            yield other
            work += (dest for dest, _ in edges_of(other.last_op))


def onward(block: Block, says_nothing: Callable[[Block], bool]) -> Edge | None:
    """The way on from a block that waits: the other one leads back to it, through blocks where
    nobody asks how often threads come there."""
    edges = edges_of(block.last_op) if condition_of(block.last_op) else ()
    for (dest, _), way_on in zip(edges, reversed(edges), strict=True):
        seen = {block}
        while dest not in seen and len(edges_of(dest.last_op)) == 1 and says_nothing(dest):
            seen.add(dest)
            ((dest, _),) = edges_of(dest.last_op)
        if dest is block and way_on[0] is not block and says_nothing(block):
            return way_on
    return None


def joins(region: Region) -> dict[Block, Block | None]:
    """The block where all ways on from a block meet: its immediate post-dominator, or None."""
    before: dict[Block | None, list[Block]] = {None: []}
    for block in region.blocks:
        for dest, _ in edges_of(block.last_op) or ((None, ()),):
            before.setdefault(dest, []).append(block)

    # All ways end in one place behind the last blocks, where nothing is.
    def ways(block: Block | None) -> Sequence[Block]:
        return before.get(block, ())

    behind: dict[Block | None, Block | None] = immediate_dominators(None, ways)
    return {block: behind.get(block) for block in region.blocks}


@frozen_entity
class CountedLoop:
    """A loop of blocks that counts: its number in the first round and in the second, the bound, and
    the blocks of it."""

    lb: SSAValue
    second: SSAValue
    ub: SSAValue
    blocks: frozenset[Block]


def loops_of(region: Region) -> list[CountedLoop]:
    """The loops whose first block or last one asks whether a number has reached a bound, outer ones
    first."""
    blocks = list(region.blocks)
    order = numbered(blocks)
    coming = edges_into(region)
    loops: list[CountedLoop] = []
    for block in blocks:
        edges = coming.get(block, ())
        back = [(other, values) for other, values in edges if order[other] >= order[block]]
        begin = [values for other, values in edges if order[other] < order[block]]
        if not back or not begin:
            continue
        last, values = back[-1]
        counted = (
            (first, second, bound)
            for number, bound in (*_asked(block), *_asked(last))
            for argument, first, second in zip(block.args, begin[0], values, strict=True)
            if number in (argument, second)
            and isinstance(second.owner, Operation)
            and argument in second.owner.operands
            and bound.owner is not block
        )
        for first, second, bound in islice(counted, 1):
            body = frozenset(blocks[order[block] : order[last] + 1])
            loops.append(CountedLoop(first, second, bound, body))
    return loops


def _asked(block: Block) -> Iterator[tuple[SSAValue, SSAValue]]:
    """The numbers that the branch at the end of a block compares, either one first."""
    condition = condition_of(block.last_op)
    if condition is not None and isinstance(compare := condition.owner, Operation):
        yield from pairwise((*compare.operands[:2], *compare.operands[:1]))
