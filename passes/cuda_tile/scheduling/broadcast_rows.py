"""Loads of rows that are broadcast: they are made where they are read, and for each shape.

%x = load_view_tko weak %row[%i]         8 threads of a row of the tile have 8 columns each;
%y = broadcast (reshape %x to 1x64)      64 threads that load an element of the row each would
%z = mulf %y, %tile : tile<32x64xf16>    have to tell all others
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.dialects.cuda_tile.ops.conversions import ConversionOp
from tilewright.dialects.cuda_tile.ops.core import BroadcastOp, ReshapeOp
from tilewright.dialects.cuda_tile.ops.memory import JoinTokensOp, LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import TOKEN
from tilewright.passes.cuda_tile.analysis.runs import pointer_run
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak
from tilewright.passes.cuda_tile.analysis.view_access import WIDEST, run_bits, tile_dimensions
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, bits_of, broadcast_bits
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder

_Load = LoadViewTkoOp | LoadPtrTkoOp
_MOST = 10
"""The bits of the number of an element of a row: as many as there are threads, at most."""


def load_for_each_shape(entry: EntryOp) -> None:
    """Make a load once for each shape that it is broadcast to."""
    loads = defaultdict[_Load, dict[tuple[int, ...], _Load]](dict)
    for load, way, broadcast in list(_broadcast(entry)):
        shape = shape_of(broadcast.result)
        if not loads[load] or shape in loads[load]:
            own = loads[load].setdefault(shape, load)
        else:
            own = loads[load][shape] = _again(load)
        if own is not load:
            at = ShapedBuilder(broadcast)
            values: dict[SSAValue, SSAValue] = {load.results[0]: own.results[0]}
            for op in way:
                values[op.results[0]] = at.insert(op.clone(values)).results[0]
            broadcast.operands = [values[broadcast.source]]


def _again(load: _Load) -> _Load:
    """A load once more, before all that comes behind it."""
    at = ShapedBuilder(load, InsertPoint.after(load))
    again, uses = at.insert(load.clone()), list(load.result_token.uses)
    tokens = at.add(JoinTokensOp, [load.result_token, again.result_token], TOKEN)
    for use in uses:
        use.operation.operands[use.index] = tokens
    return again


def row_layouts(
    entry: EntryOp, table: LayoutTable, staged: Container[Operation]
) -> dict[Operation, TileLayout]:
    """The layouts in which loads that are not staged are broadcast, where a thread has to access
    memory no more often than in their own."""
    wanted = dict[Operation, TileLayout]()
    for load, _, broadcast in _broadcast(entry):
        for use in broadcast.result.uses if load not in staged else ():
            wide = next(map(table.layouts.get, use.operation.results), None)
            if wide is None or shape_of(use.operation.results[0]) != shape_of(broadcast.result):
                continue
            bits = broadcast_bits(shape_of(broadcast.source), shape_of(broadcast.result))
            layout = wide.renumbered(bits)
            if _accesses(load, layout) <= _accesses(load, table.of(load.results[0])):
                wanted.setdefault(load, layout)
    return {load: x for load, x in wanted.items() if x != table.of(load.results[0])}


def _broadcast(entry: EntryOp) -> Iterator[tuple[_Load, list[Operation], BroadcastOp]]:
    """The broadcasts of rows that are loaded, and what reshapes and converts these first."""
    for op in entry.walk():
        if not isinstance(op, BroadcastOp):
            continue
        way, value = list[Operation](), op.source
        while isinstance(value.owner, ReshapeOp | ConversionOp):
            way.insert(0, value.owner)
            value = value.owner.operands[0]
        load, bits = value.owner, bits_of(shape_of(value))
        if isinstance(load, _Load) and is_weak(load) and 0 < bits <= _MOST:
            yield load, way, op


def _accesses(load: _Load, layout: TileLayout) -> int:
    if isinstance(load, LoadPtrTkoOp):
        run = pointer_run(load.source, load.mask, WIDEST)
    else:
        run = run_bits(load, tile_dimensions(load))
    return layout.count >> min(run, layout.run_bits)
