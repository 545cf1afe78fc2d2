"""Elements of 4 bits one by one: accesses to views of them as accesses to the bytes that hold them,
where tiles begin or end inside a byte.

A store is two, of the low halves and of the high ones: two elements of a byte belong to
threads that must not write it at once, and what a tile does not cover stays.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IntegerAttr, i1, i8, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects.cuda_tile.enums import ComparisonPredicate, MemoryOrderingSemantics
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.conversions import PtrToPtrOp
from tilewright.dialects.cuda_tile.ops.memory import LoadPtrTkoOp, StorePtrTkoOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, StoreViewTkoOp, ViewAccess
from tilewright.dialects.cuda_tile.types import PointerType, TileType
from tilewright.dialects.cuda_tile.value_types import TOKEN
from tilewright.passes.cuda_tile.analysis.view_access import (
    Extent,
    TileDimension,
    tensor_of,
    tile_dimensions,
)
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.passes.cuda_tile.legalization.shaped_builder import UNSIGNED, ShapedBuilder

_HALF_BITS, _HALF = 4, 15


def load_elements(
    op: LoadViewTkoOp, padding: int, before: ShapedBuilder
) -> tuple[SSAValue, SSAValue]:
    """The tile of a load and its token; outside of the tensor are the halves of a byte."""
    places = _Places(op, before)
    octets, token = places.loaded(op.memory_ordering_semantics, op.token, places.inside, padding)
    return places.packed(places.shifted(integer.ShRIOp, octets), tile_type(op.tile)), token


def store_elements(op: StoreViewTkoOp, before: ShapedBuilder) -> SSAValue:
    """The token of a store, whose bytes keep their other halves."""
    places, token = _Places(op, before), op.token
    first = op.memory_ordering_semantics
    if op.ordering is not MemoryOrderingSemantics.WEAK:
        first = IntegerAttr(MemoryOrderingSemantics.RELAXED.number, 32)
    new = places.shifted(integer.ShLIOp, places.words(op.tile))
    low = before.add(integer.XOrIOp, [places.is_high, 1])
    for others, mine in ((~_HALF, low), (_HALF, places.is_high)):
        mask = places.both(places.inside, mine)
        old, token = places.loaded(first, token, mask, 0)
        old = before.add(integer.AndIOp, [old, others])
        octets = before.add(integer.OrIOp, [old, new])
        store = StorePtrTkoOp.build(
            operands=[places.pointers, octets, [mask], [token] if token else []],
            result_types=[TOKEN], properties=places.order(op.memory_ordering_semantics),
        )  # fmt: skip
        token = before.insert(store).result_token
    assert token is not None
    return token


class _Places:
    """Where the elements of a tile are: pointers to the bytes, which half of them, and whether they
    lie within the tensor (None: all do)."""

    def __init__(self, op: ViewAccess, before: ShapedBuilder):
        self.op, self.before = op, before
        self.shape = op.view_type.tile_shape
        self.index: list[SSAValue] = list(op.index)  # type: ignore[attr-defined]
        self.inside: SSAValue | None = None
        place = self.all(0, i64)
        for i, dimension in enumerate(tile_dimensions(op)):
            coordinate = self._coordinate(i, dimension)
            stride = self._extent(dimension.stride)
            place = before.add(integer.AddIOp, [place, self._times(coordinate, stride)])
            if not dimension.within:
                size = self._extent(dimension.size)
                below = before.compare(ComparisonPredicate.LESS_THAN, coordinate, size)
                self.inside = self.both(self.inside, below)
        tensor = tensor_of(op.view)  # type: ignore[attr-defined]
        pointer = TileType.get((), PointerType.get(i8))
        base = self._spread(before.add(PtrToPtrOp, [tensor.base], pointer))
        octet = before.add(integer.ShRIOp, [place, 1], **UNSIGNED)
        self.pointers = before.add(core.OffsetOp, [base, octet])
        half = before.add(integer.AndIOp, [place, 1])
        self.is_high = before.resized(half, i1)
        self._bits = self._times(before.resized(half, i8), _HALF_BITS)

    def _of(self, element: Attribute) -> TileType:
        return TileType.get(self.shape, element)

    def all(self, number: int, element: Attribute) -> SSAValue:
        """A tile of one number."""
        return self.before.constant(number, self._of(element))

    def both(self, a: SSAValue | None, b: SSAValue) -> SSAValue:
        """Both of two conditions; the first may be missing."""
        return b if a is None else self.before.add(integer.AndIOp, [a, b])

    def _times(self, a: SSAValue, b: SSAValue | int) -> SSAValue:
        return self.before.add(integer.MulIOp, [a, b])

    def _extent(self, extent: Extent) -> SSAValue | int:
        return extent if isinstance(extent, int) else self._spread(extent)

    def _coordinate(self, i: int, dimension: TileDimension) -> SSAValue:
        """Where the elements are along a dimension."""
        if dimension.gathered:
            return self._spread(self.index[i], i)
        first = self._times(self._spread(self.index[i]), dimension.step)
        steps = self._spread(self.before.iota(dimension.extent, i64), i)
        return self.before.add(integer.AddIOp, [first, steps])

    def _spread(self, value: SSAValue, along: int | None = None) -> SSAValue:
        """A scalar for all elements, or a row along a dimension; integers wide and unsigned."""
        if not isinstance(element_of(value), PointerType):
            value = self.before.resized(value, i64)
        return self.before.spread(value, self.shape, along)

    def order(self, ordering: Any) -> dict[str, Any]:
        """The properties of an access of the op's scope."""
        scope = self.op.properties.get("memory_scope")
        return {"memory_ordering_semantics": ordering} | ({"memory_scope": scope} if scope else {})

    def loaded(
        self, ordering: Any, token: SSAValue | None, mask: SSAValue | None, padding: int
    ) -> tuple[SSAValue, SSAValue]:
        """The bytes, and the token of their load."""
        others = [self.all(padding, i8)] if mask else []
        load = LoadPtrTkoOp.build(
            operands=[self.pointers, [mask] if mask else [], others, [token] if token else []],
            result_types=[self._of(i8), TOKEN], properties=self.order(ordering),
        )  # fmt: skip
        return self.before.insert(load).result, load.result_token

    def shifted(self, kind: type[Operation], octets: SSAValue) -> SSAValue:
        """Bytes whose halves come to where those of the elements are, or from there."""
        given = UNSIGNED if kind is integer.ShRIOp else {}
        return self.before.add(kind, [octets, self._bits], **given)

    def packed(self, octets: SSAValue, type_: TileType) -> SSAValue:
        """The elements that the low halves of bytes are."""
        before, pairs = self.before, self._of(i8).elements // 2
        rows = before.reshape(octets, (pairs, 2))
        low, high = (before.part(rows, 1, i, 1) for i in (0, 1))
        low = before.add(integer.AndIOp, [low, _HALF])
        high = before.add(integer.ShLIOp, [high, _HALF_BITS])
        both = before.reshape(before.add(integer.OrIOp, [low, high]), (pairs,))
        flat = TileType.get((2 * pairs,), type_.element_type)
        return before.reshape(before.add(core.UnpackOp, [both], flat), self.shape)

    def words(self, tile: SSAValue) -> SSAValue:
        """Elements as the low halves of bytes."""
        before, pairs = self.before, tile_type(tile).elements // 2
        flat = before.reshape(tile, (2 * pairs,))
        octets = before.add(core.PackOp, [flat], TileType.get((pairs,), i8))
        octets = before.reshape(octets, (pairs, 1))
        low = before.add(integer.AndIOp, [octets, _HALF])
        high = before.add(integer.ShRIOp, [octets, _HALF_BITS], **UNSIGNED)
        return before.reshape(before.joined([low, high], 1), shape_of(tile))
