"""Rules for `if`.

    if %c { return } else { A; return }      ->      if %c { return }
    B                                                A; return

A branch either yields to what follows the `if` or leaves: by `return`, `continue` or `break`.
"""

from collections.abc import Callable, Sequence
from itertools import chain

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tilewright.dialects.cuda_tile.ops.control_flow import IfOp, YieldOp
from tilewright.dialects.cuda_tile.ops.integer import AndIOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.analysis.facts import always_holds
from tilewright.passes.cuda_tile_fold_select import all_of, negated, negation_of, selected


def negated_condition(op: IfOp, rewriter: PatternRewriter) -> None:
    """if not c {A} else {B}  ->  if c {B} else {A}"""
    condition = negation_of(op.condition)
    if condition is not None and op.else_region.blocks:
        then, other = op.then_region.detach_block(0), op.else_region.detach_block(0)
        op.then_region.add_block(other)
        op.else_region.add_block(then)
        op.operands = [condition]
        rewriter.notify_op_modified(op)


def unused_results(op: IfOp, rewriter: PatternRewriter) -> None:
    """Results that nobody uses go."""
    used = [index for index, result in enumerate(op.results) if result.first_use is not None]
    if len(used) < len(op.results) and any(map(_yield, op.regions)):
        new = _with_some(op, used, rewriter)
        for index, result in zip(used, new.results, strict=True):
            rewriter.replace_all_uses_with(op.results[index], result)
        rewriter.erase(op)


def results_known(op: IfOp, rewriter: PatternRewriter) -> None:
    """A result that both branches yield alike is that, and one that is the condition is it."""
    ends = [_yield(region) for region in op.regions]
    if None in ends:
        return
    yields = zip(*(end.operands for end in ends), op.results, strict=True)  # pyright: ignore
    for if_true, if_false, result in yields:
        if result.first_use is None:
            continue
        known = all_of(if_true), all_of(if_false)
        if if_true is if_false:
            rewriter.replace_all_uses_with(result, if_true)
        elif result.type == op.condition.type and known == (1, 0):
            rewriter.replace_all_uses_with(result, op.condition)
        elif result.type == op.condition.type and known == (0, 1):
            rewriter.replace_all_uses_with(result, negated(op.condition, rewriter))


def known_condition(op: IfOp, rewriter: PatternRewriter) -> None:
    """if true {A} else {B}  ->  A"""
    known = 1 if always_holds(op.condition) else all_of(op.condition)
    if known is not None:
        region = op.then_region if known else op.else_region
        if region.blocks:
            in_place(op, region, rewriter)
        else:
            rewriter.erase(op)


def to_select(op: IfOp, rewriter: PatternRewriter) -> None:
    """Results that are made outside are selected outside."""
    ends = [_yield(region) for region in op.regions]
    yielded = [end.operands for end in ends if end is not None]
    if not op.results or not yielded or not all(map(_can_be_selected, op.result_types)):
        return
    arms = list(zip(yielded[0], yielded[-1], strict=True))
    inside = [
        index for index, arm in enumerate(arms) if any(_is_of(value, op.regions) for value in arm)
    ]
    if len(inside) == len(arms):
        return
    new = _with_some(op, inside, rewriter)
    results: list[SSAValue] = []
    kept = iter(new.results)
    for index, (if_true, if_false) in enumerate(arms):
        if index in inside:
            results.append(next(kept))
        elif if_true is if_false:
            results.append(if_true)
        else:
            results.append(selected(op.condition, if_true, if_false, rewriter))
    _move_before(new, op)
    rewriter.replace(op, (), results)


def empty_else(op: IfOp, rewriter: PatternRewriter) -> None:
    """if c {A} else {}  ->  if c {A}"""
    if not op.results and _is_bare(op.else_region) and _yield(op.else_region):
        rewriter.erase(op.else_region.block.ops.last)  # pyright: ignore
        op.else_region.erase_block(0)
        rewriter.notify_op_modified(op)


