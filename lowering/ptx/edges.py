"""The ways between blocks, and the values that they pass."""

from collections.abc import Callable

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.dominators import immediate_dominators
from tilewright.dialects.frozen import frozen
from tilewright.dialects.ptx.control_flow import BraOp, CondBraOp


@frozen
class Edge:
    """A branch from one block to another and the values it passes."""

    source: Block
    dest: Block
    values: tuple[SSAValue, ...]


def edges_of(terminator: Operation | None) -> list[Edge]:
    """The edges out of a block, in the order of its successors."""
    match terminator:
        case BraOp(parent=Block() as block):
            return [Edge(block, terminator.dest, tuple(terminator.arguments))]
        case CondBraOp(parent=Block() as block):
            return [
                Edge(block, terminator.then_block, tuple(terminator.then_arguments)),
                Edge(block, terminator.else_block, tuple(terminator.else_arguments)),
            ]
        case _:
            return []


def erase_unreachable(region: Region) -> bool:
    """Erase the blocks that no path leads to: values need not come to them on every path. True
    where there was one."""
    reached = immediate_dominators(
        region.blocks[0], lambda block: [edge.dest for edge in edges_of(block.last_op)]
    )
    dead = [block for block in region.blocks if block not in reached]
    for op in [op for block in dead for op in block.ops]:
        op.operands, op.successors = (), ()
    for block in dead:
        region.erase_block(block, safe_erase=False)
    return bool(dead)


def redirect(block: Block, change: Callable[[Edge], Edge]) -> None:
    """Let the ways out of a block go elsewhere, or pass other values."""
    last = block.last_op
    edges = [change(edge) for edge in edges_of(last)]
    match last:
        case BraOp():
            branch: Operation = BraOp(edges[0].dest, edges[0].values)
        case CondBraOp():
            then, other = edges
            branch = CondBraOp(last.condition, then.dest, other.dest, then.values, other.values)
            branch.uniform = last.uniform
        case _:
            return
    branch.location = last.location
    Rewriter.replace_op(last, branch)
