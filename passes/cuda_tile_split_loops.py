"""`cuda-tile-split-loops`: a loop whose `if` compares its index with an invariant becomes two.

    for %i in (%a to %b, step %s) {       %u = mini %k, %b      %l = maxi %k, %a
      %c = cmpi less_than %i, %k          for %i in (%a to %u, step %s) { THEN }
      if %c { THEN } else { ELSE }    ->  for %i in (%l to %b, step %s) { ELSE }
    }

Where the step is not one the second loop begins at the first index that is not below %k; such
loops are split where neither bound is negative and their type has room for a step beyond. An
attribute `cuda_tile.loop_split` of the `if`, the `for` or the kernel, the innermost first, says how
many ops a branch must have to be worth it: 0 never splits, 1 always; memory, MMAs and nested
control flow are worth it at any length.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tilewright.dialects.ancestors import users
from tilewright.dialects.cuda_tile.builder import TileBuilder, constant
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.enums import (
    ComparisonPredicate,
    IntegerOverflow,
    RoundingMode,
    Signedness,
)
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.control_flow import ContinueOp, ForOp, IfOp, YieldOp
from tilewright.dialects.cuda_tile.ops.integer import (
    AddIOp,
    CmpIOp,
    DivIOp,
    MaxIOp,
    MinIOp,
    MulIOp,
    SubIOp,
)
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaIOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, StoreViewTkoOp
from tilewright.dialects.frozen import frozen
from tilewright.dialects.integers import integer_of
from tilewright.passes.cuda_tile.analysis.facts import greatest, is_natural, known_integer
from tilewright.passes.cuda_tile.layouts.elements import element_of

THRESHOLD = "cuda_tile.loop_split"
"""The attribute that says from how many ops on a branch is worth a loop of its own."""

HEAVY = (
    LoadPtrTkoOp, LoadViewTkoOp, StorePtrTkoOp, StoreViewTkoOp, MmaFOp, MmaIOp, ReduceOp, IfOp,
    ForOp,
)  # fmt: skip
"""Ops that make a branch worth it however short it is."""

MIRRORED = {
    ComparisonPredicate.LESS_THAN: ComparisonPredicate.GREATER_THAN,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: ComparisonPredicate.GREATER_THAN_OR_EQUAL,
    ComparisonPredicate.GREATER_THAN: ComparisonPredicate.LESS_THAN,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: ComparisonPredicate.LESS_THAN_OR_EQUAL,
}
"""Comparisons that split a loop, and the same with their sides exchanged."""


@frozen
class CudaTileSplitLoopsPass(ModulePass):
    """Split loops at the index where the condition of an `if` changes."""

    name = "cuda-tile-split-loops"

    split_threshold: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for loop in list(op.walk(region_first=True)):
            if isinstance(loop, ForOp):
                branches = [x for x in loop.walk(region_first=True) if isinstance(x, IfOp)]
                places = (self._split_at(loop, branch) for branch in branches)
                place = next(filter(None, places), None)
                if place is not None:
                    split(loop, place)

    def _split_at(self, loop: ForOp, branch: IfOp) -> Split | None:
        threshold = self.split_threshold
        around = loop.parent_op()
        while around is not None and around.name != "cuda_tile.entry":
            around = around.parent_op()
        for op in (around, loop, branch):
            hint = None if op is None else op.attributes.get(THRESHOLD)
            threshold = integer_of(hint, threshold)
        return find_split(loop, branch, threshold) if threshold else None


@frozen
class Split:
    """Where a loop is split: behind the last index below `value`, or, `inclusive`, up to it.

    `branches` are the ifs of the loop that only `compare` decides; `then_first` says that their
    then branch is that of the first loop.
    """

    compare: CmpIOp
    value: SSAValue
    inclusive: bool
    then_first: bool
    branches: tuple[IfOp, ...]


def find_split(loop: ForOp, branch: IfOp, threshold: int) -> Split | None:
    """The split that an `if` asks for, if it does."""
    compare = branch.condition.owner
    if not isinstance(compare, CmpIOp) or compare.signedness.data is not _signedness(loop):
        return None
    index, predicate, value = loop.region.block.args[0], compare.comparison_predicate.data, None
    if compare.lhs is index:
        value = compare.rhs
    elif compare.rhs is index:
        value, predicate = compare.lhs, MIRRORED.get(predicate, predicate)
    if value is None or predicate not in MIRRORED or _is_within(loop, value):
        return None
    if not (_steps_by_one(loop) or _has_room(loop)):
        return None
    branches = [user for user in users(compare.result) if isinstance(user, IfOp)]
    if not any(is_worth(branch, threshold) for branch in branches):
        return None
    return Split(
        compare,
        value,
        predicate in (ComparisonPredicate.GREATER_THAN, ComparisonPredicate.LESS_THAN_OR_EQUAL),
        predicate in (ComparisonPredicate.LESS_THAN, ComparisonPredicate.LESS_THAN_OR_EQUAL),
        tuple(branch for branch in branches if branch.parent_op() is loop),
    )


def is_worth(branch: IfOp, threshold: int) -> bool:
    """True where a branch is worth a loop of its own."""
    if threshold == 1:
        return True
    bodies = [list(region.block.ops) for region in branch.regions if region.blocks]
    return any(
        len(body) > threshold or any(isinstance(op, HEAVY) for op in body) for body in bodies
    )


def _signedness(loop: ForOp) -> Signedness:
    return Signedness.SIGNED if loop.unsigned_cmp is None else Signedness.UNSIGNED


def _steps_by_one(loop: ForOp) -> bool:
    return known_integer(loop.step) == 1


def _has_room(loop: ForOp) -> bool:
    """True where a step beyond the upper bound is a number of the index's type."""
    high, step = greatest(loop.upper_bound), greatest(loop.step)
    most = (1 << _bits(loop) - 1) - 1
    if high is None or step is None or not is_natural(loop.lower_bound):
        return False
    return high + step <= most


