"""Types of tensors.

!cute.memref<f16, gmem, align<16>, "(?,64):(?{i64 div=8},1)">    elements in memory, or registers
!cute.coord_tensor<"(0,?)", "(128,32):(1@0,1@1)">                coordinates of elements
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, StringAttr
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cute.tensor import (
    SPACES,
    CoordTensor,
    Tensor,
    element_bits,
    natural_alignment,
    read_layout,
)
from tilewright.dialects.cute.types.algebra import TextAttribute, built_by
from tilewright.dialects.cute.values import fault, read_typed
from tilewright.dialects.cute_nvgpu.lattice.targets import BASELINE, Requirement
from tilewright.dialects.cute_nvgpu.lattice.tmem import TMEM_ALLOC
from tilewright.dialects.labelled import parse_natural, parse_word
from tilewright.dialects.reading import legal_text, read_text


@cache
def element_type(spelled: str) -> Attribute:
    """MLIR's type of an element that is spelled so."""
    context = Context()
    context.load_dialect(Builtin)
    return Parser(context, spelled).parse_type()


class TensorType(TextAttribute, TypeAttribute, ABC):
    """A tensor's type, its one parameter being how the tensor is written."""

    @classmethod
    @abstractmethod
    def read(cls, parser: AttrParser) -> Tensor | CoordTensor:
        """The tensor between the angle brackets."""

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [StringAttr(str(cls.read(parser)))]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.text.data)

    def verify(self) -> None:
        if (reason := fault(self.kind(), self.text.data)) is not None:
            raise VerifyException(f"{self.kind()} {reason}")


@irdl_attr_definition
class MemRefType(TensorType):
    """Elements: their type, where they are, what divides the address of the first of them in bytes
    (where it is left out, the size of an element), and their layout.

    `!cute.memref<f16, smem, align<128>, "S<3,3,3> o 0 o (64,64):(64,1)">`
    """

    name = "cute.memref"

    @property
    def tensor(self) -> Tensor:
        """The tensor of this type."""
        return self.typed.value

    def requirement(self) -> Requirement:
        """That of the memory that holds it: tensor memory is not everywhere."""
        return Requirement.of(TMEM_ALLOC) if self.tensor.space == "tmem" else BASELINE

    @property
    def element_type(self) -> Attribute:
        """The type of an element."""
        return element_type(self.tensor.element)

    @classmethod
    def get(cls, tensor: Tensor) -> MemRefType:
        """The type of a tensor. Raises VerifyException."""
        type_ = _tensor_type(cls, str(tensor))
        assert isinstance(type_, MemRefType)
        return type_

    @classmethod
    def read(cls, parser: AttrParser) -> Tensor:
        with legal_text(parser):
            element = str(parser.parse_type())
            element_bits(element)
        parser.parse_punctuation(",")
        space = parse_word(parser, SPACES, "memory space")
        parser.parse_punctuation(",")
        align = natural_alignment(element)
        if parser.parse_optional_keyword("align"):
            with parser.in_angle_brackets():
                align = parse_natural(parser)
            parser.parse_punctuation(",")
        return Tensor(element, space, align, read_text(parser, "layout", read_layout))


@irdl_attr_definition
class CoordTensorType(TensorType):
    """Coordinates: where they start, and a layout whose strides are bases.

    `!cute.coord_tensor<"(0,?)", "(128,32):(1@0,1@1)">`
    """

    name = "cute.coord_tensor"

    @classmethod
    def read(cls, parser: AttrParser) -> CoordTensor:
        start = read_value(parser, "int_tuple")
        parser.parse_punctuation(",")
        return CoordTensor(start, read_value(parser, "layout"))


def read_value(parser: AttrParser, kind: str) -> Any:
    """A value of a kind as a string literal."""
    return read_text(parser, kind, lambda text: read_typed(kind, text).value)


@cache
def _tensor_type(kind: type[TensorType], text: str) -> TensorType:
    return kind(StringAttr(text))


for _kind in (MemRefType, CoordTensorType):
    built_by(_kind.kind(), lambda typed, kind=_kind: _tensor_type(kind, typed.text))
