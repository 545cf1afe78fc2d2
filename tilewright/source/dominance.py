"""Dominance: every value is defined on all paths to each of its uses, in a region around it.

xDSL's verifier does not ask this. One walk in the order of the dominator tree does, with the set of
the values that are visible: linear in the ops, but for what blocks that loop back cost.
"""

from collections.abc import Iterable

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from tilewright.source.diagnostic import OpError, named

_GRAPHS = ("builtin.module", "hw.module")
"""Ops in whose region the order of ops means nothing, beside those that nobody knows."""


def misplaced_uses(module: Operation) -> list[OpError]:
    """The faults of the uses of values that do not dominate them, in the order of the walk."""
    walk = _Walk()
    walk.enter(module)
    return walk.faults


class _Walk:
    """The values that are visible where the walk stands, and the uses of others so far."""

    def __init__(self) -> None:
        self.faults: list[OpError] = []
        self._visible: set[SSAValue] = set()

    def enter(self, op: Operation) -> None:
        """Walk the regions of an op."""
        outer = self._visible
        if op.has_trait(IsolatedFromAbove):
            self._visible = set()
        for region in op.regions:
            if op.name in _GRAPHS or isinstance(op, UnregisteredOp):
                self._with_all(region.blocks, region.blocks)
            elif region.first_block is not None:
                self._region(region, region.first_block)
        self._visible = outer

    def _region(self, region: Region, entry: Block) -> None:
        if entry.next_block is None:
            self._leave(self._block(entry))
            return
        tree = dominator_tree(entry)
        # A block, or the values to forget behind it and the blocks that it dominates.
        stack: list[Block | list[SSAValue]] = [entry]
        while stack:
            item = stack.pop()
            if isinstance(item, Block):
                stack += [self._block(item), *reversed(tree[item])]
            else:
                self._leave(item)
        # No path leads to the rest: everything is defined on all of them.
        self._with_all(region.blocks, [block for block in region.blocks if block not in tree])

    def _with_all(self, blocks: Iterable[Block], walked: Iterable[Block]) -> None:
        """Walk some of the blocks of a region with the values of all of them visible."""
        before = set(self._visible)
        for block in blocks:
            self._visible.update(block.args)
            self._visible.update(result for op in block.ops for result in op.results)
        for block in walked:
            self._block(block)
        self._visible = before

    def _block(self, block: Block) -> list[SSAValue]:
        """Walk a block; the values that are visible from here on."""
        values: list[SSAValue] = list(block.args)
        self._visible.update(values)
        for op in block.ops:
            for index, operand in enumerate(op.operands):
                if operand not in self._visible:
                    self.faults.append(OpError(op, _message(op, index, operand)))
            if op.regions:
                self.enter(op)
            self._visible.update(op.results)
            values += op.results
        return values

    def _leave(self, values: list[SSAValue]) -> None:
        self._visible.difference_update(values)


def dominator_tree(entry: Block) -> dict[Block, list[Block]]:
    """The blocks that each reachable block dominates immediately.

    After Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm": a dominator of a block
    is where the paths up from its predecessors meet.
    """
    order = _post_order(entry)
    number = {block: place for place, block in enumerate(order)}
    predecessors: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for successor in _successors(block):
            predecessors[successor].append(block)
    above = {entry: entry}

    def meet(a: Block, b: Block) -> Block:
        while a is not b:
            if number[a] < number[b]:
                a = above[a]
            else:
                b = above[b]
        return a

    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [other for other in predecessors[block] if other in above]
            best = known[0]
            for other in known[1:]:
                best = meet(best, other)
            changed |= above.get(block) is not best
            above[block] = best
    tree: dict[Block, list[Block]] = {block: [] for block in order}
    for block in reversed(order[:-1]):
        tree[above[block]].append(block)
    return tree


def _post_order(entry: Block) -> list[Block]:
    """The blocks that paths from the entry reach, each behind those that it leads to."""
    order: list[Block] = []
    seen, stack = {entry}, [(entry, iter(_successors(entry)))]
    while stack:
        block, rest = stack[-1]
        following = next((other for other in rest if other not in seen), None)
        if following is None:
            order.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(_successors(following))))
    return order


def _successors(block: Block) -> Iterable[Block]:
    return () if block.last_op is None else block.last_op.successors


def _message(op: Operation, index: int, value: SSAValue) -> str:
    value_text = f"%{value.name_hint}" if value.name_hint else f"a value of {value.type}"
    return (
        f"'{op.name}' expected operand {index} to be defined on every path here, "
        f"got {value_text}, {_place(op, value)}"
    )


def _place(op: Operation, value: SSAValue) -> str:
    """Where a value is defined that is not visible to an op."""
    if isinstance(value, OpResult):
        owner, what = value.op.parent, named(value.op)
    elif isinstance(value, BlockArgument):
        owner, what = value.block, "an argument"
    else:
        return "which nothing defines"
    if owner is None:
        return f"which {what} defines outside of the module"
    if value.owner is op:
        return "its own result"
    around: Operation | None = op
    while around is not None and around.parent_region() is not owner.parent:
        around = around.parent_op()
    if around is None:
        where = "in a region that does not enclose it"
    elif around.parent is not owner:
        where = "in a block that paths go around"
    else:
        where = "around it" if around is value.owner else "later"
    return f"which {what} defines {where}"
