"""Control flow: `scf` as Tile IR's ops, and branches of `cf`, which go forward, as `if`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import starmap
from typing import Any

from xdsl.dialects import cf, scf
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects.ancestors import terminator
from tilewright.dialects.cuda_tile.ops.control_flow import (
    BreakOp,
    ContinueOp,
    ForOp,
    IfOp,
    LoopOp,
    YieldOp,
)
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.descriptors import flat, rebuilt
from tilewright.lowering.triton.order import ProgramOrder
from tilewright.source.diagnostic import OpError

Branch = Callable[[], Sequence[Any]]


def branches(
    op: Operation, at: TritonConversion, condition: SSAValue, *passing: Branch,
    around: Operation | None = None,
) -> Sequence[Any]:  # fmt: skip
    """An `if` whose branches convert what they pass on, two of them; `around` is the op whose
    accesses to memory may be in them. In a lifted region both are run, and elements are chosen."""
    if at.is_lifted:
        ways = [branch() for branch in passing]
        return [at.select(condition, *pair) for pair in zip(*ways, strict=True)]
    around = op if around is None else around
    tokens = at.order.enter(at, around)
    before, regions = at.order, list[Region]()
    like: Sequence[Any] = ()
    types: list[Attribute] = []
    for branch in passing:
        at.order = before.within(around, tokens)
        with at.inside(Block()) as block:
            like = branch()
            passed = [*flat(like), *at.order.leave(at, tokens)]
            at.insert(YieldOp.create(operands=passed))
        types = [value.type for value in passed]
        regions.append(Region(block))
    new = IfOp.create(operands=[condition], result_types=types, regions=regions)
    return _passed_on(at, new, before, around, like, len(tokens))


def _passed_on(
    at: TritonConversion, new: Operation, before: ProgramOrder, around: Operation,
    like: Sequence[Any], tokens: int,
) -> Sequence[Any]:  # fmt: skip
    """The results of an op but the last ones, which are tokens for what follows."""
    results = at.insert(new).results
    count = len(results) - tokens
    at.order = before.within(around, results[count:])
    return rebuilt(like, results[:count])


@converts
def _if(op: scf.IfOp, at: TritonConversion) -> Sequence[SSAValue]:
    def branch(region: Region) -> Branch:
        return lambda: at.convert_body(region.block) if region.blocks else []

    return branches(op, at, at[op.cond], *map(branch, op.regions))


@converts
def _for(op: scf.ForOp, at: TritonConversion) -> Sequence[Any]:
    bounds, before = at.all([op.lb, op.ub, op.step]), at.order
    tokens, like = before.enter(at, op), at.all(op.iter_args)
    carried = [*flat(like), *tokens]
    types = [value.type for value in carried]
    count = len(types) - len(tokens)
    with at.inside(Block(arg_types=[bounds[0].type, *types])) as block:
        index, *arguments = block.args
        at.bind(op.body.block.args, [index, *rebuilt(like, arguments[:count])])
        at.order = before.within(op, arguments[count:])
        passed = flat(at.convert_body(op.body.block)) + at.order.leave(at, tokens)
        at.insert(ContinueOp.create(operands=passed))
    unsigned = "unsignedCmp" in op.properties or "unsignedCmp" in op.attributes
    new = ForOp.create(
        operands=[*bounds, *carried],
        result_types=types,
        regions=[Region(block)],
        properties={"unsignedCmp": UnitAttr()} if unsigned else {},
    )
    return _passed_on(at, new, before, op, like, len(tokens))


@converts
def _while(op: scf.WhileOp, at: TritonConversion) -> Sequence[Any]:
    before, tokens, like = at.order, at.order.enter(at, op), at.all(op.arguments)
    carried = [*flat(like), *tokens]
    count = len(carried) - len(tokens)
    first, second = op.before_region.block, op.after_region.block
    with at.inside(Block(arg_types=[value.type for value in carried])) as block:
        at.bind(first.args, rebuilt(like, block.args[:count]))
        at.order = before.within(op, block.args[count:])
        condition, *passed = at.convert_body(first)
        left = [*flat(passed), *at.order.leave(at, tokens)]
        leaving = Block([BreakOp.create(operands=left)])
        regions = [Region(Block([YieldOp.create()])), Region(leaving)]
        at.insert(IfOp.create(operands=[condition], regions=regions))
        at.bind(second.args, passed)
        again = flat(at.convert_body(second)) + at.order.leave(at, tokens)
        at.insert(ContinueOp.create(operands=again))
    types = [value.type for value in left]
    new = LoopOp.create(operands=carried, result_types=types, regions=[Region(block)])
    return _passed_on(at, new, before, op, passed, len(tokens))


# --- branches ---


def converted_blocks(
    at: TritonConversion, block: Block, until: Block | None = None
) -> Sequence[Any]:
    """Convert the blocks from one on; what is passed on to the block `until`, or returned."""
    while True:
        *ops, end = block.ops
        for op in ops:
            at.convert(op)
        at.op = end
        if isinstance(end, cf.BranchOp):
            block, passed = end.successor, at.all(end.arguments)
        elif isinstance(end, cf.ConditionalBranchOp):
            block, passed = _parted(end, at, until)
        else:
            return at.all(end.operands)
        if block is until or block is None:  # pyright: ignore[reportUnnecessaryComparison]
            return passed
        at.bind(block.args, passed)


def _parted(
    op: cf.ConditionalBranchOp, at: TritonConversion, until: Block | None
) -> tuple[Any, Sequence[Any]]:
    """An `if` of both ways, and the block where they meet, None where they return."""
    ways = ((op.then_block, op.then_arguments), (op.else_block, op.else_arguments))
    meeting = _meeting([block for block, _ in ways], until)

    def way(block: Block, arguments: Sequence[SSAValue]) -> Branch:
        def convert() -> Sequence[Any]:
            passed = at.all(arguments)
            if block is meeting:
                return passed
            at.bind(block.args, passed)
            return converted_blocks(at, block, meeting)

        return convert

    passing = list(starmap(way, ways))
    return meeting, branches(op, at, at[op.cond], *passing, around=op.parent_op())


def _meeting(blocks: Sequence[Block], until: Block | None) -> Block | None:
    """The first block that all ways from two blocks go through, `until` at the latest."""
    first, second = (_passed(block, until) for block in blocks)
    return next((block for block in first if block in second), until)


def _passed(block: Block, until: Block | None) -> list[Block]:
    """The blocks that every way from a block to `until`, or to a return, goes through, in order.
    Raises OpError for a way back."""

    def through(block: Block, path: tuple[Block, ...]) -> list[Block]:
        end = terminator(block)
        if block in path:
            raise OpError(
                end, f"'{end.name}' expected a block that was not left yet, got one of a loop; "
                "nearest legal: scf.while"
            )  # fmt: skip
        if block is until or not end.successors:
            return [block]
        ways = [through(next_, (*path, block)) for next_ in end.successors]
        return [block, *(x for x in ways[0] if all(x in way for way in ways))]

    return through(block, ())
