"""Accesses to parts of tiles, as Tile IR, and whatever else depends on where a part begins."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.attributes import SignednessAttr
from tilewright.dialects.cuda_tile.elements import ElementsAttr, dtype_of
from tilewright.dialects.cuda_tile.enums import Signedness
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.conversions import ExtIOp, TruncIOp
from tilewright.dialects.cuda_tile.ops.views import (
    LoadViewTkoOp,
    MakePartitionViewOp,
    StoreViewTkoOp,
)
from tilewright.dialects.cuda_tile.types import PartitionViewType, TileType
from tilewright.lowering.cuda_tile.analysis.view_access import tensor_of
from tilewright.lowering.cuda_tile.layouts.elements import tile_type


def access_part(
    op: LoadViewTkoOp | StoreViewTkoOp, axis: int, parts: int, number: SSAValue
) -> None:
    """Let an access be to a part of its tile: to a tile of a view of such parts."""
    view, at = op.view_type, OpsAt(InsertPoint.before(op), op)
    assert isinstance(view, PartitionViewType)
    shape = tuple(x // parts if i == axis else x for i, x in enumerate(view.tile_shape))
    type_ = PartitionViewType.get(shape, view.tensor_view, view.dim_map, view.padding_value)
    tensor, index = tensor_of(op.view).result, op.index[axis]
    element = tile_type(index).element_type
    first = at.binary(integer.MulIOp, index, at.constant(parts, element))
    own = at.binary(integer.AddIOp, first, at.resized(number, element))
    place = list(op.operands).index(op.index[0]) + axis
    view_place = list(op.operands).index(op.view)
    op.operands[place] = own
    op.operands[view_place] = at.add(
        MakePartitionViewOp.create(operands=[tensor], result_types=[type_])
    )


def counted_part(op: core.IotaOp, number: SSAValue) -> SSAValue:
    """The numbers of an `iota` of the type of a part, from where the part begins."""
    type_, at = tile_type(op.result), OpsAt(InsertPoint.after(op), op)
    element = type_.element_type
    first = at.resized(number, element)
    first = at.binary(integer.MulIOp, first, at.constant(type_.elements, element))
    for kind, shape in ((core.ReshapeOp, (1,)), (core.BroadcastOp, type_.shape)):
        first = at.add(kind.create(operands=[first], result_types=[TileType.get(shape, element)]))
    return at.binary(integer.AddIOp, op.result, first)


class OpsAt:
    """Where ops of Tile IR are inserted, one after the other."""

    def __init__(self, point: InsertPoint, like: Operation) -> None:
        self._point, self._location = point, like.location

    def add(self, op: Operation) -> SSAValue:
        """The first result of an op."""
        op.location = self._location
        Rewriter.insert_op(op, self._point)
        self._point = InsertPoint.after(op)
        return op.results[0]

    def constant(self, number: int, element: Attribute) -> SSAValue:
        """A scalar."""
        type_ = TileType.get((), element)
        value = ElementsAttr.of_array(type_, np.array(number, dtype_of(element)))
        return self.add(core.ConstantOp.create(properties={"value": value}, result_types=[type_]))

    def binary(self, kind: type[Operation], a: SSAValue, b: SSAValue) -> SSAValue:  # fmt: skip
        """The result of an op on integers."""
        given: dict[str, Attribute] = {}
        if kind in (integer.ShRIOp, integer.DivIOp, integer.RemIOp):
            given["signedness"] = SignednessAttr(Signedness.UNSIGNED)
        return self.add(kind.create(operands=[a, b], result_types=[a.type], properties=given))

    def resized(self, value: SSAValue, element: Attribute) -> SSAValue:
        """An i32 that is not negative, as an integer of another type."""
        if element == i32:
            return value
        narrow = element.bitwidth < 32  # type: ignore[attr-defined]
        given = {} if narrow else {"signedness": SignednessAttr(Signedness.UNSIGNED)}
        kind = TruncIOp if narrow else ExtIOp
        type_ = TileType.get((), element)
        return self.add(kind.create(operands=[value], result_types=[type_], properties=given))
