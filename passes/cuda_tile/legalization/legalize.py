"""Ops of Tile IR in terms of others, where these say all that there is to it: what is left is what
the rules of `convert_*` know."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    i1,
    i32,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.cuda_tile.enums import ComparisonPredicate, Signedness
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.conversions import IToFOp
from tilewright.dialects.cuda_tile.ops.floating_point import FPowIOp, MulFOp, PowOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, StoreViewTkoOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.passes.cuda_tile.layouts.layouts import log2
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    in_tensor_memory,
    tensor_core_atom,
)
from tilewright.passes.cuda_tile.legalization.advanced_pointers import (
    rewrite_advanced_pointers,
)
from tilewright.passes.cuda_tile.legalization.before import ROUNDING, Before
from tilewright.passes.cuda_tile.legalization.large_constants import is_large, loaded_constant
from tilewright.passes.cuda_tile.legalization.packed_views import (
    is_packed,
    replace_load,
    replace_store,
)
from tilewright.passes.cuda_tile.legalization.scaled_products import scaled_product

_F16, _F32, _F64 = Float16Type(), Float32Type(), Float64Type()
_SQUARE = 2
_FP8_SINCE = 89
"""The first target whose MMAs multiply floats of 8 bits."""


def legalize(entry: EntryOp, arch: Target | None, *, placed: bool = False) -> None:
    """Rewrite the ops of an entry that no rule lowers as they are; scaled products that may be in
    tensor memory once it is said which are."""
    if not placed:
        rewrite_advanced_pointers(entry)
    for op in list(entry.walk()):
        match op:
            case FPowIOp():
                _replace(op, _whole_power(op, Before(op)))
            case MmaFOp() if _is_fp8(op):
                _fp8_product(op, arch)
            case MmaFScaledOp() if placed or tensor_core_atom(op, arch) is None:
                if in_tensor_memory(op):
                    continue
                _replace(op, scaled_product(op, Before(op)))
            case LoadViewTkoOp() if is_packed(op):
                replace_load(op, Before(op))
            case StoreViewTkoOp() if is_packed(op):
                replace_store(op, Before(op))
            case core.InsertOp():
                _replace(op, _inserted(op, Before(op)))
            case core.BroadcastOp() if op.source.type == op.result.type:
                _replace(op, op.source)
            case core.ConstantOp() if is_large(op):
                _replace(op, loaded_constant(op, Before(op)))
            case _:
                pass


def _replace(op: Operation, result: SSAValue) -> None:
    result.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
    Rewriter.erase_op(op)


def _constant(value: SSAValue) -> int | None:
    """The integer that every element of a tile is."""
    while isinstance(value.owner, core.ReshapeOp | core.BroadcastOp):
        value = value.owner.source
    constant: Any = value.owner.value if isinstance(value.owner, core.ConstantOp) else None
    return (
        int(constant.array().reshape(-1)[0]) if constant is not None and constant.is_splat else None
    )


def _whole_power(op: FPowIOp, before: Before) -> SSAValue:
    """x to an integer: its square, which is rounded once; else in f64, rounded once."""
    if _constant(op.exponent) == _SQUARE:
        return before.add(MulFOp, [op.source, op.source], op.result.type, **ROUNDING)
    exponent = tile_type(op.exponent).with_element(_F64)
    base = before.float(op.source, _F64)
    signed = {"signedness": Signedness.SIGNED, **ROUNDING}
    power = before.add(PowOp, [base, before.add(IToFOp, [op.exponent], exponent, **signed)])
    return before.float(power, element_of(op.result))


def _inserted(op: core.InsertOp, before: Before) -> SSAValue:
    """A tile where the part is not, and the part, repeated, where it is."""
    whole, part = shape_of(op.destination), shape_of(op.source)
    pairs = [(x // own, own) for x, own in zip(whole, part, strict=True)]
    element, result = element_of(op.source), op.source
    for kind, shape in (
        (core.ReshapeOp, [x for _, own in pairs for x in (1, own)]),
        (core.BroadcastOp, [x for pair in pairs for x in pair]),
        (core.ReshapeOp, whole),
    ):
        result = before.add(kind, [result], TileType.get(tuple(shape), element))
    for axis, (index, (_, own)) in enumerate(zip(op.indices, pairs, strict=True)):
        ones = [x if i == axis else 1 for i, x in enumerate(whole)]
        row = TileType.get((whole[axis],), i32)
        place = before.insert(core.IotaOp.create(result_types=[row])).result
        place = before.add(integer.ShRIOp, [place, before.constant(log2(own), row)],
                           signedness=Signedness.UNSIGNED)  # fmt: skip
        index = before.add(core.ReshapeOp, [index], TileType.get((1,), i32))
        index = before.broadcast(index, (whole[axis],))
        inside = before.add(
            integer.CmpIOp, [place, index], row.with_element(i1),
            comparison_predicate=ComparisonPredicate.EQUAL, signedness=Signedness.UNSIGNED,
        )  # fmt: skip
        inside = before.add(core.ReshapeOp, [inside], TileType.get(tuple(ones), i1))
        inside = before.broadcast(inside, whole)
        result = before.add(core.SelectOp, [inside, result, op.destination], op.result.type)
    return result


def _is_fp8(op: MmaFOp) -> bool:
    return isinstance(element_of(op.lhs), Float8E4M3FNType | Float8E5M2Type)


def _fp8_product(op: MmaFOp, arch: Target | None) -> None:
    """A product of floats of 8 bits: summed up in f32; of f16, which each of them is, where no MMA
    multiplies them."""
    before, operands = Before(op), [op.lhs, op.rhs]
    if arch is not None and arch.number < _FP8_SINCE:
        operands = [before.float(operand, _F16) for operand in operands]
    elif element_of(op.acc) == _F32:
        return
    acc = before.float(op.acc, _F32)
    product = before.add(MmaFOp, [*operands, acc], acc.type)
    _replace(op, before.float(product, element_of(op.result)))
