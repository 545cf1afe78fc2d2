"""Rules of what a kernel says: `print_tko` and `assert`."""

import re
from typing import Any

import numpy as np

from tilewright.dialects.cuda_tile.ops.control_flow import AssertOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import PrintTkoOp
from tilewright.dialects.printf_format import failed_tile_assertion, printed
from tilewright.lowering.interpreter.cuda_tile.blocks import (
    Compute,
    Preparation,
    Step,
    acting,
    acts,
    runs,
    taking_poison,
)
from tilewright.lowering.interpreter.cuda_tile.elements import Tile, as_unsigned
from tilewright.lowering.interpreter.cuda_tile.frame import Frame
from tilewright.lowering.interpreter.cuda_tile.poison import Poisoned, whole_marks
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.share import PrintedText
from tilewright.source.diagnostic import place_of

_CONVERSION = re.compile(r"%([-+ #0]*\d*(?:\.\d*)?)(?:hh|h|ll|l|)([a-zA-Z%])")


@runs
def _print(op: PrintTkoOp, _: Preparation) -> Step:
    text, arguments, token = op.str_.data, tuple(op.args), op.token

    def run(frame: Frame, *_: Any) -> int:
        tiles: Any = [_printable(frame[value]) for value in arguments]
        for row, block in enumerate(frame.blocks):
            rows = [tile[row if len(tile) > 1 else 0] for tile in tiles]
            said = PrintedText.of(op, formatted(text, rows))
            frame.gang.machine.say(int(block), said)
        return frame.optional(token, 0)

    return taking_poison(acting(op, run))


def _printable(value: Any) -> Tile:
    """A tile, masked where it is undefined."""
    if not isinstance(value, Poisoned):
        return value
    return np.ma.masked_array(value.tile, whole_marks(value)[0] != 0)


def formatted(text: str, tiles: list[Tile]) -> str:
    """A C printf format with tiles in place of values: every element in the conversion, but for
    those that are masked."""
    rest = iter(tiles)

    def shown(match: re.Match[str]) -> str:
        shape, letter = match.groups()
        if letter == "%":
            return "%"
        tile = np.asanyarray(next(rest))
        if letter in "uxXo" and tile.dtype.kind in "ib":
            tile = as_unsigned(tile)
        return _nested(tile, shape, letter)

    return _CONVERSION.sub(shown, text)


def _nested(tile: Tile, shape: str, letter: str) -> str:
    if np.ma.is_masked(tile) and tile.ndim == 0:
        return "undefined"
    if tile.ndim == 0:
        value: Any = tile.item() if tile.dtype.kind in "ibuf" else float(tile)
        return printed(value, shape, letter)
    return "[" + ", ".join(_nested(row, shape, letter) for row in tile) + "]"


@acts
def _assert(op: AssertOp) -> Compute:
    message, place = op.message.data, place_of(op.location)

    def run(frame: Frame, condition: Tile) -> None:
        if condition.all():
            return
        row, *index = (int(number) for number in np.argwhere(~condition)[0])
        machine, block = frame.gang.machine, int(frame.blocks[row if len(condition) > 1 else 0])
        words = failed_tile_assertion(message, place, len(index))
        machine.say(block, words % (*machine.coordinates(block), *index))
        where = f" at index ({', '.join(map(str, index))})" if index else ""
        raise Fault(f"failed{where}: {message}", row if len(condition) > 1 else None)

    return run
