"""IntTuples: an integer, or a tuple of IntTuples.

Shapes, strides and coordinates are IntTuples, and a layout pairs two of them leaf by leaf:

    ((4, 8), 2)     shape     profile ((*, *), *), rank 2, depth 2, size 64
    ((32, 1), 16)   stride    the same profile: congruent to the shape

Names and semantics are those of CuTe's `int_tuple.hpp`. A leaf of a stride may also be a
`ScaledBasis`, which makes the layout's image a coordinate instead of an index.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import mul
from typing import Any, TypeAlias, TypeGuard

from tilewright.dialects.cute.value import FrozenValue, slot_setter
from tilewright.dialects.illegal import Illegal

IntTuple: TypeAlias = int | tuple["IntTuple", ...]
Shape: TypeAlias = IntTuple
# A coordinate; None is CuTe's underscore, "all of this mode".
Coord: TypeAlias = int | tuple["Coord", ...] | None


class LayoutError(Illegal):
    """A layout operation was asked for outside its preconditions."""


class ScaledBasis(FrozenValue):
    """`value` times the unit vector of mode `modes`: the stride of a coordinate layout.

    The value is an integer, or in the symbolic algebra one that the program will know.
    `modes` leads from the outermost mode inwards; the text names it from the inside out:
    ScaledBasis(4, (0, 1)) is `4@1@0`, four steps along mode 1 of mode 0.
    """

    __slots__ = ("modes", "value")
    __match_args__ = ("value", "modes")
    value: Any
    modes: tuple[int, ...]

    def __init__(self, value: Any, modes: tuple[int, ...]):
        if not modes or any(mode < 0 for mode in modes):
            raise LayoutError(f"expected a basis with modes >= 0, got {modes}")
        _set_value(self, value)
        _set_modes(self, modes)

    def __mul__(self, factor: int) -> ScaledBasis:
        return ScaledBasis(self.value * factor, self.modes)

    __rmul__ = __mul__

    def __str__(self) -> str:
        return "@".join(map(str, (self.value, *reversed(self.modes))))

    __repr__ = __str__


_set_value = slot_setter(ScaledBasis, "value")
_set_modes = slot_setter(ScaledBasis, "modes")

Stride: TypeAlias = int | ScaledBasis | tuple["Stride", ...]


def is_tuple(t: Any) -> TypeGuard[tuple[Any, ...]]:
    """Not a leaf."""
    return isinstance(t, tuple)


def to_text(t: Any) -> str:
    """CuTe's spelling: `((4,8),2)`, `(4)` for a tuple of one, `_` for None."""
    if is_tuple(t):
        return f"({','.join(map(to_text, t))})"
    return "_" if t is None else str(t)


# --- structure ------------------------------------------------------------------------------------


def flatten(t: Any) -> tuple[Any, ...]:
    """The leaves from left to right: ((2, 3), 4) -> (2, 3, 4), 5 -> (5,)."""
    if not is_tuple(t):
        return (t,)
    if tuple not in map(type, t):
        return t
    leaves: list[Any] = []
    for x in t:
        leaves += flatten(x)
    return tuple(leaves)


def unflatten(leaves: tuple[Any, ...], profile: Any) -> Any:
    """The leaves in the given profile: unflatten((2, 3, 4), ((0, 0), 0)) -> ((2, 3), 4).

    Raises LayoutError when the profile has another number of leaves.
    """
    if len(leaves) != len(flatten(profile)):
        raise LayoutError(f"expected one leaf for each of {to_text(profile)}, got {len(leaves)}")
    remaining = iter(leaves)

    def following(_: Any) -> Any:
        return next(remaining)

    return transform_leaf(following, profile)


def rank(t: Any) -> int:
    """The number of modes: of an integer 1."""
    return len(t) if is_tuple(t) else 1


def depth(t: Any) -> int:
    """The nesting: 0 for an integer, 1 for a flat tuple."""
    if not is_tuple(t):
        return 0
    return 1 + max(map(depth, t), default=0)


def congruent(a: Any, b: Any) -> bool:
    """Same profile: ((2, 3), 4) and ((1, 1), 1)."""
    if is_tuple(a):
        return is_tuple(b) and len(a) == len(b) and all(map(congruent, a, b))
    return not is_tuple(b)


def weakly_congruent(a: Any, b: Any) -> bool:
    """The profile of `b` refines the profile of `a`: (6, 4) and ((2, 3), 4)."""
    if is_tuple(a):
        return is_tuple(b) and len(a) == len(b) and all(map(weakly_congruent, a, b))
    return True