def after_the_same(op: IfOp, rewriter: PatternRewriter) -> None:
    """if c {A} else {B}; if c {C} else {D}  ->  if c {A; C} else {B; D}"""
    first = op.prev_op
    if not isinstance(first, IfOp):
        return
    if op.condition is first.condition:
        appended: list[Region | None] = [op.then_region, op.else_region]
    elif negation_of(op.condition) is first.condition or (
        negation_of(first.condition) is op.condition
    ):
        appended = [op.else_region, op.then_region]
    else:
        return
    for index, region in enumerate(first.regions):
        if (region.blocks and _yield(region) is None) or not _blocks(appended[index]):
            appended[index] = None
    if not any(appended):
        return
    for region, more in zip(first.regions, appended, strict=True):
        if more is not None and (end := _yield(region)) is not None:
            _replace_within(more, first.results, end.operands, rewriter)
    types = [*first.result_types, *op.result_types]
    new = _new_if(first.condition, types, op, rewriter)
    for region, old, more in zip(new.regions, first.regions, appended, strict=True):
        if old.blocks:
            region.add_block(old.detach_block(0))
        if more is not None:
            _append(region, more, rewriter)
    results = new.results[: len(first.results)], new.results[len(first.results) :]
    for old_if, values in zip((first, op), results, strict=True):
        for region in old_if.regions:
            _empty(region, rewriter)
        for result, value in zip(old_if.results, values, strict=True):
            rewriter.replace_all_uses_with(result, value)
        rewriter.erase(old_if)


def nested(op: IfOp, rewriter: PatternRewriter) -> None:
    """if c { if d {A} }  ->  if c and d {A}"""
    inner = op.then_region.block.first_op
    if not isinstance(inner, IfOp) or not _can_be_one(op, inner):
        return
    then, other = _operands(op.then_region), _operands(op.else_region)
    outside: list[int] = []
    for index, value in enumerate(then):
        if value in inner.results:
            at = inner.results.index(value)  # pyright: ignore
            if _operands(inner.else_region)[at] is not other[index]:
                return
            then[index] = _operands(inner.then_region)[at] if _yield(inner.then_region) else value
        elif _can_be_selected(value.type):
            outside.append(index)
        else:
            return
    both = AndIOp.create(operands=[op.condition, inner.condition], result_types=[op.condition.type])
    new = _new_if(rewriter.insert(both).result, op.result_types, op, rewriter)
    results: list[SSAValue] = list(new.results)
    for index in outside:
        results[index] = selected(op.condition, then[index], other[index], rewriter)
    new.then_region.add_block(inner.then_region.detach_block(0))
    _reyield(new.then_region, lambda end: then, rewriter)
    if other:
        new.else_region.add_block(Block([YieldOp.create(operands=other)]))
    rewriter.replace(op, (), results)


def _can_be_one(op: IfOp, inner: IfOp) -> bool:
    others = [region for region in (op.else_region, inner.else_region) if region.blocks]
    return (
        inner.next_op is op.then_region.block.last_op
        and _yield(op.then_region) is not None
        and all(_is_bare(region) and _yield(region) for region in others)
        and (not others or _yield(inner.then_region) is not None)
    )


def both_leave(op: IfOp, rewriter: PatternRewriter) -> None:
    """if c {A; return} else {B; return}  ->  if c {A; return}; B; return"""
    if op.else_region.blocks and not any(map(_yield, op.regions)):
        new = _new_if(op.condition, (), op, rewriter)
        new.then_region.add_block(op.then_region.detach_block(0))
        in_place(op, op.else_region, rewriter)


IF_RULES: tuple[Callable[[IfOp, PatternRewriter], None], ...] = (
    negated_condition, known_condition, unused_results, results_known, to_select, empty_else,
    after_the_same, nested, both_leave,
)  # fmt: skip


# --- regions ---


