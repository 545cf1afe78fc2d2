"""Tiles as a whole: constants, parts, shapes. Tile IR specification, core."""

from typing import Any

from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, var_operand_def

from tilewright.dialects.accepts import instance_of, integer, list_of
from tilewright.dialects.cuda_tile.constraints import (
    ANY_NUMBER_TILE,
    I1_TILE,
    I8_TILE,
    INT_TILE,
    NUMBER_TILE,
    POINTER_TILE,
    SCALAR_I32,
    TILE,
)
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, PureOp, tile_op
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cuda_tile.versions import V13_3, V13_4

ELEMENTS = instance_of("the elements of a tile", ElementsAttr)


def tiles(*values: SSAValue) -> list[TileType]:
    """The types of values that are tiles."""
    return [value.type for value in values if isinstance(value.type, TileType)]


def verify_parts(op: CudaTileOp, small: str, part: SSAValue, large: str, whole: SSAValue) -> None:
    """Raise VerifyException where indices do not name parts of a tile."""
    one, all_ = tiles(part, whole)
    for i, (size, total) in enumerate(zip(one.shape, all_.shape, strict=True)):
        if total % size:
            raise op.fail(
                f"dimension {i} of {small} to divide that of {large}, got {shown(one)} and "
                f"{shown(all_)}"
            )
    indices = len(op.values_of("indices"))
    if indices != all_.rank:
        raise op.fail(f"{all_.rank} indices as {large} has dimensions, got {indices}")


@tile_op("cuda_tile.broadcast", 0x0B)
class BroadcastOp(PureOp):
    """Dimensions of 1 repeated: `broadcast %x : tile<1x4xf32> -> tile<8x4xf32>`."""

    SAME_ELEMENTS = "source result"
    SAME_RANKS = "source result"

    source = operand_def(TILE)
    result = result_def(TILE)

    def verify_types(self) -> None:
        source, result = tiles(self.source, self.result)
        pairs = zip(source.shape, result.shape, strict=True)
        if any(dim not in (1, wanted) for dim, wanted in pairs):
            raise self.fail(
                f"source of 1 or as many elements as the result along each dimension, "
                f"got {shown(source)} and {shown(result)}"
            )


@tile_op("cuda_tile.cat", 0x0C)
class CatOp(PureOp):
    """Two tiles as one: `cat %x, %y dim = 0 : tile<2x4xf32>, tile<2x4xf32> -> tile<4x4xf32>`."""

    assembly_format = "$lhs `,` $rhs `dim` `=` $dim"
    SAME_ELEMENTS = "lhs rhs result"
    SAME_RANKS = "lhs rhs result"

    lhs = operand_def(TILE)
    rhs = operand_def(TILE)
    dim = prop_def(integer(64))
    result = result_def(TILE)

    def verify_types(self) -> None:
        lhs, rhs, result = tiles(self.lhs, self.rhs, self.result)
        dim = self.dim.value.data  # pyright: ignore
        if not 0 <= dim < lhs.rank:
            raise self.fail(f"dim of 0 to {lhs.rank - 1} as {shown(lhs)} has, got {dim}")
        shapes = zip(lhs.shape, rhs.shape, result.shape, strict=True)
        for i, (one, other, both) in enumerate(shapes):
            if (i == dim and one + other != both) or (i != dim and not one == other == both):
                wanted = f"{one} + {other}" if i == dim else str(one)
                raise self.fail(
                    f"dimension {i} of the result to be {wanted} where dim is {dim}, got {both} "
                    f"({shown(lhs)}, {shown(rhs)} -> {shown(result)})"
                )


@tile_op("cuda_tile.constant", 0x10)
class ConstantOp(PureOp):
    """`constant <f32: [1.0, 2.0]> : tile<2xf32>`; one number stands for all."""

    assembly_format = "custom<TypedTileElements>($value, type($result)) attr-dict"

    value = prop_def(ELEMENTS)
    result = result_def(NUMBER_TILE)

    @property
    def elements(self) -> ElementsAttr:
        """Its elements."""
        value = self.value
        assert isinstance(value, ElementsAttr)
        return value

    def verify_types(self) -> None:
        if self.elements.type != self.result.type:
            raise self.fail(
                f"elements of {shown(self.result.type)} as the result, "
                f"got {shown(self.elements.type)}"
            )


@tile_op("cuda_tile.extract", 0x26)
class ExtractOp(PureOp):
    """A tile of a tile, in units of its own shape: `extract %x[%i, %j] : tile<4x8xf32> ->
    tile<2x2xf32>`."""

    assembly_format = "$source `[` $indices `]`"
    SAME_ELEMENTS = "source result"
    SAME_RANKS = "source result"

    source = operand_def(TILE)
    indices = var_operand_def(SCALAR_I32)
    result = result_def(TILE)

    def verify_types(self) -> None:
        verify_parts(self, "result", self.result, "source", self.source)


@tile_op("cuda_tile.insert", 0x76, V13_4)
class InsertOp(PureOp):
    """A tile with a part replaced, in units of the part's shape: `insert %x, %y[%i, %j] :
    tile<2x2xf32>, tile<4x8xf32>`. Since 13.4."""

    assembly_format = "$source `,` $destination `[` $indices `]`"
    SAME_TYPES = "destination result"
    SAME_ELEMENTS = "source destination"
    SAME_RANKS = "source destination"

    source = operand_def(TILE)
    destination = operand_def(TILE)
    indices = var_operand_def(SCALAR_I32)
    result = result_def(TILE)

    def verify_types(self) -> None:
        verify_parts(self, "source", self.source, "destination", self.destination)


