"""Computation on floats, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr, f32, f64, i1, i32, i64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda_tile.accuracy import libdevice_function
from tilewright.dialects.cuda_tile.ops import floating_point, scalar_programs
from tilewright.dialects.cuda_tile.ops.elementwise import BinaryFloat
from tilewright.dialects.cuda_tile.ops.operation import word
from tilewright.dialects.cute_nvgpu.lattice.scalar import FLUSHING
from tilewright.dialects.cute_nvgpu.ops.libdevice import LibdeviceOp
from tilewright.dialects.cute_nvgpu.ops.rounded import RoundedOp
from tilewright.dialects.ptx.control_flow import BY_WARPS
from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import (
    EXACT,
    RELATIONS,
    ThreadWord,
    compared_floats,
    elementwise,
)
from tilewright.lowering.cuda_tile.arithmetic.directed_rounding import (
    flushed_form,
    full_quotient,
    rounded_to,
)
from tilewright.lowering.cuda_tile.arithmetic.late_exchanges import put_off_exchanges
from tilewright.lowering.cuda_tile.arithmetic.narrow_floats import DIRECTIONS
from tilewright.lowering.cuda_tile.arithmetic.shared_divisors import RECIPROCAL, quotients
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering, lowers
from tilewright.passes.cuda_tile.layouts.elements import element_of
from tilewright.passes.cuda_tile.layouts.layouts import TileLayout

_FLOAT: dict[type[Operation], type[Operation]] = {
    floating_point.AddFOp: arith.AddfOp,
    floating_point.SubFOp: arith.SubfOp,
    floating_point.MulFOp: arith.MulfOp,
    floating_point.DivFOp: arith.DivfOp,
    floating_point.NegFOp: arith.NegfOp,
    floating_point.AbsFOp: math.AbsFOp,
    floating_point.SqrtOp: math.SqrtOp,
    floating_point.CeilOp: math.CeilOp,
    floating_point.FloorOp: math.FloorOp,
    floating_point.ExpOp: math.ExpOp,
    floating_point.Exp2Op: math.Exp2Op,
    floating_point.LogOp: math.LogOp,
    floating_point.Log2Op: math.Log2Op,
    floating_point.SinOp: math.SinOp,
    floating_point.CosOp: math.CosOp,
    floating_point.TanOp: math.TanOp,
    floating_point.SinHOp: math.SinhOp,
    floating_point.CosHOp: math.CoshOp,
    floating_point.TanHOp: math.TanhOp,
    floating_point.Atan2Op: math.Atan2Op,
    floating_point.PowOp: math.PowFOp,
    floating_point.RsqrtOp: math.RsqrtOp,
    floating_point.FmaOp: math.FmaOp,
}
_EXTREMES: dict[type[Operation], tuple[type[Operation], type[Operation]]] = {
    floating_point.MaxFOp: (arith.MaxnumfOp, arith.MaximumfOp),
    floating_point.MinFOp: (arith.MinnumfOp, arith.MinimumfOp),
}


@lowers
def _libdevice(op: scalar_programs.LibdeviceOp, kernel: EntryLowering) -> None:
    type_ = kernel.scalar_type(op, op.result)
    elementwise(op, kernel, kernel.emits(LibdeviceOp, type_, function=op.function))


_APPROXIMATE = FastMathFlagsAttr([FastMathFlag.APPROX_FUNC])
_FREE: dict[type[Operation], FastMathFlagsAttr] = {
    floating_point.DivFOp: RECIPROCAL,
    floating_point.ExpOp: _APPROXIMATE,
    floating_point.TanHOp: _APPROXIMATE,
}
"""The flags of f32 with rounding<approx>."""


@lowers(*_FLOAT, *_EXTREMES)
def _floats(op: Operation, kernel: EntryLowering) -> None:
    rounding = word(op, "rounding_mode")
    plainly = rounding in ("", "nearest_even") and "flush_to_zero" not in op.properties
    if isinstance(op, floating_point.DivFOp) and plainly and element_of(op.lhs) == f32:
        kernel.give(op, lambda layout: [
            quotients(kernel, *(kernel.elements(x, layout) for x in op.operands))
        ])  # fmt: skip
        return
    late = kernel.late
    rescales = isinstance(op, BinaryFloat) and late is not None and op.lhs is late.rescaled
    if rescales and isinstance(op, floating_point.MulFOp) and plainly:
        kernel.give(op, partial(_rescaled, op, kernel))
        return
    elementwise(op, kernel, float_function(op, kernel))


_FEW = 8
"""The elements of a thread for each factor from which on a branch around their products pays."""


def _rescaled(
    op: BinaryFloat, kernel: EntryLowering, layout: TileLayout
) -> list[Sequence[SSAValue]]:
    """Sums times factors of rows, those of each row where a warp has one that is not 1: those of
    attention are 1 while no score is greater than before, and what is multiplied by 1 stays as it
    is."""
    sums, factors = (kernel.elements(x, layout) for x in (op.lhs, op.rhs))
    own, compute = dict.fromkeys(factors), float_function(op, kernel)
    if _FEW * len(own) > len(sums):
        return [[*map(compute, sums, factors)]]
    scaled, branch = dict[int, SSAValue](), None
    for factor in own:
        row = [place for place, other in enumerate(factors) if other is factor]
        stays = compared_floats(kernel, "equal", factor, kernel.constant(1.0, factor.type))
        results = kernel.emitter.either(
            stays,
            lambda row=row: [sums[place] for place in row],
            lambda row=row, factor=factor: [compute(sums[place], factor) for place in row],
        )
        branch = results[0].owner
        assert isinstance(branch, Operation)
        branch.attributes[BY_WARPS] = UnitAttr()
        scaled.update(zip(row, results, strict=True))
    assert branch is not None
    put_off_exchanges(branch)
    return [[scaled[place] for place in range(len(sums))]]


def float_function(op: Operation, kernel: EntryLowering) -> Callable[..., SSAValue]:
    """The element of a result of floats, of the elements of the operands."""
    rounding, type_ = word(op, "rounding_mode"), kernel.scalar_type(op, op.results[0])
    extremes = _EXTREMES.get(type(op))
    kind = _FLOAT[type(op)] if extremes is None else extremes["propagate_nan" in op.properties]
    flags, flushes = EXACT, "flush_to_zero" in op.properties
    if rounding == "approx":
        flags = _FREE.get(type(op), EXACT)
    elif flushes and isinstance(op, floating_point.Exp2Op):
        # The chip's own function flushes.
        flags, flushes = _APPROXIMATE, False
    plain = kernel.emits(kind, type_, fastmath=flags)
    function = libdevice_function(op, double=type_ == f64) if flags is EXACT else None
    if function is not None:
        plain = kernel.emits(LibdeviceOp, type_, function=StringAttr(function))
    if (form := full_quotient(op, rounding, flushes=flushes)) is not None:
        return kernel.emits(RoundedOp, type_, form=StringAttr(form))
    if rounding in DIRECTIONS:
        plain = partial(rounded_to, op, kernel, rounding)
    if not flushes:
        return plain
    if flags is RECIPROCAL:
        product = kernel.emits(RoundedOp, type_, form=StringAttr(f"mul.rn{FLUSHING}f32"))

        def quotient(x: SSAValue, y: SSAValue) -> SSAValue:
            return product(x, plain(kernel.constant(1.0, type_), y))

        return quotient
    if (form := flushed_form(op, rounding)) is not None:
        return kernel.emits(RoundedOp, type_, form=StringAttr(form))
    return lambda *operands: _flushed(kernel, plain(*(_flushed(kernel, x) for x in operands)))


def _flushed(kernel: EntryLowering, value: SSAValue) -> SSAValue:
    """An f32; where it is subnormal, the zero of its sign."""
    bits = ThreadWord.of(kernel, value, i32)
    exponent = bits & 0x7F800000
    tiny = kernel.emitter.compare("eq", exponent.value, 0)
    return bits.where(tiny, bits & 0x80000000).to(value.type)


_UNORDERED = 7
"""The distance of an unordered relation of floats from the ordered one, in their numbers."""


@lowers
def _compare_floats(op: floating_point.CmpFOp, kernel: EntryLowering) -> None:
    *_, ordered = RELATIONS[word(op, "comparison_predicate")]
    above = 0 if word(op, "comparison_ordering") == "ordered" else _UNORDERED
    number = IntegerAttr(ordered + above, i64)
    elementwise(op, kernel, kernel.emits(arith.CmpfOp, i1, predicate=number, fastmath=EXACT))