def _bits(loop: ForOp) -> int:
    return ELEMENT_OF[element_of(loop.step)].bits


def _is_within(loop: ForOp, value: SSAValue) -> bool:
    owner = value.owner
    return (owner if isinstance(owner, Operation) else owner.parent_op()) in set(loop.walk())


# --- rewriting ---


def split(loop: ForOp, at: Split) -> None:
    """Replace a loop by two."""
    builder = TileBuilder(loop)
    point = split_point(builder, loop, at)
    signedness = _signedness(loop)
    low, high, step = loop.lower_bound, loop.upper_bound, loop.step
    end = builder.add(MinIOp, [point, high], signedness=signedness)
    begin = builder.add(MaxIOp, [point, low], signedness=signedness)
    first = copied(loop, at, (low, end, step), loop.init_values, at.then_first)
    builder.insert(first)
    second = copied(loop, at, (begin, high, step), first.results, not at.then_first)
    builder.insert(second)
    for old, new in zip(loop.results, second.results, strict=True):
        old.replace_all_uses_with(new)
    Rewriter.erase_op(loop)


def split_point(builder: TileBuilder, loop: ForOp, at: Split) -> SSAValue:
    """The index that the second loop begins at, bounds left aside."""
    exact, signed = {"overflow": IntegerOverflow.NONE}, {"signedness": Signedness.SIGNED}
    point, low, step, signedness = at.value, loop.lower_bound, loop.step, _signedness(loop)
    by_one = _steps_by_one(loop)
    # No index is the greatest number: that is no less than the upper bound.
    last = (1 << _bits(loop) - 1 if signedness is Signedness.SIGNED else 0) - 2
    if not by_one:
        point = builder.add(MinIOp, [point, loop.upper_bound], signedness=signedness)
        point = builder.add(MaxIOp, [point, -1], **signed)
    elif at.inclusive and known_integer(point) in (None, last + 1):
        point = builder.add(MinIOp, [point, last], signedness=signedness)
    if at.inclusive:
        point = builder.add(AddIOp, [point, 1], **exact)
    if by_one:
        return point
    way = builder.add(SubIOp, [point, low], **exact)
    count = builder.add(DivIOp, [way, step], rounding=RoundingMode.POSITIVE_INF, **signed)
    distance = builder.add(MulIOp, [count, step], **exact)
    return builder.add(AddIOp, [low, distance], **exact)


def copied(
    loop: ForOp,
    at: Split,
    bounds: tuple[SSAValue, SSAValue, SSAValue],
    carried: Sequence[SSAValue],
    takes_then: bool,
) -> ForOp:
    """A copy of a loop with other bounds, and one branch of the ifs that are decided."""
    old = loop.region.block
    block = Block(arg_types=[argument.type for argument in old.args])
    known: dict[SSAValue, SSAValue] = dict(zip(old.args, block.args, strict=True))
    for one, other in known.items():
        other.name_hint = one.name_hint
    _copy_body(at, block, known, old, takes_then)
    new = loop.clone_without_regions()
    new.operands = [*bounds, *carried]
    new.region.add_block(block)
    return new


def _copy_body(
    at: Split, block: Block, known: dict[SSAValue, SSAValue], old: Block, takes_then: bool
) -> None:
    for op in old.ops:
        if op is at.compare:
            if any(use.operation not in at.branches for use in at.compare.result.uses):
                decided = constant(int(takes_then), at.compare.result.type)
                block.add_op(decided)
                known[at.compare.result] = decided.result
        elif op not in at.branches:
            block.add_op(op.clone(known))
        elif _copy_branch(block, known, op, takes_then):
            return


def _copy_branch(
    block: Block, known: dict[SSAValue, SSAValue], branch: Operation, takes_then: bool
) -> bool:
    """Copy a branch in place of its `if`; says whether it leaves the block for good."""
    region = branch.regions[0 if takes_then else 1]
    for op in region.block.ops if region.blocks else ():
        if isinstance(op, YieldOp):
            for result, value in zip(branch.results, op.operands, strict=True):
                known[result] = known.get(value, value)
            continue
        block.add_op(op.clone(known))
        if isinstance(op, ContinueOp):
            return True
    return False
