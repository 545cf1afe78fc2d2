"""Branches and constants that rules emit."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.hints import isa

from tilewright.lowering.tile.kernel import Kernel


def when(
    condition: SSAValue,
    body: Callable[[], None],
    kernel: Kernel,
    otherwise: Callable[[], None] | None = None,
) -> None:
    """Emit what `body` emits under a condition, and what `otherwise` does under its opposite."""
    emitter = kernel.emitter
    regions: list[Region] = []
    for each in (body, otherwise):
        if each is None:
            regions.append(Region())
            continue
        outer = emitter.enter(block := Block())
        each()
        emitter.add(scf.YieldOp())
        emitter.leave(outer)
        regions.append(Region(block))
    emitter.add(scf.IfOp(condition, [], regions[0], regions[1]))


def zero_constant(element: Attribute) -> arith.ConstantOp:
    """Zero of an element type."""
    if isa(element, IntegerType):
        return arith.ConstantOp(IntegerAttr(0, element))
    assert isinstance(element, AnyFloat)
    return arith.ConstantOp(FloatAttr(0.0, element))
