"""Tile schedulers: which tiles of a matrix a CTA computes.

%first, %end, %step = cute.tile_scheduler.bounds<persistent> (%tiles)
scf.for %i = %first to %end step %step : i32 {
  %coord = cute.tile_scheduler.coord<8> (%i, %tiles)
"""

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i32
from xdsl.irdl import operand_def, prop_def, result_def

from tilewright.dialects.cute.ops.operands import COORD, TILES, USE
from tilewright.dialects.cute.ops.operation import InferredOp, Syntax, cute_op
from tilewright.dialects.cute.ops.properties import NumbersOp, PrefixOp, word
from tilewright.dialects.cute.rules import scheduler
from tilewright.dialects.cute.values import Typed

KINDS = ("static", "persistent")


def _bounds(tiles: Typed, kind: str) -> list[int]:
    scheduler.check_tiles(tiles)
    return [32, 32, 32]


@cute_op("cute.tile_scheduler.bounds", (TILES,), (USE,), _bounds)
class TileSchedulerBoundsOp(PrefixOp, InferredOp):
    """The tiles of this CTA, as bounds and step of a loop.

    `static`: the tile whose number is that of the CTA (blockIdx.x), where there is one.
    `persistent`: from there on every gridDim.x-th.
    """

    SYNTAX: ClassVar = Syntax.INFERRED

    tiles = operand_def()
    kind = prop_def(StringAttr)
    lower = result_def(i32)
    upper = result_def(i32)
    step = result_def(i32)

    PARTS: ClassVar = (word("kind", KINDS, "a kind of scheduler", " or ".join(KINDS)),)


@cute_op("cute.tile_scheduler.coord", (USE, TILES), (COORD,), scheduler.tile_coord)
class TileSchedulerCoordOp(NumbersOp):
    """The (m, n) of a tile by its number, in bands of so many tiles along M:
    `cute.tile_scheduler.coord<8> (%i, %tiles)`."""

    NUMBERS: ClassVar = ("swizzle",)

    swizzle = prop_def(IntegerAttr)
    index = operand_def()
    tiles = operand_def()
    result = result_def()
