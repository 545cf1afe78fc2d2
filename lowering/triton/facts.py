"""Facts that Triton knows of values, as assumptions of Tile IR.

`tt.divisibility`, `tt.contiguity` and `tt.constancy` of a parameter or an op hold a number for each
dimension: in each group of contiguous elements the first is divisible, groups of `constancy`
elements are equal. `llvm.intr.assume` of a comparison with a constant bounds a value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.attributes import (
    AssumePredicateAttr,
    BoundedAttr,
    DivByAttr,
    SameElementsAttr,
)
from tilewright.dialects.cuda_tile.ops.miscellaneous import AssumeOp
from tilewright.dialects.cuda_tile.predicates import wrong_predicate
from tilewright.lowering.triton.conversion import TritonConversion, converts


def known(at: TritonConversion, value: SSAValue, attributes: Mapping[str, Attribute]) -> SSAValue:
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


def assumed(at: TritonConversion, value: SSAValue, predicate: AssumePredicateAttr) -> SSAValue:
    """A value of which a predicate is known, where it can be of such a value."""
    if wrong_predicate(predicate, value.type) is not None:
        return value
    return at.add(AssumeOp, [value], predicate=predicate)


@converts(triton.AssumeOp)
def _assume(op: Any, at: TritonConversion) -> None:
    """A comparison with a constant, signed, is a bound."""
    compared = op.operands[0].owner
    if not isinstance(compared, arith.CmpiOp) or not isinstance(
        limit := compared.rhs.owner, arith.ConstantOp
    ):
        return
    number = limit.value
    if not isinstance(number, IntegerAttr):
        return
    bound = number.value.data
    bounds = {
        0: (bound, bound), 2: (None, bound - 1), 3: (None, bound), 4: (bound + 1, None),
        5: (bound, None),
    }.get(compared.predicate.value.data)  # fmt: skip
    if bounds is not None:
        at[compared.lhs] = assumed(at, at[compared.lhs], BoundedAttr.get(*bounds))
