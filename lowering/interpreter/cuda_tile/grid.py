"""The blocks of a grid in turns: gangs begin one after another, and go on until they wait."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tilewright.lowering.interpreter.cuda_tile.blocks import Prepared, Running, run
from tilewright.lowering.interpreter.cuda_tile.frame import Frame, TileGang
from tilewright.lowering.interpreter.cuda_tile.machine import OrderNeeded, TileMachine
from tilewright.lowering.interpreter.cuda_tile.standing import places
from tilewright.lowering.interpreter.cuda_tile.token_order import TokenOrder
from tilewright.lowering.interpreter.cuda_tile.values import Value
from tilewright.source.diagnostic import ExecutionError

_ROUNDS = 10_000
"""Rounds of all blocks without one that ends, after which they are said to wait for ever."""


def run_grid(
    machine: TileMachine, entry: Prepared, arguments: Sequence[Value], gang_size: int
) -> None:
    """Run a kernel's block for the whole grid, `gang_size` blocks at a time."""
    waiting: deque[tuple[TileGang, Running]] = deque()
    try:
        with np.errstate(all="ignore"):
            _run(machine, entry, arguments, gang_size, waiting)
    except OrderNeeded:
        machine.said.clear()
        raise
    except KeyboardInterrupt:
        ended = f"interrupted where {machine.ended} of {machine.block_count} blocks had ended"
        raise KeyboardInterrupt("\n".join(map(str, [ended, *places(machine, waiting)]))) from None
    finally:
        for text in machine.said:
            machine.launch.say(text)
    if (share := machine.launch.share) is not None:
        share.uses = machine.uses()


def _run(
    machine: TileMachine,
    entry: Prepared,
    arguments: Sequence[Value],
    gang_size: int,
    waiting: deque[tuple[TileGang, Running]],
) -> None:
    """Run all blocks; those that have begun and not ended are `waiting`, that which runs first."""
    order = TokenOrder(synchronising=True) if machine.synchronising else None
    size = 1 if machine.synchronising else gang_size
    begun, last = machine.part()
    rounds = 0
    while begun < last or waiting:
        if begun < last and rounds == 0:
            blocks = np.arange(begun, min(begun + size, last))
            begun += len(blocks)
            gang = TileGang(machine, blocks, order or TokenOrder())
            waiting.appendleft((gang, _begin(entry, gang, arguments)))
        ended = _round(waiting)
        machine.ended += ended
        rounds = 0 if ended or begun < last else rounds + 1
        if ended:
            machine.progress()
        if rounds > _ROUNDS:
            first, *others = places(machine, waiting)
            message = f"expected blocks that make progress, got {len(waiting)} that wait for ever"
            error = replace(first, message=f"{message}; {first.message}", severity="error")
            raise ExecutionError("\n".join(map(str, [error, *others])))


def _begin(entry: Prepared, gang: TileGang, arguments: Sequence[Value]) -> Running:
    frame = Frame(gang, np.arange(len(gang.blocks)))
    for argument, value in zip(entry.arguments, arguments, strict=True):
        frame[argument] = value
    return run(entry, frame)


def _round(waiting: deque[tuple[TileGang, Running]]) -> int:
    """Let every gang that has begun go on until it waits. Returns how many blocks ended."""
    ended = 0
    for _ in range(len(waiting)):
        gang, running = waiting[0]
        try:
            next(running)
        except StopIteration:
            ended += len(gang.blocks)
            waiting.popleft()
        else:
            waiting.rotate(-1)
    return ended
