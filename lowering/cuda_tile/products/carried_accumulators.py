"""Accumulators that loops carry: fragments of `wgmma`, or columns of tensor memory, which stay
where they are."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Attribute, SSAValue

from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, LoweredTile
from tilewright.lowering.cuda_tile.kernel.tensor_tiles import placed
from tilewright.lowering.cuda_tile.products.convert_tensor_core_matrix import brought
from tilewright.lowering.cuda_tile.products.convert_warpgroup_matrix import (
    AccumulatorTile,
    accumulator_type,
    accumulators,
)
from tilewright.passes.cuda_tile.layouts.find_layouts import AccumulatorLayouts
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import Accumulators


def carried_types(product: AccumulatorLayouts) -> Sequence[Attribute]:
    """The types of the values that a loop carries for some accumulators."""
    if isinstance(product, Accumulators):
        return []
    return [accumulator_type(product)] * (product.layout("C").count // product.values("C"))


def undefined(product: AccumulatorLayouts, kernel: EntryLowering) -> Sequence[SSAValue]:
    """The same of accumulators to which nothing is added yet."""
    emitter = kernel.emitter
    return [
        emitter.once(("poison", type_), lambda type_=type_: PoisonOp(type_))
        for type_ in carried_types(product)
    ]


def carried(
    value: SSAValue, product: AccumulatorLayouts, kernel: EntryLowering
) -> Sequence[SSAValue]:
    """A tile as what is carried of it."""
    if isinstance(product, Accumulators):
        brought(value, product, kernel)
        return []
    return accumulators(value, product, kernel)


def carried_tile(
    product: AccumulatorLayouts, parts: tuple[SSAValue, ...], kernel: EntryLowering
) -> LoweredTile:
    """The tile that is carried."""
    if isinstance(product, Accumulators):
        return placed(product, kernel)
    return AccumulatorTile(product, parts, None)
