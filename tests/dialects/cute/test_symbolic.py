"""The symbolic algebra is the pure one, on known leaves and on dynamic ones once they are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from layout_strategies import injective_layouts, law, layouts, power_of_two_layouts, shapes
from op_kernels import Later
from op_kernels import now as number

from tilewright.dialects import cute
from tilewright.dialects.cute import (
    ComposedLayout,
    Layout,
    LayoutError,
    ScaledBasis,
    Swizzle,
    equivalent,
    flatten,
    unflatten,
)
from tilewright.dialects.cute.swizzle import compose_unchecked
from tilewright.dialects.cute.symbolic import (
    complements,
    composed,
    evaluate,
    scalar,
    tiling,
    tuples,
)
from tilewright.dialects.cute.symbolic import layouts as symbolic
from tilewright.dialects.cute.symbolic.scalar import Dynamic, Scalar
from tilewright.dialects.cute.text import LayoutParseError
from tilewright.dialects.cute.values import read_typed


def now(t: Any) -> Any:
    """A value with its numbers filled in."""
    if isinstance(t, tuple):
        return tuple(map(now, t))
    if isinstance(t, Layout):
        return Layout(now(t.shape), now(t.stride))
    return number(t)


@st.composite
def hidden(draw: st.DrawFn, t: Any) -> Any:
    """The tuple with some of its numbers hidden."""
    leaves = [Later(x) if draw(st.booleans()) else x for x in flatten(t)]
    return unflatten(tuple(leaves), t)


@st.composite
def hidden_layouts(draw: st.DrawFn, layout: Layout) -> Layout:
    return symbolic.make_unchecked(draw(hidden(layout.shape)), draw(hidden(layout.stride)))


UNARY = {
    "coalesce": (cute.coalesce, symbolic.coalesce),
    "flatten": (Layout.flatten, symbolic.flatten_layout),
    "right_inverse": (cute.right_inverse, complements.right_inverse),
    "left_inverse": (cute.left_inverse, complements.left_inverse),
    "make_layout_like": (cute.make_layout_like, symbolic.make_layout_like),
}
TILED = {
    "logical_divide": (cute.logical_divide, tiling.logical_divide),
    "zipped_divide": (cute.zipped_divide, tiling.zipped_divide),
    "tiled_divide": (cute.tiled_divide, tiling.tiled_divide),
    "flat_divide": (cute.flat_divide, tiling.flat_divide),
    "composition": (cute.composition, symbolic.composition),
}
PRODUCTS = {
    "logical_product": (cute.logical_product, tiling.logical_product),
    "zipped_product": (cute.zipped_product, tiling.zipped_product),
    "tiled_product": (cute.tiled_product, tiling.tiled_product),
    "flat_product": (cute.flat_product, tiling.flat_product),
    "blocked_product": (cute.blocked_product, tiling.blocked_product),
    "raked_product": (cute.raked_product, tiling.raked_product),
}


def accepted(operation: Callable[..., Layout], *operands: Any) -> Layout:
    """The pure algebra's result; it rejects more than the symbolic one, which knows less."""
    try:
        return operation(*operands)
    except LayoutError:
        assume(False)
        raise


@pytest.mark.parametrize("name", UNARY)
@given(data=st.data())
@law
def test_one_layout(name: str, data: st.DataObject):
    pure, ours = UNARY[name]
    layout = data.draw(injective_layouts() if "inverse" in name else layouts())
    expected = accepted(pure, layout)
    assert equivalent(ours(layout), expected)


@pytest.mark.parametrize("name", TILED)
@given(data=st.data())
@law
def test_a_layout_and_a_tiler(name: str, data: st.DataObject):
    pure, ours = TILED[name]
    layout, tiler = data.draw(power_of_two_layouts()), data.draw(power_of_two_layouts())
    expected = accepted(pure, layout, tiler)
    assert equivalent(ours(layout, tiler), expected)


