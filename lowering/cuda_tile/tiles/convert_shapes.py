"""Constants, `iota`, the place in the grid, and tiles that are another tile's elements elsewhere:
reshaped, broadcast, permuted, joined, taken out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cute_nvgpu.ops.address import LoadOp, bytes_of
from tilewright.lowering.cuda_tile.kernel.kernel import Kernel, integer, lowers
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile, StageTile
from tilewright.lowering.cuda_tile.layouts.elements import shape_of
from tilewright.lowering.cuda_tile.layouts.find_layouts import LayoutTable, finds, part_bits
from tilewright.lowering.cuda_tile.layouts.layouts import (
    TileLayout,
    bits_of,
    broadcast_bits,
    dim_bits,
    inverse,
    log2,
    permutation_of,
    spread,
)
from tilewright.lowering.cuda_tile.layouts.shared_order import SharedOrder, row_major
from tilewright.lowering.cuda_tile.layouts.threads import scaled

# --- constants ---


@finds(core.ConstantOp, core.IotaOp, core.BroadcastOp)
def _anywhere(op: core.ConstantOp, table: LayoutTable) -> None:
    return None


@lowers(core.ConstantOp)
def _constant(op: core.ConstantOp, kernel: Kernel) -> None:
    value: Any = op.value
    type_, numbers = kernel.scalar_type(op, op.result), value.array().reshape(-1)
    if type_ == i8 and numbers.dtype.kind == "V":
        numbers = numbers.view(np.uint8)
    if value.is_splat:
        kernel.give(op, lambda layout: [[kernel.constant(numbers[0], type_)] * layout.count])
        return

    def compute(layout: TileLayout) -> list[Sequence[SSAValue]]:
        return [[_chosen(kernel, layout, place, numbers, type_) for place in layout.places]]

    kernel.give(op, compute)


def _chosen(kernel: Kernel, layout: TileLayout, place: int, numbers: Any, type_: Any) -> SSAValue:
    """The element of a table at a register's place plus the thread's."""

    def choose(bits: Sequence[tuple[int, int]], place: int) -> SSAValue:
        if not bits:
            return kernel.constant(numbers[place], type_)
        (thread, bit), *rest = bits
        low, high = choose(rest, place), choose(rest, place + (1 << bit))
        if low is high:
            return low
        return kernel.emitter.select(kernel.threads.is_set(thread), high, low)

    return choose([(i, bit) for i, bit in enumerate(layout.threads) if bit is not None], place)


@lowers(core.IotaOp)
def _iota(op: core.IotaOp, kernel: Kernel) -> None:
    type_ = kernel.scalar_type(op, op.result)

    def compute(layout: TileLayout) -> list[Sequence[SSAValue]]:
        emitter = kernel.emitter
        own = kernel.threads.total([0 if bit is None else 1 << bit for bit in layout.threads])
        numbers: list[SSAValue] = []
        for place in layout.places:
            number = emitter.constant(place, 32)
            if own is not None:
                number = emitter.binary("add", own, number) if place else own
            numbers.append(resized(kernel, number, type_))
        return [numbers]

    kernel.give(op, compute)


def resized(kernel: Kernel, number: SSAValue, type_: Any) -> SSAValue:
    """An i32 that is not negative as an integer of another type."""
    if type_ == i32:
        return number
    cast = arith.ExtUIOp if type_.bitwidth > 32 else arith.TruncIOp
    return kernel.emit(cast, [number], type_)


# --- the same elements elsewhere ---


@lowers(core.ReshapeOp)
def _reshape(op: core.ReshapeOp, kernel: Kernel) -> None:
    kernel[op.result] = kernel[op.source]


@finds(core.ReshapeOp)
def _as_source(op: core.ReshapeOp, table: LayoutTable) -> TileLayout | None:
    return table.layouts.get(op.source)


@lowers(core.BroadcastOp)
def _broadcast(op: core.BroadcastOp, kernel: Kernel) -> None:
    bits = broadcast_bits(shape_of(op.source), shape_of(op.result))
    _renumbered(op, op.source, bits, kernel)


@lowers(core.PermuteOp)
def _permute(op: core.PermuteOp, kernel: Kernel) -> None:
    source = kernel[op.source]
    if isinstance(source, SharedTile | StageTile):
        kernel[op.result] = source.renumbered(inverse(permutation_of(op)))
        return
    _renumbered(op, op.source, permutation_of(op), kernel)


@finds(core.PermuteOp)
def _permuted(op: core.PermuteOp, table: LayoutTable) -> TileLayout | None:
    source = table.layouts.get(op.source)
    return None if source is None else source.renumbered(inverse(permutation_of(op)))


def _renumbered(
    op: core.BroadcastOp | core.PermuteOp, source: SSAValue, bits: dict[int, int], kernel: Kernel
) -> None:
    """The elements of a tile whose bit `bits[b]` is bit b of the result."""

    def compute(layout: TileLayout) -> list[Sequence[SSAValue]]:
        own = layout.renumbered(bits)
        elements = kernel.elements(source, own)
        kept = sum(1 << bit for bit in bits)
        at = {place: elements[i] for i, place in enumerate(own.places)}
        return [[at[_moved(place & kept, bits)] for place in layout.places]]

    kernel.give(op, compute)


def _moved(place: int, bits: dict[int, int]) -> int:
    return sum(1 << bits[bit] for bit in bits if place >> bit & 1)


# --- parts and wholes ---


@finds(core.CatOp)
def _joined(op: core.CatOp, table: LayoutTable) -> TileLayout:
    """The halves' own layout, the bit that says which half being a register's."""
    shape, bit = shape_of(op.result), _half(op)
    layout = table.of(op.lhs)
    wide = {own: own + (own >= bit) for own in range(bits_of(shape) - 1)}
    return TileLayout(
        tuple(None if own is None else wide[own] for own in layout.threads),
        (*(wide[own] for own in layout.registers), bit),
    )


def _half(op: core.CatOp) -> int:
    return dim_bits(shape_of(op.result))[integer(op.dim)].stop - 1


@lowers(core.CatOp)
def _cat(op: core.CatOp, kernel: Kernel) -> None:
    layout, bit = kernel.layout(op.result), _half(op)
    assert layout is not None
    own = layout.renumbered(
        {b: b - (b > bit) for b in range(bits_of(shape_of(op.result))) if b != bit}
    )
    elements = [*kernel.elements(op.lhs, own), *kernel.elements(op.rhs, own)]
    kernel.place(op.result, layout, elements)


@finds(core.ExtractOp)
def _extracted(op: core.ExtractOp, table: LayoutTable) -> TileLayout:
    """That of the source, where registers alone say which part it is."""
    own, fixed = table.of(op.source), part_bits(op)
    if fixed is None or not set(fixed) <= set(own.registers):
        return table.default(shape_of(op.result))
    inner = _inner_bits(shape_of(op.result), shape_of(op.source))
    return own.renumbered({wide: bit for bit, wide in inner.items()})


@lowers(core.ExtractOp)
def _extract(op: core.ExtractOp, kernel: Kernel) -> None:
    layout = kernel.layout(op.result)
    assert layout is not None
    emitter, scratch, whole = kernel.emitter, kernel.scratch, shape_of(op.source)
    source = kernel.table.of(op.source)
    elements, fixed = kernel.elements(op.source, source), part_bits(op)
    if fixed is not None:
        bits = _inner_bits(shape_of(op.result), whole)
        own = source.renumbered({wide: bit for bit, wide in bits.items()})
        place = sum(1 << bit for bit in source.registers if fixed.get(bit))
        inner = [bits[bit] for bit in range(len(bits))]
        part = [elements[source.register_at[place | spread(at, inner)]] for at in own.places]
        if not set(fixed) <= set(source.registers):
            known = [bit is not None and fixed.get(bit, False) for bit in source.threads]
            holders = sum(1 << i for i, is_set in enumerate(known) if is_set)
            part = scratch.told(own, part, layout, holders)
        kernel.place(op.result, layout, part)
        return
    size = bytes_of(elements[0].type)
    parted = scratch.too_many(range(bits_of(whole)), size)
    start = _corner(op.indices, whole, shape_of(op.result), elements[0].type, kernel)
    inner = SharedOrder(_inner_bits(shape_of(op.result), whole), size)
    order, part = row_major(bits_of(whole) - len(parted), size), list[SSAValue]()
    for first, base in scratch.laid_down(source, elements, order, parted):
        if parted:
            before = part or [elements[0]] * layout.count
            part = _within(base, start, first, order, (layout, inner), before, kernel)
        else:
            base = base if start is None else emitter.binary("add", base, start)
            part = scratch.load(base, layout, elements[0].type, inner)
    kernel.place(op.result, layout, part)


def _within(
    base: SSAValue, start: SSAValue | None, first: int, order: SharedOrder,
    wanted: tuple[TileLayout, SharedOrder], before: Sequence[SSAValue], kernel: Kernel,
) -> list[SSAValue]:  # fmt: skip
    """The elements of a part that are among those which are laid down from the `first` on, others
    as they were before."""
    emitter, (layout, inner) = kernel.emitter, wanted
    bits = len(order.position) + log2(order.size)
    turn = emitter.constant(first * order.size >> bits, 32)
    mask, count = (emitter.constant(x, 32) for x in ((1 << bits) - 1, bits))
    own = kernel.threads.total(inner.natural(layout.threads))
    parts = [x for x in (start, own) if x is not None] or [emitter.constant(0, 32)]
    loaded: list[SSAValue] = []
    for place, old in zip(layout.places, before, strict=True):
        at = emitter.constant(inner.at(place), 32)
        for value in parts:
            at = emitter.binary("add", value, at)
        inside = emitter.compare("eq", emitter.binary("shr", at, count), turn)
        at = emitter.binary("add", base, emitter.binary("and", at, mask))
        loaded += emitter.add(LoadOp(at, [old], [old.type], 0, predicate=inside)).results
    return loaded


def _corner(
    indices: Sequence[SSAValue], whole: Sequence[int], part: Sequence[int], element: Any,
    kernel: Kernel,
) -> SSAValue | None:  # fmt: skip
    """The bytes from the start of a tile to that of a part, in units of which indices count."""
    total, size = None, bytes_of(element)
    for index, bits, extent in zip(indices, dim_bits(whole), part, strict=True):
        factor = (extent << bits.start) * size
        step = scaled(kernel.emitter, kernel.scalar(index), factor)
        total = step if total is None else kernel.emitter.binary("add", total, step)
    return total


def _inner_bits(part: Sequence[int], whole: Sequence[int]) -> dict[int, int]:
    """Where the bits of a part's elements are among those of the whole's."""
    return {
        own: wide
        for inner, outer in zip(dim_bits(part), dim_bits(whole), strict=True)
        for own, wide in zip(inner, outer, strict=False)
    }


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
