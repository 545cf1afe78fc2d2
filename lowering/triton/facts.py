"""Facts that Triton knows of values, as assumptions of Tile IR.

`tt.divisibility`, `tt.contiguity` and `tt.constancy` of a parameter or an op hold a number for each
dimension: in each group of contiguous elements the first is divisible, groups of `constancy`
elements are equal.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cuda_tile.attributes import (
    AssumePredicateAttr,
    DivByAttr,
    SameElementsAttr,
)
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.predicates import wrong_predicate
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder


def known(at: ShapedBuilder, value: SSAValue, attributes: Mapping[str, Attribute]) -> SSAValue:
    """A value with what its attributes say of it."""

    def numbers(name: str) -> list[int]:
        given = attributes.get(f"tt.{name}")
        if isinstance(given, DenseIntOrFPElementsAttr):
            return [int(x) for x in given.get_values()]
        return [given.value.data] if isinstance(given, IntegerAttr) else []

    runs = numbers("contiguity")
    for axis, divisor in enumerate(numbers("divisibility")):
        run = runs[axis] if axis < len(runs) else 1
        value = assumed(at, value, DivByAttr.get(divisor, run, axis) if run > 1 or axis
                        else DivByAttr.get(divisor))  # fmt: skip
    if equal := numbers("constancy"):
        value = assumed(at, value, SameElementsAttr.get(equal))
    return value


def assumed(at: ShapedBuilder, value: SSAValue, predicate: AssumePredicateAttr) -> SSAValue:
    """A value with a predicate that is known of it, where such a value can have one."""
    if wrong_predicate(predicate, value.type) is not None:
        return value
    return at.add(AssumeOp, [value], predicate=predicate)
