"""Arithmetic on nested tuples whose leaves are scalars, bases, or None for an underscore.

Structure needs no arithmetic and is `tilewright.dialects.cute`'s: congruent, rank, depth, flatten.
"""

from collections.abc import Callable, Iterator
from typing import Any

from tilewright.dialects.cute.int_tuple import (
    LayoutError,
    ScaledBasis,
    flatten,
    is_tuple,
    rank,
    to_text,
    transform_leaf,
    weakly_congruent,
)
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.scalar import Dynamic, Scalar
from tilewright.dialects.cute.symbolic.scalar import is_scalar as is_scalar


def is_static(t: Any) -> bool:
    """No leaf is dynamic."""
    return not any(map(_is_dynamic, flatten(t)))


def _is_dynamic(leaf: Any) -> bool:
    return isinstance(leaf.value if isinstance(leaf, ScaledBasis) else leaf, Dynamic)


def only_scalars(t: Any) -> bool:
    """Neither bases nor underscores."""
    return all(map(is_scalar, flatten(t)))


def has_basis(t: Any) -> bool:
    """Some leaf is a basis."""
    return any(isinstance(leaf, ScaledBasis) for leaf in flatten(t))


def wrapped(t: Any) -> tuple[Any, ...]:
    """The modes: a leaf is one."""
    return t if is_tuple(t) else (t,)


def unwrapped(t: Any) -> Any:
    """The one mode of a tuple of one, as deep as that goes."""
    while is_tuple(t) and len(t) == 1:
        (t,) = t
    return t


def flat(t: Any) -> Any:
    """The leaves as one flat tuple; a leaf stays one."""
    return flatten(t) if is_tuple(t) else t


def part(t: Any, path: tuple[int, ...]) -> Any:
    """The element at a path of modes; a leaf is its own mode 0."""
    for i in path:
        t = wrapped(t)[i]
    return t


# --- products and sums ----------------------------------------------------------------------------


def multiplied(a: Any, b: Any) -> Any:
    """The product of two leaves, at most one of them a basis. Raises LayoutError for others."""
    if isinstance(a, ScaledBasis) and is_scalar(b):
        return ScaledBasis(scalar.mul(a.value, b), a.modes)
    if isinstance(b, ScaledBasis) and is_scalar(a):
        return multiplied(b, a)
    if is_scalar(a) and is_scalar(b):
        return scalar.mul(a, b)
    raise LayoutError(f"expected numbers to multiply, got {to_text(a)} and {to_text(b)}")


def product(t: Any) -> Scalar:
    """The product of the leaves. Raises LayoutError where one is no number."""
    result: Any = 1
    for leaf in flatten(t):
        result = multiplied(result, leaf)
    return result


def product_each(t: Any) -> tuple[Scalar, ...]:
    """The product of each mode."""
    return tuple(map(product, wrapped(t)))


def size(t: Any) -> Scalar:
    """The product of a shape's leaves. Raises LayoutError where one is no number."""
    if not only_scalars(t):
        raise LayoutError(f"expected numbers, got {to_text(t)}")
    return product(t)


def prefix_products(t: Any, start: Any = 1) -> Any:
    """Exclusive products from the left, congruent to `t`; a tuple of starts has one a mode."""
    if is_tuple(start):
        if rank(t) != len(start):
            raise LayoutError(f"expected a start for each mode, got {to_text(start)}")
        return tuple(map(prefix_products, wrapped(t), start))
    return _prefix(t, [start])


def _prefix(t: Any, reached: list[Any]) -> Any:
    if is_tuple(t):
        return tuple(_prefix(x, reached) for x in t)
    before = reached[0]
    reached[0] = multiplied(t, before)
    return before


def basis_image(leaf: Any) -> Any:
    """A basis as the tuple with its value in its mode and 0 before it: 4@1 -> (0, 4)."""
    if not isinstance(leaf, ScaledBasis):
        return leaf
    result: Any = leaf.value
    for mode in reversed(leaf.modes):
        result = (*([0] * mode), result)
    return result


def tuple_sum(a: Any, b: Any) -> Any:
    """The sum leaf by leaf, missing modes being 0, as are () and a 0 for a whole tuple.

    Raises LayoutError where a leaf meets a tuple.
    """
    return _combined(scalar.add, basis_image(a), basis_image(b))


def tuple_difference(a: Any, b: Any) -> Any:
    """The difference leaf by leaf. Raises LayoutError where a leaf meets a tuple."""
    return _combined(scalar.sub, a, b)


