"""Rules of the ops that compute leaf by leaf."""

from functools import partial
from itertools import starmap
from typing import Any

from tilewright.dialects.cute.int_tuple import ScaledBasis, congruent, flatten, is_tuple
from tilewright.dialects.cute.rules import attempted, computed, required
from tilewright.dialects.cute.symbolic import scalar, tuples
from tilewright.dialects.cute.symbolic.scalar import Condition
from tilewright.dialects.cute.symbolic.tiling import ceil_div_by_tile
from tilewright.dialects.cute.values import Typed


def _cannot(name: str, a: Typed, b: Typed) -> str:
    return f"expects valid operands, but cannot compute {name} for {a.quoted} and {b.quoted}"


def _check_nesting(a: Typed, b: Typed, zero_left: bool) -> None:
    required(
        a.kind == b.kind,
        f"expects lhs and rhs to have the same kind, but got {a.quoted} and {b.quoted}",
    )
    left, right = isinstance(a.value, tuple), isinstance(b.value, tuple)
    both = f"{a.quoted} and {b.quoted}"
    required(
        left or not right or (zero_left and a.value == 0),
        f"expects matching structure, but lhs is a scalar and rhs is a tuple: {both}",
    )
    required(
        right or not left or b.value == 0,
        f"expects matching structure, but rhs is a scalar and lhs is a tuple: {both}",
    )
    if is_tuple(a.value) and is_tuple(b.value):
        _check_elements(a.value, b.value, both)


def _check_elements(a: tuple[Any, ...], b: tuple[Any, ...], both: str) -> None:
    for i, (x, y) in enumerate(zip(a, b, strict=False)):
        required(
            is_tuple(x) == is_tuple(y), f"expects matching nesting at element {i}, but got: {both}"
        )
        if is_tuple(x):
            _check_elements(x, y, both)


def tuple_add(a: Typed, b: Typed) -> Typed:
    """The sum leaf by leaf."""
    _check_nesting(a, b, zero_left=True)
    otherwise = f"expects valid operands, but cannot compute result for {a.quoted} and {b.quoted}"
    return computed(a.kind, lambda: tuples.tuple_sum(a.value, b.value), otherwise)


def tuple_sub(a: Typed, b: Typed) -> Typed:
    """The difference leaf by leaf."""
    _check_nesting(a, b, zero_left=False)
    otherwise = f"expects valid operands, but cannot compute result for {a.quoted} and {b.quoted}"
    return computed(a.kind, lambda: tuples.tuple_difference(a.value, b.value), otherwise)


def shape_div(a: Typed, b: Typed) -> Typed:
    """The quotient of two shapes; one divides the other."""
    otherwise = _cannot("shape_div", a, b)
    _check_divisible(a.value, b.value, otherwise)
    return computed("shape", lambda: tuples.shape_div(a.value, b.value), otherwise)


def _check_divisible(a: Any, b: Any, otherwise: str) -> None:
    required(b != 0, f"{otherwise}: divisor is zero")
    if is_tuple(a) and is_tuple(b):
        for x, y in zip(a, b, strict=False):
            _check_divisible(x, y, otherwise)
    elif is_tuple(a):
        for x in a:
            _check_divisible(x, b, otherwise)
            b = attempted(partial(tuples.shape_div, b, tuples.product(x)), otherwise)
    elif isinstance(a, int) and isinstance(b, int):
        required(
            a % b == 0 or (a != 0 and b % a == 0),
            f"{otherwise}: {a} is not divisible by {b} (neither {a} % {b} == 0 nor {b} % {a} == 0)",
        )


def ceil_div(a: Typed, b: Typed) -> Typed:
    """How many tiles cover a shape."""
    otherwise = _cannot("ceil_div", a, b)
    if b.kind == "tile":
        return computed(a.kind, lambda: ceil_div_by_tile(a.value, b.value), otherwise)
    required(b.value != 0, f"{otherwise}: tiler is zero")
    if is_tuple(a.value) and is_tuple(b.value):
        ranks = len(a.value), len(b.value)
        required(
            ranks[1] <= ranks[0], f"{otherwise}: rank(tiler)={ranks[1]} > rank(input)={ranks[0]}"
        )
    return computed(a.kind, lambda: tuples.ceil_div(a.value, b.value), otherwise)


# --- comparisons ----------------------------------------------------------------------------------


def elem_less(a: Typed, b: Typed) -> Condition:
    """True where every leaf is less than its partner; an underscore is not."""
    holds: Condition = True
    for x, y in zip(flatten(a.value), flatten(b.value), strict=True):
        if not (tuples.is_scalar(x) and tuples.is_scalar(y)):
            return False
        holds = scalar.both(holds, scalar.less(x, y))
    return holds


def equal(a: Typed, b: Typed) -> Condition:
    """True where two values of one kind are the same."""
    if a.kind == "layout":
        parts = [(a.value.shape, b.value.shape), (a.value.stride, b.value.stride)]
    else:
        parts = [(a.value, b.value)]
    if not all(starmap(_same_structure, parts)):
        return False
    holds: Condition = True
    for x, y in parts:
        for left, right in zip(flatten(x), flatten(y), strict=True):
            holds = scalar.both(holds, _equal_leaves(left, right))
    return holds


def _same_structure(a: Any, b: Any) -> bool:
    pairs = zip(flatten(a), flatten(b), strict=False)
    return congruent(a, b) and all(_without_number(x) == _without_number(y) for x, y in pairs)


def _without_number(leaf: Any) -> Any:
    if isinstance(leaf, ScaledBasis):
        return leaf.modes
    return () if tuples.is_scalar(leaf) else leaf


def _equal_leaves(a: Any, b: Any) -> Condition:
    if isinstance(a, ScaledBasis):
        a, b = a.value, b.value
    return scalar.equal(a, b) if tuples.is_scalar(a) and tuples.is_scalar(b) else a == b
