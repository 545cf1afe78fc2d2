"""The types of Triton's TTIR, beside builtin tensors and numbers: pointers, tensor descriptors.

!tt.ptr<f32>                            an address in global memory, `!tt.ptr<f32, 3>` in another
tensor<128x!tt.ptr<f32>>                many
!tt.ptr<tensor<16x16xf16>>              a block of a tensor in memory
!tt.tensordesc<tensor<16x16xf16>>       a tensor in memory, as blocks
!tt.tensordesc<16x16xf16>               the same, as Triton has it since 3.8
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    I32,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    StringAttr,
    TensorType,
    UnitAttr,
    i1,
    i32,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.hints import isa

from tilewright.dialects.labelled import Bracketed, parse_label

GLOBAL = IntegerAttr(1, i32)
"""The address space that text leaves out."""
_WRAPPED = NoneAttr()


@irdl_attr_definition
class PointerType(Bracketed, TypeAttribute):
    """`!tt.ptr<f32>`: an address of something of the pointee's type."""

    name = "tt.ptr"

    pointee_type: Attribute
    address_space: IntegerAttr[I32]

    @classmethod
    def of(cls, pointee_type: Attribute) -> "PointerType":
        """A pointer to global memory."""
        return cls(pointee_type, GLOBAL)

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        pointee, space = parser.parse_type(), GLOBAL
        if parser.parse_optional_punctuation(","):
            space = IntegerAttr(parser.parse_integer(allow_boolean=False), i32)
        return pointee, space

    def print_inside(self, printer: Printer) -> None:
        printer.print_attribute(self.pointee_type)
        if self.address_space != GLOBAL:
            printer.print_string(f", {self.address_space.value.data}")


@irdl_attr_definition
class TensorDescType(Bracketed, TypeAttribute):
    """`!tt.tensordesc<tensor<16x16xf16>>`: a tensor in memory, loaded and stored as blocks.
    Integers say whether they are signed. It is `bare` if its text is `<16x16xf16>`."""

    name = "tt.tensordesc"

    block_type: TensorType[Attribute]
    bare: UnitAttr | NoneAttr

    def __init__(self, block_type: TensorType[Attribute], bare: UnitAttr | NoneAttr = _WRAPPED):
        super().__init__(block_type, bare)

    @property
    def signless_block_type(self) -> TensorType[Attribute]:
        """The type of a block that is loaded or stored."""
        element: Attribute = self.block_type.element_type
        if isa(element, IntegerType):
            element = IntegerType(element.width.data)
        return TensorType(element, self.block_type.shape, self.block_type.encoding)

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        start, bare = parser.pos, NoneAttr()
        block: Attribute | None = parser.parse_optional_type()
        if block is None:
            bare = UnitAttr()
            shape = parser.parse_dimension_list()
            parser.parse_shape_delimiter()
            block = TensorType(parser.parse_type(), shape)
        if not isinstance(block, TensorType):
            parser.raise_error(f"expected a tensor as its block, got {block}", start)
        return block, bare  # pyright: ignore[reportUnknownVariableType]

    def print_inside(self, printer: Printer) -> None:
        if isinstance(self.bare, NoneAttr):
            printer.print_attribute(self.block_type)
        else:
            printer.print_string("".join(f"{dim}x" for dim in self.block_type.get_shape()))
            printer.print_attribute(self.block_type.element_type)


@irdl_attr_definition
class CachePolicyAttr(ParametrizedAttribute):
    """`#tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>`, since Triton 3.9."""

    name = "tt.cache_policy"

    cache_modifier: StringAttr
    eviction_policy: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        words: list[Attribute] = []
        with parser.in_angle_brackets():
            for name in ("cache_modifier", "eviction_policy"):
                if words:
                    parser.parse_punctuation(",")
                parse_label(parser, name)
                words.append(StringAttr(parser.parse_identifier()))
        return words

    def print_parameters(self, printer: Printer) -> None:
        modifier, eviction = self.cache_modifier.data, self.eviction_policy.data
        printer.print_string(f"<cache_modifier = {modifier}, eviction_policy = {eviction}>")


# --- what follows from a type ---


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The shape of a tensor, () of one element."""
    return type_.get_shape() if isinstance(type_, TensorType) else ()


def element_of(type_: Attribute) -> Attribute:
    """The type of a tensor's elements, of one element its own."""
    return type_.element_type if isinstance(type_, TensorType) else type_  # pyright: ignore


def with_element(type_: Attribute, element: Attribute) -> Attribute:
    """The type of the same shape, of other elements."""
    if isinstance(type_, TensorType):
        return TensorType(element, type_.shape, type_.encoding)  # pyright: ignore
    return element


def mask_of(type_: Attribute) -> Attribute:
    """The mask for a value."""
    return with_element(type_, i1)


def pointee_of(type_: Attribute) -> Attribute:
    """The values that pointers load: of a tensor of them a tensor, of one to a block that block."""
    pointer = element_of(type_)
    assert isinstance(pointer, PointerType)
    return with_element(type_, pointer.pointee_type)


def pointers_to(type_: Attribute) -> Attribute:
    """The pointers by which a value is loaded, one for each of its elements."""
    return with_element(type_, PointerType.of(element_of(type_)))
