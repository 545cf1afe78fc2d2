"""Registers of their own for values in flight, where a round of a loop, or a path, would have to
move them.

A loop whose accumulators swap is laid out once for each order that they take:

    header(%x, %y):  ... %d = wgmma %x ...; bra header(%y, %d)

becomes, with x and d in one register throughout,

    header(%x, %y):    ... %d = wgmma %x ...;   bra header_1(%y, %d)
    header_1(%u, %v):  ... %e = wgmma %u ...;   bra header(%v, %e)

and what comes behind it is copied as far as the wait that completes them, as is what follows an
`if` that joins two: behind the wait a move is legal.
"""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Block, Region
from xdsl.irdl.dominance import DominanceInfo

from tilewright.dialects.frozen import frozen
from tilewright.lowering.ptx.copied_blocks import CopiedBlocks, split
from tilewright.lowering.ptx.edges import edges_of, erase_unreachable, redirect
from tilewright.lowering.ptx.in_flight import RegisterConflict, has_flights
from tilewright.lowering.ptx.kept import keep
from tilewright.lowering.ptx.registers import RegisterNames


@frozen
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


MOST_COPIES = 8
"""As many rounds as any ring of accumulators that the registers of a thread have room for: the
copies of loops in loops make no more of a kernel, either."""

MOST_OPS = 1 << 20
"""The ops that are looked at for it, those of each copy anew."""


def rename_in_flight(region: Region) -> None:
    """Copy blocks of a kernel body until no register is moved in flight. What cannot be mended so
    stays, and the `ptx` target refuses it."""
    if not has_flights(region):
        return
    names, copied = RegisterNames(region), list[CopiedBlocks]()
    if names.conflicts or names.meetings:
        if erase_unreachable(region):
            names = RegisterNames(region)
        size, seen = _size(region), 0
        most = MOST_COPIES * size
        while size <= most and seen < MOST_OPS and _mend(region, names, copied):
            names, size = RegisterNames(region), _size(region)
            seen += size
    keep(region, names)


def _size(region: Region) -> int:
    return sum(len(block.ops) for block in region.blocks)


def _mend(region: Region, names: RegisterNames, copied: list[CopiedBlocks]) -> bool:
    """Copy what one of the conflicts asks for, or ptxas: where a value in flight meets another, it
    serialises all wgmmas (C7515, C7517)."""
    loops = loops_of(region)
    return any(
        _another_round(conflict, names, loops, copied) or _separate(conflict, names, loops, copied)
        for conflict in names.conflicts
    ) or any(_separate(meeting, names, loops, copied) for meeting in names.meetings)


def _another_round(
    conflict: RegisterConflict,
    names: RegisterNames,
    loops: list[BlockLoop],
    copied: list[CopiedBlocks],
) -> bool:
    """One more copy of the innermost loop that brings what is in flight round."""
    for loop in loops:
        again = next((again for again in copied if loop.header in again.headers), None)
        headers = [loop.header] if again is None else again.headers
        if not _comes_round(conflict, loop, headers, names):
            continue
        if again is None and loop.exit is not None:
            copied.append(again := _copied_loop(loop.blocks, loop.exit, names))
        if again is not None and len(again.headers) < MOST_COPIES:
            again.copy()
            return True
    return False


def _comes_round(
    conflict: RegisterConflict, loop: BlockLoop, headers: list[Block], names: RegisterNames
) -> bool:
    if conflict.op.parent not in loop.blocks:
        return False
    if conflict.edge is not None and conflict.edge.dest in headers:
        return True
    at = names.in_flight.at
    return conflict.is_write and any(conflict.slot in at[header] for header in headers)


def _copied_loop(blocks: Sequence[Block], exit: Block, names: RegisterNames) -> CopiedBlocks:
    """A loop, with what is behind it up to the wait."""
    last = names.in_flight.settled(exit, [*blocks, exit])
    return (
        CopiedBlocks(blocks, exit) if last is None else CopiedBlocks([*blocks, exit], split(last))
    )


def _separate(
    conflict: RegisterConflict,
    names: RegisterNames,
    loops: list[BlockLoop],
    copied: list[CopiedBlocks],
) -> bool:
    """The instructions where two paths meet, up to the wait, once for each of them."""
    edge = conflict.edge
    if edge is None or any(edge.dest is loop.header for loop in loops):
        return False
    last = names.in_flight.settled(edge.dest, [edge.dest])
    if last is None or len(set(edge.dest.predecessors())) < 2:
        return False
    copied.append(again := CopiedBlocks([edge.dest], split(last)))
    header = again.copy()
    redirect(edge.source, lambda other: replace(other, dest=header) if other == edge else other)
    return True
