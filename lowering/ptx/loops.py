"""The loops of a kernel body: blocks that a way back to their header goes through."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Region
from xdsl.irdl.dominance import DominanceInfo

from tilewright.lowering.ptx.edges import edges_of


@dataclass(frozen=True, slots=True)
class BlockLoop:
    """A natural loop: its blocks in the order of the text, and the block behind it, if it leaves
    for one alone that nothing else leads to."""

    header: Block
    blocks: tuple[Block, ...]
    exit: Block | None


def loops_of(region: Region) -> list[BlockLoop]:
    """The loops of a body, innermost first."""
    above, bodies = DominanceInfo(region), dict[Block, set[Block]]()
    for block in region.blocks:
        for edge in edges_of(block.last_op):
            if above.dominates(edge.dest, block):
                body = bodies.setdefault(edge.dest, {edge.dest})
                work = [block]
                while work:
                    inside = work.pop()
                    if inside not in body:
                        body.add(inside)
                        work += inside.predecessors()
    loops = [_loop(region, header, body) for header, body in bodies.items()]
    return sorted(loops, key=lambda loop: len(loop.blocks))


def _loop(region: Region, header: Block, body: set[Block]) -> BlockLoop:
    blocks = [block for block in region.blocks if block in body]
    blocks.sort(key=lambda block: block is not header)
    behind = {edge.dest for block in blocks for edge in edges_of(block.last_op)} - body
    exit = behind.pop() if len(behind) == 1 else None
    if exit is not None and not body.issuperset(exit.predecessors()):
        exit = None
    return BlockLoop(header, tuple(blocks), exit)
