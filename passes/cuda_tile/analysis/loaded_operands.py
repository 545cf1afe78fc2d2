"""Operands of multiplications that are loaded, in whatever order and type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tilewright.dialects.cuda_tile.ops import conversions, core
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp
from tilewright.passes.cuda_tile.layouts.elements import shape_of
from tilewright.passes.cuda_tile.layouts.layouts import bits_of, dim_bits, permutation_of
from tilewright.passes.cuda_tile.layouts.mma_layouts import Multiplication
from tilewright.passes.cuda_tile.layouts.shared_matrices import MatrixOrder
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    factors_of,
    in_tensor_memory,
    lie_for_copies,
)

_CONVERSIONS = (
    conversions.FToFOp, conversions.FToIOp, conversions.IToFOp, conversions.ExtIOp,
    conversions.TruncIOp,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
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
    order: MatrixOrder, source: LoadedOperand, operand: SSAValue, product: Multiplication
) -> bool:
    """True where an MMA, or a copy to tensor memory, can read a tile as it lies: rows of elements
    that are not of 2 bytes, or of bytes where the accumulators are in tensor memory, run along
    K."""
    if source.converted:
        return False
    for _, value, axis in factors_of(product):
        if operand is value:
            places = [order.order.position[source.bits[bit]] for bit in range(len(source.bits))]
            return not order.swizzle.bits and lie_for_copies(places, shape_of(operand), axis)
    if order.order.size == 1 and in_tensor_memory(product):
        return True
    depth = dim_bits(shape_of(operand))[-1 if operand is product.lhs else -2]
    along_k = {source.bits[bit] for bit in depth}
    return order.order.size == 2 or along_k.issuperset(order.run)


def halved_dimension(product: Multiplication) -> int | None:
    """The dimension of the loaded tile that the halves of B's columns, one for each CTA of a pair,
    lie along; None where they do not."""
    source = loaded_by(product.rhs)
    if source is None or not isinstance(source.load, LoadViewTkoOp):
        return None
    last = source.bits[dim_bits(shape_of(product.rhs))[-1][-1]]
    tops = [bits[-1] if bits else None for bits in dim_bits(source.load.view_type.tile_shape)]
    return tops.index(last) if last in tops else None
