"""Assertions, assumptions, prints, and barriers, which one thread of tiles needs not."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import triton
from tilewright.dialects.cuda_tile.attributes import BoundedAttr
from tilewright.dialects.cuda_tile.ops.control_flow import AssertOp
from tilewright.dialects.cuda_tile.ops.miscellaneous import PrintTkoOp
from tilewright.dialects.cuda_tile.types import PointerType
from tilewright.lowering.triton.conversion import TritonConversion, converts
from tilewright.lowering.triton.facts import assumed
from tilewright.lowering.triton.memory import in_memory
from tilewright.passes.cuda_tile.layouts.elements import element_of


@converts
def _assert(op: triton.AssertOp, at: TritonConversion) -> None:
    at.insert(AssertOp(at[op.condition], op.message))


@converts(triton.AssumeOp)
def _assume(op: Any, at: TritonConversion) -> None:
    """A comparison with a constant, signed, bounds a value."""
    compared = op.operands[0].owner
    if not isinstance(compared, arith.CmpiOp) or not isinstance(
        limit := compared.rhs.owner, arith.ConstantOp
    ):
        return
    number = limit.value
    if not isinstance(number, IntegerAttr):
        return
    bound = number.value.data
    bounds = {
        0: (bound, bound), 2: (None, bound - 1), 3: (None, bound), 4: (bound + 1, None),
        5: (bound, None),
    }.get(compared.predicate.value.data)  # fmt: skip
    if bounds is not None:
        at[compared.lhs] = assumed(at, at[compared.lhs], BoundedAttr.get(*bounds))


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
