"""The layouts of a kernel's tiles, as attributes of the ops that make them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.passes import ModulePass

from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.cuda_tile.analysis.cost_model import thread_count
from tilewright.lowering.cuda_tile.layouts.find_layouts import find_layouts
from tilewright.lowering.cuda_tile.layouts.layouts import log2

ANYWHERE = "anywhere"
"""The layout of a tile that is computed in the layout of whoever reads it."""


@dataclass(frozen=True)
class CudaTileShowLayoutsPass(ModulePass):
    """Say in `cute.layouts` of every op of Tile IR which (thread, register) holds which element of
    its tiles, in row-major order, as `convert-cuda-tile-to-cute` finds it."""

    name = "cuda-tile-show-layouts"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for entry in [inner for inner in op.walk() if isinstance(inner, EntryOp)]:
            table = find_layouts(entry.body.block, log2(thread_count(entry)))
            for inner in entry.walk():
                layouts = [
                    StringAttr(ANYWHERE if layout is None else layout.text())
                    for result in inner.results
                    if isinstance(result.type, TileType) and result.type.rank
                    for layout in (table.layouts.get(result),)
                ]
                if layouts:
                    inner.attributes["cute.layouts"] = ArrayAttr(layouts)
