"""Tile schedulers: which tiles of a matrix a CTA computes.

%first, %end, %step = cute.tile_scheduler.bounds<persistent> (%tiles)
scf.for %i = %first to %end step %step : i32 {
  %coord = cute.tile_scheduler.coord<8> (%i, %tiles)
"""

from xdsl.irdl import operand_def, prop_def, result_def

from tilewright.dialects.cute.ops.operands import COORD, I32, TILES, USE
from tilewright.dialects.cute.ops.operation import InferredOp, cute_op
from tilewright.dialects.cute.ops.properties import NUMBER, word
from tilewright.dialects.cute.ops.text import Syntax
from tilewright.dialects.cute.rules import scheduler
from tilewright.dialects.cute.values import Typed

KINDS = ("static", "persistent")


def _bounds(tiles: Typed, kind: str) -> list[int]:
    scheduler.check_tiles(tiles)
    return [32, 32, 32]


@cute_op("cute.tile_scheduler.bounds", _bounds)
class TileSchedulerBoundsOp(InferredOp):
    """The tiles of this CTA, as bounds and step of a loop.

    `static`: the tile whose number is that of the CTA (blockIdx.x), where there is one.
    `persistent`: from there on every gridDim.x-th.
    """

    SYNTAX = Syntax.INFERRED

    tiles = operand_def(TILES)
    kind = prop_def(word(KINDS, "a kind of scheduler", " or ".join(KINDS)))
    lower = result_def(I32)
    upper = result_def(I32)
    step = result_def(I32)


@cute_op("cute.tile_scheduler.coord", scheduler.tile_coord)
class TileSchedulerCoordOp(InferredOp):
    """The (m, n) of a tile by its number, in bands of so many tiles along M:
    `cute.tile_scheduler.coord<8> (%i, %tiles)`."""

    swizzle = prop_def(NUMBER)
    index = operand_def(USE)
    tiles = operand_def(TILES)
    result = result_def(COORD)
