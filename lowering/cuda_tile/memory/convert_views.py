"""Views: tensors in memory, the tiles that they are cut into, loads and stores of those."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from typing import Any

from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i32, i64
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.ops import views
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cute_nvgpu.lattice.data_movement import LINE
from tilewright.dialects.cute_nvgpu.ops import address
from tilewright.dialects.cute_nvgpu.ops.address import bytes_of
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import resized
from tilewright.lowering.cuda_tile.kernel.coordinates import wide
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.lowering.cuda_tile.kernel.warp_moves import WarpMoves
from tilewright.lowering.cuda_tile.memory.access import MaskedAccess
from tilewright.lowering.cuda_tile.memory.memory_access import load, load_tile, store
from tilewright.lowering.cuda_tile.pipelines.convert_boxed_stores import store_boxed
from tilewright.passes.cuda_tile.analysis.facts import is_natural
from tilewright.passes.cuda_tile.analysis.prefetched_loads import AHEAD, row_of
from tilewright.passes.cuda_tile.analysis.stages import STORED
from tilewright.passes.cuda_tile.analysis.tensor_maps import LOADED_PLACES
from tilewright.passes.cuda_tile.analysis.view_access import (
    PADDING_WORD,
    Extent,
    TileDimension,
    access_layout,
    contiguous,
    dimensions_of,
    extents_of,
    run_bits,
    tensor_of,
    tile_dimensions,
)
from tilewright.passes.cuda_tile.analysis.written_layouts import of_lanes
from tilewright.passes.cuda_tile.layouts.elements import element_of, number_of, scalar_type
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable, finds
from tilewright.passes.cuda_tile.layouts.layouts import (
    WARP_BITS,
    TileLayout,
    above,
    blocked,
    dim_bits,
    log2,
)

_LESS_UNSIGNED = IntegerAttr(6, i64)
_FURTHEST = 1 << 31


@lowers(
    views.MakeTensorViewOp,
    views.MakePartitionViewOp,
    views.MakeStridedViewOp,
    views.MakeGatherScatterViewOp,
)
def _view(op: views.MakeTensorViewOp, kernel: EntryLowering) -> None:
    """A view is what its accesses find behind it."""


# --- extents ---


@finds(views.GetIndexSpaceShapeOp, views.GetTensorShapeOp)
def _scalars(op: views.Extents, table: LayoutTable) -> TileLayout:
    return table.scalar


@lowers
def _tensor_shape(op: views.GetTensorShapeOp, kernel: EntryLowering) -> None:
    sizes, _ = extents_of(tensor_of(op.src))
    for result, size in zip(op.result, sizes, strict=True):
        _give(op, result, wide(kernel, size, _width_of(op, result, size, kernel)), kernel)


@lowers
def _index_space(op: views.GetIndexSpaceShapeOp, kernel: EntryLowering) -> None:
    view = op.src.type
    dimensions = dimensions_of(view, tensor_of(op.src), (False,) * view.index_rank)  # type: ignore[attr-defined]
    for result, dimension in zip(op.result, dimensions, strict=True):
        type_ = _width_of(op, result, dimension.size, kernel)
        size, step = (wide(kernel, x, type_) for x in (dimension.size, dimension.step))
        _give(op, result, kernel.emit(arith.CeilDivUIOp, [size, step], type_), kernel)


def _width_of(
    op: views.Extents, result: SSAValue, size: Extent, kernel: EntryLowering
) -> IntegerType:
    """The type that a size is taken in: it may be one that the result has no bits for."""
    static = isinstance(size, int)
    types = kernel.scalar_type(op, result), i32 if static else kernel.scalar(size).type
    widths: list[int] = [type_.bitwidth for type_ in types]  # type: ignore[attr-defined]
    return IntegerType(max(*widths, 64 if static and size >> 32 else 32))


def _give(op: views.Extents, result: SSAValue, number: SSAValue, kernel: EntryLowering) -> None:
    """The low bits of a number as a result."""
    type_ = kernel.scalar_type(op, result)
    kernel.place(result, kernel.table.scalar, [resized(kernel, arith.TruncIOp, number, type_)])


# --- accesses ---


@finds
def _loaded(op: views.LoadViewTkoOp, table: LayoutTable) -> TileLayout | None:
    if LOADED_PLACES in op.attributes:
        return None
    if (wanted := table.wanted.get(op)) is not None:
        return wanted
    return access_layout(op, table)


@lowers
def _load(op: views.LoadViewTkoOp, kernel: EntryLowering) -> None:
    ahead = kernel.ahead.load(op) or kernel.copied.load(op)
    if ahead is not None:
        kernel[op.tile], token = ahead, kernel.token_of(op)
        kernel[op.result_token] = kernel.order.after(token, reads=kernel.copied.reads(op))
        return
    type_ = kernel.scalar_type(op, op.tile)
    padding = kernel.constant(_padding(op), type_)
    if op.nan_flag is not None:
        nan = kernel.constant(number_of(float("nan"), element_of(op.tile)), type_)
        padding = kernel.emitter.select(kernel.scalar(op.nan_flag), nan, padding)

    def prepared(layout: TileLayout) -> Callable[[], list[SSAValue]]:
        stepwise = isinstance(op.parent_op(), ForOp)
        accesses = tile_accesses(op, layout, kernel, stepwise=stepwise)
        return partial(load, op, accesses, layout, type_, [padding] * layout.count, kernel)

    load_tile(op, prepared, kernel)
    if op in kernel.prefetched:
        prefetch_ahead(op, kernel)


# --- lines of blocks to come ---


def prefetch_ahead(load: views.LoadViewTkoOp, kernel: EntryLowering, by: int = AHEAD) -> None:
    """Ask for what lies so many bytes behind the tile of a load, a line for a thread, within the
    tensor."""
    emitter, dimensions = kernel.emitter, tile_dimensions(load)
    bits, along = dim_bits(load.view_type.tile_shape), contiguous(dimensions)
    assert along is not None
    size = bytes_of(scalar_type(load, element_of(load.tile)))
    run = min(len(bits[along]), log2(LINE // size))
    layout = blocked([*bits[along], *above(bits, along)], kernel.table.thread_bits, run)
    own, (far, is_inside) = kernel.threads.first_of(layout), _reach(load, size, by, kernel)
    for access in tile_accesses(load, layout, kernel, run):
        offset = emitter.binary("add", far, access.offset)
        place = emitter.binary("add", access.address, offset)
        within = kernel.both(kernel.both(own, access.condition), is_inside(place))
        assert within is not None
        emitter.when(within, lambda place=place: emitter.add(address.PrefetchOp(place)))


def _reach(
    load: views.LoadViewTkoOp, size: int, by: int, kernel: EntryLowering
) -> tuple[SSAValue, Callable[[SSAValue], SSAValue]]:
    """How many bytes ahead lines are, and whether an address is one of the tensor, of the last
    block's row, or of the row that the next iteration loads."""
    emitter, tensor, row = kernel.emitter, tensor_of(load.view), row_of(load)

    def bytes_of_rows(count: SSAValue, stride: Extent) -> SSAValue:
        by = scaled(emitter, wide(kernel, stride, i64), size)
        return emitter.binary("mul", count, by)

    if row is not None and row.loop is not None:
        end, step = (wide(kernel, x, i64) for x in (row.loop.upper_bound, row.loop.step))
        after = emitter.binary("add", wide(kernel, row.number, i64), step)
        runs = emitter.compare("lt", after, end)
        return bytes_of_rows(step, row.stride), lambda _: runs
    end = kernel.scalar(tensor.base)
    counts = [(wide(kernel, count, i64), x) for count, x in zip(*extents_of(tensor), strict=True)]
    if row is not None:
        blocks = emitter.resized(emitter.of_launch(gpu.GridDimOp), None, 64)
        left = emitter.binary("sub", blocks, wide(kernel, row.number, i64))
        counts.append((left, row.stride))
    for count, stride in counts:
        last = emitter.binary("sub", count, 1)
        end = emitter.binary("add", end, bytes_of_rows(last, stride))
    return kernel.constant(by, i64), lambda place: emitter.compare("lt", place, end)