def in_place(op: IfOp, region: Region, rewriter: PatternRewriter) -> None:
    """Put a branch in place of its `if`; where it leaves, what follows goes."""
    end, values = _yield(region), _operands(region)
    block = op.parent
    assert block is not None
    if end is not None:
        rewriter.erase(end)
        rewriter.inline_block(region.block, InsertPoint.before(op))
        rewriter.replace(op, (), values)
        return
    rewriter.inline_block(region.block, InsertPoint.before(op))
    while (last := block.last_op) is not op:
        assert last is not None
        rewriter.erase(last, safe_erase=False)
    rewriter.erase(op, safe_erase=False)


def _blocks(region: Region | None) -> bool:
    return region is not None and bool(region.blocks)


def _yield(region: Region) -> YieldOp | None:
    """The op that a branch yields with, unless it leaves or is none."""
    end = region.block.last_op if region.blocks else None
    return end if isinstance(end, YieldOp) else None


def _operands(region: Region) -> list[SSAValue]:
    end = _yield(region)
    return [] if end is None else list(end.operands)


def _is_bare(region: Region) -> bool:
    """True where a branch ends where it begins."""
    return bool(region.blocks) and region.block.first_op is region.block.last_op


def _is_of(value: SSAValue, regions: Sequence[Region]) -> bool:
    """True where one of some branches makes a value."""
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    return block is not None and block.parent in regions


def _can_be_selected(type_: Attribute) -> bool:
    return isinstance(type_, TileType) and shown(type_.element_type) != "f4E2M1FN"


def _new_if(
    condition: SSAValue, types: Sequence[Attribute], before: IfOp, rewriter: PatternRewriter
) -> IfOp:
    """An `if` before another, without branches."""
    new = IfOp.create(operands=[condition], result_types=types, regions=[Region(), Region()])
    new.location = before.location
    return rewriter.insert(new, InsertPoint.before(before))


def _taken_over(op: IfOp, types: Sequence[Attribute], rewriter: PatternRewriter) -> IfOp:
    """An `if` with the branches of another and other results."""
    new = _new_if(op.condition, types, op, rewriter)
    for region, old in zip(new.regions, op.regions, strict=True):
        if old.blocks:
            region.add_block(old.detach_block(0))
    return new


def _with_some(op: IfOp, indices: Sequence[int], rewriter: PatternRewriter) -> IfOp:
    """An `if` with the branches of another and some of its results."""
    new = _taken_over(op, [op.result_types[index] for index in indices], rewriter)
    for region in new.regions:
        _reyield(region, lambda end: [end.operands[index] for index in indices], rewriter)
    return new


def _reyield(
    region: Region, values: Callable[[YieldOp], Sequence[SSAValue]], rewriter: PatternRewriter
) -> None:
    """Yield other values from a branch, if it yields."""
    if (end := _yield(region)) is not None:
        end.operands = values(end)
        rewriter.notify_op_modified(end)


def _append(region: Region, more: Region, rewriter: PatternRewriter) -> None:
    """Put a branch behind another, which yields or is none."""
    if not region.blocks:
        region.add_block(more.detach_block(0))
        return
    values = _operands(region)
    end = _yield(region)
    assert end is not None
    rewriter.erase(end)
    rewriter.inline_block(more.block, InsertPoint.at_end(region.block))
    _reyield(region, lambda end: [*values, *end.operands], rewriter)


def _empty(region: Region, rewriter: PatternRewriter) -> None:
    """Erase the ops of a branch that is no longer one."""
    for block in region.blocks:
        for op in reversed(list(block.ops)):
            rewriter.erase(op, safe_erase=False)


def _replace_within(
    region: Region, old: Sequence[SSAValue], new: Sequence[SSAValue], rewriter: PatternRewriter
) -> None:
    """Replace values by others within a region."""
    within = set(chain.from_iterable(op.walk() for op in region.block.ops))
    for one, other in zip(old, new, strict=True):
        rewriter.replace_uses_with_if(one, other, lambda use: use.operation in within)


def _move_before(op: Operation, other: Operation) -> None:
    """Move an op to the place right before another."""
    block = other.parent
    assert block is not None
    op.detach()
    block.insert_op_before(op, other)
