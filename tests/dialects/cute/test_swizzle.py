"""Swizzles and composed layouts."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from layout_strategies import law, layouts, power_of_two_layouts, values

from tilewright.dialects import cute
from tilewright.dialects.cute.symbolic.composed import slice_any


@st.composite
def swizzles(draw, negative=True):
    bits = draw(st.integers(0, 3))
    shift = draw(st.integers(bits, 4)) * (draw(st.sampled_from([1, -1])) if negative else 1)
    return cute.Swizzle(bits, draw(st.integers(0, 4)), shift)


@st.composite
def composed(draw, outers=layouts):
    return cute.ComposedLayout(draw(swizzles()), draw(st.integers(0, 64)), draw(outers()))


@law
@given(swizzles())
def test_a_swizzle_is_a_bijective_involution(swizzle):
    indices = range(swizzle.size())
    assert all(swizzle(swizzle(i)) == i for i in indices)
    assert sorted(map(swizzle, indices)) == list(indices)
    kept = ~swizzle.zzz_mask
    assert all(swizzle(i) & kept == i & kept for i in indices)


@law
@given(swizzles())
def test_arrays_swizzle_elementwise(swizzle):
    indices = np.arange(2 * swizzle.size())
    assert swizzle.apply(indices).tolist() == [swizzle(int(i)) for i in indices]


def test_the_128_byte_swizzle():
    swizzle = cute.Swizzle.parse("S<3,4,3>")
    assert (swizzle.yyy_mask, swizzle.zzz_mask) == (0b1110000000, 0b1110000)
    assert swizzle(128 + 3) == 128 + 16 + 3
    for row in range(8):
        assert {swizzle(128 * row + 16 * chunk) // 16 % 8 for chunk in range(8)} == set(range(8))


@law
@given(swizzles(), st.sampled_from([1, 2, 4, 8, 16]))
def test_upcast_swizzles_whole_elements(swizzle, n):
    try:
        wide = cute.upcast(n, swizzle)
    except cute.LayoutError:
        assert swizzle.shift < 0 and swizzle.base < n.bit_length() - 1
        return
    assert all(wide(i // n) == swizzle(i) // n for i in range(2 * swizzle.size()))


@law
@given(swizzles(), st.sampled_from([1, 2, 4, 8]))
def test_upcast_undoes_downcast(swizzle, n):
    narrow = cute.recast_layout(8, 8 * n, swizzle)
    assert cute.recast_layout(8 * n, 8, narrow) == swizzle
    assert all(narrow(n * i) == n * swizzle(i) for i in range(swizzle.size()))


@law
@given(composed())
def test_text_and_layout_are_inverse(layout):
    assert cute.parse_layout(str(layout)) == cute.ComposedLayout.parse(str(layout)) == layout
    assert (
        eval(repr(layout), vars(cute))
        == pickle.loads(pickle.dumps(layout))
        == copy.deepcopy(layout)
    )
    assert hash(layout) == hash(copy.copy(layout))
    assert (
        cute.Swizzle.parse(str(layout.inner))
        == eval(repr(layout.inner), vars(cute))
        == layout.inner
    )


@law
@given(composed())
def test_the_value_is_inner_of_offset_plus_outer(layout):
    images = [layout.inner(layout.offset + v) for v in values(layout.outer)]
    assert values(layout) == images
    arrays = layout(np.arange(layout.size()))
    assert np.broadcast_to(arrays, layout.size()).tolist() == images
    assert (layout.size(), layout.rank()) == (layout.outer.size(), layout.outer.rank())
    assert [m.outer for m in layout] == list(layout.outer)


@law
@given(composed(), st.data())
def test_a_slice_keeps_the_values(layout, data):
    coord = cute.transform_leaf(
        lambda s: data.draw(st.one_of(st.none(), st.integers(0, s - 1))), layout.shape
    )
    open_leaves = cute.flatten(coord)
    assume(None in open_leaves)
    naturals = [cute.idx2crd(i, layout.shape) for i in range(layout.size())]
    assert values(layout(coord)) == [
        layout(c)
        for c in naturals
        if all(w in (None, x) for w, x in zip(open_leaves, cute.flatten(c), strict=True))
    ]


# cute.slice: what the fixed modes add may go, how the values differ may not.
@law
@given(st.one_of(composed(), composed(power_of_two_layouts)), st.data())
@example(cute.parse_layout("S<2,0,3> o 1 o (4,4):(8,1)"), (1, None))
@example(cute.parse_layout("S<2,1,3> o 24 o (4,2,4):(1,16,4)"), (None, None, 3))
@example(cute.parse_layout("S<2,2,3> o 8 o (8,4,4):(64,64,16)"), (None, None, 2))
@example(cute.parse_layout("S<2,3,-3> o 0 o (8,3,4):(64,2,4)"), (None, 2, 1))
@example(cute.parse_layout("S<2,3,3> o 24 o (4,3):(4,64)"), (3, None))
def test_a_slice_of_a_layout_keeps_how_its_values_differ(layout, data):
    coord = data
    if not isinstance(coord, tuple):
        coord = cute.transform_leaf(
            lambda s: data.draw(st.one_of(st.none(), st.integers(0, s - 1))), layout.shape
        )
    assume(None in cute.flatten(coord))
    sliced, exact = values(slice_any(coord, layout)), values(layout(coord))
    assert [v - sliced[0] for v in sliced] == [v - exact[0] for v in exact]


@law
@given(composed(power_of_two_layouts), power_of_two_layouts())
def test_composition_acts_on_the_domain(layout, b):
    assert values(cute.composition(layout, b)) == [layout(j) for j in values(b)]


@law
@given(composed())
def test_coalesce_keeps_the_function(layout):
    assert values(cute.coalesce(layout)) == values(layout)
    assert set(values(cute.filter(layout))) == set(values(layout))
    assert cute.equivalent(cute.coalesce(layout), layout)


@law
@given(composed(), composed())
def test_equivalent_means_equal_as_functions(a, b):
    assert cute.equivalent(a, b) == (values(a) == values(b))
    assert cute.equivalent(a, a.outer) == (values(a) == values(a.outer))


def test_tiles_of_a_swizzled_layout():
    atom = cute.ComposedLayout.parse("S<3,4,3> o 0 o (8,64):(64,1)")
    tiled = cute.tile_to_shape(atom, (64, 128), (1, 0))
    assert str(tiled) == "S<3,4,3> o 0 o ((8,8),(64,2)):((64,1024),(1,512))"
    assert str(cute.logical_divide(atom, (8, 16)))[:14] == "S<3,4,3> o 0 o"
    assert str(cute.zipped_divide(atom, (4, 16)).outer) == "((4,16),(2,4)):((64,1),(256,16))"
    assert cute.complement(atom, 1024) == cute.Layout(2, 512)
    assert atom.cosize() == 512 and atom.shape == (8, 64) and atom.depth() == 1


def test_recast_of_composed_layouts():
    layout = cute.ComposedLayout.parse("S<3,4,3> o 32 o (8,64):(64,1)")
    assert str(cute.recast_layout(16, 8, layout)) == "S<3,3,3> o 16 o (8,32):(32,1)"
    assert str(cute.recast_layout(8, 16, layout)) == "S<3,5,3> o 64 o (8,128):(128,1)"
    general = cute.ComposedLayout.parse("(4,5):(1,4) o 2 o (8,4):(1,8)")
    assert str(cute.recast_layout(32, 16, general)) == "(2,5):(1,2) o 1 o (4,4):(1,4)"


def test_the_inner_function_may_be_a_layout_of_coordinates():
    layout = cute.parse_layout("(6,2):(1,3) o (2,1) o (2,3):(1@1,2@0)")
    assert isinstance(layout, cute.ComposedLayout)
    assert layout(3) == 4 + 2 * 3
    assert str(layout(None, 1)) == "(6,2):(1,3) o (4,1) o (2):(1@1)"


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("S<3,4>", 5),
        ("S<3,4,3", 7),
        ("S<3,4,3>", 8),
        ("S<3,4,2> o 0 o 8:1", 0),
        ("S<3,4,3> o", 10),
        ("S<3,4,3> o 0", 12),
        ("S<3,4,3> o 0 o (8,64):(64,1) x", 29),
        ("S<3,4,3> o 0 o (8,64):(64)", 14),
        ("S<3,4,3> o 1@0 o 8:1", 10),
        ("S<3,4,3> o 0 o (4,8):(1@0,1@1)", 10),
        ("8:1 o", 5),
    ],
)
def test_bad_text_raises_at_its_position(text, position):
    with pytest.raises(cute.LayoutParseError) as error:
        cute.parse_layout(text)
    assert error.value.position == position


@pytest.mark.parametrize(
    "call",
    [
        lambda: cute.Swizzle(3, 4, 2),
        lambda: cute.Swizzle(-1, 4, 3),
        lambda: cute.Swizzle(1, -4, 3),
        lambda: cute.Swizzle(3, 4, 1 << 31),
        lambda: cute.Swizzle(0, 64, 0),
        lambda: cute.ComposedLayout(cute.Swizzle(3, 4, 3), 0, cute.make_identity_layout((4, 8))),
        lambda: cute.ComposedLayout(cute.Layout(4), (1, 2), cute.Layout(8, 1)),
        lambda: cute.upcast(3, cute.Swizzle(3, 4, 3)),
        lambda: cute.upcast(32, cute.Swizzle(3, 4, -3)),
        lambda: cute.upcast(2, cute.ComposedLayout(cute.Swizzle(3, 4, 3), 1, cute.Layout(8))),
    ],
)
def test_misfits_raise(call):
    with pytest.raises(cute.LayoutError):
        call()


def test_parse_of_the_wrong_kind_raises():
    with pytest.raises(cute.LayoutParseError):
        cute.ComposedLayout.parse("(4,8):(1,4)")
    with pytest.raises(cute.LayoutParseError):
        cute.Layout.parse("S<3,4,3> o 0 o 8:1")
    with pytest.raises(cute.LayoutParseError):
        cute.Swizzle.parse("S<3,4,3> o 0 o 8:1")
