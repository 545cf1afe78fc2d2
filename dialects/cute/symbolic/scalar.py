"""Arithmetic on one leaf: an integer, or one that is known only when the program runs.

Integers are 64 bits wide and divide towards zero, as the machine's do. The width of a result is the
larger of its operands' widths, an integer that fits counting as 32 bits. A leaf may say what
divides it; results say so where an operand does.
"""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Any, NoReturn, TypeAlias, TypeGuard

from tilewright.dialects.cute.int_tuple import LayoutError
from tilewright.dialects.cute.value import FrozenValue, slot_setter

DEFAULT_WIDTH = 32
WIDTHS = (1, 8, 16, 32, 64)


class Dynamic(FrozenValue):
    """An integer of `width` bits that the program will know when it runs, a multiple of `divisor`:
    `?`, `?{i64}`, `?{div=8}`, `?{i64 div=8}`.

    Two of them are equal when these are: equality is of what is known.
    """

    __slots__ = ("divisor", "width")
    __match_args__ = ("width", "divisor")
    width: int
    divisor: int

    def __init__(self, width: int = DEFAULT_WIDTH, divisor: int = 1):
        _set_width(self, width)
        # More than the text of a type may say: one of its powers of two divides as well.
        _set_divisor(self, divisor if divisor < 1 << 31 else gcd(divisor, 1 << 30))

    def __str__(self) -> str:
        said = [] if self.width == DEFAULT_WIDTH else [f"i{self.width}"]
        said += [f"div={self.divisor}"] if self.divisor != 1 else []
        return f"?{{{' '.join(said)}}}" if said else "?"

    def result(self, operation: str, operands: tuple[Scalar, ...], width: int) -> Dynamic:
        """The type of an operation on these operands, a comparison's being one bit.

        `operation` is one of OPERATIONS; at least one operand is of this class.
        """
        if not any(isinstance(operand, Dynamic) and operand.divisor != 1 for operand in operands):
            return Dynamic(width)
        return Dynamic(width, divisor_of_result(operation, operands))

    def choice(self, then: Callable[[], Scalar], other: Callable[[], Scalar]) -> Scalar:
        """`then` where this condition holds, else `other`."""
        branches = then(), other()
        dynamic = [branch.divisor for branch in branches if isinstance(branch, Dynamic)]
        divisor = gcd(*map(divisor_of, branches)) if any(known != 1 for known in dynamic) else 1
        return type(self)(max(map(width_of, branches)), divisor)


_set_width = slot_setter(Dynamic, "width")
_set_divisor = slot_setter(Dynamic, "divisor")


class Multiple(Dynamic):
    """A Dynamic whose every factor counts: `?` times 8 is `?{div=8}`, where the base class, as
    NVIDIA's types do, goes on with divisors only where some operand names one."""

    __slots__ = ()

    def result(self, operation: str, operands: tuple[Scalar, ...], width: int) -> Dynamic:
        return Multiple(width, divisor_of_result(operation, operands))

    def choice(self, then: Callable[[], Scalar], other: Callable[[], Scalar]) -> Scalar:
        branches = then(), other()
        return Multiple(max(map(width_of, branches)), max(gcd(*map(divisor_of, branches)), 1))


class Missing(FrozenValue):
    """The leaf `x` of a value that could not be computed: types may hold it, and no op takes it."""

    __slots__ = ()

    def __str__(self) -> str:
        return "x"

    def _compared(self, other: object) -> NoReturn:
        raise LayoutError("expected numbers, got x")

    __lt__ = __le__ = __gt__ = __ge__ = _compared


MISSING = Missing()

Scalar: TypeAlias = int | Dynamic
"""A leaf of a shape."""

OPERATIONS = (
    *("add", "sub", "mul", "div", "mod", "ceil_div", "min", "abs"),
    *("and", "xor", "shl", "shr", "eq", "ne", "lt", "gt"),
)
"""The operations that `Dynamic.result` knows."""


def is_scalar(t: Any) -> TypeGuard[Scalar]:
    """A leaf that counts: no tuple, no basis, no underscore."""
    return isinstance(t, int | Dynamic)