def _padding(op: views.LoadViewTkoOp) -> Any:
    """The element that lies outside of the tensor, or the word of it."""
    if isinstance(word := op.attributes.get(PADDING_WORD), IntegerAttr):
        return word.value.data
    number = _PADDINGS[op.view_type.padding_value or PaddingValue.ZERO]
    return number_of(number, element_of(op.tile))


_PADDINGS = {
    PaddingValue.ZERO: 0.0,
    PaddingValue.NEG_ZERO: -0.0,
    PaddingValue.NAN: float("nan"),
    PaddingValue.POS_INF: float("inf"),
    PaddingValue.NEG_INF: float("-inf"),
}


SECTOR = 32
"""The bytes that memory is written by."""


@lowers
def _store(op: views.StoreViewTkoOp, kernel: EntryLowering) -> None:
    if (boxed := kernel.stored.get(op)) is not None:
        # Behind a barrier of its own, and so behind whatever the token is.
        store_boxed(op, boxed, kernel)
        kernel[op.result_token] = kernel.order.after(kernel.token_of(op), writes=True)
        return
    layout = stored_layout(op, op.tile, kernel)
    with kernel.scratch.within(STORED):
        elements = kernel.elements(op.tile, layout)
    with kernel.access(op, writes=True):
        store(op, tile_accesses(op, layout, kernel), layout, elements, kernel)


