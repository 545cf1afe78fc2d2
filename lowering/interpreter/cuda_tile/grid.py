"""The blocks of a grid in turns: gangs begin one after another, and go on until they wait."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from tilewright.lowering.interpreter.cuda_tile.blocks import Prepared, Running, run
from tilewright.lowering.interpreter.cuda_tile.frame import Frame, Gang
from tilewright.lowering.interpreter.cuda_tile.machine import Machine
from tilewright.lowering.interpreter.cuda_tile.token_order import TokenOrder
from tilewright.lowering.interpreter.cuda_tile.values import Value
from tilewright.source.diagnostic import ExecutionError

_ROUNDS = 10_000
"""Rounds of all blocks without one that ends, after which they are said to wait for ever."""


def run_grid(machine: Machine, entry: Prepared, arguments: Sequence[Value], gang_size: int) -> None:
    """Run a kernel's block for the whole grid, `gang_size` blocks at a time."""
    order = TokenOrder(synchronising=True) if machine.synchronising else None
    size = 1 if machine.synchronising else gang_size
    waiting: deque[tuple[int, Running]] = deque()
    begun, last = machine.part()
    done = rounds = 0
    with np.errstate(all="ignore"):
        while begun < last or waiting:
            if begun < last and rounds == 0:
                blocks = np.arange(begun, min(begun + size, last))
                begun += len(blocks)
                gang = Gang(machine, blocks, order or TokenOrder())
                waiting.appendleft((len(blocks), _begin(entry, gang, arguments)))
            ended = _round(waiting)
            done += ended
            rounds = 0 if ended or begun < last else rounds + 1
            if ended and machine.launch.progress is not None:
                machine.launch.progress(done, machine.block_count)
            if rounds > _ROUNDS:
                raise ExecutionError(
                    f"expected blocks that make progress, got {len(waiting)} that wait for ever"
                )
    for text in machine.said:
        machine.launch.say(text)
    if (share := machine.launch.share) is not None:
        share.uses = machine.uses()


def _begin(entry: Prepared, gang: Gang, arguments: Sequence[Value]) -> Running:
    frame = Frame(gang, np.arange(len(gang.blocks)))
    for argument, value in zip(entry.arguments, arguments, strict=True):
        frame[argument] = value
    return run(entry, frame)


def _round(waiting: deque[tuple[int, Running]]) -> int:
    """Let every gang that has begun go on until it waits. Returns how many blocks ended."""
    ended = 0
    for _ in range(len(waiting)):
        count, running = waiting.popleft()
        try:
            next(running)
        except StopIteration:
            ended += count
        else:
            waiting.append((count, running))
    return ended
