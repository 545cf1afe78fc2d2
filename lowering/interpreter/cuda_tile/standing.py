"""Where the blocks of a run stand: of one that is interrupted, and of one that never ends."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any, cast

from xdsl.ir import Operation

from tilewright.dialects.ancestors import users
from tilewright.dialects.cuda_tile.enums import ComparisonPredicate
from tilewright.dialects.cuda_tile.ops.control_flow import BreakOp, IfOp, LoopOp
from tilewright.dialects.cuda_tile.ops.core import ConstantOp
from tilewright.dialects.cuda_tile.ops.integer import CmpIOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.interpreter.cuda_tile.blocks import Running
from tilewright.lowering.interpreter.cuda_tile.elements import element_of_tile
from tilewright.lowering.interpreter.cuda_tile.frame import Frame, TileGang
from tilewright.lowering.interpreter.cuda_tile.machine import TileMachine
from tilewright.source.diagnostic import Diagnostic, at

_UNTIL = {
    ComparisonPredicate.EQUAL: ("to be", "to be other than"),
    ComparisonPredicate.NOT_EQUAL: ("to be other than", "to be"),
    ComparisonPredicate.LESS_THAN: ("to be less than", "to be at least"),
    ComparisonPredicate.LESS_THAN_OR_EQUAL: ("to be at most", "to be more than"),
    ComparisonPredicate.GREATER_THAN: ("to be more than", "to be at most"),
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: ("to be at least", "to be less than"),
}
"""The values that a loop waits for that ends where the comparison holds, and where it does not."""


def places(machine: TileMachine, begun: Iterable[tuple[TileGang, Running]]) -> Iterator[Diagnostic]:
    """The places where blocks stand that have begun and not ended: which they are, and what they
    wait for. It ends their runs."""
    groups: dict[tuple[Operation, str], list[int]] = {}
    for gang, running in begun:
        with suppress(KeyboardInterrupt):
            running.throw(KeyboardInterrupt)
        seen = set[int]()
        for op, frame in gang.stands:  # the innermost first
            blocks = [block for block in frame.blocks.tolist() if block not in seen]
            seen.update(blocks)
            if blocks:
                groups.setdefault(_awaited(gang, op) or (op, "running"), []).extend(blocks)
    for (op, what), blocks in groups.items():
        first = machine.coordinates(min(blocks))
        who = f"block {first}" if len(blocks) == 1 else f"{len(blocks)} blocks from {first} on"
        yield replace(at(op.location, f"{who}: {what}", machine.launch.source), severity="note")


def _awaited(gang: TileGang, op: Operation) -> tuple[Operation, str] | None:
    """The access that a loop repeats, and what it waits for; None where it repeats none."""
    if gang.poll is None or not isinstance(op, LoopOp) or not op.is_ancestor(gang.poll[0]):
        return None
    access, frame, footprint = gang.poll
    allocation, type_ = footprint.allocation, access.results[0].type
    if not isinstance(type_, TileType):
        return None
    words = allocation.elements(element_of_tile(type_).dtype)
    until = _until(op, access, frame)
    for element in footprint.elements_of(0)[:1].tolist():
        return access, f"waiting for {allocation.name}[{element}] = {words[element]}{until}"
    return access, "waiting"


def _until(loop: LoopOp, access: Operation, frame: Frame) -> str:
    """The words for the value that ends a loop, where an access is compared to find it out."""
    for compare in users(access.results[0]):
        if not isinstance(compare, CmpIOp):
            continue
        given = compare.rhs.owner
        if isinstance(given, ConstantOp):
            other = cast("Any", given.value).array().flat[0]
        elif loop.is_ancestor(given):
            continue
        else:
            other = cast("Any", frame[compare.rhs])[0]
        branches = users(compare.result)
        for branch in (op for op in branches if isinstance(op, IfOp)):
            for place, region in enumerate(branch.regions):
                if region.blocks and isinstance(region.block.last_op, BreakOp):
                    return f" {_UNTIL[compare.comparison_predicate.data][place]} {other}"
    return ""