def stored_layout(op: views.ViewAccess, tile: SSAValue, kernel: EntryLowering) -> TileLayout:
    """The tile's own layout where its accesses are as good as those of the best one: they fill
    sectors one after the other, and each by itself, unless no thread moves more at once; or where
    changing it would take the room of another CTA. Else one of its lanes, if shuffles change it."""
    best, own = access_layout(op, kernel.table), kernel.layout(tile)
    if own is None or kernel.scratch.is_short:
        return own or best
    size, run = bytes_of(kernel.scalar_type(op, tile)), run_bits(op, tile_dimensions(op))
    good = min(neighbours(op, best) * size, SECTOR)
    alone = neighbours(op, own, run, 0) >> run
    fills = alone or neighbours(op, own, run) * size >= good
    if fills and neighbours(op, own) * size >= good:
        return own
    lanes = of_lanes(own, best.run_bits)
    if lanes is None or neighbours(op, lanes) * size < good:
        return best
    return lanes if WarpMoves.paying(own, best, kernel.scalar_type(op, tile)) else best


def neighbours(
    op: views.ViewAccess, layout: TileLayout, run: float = inf, lanes: int = WARP_BITS
) -> int:
    """The neighbours in memory that a warp accesses as a run, one instruction after the other, or
    by one that moves so many bits of a thread's; or so many bits of its lanes do."""
    dimensions = tile_dimensions(op)
    along = contiguous(dimensions)
    if along is None:
        return 1
    bits = dim_bits(op.view_type.tile_shape)[along]
    threads, count = layout.threads[:lanes], 0
    while count < len(bits) and (
        bits[count] in threads or (count < run and bits[count] in layout.registers)
    ):
        count += 1
    return 1 << count


def tile_accesses(
    op: views.ViewAccess, layout: TileLayout, kernel: EntryLowering, run: int | None = None,
    *, stepwise: bool = False,
) -> Iterator[MaskedAccess]:  # fmt: skip
    """The accesses of each thread to a tile of a view, in a layout, whose addresses are computed as
    they come; in runs of so many bits, they may lie within the tensor in part. Where addresses go
    `stepwise` by powers of two, loops keep few distances in registers."""
    return _TileAddresses(op, layout, kernel, run, stepwise=stepwise).accesses()