@tile_op("cuda_tile.get_tile_block_id", 0x30)
class GetTileBlockIdOp(PureOp):
    """Which block this is: `%x, %y, %z = get_tile_block_id : tile<i32>`."""

    SAME_TYPES = "block_id_x block_id_y block_id_z"

    block_id_x = result_def(SCALAR_I32)
    block_id_y = result_def(SCALAR_I32)
    block_id_z = result_def(SCALAR_I32)


@tile_op("cuda_tile.get_num_tile_blocks", 0x2E)
class GetNumTileBlocksOp(PureOp):
    """How many blocks there are: `%x, %y, %z = get_num_tile_blocks : tile<i32>`."""

    SAME_TYPES = "grid_size_x grid_size_y grid_size_z"

    grid_size_x = result_def(SCALAR_I32)
    grid_size_y = result_def(SCALAR_I32)
    grid_size_z = result_def(SCALAR_I32)


@tile_op("cuda_tile.iota", 0x3A)
class IotaOp(PureOp):
    """0, 1, 2 and so on: `iota : tile<4xi32>`."""

    result = result_def(INT_TILE)

    def verify_types(self) -> None:
        (result,) = tiles(self.result)
        if result.rank != 1:
            raise self.fail(f"a result of rank 1, got {shown(result)}")
        bits = ELEMENT_OF[result.element_type].bits
        if result.elements > 1 << bits:
            raise self.fail(
                f"at most {1 << bits} elements as {shown(result.element_type)} counts, "
                f"got {result.elements}"
            )


@tile_op("cuda_tile.offset", 0x51)
class OffsetOp(PureOp):
    """Pointers moved by so many numbers: `offset %p, %n : tile<4xptr<f32>>, tile<4xi32> ->
    tile<4xptr<f32>>`."""

    assembly_format = (
        "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset) `->` type($result)"
    )
    SAME_TYPES = "ptr result"
    SAME_SHAPES = "ptr offset"

    ptr = operand_def(POINTER_TILE)
    offset = operand_def(INT_TILE)
    result = result_def(POINTER_TILE)


class SameBytesOp(PureOp):
    """The same bytes as numbers of another width."""

    SAME_RANKS = "source result"

    def verify_types(self) -> None:
        source, result = tiles(self.operands[0], self.results[0])
        if source.rank != 1:
            raise self.fail(f"source and result of rank 1, got {shown(source)}")
        bits = [ELEMENT_OF[tile.element_type].bits for tile in (source, result)]
        if bits[0] == bits[1]:
            raise self.fail(f"elements of two widths, got {bits[0]} bits both")
        if source.elements * bits[0] != result.elements * bits[1]:
            raise self.fail(
                f"source and result of as many bits, got {source.elements * bits[0]} and "
                f"{result.elements * bits[1]}"
            )


@tile_op("cuda_tile.pack", 0x6F, V13_3)
class PackOp(SameBytesOp):
    """The bytes of a tile: `pack %x : tile<8xf4E2M1FN> -> tile<4xi8>`."""

    source = operand_def(ANY_NUMBER_TILE)
    result = result_def(I8_TILE)


@tile_op("cuda_tile.unpack", 0x70, V13_3)
class UnpackOp(SameBytesOp):
    """The numbers of bytes: `unpack %x : tile<4xi8> -> tile<8xf4E2M1FN>`."""

    source = operand_def(I8_TILE)
    result = result_def(ANY_NUMBER_TILE)


@tile_op("cuda_tile.permute", 0x53)
class PermuteOp(PureOp):
    """Dimensions in another order: `permute %x [1, 0] : tile<4x8xf32> -> tile<8x4xf32>`."""

    assembly_format = "$source $permutation"
    SAME_ELEMENTS = "source result"
    SAME_RANKS = "source result"

    source = operand_def(TILE)
    permutation = prop_def(list_of(32))
    result = result_def(TILE)

    def verify_types(self) -> None:
        source, result = tiles(self.source, self.result)
        permutation: Any = self.permutation
        order: list[int] = list(permutation.get_values())
        if source.rank < 2:
            raise self.fail(f"a source of rank 2 or more, got {shown(source)}")
        if sorted(order) != list(range(source.rank)):
            raise self.fail(f"each of 0 to {source.rank - 1} once, got {order}")
        wanted = tuple(source.shape[i] for i in order)
        if result.shape != wanted:
            raise self.fail(
                f"a result of shape {list(wanted)} where {shown(source)} is permuted by {order}, "
                f"got {shown(result)}"
            )


@tile_op("cuda_tile.reshape", 0x5B)
class ReshapeOp(PureOp):
    """The same elements in another shape: `reshape %x : tile<4x2xf32> -> tile<8xf32>`."""

    SAME_ELEMENTS = "source result"

    source = operand_def(TILE)
    result = result_def(TILE)

    def verify_types(self) -> None:
        source, result = tiles(self.source, self.result)
        if source.elements != result.elements:
            raise self.fail(
                f"source and result of as many elements, got {source.elements} and "
                f"{result.elements}"
            )


@tile_op("cuda_tile.select", 0x5F)
class SelectOp(PureOp):
    """One tile where a condition holds, else the other: `select %c, %x, %y : tile<4xi1>,
    tile<4xf32>`."""

    SAME_TYPES = "val_if_true val_if_false result"
    SAME_SHAPES = "cond result"

    cond = operand_def(I1_TILE)
    val_if_true = operand_def(TILE)
    val_if_false = operand_def(TILE)
    result = result_def(TILE)

    def verify_types(self) -> None:
        (result,) = tiles(self.result)
        if shown(result.element_type) == "f4E2M1FN":
            raise self.fail("elements of whole bytes, got f4E2M1FN; nearest legal: f8E4M3FN")
