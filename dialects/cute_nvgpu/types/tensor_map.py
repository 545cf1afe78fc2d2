"""The type of a tensor map: an argument of the kernel that says what TMA copies."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute_nvgpu.descriptors.tensor_box import (
    TensorBox,
    TensorMapError,
    tensor_element,
)
from tilewright.dialects.cute_nvgpu.lattice.tma import CHUNK
from tilewright.dialects.labelled import Bracketed, parse_label, parse_natural

TENSOR_MAP = "cute_nvgpu.tensor_map"
"""The attribute of an entry's parameter that says which box a tensor map of the user's moves."""


@irdl_attr_definition
class TmaDescriptorType(Bracketed, TypeAttribute):
    """A tensor map in the parameters of the kernel.

    `!cute_nvgpu.tma_descriptor<128x64xbf16, swizzle = 128>`: each copy moves a box of 128 x 64
    elements, the last dimension contiguous, and swizzles it over rows of 128 bytes. The tensor's
    own extents and strides are those of the `tilewright.TensorMap` that the launch is given. What
    lies outside of the tensor is read as zeros and not written. With `swizzle_atom = 32` the
    swizzle keeps 32 bytes together, as `tcgen05.mma` reads tf32 that lies along M or N.
    """

    name = "cute_nvgpu.tma_descriptor"

    shape: ArrayAttr[IntAttr]
    element_type: Attribute
    swizzle: IntAttr
    swizzle_atom: IntAttr

    @classmethod
    def get(
        cls, shape: Sequence[int], element_type: Attribute, swizzle: int = 0, atom: int = CHUNK
    ) -> TmaDescriptorType:
        """The type of a box of those extents, outermost first."""
        extents = ArrayAttr(map(IntAttr, shape))
        return cls(extents, element_type, IntAttr(swizzle), IntAttr(atom))

    @property
    def box(self) -> TensorBox:
        """The box that each copy moves. Raises TensorMapError for no legal box."""
        return TensorBox(
            tuple(extent.data for extent in self.shape),
            tensor_element(str(self.element_type)),
            self.swizzle.data,
            self.swizzle_atom.data,
        )

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        shape, element = parser.parse_ranked_shape()
        numbers = {"swizzle": 0, "swizzle_atom": CHUNK}
        for label in numbers:
            if parser.parse_optional_punctuation(","):
                parse_label(parser, label)
                numbers[label] = parse_natural(parser)
        return [ArrayAttr(map(IntAttr, shape)), element, *map(IntAttr, numbers.values())]

    def print_inside(self, printer: Printer) -> None:
        for extent in self.shape:
            printer.print_string(f"{extent.data}x")
        printer.print_attribute(self.element_type)
        if self.swizzle.data:
            printer.print_string(f", swizzle = {self.swizzle.data}")
        if self.swizzle_atom.data != CHUNK:
            printer.print_string(f", swizzle_atom = {self.swizzle_atom.data}")

    def verify(self) -> None:
        try:
            _ = self.box
        except TensorMapError as error:
            raise VerifyException(f"tma_descriptor {error}") from None
