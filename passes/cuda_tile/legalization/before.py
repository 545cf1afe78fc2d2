"""Ops of Tile IR in front of another one."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.enums import RoundingMode
from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.conversions import FToFOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type

ROUNDING = {"rounding_mode": RoundingMode.NEAREST_EVEN}
"""The property of ops that round to the nearest."""


class Before(TileBuilder):
    """Ops of Tile IR in front of one, at its place."""

    def part(self, value: SSAValue, axis: int, number: int, extent: int) -> SSAValue:
        """A part of a tile along an axis, by its number among such parts."""
        shape = [extent if i == axis else x for i, x in enumerate(shape_of(value))]
        if tuple(shape) == shape_of(value):
            return value
        zero, place = (self.constant(i, i32) for i in (0, number))
        indices = [place if i == axis else zero for i in range(len(shape))]
        type_ = TileType.get(tuple(shape), element_of(value))
        return self.add(core.ExtractOp, [value, *indices], type_)

    def joined(self, parts: Sequence[SSAValue], axis: int) -> SSAValue:
        """Parts of a tile side by side along an axis, a power of two of them."""
        while len(parts) > 1:
            shape = [2 * x if i == axis else x for i, x in enumerate(shape_of(parts[0]))]
            type_ = TileType.get(tuple(shape), element_of(parts[0]))
            parts = [
                self.add(core.CatOp, pair, type_, dim=IntegerAttr(axis, 64))
                for pair in zip(parts[::2], parts[1::2], strict=True)
            ]
        return parts[0]

    def broadcast(self, value: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        """A tile repeated along the dimensions that it has one element of."""
        return self.add(core.BroadcastOp, [value], TileType.get(shape, element_of(value)))

    def float(self, value: SSAValue, element: Attribute) -> SSAValue:
        """A tile of floats as one of other floats."""
        if element_of(value) == element:
            return value
        return self.add(FToFOp, [value], tile_type(value).with_element(element), **ROUNDING)

    def repeated(self, value: SSAValue, axis: int, times: int) -> SSAValue:
        """A tile whose elements along an axis stand there several times each."""
        *outer, extent = shape_of(value)[: axis + 1]
        inner, element = shape_of(value)[axis + 1 :], element_of(value)
        for kind, shape in (
            (core.ReshapeOp, (*outer, extent, 1, *inner)),
            (core.BroadcastOp, (*outer, extent, times, *inner)),
            (core.ReshapeOp, (*outer, extent * times, *inner)),
        ):
            value = self.add(kind, [value], TileType.get(shape, element))
        return value
