"""Ops of Tile IR that a rewriting makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.attributes import choice_attr
from tilewright.dialects.cuda_tile.elements import ElementsAttr, dtype_of
from tilewright.dialects.cuda_tile.enums import TileEnum
from tilewright.dialects.cuda_tile.ops.core import ConstantOp
from tilewright.dialects.cuda_tile.types import TileType

_Op = TypeVar("_Op", bound=Operation)


def constant(number: float, type_: Attribute) -> ConstantOp:
    """A tile of one number, or, of a type of elements, a scalar."""
    tile = type_ if isinstance(type_, TileType) else TileType.get((), type_)
    value = ElementsAttr.of_array(tile, np.array(number, dtype_of(tile.element_type)))
    return ConstantOp.create(properties={"value": value}, result_types=[tile])


class TileBuilder:
    """Inserts ops of Tile IR one after the other, in front of an op or at a point, at that op's
    location."""

    def __init__(self, like: Operation, point: InsertPoint | None = None):
        self._point, self._location = point or InsertPoint.before(like), like.location

    def insert(self, op: _Op) -> _Op:
        """A new op, at its place."""
        op.location = self._location
        Rewriter.insert_op(op, self._point)
        return op

    def add(
        self, kind: type[Operation], operands: Sequence[SSAValue | int],
        type_: Attribute | None = None, /, **given: Any,
    ) -> SSAValue:  # fmt: skip
        """The result of an op, of the type of its first operand where none is given, as numbers
        among its operands are; properties may be given as words."""
        first: Any = next(iter(operands), None)
        values = [self.constant(x, first.type) if isinstance(x, int) else x for x in operands]
        properties = {name: choice_attr(x) if isinstance(x, TileEnum) else x
                      for name, x in given.items()}  # fmt: skip
        types = [first.type if type_ is None else type_]
        new = kind.create(operands=values, result_types=types, properties=properties)
        return self.insert(new).results[0]

    def constant(self, number: float, type_: Attribute) -> SSAValue:
        """A tile of one number, or, of a type of elements, a scalar."""
        return self.insert(constant(number, type_)).result
