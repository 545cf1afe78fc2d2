"""The things that a run of Tile IR looks for beside what no kernel may do, by words of `check`.

padding     what loads leave undefined, where it takes effect; without it they give zeros
integers    results of arithmetic that Tile IR leaves undefined, as of a division by zero
nan         the first NaN, or infinity, that no operand of the op that makes it has
unwritten   elements of outputs that no block wrote
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from xdsl.ir import Operation

from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.interpreter.cuda_tile.allocations import PlacedArguments
from tilewright.lowering.interpreter.cuda_tile.blocks import Prepared, Step, taking_poison
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, element_of_tile
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.poison import Poisoned, whole_marks
from tilewright.lowering.interpreter.errors import Fault
from tilewright.source.diagnostic import ExecutionError, at

_FLOAT: dict[str, Callable[[Tile], Tile]] = {"NaN": np.isnan, "an infinity": np.isinf}


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
        given, made = (list(_floats_of(part)) for part in (values[:taken], values[taken:]))
        for words, test in _FLOAT.items():
            if any(test(tile).any() for tile in given):
                return  # of a NaN infinities follow
            for wrong in filter(np.any, map(test, made)):
                row, *index = np.argwhere(wrong)[0].tolist()
                where = f" at index ({', '.join(map(str, index))})" if index else ""
                raise Fault(f"expected finite numbers, got {words}{where}", row)

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


def check_written(entry: EntryOp, arrays: PlacedArguments, source: str | None) -> None:
    """Raise ExecutionError for the first element of an output that no block wrote."""
    for name, missing in arrays.unwritten():
        index = tuple(np.argwhere(missing)[0].tolist())
        count = int(np.count_nonzero(missing))
        message = (
            f"expected every element of '{name}' to be written, got {count} of {missing.size} that "
            f"no block wrote, the first at {index}"
        )
        raise ExecutionError(str(at(entry.location, message, source)))
