"""The same inputs to NVIDIA's pycute, where it defines the operation.

Where the two may differ, CuTe's C++ decides, and the test says so.
"""

import pycute
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from layout_strategies import injective_layouts, law, layouts, power_of_two_layouts, shapes, values

import tilewright.dialects.cute as cute


def theirs(layout):
    return pycute.Layout(layout.shape, layout.stride)


def same_function(ours, other):
    return ours.size() == other.size() and values(ours) == values(other)


@law
@given(layouts())
def test_evaluation(layout):
    other = theirs(layout)
    assert same_function(layout, other)
    assert layout.cosize() == other.cosize()
    for i in range(layout.size()):
        coord = pycute.idx2crd(i, layout.shape)
        assert cute.idx2crd(i, layout.shape) == coord
        assert layout(coord) == other(coord)


@law
@given(shapes())
def test_tuples(shape):
    assert cute.flatten(shape) == pycute.flatten(shape)
    assert cute.product(shape) == pycute.product(shape)
    assert cute.prefix_product(shape) == pycute.prefix_product(shape)
    assert cute.tuple_max(shape) == pycute.tuple_max(shape)
    assert cute.elem_scale(shape, shape) == pycute.elem_scale(shape, shape)
    # A default stride is 0 for an extent of 1 here, as in C++; pycute writes the running product.
    assert same_function(cute.Layout(shape), pycute.Layout(shape))


@law
@given(shapes(), st.integers(1, 48))
def test_shape_div(shape, divisor):
    try:
        expected = pycute.shape_div(shape, divisor)
    except AssertionError:
        with pytest.raises(cute.LayoutError):
            cute.shape_div(shape, divisor)
        return
    assert cute.shape_div(shape, divisor) == expected


@law
@given(layouts())
def test_coalesce_and_filter(layout):
    ours, other = cute.coalesce(layout), pycute.coalesce(theirs(layout))
    assert (ours.shape, ours.stride) == (other.shape, other.stride)
    ours, other = cute.filter(layout), pycute.filter(theirs(layout))
    assert (ours.shape, ours.stride) == (other.shape, other.stride)


@law
@given(power_of_two_layouts(), power_of_two_layouts())
def test_composition(a, b):
    # Within A's domain: beyond it pycute drops a trailing extent of 1, where C++ goes on with its
    # stride. Spelling may differ where an extent of 1 is composed; the function may not.
    assume(b.size() <= a.size())
    assert same_function(cute.composition(a, b), pycute.composition(theirs(a), theirs(b)))


@law
@given(layouts(), layouts())
def test_composition_of_any_two(a, b):
    # pycute checks less: it may return a layout that is not A(B(i)), or of another size. Where its
    # result is right, ours must exist.
    try:
        other = pycute.composition(theirs(a), theirs(b))
    except AssertionError:
        return
    right = other.size() == b.size() and values(other) == [a(j) for j in values(b)]
    try:
        ours = cute.composition(a, b)
    except cute.LayoutError:
        assert not right
        return
    assert values(ours) == [a(j) for j in values(b)]


@law
@given(injective_layouts(), st.integers(1, 500))
def test_complement(layout, cotarget):
    ours = cute.complement(layout, cotarget)
    other = pycute.complement(theirs(layout), cotarget)
    assert (ours.shape, ours.stride) == (other.shape, other.stride)


@law
@given(injective_layouts())
def test_inverses(layout):
    ours, other = cute.right_inverse(layout), pycute.right_inverse(theirs(layout))
    assert (ours.shape, ours.stride) == (other.shape, other.stride)
    # C++'s left inverse goes on between the images where pycute's has modes of its own: they agree
    # on the images, which is all that the law asks for.
    other = pycute.left_inverse(theirs(layout))
    inverse = cute.left_inverse(layout)
    assert [inverse(j) for j in values(layout)] == [other(j) for j in values(layout)]


def test_right_inverse_past_a_broadcast():
    # pycute stops at the stride of 0; C++ passes it over.
    layout = cute.Layout((32, 128), (0, 1))
    assert pycute.right_inverse(theirs(layout)).size() == 1
    assert str(cute.right_inverse(layout)) == "128:32"


@law
@given(power_of_two_layouts(), power_of_two_layouts())
def test_logical_divide(a, b):
    assume(b.size() <= a.size())
    assert same_function(cute.logical_divide(a, b), pycute.logical_divide(theirs(a), theirs(b)))


@law
@given(st.sampled_from([2, 4, 8]), st.sampled_from([4, 8]), st.booleans())
def test_division_by_mode(m, n, row_major):
    layout = cute.Layout((16, 32), (32, 1) if row_major else (1, 16))
    tiler = (m, n)
    for name in ("logical_divide", "zipped_divide", "tiled_divide"):
        ours, other = (
            getattr(cute, name)(layout, tiler),
            getattr(pycute, name)(theirs(layout), tiler),
        )
        assert (ours.shape, ours.stride) == (other.shape, other.stride)


@law
@given(power_of_two_layouts(), power_of_two_layouts())
def test_logical_product(a, b):
    # By an integer or a tuple of them pycute divides instead; by a layout it multiplies.
    assume(a.size() * b.size() <= 1 << 13)
    ours = cute.logical_product(a, b)
    assert same_function(ours, pycute.logical_product(theirs(a), theirs(b)))


@law
@given(layouts(), st.data())
def test_slices(layout, data):
    coord = cute.transform_leaf(
        lambda s: data.draw(st.one_of(st.none(), st.integers(0, s - 1))), layout.shape
    )
    if not isinstance(coord, tuple):
        return  # a bare None slices to (n):(d) in pycute and to n:d in C++
    assert cute.slice_(coord, layout.shape) == pycute.slice_(coord, layout.shape)
    sliced, offset = cute.slice_and_offset(coord, layout)
    other, other_offset = pycute.slice_and_offset(coord, theirs(layout))
    assert (sliced.shape, sliced.stride, offset) == (other.shape, other.stride, other_offset)


@law
@given(st.integers(0, 3), st.integers(0, 4), st.integers(0, 4), st.booleans())
def test_swizzles(bits, base, extra, negative):
    shift = (bits + extra) * (-1 if negative else 1)
    assume(shift != 0)  # pycute's shift by 0 calls itself without end
    ours, other = cute.Swizzle(bits, base, shift), pycute.Swizzle(bits, base, shift)
    assert [ours(i) for i in range(ours.size())] == [other(i) for i in range(other.size())]
    assert ours.size() == other.size()
