"""The type of a tensor map: an argument of the kernel that says what TMA copies."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import (
    TensorBox,
    TensorMapError,
    tensor_element,
)
from tilewright.dialects.labelled import parse_label, parse_natural

TENSOR_MAP = "cute_nvgpu.tensor_map"
"""The attribute of an entry's parameter that says which box a tensor map of the user's moves."""


@irdl_attr_definition
class TmaDescriptorType(ParametrizedAttribute, TypeAttribute):
    """A tensor map in the parameters of the kernel.

    `!cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>`: each copy moves a box of 128 x 64
    elements, the last dimension contiguous, and swizzles it over rows of 128 bytes. The tensor's
    own extents and strides are those of the `tilewright.TensorMap` that the launch is given. What
    lies outside of the tensor is read as zeros and not written.
    """

    name = "cute_nvgpu.tma_descriptor"

    shape: ArrayAttr[IntAttr]
    element_type: Attribute
    swizzle: IntAttr

    @classmethod
    def get(
        cls, shape: Sequence[int], element_type: Attribute, swizzle: int = 0
    ) -> TmaDescriptorType:
        """The type of a box of those extents, outermost first."""
        return cls(ArrayAttr(map(IntAttr, shape)), element_type, IntAttr(swizzle))

    @property
    def box(self) -> TensorBox:
        """The box that each copy moves. Raises TensorMapError for no legal box."""
        return TensorBox(
            tuple(extent.data for extent in self.shape),
            tensor_element(str(self.element_type)),
            self.swizzle.data,
        )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            shape, element = parser.parse_ranked_shape()
            swizzle = 0
            if parser.parse_optional_punctuation(",") is not None:
                parse_label(parser, "swizzle")
                swizzle = parse_natural(parser)
        return [ArrayAttr(map(IntAttr, shape)), element, IntAttr(swizzle)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for extent in self.shape:
                printer.print_string(f"{extent.data}x")
            printer.print_attribute(self.element_type)
            if self.swizzle.data:
                printer.print_string(f", swizzle = {self.swizzle.data}")

    def verify(self) -> None:
        try:
            _ = self.box
        except TensorMapError as error:
            raise VerifyException(f"tma_descriptor {error}") from None