@pytest.mark.parametrize("name", PRODUCTS)
@given(data=st.data())
@law
def test_products(name: str, data: st.DataObject):
    pure, ours = PRODUCTS[name]
    layout, tiler = data.draw(injective_layouts(3)), data.draw(power_of_two_layouts())
    assume(layout.size() * tiler.size() <= 2000)
    expected = accepted(pure, layout, tiler)
    if name in ("blocked_product", "raked_product"):
        # CuTe IR zips no leaf with a tuple, which its products of one mode may ask for.
        assert equivalent(accepted(ours, layout, tiler), expected)
    else:
        assert equivalent(ours(layout, tiler), expected)


@given(st.data())
@law
def test_coalesce_of_dynamic_leaves(data: st.DataObject):
    layout = data.draw(layouts())
    assert equivalent(now(symbolic.coalesce(data.draw(hidden_layouts(layout)))), layout)


@given(st.data())
@law
def test_composition_of_dynamic_leaves(data: st.DataObject):
    left, right = data.draw(power_of_two_layouts()), data.draw(power_of_two_layouts())
    expected = accepted(cute.composition, left, right)
    found = symbolic.composition(data.draw(hidden_layouts(left)), data.draw(hidden_layouts(right)))
    assert equivalent(now(found), expected)


@given(st.data())
@law
def test_division_of_dynamic_extents(data: st.DataObject):
    layout, tiler = data.draw(power_of_two_layouts()), data.draw(power_of_two_layouts())
    expected = accepted(cute.logical_divide, layout, tiler)
    found = tiling.logical_divide(data.draw(hidden_layouts(layout)), tiler)
    assert equivalent(now(found), expected)


@given(st.data())
@law
def test_evaluation_of_dynamic_leaves(data: st.DataObject):
    layout = data.draw(layouts())
    index = data.draw(st.integers(0, layout.size() - 1))
    coord = data.draw(st.sampled_from([index, cute.idx2crd(index, layout.shape)]))
    found = evaluate.image(data.draw(hidden_layouts(layout)), data.draw(hidden(coord)))
    assert now(found) == layout(coord)
    assert now(evaluate.idx2crd(index, data.draw(hidden(layout.shape)))) == cute.idx2crd(
        index, layout.shape
    )
    assert now(evaluate.cosize(data.draw(hidden_layouts(layout)))) == layout.cosize()


@given(st.data())
@law
def test_coordinates_step_through_a_shape(data: st.DataObject):
    shape = data.draw(shapes())
    size = cute.product(shape)
    index = data.draw(st.integers(0, size - 1))
    coord, following = cute.idx2crd(index, shape), cute.idx2crd(index + 1, shape)
    found = now(evaluate.increment_coord(data.draw(hidden(coord)), data.draw(hidden(shape))))
    assert found == following


@given(st.data())
@law
def test_tuple_arithmetic_of_dynamic_leaves(data: st.DataObject):
    shape = data.draw(shapes())
    other = unflatten(tuple(data.draw(st.integers(1, 9)) for _ in flatten(shape)), shape)
    a, b = data.draw(hidden(shape)), data.draw(hidden(other))
    pairs = list(zip(flatten(shape), flatten(other), strict=True))
    assert flatten(now(tuples.tuple_sum(a, b))) == tuple(x + y for x, y in pairs)
    assert flatten(now(tuples.tuple_difference(a, b))) == tuple(x - y for x, y in pairs)
    assert now(tuples.ceil_div(a, b)) == cute.ceil_div(shape, other)
    assert now(tuples.product_each(a)) == cute.product_each(shape)


def test_widths():
    narrow, wide = Dynamic(), Dynamic(64)
    assert scalar.add(narrow, wide) == wide and scalar.add(narrow, 1) == narrow
    assert scalar.mul(narrow, 1 << 40) == wide
    assert scalar.mul(narrow, 0) == 0 and scalar.mul(1, wide) is wide
    assert scalar.mod(narrow, 1) == 0 and scalar.div(0, narrow) == 0
    assert scalar.equal(narrow, 1 << 40) is False and scalar.less(narrow, 4) == Dynamic(1)
    assert scalar.choose(Dynamic(1), lambda: 1, lambda: 1 << 40) == wide
    assert str((scalar.add(narrow, 1), str(wide))) == str((narrow, "?{i64}"))


