"""Products of block-scaled matrices: the operands are scaled first, as bf16, or as f16 where one of
them is of f16.

A scale is the exponent of a power of two, for 32 elements along k: `a_scale` is [m, k / 32],
`b_scale` [n, k / 32]. Elements of four bits come in pairs, as bytes, the lower half first.
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float4E2M1FNType,
    Float32Type,
    i16,
    i32,
)
from xdsl.ir import SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.element_types import types_of
from tilewright.dialects.cuda_tile.ops import core, integer
from tilewright.dialects.cuda_tile.ops.floating_point import MulFOp
from tilewright.dialects.cuda_tile.types import TileType
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.products import product
from tilewright.passes.cuda_tile.layouts.elements import shape_of, tile_type
from tilewright.passes.cuda_tile.legalization.shaped_builder import EQUAL, ROUNDING
from tilewright.source.diagnostic import OpError

_BF16, _F16 = types_of("bf16", "f16")
_BLOCK, _NO_NUMBER = 32, -1
_ELEMENTS = ("e4m3", "e5m2", "e2m1", "bf16", "fp16")


@converts(triton.DotScaledOp)
def _dot_scaled(op: Any, at: TritonConversion) -> SSAValue:
    kinds = [op.word("a_elem_type"), op.word("b_elem_type")]
    for kind in kinds:
        if kind not in _ELEMENTS:
            raise OpError(
                op, f"'{op.name}' expected elements {' or '.join(_ELEMENTS)}, got {kind} (Tile IR "
                "has no such floats); nearest legal: e4m3"
            )  # fmt: skip
    element = _F16 if "fp16" in kinds else _BF16
    exact = not op.word("fastMath")
    packed = op.word("lhs_k_pack"), op.word("rhs_k_pack")
    lhs = _unpacked(at, at[op.a], kinds[0], 1 if packed[0] else 0)
    rhs = _unpacked(at, at[op.b], kinds[1], 0 if packed[1] else 1)
    if op.a_scale is not None:
        lhs = _scaled(at, at.float(lhs, element), at[op.a_scale], exact)
    if op.b_scale is not None:
        columns = _transposed(at, at.float(rhs, element))
        rhs = _transposed(at, _scaled(at, columns, at[op.b_scale], exact))
    return product(at, at.float(lhs, element), at.float(rhs, element), at[op.c])


def _transposed(at: TritonConversion, value: SSAValue) -> SSAValue:
    type_ = TileType.get(shape_of(value)[::-1], tile_type(value).element_type)
    order = DenseArrayBase.from_list(i32, [1, 0])
    return at.add(core.PermuteOp, [value], type_, permutation=order)


def _unpacked(at: TritonConversion, value: SSAValue, kind: str, axis: int) -> SSAValue:
    """A matrix whose bytes hold two elements along an axis, as one of elements."""
    if kind != "e2m1":
        return value
    rows = value if axis else _transposed(at, value)
    shape = shape_of(rows)
    count = shape[0] * shape[1]
    type_ = TileType.get((2 * count,), Float4E2M1FNType())
    elements = at.add(core.UnpackOp, [at.reshape(rows, (count,))], type_)
    wide = at.reshape(at.float(elements, _BF16), (shape[0], 2 * shape[1]))
    return wide if axis else _transposed(at, wide)


def _scaled(at: TritonConversion, rows: SSAValue, scale: SSAValue, exact: bool) -> SSAValue:
    """Rows times their scales; `exact` of scales that are no number NaN."""
    type_ = tile_type(rows)
    bits = at.add(integer.ShLIOp, [at.resized(scale, i16), 7])
    powers = at.bitcast(bits, _BF16)
    if type_.element_type != _BF16:
        powers = at.float(at.float(powers, Float32Type()), type_.element_type)
    product_ = at.add(MulFOp, [rows, at.repeated(powers, 1, _BLOCK)], **ROUNDING)
    if not exact:
        return product_
    wrong = at.compare(EQUAL, scale, _NO_NUMBER)
    nan = at.constant(float("nan"), type_)
    return at.select(at.repeated(wrong, 1, _BLOCK), nan, product_)
