"""Reductions and scans along a dimension, with a function of two values as their region.

Tile IR specification, core. The region has two arguments for each tile: a value, and one that was
reduced before. It yields one value for each tile, and holds nothing but pure ops.
"""

from typing import Any

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import prop_def, region_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import IsTerminator, RecursiveMemoryEffect, is_side_effect_free

from tilewright.dialects.accepts import ARRAY, integer
from tilewright.dialects.cuda_tile.constraints import TILE
from tilewright.dialects.cuda_tile.element_types import types_of
from tilewright.dialects.cuda_tile.ops.control_flow import YieldOp, listed, verified_block
from tilewright.dialects.cuda_tile.ops.operation import CudaTileOp, tile_op
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.source.diagnostic import InnerOpError, named

HALVES = types_of("f16", "bf16")
"""Types of which the identity may be of the other: bytecode does not tell them apart."""


class Aggregate(CudaTileOp):
    """A dimension combined by a function."""

    traits = traits_def(RecursiveMemoryEffect())

    def result_of(self, tile: TileType, dim: int) -> TileType:
        """The result for a tile."""
        raise NotImplementedError

    def verify_types(self) -> None:
        tiles = [operand.type for operand in self.operands]
        if not tiles:
            raise self.fail("tiles to combine, got none")
        first = tiles[0]
        assert isinstance(first, TileType)
        dim = self.number("dim")
        if dim >= first.rank:
            raise self.fail(f"dim of 0 to {first.rank - 1} as {shown(first)} has, got {dim}")
        results: list[Attribute] = []
        for tile in tiles:
            assert isinstance(tile, TileType)
            if tile.shape != first.shape:
                raise self.fail(f"tiles of one shape, got {shown(first)} and {shown(tile)}")
            results.append(self.result_of(tile, dim))
        if list(self.result_types) != results:
            raise self.fail(f"results ({listed(results)}), got ({listed(self.result_types)})")
        self._verify_identities(tiles)

    def _verify_identities(self, tiles: list[Attribute]) -> None:
        identities: Any = self.properties["identities"]
        if len(identities) != len(tiles):
            raise self.fail(f"an identity for each of {len(tiles)} tiles, got {len(identities)}")
        for tile, identity in zip(tiles, identities, strict=True):
            element: Any = tile.element_type  # pyright: ignore
            got: Any = identity.type if isinstance(identity, FloatAttr | IntegerAttr) else identity  # pyright: ignore
            if got != element and not (got in HALVES and element in HALVES):
                raise self.fail(f"an identity of {shown(element)} as the tile, got {shown(got)}")  # pyright: ignore

    def verify_in_place(self) -> None:
        block = verified_block(self, self.regions[0])
        scalars = [TileType.get((), tile.type.element_type) for tile in self.operands]  # pyright: ignore
        wanted = [scalar for scalar in scalars for _ in range(2)]
        if list(block.arg_types) != wanted:
            raise self.fail(
                f"arguments ({listed(wanted)}), two for each tile, got ({listed(block.arg_types)})"
            )
        end = block.last_op
        if not isinstance(end, YieldOp):
            got = "nothing" if end is None else named(end)
            raise self.fail(f"a body that ends with 'cuda_tile.yield', got {got}")
        if [value.type for value in end.operands] != scalars:
            got = listed([value.type for value in end.operands])
            raise self.fail(f"its body to yield ({listed(scalars)}), got ({got})")
        for op in block.ops:
            if not op.has_trait(IsTerminator) and not is_side_effect_free(op):
                raise InnerOpError(
                    op,
                    f"'{op.name}' expected to stand outside of {named(self)} (ops in its body have "
                    "no side effects)",
                )


@tile_op("cuda_tile.reduce", 0x58)
class ReduceOp(Aggregate):
    """A dimension reduced by a function of what was before and of what comes: `reduce %x
    dim=0 identities=[0.0 : f32] : tile<4xf32> -> tile<f32> (%a: tile<f32>, %b: tile<f32>) { ... }`.

    The function is associative (Tile IR 8.3, reduce), and the order of its operands is nobody's
    promise: what is not commutative has a result that depends on the layout.
    """

    assembly_format = (
        "$arguments attr-dict `dim` `` `=` `` $dim `identities` `` `=` `` $identities `:` "
        "type($arguments) `->` type($res) custom<Combine>($body)"
    )

    arguments = var_operand_def(TILE)
    dim = prop_def(integer(32, least=0))
    identities = prop_def(ARRAY)
    res = var_result_def(TILE)
    body = region_def("single_block")

    def result_of(self, tile: TileType, dim: int) -> TileType:
        return TileType.get(tile.shape[:dim] + tile.shape[dim + 1 :], tile.element_type)


@tile_op("cuda_tile.scan", 0x5E)
class ScanOp(Aggregate):
    """Prefixes along a dimension, by a function of what was before and of what comes: `scan %x
    dim=0 reverse=false identities=[0.0 : f32] : tile<4xf32> -> tile<4xf32> (...) { ... }`."""

    assembly_format = (
        "$arguments attr-dict `dim` `` `=` `` $dim `reverse` `` `=` `` $reverse "
        "`identities` `` `=` `` $identities `:` "
        "type($arguments) `->` type($res) custom<Combine>($body)"
    )

    arguments = var_operand_def(TILE)
    dim = prop_def(integer(32, least=0))
    reverse = prop_def(integer(1))
    identities = prop_def(ARRAY)
    res = var_result_def(TILE)
    body = region_def("single_block")

    def result_of(self, tile: TileType, dim: int) -> TileType:
        return tile