class _TileAddresses:
    """Where the elements of a tile are that the registers of a thread hold."""

    def __init__(
        self, op: views.ViewAccess, layout: TileLayout, kernel: EntryLowering, run: int | None,
        *, stepwise: bool,
    ):  # fmt: skip
        self.layout, self.kernel, self.stepwise = layout, kernel, stepwise
        self.dimensions = tile_dimensions(op)
        self.bits = dim_bits(op.view_type.tile_shape)
        tensor = tensor_of(op.view)  # type: ignore[attr-defined]
        self.size = bytes_of(scalar_type(op, tensor.result.type.element_type))  # type: ignore[attr-defined]
        self.index: list[SSAValue] = list(op.index)  # type: ignore[attr-defined]
        self.along = contiguous(self.dimensions)
        self.run = run_bits(op, self.dimensions) if run is None else run
        self.divided = self.run > run_bits(op, self.dimensions)
        self.coordinates = [self._coordinate(i) for i in range(len(self.dimensions))]
        self.base = self._base(kernel.scalar(tensor.base))

    def _coordinate(self, i: int) -> SSAValue | None:
        """Where the thread's elements begin along a dimension: an integer as wide as the size."""
        dimension, bits, kernel = self.dimensions[i], self.bits[i], self.kernel
        if dimension.gathered:
            return None
        type_ = self._type(dimension)
        start = wide(kernel, self.index[i], type_)
        start = scaled(kernel.emitter, start, dimension.step)
        own = kernel.threads.total(
            [
                1 << (bit - bits.start) if bit is not None and bit in bits else 0
                for bit in self.layout.threads
            ]
        )
        if own is None:
            return start
        if type_ != i32:
            own = kernel.emit(arith.ExtUIOp, [own], type_)
        return kernel.emitter.binary("add", start, own)

    def _type(self, dimension: TileDimension) -> Attribute:
        """The type that coordinates are compared in."""
        size = dimension.size
        if isinstance(size, int):
            return i32 if size < _FURTHEST else i64
        return i64 if size.type.element_type == i64 else i32  # type: ignore[attr-defined]

    def _base(self, base: SSAValue) -> SSAValue:
        """The address of the thread's first element, gathered dimensions left out."""
        for dimension, coordinate in zip(self.dimensions, self.coordinates, strict=True):
            if coordinate is not None:
                base = self._moved(base, coordinate, dimension.stride)
        return base

    def _moved(self, base: SSAValue, coordinate: SSAValue, stride: Extent) -> SSAValue:
        kernel = self.kernel
        if coordinate.type != i64:
            coordinate = kernel.emit(arith.ExtUIOp, [coordinate], i64)
        if isinstance(stride, int):
            offset = scaled(kernel.emitter, coordinate, stride * self.size)
        else:
            by = scaled(kernel.emitter, wide(kernel, stride, i64), self.size)
            offset = kernel.emitter.binary("mul", coordinate, by)
        return kernel.emitter.binary("add", base, offset)

    def accesses(self) -> Iterator[MaskedAccess]:
        """Each run of registers, its address, and whether it lies within the tensor."""
        return (self._access(list(registers)) for registers in self._runs())

    def _runs(self) -> list[tuple[int, ...]]:
        """Registers that are neighbours along the contiguous dimension."""
        at, places = self.layout.register_at, self.layout.places
        low = 0 if self.along is None else self.bits[self.along].start
        run, taken = 0, set(self.layout.registers)
        while run < self.run and low + run in taken:
            run += 1
        mask = ((1 << run) - 1) << low
        return [
            tuple(at[place + (i << low)] for i in range(1 << run))
            for place in places
            if not place & mask
        ]

    def _access(self, registers: list[int]) -> MaskedAccess:
        kernel, place = self.kernel, self.layout.places[registers[0]]
        address, known, inside, left = self.base, 0, None, None
        for i, dimension in enumerate(self.dimensions):
            bits = self.bits[i]
            step = place >> bits.start & ((1 << len(bits)) - 1)
            coordinate = self.coordinates[i]
            if coordinate is None:
                coordinate = self._gathered(i, step)
                address = self._moved(address, coordinate, dimension.stride)
                inside = kernel.both(inside, self._below(coordinate, dimension))
                continue
            if isinstance(dimension.stride, int):
                known += step * dimension.stride * self.size
            else:
                bits = (1 << bit for bit in range(step.bit_length()) if step >> bit & 1)
                for far in bits if self.stepwise else [step] if step else ():
                    far = kernel.constant(far, i64)
                    address = self._moved(address, far, dimension.stride)
            if not dimension.within:
                if step:
                    coordinate = kernel.emitter.binary("add", coordinate, step)
                below = self._below(coordinate, dimension)
                ends = isinstance(dimension.size, int) and step >= dimension.size
                if ends and is_natural(self.index[i]):
                    below = kernel.constant(0, i1)  # wherever the tile begins
                inside = kernel.both(inside, below)
                if self.divided and i == self.along:
                    size = wide(kernel, dimension.size, coordinate.type)
                    left = kernel.emitter.binary("sub", size, coordinate)
        if abs(known) >= _FURTHEST:
            address = kernel.emitter.binary("add", address, known)
            known = 0
        return MaskedAccess(registers, address, known, inside, left)

    def _gathered(self, i: int, step: int) -> SSAValue:
        """The index of a gathered dimension for the thread's element at a step along it."""
        bits = self.bits[i]
        own = self.layout.renumbered({bit: bit - bits.start for bit in bits})
        elements = self.kernel.elements(self.index[i], own)
        return self._unsigned(elements[own.register_at[step]], self.dimensions[i])

    def _unsigned(self, value: SSAValue, dimension: TileDimension) -> SSAValue:
        type_, kernel = self._type(dimension), self.kernel
        own, wanted = value.type.bitwidth, type_.bitwidth  # type: ignore[attr-defined]
        if own >= wanted:
            return value
        return kernel.emit(arith.ExtUIOp, [value], type_)  # type: ignore[arg-type]

    def _below(self, coordinate: SSAValue, dimension: TileDimension) -> SSAValue:
        size = wide(self.kernel, dimension.size, coordinate.type)
        return self.kernel.emit(arith.CmpiOp, [coordinate, size], i1, predicate=_LESS_UNSIGNED)
