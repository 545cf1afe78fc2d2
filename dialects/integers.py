"""The integers that attributes and values are."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, SSAValue


def integer_of(attribute: Attribute | None, otherwise: int | None = None) -> int:
    """The number of an integer attribute; of what is none, another."""
    if isinstance(attribute, IntegerAttr):
        return attribute.value.data
    assert otherwise is not None
    return otherwise


def constant_integer(value: SSAValue) -> int | None:
    """The number that a value is, where it is a constant of `arith`."""
    known = value.owner.value if isinstance(value.owner, arith.ConstantOp) else None
    return known.value.data if isinstance(known, IntegerAttr) else None