def width_of(x: Scalar) -> int:
    """The bits of a leaf."""
    if isinstance(x, Dynamic):
        return x.width
    return 32 if -(1 << 31) <= x < 1 << 31 else 64


def divisor_of(x: Scalar) -> int:
    """The largest number known to divide a leaf; 0, which everything divides, has 0."""
    return x.divisor if isinstance(x, Dynamic) else abs(x)


def _two_power(divisor: int) -> int:
    return divisor & -divisor


def _quotient(operands: tuple[Scalar, ...]) -> int:
    """Of a division; by what is known and divides what is divided, or nothing is known."""
    dividend, by = operands
    whole = divisor_of(dividend)
    return whole // abs(by) if isinstance(by, int) and whole % by == 0 else 1


def _shifted_right(operands: tuple[Scalar, ...]) -> int:
    whole, bits = operands
    assert isinstance(bits, int)
    return divisor_of(whole) >> bits if divisor_of(whole) % (1 << bits) == 0 else 1


_DIVISORS: dict[str, Callable[[tuple[Scalar, ...]], int]] = {
    **dict.fromkeys(("add", "sub", "min", "abs", "mod"), lambda xs: gcd(*map(divisor_of, xs))),
    "mul": lambda xs: divisor_of(xs[0]) * divisor_of(xs[1]),
    **dict.fromkeys(("div", "ceil_div"), _quotient),
    "and": lambda xs: max(_two_power(divisor_of(x)) for x in xs),
    "xor": lambda xs: gcd(*(_two_power(divisor_of(x)) for x in xs)),
    "shl": lambda xs: divisor_of(xs[0]) << divisor_of(xs[1]),
    "shr": _shifted_right,
}
"""A divisor of each operation's result; nothing is known of comparisons."""


def divisor_of_result(operation: str, operands: tuple[Scalar, ...]) -> int:
    """The largest number known to divide what an operation gives."""
    rule = _DIVISORS.get(operation)
    return max(rule(operands), 1) if rule is not None else 1


def fits(x: int, width: int) -> bool:
    """True where a signed integer of `width` bits holds `x`."""
    return -(1 << (width - 1)) <= x < 1 << (width - 1)


def _checked(x: int) -> int:
    if not -(1 << 63) <= x < 1 << 63:
        raise LayoutError(f"expected 64-bit integers, got {x}")
    return x


def _operation(name: str, *operands: Scalar, width: int | None = None) -> Dynamic:
    for operand in operands:
        if isinstance(operand, Dynamic):
            return operand.result(name, operands, width or max(map(width_of, operands)))
    raise LayoutError(f"expected numbers, got {', '.join(map(str, operands))}")


def _nonzero(divisor: Scalar) -> None:
    if divisor == 0:
        raise LayoutError("expected a divisor other than 0")


def add(a: Scalar, b: Scalar) -> Scalar:
    """a + b. Raises LayoutError on overflow."""
    if isinstance(a, int):
        if isinstance(b, int):
            return _checked(a + b)
        if a == 0:
            return b
    elif isinstance(b, int) and b == 0:
        return a
    return _operation("add", a, b)


def sub(a: Scalar, b: Scalar) -> Scalar:
    """a - b. Raises LayoutError on overflow."""
    if isinstance(a, int) and isinstance(b, int):
        return _checked(a - b)
    return a if b == 0 else _operation("sub", a, b)


def mul(a: Scalar, b: Scalar) -> Scalar:
    """a b. Raises LayoutError on overflow."""
    if isinstance(a, int):
        if isinstance(b, int):
            return _checked(a * b)
        a, b = b, a
    if isinstance(b, int) and 0 <= b <= 1:
        return a if b else 0
    return _operation("mul", a, b)


def div(a: Scalar, b: Scalar) -> Scalar:
    """a / b towards zero. Raises LayoutError for a divisor of 0."""
    _nonzero(b)
    if isinstance(a, int) and isinstance(b, int):
        quotient = abs(a) // abs(b)
        return quotient if (a < 0) == (b < 0) else -quotient
    if a == 0 or b == 1:
        return a
    return _operation("div", a, b)


