"""Functions of libdevice, by name: `__nv_NAMEf` is of f32, `__nv_NAME` of f64."""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.ops.floating_point import RemFOp
from tilewright.dialects.cuda_tile.ops.scalar_programs import LibdeviceOp
from tilewright.dialects.cuda_tile.type_text import shown
from tilewright.dialects.math_functions.libdevice import signature_fault
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.passes.cuda_tile.layouts.elements import element_of
from tilewright.source.diagnostic import OpError

_REMAINDERS = ("__nv_fmod", "__nv_fmodf")
"""Those that are an op of Tile IR."""


@converts(triton.ExternElementwiseOp)
def _function(op: Any, at: TritonConversion) -> SSAValue:
    symbol: str = op.symbol.data
    values, type_ = at.all(op.srcs), at.tile(op.result.type)
    if symbol in _REMAINDERS:
        return at.add(RemFOp, values, type_)
    elements = [shown(element_of(value)) for value in values]
    fault = signature_fault(symbol, elements, shown(type_.element_type))
    if fault is not None:
        raise OpError(op, f"'{op.name}' expected {fault}")
    return at.add(LibdeviceOp, values, type_, function=op.symbol)
