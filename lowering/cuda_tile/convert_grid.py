"""The tile block's place in the grid."""

from __future__ import annotations

from xdsl.dialects import gpu

from tilewright.dialects.cuda_tile.ops import core
from tilewright.lowering.cuda_tile.find_layouts import LayoutTable, finds
from tilewright.lowering.cuda_tile.kernel import Kernel, lowers
from tilewright.lowering.cuda_tile.layouts import TileLayout


@finds(core.GetTileBlockIdOp, core.GetNumTileBlocksOp)
def _scalars(op: core.GetTileBlockIdOp, table: LayoutTable) -> TileLayout:
    return table.scalar


@lowers(core.GetTileBlockIdOp, core.GetNumTileBlocksOp)
def _place(op: core.GetTileBlockIdOp | core.GetNumTileBlocksOp, kernel: Kernel) -> None:
    kind = gpu.BlockIdOp if isinstance(op, core.GetTileBlockIdOp) else gpu.GridDimOp
    for result, axis in zip(op.results, gpu.DimensionEnum, strict=True):
        number = kernel.emitter.once((kind, axis), lambda axis=axis: kind(gpu.DimensionAttr(axis)))
        number = kernel.emitter.resized(number, None, 32)
        kernel.place(result, kernel.table.scalar, [number])
