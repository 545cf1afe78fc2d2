"""Leaves of the algebra that are SSA values: computing with them emits arithmetic.

A leaf is `value + addend`. Sums of constants, and divisions that what is known of the value decides
(what divides it, and what it is below), are folded; the same operation on the same values is
emitted once.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.cute.symbolic.scalar import Dynamic, Scalar, divisor_of_result, width_of
from tilewright.dialects.cute.value import slot_setter
from tilewright.lowering.emit.emitter import Emitter


class Leaf(Dynamic):
    """An integer of `width` bits that the kernel computes: an SSA value plus a constant.

    `factor` divides the value and, where that is known not to be negative, it is below `bound`.
    """

    __slots__ = ("addend", "bound", "emitter", "factor", "value")
    __match_args__ = ("width", "value", "addend")
    value: SSAValue
    addend: int
    factor: int
    bound: int | None
    emitter: Emitter

    def __init__(
        self,
        value: SSAValue,
        width: int,
        emitter: Emitter,
        *,
        addend: int = 0,
        factor: int = 1,
        bound: int | None = None,
    ):
        super().__init__(width, max(gcd(factor, addend), 1))
        _set_value(self, value)
        _set_addend(self, addend)
        _set_factor(self, factor)
        _set_bound(self, bound)
        _set_emitter(self, emitter)

    @property
    def below(self) -> int | None:
        """The bound that the whole is below, where it is known not to be negative."""
        return None if self.bound is None or self.addend < 0 else self.bound + self.addend

    def plus(self, addend: int) -> Leaf:
        """The sum with a constant."""
        return Leaf(
            self.value, self.width, self.emitter,
            addend=self.addend + addend, factor=self.factor, bound=self.bound,
        )  # fmt: skip

    def result(self, operation: str, operands: tuple[Scalar, ...], width: int) -> Dynamic:
        folded = _FOLDED.get(operation) if self.emitter.fold else None
        emitted = None if folded is None else folded(*operands)
        if emitted is None:
            emitted = _emitted(self.emitter, operation, operands)
        return emitted  # type: ignore[return-value]

    def choice(self, then: Callable[[], Scalar], other: Callable[[], Scalar]) -> Scalar:
        if not self.emitter.fold:
            return _branched(self, then, other)
        branches = [then(), other()]
        width = max(map(width_of, branches))
        values = [sized(self.emitter, branch, width) for branch in branches]
        return Leaf(self.emitter.select(whole(self), *values), width, self.emitter)


_set_value, _set_addend, _set_factor, _set_bound, _set_emitter = (
    slot_setter(Leaf, name) for name in ("value", "addend", "factor", "bound", "emitter")
)


def width_of_type(type_: Attribute) -> int:
    """The bits of an integer type."""
    assert isa(type_, IntegerType)
    return type_.bitwidth


def sized(emitter: Emitter, x: Scalar, width: int | None) -> SSAValue:
    """A leaf as one SSA value of some width, or an `index`. The constant is added last, so that
    addresses that differ by a constant share the rest."""
    if isinstance(x, int):
        return emitter.constant(x, width)
    assert isinstance(x, Leaf)
    value = emitter.resized(x.value, x.width, width)
    return value if x.addend == 0 else emitter.binary("add", value, x.addend)


def whole(x: Scalar) -> SSAValue:
    """A leaf as one SSA value of its own width."""
    assert isinstance(x, Leaf)
    return sized(x.emitter, x, x.width)


# --- what emits nothing ---------------------------------------------------------------------------

Folded: TypeAlias = int | Dynamic | bool | None
"""A result, or None where arithmetic has to be emitted."""


def _bounded(x: Scalar) -> int | None:
    """The bound that a leaf is below, where it is known not to be negative."""
    if isinstance(x, int):
        return x + 1 if x >= 0 else None
    return x.below if isinstance(x, Leaf) else None


def _add(a: Scalar, b: Scalar) -> Folded:
    if isinstance(a, Leaf) and isinstance(b, Leaf):
        if a.addend or b.addend:
            total = a.plus(-a.addend).result("add", (a.plus(-a.addend), b.plus(-b.addend)), 0)
            assert isinstance(total, Leaf)
            return total.plus(a.addend + b.addend)
        return None
    leaf, constant = (a, b) if isinstance(a, Leaf) else (b, a)
    assert isinstance(leaf, Leaf) and isinstance(constant, int)
    return leaf.plus(constant)


def _sub(a: Scalar, b: Scalar) -> Folded:
    if isinstance(a, Leaf) and isinstance(b, int):
        return a.plus(-b)
    if isinstance(a, Leaf) and isinstance(b, Leaf) and a.value is b.value and a.width == b.width:
        return a.addend - b.addend
    return None


def _mul(a: Scalar, b: Scalar) -> Folded:
    leaf, constant = (a, b) if isinstance(a, Leaf) else (b, a)
    if not isinstance(constant, int) or not isinstance(leaf, Leaf) or not leaf.addend:
        return None
    scaled = leaf.plus(-leaf.addend).result("mul", (leaf.plus(-leaf.addend), constant), 0)
    assert isinstance(scaled, Leaf)
    return scaled.plus(leaf.addend * constant)


def _div(a: Scalar, b: Scalar) -> Folded:
    below = _bounded(a)
    if not isinstance(b, int) or b <= 0 or below is None or not isinstance(a, Leaf):
        return None
    if below <= b:
        return 0
    if a.addend and a.factor % b == 0:
        quotient = a.plus(-a.addend).result("div", (a.plus(-a.addend), b), 0)
        return quotient.plus(a.addend // b) if isinstance(quotient, Leaf) else None
    return None


def _mod(a: Scalar, b: Scalar) -> Folded:
    below = _bounded(a)
    if not isinstance(b, int) or b <= 0 or below is None or not isinstance(a, Leaf):
        return None
    if below <= b:
        return a
    return a.addend % b if a.factor % b == 0 else None


def _less(a: Scalar, b: Scalar) -> Folded:
    below = _bounded(a)
    if isinstance(b, int) and below is not None and (below <= b or b <= 0):
        return b > 0
    return None


def _greater(a: Scalar, b: Scalar) -> Folded:
    below = _bounded(a)
    if isinstance(b, int) and below is not None and (b < 0 or below <= b + 1):
        return b < 0
    return None


def _absolute(a: Scalar) -> Folded:
    return a if _bounded(a) is not None else None


def _ceil_div(a: Scalar, b: Scalar) -> Folded:
    if isinstance(b, int) and b > 0 and isinstance(a, Leaf) and _bounded(a) is not None:
        more = a.plus(b - 1)
        return more.result("div", (more, b), a.width)
    return None


_FOLDED: dict[str, Callable[..., Folded]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "mod": _mod,
    "ceil_div": _ceil_div,
    "lt": _less,
    "gt": _greater,
    "abs": _absolute,
}


# --- what emits arithmetic ------------------------------------------------------------------------

_UNSIGNED = {"div": "udiv", "mod": "umod"}
_COMPARISONS = ("eq", "ne", "lt", "gt")


def _emitted(emitter: Emitter, operation: str, operands: tuple[Scalar, ...]) -> Leaf:
    """The result of an operation, on operands of the larger width."""
    width = max(map(width_of, operands))
    bounds = [bound for operand in operands if (bound := _bounded(operand)) is not None]
    positive = len(bounds) == len(operands)
    name = _UNSIGNED.get(operation, operation) if positive else operation
    value = emitter.arithmetic(name, [sized(emitter, operand, width) for operand in operands])
    if operation in _COMPARISONS:
        return Leaf(value, 1, emitter)
    if not emitter.fold:
        return Leaf(value, width, emitter)
    if operation in ("div", "ceil_div") and positive and not isinstance(operands[1], int):
        bounds[1] = 2  # A divisor that is not known may be 1.
    bound = BOUNDS[operation](*bounds) if positive and operation in BOUNDS else None
    limit = 1 << (width - 1)
    bound = limit if bound is not None and bound > limit else bound
    factor = divisor_of_result(operation, operands)
    return Leaf(value, width, emitter, factor=factor, bound=bound)


def _branched(condition: Leaf, then: Callable[[], Scalar], other: Callable[[], Scalar]) -> Leaf:
    """A choice as an op with branches, in which what they compute is emitted."""
    emitter, values = condition.emitter, list[Scalar]()

    def compute(branch: Callable[[], Scalar]) -> Region:
        return emitter.region(lambda: values.append(branch()))

    regions = [compute(then), compute(other)]
    width = max(map(width_of, values))
    for region, value in zip(regions, values, strict=True):
        outer = emitter.enter(region.block)
        emitter.add(scf.YieldOp(sized(emitter, value, width)))
        emitter.leave(outer)
    chosen = scf.IfOp(whole(condition), [IntegerType(width)], regions[0], regions[1])
    return Leaf(emitter.emit(chosen), width, emitter)


def _bits_above(a: int, b: int) -> int:
    return 1 << max((a - 1).bit_length(), (b - 1).bit_length())


BOUNDS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b - 1,
    "mul": lambda a, b: (a - 1) * (b - 1) + 1,
    "div": lambda a, b: (a - 1) // (b - 1) + 1,
    "mod": lambda a, b: min(a, b - 1) if b > 1 else a,
    "ceil_div": lambda a, b: -(-(a - 1) // (b - 1)) + 1,
    "min": lambda a, b: min(a, b),
    "and": lambda a, b: min(a, b),
    "xor": _bits_above,
    "shr": lambda a, b: ((a - 1) >> (b - 1)) + 1,
    "shl": lambda a, b: ((a - 1) << (b - 1)) + 1,
}
"""The bound of a result, of operands that are not negative and below these."""