def mod(a: Scalar, b: Scalar) -> Scalar:
    """The remainder of `div`, of the sign of a. Raises LayoutError for a divisor of 0."""
    _nonzero(b)
    if isinstance(a, int) and isinstance(b, int):
        rest = abs(a) % abs(b)
        return -rest if a < 0 else rest
    if a == 0 or b == 1 or b == -1:
        return 0
    return _operation("mod", a, b)


def ceil_div(a: Scalar, b: Scalar) -> Scalar:
    """a / b rounded up. Raises LayoutError for a divisor of 0."""
    _nonzero(b)
    if isinstance(a, int) and isinstance(b, int):
        return -(-a // b)
    if a == 0 or b == 1:
        return a
    return _operation("ceil_div", a, b)


def minimum(a: Scalar, b: Scalar) -> Scalar:
    """The smaller one."""
    if isinstance(a, int):
        if isinstance(b, int):
            return min(a, b)
        a, b = b, a
    return _operation("min", a, b)


def absolute(a: Scalar) -> Scalar:
    """The magnitude."""
    return abs(a) if isinstance(a, int) else _operation("abs", a)


def sign(a: Scalar) -> Scalar:
    """1, 0 or -1."""
    return choose(greater(a, 0), lambda: 1, lambda: choose(equal(a, 0), lambda: 0, lambda: -1))


# --- bits -----------------------------------------------------------------------------------------


def bit_and(a: Scalar, b: int) -> Scalar:
    """The bits that both have."""
    if isinstance(a, int) or b == 0:
        return a & b if isinstance(a, int) else 0
    return _operation("and", a, b)


def bit_xor(a: Scalar, b: Scalar) -> Scalar:
    """The bits that one has."""
    if isinstance(a, int):
        if isinstance(b, int):
            return a ^ b
        a, b = b, a
    return a if b == 0 else _operation("xor", a, b)


def shift_right(a: Scalar, bits: int) -> Scalar:
    """a >> bits with zeros from the left; to the left where `bits` is negative."""
    if isinstance(a, int):
        return a >> bits if bits >= 0 else a << -bits
    if bits == 0:
        return a
    return _operation("shr" if bits > 0 else "shl", a, abs(bits), width=a.width)


# --- conditions -----------------------------------------------------------------------------------

Condition: TypeAlias = bool | Dynamic
"""A comparison's result; `Dynamic(1)` where it is not known."""


def equal(a: Scalar, b: Scalar) -> Condition:
    """a = b; False without asking where one cannot be as large as the other."""
    if isinstance(a, int) and isinstance(b, int):
        return a == b
    if isinstance(a, int):
        a, b = b, a
    if isinstance(b, int) and not fits(b, width_of(a)):
        return False
    return _operation("eq", a, b, width=1)


def unequal(a: Scalar, b: Scalar) -> Condition:
    """a /= b."""
    if isinstance(a, int) and isinstance(b, int):
        return a != b
    return _operation("ne", a, b, width=1)


def less(a: Scalar, b: Scalar) -> Condition:
    """a < b."""
    if isinstance(a, int) and isinstance(b, int):
        return a < b
    return _operation("lt", a, b, width=1)


def greater(a: Scalar, b: Scalar) -> Condition:
    """a > b."""
    if isinstance(a, int) and isinstance(b, int):
        return a > b
    return _operation("gt", a, b, width=1)


def both(a: Condition, b: Condition) -> Condition:
    """The conjunction of two conditions."""
    if isinstance(a, Dynamic) and isinstance(b, Dynamic):
        return _operation("and", a, b, width=1)
    if isinstance(a, Dynamic):
        a, b = b, a
    return b if a else False


def choose(condition: Condition, then: Callable[[], Scalar], other: Callable[[], Scalar]) -> Scalar:
    """`then` where the condition holds, else `other`; both are asked only where it is not known."""
    if isinstance(condition, Dynamic):
        return condition.choice(then, other)
    return then() if condition else other()
