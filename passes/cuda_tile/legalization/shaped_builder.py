"""Ops of Tile IR whose types follow from their operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i1, i32
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.dialects.cuda_tile.builder import TileBuilder
from tilewright.dialects.cuda_tile.enums import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
    Signedness,
)
from tilewright.dialects.cuda_tile.ops import conversions, core, floating_point, integer
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.sequences import paired
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type

_Op = TypeVar("_Op", bound=Operation)

INDEX = TileType.get((), i32)
"""The type of the numbers of blocks, parts and iterations."""
ROUNDING = {"rounding_mode": RoundingMode.NEAREST_EVEN}
"""The property of ops that round to the nearest."""
SIGNED, UNSIGNED = ({"signedness": sign} for sign in (Signedness.SIGNED, Signedness.UNSIGNED))
EQUAL = ComparisonPredicate.EQUAL


class ShapedBuilder(TileBuilder):
    """A builder that derives the types of results."""

    # --- shapes ---

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The elements of a tile in another shape."""
        type_ = TileType.get(tuple(shape), element_of(value))
        return self.add(core.ReshapeOp, [value], type_)

    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A tile repeated along the dimensions that it has one element of."""
        type_ = TileType.get(tuple(shape), element_of(value))
        return self.add(core.BroadcastOp, [value], type_)

    def spread(self, value: SSAValue, shape: Sequence[int], axis: int | None = None) -> SSAValue:
        """A scalar as every element of a shape, or a row along an axis, repeated."""
        if not shape:
            return value
        row = self.reshape(value, [x if i == axis else 1 for i, x in enumerate(shape)])
        return self.broadcast(row, shape)

    def repeated(self, value: SSAValue, axis: int, times: int) -> SSAValue:
        """A tile whose elements along an axis stand there several times each."""
        *outer, extent = shape_of(value)[: axis + 1]
        inner = shape_of(value)[axis + 1 :]
        value = self.reshape(value, (*outer, extent, 1, *inner))
        value = self.broadcast(value, (*outer, extent, times, *inner))
        return self.reshape(value, (*outer, extent * times, *inner))

    def turned(self, value: SSAValue) -> SSAValue:
        """A tile whose last two dimensions are in the other order."""
        *outer, last = range(len(shape_of(value)))
        order = (*outer[:-1], last, outer[-1])
        type_ = TileType.get(tuple(shape_of(value)[i] for i in order), element_of(value))
        permutation = DenseArrayBase.from_list(i32, order)
        return self.add(core.PermuteOp, [value], type_, permutation=permutation)

    def part(self, value: SSAValue, axis: int, number: int | SSAValue, extent: int) -> SSAValue:
        """A part of a tile along an axis, by its number among such parts."""
        shape = tuple(extent if i == axis else x for i, x in enumerate(shape_of(value)))
        if shape == shape_of(value):
            return value
        zero = self.constant(0, i32)
        place = self.constant(number, i32) if isinstance(number, int) else number
        indices = [place if i == axis else zero for i in range(len(shape))]
        type_ = TileType.get(shape, element_of(value))
        return self.add(core.ExtractOp, [value, *indices], type_)

    def joined(self, parts: Sequence[SSAValue], axis: int) -> SSAValue:
        """Parts of a tile side by side along an axis, a power of two of them."""
        while len(parts) > 1:
            shape = [2 * x if i == axis else x for i, x in enumerate(shape_of(parts[0]))]
            type_ = TileType.get(tuple(shape), element_of(parts[0]))
            parts = [
                self.add(core.CatOp, pair, type_, dim=IntegerAttr(axis, 64))
                for pair in paired(parts)
            ]
        return parts[0]

    # --- elements ---

    def iota(self, extent: int, element: Attribute) -> SSAValue:
        """The numbers from 0 on."""
        type_ = TileType.get((extent,), element)
        return self.insert(core.IotaOp.create(result_types=[type_])).result

    def float(self, value: SSAValue, element: Attribute) -> SSAValue:
        """A tile of floats as one of other floats."""
        if element_of(value) == element:
            return value
        type_ = tile_type(value).with_element(element)
        return self.add(conversions.FToFOp, [value], type_, **ROUNDING)

    def resized(
        self, value: SSAValue, element: Attribute, sign: dict[str, Signedness] = UNSIGNED
    ) -> SSAValue:
        """A tile of integers as one of another width."""
        own, type_ = element_of(value), tile_type(value).with_element(element)
        assert isinstance(own, IntegerType) and isinstance(element, IntegerType)
        if own == element:
            return value
        if element.bitwidth < own.bitwidth:
            return self.add(conversions.TruncIOp, [value], type_)
        return self.add(conversions.ExtIOp, [value], type_, **sign)

    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The bits of a tile as other elements."""
        if element_of(value) == element:
            return value
        return self.add(conversions.BitcastOp, [value], tile_type(value).with_element(element))

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """The elements of one tile where a condition holds, else of another."""
        return self.add(core.SelectOp, [condition, a, b], a.type)

    def compare(
        self, predicate: ComparisonPredicate, a: SSAValue, b: SSAValue | int,
        sign: dict[str, Signedness] = UNSIGNED,
    ) -> SSAValue:  # fmt: skip
        """True where a comparison of integers holds."""
        type_ = tile_type(a).with_element(i1)
        return self.add(integer.CmpIOp, [a, b], type_, comparison_predicate=predicate, **sign)

    def compare_floats(
        self, predicate: ComparisonPredicate, a: SSAValue, b: SSAValue,
        ordering: ComparisonOrdering = ComparisonOrdering.ORDERED,
    ) -> SSAValue:  # fmt: skip
        """True where a comparison of floats holds."""
        type_ = tile_type(a).with_element(i1)
        words = {"comparison_predicate": predicate, "comparison_ordering": ordering}
        return self.add(floating_point.CmpFOp, [a, b], type_, **words)

    # --- blocks and loops ---

    def grid(
        self, kind: type[core.GetTileBlockIdOp | core.GetNumTileBlocksOp]
    ) -> Sequence[OpResult]:
        """The numbers of the block, or how many blocks there are, along x, y and z."""
        return self.insert(kind.create(result_types=[INDEX] * 3)).results

    def loop(self, count: int, body: Block, initial: Sequence[SSAValue] = ()) -> ForOp:
        """A loop of so many iterations, and the values that it carries."""
        bounds = [self.constant(number, i32) for number in (0, count, 1)]
        return self.insert(loop_of([*bounds, *initial], body))


def loop_of(operands: Sequence[SSAValue], body: Block) -> ForOp:
    """The loop of bounds, a step and what it carries first."""
    types = [value.type for value in operands[3:]]
    return ForOp.create(operands=operands, result_types=types, regions=[Region(body)])


def rebuilt(op: _Op, operands: Sequence[SSAValue], types: Sequence[Attribute]) -> _Op:
    """An op with the regions of another, in front of it, with other operands and results."""
    new = type(op).create(
        operands=operands,
        result_types=types,
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.detach_region(region) for region in list(op.regions)],
    )
    return TileBuilder(op).insert(new)


def at_start(entry: EntryOp) -> ShapedBuilder:
    """A builder of what an entry begins with."""
    return ShapedBuilder(entry, InsertPoint.at_start(entry.body.block))


def replace_others(old: SSAValue, new: SSAValue) -> None:
    """Have a value that is computed of another one in the place of that one elsewhere."""
    for use in list(old.uses):
        if use.operation is not new.owner:
            use.operation.operands[use.index] = new


def replace(op: Operation, result: SSAValue) -> None:
    """Have another value in the place of an op's first result."""
    result.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
