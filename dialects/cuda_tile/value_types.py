"""The types of CUDA Tile IR but for the views of tiles: see `types`."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import Any, TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, IntAttr, NoneAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.attributes import (
    PtrAttrAttr,
    chosen,
    numbers,
    values_of,
)
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, I4, types_of
from tilewright.dialects.cuda_tile.enums import PaddingValue, PtrAttr
from tilewright.dialects.cuda_tile.type_text import parse_type, print_type, shown
from tilewright.dialects.labelled import Bracketed, parse_label
from tilewright.dialects.once import once

DYNAMIC = DYNAMIC_INDEX
"""Stands for a size or a stride that is known at run time only, `?` in text."""

MAX_ELEMENTS = 16 * 1024 * 1024
"""The most elements that a tile may have."""

(_F4,) = types_of("f4E2M1FN")


def dims_text(dims: Sequence[int]) -> str:
    """`4x?x8`"""
    return "x".join("?" if dim == DYNAMIC else str(dim) for dim in dims)


_Type = TypeVar("_Type", bound="type[CudaTileType]")


def tile_type(class_: _Type) -> _Type:
    """Define a type whose hash is worked out once: verification looks ops up by their types."""
    defined: Any = irdl_attr_definition(class_)
    worked_out = defined.__hash__

    def kept(self: Any) -> int:
        known = self.__dict__.get("kept hash")
        if known is None:
            known = self.__dict__["kept hash"] = worked_out(self)
        return known

    defined.__hash__ = kept
    return defined


def _ptr_attr(attribute: StringAttr | NoneAttr) -> PtrAttr | None:
    return PtrAttr(attribute.data) if isinstance(attribute, StringAttr) else None


class CudaTileType(ParametrizedAttribute, TypeAttribute, ABC):
    """A type of this dialect."""


# A dataclass, as the types below are: parameters of a plain base would not be compared.
@dataclass(frozen=True, init=False)
class Shaped(CudaTileType, Bracketed, ABC):
    """A type with a shape."""

    dims: ArrayAttr[IntAttr]

    @once
    def shape(self) -> tuple[int, ...]:
        """The size of every dimension, `DYNAMIC` where it is not known."""
        return values_of(self.dims)

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.dims)


@tile_type
class PointerType(CudaTileType, Bracketed):
    """`!cuda_tile.ptr<f32>`: an address in global memory, of a number. Since 13.4 it may say what
    memory that is: `!cuda_tile.ptr<f32, #cuda_tile.ptr_attr<multicast>>`."""

    name = "cuda_tile.ptr"

    pointee_type: Attribute
    attribute: StringAttr | NoneAttr

    @property
    def ptr_attr(self) -> PtrAttr | None:
        """The kind of memory that it points to."""
        return _ptr_attr(self.attribute)

    @classmethod
    @cache
    def get(cls, pointee_type: Attribute, attribute: PtrAttr | None = None) -> PointerType:
        """The address of a `pointee_type`."""
        return cls(pointee_type, optional(attribute))

    def __reduce__(self) -> Any:
        return PointerType.get, (self.pointee_type, self.ptr_attr)

    def verify(self) -> None:
        if self.pointee_type not in ELEMENT_OF or self.pointee_type == I4:
            raise VerifyException(
                f"'{self.name}' expected a pointee that is a type of numbers, "
                f"got {shown(self.pointee_type)}"
            )

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        pointee = parse_type(parser)
        attribute = _parse_pointer_attribute(parser)
        return pointee, attribute

    def print_inside(self, printer: Printer) -> None:
        print_type(printer, self.pointee_type)
        _print_pointer_attribute(printer, self.attribute)


@tile_type
class TileType(Shaped):
    """`!cuda_tile.tile<4x8xf32>`: a value of numbers or pointers, row-major; scalars have rank 0.

    Every dimension is a power of two, the elements at most 2 ** 24.
    """

    name = "cuda_tile.tile"

    element_type: Attribute

    @classmethod
    @cache
    def get(cls, shape: tuple[int, ...], element_type: Attribute) -> TileType:
        """The tile of this shape. Raises VerifyException where there is none."""
        return cls(numbers(shape), element_type)

    def __reduce__(self) -> Any:
        return TileType.get, (self.shape, self.element_type)

    @once
    def elements(self) -> int:
        """How many elements it has."""
        return prod(self.shape)

    def with_element(self, element_type: Attribute) -> TileType:
        """The tile of the same shape, of other elements."""
        return TileType.get(self.shape, element_type)

    def verify(self) -> None:
        element = self.element_type
        if element not in ELEMENT_OF and not isinstance(element, PointerType):
            raise VerifyException(
                f"'{self.name}' expected elements that are numbers or pointers, "
                f"got {shown(element)}"
            )
        if element == _F4 and all(dim % 2 for dim in self.shape):
            raise VerifyException(
                f"'{self.name}' expected an even number of f4E2M1FN elements, "
                f"got {dims_text(self.shape) or 1}"
            )
        if self.shape and isinstance(element, PointerType) and element.pointee_type == _F4:
            raise VerifyException(
                f"'{self.name}' expected one pointer to f4E2M1FN, which has half a byte, "
                f"got {dims_text(self.shape)}; nearest legal: a view of them"
            )
        for dim in self.shape:
            if dim <= 0 or dim & (dim - 1):
                raise VerifyException(
                    f"'{self.name}' expected dimensions that are powers of two, "
                    f"got {dims_text(self.shape)}"
                )
        if self.elements > MAX_ELEMENTS:
            raise VerifyException(
                f"'{self.name}' expected at most {MAX_ELEMENTS} elements, "
                f"got {dims_text(self.shape)}"
            )

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        dims = parse_leading_dims(parser, allow_dynamic=False)
        return numbers(dims), parse_type(parser)

    def print_inside(self, printer: Printer) -> None:
        print_shape_and_element(printer, self.shape, self.element_type)


@tile_type
class TensorViewType(Shaped):
    """`!cuda_tile.tensor_view<?x64xf16, strides=[64,1]>`: a tensor in global memory.

    Sizes and strides are positive, the strides in elements; `?` is known at run time only.
    """

    name = "cuda_tile.tensor_view"

    element_type: Attribute
    steps: ArrayAttr[IntAttr]
    attribute: StringAttr | NoneAttr

    @classmethod
    @cache
    def get(
        cls,
        element_type: Attribute,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        attribute: PtrAttr | None = None,
    ) -> TensorViewType:
        """The tensor view. Raises VerifyException where there is none."""
        return cls(numbers(shape), element_type, numbers(strides), optional(attribute))

    @property
    def ptr_attr(self) -> PtrAttr | None:
        """The kind of memory that it is of."""
        return _ptr_attr(self.attribute)

    @once
    def strides(self) -> tuple[int, ...]:
        """Elements from one index to the next, `DYNAMIC` where it is not known."""
        return values_of(self.steps)

    def verify(self) -> None:
        if self.element_type not in ELEMENT_OF or self.element_type == I4:
            raise VerifyException(
                f"'{self.name}' expected elements that are numbers, got {shown(self.element_type)}"
            )
        if len(self.shape) != len(self.strides):
            raise VerifyException(
                f"'{self.name}' expected a stride for each of {len(self.shape)} dimensions, "
                f"got {len(self.strides)}"
            )
        for what, values in (("sizes", self.shape), ("strides", self.strides)):
            if any(value <= 0 and value != DYNAMIC for value in values):
                raise VerifyException(
                    f"'{self.name}' expected {what} of 1 or more, got {dims_text(values)}"
                )

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        dims = parse_leading_dims(parser, allow_dynamic=True)
        element = parse_type(parser)
        strides: list[int] = []
        if dims:
            parser.parse_punctuation(",", " and 'strides' of the tensor_view")
            parse_label(parser, "strides")
            strides = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: _parse_stride(parser)
            )
        attribute = _parse_pointer_attribute(parser)
        return numbers(dims), element, numbers(strides), attribute

    def print_inside(self, printer: Printer) -> None:
        print_shape_and_element(printer, self.shape, self.element_type)
        if self.shape:
            strides = ",".join("?" if s == DYNAMIC else str(s) for s in self.strides)
            printer.print_string(f", strides=[{strides}]")
        _print_pointer_attribute(printer, self.attribute)


@tile_type
class TokenType(CudaTileType):
    """`!cuda_tile.token`: no value, only the order of the memory operations it passes through."""

    name = "cuda_tile.token"


TOKEN = TokenType()


# --- text ---


def optional(value: PaddingValue | PtrAttr | None) -> StringAttr | NoneAttr:
    """A word as a parameter of a type that may be left out."""
    return NoneAttr() if value is None else StringAttr(value.value)


def parse_leading_dims(parser: AttrParser, *, allow_dynamic: bool) -> list[int]:
    """`4x8x` before an element type."""
    start = parser.pos
    dims = parser.parse_dimension_list()
    if DYNAMIC in dims and not allow_dynamic:
        parser.raise_error("expected static dimensions, got ?", start, parser.pos)
    if dims:
        parser.parse_shape_delimiter()
    return dims


def print_shape_and_element(printer: Printer, shape: Sequence[int], element: Attribute) -> None:
    """`4x8xf32`"""
    printer.print_string(dims_text(shape) + ("x" if shape else ""))
    print_type(printer, element)


def _parse_pointer_attribute(parser: AttrParser) -> Attribute:
    """`, #cuda_tile.ptr_attr<multicast>`, or its words alone."""
    if not parser.parse_optional_punctuation(","):
        return NoneAttr()
    start = parser.pos
    attribute = parser.parse_optional_attribute()
    if attribute is None:
        return StringAttr(PtrAttrAttr.parse_parameter(parser).value)
    choice = chosen(attribute, PtrAttr)
    if choice is None:
        parser.raise_error(f"expected a ptr_attr, got {attribute}", start, parser.pos)
    return StringAttr(choice.value)


def _print_pointer_attribute(printer: Printer, attribute: Attribute) -> None:
    if isinstance(attribute, StringAttr):
        printer.print_string(f", #cuda_tile.ptr_attr<{attribute.data}>")


def _parse_stride(parser: AttrParser) -> int:
    if parser.parse_optional_punctuation("?"):
        return DYNAMIC
    start = parser.pos
    stride = parser.parse_optional_integer(allow_boolean=False)
    if stride is None or stride <= 0:
        got = "none" if stride is None else stride
        parser.raise_error(f"expected a stride of 1 or more, or ?, got {got}", start, parser.pos)
    return stride
