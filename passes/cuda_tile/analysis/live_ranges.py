"""From which op of a block to which tiles are in registers."""

from __future__ import annotations

from xdsl.dialects.builtin import Float64Type
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.sequences import numbered
from tilewright.passes.cuda_tile.analysis.computed_again import is_derived
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication


def tile_registers(type_: TileType) -> int:
    """The registers of all threads for a tile; other numbers of 64 bits than floats are of
    addresses, which are computed late."""
    return type_.elements * (1 + isinstance(type_.element_type, Float64Type))


def live_ranges(block: Block) -> tuple[dict[Operation, int], list[tuple[int, int, int]]]:
    """The places of a block's ops; and for each tile that registers hold the first and the last
    place, and how many registers. Operands of products, loads, and what is computed wherever it is
    read do not count."""
    places = numbered(block.ops)
    values: list[tuple[int, SSAValue]] = [(-1, argument) for argument in block.args]
    values += [
        (place, result)
        for op, place in places.items() if not isinstance(op, LoadViewTkoOp | LoadPtrTkoOp)
        for result in op.results
    ]  # fmt: skip
    times: list[tuple[int, int, int]] = []
    for first, value in values:
        if (
            not isinstance(value.type, TileType)
            or value.type.elements < 1 << WARP_BITS
            or is_derived(value)
        ):
            continue
        users = (
            block.find_ancestor_op_in_block(use.operation)
            for use in value.uses
            if not isinstance(use.operation, Multiplication) or use.operation.acc is value
        )
        last = max((places[user] for user in users if user), default=first)
        times.append((first, last, tile_registers(value.type)))
    return places, times
