"""The element type of fragments that hold a tensor's elements."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, Signedness, i8
from xdsl.ir import Attribute

from tilewright.dialects.cute.tensor import Tensor
from tilewright.dialects.cute.types.tensors import element_type

_SI8 = IntegerType(8, Signedness.SIGNED)


def register_element(tensor: Tensor) -> Attribute:
    """The type in registers: bytes without a sign are held as those with one."""
    found = element_type(tensor.element)
    return _SI8 if found == i8 else found
