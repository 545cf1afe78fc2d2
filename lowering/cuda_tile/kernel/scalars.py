"""Scalars of `arith` and their types, as far as they are known."""

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue


def integer(value: Attribute) -> int:
    """The number of an integer attribute."""
    assert isinstance(value, IntegerAttr)
    return value.value.data


def known_integer(value: SSAValue) -> int | None:
    """The number that a scalar is, where it is a constant."""
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp) or not isinstance(owner.value, IntegerAttr):
        return None
    return owner.value.value.data


def is_float(type_: Attribute) -> bool:
    """True of types of floating-point numbers."""
    return not isinstance(type_, IntegerType)
