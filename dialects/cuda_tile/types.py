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

from xdsl.dialects.builtin import ArrayAttr, IntAttr, NoneAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF, Float8E5M3FNUType
from tilewright.dialects.cuda_tile.enums import PaddingValue
from tilewright.dialects.cuda_tile.type_text import (
    parse_type,
    print_type,
    readable_without_prefix,
    shown,
)
from tilewright.dialects.cuda_tile.value_types import (
    DYNAMIC,
    MAX_ELEMENTS,
    TOKEN,
    CudaTileType,
    PointerType,
    Shaped,
    TensorViewType,
    TileType,
    TokenType,
    dims_text,
    numbers,
    optional,
    tile_type,
    values_of,
)
from tilewright.dialects.labelled import Bracketed, parse_label
from tilewright.dialects.once import once

__all__ = [
    "DYNAMIC", "MAX_ELEMENTS", "TOKEN", "TYPES", "CudaTileType", "GatherScatterViewType",
    "MappedView", "PartitionViewType", "PointerType", "Shaped", "StridedViewType",
    "TensorViewType", "TileType", "TileView", "TokenType",
]  # fmt: skip


@dataclass(frozen=True, init=False)
class TileView(CudaTileType, Bracketed, ABC):
    """A tensor view as a space of tiles: an index per dimension names the tile to load or store."""

    tile_dims: ArrayAttr[IntAttr]
    tensor_view: TensorViewType
    padding: StringAttr | NoneAttr

    @once
    def tile_shape(self) -> tuple[int, ...]:
        """The shape of every tile."""
        return values_of(self.tile_dims)

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
        """The elements that loads give outside of the tensor; None where that is not defined."""
        return None if isinstance(self.padding, NoneAttr) else PaddingValue(self.padding.data)

    def wrong_index(self, types: Sequence[Attribute]) -> str | None:
        """The fault of the types of indices, as `expected RULE, got VALUE`, or None."""
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

    def print_inside(self, printer: Printer) -> None:
        padding = self.padding_value
        printer.print_string(f"tile=({dims_text(self.tile_shape)}), {self._behind_tile()}")
        printer.print_string(f"padding_value = {padding.value}, " if padding else "")
        print_type(printer, self.tensor_view)
        printer.print_string(self._behind_tensor())

    def _behind_tile(self) -> str:
        """The text between its tile and its padding."""
        return ""

    @abstractmethod
    def _behind_tensor(self) -> str:
        """The text behind its tensor view."""

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
        return values_of(self.maps)

    def _verify_own(self) -> None:
        rank = self.index_rank
        if sorted(self.dim_map) != list(range(rank)):
            raise VerifyException(
                f"'{self.name}' expected dim_map to hold each of 0 to {rank - 1} once, "
                f"got {list(self.dim_map)}"
            )

    def _behind_tensor(self) -> str:
        usual = self.dim_map == tuple(range(self.index_rank))
        return "" if usual else f", dim_map={list(self.dim_map)}"


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
        return cls(numbers(tile_shape), tensor_view, optional(padding_value), numbers(maps))

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        tile, padding, view = _parse_view(parser)
        maps = _parse_dim_map(parser, len(tile))
        return numbers(tile), view, padding, numbers(maps)


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
            numbers(tile_shape),
            tensor_view,
            optional(padding_value),
            numbers(maps),
            numbers(traversal_strides),
        )

    @once
    def traversal_strides(self) -> tuple[int, ...]:
        """Elements of the tensor from one tile to the next, for each dimension of a tile."""
        return values_of(self.steps)

    def _behind_tile(self) -> str:
        return f"traversal_strides=[{','.join(map(str, self.traversal_strides))}], "

    def _verify_own(self) -> None:
        super()._verify_own()
        if len(self.traversal_strides) != self.index_rank:
            raise VerifyException(
                f"'{self.name}' expected {self.index_rank} traversal_strides, "
                f"got {len(self.traversal_strides)}"
            )
        if any(not 0 < stride < 1 << 31 for stride in self.traversal_strides):
            raise VerifyException(
                f"'{self.name}' expected traversal_strides of 1 to {(1 << 31) - 1}, "
                f"got {list(self.traversal_strides)}"
            )

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        tile = _parse_tile_shape(parser)
        parse_label(parser, "traversal_strides")
        steps = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
        parser.parse_punctuation(",")
        padding, view = _parse_padding_and_view(parser)
        maps = _parse_dim_map(parser, len(tile))
        return numbers(tile), view, padding, numbers(maps), numbers(steps)


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
        return cls(numbers(tile_shape), tensor_view, optional(padding_value), IntAttr(sparse_dim))

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

    def _behind_tensor(self) -> str:
        return f", sparse_dim={self.sparse_dim}"

    def _verify_own(self) -> None:
        if not 0 <= self.sparse_dim < self.tensor_view.rank:
            raise VerifyException(
                f"'{self.name}' expected sparse_dim of 0 to {self.tensor_view.rank - 1}, "
                f"got {self.sparse_dim}"
            )

    @classmethod
    def parse_inside(cls, parser: AttrParser) -> Sequence[Attribute]:
        tile, padding, view = _parse_view(parser)
        parser.parse_punctuation(",")
        parse_label(parser, "sparse_dim")
        sparse = IntAttr(parser.parse_integer())
        return numbers(tile), view, padding, sparse


TYPES: list[type[CudaTileType] | type[Float8E5M3FNUType]] = [
    PointerType, TileType, TensorViewType, PartitionViewType, StridedViewType,
    GatherScatterViewType, TokenType, Float8E5M3FNUType,
]  # fmt: skip


# --- text ---


def _parse_tile_shape(parser: AttrParser) -> list[int]:
    """`tile=(4x8),`"""
    parse_label(parser, "tile")
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
    if parser.parse_optional_keyword("padding_value"):
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
    if not parser.parse_optional_punctuation(","):
        return list(range(rank))
    parse_label(parser, "dim_map")
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)


def _short_reader(type_: type[ParametrizedAttribute]):
    def parse(parser: AttrParser) -> Attribute:
        return type_.new(type_.parse_parameters(parser))

    return parse


for _type in TYPES:
    readable_without_prefix(_type.name.removeprefix("cuda_tile."), _short_reader(_type))
