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

from tilewright.dialects.ancestors import descendants, users
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.conversions import ConversionOp
from tilewright.dialects.cuda_tile.ops.core import BroadcastOp, ReshapeOp
from tilewright.dialects.cuda_tile.ops.memory import JoinTokensOp, LoadPtrTkoOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.operation import PureOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.types import TOKEN
from tilewright.passes.cuda_tile.analysis.computed_again import SCALAR
from tilewright.passes.cuda_tile.analysis.runs import pointer_run, run_of
from tilewright.passes.cuda_tile.analysis.tensor_maps import is_weak
from tilewright.passes.cuda_tile.analysis.view_access import WIDEST, run_bits, tile_dimensions
from tilewright.passes.cuda_tile.analysis.written_layouts import written_layout
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import FINDERS, LayoutTable
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout, bits_of, broadcast_bits
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder, replace_others

_Load = LoadViewTkoOp | LoadPtrTkoOp
_MOST = 10
"""The bits of the number of an element of a row: as many as there are threads, at most."""

_FEW = 2
"""The accesses of a thread in place of shared memory, and of two barriers around it."""


def load_for_each_shape(entry: EntryOp) -> None:
    """Make a load once for each shape that it is broadcast to."""
    loads = defaultdict[_Load, dict[tuple[int, ...], _Load]](dict)
    for load, way, broadcast in list(_broadcast(entry)):
        shape = shape_of(broadcast.result)
        if bits_of(shape_of(load.results[0])) > _MOST:
            continue
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
    again = at.insert(load.clone())
    tokens = at.add(JoinTokensOp, [load.result_token, again.result_token], TOKEN)
    replace_others(load.result_token, tokens)
    return again


def reader_layouts(
    entry: EntryOp, table: LayoutTable, staged: Container[Operation]
) -> dict[Operation, TileLayout]:
    """The layouts in which loads are read: broadcast, by a loop behind them, or where a thread has
    to access memory no more often than in their own; or loaded from places that are no neighbours.
    What is staged is loaded by others."""
    wanted = dict[Operation, TileLayout]()
    for load, _, broadcast in _broadcast(entry):
        bits = broadcast_bits(shape_of(broadcast.source), shape_of(broadcast.result))
        for reader, wide in _readers(broadcast.result, table):
            loop, layout = reader.parent_op(), wide.renumbered(bits)
            if isinstance(loop, ForOp) and not loop.is_ancestor(load):
                wanted[load] = layout
            elif load not in staged and _accesses(load, layout) <= _most(load, table):
                wanted.setdefault(load, layout)
    for store in descendants(entry, StorePtrTkoOp):
        pointers = store.destination
        layout = written_layout(pointers, store.mask, store.value, WIDEST, table)
        # Lanes tell each other what those of the value's own layout have loaded.
        for written in (layout, table.layouts.get(store.value) or layout):
            for load, own in _lying_by(pointers, written):
                if load not in staged and _accesses(load, own) <= _most(load, table):
                    wanted.setdefault(load, own)
    for load in entry.walk():
        if isinstance(load, LoadPtrTkoOp) and is_weak(load) and load not in staged:
            free = table.layouts.get(load.source) is None and not run_of(load.source).counting
            for layout in _met(load.result, table.of(load.result), table) if free else ():
                wanted.setdefault(load, layout)
        if isinstance(load, LoadViewTkoOp) and load in staged:
            for layout in _beside_sums(load.results[0], table):
                wanted.setdefault(load, layout)
    return {load: x for load, x in wanted.items() if x != table.of(load.results[0])}


def _beside_sums(value: SSAValue, table: LayoutTable) -> Iterator[TileLayout]:
    """The layouts of the sums of products with which one meets a tile, computed on as it may be."""
    for op in users(value):
        if isinstance(op, ReshapeOp):
            yield from _beside_sums(op.result, table)
        elif isinstance(op, PureOp) and type(op) not in FINDERS and not op.regions:
            for other in op.operands:
                layout = table.layouts.get(other) if other in table.products else None
                if layout is not None and shape_of(other) == shape_of(value):
                    yield layout
            yield from _beside_sums(op.results[0], table)


def _lying_by(value: SSAValue, layout: TileLayout) -> Iterator[tuple[LoadPtrTkoOp, TileLayout]]:
    """The loads of numbers by which a tile lies in a layout, and their own layouts."""
    op = value.owner
    if isinstance(op, LoadPtrTkoOp) and is_weak(op) and shape_of(value):
        yield op, layout
    if not isinstance(op, SCALAR) or not shape_of(value):
        return
    if isinstance(op, BroadcastOp):
        layout = layout.renumbered(broadcast_bits(shape_of(op.source), shape_of(op.result)))
    for operand in op.operands:
        yield from _lying_by(operand, layout)


def _readers(value: SSAValue, table: LayoutTable) -> Iterator[tuple[Operation, TileLayout]]:
    """The ops that read a tile element by element, computed on as it may be, and their layouts."""
    for op in users(value):
        for result in op.results if isinstance(op, PureOp) else ():
            if (layout := table.common([result], value)) is not None:
                yield op, layout
            elif type(op) not in FINDERS:
                yield from _readers(result, table)


def _met(value: SSAValue, own: TileLayout, table: LayoutTable) -> Iterator[TileLayout]:
    """The layouts of tiles with which one meets others, it or what is computed of it alone."""
    for reader, layout in _readers(value, table):
        if layout != own:
            yield layout
        else:
            yield from _met(reader.results[0], own, table)


def _broadcast(entry: EntryOp) -> Iterator[tuple[_Load, list[Operation], BroadcastOp]]:
    """The broadcasts of tiles that are loaded, and what reshapes and converts these first."""
    for op in entry.walk():
        if not isinstance(op, BroadcastOp):
            continue
        way, value = list[Operation](), op.source
        while isinstance(value.owner, ReshapeOp | ConversionOp):
            way.insert(0, value.owner)
            value = value.owner.operands[0]
        if isinstance(value.owner, _Load) and is_weak(value.owner) and bits_of(shape_of(value)):
            yield value.owner, way, op


def _most(load: _Load, table: LayoutTable) -> int:
    """The accesses of a load that take no longer than those of its own layout; in a loop, where it
    may be known in any layout where it lies, a few do without barriers."""
    anywhere = not isinstance(load, LoadPtrTkoOp) or table.layouts.get(load.source) is None
    few = _FEW if anywhere and isinstance(load.parent_op(), ForOp) else 0
    return max(_accesses(load, table.of(load.results[0])), few)


def _accesses(load: _Load, layout: TileLayout) -> int:
    if isinstance(load, LoadPtrTkoOp):
        run = pointer_run(load.source, load.mask, WIDEST)
    else:
        run = run_bits(load, tile_dimensions(load))
    return layout.count >> min(run, layout.run_bits)