def _combined(operation: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    if is_tuple(a) and is_tuple(b):
        both = [_combined(operation, x, y) for x, y in zip(a, b, strict=False)]
        return (*both, *a[len(b) :], *b[len(a) :])
    if is_tuple(a) or is_tuple(b):
        modes, leaf = (a, b) if is_tuple(a) else (b, a)
        if not modes:
            return leaf
        if leaf == 0:
            return modes
        raise LayoutError(f"expected congruent tuples, got {to_text(a)} and {to_text(b)}")
    if not (is_scalar(a) and is_scalar(b)):
        raise LayoutError(f"expected numbers, got {to_text(a)} and {to_text(b)}")
    return operation(a, b)


# --- division -------------------------------------------------------------------------------------


def ceil_div(a: Any, b: Any) -> Any:
    """`a` over `b` rounded up: mode by mode, or by a number from the left.

    Raises LayoutError where `b` has more modes than `a`, or a 0.
    """
    if is_tuple(a) and is_tuple(b):
        if len(a) < len(b):
            raise LayoutError(f"expected at most {len(a)} modes, got {to_text(b)}")
        return (*map(ceil_div, a, b), *a[len(b) :])
    if is_tuple(a):
        quotients: list[Any] = []
        for x in a:
            quotients.append(ceil_div(x, b))
            b = ceil_div(b, x)
        return tuple(quotients)
    if is_tuple(b):
        b = product(b)
    if is_scalar(a) and is_scalar(b):
        return scalar.ceil_div(a, b)
    raise LayoutError(f"expected numbers to divide, got {to_text(a)} and {to_text(b)}")


def shape_div(a: Any, b: Any) -> Any:
    """`a` over `b`, where one divides the other, a quotient of 0 giving the product of signs.

    Raises LayoutError where both are known and neither divides the other, or for a 0.
    """
    if b == 0:
        raise LayoutError("expected a divisor other than 0")
    if is_tuple(a) and is_tuple(b):
        return transform_leaf(shape_div, a, b)
    if is_tuple(a):
        quotients: list[Any] = []
        for x in a:
            quotients.append(shape_div(x, b))
            b = shape_div(b, product(x))
        return tuple(quotients)
    divisor: Any = product(b) if is_tuple(b) else b
    if is_scalar(a) and is_scalar(divisor):
        return _shape_div(a, divisor)
    raise LayoutError(f"expected numbers to divide, got {to_text(a)} and {to_text(b)}")


def _shape_div(a: Scalar, b: Scalar) -> Scalar:
    known = isinstance(a, int) and isinstance(b, int)
    if known and scalar.mod(a, b) != 0 and (a == 0 or scalar.mod(b, a) != 0):
        raise LayoutError(f"expected one to divide the other, got {a} and {b}")
    quotient = scalar.div(a, b)
    return scalar.choose(
        scalar.unequal(quotient, 0),
        lambda: quotient,
        lambda: scalar.mul(scalar.sign(a), scalar.sign(b)),
    )


# --- strides of compact layouts -------------------------------------------------------------------


def compact_col_major(shape: Any, current: Any = 1) -> Any:
    """Column-major strides from `current` on; an extent known to be 1 gets 0."""
    if shape == 1:
        return 0
    if not is_tuple(shape):
        return current
    strides: list[Any] = []
    for extent in shape:
        strides.append(compact_col_major(extent, current))
        current = multiplied(current, product(extent))
    return tuple(strides)


def compact_order(shape: Any, order: Any) -> Any:
    """Compact strides in an order of modes; modes whose rank is not known come last, in turn.

    (2, 3, 4, 5) ordered (0, 2, 3, 1) -> (1, 10, 30, 2). Raises LayoutError when `order` is no
    profile of `shape`, or either has leaves that are no numbers.
    """
    if not (weakly_congruent(order, shape) and only_scalars(shape) and only_scalars(order)):
        raise LayoutError(f"expected an order of {to_text(shape)}, got {to_text(order)}")
    highest = max((o for o in flatten(order) if isinstance(o, int)), default=-(1 << 63))

    def known(o: Any) -> int:
        nonlocal highest
        if isinstance(o, int):
            return o
        highest += 1
        return highest

    ranks = transform_leaf(known, order)
    return _ordered(shape, ranks, shape, ranks)


def _ordered(shape: Any, order: Any, whole_shape: Any, whole_order: Any) -> Any:
    if is_tuple(order):
        return tuple(
            _ordered(s, o, whole_shape, whole_order) for s, o in zip(shape, order, strict=True)
        )
    before: Any = 1
    for extent in _lower(order, whole_shape, whole_order):
        before = multiplied(before, extent)
    return compact_col_major(shape, before)


def _lower(rank_: int, shape: Any, order: Any) -> Iterator[Scalar]:
    if is_tuple(order):
        for s, o in zip(shape, order, strict=True):
            yield from _lower(rank_, s, o)
    else:
        yield product(shape) if order < rank_ else 1
