"""Ops of Tile IR in terms of others, where these say all that there is to it: what is left is what
the rules of `convert_*` know."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    Float32Type,
    Float64Type,
    i32,
)
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.aggregate import ReduceOp
from tilewright.dialects.cuda_tile.ops.conversions import IToFOp
from tilewright.dialects.cuda_tile.ops.floating_point import FPowIOp, MulFOp, PowOp
from tilewright.dialects.cuda_tile.ops.matrix_multiply import MmaFOp, MmaFScaledOp
from tilewright.dialects.cuda_tile.ops.module import EntryOp
from tilewright.dialects.cuda_tile.ops.views import LoadViewTkoOp, StoreViewTkoOp
from tilewright.dialects.cute_nvgpu.lattice.targets import Target
from tilewright.passes.cuda_tile.analysis.facts import known_integer
from tilewright.passes.cuda_tile.layouts.elements import element_of, shape_of, tile_type
from tilewright.passes.cuda_tile.layouts.layouts import log2
from tilewright.passes.cuda_tile.layouts.tensor_memory_layouts import (
    in_tensor_memory,
    tensor_core_atom,
)
from tilewright.passes.cuda_tile.legalization.advanced_pointers import (
    rewrite_advanced,
)
from tilewright.passes.cuda_tile.legalization.argument_folds import best_of, number_of_best
from tilewright.passes.cuda_tile.legalization.large_constants import is_large, loaded_constant
from tilewright.passes.cuda_tile.legalization.packed_views import (
    is_packed,
    replace_load,
    replace_store,
)
from tilewright.passes.cuda_tile.legalization.scaled_products import scaled_product
from tilewright.passes.cuda_tile.legalization.shaped_builder import (
    EQUAL,
    ROUNDING,
    SIGNED,
    UNSIGNED,
    ShapedBuilder,
    replace,
)

_F16, _BF16, _F32, _F64 = Float16Type(), BFloat16Type(), Float32Type(), Float64Type()
_SQUARE, _FEW = 2, 8
_FP8_SINCE = 89
"""The first target whose MMAs multiply floats of 8 bits."""


def legalize(entry: EntryOp, arch: Target | None, *, placed: bool = False) -> None:
    """Rewrite the ops of an entry that no rule lowers as they are; scaled products that may be in
    tensor memory once it is said which are."""
    if not placed:
        rewrite_advanced(entry)
    for op in list(entry.walk()):
        match op:
            case FPowIOp():
                _replace(op, _whole_power(op, ShapedBuilder(op)))
            case MmaFOp() if isinstance(element_of(op.lhs), Float8E4M3FNType | Float8E5M2Type):
                _fp8_product(op, arch)
            case MmaFOp() if _is_turned(op):
                _replace(op, _turned_product(op, ShapedBuilder(op)))
            case MmaFScaledOp() if placed or tensor_core_atom(op, arch) is None:
                if in_tensor_memory(op):
                    continue
                _replace(op, scaled_product(op, ShapedBuilder(op)))
            case LoadViewTkoOp() if is_packed(op):
                replace_load(op, ShapedBuilder(op))
            case StoreViewTkoOp() if is_packed(op):
                replace_store(op, ShapedBuilder(op))
            case ReduceOp() if (kind := best_of(op)) is not None:
                op.results[1].replace_all_uses_with(number_of_best(op, kind, ShapedBuilder(op)))
                Rewriter.erase_op(op)
            case core.InsertOp():
                _replace(op, _inserted(op, ShapedBuilder(op)))
            case core.BroadcastOp() if op.source.type == op.result.type:
                _replace(op, op.source)
            case core.ConstantOp() if is_large(op):
                _replace(op, loaded_constant(op, ShapedBuilder(op)))
            case _:
                pass


def _replace(op: Operation, result: SSAValue) -> None:
    replace(op, result)
    Rewriter.erase_op(op)


def _is_turned(op: MmaFOp) -> bool:
    """True of a product of as few rows as an MMA has columns, and of as many columns as rows."""
    rows, columns = shape_of(op.result)[-2:]
    return rows == _FEW and columns >= 2 * _FEW and element_of(op.lhs) in (_F16, _BF16)


def _turned_product(op: MmaFOp, before: ShapedBuilder) -> SSAValue:
    """(B' A' + C')': the queries of a token, one for each head of a group, are columns of MMAs."""
    b, a, acc = (before.turned(value) for value in (op.rhs, op.lhs, op.acc))
    return before.turned(before.add(MmaFOp, [b, a, acc], acc.type))


def _whole_power(op: FPowIOp, before: ShapedBuilder) -> SSAValue:
    """x to an integer: its square, which is rounded once; else in f64, rounded once."""
    if known_integer(op.exponent) == _SQUARE:
        return before.add(MulFOp, [op.source, op.source], op.result.type, **ROUNDING)
    exponent = tile_type(op.exponent).with_element(_F64)
    base = before.float(op.source, _F64)
    whole = before.add(IToFOp, [op.exponent], exponent, **SIGNED, **ROUNDING)
    return before.float(before.add(PowOp, [base, whole]), element_of(op.result))


def _inserted(op: core.InsertOp, before: ShapedBuilder) -> SSAValue:
    """A tile where the part is not, and the part, repeated, where it is."""
    whole, part = shape_of(op.destination), shape_of(op.source)
    pairs = [(x // own, own) for x, own in zip(whole, part, strict=True)]
    result = before.reshape(op.source, [x for _, own in pairs for x in (1, own)])
    result = before.broadcast(result, [x for pair in pairs for x in pair])
    result = before.reshape(result, whole)
    for axis, (index, (_, own)) in enumerate(zip(op.indices, pairs, strict=True)):
        row = before.iota(whole[axis], i32)
        place = before.add(integer.ShRIOp, [row, log2(own)], **UNSIGNED)
        inside = before.compare(EQUAL, place, before.spread(index, whole[axis : axis + 1]))
        inside = before.spread(inside, whole, axis)
        result = before.select(inside, result, op.destination)
    return result


def _fp8_product(op: MmaFOp, arch: Target | None) -> None:
    """A product of floats of 8 bits: summed up in f32; of f16, which each of them is, where no MMA
    multiplies them."""
    before, operands = ShapedBuilder(op), [op.lhs, op.rhs]
    if arch is not None and arch.number < _FP8_SINCE:
        operands = [before.float(operand, _F16) for operand in operands]
    elif element_of(op.acc) == _F32:
        return
    acc = before.float(op.acc, _F32)
    product = before.add(MmaFOp, [*operands, acc], acc.type, fast_acc=op.fast_acc)
    _replace(op, before.float(product, element_of(op.result)))