@pytest.mark.parametrize("divide", [scalar.div, scalar.mod, scalar.ceil_div])
def test_division_by_zero(divide: Callable[[Scalar, Scalar], Scalar]):
    for a in (3, Dynamic()):
        with pytest.raises(LayoutError, match="expected a divisor other than 0"):
            divide(a, 0)


def test_division_is_towards_zero():
    assert [scalar.div(a, b) for a, b in ((7, 2), (-7, 2), (7, -2), (-7, -2))] == [3, -3, -3, 3]
    assert [scalar.mod(a, b) for a, b in ((7, 2), (-7, 2), (7, -2), (-7, -2))] == [1, -1, 1, -1]


def test_overflow():
    with pytest.raises(LayoutError, match="expected 64-bit integers, got 9223372036854775808"):
        scalar.add((1 << 63) - 1, 1)


# What the rules of the ops rule out before they ask.
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "complement": (
        lambda: complements.complement(symbolic.make_unchecked((2, 2), (1, ScaledBasis(1, (0,))))),
        r"complement: expected strides of one kind, got \(2,2\):\(1,1@0\)",
    ),
    "complement of too few modes": (
        lambda: complements.complement_in(cute.make_identity_layout((2, 2)), (4,)),
        "complement: expected 2 modes to cover, got 1",
    ),
    "right_inverse": (
        lambda: complements.right_inverse(symbolic.make_unchecked(Dynamic(), 1)),
        r"right_inverse: expected known extents, got \?:1",
    ),
    "left_inverse": (
        lambda: complements.left_inverse(symbolic.make_unchecked(Dynamic(), 1)),
        r"left_inverse: expected known extents, got \?:1",
    ),
    "swizzled": (
        lambda: composed.swizzled(Swizzle(1, 0, 1), (1, 2)),
        r"expected a number to swizzle, got \(1, 2\)",
    ),
    "slice of unknown strides": (
        lambda: composed.slice_any((None,), swizzled_layout((4,), (Dynamic(),))),
        r"slice: expected known integer strides, got \(4\):\(\?\)",
    ),
    "slice without an underscore": (
        lambda: composed.slice_any((1,), swizzled_layout((4,), (1,))),
        "slice: expected an underscore",
    ),
    "slice of a mode without leaves": (
        lambda: composed.slice_any((1, None), swizzled_layout((4, ()), (1, ()))),
        r"slice: expected a mode at every leaf, got \(4,\(\)\):\(1,\(\)\)",
    ),
    "layout_eval": (
        lambda: evaluate.layout_eval(1, (2, 2), 1),
        r"expected a stride of \(2,2\), got 1",
    ),
    "tile_to_shape": (
        lambda: tiling.tile_to_shape(Layout((2, 2)), 4, None),
        "expected a shape of rank 2 or more, got rank 1",
    ),
    "prefix_products": (
        lambda: tuples.prefix_products((2, 3, 4), (1, 1)),
        r"expected a start for each mode, got \(1,1\)",
    ),
}


def swizzled_layout(shape: Any, stride: Any) -> ComposedLayout:
    return compose_unchecked(Swizzle(1, 0, 1), 1, symbolic.make_unchecked(shape, stride))


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what: str):
    ask, reason = REFUSED[what]
    with pytest.raises(LayoutError, match=reason):
        ask()


@pytest.mark.parametrize("text", ["²", "(4,²)", "٣", "(4,?{div=²})"])
def test_numbers_are_of_ten_digits(text: str):
    """Python takes others for digits, too."""
    with pytest.raises(LayoutParseError, match="expected"):
        read_typed("shape", text)
