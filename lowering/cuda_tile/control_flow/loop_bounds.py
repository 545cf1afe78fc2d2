"""The bounds of a loop over a range, and its variable."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i32, i64
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.dialects.integers import constant_integer
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import RELATIONS, on_integers
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering
from tilewright.lowering.cuda_tile.kernel.loop_part import Range
from tilewright.passes.cuda_tile.layouts.elements import element_of

_AHEAD = 32
"""The iterations that a copy may be ahead, or more: their numbers are of the variable's type."""


def is_counted(op: ForOp) -> bool:
    """True of a loop over unsigned i64, which counts its iterations instead."""
    return op.unsigned_cmp is not None and element_of(op.lower_bound) == i64


def loop_bounds(op: ForOp, kernel: EntryLowering) -> Range:
    """The bounds and the step, in 64 bits where a number behind the last one may be none of its
    type, or is unsigned, or PTX has no such type, in 32 where it is small, or counts by one for
    who issues MMAs, which is never ahead."""
    lower, upper, step = (
        kernel.scalar(bound) for bound in (op.lower_bound, op.upper_bound, op.step)
    )
    if is_counted(op):
        return _iterations(kernel, lower, upper, step)
    assert isa(lower.type, IntegerType)
    width = lower.type.bitwidth
    unsigned, last, by = (
        op.unsigned_cmp is not None,
        constant_integer(upper),
        constant_integer(step),
    )
    small = last is not None and by is not None and last + _AHEAD * by < 1 << (width - 1)
    small |= by == 1 and kernel.tensor.elected is not None
    if width == 64 and (narrow := _narrow(kernel, lower, upper, step)) is not None:
        return narrow
    if (small and not unsigned and width > 8) or width == 64:
        return Range(lower, upper, step, lower)
    cast = arith.ExtUIOp if unsigned else arith.ExtSIOp
    lower, upper, step = (kernel.emit(cast, [bound], i64) for bound in (lower, upper, step))
    return Range(lower, upper, step, lower)


def _narrow(
    kernel: EntryLowering, lower: SSAValue, upper: SSAValue, step: SSAValue
) -> Range | None:
    """Bounds of 64 bits in 32, of which the upper one is the least of a small number and others."""
    first, by, least = constant_integer(lower), constant_integer(step), upper.owner
    if first is None or by is None or not isinstance(least, arith.MinSIOp):
        return None
    most = [known for known in map(constant_integer, least.operands) if known is not None]
    if not most or first < 0 or max(first, *most) + _AHEAD * by >= 1 << 31:
        return None
    upper = on_integers(kernel, arith.MaxSIOp, upper, lower)
    lower, upper, step = (kernel.emit(arith.TruncIOp, [x], i32) for x in (lower, upper, step))
    return Range(lower, upper, step, lower)


def _iterations(kernel: EntryLowering, lower: SSAValue, upper: SSAValue, step: SSAValue) -> Range:
    """From zero to the number of iterations of an unsigned loop, by one."""
    zero, one = kernel.constant(0, i64), kernel.constant(1, i64)
    less = IntegerAttr(RELATIONS["less_than"][1], i64)
    some = kernel.emit(arith.CmpiOp, [lower, upper], i1, predicate=less)
    distance = on_integers(kernel, arith.SubiOp, upper, lower)
    count = on_integers(kernel, arith.CeilDivUIOp, distance, step)
    return Range(zero, kernel.emitter.select(some, count, zero), one, zero)


def loop_variable(op: ForOp, number: SSAValue, kernel: EntryLowering) -> SSAValue:
    """The variable of a loop, of what counts it."""
    if not is_counted(op):
        return number
    passed = on_integers(kernel, arith.MuliOp, number, kernel.scalar(op.step))
    return on_integers(kernel, arith.AddiOp, kernel.scalar(op.lower_bound), passed)
