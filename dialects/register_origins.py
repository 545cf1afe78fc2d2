"""Where the registers of a value come from, through branches, loops and selects."""

from collections.abc import Iterator, Sequence

from xdsl.dialects import arith, scf
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects.sequences import reachable


def origins(value: SSAValue) -> Iterator[Operation]:
    """The ops that compute what a value may be a copy of; what comes from outside has none."""
    for source in reachable([value], _passed_on):
        if isinstance(source.owner, Operation) and not _passed_on(source):
            yield source.owner


def _passed_on(value: SSAValue) -> Sequence[SSAValue]:
    """The values that it is a copy of; none where it is computed, or a function's argument."""
    owner = value.owner
    if isinstance(owner, Block):
        return _to_argument(owner, value)
    assert isinstance(value, OpResult)
    match owner:
        case arith.SelectOp():
            return owner.lhs, owner.rhs
        case scf.IfOp():
            return _last(owner, value.index)
        case scf.ForOp():
            return [owner.iter_args[value.index], *_last(owner, value.index)]
        case scf.WhileOp():
            return _operand(owner.before_region.block, value.index + 1)
        case _:
            return ()


def _to_argument(block: Block, value: SSAValue) -> Sequence[SSAValue]:
    """The values that loops, and branches, give to a block's argument."""
    assert isinstance(value, BlockArgument)
    place = value.index
    parent = block.parent_op()
    match parent:
        case scf.ForOp():
            return [parent.iter_args[place - 1], *_last(parent, place - 1)] if place else ()
        case scf.WhileOp() if block is parent.before_region.block:
            return [parent.arguments[place], *_operand(parent.after_region.block, place)]
        case scf.WhileOp():
            return _operand(parent.before_region.block, place + 1)
        case _:
            return list(_branched(block, place))


def _branched(block: Block, place: int) -> Iterator[SSAValue]:
    """The values that branches to a block give: a terminator's last operands are its successors'
    arguments."""
    for other in block.parent.blocks if block.parent is not None else ():
        if (last := other.last_op) is None:
            continue
        first = len(last.operands) - sum(len(dest.args) for dest in last.successors)
        for dest in last.successors:
            if dest is block:
                yield last.operands[first + place]
            first += len(dest.args)


def _last(op: Operation, place: int) -> list[SSAValue]:
    """An operand of what ends each region of an op."""
    return [
        operand for region in op.regions if region.blocks
        for operand in _operand(region.blocks[0], place)
    ]  # fmt: skip


def _operand(block: Block, place: int) -> list[SSAValue]:
    last = block.last_op
    return [] if last is None or place >= len(last.operands) else [last.operands[place]]
