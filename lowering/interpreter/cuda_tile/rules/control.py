"""Rules of control flow. Rows that agree run together; where they part, each group runs by itself
and those that go on meet again."""

from collections.abc import Generator
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp, IfOp, LoopOp
from tilewright.lowering.interpreter.cuda_tile.blocks import (
    Exits,
    Flow,
    Preparation,
    Prepared,
    Step,
    gathered,
    run,
    runs,
)
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, as_unsigned
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.memory_access import polls_memory
from tilewright.lowering.interpreter.cuda_tile.poison import determined
from tilewright.lowering.interpreter.cuda_tile.values import Rows, Value, merged, taken
from tilewright.lowering.interpreter.errors import Fault


@runs
def _if(op: IfOp, preparation: Preparation) -> Step:
    condition_value, regions = op.condition, (op.else_region, op.then_region)
    blocks = [preparation.block(region.block) if region.blocks else None for region in regions]

    def flow(frame: Frame) -> Flow:
        condition = determined(frame[condition_value], "a condition")
        exits: Exits = []
        groups: list[tuple[bool, Rows]] = [(bool(condition[0]), frame.rows)]
        if len(condition) > 1 and (condition != condition[0]).any():
            groups = [(truth, frame.rows[condition == truth]) for truth in (True, False)]
        gone_on: list[Rows] = []
        for truth, rows in groups:
            block = blocks[truth]
            if block is None:
                gone_on.append(rows)
            else:
                exits += yield from run(block, frame.narrowed(rows).inner())
        return _rejoin(op, frame, exits, "yield", gone_on)

    return Step(op, (), tuple(op.results), flow=flow)


def _rejoin(
    op: Operation, frame: Frame, exits: Exits, terminator: str, gone_on: list[Rows]
) -> tuple[Exits, Frame | None]:
    """Bind the op's results for the rows that left by its terminator, or passed by."""
    joined = [leaving for leaving in exits if leaving.terminator == terminator]
    left = [leaving for leaving in exits if leaving.terminator != terminator]
    if gone_on:
        rows = np.sort(np.concatenate([*gone_on, *(leaving.rows for leaving in joined)]))
        return left, frame.narrowed(rows)
    if not joined:
        return left, None
    rows, values = gathered(joined)
    rest = frame.narrowed(rows)
    for result, value in zip(op.results, values, strict=True):
        rest[result] = value
    return left, rest


@runs
def _loop(op: LoopOp, preparation: Preparation) -> Step:
    body, polls = preparation.block(op.region.block), polls_memory(op)

    initial = tuple(op.init_values)

    def flow(frame: Frame) -> Flow:
        active, values = frame, tuple(frame[value] for value in initial)
        left: Exits = []
        while True:
            again = yield from _iterated(op, body, active, values, left)
            if not again:
                return _rejoin(op, frame, left, "break", [])
            rows, values = gathered(again)
            active = active.narrowed(rows)
            if polls:
                yield

    return Step(op, (), tuple(op.results), flow=flow)


def _iterated(
    op: Operation, body: Prepared, frame: Frame, values: tuple[Value, ...], left: Exits
) -> Generator[None, None, Exits]:
    """The exits of an iteration that go on with the next one; `left` gets the others."""
    frame.gang.machine.count_iteration(op)
    inner = frame.inner()
    for argument, value in zip(body.arguments, values, strict=True):
        inner[argument] = value
    exits = yield from run(body, inner)
    left += [leaving for leaving in exits if leaving.terminator != "continue"]
    return [leaving for leaving in exits if leaving.terminator == "continue"]


@runs
def _for(op: ForOp, preparation: Preparation) -> Step:
    body, unsigned = preparation.block(op.region.block), op.unsigned_cmp is not None

    bounds, initial = (op.lower_bound, op.upper_bound, op.step), tuple(op.init_values)

    def flow(frame: Frame) -> Flow:
        index: Tile
        end: Tile
        step: Tile
        index, end, step = (determined(frame[value], "bounds of a loop") for value in bounds)
        if (step <= 0).any():
            fault = Fault(f"expected a positive step, got {step.min()}")
            frame.gang.machine.undefined(op, frame, fault)
        active, values = frame, tuple(frame[value] for value in initial)
        done: list[tuple[Rows, tuple[Value, ...]]] = []
        left: Exits = []
        while True:
            alive = _below(index, end, unsigned)
            if not alive.all():
                stop = active.rows if len(alive) == 1 else active.rows[~alive]
                done.append((stop, tuple(_some(value, active, stop) for value in values)))
                if len(stop) == active.count:
                    break
                rest = active.rows[alive]
                values = tuple(_some(value, active, rest) for value in values)
                index, end, step = (_some(bound, active, rest) for bound in (index, end, step))
                active = active.narrowed(rest)
            again = yield from _iterated(op, body, active, (index, *values), left)
            if not again:
                break
            rows, values = gathered(again)
            index, end, step = (_some(bound, active, rows) for bound in (index, end, step))
            active = active.narrowed(rows)
            following = index + step
            # Past the largest number of the type the loop has ended, not begun again.
            end = np.where(_below(following, index, unsigned), following, end)
            index = following
        if not done:
            return left, None
        rows = np.sort(np.concatenate([stop for stop, _ in done]))
        rest_frame = frame.narrowed(rows)
        for i, result in enumerate(op.results):
            rest_frame[result] = merged([(stop, carried[i]) for stop, carried in done], rows)
        return left, rest_frame

    return Step(op, (), tuple(op.results), flow=flow)


def _below(x: Tile, y: Tile, unsigned: bool) -> Tile:
    return as_unsigned(x) < as_unsigned(y) if unsigned else x < y


def _some(value: Any, frame: Frame, rows: Rows) -> Any:
    """A value of a frame's rows, for some of them."""
    if len(rows) == frame.count:
        return value
    return taken(value, np.searchsorted(frame.rows, rows))
