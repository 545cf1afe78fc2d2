"""Assertions, prints, and barriers, which a program that is one thread of tiles needs not."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import gpu
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.ops.control_flow import AssertOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import PrintTkoOp
from tilewright.dialects.cuda_tile.types import PointerType
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.memory import in_memory
from tilewright.passes.cuda_tile.layouts.elements import element_of


@converts(triton.AssertOp)
def _assert(op: triton.AssertOp, at: TritonConversion) -> None:
    at.insert(AssertOp(at[op.condition], op.message))


@converts(gpu.BarrierOp, triton.BarrierOp)
def _barrier(op: Operation, at: TritonConversion) -> None:
    """Accesses are in the order of the program anyway."""


@converts(triton.PrintOp)
def _print(op: Any, at: TritonConversion) -> None:
    values = at.all(op.args)
    signed = op.isSigned.get_values()
    words = [_conversion(value, bool(op.number("hex")), bool(sign))
             for value, sign in zip(values, signed, strict=True)]  # fmt: skip
    text = op.prefix.data.replace("%", "%%") + ", ".join(words) + "\n"
    at.insert(PrintTkoOp([in_memory(at, value) for value in values], text))


def _conversion(value: SSAValue, in_hex: bool, signed: bool) -> str:
    """The conversion of printf of a value."""
    element = element_of(value)
    if isinstance(element, PointerType) or in_hex:
        return "0x%llx"
    if not isinstance(element, IntegerType):
        return "%f"
    return "%lld" if signed else "%llu"
