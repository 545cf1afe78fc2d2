"""Rules of what a kernel says: `print_tko` and `assert`."""

import re
from typing import Any

import numpy as np

from tilewright.dialects.cuda_tile.ops.control_flow import AssertOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import PrintTkoOp
from tilewright.lowering.interpreter.cuda_tile.blocks import Preparation, Step, acting, runs
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, as_unsigned
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.errors import Fault

_CONVERSION = re.compile(r"%([-+ #0]*\d*(?:\.\d*)?)(?:hh|h|ll|l|)([a-zA-Z%])")


@runs(PrintTkoOp)
def _print(op: PrintTkoOp, _: Preparation) -> Step:
    text, arguments, token = op.str_.data, tuple(op.args), op.token

    def run(frame: Frame, *_: Any) -> int:
        tiles: Any = [frame[value] for value in arguments]
        for row, block in enumerate(frame.blocks):
            rows = [tile[row if len(tile) > 1 else 0] for tile in tiles]
            frame.gang.machine.say(int(block), formatted(text, rows))
        return frame.optional(token, 0)

    return acting(op, run)


def formatted(text: str, tiles: list[Tile]) -> str:
    """A C printf format with tiles in place of values: every element in the conversion."""
    rest = iter(tiles)

    def shown(match: re.Match[str]) -> str:
        shape, letter = match.groups()
        if letter == "%":
            return "%"
        tile = np.asarray(next(rest))
        if letter in "di":
            return _nested(tile, f"%{shape}d")
        if letter in "uxXo" and tile.dtype.kind in "ib":
            return _nested(as_unsigned(tile), f"%{shape}{'d' if letter == 'u' else letter}")
        return _nested(tile, f"%{shape}{letter}")

    return _CONVERSION.sub(shown, text)


def _nested(tile: Tile, conversion: str) -> str:
    if tile.ndim == 0:
        value: Any = tile.item() if tile.dtype.kind in "ibuf" else float(tile)
        return conversion % value
    return "[" + ", ".join(_nested(row, conversion) for row in tile) + "]"


@runs(AssertOp)
def _assert(op: AssertOp, _: Preparation) -> Step:
    message = op.message.data

    def run(frame: Frame, condition: Tile) -> None:
        if condition.all():
            return
        row, *index = (int(number) for number in np.argwhere(~condition)[0])
        where = f" at index ({', '.join(map(str, index))})" if index else ""
        raise Fault(f"failed{where}: {message}", row if len(condition) > 1 else None)

    return acting(op, run)
