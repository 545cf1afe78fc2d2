"""Constants, `iota`, the place in the grid, and tiles that are another tile's elements elsewhere:
reshaped, broadcast, permuted, joined, taken out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import i8, i32
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.scalar_programs import SpecialRegisterTkoOp
from tilewright.dialects.cute_nvgpu.ops.special_register import SpecialRegisterOp
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.lowering.cuda_tile.kernel.shared_tiles import SharedTile, StageTile
from tilewright.lowering.cuda_tile.kernel.threads import scaled
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.find_layouts import LayoutTable, finds, part_bits
from tilewright.passes.cuda_tile.layouts.layouts import (
    TileLayout,
    broadcast_bits,
    dim_bits,
    inverse,
    joined_bits,
    permutation_of,
    spread,
)

# --- constants ---


@finds(core.ConstantOp, core.IotaOp, core.BroadcastOp)
def _anywhere(op: core.ConstantOp, table: LayoutTable) -> None:
    return None


@lowers
def _constant(op: core.ConstantOp, kernel: EntryLowering) -> None:
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


def _chosen(
    kernel: EntryLowering, layout: TileLayout, place: int, numbers: Any, type_: Any
) -> SSAValue:
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


@lowers
def _iota(op: core.IotaOp, kernel: EntryLowering) -> None:
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


def resized(kernel: EntryLowering, number: SSAValue, type_: Any) -> SSAValue:
    """An i32 that is not negative as an integer of another type."""
    if type_ == i32:
        return number
    cast = arith.ExtUIOp if type_.bitwidth > 32 else arith.TruncIOp
    return kernel.emit(cast, [number], type_)


# --- the same elements elsewhere ---


@lowers
def _reshape(op: core.ReshapeOp, kernel: EntryLowering) -> None:
    kernel[op.result] = kernel[op.source]


@finds
def _as_source(op: core.ReshapeOp, table: LayoutTable) -> TileLayout | None:
    return table.layouts.get(op.source)


@lowers
def _broadcast(op: core.BroadcastOp, kernel: EntryLowering) -> None:
    bits = broadcast_bits(shape_of(op.source), shape_of(op.result))
    _renumbered(op, op.source, bits, kernel)


@lowers
def _permute(op: core.PermuteOp, kernel: EntryLowering) -> None:
    source = kernel[op.source]
    if isinstance(source, SharedTile | StageTile):
        kernel[op.result] = source.renumbered(inverse(permutation_of(op)))
        return
    _renumbered(op, op.source, permutation_of(op), kernel)


@finds
def _permuted(op: core.PermuteOp, table: LayoutTable) -> TileLayout | None:
    source = table.layouts.get(op.source)
    return None if source is None else source.renumbered(inverse(permutation_of(op)))


def _renumbered(
    op: core.BroadcastOp | core.PermuteOp,
    source: SSAValue,
    bits: dict[int, int],
    kernel: EntryLowering,
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


@finds
def _joined(op: core.CatOp, table: LayoutTable) -> TileLayout:
    """The halves' own layout, the bit that says which half being a register's."""
    half, bits = joined_bits(op)
    own = table.of(op.lhs).renumbered(inverse(bits))
    return TileLayout(own.threads, (*own.registers, half))


@lowers
def _cat(op: core.CatOp, kernel: EntryLowering) -> None:
    layout = kernel.layout(op.result)
    assert layout is not None
    own = layout.renumbered(joined_bits(op)[1])
    elements = [*kernel.elements(op.lhs, own), *kernel.elements(op.rhs, own)]
    kernel.place(op.result, layout, elements)


@finds
def _extracted(op: core.ExtractOp, table: LayoutTable) -> TileLayout:
    """That of the source, where registers alone say which part it is."""
    own = table.of(op.source)
    inner = _inner_bits(shape_of(op.result), shape_of(op.source))
    if not {bit for bit in own.threads if bit is not None} <= {*inner.values()}:
        return table.default(shape_of(op.result))
    return own.renumbered(inverse(inner))


@lowers
def _extract(op: core.ExtractOp, kernel: EntryLowering) -> None:
    """Each thread chooses among its own elements; where other threads have some of the parts, those
    that have the one tell the rest."""
    layout, source = kernel.layout(op.result), kernel.table.of(op.source)
    assert layout is not None
    emitter, elements = kernel.emitter, kernel.elements(op.source, source)
    inner = _inner_bits(shape_of(op.result), shape_of(op.source))
    outer = [bit for bit in source.registers if bit not in inner.values()]
    own, fixed = source.renumbered(inverse(inner)), part_bits(op)
    number = _part_number(op.indices, inner, shape_of(op.source), kernel) if fixed is None else None

    def chosen(place: int, bits: Sequence[int]) -> SSAValue:
        if not bits:
            return elements[source.register_at[place]]
        (*rest, bit) = bits
        if number is None:
            assert fixed is not None
            return chosen(place | fixed[bit] << bit, rest)
        mask = emitter.binary("and", number, 1 << bit)
        is_set = emitter.compare("ne", mask, 0)
        return emitter.select(is_set, chosen(place | 1 << bit, rest), chosen(place, rest))

    wide = [inner[bit] for bit in range(len(inner))]
    part = [chosen(spread(at, wide), outer) for at in own.places]
    threads = [0 if bit is None or bit in inner.values() else 1 << bit for bit in source.threads]
    total = kernel.threads.total(threads)
    if total is None:
        kernel.place(op.result, layout, kernel.scratch.converted(own, part, layout))
        return
    mask = sum(threads)
    if number is not None:
        known = emitter.binary("and", number, mask)
    else:
        assert fixed is not None
        known = emitter.constant(mask & sum(fixed[bit] << bit for bit in fixed), 32)
    knows = emitter.compare("eq", total, known)
    knows = kernel.both(kernel.threads.first_of(source), knows)
    kernel.place(op.result, layout, kernel.scratch.exchanged(own, part, layout, knows))


def _part_number(
    indices: Sequence[SSAValue],
    inner: Mapping[int, int],
    whole: Sequence[int],
    kernel: EntryLowering,
) -> SSAValue | None:
    """The number of the first element of a part in the whole; None for the only part."""
    total = None
    for index, bits in zip(indices, dim_bits(whole), strict=True):
        left = [bit for bit in bits if bit not in inner.values()]
        if left:
            step = scaled(kernel.emitter, kernel.scalar(index), 1 << left[0])
            total = step if total is None else kernel.emitter.binary("add", total, step)
    return total


def _inner_bits(part: Sequence[int], whole: Sequence[int]) -> dict[int, int]:
    """Where the bits of a part's elements are among those of the whole's."""
    return {
        own: wide
        for inner, outer in zip(dim_bits(part), dim_bits(whole), strict=True)
        for own, wide in zip(inner, outer, strict=False)
    }


@finds(core.GetTileBlockIdOp, core.GetNumTileBlocksOp, SpecialRegisterTkoOp)
def _scalars(op: Operation, table: LayoutTable) -> TileLayout:
    return table.scalar


@lowers
def _place(op: core.GetTileBlockIdOp | core.GetNumTileBlocksOp, kernel: EntryLowering) -> None:
    kind = gpu.BlockIdOp if isinstance(op, core.GetTileBlockIdOp) else gpu.GridDimOp
    for result, axis in zip(op.results, gpu.DimensionEnum, strict=True):
        number = kernel.emitter.resized(kernel.emitter.of_launch(kind, axis), None, 32)
        kernel.place(result, kernel.table.scalar, [number])


@lowers
def _special_register(op: SpecialRegisterTkoOp, kernel: EntryLowering) -> None:
    """One thread reads it: the others would see another moment."""
    kernel[op.result_token] = kernel.token_of(op)
    layout = kernel.table.scalar
    type_ = kernel.scalar_type(op, op.result)
    read = kernel.emitter.emit(SpecialRegisterOp(register=op.register, result=type_))
    kernel.place(op.result, layout, kernel.scratch.exchanged(layout, [read], layout))
