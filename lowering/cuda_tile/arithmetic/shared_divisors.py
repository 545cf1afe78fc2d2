"""Division of many numbers by one, as a softmax divides a row: the reciprocal is computed once.

    r = rcp(y); r = r + r (1 - y r)      q = x r; q = q + r (x - y q)

r is 1 / y rounded once, of every significand (tests/lowering/interpreter/numerics/test_fma.py), and
q is x / y rounded once, where nothing overflows or is subnormal on its way; elsewhere each is
divided by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import f32
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Operation, SSAValue

from tilewright.lowering.cuda_tile.arithmetic.convert_elementwise import compared_floats, on_floats
from tilewright.lowering.cuda_tile.kernel.kernel import EntryLowering

RECIPROCAL = FastMathFlagsAttr([FastMathFlag.ALLOW_RECIP])
_FEWEST = 8
"""The numbers from which on it is worth it."""
_SMALL, _LARGE = 2.0**-60, 2.0**60
"""Between these magnitudes of both, quotients and what is left of x are no subnormal numbers."""


def quotients(
    kernel: EntryLowering, xs: Sequence[SSAValue], ys: Sequence[SSAValue]
) -> list[SSAValue]:
    """The quotients of f32s."""
    results: dict[int, SSAValue] = {}
    for y in dict.fromkeys(ys):
        places = [i for i, own in enumerate(ys) if own is y]
        row = [xs[i] for i in places]
        if len(set(row)) < _FEWEST:
            own = _one_by_one(kernel, row, y)
        else:
            own = kernel.emitter.either(
                _is_plain(kernel, row, y),
                lambda row=row, y=y: _by_reciprocal(kernel, row, y),
                lambda row=row, y=y: _one_by_one(kernel, row, y),
            )
        results.update(zip(places, own, strict=True))
    return [results[i] for i in range(len(xs))]


def _one_by_one(kernel: EntryLowering, xs: Sequence[SSAValue], y: SSAValue) -> list[SSAValue]:
    return [on_floats(kernel, arith.DivfOp, x, y) for x in xs]


def _is_plain(kernel: EntryLowering, xs: Sequence[SSAValue], y: SSAValue) -> SSAValue:
    """True where all magnitudes are between the bounds."""
    sizes = [on_floats(kernel, math.AbsFOp, x) for x in xs]
    divisor = on_floats(kernel, math.AbsFOp, y)
    least, most = (_folded(kernel, kind, sizes) for kind in (arith.MinnumfOp, arith.MaxnumfOp))
    small, large = (kernel.constant(bound, f32) for bound in (_SMALL, _LARGE))
    plain: SSAValue | None = None
    for below, above in ((small, least), (most, large), (small, divisor), (divisor, large)):
        plain = kernel.both(plain, compared_floats(kernel, "less_than", below, above))
    assert plain is not None
    return plain


def _folded(kernel: EntryLowering, kind: type[Operation], values: Sequence[SSAValue]) -> SSAValue:
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    parts = (_folded(kernel, kind, part) for part in (values[:half], values[half:]))
    return on_floats(kernel, kind, *parts)


def _by_reciprocal(kernel: EntryLowering, xs: Sequence[SSAValue], y: SSAValue) -> list[SSAValue]:
    one, minus = kernel.constant(1.0, f32), on_floats(kernel, arith.NegfOp, y)
    first = kernel.emit(arith.DivfOp, [one, y], f32, fastmath=RECIPROCAL)
    error = on_floats(kernel, math.FmaOp, minus, first, one)
    inverse = on_floats(kernel, math.FmaOp, first, error, first)
    results: list[SSAValue] = []
    for x in xs:
        near = on_floats(kernel, arith.MulfOp, x, inverse)
        left = on_floats(kernel, math.FmaOp, minus, near, x)
        results.append(on_floats(kernel, math.FmaOp, left, inverse, near))
    return results
