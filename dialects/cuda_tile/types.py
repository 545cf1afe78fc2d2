"""The types of CUDA Tile IR: tiles, pointers, tensor views, the views that cut them into tiles.

!cuda_tile.tile<4x8xf32>                                        a value: 4 x 8 numbers
!cuda_tile.tile<4x!cuda_tile.ptr<i8>>                           four addresses
!cuda_tile.tensor_view<?x64xf16, strides=[64,1]>                a tensor in global memory
!cuda_tile.partition_view<tile=(4x8), tensor_view<64x64xf16, strides=[64,1]>>   its tiles
!cuda_tile.token                                                an order of memory operations

Within another type or an op the prefix `!cuda_tile.` may be left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import prod
from typing import TypeVar

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    IntAttr,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.attributes import PtrAttrAttr
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, I4, Float8E5M3FNUType, types_of
from tilewright.dialects.cuda_tile.enums import PaddingValue, PtrAttr
from tilewright.dialects.cuda_tile.once import once
from tilewright.dialects.cuda_tile.type_text import (
    parse_type,
    print_type,
    readable_without_prefix,
    shown,
)

DYNAMIC = DYNAMIC_INDEX
"""Stands for a size or a stride that is known at run time only, `?` in text."""

MAX_ELEMENTS = 16 * 1024 * 1024
"""The most elements that a tile may have."""

(_F4,) = types_of("f4E2M1FN")


def _numbers(values: Sequence[int]) -> ArrayAttr[IntAttr]:
    return ArrayAttr([IntAttr(value) for value in values])


def _values(numbers: ArrayAttr[IntAttr]) -> tuple[int, ...]:
    return tuple(number.data for number in numbers.data)


def _dims(dims: Sequence[int]) -> str:
    return "x".join("?" if dim == DYNAMIC else str(dim) for dim in dims)


_Type = TypeVar("_Type", bound="type[CudaTileType]")


def tile_type(class_: _Type) -> _Type:
    """Define a type whose hash is worked out once: verification looks ops up by their types."""
    defined = irdl_attr_definition(class_)
    worked_out = defined.__hash__

    def kept(self: CudaTileType) -> int:
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
class Shaped(CudaTileType, ABC):
    """A type with a shape."""

    dims: ArrayAttr[IntAttr]

    @once
    def shape(self) -> tuple[int, ...]:
        """The size of every dimension, `DYNAMIC` where it is not known."""
        return _values(self.dims)

    @property
    def rank(self) -> int:
        """How many dimensions it has."""
        return len(self.dims)


@tile_type
class PointerType(CudaTileType):
    """`!cuda_tile.ptr<f32>`: an address in global memory, of a number. Since 13.4 it may say what
    memory that is: `!cuda_tile.ptr<f32, #cuda_tile.ptr_attr<multicast>>`."""

    name = "cuda_tile.ptr"

    pointee_type: Attribute
    attribute: StringAttr | NoneAttr

    @property
    def ptr_attr(self) -> PtrAttr | None:
        """What memory it points to."""
        return _ptr_attr(self.attribute)

    @classmethod
    @cache
    def get(cls, pointee_type: Attribute, attribute: PtrAttr | None = None) -> PointerType:
        """The address of a `pointee_type`."""
        return cls(pointee_type, _optional(attribute))

    def verify(self) -> None:
        if self.pointee_type not in ELEMENT_OF or self.pointee_type == I4:
            raise VerifyException(
                f"'{self.name}' expected a pointee that is a type of numbers, "
                f"got {shown(self.pointee_type)}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            pointee = parse_type(parser)
            attribute = _parse_pointer_attribute(parser)
        return pointee, attribute

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
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
        return cls(_numbers(shape), element_type)

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
                f"got {_dims(self.shape) or 1}"
            )
        for dim in self.shape:
            if dim <= 0 or dim & (dim - 1):
                raise VerifyException(
                    f"'{self.name}' expected dimensions that are powers of two, "
                    f"got {_dims(self.shape)}"
                )
        if self.elements > MAX_ELEMENTS:
            raise VerifyException(
                f"'{self.name}' expected at most {MAX_ELEMENTS} elements, got {_dims(self.shape)}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            dims = _parse_leading_dims(parser, allow_dynamic=False)
            return _numbers(dims), parse_type(parser)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_shape_and_element(printer, self.shape, self.element_type)


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
        return cls(_numbers(shape), element_type, _numbers(strides), _optional(attribute))

    @property
    def ptr_attr(self) -> PtrAttr | None:
        """What memory it is of."""
        return _ptr_attr(self.attribute)

    @once
    def strides(self) -> tuple[int, ...]:
        """Elements from one index to the next, `DYNAMIC` where it is not known."""
        return _values(self.steps)

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
                    f"'{self.name}' expected {what} of 1 or more, got {_dims(values)}"
                )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            dims = _parse_leading_dims(parser, allow_dynamic=True)
            element = parse_type(parser)
            strides: list[int] = []
            if dims:
                parser.parse_punctuation(",", " and 'strides' of the tensor_view")
                _parse_label(parser, "strides")
                strides = parser.parse_comma_separated_list(
                    parser.Delimiter.SQUARE, lambda: _parse_stride(parser)
                )
            attribute = _parse_pointer_attribute(parser)
        return _numbers(dims), element, _numbers(strides), attribute

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            _print_shape_and_element(printer, self.shape, self.element_type)
            if self.shape:
                strides = ",".join("?" if s == DYNAMIC else str(s) for s in self.strides)
                printer.print_string(f", strides=[{strides}]")
            _print_pointer_attribute(printer, self.attribute)


@dataclass(frozen=True, init=False)
class TileView(CudaTileType, ABC):
    """A tensor view as a space of tiles: an index per dimension names the tile to load or store."""

    tile_dims: ArrayAttr[IntAttr]
    tensor_view: TensorViewType
    padding: StringAttr | NoneAttr

    @once
    def tile_shape(self) -> tuple[int, ...]:
        """The shape of every tile."""
        return _values(self.tile_dims)

    @property
    def index_rank(self) -> int:
        """How many indices name a tile."""
        return len(self.tile_dims)

    @once
    def tile_type(self) -> TileType:
        """The type of every tile."""
        return TileType.get(self.tile_shape, self.tensor_view.element_type)

    @property
    def padding_value(self) -> PaddingValue | None:
        """What loads give outside of the tensor; None where that is not defined."""
        return None if isinstance(self.padding, NoneAttr) else PaddingValue(self.padding.data)

    def wrong_index(self, types: Sequence[Attribute]) -> str | None:
        """What is wrong with the types of indices, as `expected RULE, got VALUE`, or None."""
        for i, type_ in enumerate(types):
            if not isinstance(type_, TileType) or type_.rank:
                return f"expected index {i} to be a scalar tile, got {shown(type_)}"
            if type_ != types[0]:
                return f"expected index {i} to be {shown(types[0])} as index 0, got {shown(type_)}"
        return None

    def verify(self) -> None:
        if not self.tile_shape:
            raise VerifyException(f"'{self.name}' expected tiles of rank 1 or more, got rank 0")
        if len(self.tile_shape) != self.tensor_view.rank:
            raise VerifyException(
                f"'{self.name}' expected tiles of rank {self.tensor_view.rank} as the tensor_view, "
                f"got rank {len(self.tile_shape)}"
            )
        self._verify_own()
        padding = self.padding_value
        element = ELEMENT_OF[self.tensor_view.element_type]
        if padding not in (None, PaddingValue.ZERO) and not element.is_float:
            raise VerifyException(
                f"'{self.name}' expected padding_value zero, got {padding.value if padding else ''}"
                f" (elements are {shown(element.type)}, not floating-point numbers)"
            )
        _ = self.tile_type

    @abstractmethod
    def _verify_own(self) -> None:
        """Raise VerifyException where the other parameters are wrong."""


@dataclass(frozen=True, init=False)
class MappedView(TileView, ABC):
    """A view whose tile dimension i lies along dimension `dim_map[i]` of the tensor."""

    maps: ArrayAttr[IntAttr]

    @once
    def dim_map(self) -> tuple[int, ...]:
        """The dimension of the tensor that each dimension of a tile lies along."""
        return _values(self.maps)

    def _verify_own(self) -> None:
        rank = self.index_rank
        if sorted(self.dim_map) != list(range(rank)):
            raise VerifyException(
                f"'{self.name}' expected dim_map to hold each of 0 to {rank - 1} once, "
                f"got {list(self.dim_map)}"
            )

    def _print_dim_map(self, printer: Printer) -> None:
        if self.dim_map != tuple(range(len(self.dim_map))):
            printer.print_string(f", dim_map={list(self.dim_map)}")


@tile_type
class PartitionViewType(MappedView):
    """`!cuda_tile.partition_view<tile=(4x2), tensor_view<64x16xf32, strides=[16,1]>>`: a grid of
    tiles that touch and do not overlap. `padding_value = zero,` stands before the tensor_view,
    `, dim_map=[1, 0]` behind it."""

    name = "cuda_tile.partition_view"

    @classmethod
    @cache
    def get(
        cls,
        tile_shape: tuple[int, ...],
        tensor_view: TensorViewType,
        dim_map: tuple[int, ...] | None = None,
        padding_value: PaddingValue | None = None,
    ) -> PartitionViewType:
        """The view; the dimensions of tile and tensor are the same where no map is given."""
        maps = tuple(range(len(tile_shape))) if dim_map is None else dim_map
        return cls(_numbers(tile_shape), tensor_view, _optional(padding_value), _numbers(maps))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            tile, padding, view = _parse_view(parser)
            maps = _parse_dim_map(parser, len(tile))
        return _numbers(tile), view, padding, _numbers(maps)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"tile=({_dims(self.tile_shape)}), ")
            _print_padding_and_view(printer, self)
            self._print_dim_map(printer)


@tile_type
class StridedViewType(MappedView):
    """`!cuda_tile.strided_view<tile=(4x2), traversal_strides=[4,3], tensor_view<...>>`: tiles that
    lie `traversal_strides` elements apart, with gaps or overlapping. Since 13.3."""

    name = "cuda_tile.strided_view"

    steps: ArrayAttr[IntAttr]

    @classmethod
    @cache
    def get(
        cls,
        tile_shape: tuple[int, ...],
        traversal_strides: tuple[int, ...],
        tensor_view: TensorViewType,
        dim_map: tuple[int, ...] | None = None,
        padding_value: PaddingValue | None = None,
    ) -> StridedViewType:
        """The view; the dimensions of tile and tensor are the same where no map is given."""
        maps = tuple(range(len(tile_shape))) if dim_map is None else dim_map
        return cls(
            _numbers(tile_shape),
            tensor_view,
            _optional(padding_value),
            _numbers(maps),
            _numbers(traversal_strides),
        )

    @once
    def traversal_strides(self) -> tuple[int, ...]:
        """Elements of the tensor from one tile to the next, for each dimension of a tile."""
        return _values(self.steps)

    def _verify_own(self) -> None:
        super()._verify_own()
        if len(self.traversal_strides) != self.index_rank:
            raise VerifyException(
                f"'{self.name}' expected {self.index_rank} traversal_strides, "
                f"got {len(self.traversal_strides)}"
            )
        if any(stride <= 0 for stride in self.traversal_strides):
            raise VerifyException(
                f"'{self.name}' expected traversal_strides of 1 or more, "
                f"got {list(self.traversal_strides)}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            tile = _parse_tile_shape(parser)
            _parse_label(parser, "traversal_strides")
            steps = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
            parser.parse_punctuation(",")
            padding, view = _parse_padding_and_view(parser)
            maps = _parse_dim_map(parser, len(tile))
        return _numbers(tile), view, padding, _numbers(maps), _numbers(steps)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            steps = ",".join(map(str, self.traversal_strides))
            printer.print_string(f"tile=({_dims(self.tile_shape)}), traversal_strides=[{steps}], ")
            _print_padding_and_view(printer, self)
            self._print_dim_map(printer)


@tile_type
class GatherScatterViewType(TileView):
    """`!cuda_tile.gather_scatter_view<tile=(8x16), tensor_view<...>, sparse_dim=0>`: tiles whose
    index along `sparse_dim` is a tile of row numbers. Since 13.3."""

    name = "cuda_tile.gather_scatter_view"

    sparse: IntAttr

    @classmethod
    @cache
    def get(
        cls,
        tile_shape: tuple[int, ...],
        tensor_view: TensorViewType,
        sparse_dim: int,
        padding_value: PaddingValue | None = None,
    ) -> GatherScatterViewType:
        """The view. Raises VerifyException where there is none."""
        return cls(_numbers(tile_shape), tensor_view, _optional(padding_value), IntAttr(sparse_dim))

    @property
    def sparse_dim(self) -> int:
        """The dimension that is gathered or scattered."""
        return self.sparse.data

    def wrong_index(self, types: Sequence[Attribute]) -> str | None:
        dense = [type_ for i, type_ in enumerate(types) if i != self.sparse_dim]
        rows = types[self.sparse_dim]
        wanted = (self.tile_shape[self.sparse_dim],)
        if not isinstance(rows, TileType) or rows.shape != wanted:
            return (
                f"expected index {self.sparse_dim} (sparse_dim) to be a tile of {wanted[0]} "
                f"numbers, got {shown(rows)}"
            )
        return super().wrong_index(dense)

    def _verify_own(self) -> None:
        if not 0 <= self.sparse_dim < self.tensor_view.rank:
            raise VerifyException(
                f"'{self.name}' expected sparse_dim of 0 to {self.tensor_view.rank - 1}, "
                f"got {self.sparse_dim}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            tile, padding, view = _parse_view(parser)
            parser.parse_punctuation(",")
            _parse_label(parser, "sparse_dim")
            sparse = IntAttr(parser.parse_integer())
        return _numbers(tile), view, padding, sparse

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"tile=({_dims(self.tile_shape)}), ")
            _print_padding_and_view(printer, self)
            printer.print_string(f", sparse_dim={self.sparse_dim}")


@tile_type
class TokenType(CudaTileType):
    """`!cuda_tile.token`: no value, only the order of the memory operations it passes through."""

    name = "cuda_tile.token"


TOKEN = TokenType()

TYPES: list[type[CudaTileType] | type[Float8E5M3FNUType]] = [
    PointerType,
    TileType,
    TensorViewType,
    PartitionViewType,
    StridedViewType,
    GatherScatterViewType,
    TokenType,
    Float8E5M3FNUType,
]


# --- text ---


def _optional(value: PaddingValue | PtrAttr | None) -> StringAttr | NoneAttr:
    return NoneAttr() if value is None else StringAttr(value.value)


def _parse_label(parser: AttrParser, label: str) -> None:
    """`label=`"""
    parser.parse_keyword(label)
    parser.parse_punctuation("=")


def _parse_leading_dims(parser: AttrParser, *, allow_dynamic: bool) -> list[int]:
    """`4x8x` before an element type."""
    start = parser.pos
    dims = parser.parse_dimension_list()
    if DYNAMIC in dims and not allow_dynamic:
        parser.raise_error("expected static dimensions, got ?", start, parser.pos)
    if dims:
        parser.parse_shape_delimiter()
    return dims


def _print_shape_and_element(printer: Printer, shape: Sequence[int], element: Attribute) -> None:
    printer.print_string(_dims(shape) + ("x" if shape else ""))
    print_type(printer, element)


def _parse_stride(parser: AttrParser) -> int:
    if parser.parse_optional_punctuation("?") is not None:
        return DYNAMIC
    start = parser.pos
    stride = parser.parse_optional_integer(allow_boolean=False)
    if stride is None or stride <= 0:
        got = "none" if stride is None else stride
        parser.raise_error(f"expected a stride of 1 or more, or ?, got {got}", start, parser.pos)
    return stride


def _parse_tile_shape(parser: AttrParser) -> list[int]:
    """`tile=(4x8),`"""
    _parse_label(parser, "tile")
    start = parser.pos
    with parser.in_parens():
        dims = parser.parse_dimension_list()
    for dim in dims:
        if not 0 < dim < 1 << 31:
            parser.raise_error(
                f"expected tile dimensions of 1 to {(1 << 31) - 1}, got {dim}", start, parser.pos
            )
    parser.parse_punctuation(",")
    return dims


def _parse_padding_and_view(parser: AttrParser) -> tuple[Attribute, Attribute]:
    """`padding_value = zero, tensor_view<...>`, the padding optional."""
    padding: Attribute = NoneAttr()
    if parser.parse_optional_keyword("padding_value") is not None:
        parser.parse_punctuation("=")
        padding = StringAttr(parser.parse_str_enum(PaddingValue).value)
        parser.parse_punctuation(",")
    start = parser.pos
    view = parse_type(parser)
    if not isinstance(view, TensorViewType):
        parser.raise_error(f"expected a tensor_view, got {shown(view)}", start, parser.pos)
    return padding, view


def _parse_view(parser: AttrParser) -> tuple[list[int], Attribute, Attribute]:
    tile = _parse_tile_shape(parser)
    return tile, *_parse_padding_and_view(parser)


def _parse_dim_map(parser: AttrParser, rank: int) -> list[int]:
    if parser.parse_optional_punctuation(",") is None:
        return list(range(rank))
    _parse_label(parser, "dim_map")
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)


def _print_padding_and_view(printer: Printer, view: TileView) -> None:
    if (padding := view.padding_value) is not None:
        printer.print_string(f"padding_value = {padding.value}, ")
    print_type(printer, view.tensor_view)


def _parse_pointer_attribute(parser: AttrParser) -> Attribute:
    """`, #cuda_tile.ptr_attr<multicast>`, or its words alone."""
    if parser.parse_optional_punctuation(",") is None:
        return NoneAttr()
    start = parser.pos
    attribute = parser.parse_optional_attribute()
    if attribute is None:
        return StringAttr(PtrAttrAttr.parse_parameter(parser).value)
    if not isinstance(attribute, PtrAttrAttr):
        parser.raise_error(f"expected a ptr_attr, got {attribute}", start, parser.pos)
    return StringAttr(attribute.data.value)


def _print_pointer_attribute(printer: Printer, attribute: Attribute) -> None:
    if isinstance(attribute, StringAttr):
        printer.print_string(f", #cuda_tile.ptr_attr<{attribute.data}>")


def _short_reader(type_: type[ParametrizedAttribute]):
    def parse(parser: AttrParser) -> Attribute:
        return type_.new(type_.parse_parameters(parser))

    return parse


for _type in TYPES:
    readable_without_prefix(_type.name.removeprefix("cuda_tile."), _short_reader(_type))
