"""Integers of all threads at once: a number where threads agree, an array [threads] where they do
not, and `UNKNOWN`."""

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.ir import Operation


class Unknown:
    """A number that nothing is known of; computing with it gives it again."""

    __array_ufunc__ = None

    def __bool__(self) -> bool:
        raise TypeError("an unknown value is neither true nor false")


UNKNOWN: Final = Unknown()

Array = NDArray[np.int64]
Scalar = int | Array | Unknown
Binary = Callable[[Any, Any], Any]

_WORD = 1 << 64


def known(function: Binary) -> Callable[[Scalar, Scalar], Scalar]:
    """A function of numbers as one of scalars."""
    return lambda a, b: UNKNOWN if a is UNKNOWN or b is UNKNOWN else function(a, b)


def _divided(function: Binary) -> Binary:
    """A division; what is divided by zero is unknown, or nobody's where threads differ."""

    def safe(a: Any, b: Any) -> Any:
        if isinstance(b, int):
            return UNKNOWN if b == 0 else function(a, b)
        return function(a, np.where(b == 0, 1, b))

    return safe


def _quotient(a: Any, b: Any) -> Any:
    """Towards zero."""
    if isinstance(a, int) and isinstance(b, int):
        return -(-a // b) if (a < 0) != (b < 0) and a else a // b
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


def _word(a: Any) -> Any:
    """The number without a sign that has the same bits."""
    return a % _WORD if isinstance(a, int) else a.astype(np.uint64)


def unsigned(function: Binary) -> Binary:
    def compared(a: Any, b: Any) -> Any:
        a, b = _word(a), _word(b)
        if isinstance(a, int) != isinstance(b, int):
            a, b = (
                np.uint64(a) if isinstance(a, int) else a,
                np.uint64(b) if isinstance(b, int) else b,
            )
        return function(a, b)

    return compared


SIGNED: dict[str, Binary] = {
    name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")
}
"""Comparisons of numbers with a sign, by name."""

_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")

COMPARISONS: tuple[Callable[[Scalar, Scalar], Scalar], ...] = tuple(
    known(unsigned(SIGNED[name[1:]]) if name[0] == "u" else SIGNED[name.removeprefix("s")])
    for name in _PREDICATES
)
"""The comparison of each predicate of `arith.cmpi`, by its number."""


def _least(a: Any, b: Any) -> Any:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else np.minimum(a, b)


def _greatest(a: Any, b: Any) -> Any:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else np.maximum(a, b)


BINARY: dict[type[Operation], Callable[[Scalar, Scalar], Scalar]] = {
    arith.AddiOp: known(operator.add),
    arith.SubiOp: known(operator.sub),
    arith.MuliOp: known(operator.mul),
    arith.AndIOp: known(lambda a, b: a & b),
    arith.OrIOp: known(lambda a, b: a | b),
    arith.XOrIOp: known(lambda a, b: a ^ b),
    arith.ShLIOp: known(lambda a, b: a << (b & 63)),
    arith.ShRSIOp: known(lambda a, b: a >> (b & 63)),
    arith.ShRUIOp: known(lambda a, b: a >> (b & 63)),
    arith.DivUIOp: known(_divided(lambda a, b: a // b)),
    arith.FloorDivSIOp: known(_divided(lambda a, b: a // b)),
    arith.DivSIOp: known(_divided(_quotient)),
    arith.RemUIOp: known(_divided(operator.mod)),
    arith.RemSIOp: known(_divided(lambda a, b: a - _quotient(a, b) * b)),
    arith.CeilDivSIOp: known(_divided(lambda a, b: -(-a // b))),
    arith.CeilDivUIOp: known(_divided(lambda a, b: -(-a // b))),
    arith.MinSIOp: known(_least),
    arith.MinUIOp: known(_least),
    arith.MaxSIOp: known(_greatest),
    arith.MaxUIOp: known(_greatest),
}
"""The function of two operands that an op computes. Numbers are those of the execution as long as
nothing overflows: a kernel whose indices do is not judged here."""


def high(width: int) -> Callable[[Scalar, Scalar], Scalar]:
    """The function that is what of a product lies above so many bits."""

    def above(a: Any, b: Any) -> Any:
        wide = width > 32 and not (isinstance(a, int) and isinstance(b, int))
        return UNKNOWN if wide else a * b >> width

    return known(above)


def select(condition: Any, then: Any, other: Any) -> Any:
    """`then` or `other`, by thread."""
    if isinstance(condition, int | np.bool_):
        return then if condition else other
    if then is other:
        return other
    values: tuple[Any, ...] = then, other
    if condition is UNKNOWN or not all(isinstance(value, int | np.ndarray) for value in values):
        return UNKNOWN
    choose: Any = np.where
    return choose(condition, *values)


def run_from(a: Any, lanes: Array, length: int) -> Array:
    """The numbers of some threads, and so many behind each: [threads or 1, length]."""
    own: Array = np.asarray(a if np.ndim(a) == 0 else a[lanes], dtype=np.int64)
    return own.reshape(-1, 1) + np.arange(length)


def meet(one: Array, other: Array) -> bool:
    """Two ascending rows of numbers have one in common."""
    if not len(one) or not len(other) or one[0] > other[-1] or other[0] > one[-1]:
        return False
    return bool(np.isin(one, other, assume_unique=True).any())


def truncated(a: Scalar, width: int) -> Scalar:
    """The low bits of a number, as a signed one; of one bit, 0 or 1."""
    if a is UNKNOWN:
        return a
    assert not isinstance(a, Unknown)
    if width == 1:
        return a & 1
    half = 1 << (width - 1)
    return ((a + half) & ((1 << width) - 1)) - half if width < 64 else a
