"""Ops of Tile IR in front of another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.attributes import RoundingModeAttr
from tilewright.dialects.cuda_tile.elements import ElementsAttr, dtype_of
from tilewright.dialects.cuda_tile.enums import RoundingMode
from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.conversions import FToFOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.cuda_tile.layouts.elements import element_of, shape_of, tile_type

ROUNDING = {"rounding_mode": RoundingModeAttr(RoundingMode.NEAREST_EVEN)}
"""The property of ops that round to the nearest."""


class Before:
    """Ops of Tile IR in front of one, at its place."""

    def __init__(self, op: Operation) -> None:
        self._op = op

    def add(
        self, kind: type[Operation], operands: Sequence[SSAValue], type_: Attribute, **given: Any
    ) -> SSAValue:
        """The result of an op."""
        new = kind.create(operands=operands, result_types=[type_], properties=given)
        return self.insert(new).results[0]

    def insert(self, new: Operation) -> Operation:
        """A new op, at its place."""
        new.location = self._op.location
        Rewriter.insert_op(new, InsertPoint.before(self._op))
        return new

    def constant(self, number: float, type_: TileType) -> SSAValue:
        """A tile of one number."""
        value = ElementsAttr.of_array(type_, np.array(number, dtype_of(type_.element_type)))
        return self.add(core.ConstantOp, [], type_, value=value)

    def part(self, value: SSAValue, axis: int, number: int, extent: int) -> SSAValue:
        """A part of a tile along an axis, by its number among such parts."""
        shape = [extent if i == axis else x for i, x in enumerate(shape_of(value))]
        zero, place = (self.constant(i, TileType.get((), i32)) for i in (0, number))
        indices = [place if i == axis else zero for i in range(len(shape))]
        type_ = TileType.get(tuple(shape), element_of(value))
        return self.add(core.ExtractOp, [value, *indices], type_)

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
