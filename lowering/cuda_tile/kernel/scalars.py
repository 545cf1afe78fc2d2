"""Scalars of `arith` and their types, as far as they are known."""

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute


def is_float(type_: Attribute) -> bool:
    """True of types of floating-point numbers."""
    return not isinstance(type_, IntegerType)
