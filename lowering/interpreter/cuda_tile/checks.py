"""`check="nan"` of Tile IR: tiles of floats, looked at behind the ops that make them."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.interpreter.checks import check_finite
from tilewright.lowering.interpreter.cuda_tile.blocks import Prepared, Step, taking_poison
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, element_of_tile
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.poison import Poisoned, whole_marks


def watch_floats(block: Prepared) -> None:
    """Let the floats that the steps of a block make be looked at, those of memory aside."""
    watched: list[Step] = []
    for step in block.steps:
        # Whatever was taken is to be there behind the step.
        step.late = False
        watched.append(step)
        if step.flow is None and not step.op.name.endswith("_tko") and any(_floats(step.op)):
            dead, step.dead = step.dead, ()
            watched.append(_finite(step.op, dead))
    block.steps[:], block.pointwise = watched, False


def _floats(op: Operation) -> Iterator[bool]:
    """For each result whether it has floats, of an op that takes tiles."""
    for value in op.results if any(isinstance(x.type, TileType) for x in op.operands) else ():
        yield isinstance(value.type, TileType) and element_of_tile(value.type).kind == "float"


def _finite(op: Operation, dead: tuple[int, ...]) -> Step:
    taken = len(op.operands)

    def check(_: Frame, *values: Any) -> None:
        check_finite(_floats_of(values[:taken]), _floats_of(values[taken:]))

    step = Step(op, (*op.operands, *op.results), (), act=check, dead=dead)
    return taking_poison(step)


def _floats_of(values: Iterable[Any]) -> Iterator[Tile]:
    """Those values that are tiles of floats, with 0 for what is undefined."""
    for value in values:
        tile: Any = value.tile if isinstance(value, Poisoned) else value
        if hasattr(tile, "dtype") and tile.dtype.kind not in "biuO":
            wide: Tile = tile if tile.dtype.itemsize >= 4 else tile.astype(np.float32)
            marked = isinstance(value, Poisoned)
            yield np.where(whole_marks(value)[0], 0, wide) if marked else wide
