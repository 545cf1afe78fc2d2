"""Ops of Tile IR in terms of others, where these say all that there is to it: what is left is what
the rules of `convert_*` know."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i8,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilewright.dialects.cuda_tile.attributes import RoundingModeAttr, SignednessAttr
from tilewright.dialects.cuda_tile.element_types import ELEMENT_OF
from tilewright.dialects.cuda_tile.elements import ElementsAttr
from tilewright.dialects.cuda_tile.enums import (
    MemoryOrderingSemantics,
    RoundingMode,
    Signedness,
)
from tilewright.dialects.cuda_tile.ops import core
from tilewright.dialects.cuda_tile.ops.conversions import FToFOp, IToFOp
from tilewright.dialects.cuda_tile.ops.floating_point import FPowIOp, MulFOp, PowOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp, GetGlobalOp, GlobalOp
from tilewright.dialects.cuda_tile.ops.views import (
    LoadViewTkoOp,
    MakePartitionViewOp,
    MakeTensorViewOp,
)
from tilewright.dialects.cuda_tile.types import PartitionViewType, PointerType, TileType
from tilewright.dialects.cuda_tile.value_types import TOKEN, TensorViewType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.lowering.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.lowering.cuda_tile.layouts.mma_layouts import atom_of
from tilewright.lowering.cuda_tile.layouts.tensor_memory_layouts import in_tensor_memory

_F16, _F32, _F64 = Float16Type(), Float32Type(), Float64Type()
_ROUNDING = {"rounding_mode": RoundingModeAttr(RoundingMode.NEAREST_EVEN)}
_SQUARE = 2
_FP8_SINCE = 89
"""The first target whose MMAs multiply floats of 8 bits."""


def legalize(entry: EntryOp, arch: Target | None) -> None:
    """Rewrite the ops of an entry that no rule lowers as they are."""
    for op in list(entry.walk()):
        match op:
            case FPowIOp():
                _replace(op, _whole_power(op, _Before(op)))
            case MmaFOp() if _is_fp8(op) and arch is not None and arch.number < _FP8_SINCE:
                _replace(op, _fp8_product(op, _Before(op)))
            case MmaFScaledOp() if not in_tensor_memory(op):
                _replace(op, _scaled_product(op, _Before(op)))
            case core.ConstantOp() if _is_large(op):
                _replace(op, _loaded_constant(op, _Before(op)))
            case _:
                pass


def _replace(op: Operation, result: SSAValue) -> None:
    result.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
    Rewriter.erase_op(op)


class _Before:
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

    def float(self, value: SSAValue, element: Attribute) -> SSAValue:
        """A tile of floats as one of other floats."""
        if element_of(value) == element:
            return value
        return self.add(FToFOp, [value], tile_type(value).with_element(element), **_ROUNDING)

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


def _constant(value: SSAValue) -> int | None:
    """The integer that every element of a tile is."""
    while isinstance(value.owner, core.ReshapeOp | core.BroadcastOp):
        value = value.owner.source
    constant: Any = value.owner.value if isinstance(value.owner, core.ConstantOp) else None
    return (
        int(constant.array().reshape(-1)[0]) if constant is not None and constant.is_splat else None
    )


def _whole_power(op: FPowIOp, before: _Before) -> SSAValue:
    """x to an integer: its square, which is rounded once; else in f64, rounded once."""
    if _constant(op.exponent) == _SQUARE:
        return before.add(MulFOp, [op.source, op.source], op.result.type, **_ROUNDING)
    exponent = tile_type(op.exponent).with_element(_F64)
    signed = {"signedness": SignednessAttr(Signedness.SIGNED), **_ROUNDING}
    operands = [
        before.float(op.source, _F64),
        before.add(IToFOp, [op.exponent], exponent, **signed),
    ]
    power = before.add(PowOp, operands, operands[0].type)
    return before.float(power, element_of(op.result))


def _is_fp8(op: MmaFOp) -> bool:
    return isinstance(element_of(op.lhs), Float8E4M3FNType | Float8E5M2Type)


def _fp8_product(op: MmaFOp, before: _Before) -> SSAValue:
    """A product of floats of 8 bits, each of which is an f16."""
    a, b = (before.float(operand, _F16) for operand in (op.lhs, op.rhs))
    acc = before.float(op.acc, _F32)
    return before.float(before.add(MmaFOp, [a, b, acc], acc.type), element_of(op.result))


def _scaled_product(op: MmaFScaledOp, before: _Before) -> SSAValue:
    """A scaled product: of f16, where an MMA multiplies that, whose sums over the elements of a
    scale factor are scaled, in f64 where the factors are powers of two as far as 2^127; else of
    f64, of which each is scaled."""
    powers = isinstance(element_of(op.lhs_scale), Float8E8M0FNUType)
    a, b = (before.float(operand, _F16) for operand in (op.lhs, op.rhs))
    if atom_of(MmaFOp.create(operands=[a, b, op.acc], result_types=[op.result.type])) is not None:
        scales = [
            before.float(scale, _F64 if powers else _F32) for scale in (op.lhs_scale, op.rhs_scale)
        ]
        return before.add(MmaFScaledOp, [a, b, op.acc, *scales], op.result.type)
    block = shape_of(op.lhs)[-1] // shape_of(op.lhs_scale)[-1]
    rank = len(shape_of(op.lhs))
    scaled: list[SSAValue] = []
    for operand, scale, axis in (
        (op.lhs, op.lhs_scale, rank - 1),
        (op.rhs, op.rhs_scale, rank - 2),
    ):
        wide = before.float(operand, _F64)
        factor = before.repeated(before.float(scale, _F64), axis, block)
        scaled.append(before.add(MulFOp, [wide, factor], wide.type, **_ROUNDING))
    acc = before.float(op.acc, _F64)
    return before.float(before.add(MmaFOp, [*scaled, acc], acc.type), _F32)


# --- constants ---

TABLE = 4096
"""The elements of a constant that threads choose among by their number; a larger one is loaded."""


def _is_large(op: core.ConstantOp) -> bool:
    value: Any = op.value
    return not value.is_splat and value.type.elements > TABLE


def _loaded_constant(op: core.ConstantOp, before: _Before) -> SSAValue:
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
    return before.add(core.ReshapeOp, [tile], op.result.type)


def _variable(op: Operation, value: ElementsAttr) -> GlobalOp:
    """A new global of the module that an op is in."""
    entry = op
    while not isinstance(entry, EntryOp):
        entry = entry.parent_op()
        assert entry is not None
    block = entry.parent_block()
    assert block is not None
    taken = [other.properties.get("sym_name") for other in block.ops]
    names = (StringAttr(f"{entry.sym_name.data}_constant{number}") for number in count())
    name = next(name for name in names if name not in taken)
    variable = GlobalOp.build(properties={"sym_name": name, "value": value, "constant": UnitAttr()})
    Rewriter.insert_op(variable, InsertPoint.before(entry))
    return variable


def _loaded(variable: GlobalOp, tile: TileType, before: _Before) -> SSAValue:
    """All of a global, as a tile."""
    shape, element = tile.shape, tile.element_type
    tensor = TensorViewType.get(element, shape, (1,))
    view, pointer = PartitionViewType.get(shape, tensor), TileType.get((), PointerType.get(element))
    number = TileType.get((), i32)
    zero = ElementsAttr.of_array(number, np.zeros((), np.int32))
    base = before.add(GetGlobalOp, [], pointer, name=SymbolRefAttr(variable.sym_name.data))
    place = before.add(core.ConstantOp, [], number, value=zero)
    lies = before.insert(MakeTensorViewOp.build(operands=[base, [], []], result_types=[tensor]))
    tiles = before.add(MakePartitionViewOp, [lies.results[0]], view)
    weak = IntegerAttr(MemoryOrderingSemantics.WEAK.number, i32)
    load = LoadViewTkoOp.build(
        operands=[tiles, [place], []],
        result_types=[tile, TOKEN],
        properties={"memory_ordering_semantics": weak},
    )
    return before.insert(load).results[0]