def compatible(a: IntTuple, b: IntTuple) -> bool:
    """Every coordinate of `a` is one of `b`: 24, (6, 4) and ((2, 3), 4) in this order."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(compatible, a, b))
    return a == product(b)


def transform(f: Callable[..., Any], *ts: Any) -> tuple[Any, ...]:
    """`f` over the modes, one from each tuple.

    Raises LayoutError when the ranks differ.
    """
    if len({rank(t) for t in ts}) > 1:
        raise LayoutError(f"expected equal ranks, got {', '.join(map(to_text, ts))}")
    return tuple(map(f, *(t if is_tuple(t) else (t,) for t in ts)))


def transform_leaf(f: Callable[..., Any], *ts: Any) -> Any:
    """`f` over the leaves of congruent tuples.

    Raises LayoutError when the profiles differ.
    """
    if not any(map(is_tuple, ts)):
        return f(*ts)
    if not all(map(is_tuple, ts)):
        raise LayoutError(f"expected congruent tuples, got {', '.join(map(to_text, ts))}")
    return transform(partial(transform_leaf, f), *ts)


def zip_(*ts: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
    """The modes paired up: zip_((1, 2), (3, 4)) -> ((1, 3), (2, 4)).

    Raises LayoutError when the ranks differ.
    """
    return transform(lambda *xs: xs, *ts)


def repeat_like(t: Any, value: Any) -> Any:
    """`value` at every leaf of the profile of `t`."""
    return unflatten((value,) * len(flatten(t)), t)


def has_underscore(coord: Any) -> bool:
    """Some leaf is None, CuTe's `_`."""
    return None in flatten(coord)


# --- arithmetic -----------------------------------------------------------------------------------


def product(t: IntTuple) -> int:
    """The product of the leaves; 1 for ()."""
    result = 1
    for x in flatten(t):
        result *= x
    return result


size = product


def product_each(t: IntTuple) -> tuple[int, ...]:
    """The size of each mode: ((2, 3), 4) -> (6, 4)."""
    return tuple(map(product, t)) if isinstance(t, tuple) else (t,)


def tuple_max(t: IntTuple) -> int:
    """The largest leaf."""
    return max(flatten(t))


def prefix_product(t: IntTuple, init: int = 1) -> IntTuple:
    """Exclusive products from the left, congruent to `t`: ((2, 3), 4) -> ((1, 2), 6)."""
    products: list[int] = []
    for x in flatten(t):
        products.append(init)
        init *= x
    return unflatten(tuple(products), t)


def compact_col_major(shape: Shape, init: int = 1) -> IntTuple:
    """Compact column-major strides; extents of 1 get stride 0: (4, 1, 8) -> (1, 0, 4)."""
    strides: list[int] = []
    for extent in flatten(shape):
        strides.append(0 if extent == 1 else init)
        init *= extent
    return unflatten(tuple(strides), shape)


def inner_product(a: IntTuple, b: IntTuple) -> int:
    """The sum of products of paired leaves.

    Raises LayoutError when the profiles differ.
    """
    return sum(flatten(transform_leaf(mul, a, b)))


def shape_div(a: IntTuple, b: IntTuple) -> IntTuple:
    """`a` over `b`, rounded up, where one of each pair divides the other: (4, 5, 6) by 40 ->
    (1, 1, 3). By an integer each mode takes what it can and passes the rest on.

    Raises LayoutError when neither divides the other, or the ranks differ.
    """
    if isinstance(a, tuple):
        if isinstance(b, tuple):
            return transform(shape_div, a, b)
        quotients: list[IntTuple] = []
        for x in a:
            quotients.append(shape_div(x, b))
            b = shape_div(b, product(x))
        return tuple(quotients)
    divisor = product(b)
    if divisor == 0 or (a % divisor and (a == 0 or divisor % a)):
        raise LayoutError(f"shape_div: expected one to divide the other, got {a} and {divisor}")
    return -(-a // divisor)


def elem_scale(a: IntTuple, b: IntTuple) -> IntTuple:
    """Each leaf of `a` times the size of what `b` pairs with it: (2, 3) by ((4, 5), 6) -> (40, 18).

    Raises LayoutError when `b` does not refine `a`.
    """
    if isinstance(a, tuple):
        if not isinstance(b, tuple):
            raise LayoutError(f"elem_scale: expected a tuple to scale {to_text(a)}, got {b}")
        return transform(elem_scale, a, b)
    return a * product(b)
