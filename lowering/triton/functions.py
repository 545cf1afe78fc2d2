"""Functions: a call is the body of what it calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.traits import SymbolTable

from tilewright.dialects import triton
from tilewright.lowering.triton.control_flow import converted_blocks
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.source.diagnostic import OpError


@converts
def _call(op: triton.CallOp, at: TritonConversion) -> Sequence[Any]:
    callee = SymbolTable.lookup_symbol(op, op.callee)
    if not isinstance(callee, triton.FuncOp) or not callee.body.blocks:
        raise OpError(op, f"'{op.name}' expected a function with a body, got {op.callee}")
    if callee in at.calls:
        raise OpError(op, f"'{op.name}' expected a callee that does not call itself")
    at.calls.append(callee)
    entry = callee.body.blocks[0]
    at.bind(entry.args, at.all(op.operands))
    results = converted_blocks(at, entry)
    at.calls.pop()
    return results
