"""Constants too large to choose among: globals, and loads of them."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, StringAttr, SymbolRefAttr, UnitAttr, i8, i32
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.ancestors import enclosing
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.cuda_tile.enums import MemoryOrderingSemantics
from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.module import EntryOp, GetGlobalOp, GlobalOp
from tilewright.dialects.cuda_tile.ops.views import (
    LoadViewTkoOp,
    MakePartitionViewOp,
    MakeTensorViewOp,
)
from tilewright.dialects.cuda_tile.types import PartitionViewType, PointerType, TileType
from tilewright.dialects.cuda_tile.value_types import TOKEN, TensorViewType
from tilewright.dialects.insertion import insert_before
from tilewright.passes.cuda_tile.legalization.shaped_builder import ShapedBuilder

TABLE = 4096
"""The elements of a constant that threads choose among by their number; a larger one is loaded."""


def is_large(op: core.ConstantOp) -> bool:
    """True of a constant of more different elements than threads choose among."""
    value: Any = op.value
    return not value.is_splat and value.type.elements > TABLE


def loaded_constant(op: core.ConstantOp, before: ShapedBuilder) -> SSAValue:
    """A tile of a global; of elements of 4 bits, pairs of them as bytes."""
    value: Any = op.value
    element, size = value.type.element_type, value.type.elements
    halves = ELEMENT_OF[element].bits == 4
    if halves:
        low, high = value.array().view(np.uint8).reshape(-1, 2).T & 0xF
        stored = TileType.get((size // 2,), i8)
        value = ElementsAttr.of_array(stored, (low | high << 4).view(np.int8))
    else:
        stored = TileType.get((size,), element)
        value = ElementsAttr(stored, value.data)
    tile = _loaded(_variable(op, value), stored, before)
    if halves:
        tile = before.add(core.UnpackOp, [tile], TileType.get((size,), element))
    return before.reshape(tile, op.result.type.shape)  # type: ignore[attr-defined]


def _variable(op: Operation, value: ElementsAttr) -> GlobalOp:
    """A new global of the module that an op is in."""
    entry = next(enclosing(op, EntryOp))
    block = entry.parent_block()
    assert block is not None
    taken = [other.properties.get("sym_name") for other in block.ops]
    names = (StringAttr(f"{entry.sym_name.data}_constant{number}") for number in count())
    name = next(name for name in names if name not in taken)
    variable = GlobalOp.build(properties={"sym_name": name, "value": value, "constant": UnitAttr()})
    insert_before(variable, entry)
    return variable


def _loaded(variable: GlobalOp, tile: TileType, before: ShapedBuilder) -> SSAValue:
    """All of a global, as a tile."""
    shape, element = tile.shape, tile.element_type
    tensor = TensorViewType.get(element, shape, (1,))
    view, pointer = PartitionViewType.get(shape, tensor), TileType.get((), PointerType.get(element))
    base = before.add(GetGlobalOp, [], pointer, name=SymbolRefAttr(variable.sym_name.data))
    place = before.constant(0, i32)
    lies = before.insert(MakeTensorViewOp.build(operands=[base, [], []], result_types=[tensor]))
    tiles = before.add(MakePartitionViewOp, [lies.results[0]], view)
    weak = IntegerAttr(MemoryOrderingSemantics.WEAK.number, i32)
    load = LoadViewTkoOp.build(
        operands=[tiles, [place], []],
        result_types=[tile, TOKEN],
        properties={"memory_ordering_semantics": weak},
    )
    return before.insert(load).results[0]
