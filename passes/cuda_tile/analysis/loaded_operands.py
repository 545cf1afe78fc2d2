"""Operands of multiplications that are loaded, in whatever order and type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import users
from tilewright.dialects.cuda_tile.enums import RoundingMode
from tilewright.dialects.cuda_tile.ops import conversions, core
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.frozen import frozen
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of
from tilewright.passes.cuda_tile.layouts.layouts import bits_of, dim_bits, permutation_of
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication, atom_of
from tilewright.passes.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.passes.cuda_tile.layouts.shared_order import CHUNK
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    factors_of,
    in_tensor_memory,
    lie_for_copies,
)

_DEPTHS, _ACROSS = (-1, -2), (-2, -1)
"""The axes of A and of B that are K, and that are M and N."""
_ROW_BITS = 5
"""The bits of the 32 words of a row."""
_CONVERSIONS = (
    conversions.FToFOp, conversions.FToIOp, conversions.IToFOp, conversions.ExtIOp,
    conversions.TruncIOp,
)  # fmt: skip


def is_rounded_for_products(op: Operation) -> bool:
    """True of f32 as tf32 for products alone, which do not tell one NaN from another."""
    return (
        isinstance(op, conversions.FToFOp)
        and (shown(element_of(op.from_)), shown(element_of(op.to))) == ("f32", "tf32")
        and op.rounding_mode.data is RoundingMode.NEAREST_EVEN
        and all(isinstance(use.operation, MmaFOp) for use in op.to.uses)
    )


def is_cut_by_products(op: Operation) -> bool:
    """True of the upper bits of f32 as tf32 for MMAs alone, which read no others."""
    return (
        isinstance(op, conversions.FToFOp)
        and (shown(element_of(op.from_)), shown(element_of(op.to))) == ("f32", "tf32")
        and op.rounding_mode.data is RoundingMode.ZERO
        and all(isinstance(x, MmaFOp) and atom_of(x) for x in users(op.to))
    )


def is_rounded_by_copies(op: Operation) -> bool:
    """True of a load whose tile is rounded to tf32 wherever it is read: TMA does that."""
    readers = list(readers_of(op.tile)) if isinstance(op, LoadViewTkoOp) else []
    return bool(readers) and all(map(is_rounded_for_products, readers))


def readers_of(value: SSAValue) -> Iterator[Operation]:
    """The ops that read the elements of a tile, in whatever order."""
    for use in value.uses:
        if isinstance(use.operation, core.ReshapeOp | core.PermuteOp):
            yield from readers_of(use.operation.results[0])
        else:
            yield use.operation


@frozen
class LoadedOperand:
    """The load that an operand comes of, of its bits those of the loaded tile, and whether elements
    are converted on the way."""

    load: LoadViewTkoOp | LoadPtrTkoOp
    bits: Mapping[int, int]
    converted: bool


def loaded_by(operand: SSAValue) -> LoadedOperand | None:
    """The load whose elements an operand has, all of them, in whatever order and type."""
    bits = {bit: bit for bit in range(bits_of(shape_of(operand)))}
    value, converted = operand, False
    while isinstance(value.owner, (core.ReshapeOp, core.PermuteOp, *_CONVERSIONS)):
        if isinstance(value.owner, core.PermuteOp):
            moved = permutation_of(value.owner)
            bits = {own: moved[bit] for own, bit in bits.items()}
        converted |= isinstance(value.owner, _CONVERSIONS)
        value = value.owner.operands[0]
    load = value.owner
    is_load = isinstance(load, LoadViewTkoOp | LoadPtrTkoOp)
    return LoadedOperand(load, bits, converted) if is_load else None


def is_readable(
    order: MatrixOrder,
    source: LoadedOperand,
    operand: SSAValue,
    product: Multiplication,
    *,
    rounded: bool = False,
) -> bool:
    """True where an MMA, or a copy to tensor memory, can read a tile as it lies: rows of elements
    that are not of 2 bytes, or of bytes where the accumulators are in tensor memory, run along
    K, or in atoms of 32 bytes along M or N. Elements may be `rounded` on their way."""
    if source.converted and not rounded:
        return False
    for _, value, axis in factors_of(product):
        if operand is value:
            places = [order.order.position[source.bits[bit]] for bit in range(len(source.bits))]
            return not order.swizzle.bits and lie_for_copies(places, shape_of(operand), axis)
    if order.order.size == 1 and in_tensor_memory(product):
        return True
    axes = _DEPTHS if order.atom == CHUNK else _ACROSS
    return order.order.size == 2 or _lies_along(axes, order.run, source, operand, product)


def is_turned(load: LoadViewTkoOp, run: Sequence[int]) -> bool:
    """True of a tile with the contiguous bits `run`, rows of 128 bytes or more, that is rounded to
    tf32 for `tcgen05.mma` alone, M or N contiguous."""
    return (
        len(run) >= _ROW_BITS
        and is_rounded_by_copies(load)
        and all(
            isinstance(product, MmaFOp)
            and in_tensor_memory(product)
            and (source := loaded_by(operand)) is not None
            and _lies_along(_ACROSS, run, source, operand, product)
            for reader in readers_of(load.tile)
            for operand in reader.results
            for product in users(operand)
        )
    )


def _lies_along(
    axes: tuple[int, int], run: Sequence[int], source: LoadedOperand, operand: SSAValue,
    product: Multiplication,
) -> bool:  # fmt: skip
    """True of contiguous bits that are all of these axes of A and B, of which it may be both."""
    dims = dim_bits(shape_of(operand))
    return all(
        {source.bits[bit] for bit in dims[axis]}.issuperset(run)
        for axis, own in zip(axes, product.operands, strict=False)
        if own is operand
    )


def halved_dimension(product: Multiplication) -> int | None:
    """The dimension of the loaded tile that the halves of B's columns, one for each CTA of a pair,
    lie along; None where they do not."""
    source = loaded_by(product.rhs)
    if source is None or not isinstance(source.load, LoadViewTkoOp):
        return None
    last = source.bits[dim_bits(shape_of(product.rhs))[-1][-1]]
    tops = [bits[-1] if bits else None for bits in dim_bits(source.load.view_type.tile_shape)]
    return tops.index(last) if last in tops else None
