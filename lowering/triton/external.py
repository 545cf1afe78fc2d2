"""Functions of libdevice, by name: those that Tile IR has. `__nv_NAMEf` is of f32, `__nv_NAME` of
f64."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.ops import floating_point
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.passes.cuda_tile.legalization.shaped_builder import ROUNDING
from tilewright.source.diagnostic import OpError

_PLAIN: dict[str, type[Operation]] = {
    "fabs": floating_point.AbsFOp, "ceil": floating_point.CeilOp, "cos": floating_point.CosOp,
    "cosh": floating_point.CosHOp, "exp": floating_point.ExpOp, "exp2": floating_point.Exp2Op,
    "floor": floating_point.FloorOp, "fmax": floating_point.MaxFOp, "fmin": floating_point.MinFOp,
    "fmod": floating_point.RemFOp, "log": floating_point.LogOp, "log2": floating_point.Log2Op,
    "pow": floating_point.PowOp, "rsqrt": floating_point.RsqrtOp, "sin": floating_point.SinOp,
    "sinh": floating_point.SinHOp, "tan": floating_point.TanOp, "tanh": floating_point.TanHOp,
}  # fmt: skip
_ROUNDED: dict[str, type[Operation]] = {
    "fma": floating_point.FmaOp, "sqrt": floating_point.SqrtOp,
}  # fmt: skip
FUNCTIONS: Mapping[str, tuple[type[Operation], Mapping[str, Any]]] = {
    f"__nv_{name}{end}": (kind, properties)
    for table, properties in ((_PLAIN, {}), (_ROUNDED, ROUNDING))
    for name, kind in table.items()
    for end in ("", "f")
}
"""The op that a function is, and its properties."""


@converts(triton.ExternElementwiseOp)
def _function(op: Any, at: TritonConversion) -> SSAValue:
    symbol: str = op.symbol.data
    if symbol not in FUNCTIONS:
        [near] = get_close_matches(symbol, FUNCTIONS, n=1, cutoff=0.0)
        raise OpError(
            op, f"'{op.name}' expected a function that Tile IR has, got {symbol}; nearest legal: "
            f"{near}"
        )  # fmt: skip
    kind, properties = FUNCTIONS[symbol]
    return at.add(kind, at.all(op.srcs), at.tile(op.result.type), **properties)
