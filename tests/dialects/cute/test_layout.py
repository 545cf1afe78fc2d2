"""Layouts: construction, evaluation, text, modes."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layout_strategies import injective_layouts, law, layouts, shapes, values

from tilewright.dialects import cute


@law
@given(layouts())
def test_text_and_layout_are_inverse(layout):
    assert cute.Layout.parse(str(layout)) == cute.parse_layout(str(layout)) == layout
    assert cute.Layout.parse(str(layout).replace(",", " , ").replace(":", " : ")) == layout
    assert eval(repr(layout), vars(cute)) == layout


@law
@given(layouts())
def test_value_semantics(layout):
    twin = cute.Layout(layout.shape, layout.stride)
    assert twin == layout and hash(twin) == hash(layout)
    assert pickle.loads(pickle.dumps(layout)) == copy.deepcopy(layout) == layout
    with pytest.raises(AttributeError):
        layout.shape = 1
    with pytest.raises(AttributeError):
        del layout.stride


@law
@given(layouts())
def test_every_kind_of_coordinate_gives_the_same_index(layout):
    flat = layout.flatten()
    for i in range(layout.size()):
        natural = cute.idx2crd(i, layout.shape)
        by_mode = tuple(cute.idx2crd(i, tuple(m.size() for m in layout)))
        assert layout(i) == layout(natural) == flat(cute.flatten(natural))
        assert layout(*by_mode) == layout(i)
        pairs = zip(cute.flatten(natural), cute.flatten(layout.stride), strict=True)
        assert layout(i) == sum(c * d for c, d in pairs)


@law
@given(layouts())
def test_arrays_of_indices_evaluate_elementwise(layout):
    assert np.broadcast_to(layout(np.arange(layout.size())), layout.size()).tolist() == values(
        layout
    )


@law
@given(layouts())
def test_cosize_is_one_past_the_largest_index(layout):
    assert layout.cosize() == max(values(layout)) + 1


@law
@given(shapes())
def test_the_default_is_compact_column_major(shape):
    layout = cute.Layout(shape)
    assert values(layout) == list(range(layout.size()))


@law
@given(shapes(), st.randoms())
def test_an_ordered_layout_is_compact(shape, random):
    modes = list(range(len(cute.Layout(shape))))
    random.shuffle(modes)
    layout = cute.make_ordered_layout(shape, tuple(modes) if isinstance(shape, tuple) else 0)
    assert sorted(values(layout)) == list(range(layout.size()))
    strides = [max(cute.flatten(m.stride)) for m in layout if m.size() > 1]
    order = [o for o, m in zip(modes, layout, strict=True) if m.size() > 1]
    assert sorted(strides) == [d for _, d in sorted(zip(order, strides, strict=True))]


@law
@given(injective_layouts())
def test_make_layout_like_closes_the_gaps_in_order(layout):
    like = cute.make_layout_like(layout)
    assert like.shape == layout.shape
    rank_of = {v: r for r, v in enumerate(sorted(values(layout)))}
    assert values(like) == [rank_of[v] for v in values(layout)]


@law
@given(layouts(), st.data())
def test_a_slice_and_its_offset_give_back_the_layout(layout, data):
    coord = cute.transform_leaf(
        lambda s: data.draw(st.one_of(st.none(), st.integers(0, s - 1))), layout.shape
    )
    sliced, offset = cute.slice_and_offset(coord, layout)
    fixed = cute.dice_layout(coord, layout)
    assert sliced.size() * fixed.size() == layout.size()
    natural = (cute.idx2crd(i, layout.shape) for i in range(layout.size()))
    chosen = [
        layout(c)
        for c in natural
        if all(w in (None, x) for w, x in zip(cute.flatten(coord), cute.flatten(c), strict=True))
    ]
    assert [offset + v for v in values(sliced)] == chosen
    if None in cute.flatten(coord):
        assert layout(coord) == sliced


@law
@given(shapes())
def test_an_identity_layout_maps_coordinates_to_themselves(shape):
    layout = cute.make_identity_layout(shape)
    coords = [cute.idx2crd(i, shape) for i in range(layout.size())]
    assert [layout(c) for c in coords] == coords == values(layout)
    assert layout.coshape() == shape and layout.cosize() == layout.size()


def test_coordinate_layouts():
    layout = cute.Layout.parse("(4,8):(1@0,1@1)")
    assert layout == cute.Layout((4, 8), (cute.ScaledBasis(1, (0,)), cute.ScaledBasis(1, (1,))))
    assert layout(3, 5) == layout(23) == (3, 5)
    assert cute.Layout.parse("(4,8):(1@1,1@0)")(1, 2) == (2, 1)
    assert cute.Layout.parse("((2,3),4):((2@0@0,3@1@0),5@1)")(3) == ((2, 3), 0)
    assert cute.Layout.parse("(4,8):(0,2@1)")(1, 2) == (0, 4)
    assert str(cute.Layout.parse("3:4@1@0")) == "3:4@1@0"
    rows, columns = layout(np.arange(32))
    assert rows.tolist() == [i % 4 for i in range(32)] and columns[31] == 7


def test_modes():
    layout = cute.Layout.parse("((4,8),2):((32,1),16)")
    assert layout.rank() == len(layout) == 2 and layout.depth() == 2
    assert [str(m) for m in layout] == ["(4,8):(32,1)", "2:16"]
    assert layout[0] == layout.mode(0) == cute.Layout.parse("(4,8):(32,1)")
    assert layout.mode(0, 1) == layout[0][-1] == cute.Layout(8, 1)
    assert cute.Layout(4, 2).mode(0) == cute.Layout(4, 2)
    assert cute.make_layout(*layout) == layout
    assert (
        str(cute.append(cute.Layout.parse("(4,8):(1,4)"), cute.Layout(2, 32))) == "(4,8,2):(1,4,32)"
    )
    assert str(cute.prepend(cute.Layout(4, 1), cute.Layout(2, 4))) == "(2,4):(4,1)"
    assert str(cute.append_to_rank(cute.Layout(4, 1), 3)) == "(4,1,1):(1,0,0)"
    assert str(cute.prepend_to_rank(cute.Layout(4, 1), 2, cute.Layout(3, 4))) == "(3,4):(4,1)"
    assert str(cute.group_modes(cute.Layout((2, 3, 4)), 0, 2)) == "((2,3),4):((1,2),6)"
    assert str(cute.select(cute.Layout((2, 3, 4)), 2, 0)) == "(4,2):(6,1)"
    assert str(layout(None, 1)) == "((4,8)):((32,1))"


@law
@given(layouts(), layouts())
def test_equivalent_means_equal_as_functions(a, b):
    assert cute.equivalent(a, b) == (values(a) == values(b))
    assert cute.equivalent(a, a.flatten())
    assert cute.equivalent(a, cute.append(a, cute.Layout(1, 7)))


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", 0),
        ("(4,8)", 5),
        ("(4,8):", 6),
        ("(4,8:(1,4)", 4),
        ("(4,,8):(1,4)", 3),
        ("(4,8):(1,4", 10),
        ("(4,8):(1,4))", 11),
        ("(4,8):(1,x)", 9),
        ("(4,?):(1,4)", 3),
        ("(4,8):(1@,1@1)", 9),
        ("(4,8):1", 0),
        ("(4,0):(1,4)", 0),
        ("(1@0,8):(1,4)", 0),
        ("(4,8):(1@0,1)", 0),
        ("(" * 100, 64),
    ],
)
def test_bad_text_raises_at_its_position(text, position):
    with pytest.raises(cute.LayoutParseError) as error:
        cute.Layout.parse(text)
    assert error.value.position == position
    assert f"at position {position}" in str(error.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cute.Layout((4, 8), 1),
        lambda: cute.Layout((4, 8), (1, 2, 3)),
        lambda: cute.Layout((4, (2, 3)), (1, 2)),
        lambda: cute.Layout((4, -8)),
        lambda: cute.Layout(0, 1),
        lambda: cute.Layout((4, 8), (1, cute.ScaledBasis(1, (0,)))),
        lambda: cute.Layout((4, 8))(1, 2, 3),
        lambda: cute.Layout((4, 8))((1, 2), 3),
        lambda: cute.Layout((4, 8))(None, 2, 3),
        lambda: cute.make_layout(cute.Layout(4, 1), cute.make_identity_layout((4,))),
        lambda: cute.group_modes(cute.Layout((4, 8)), 1, 1),
        lambda: cute.append_to_rank(cute.Layout((4, 8)), 1),
        lambda: cute.make_ordered_layout((4, 8), (0, 1, 2)),
        lambda: cute.make_layout_like(cute.make_identity_layout((4, 8))),
    ],
)
def test_misfits_raise(call):
    with pytest.raises(cute.LayoutError):
        call()


def test_a_mode_beyond_the_rank_raises():
    with pytest.raises(IndexError):
        cute.Layout((4, 8)).mode(2)
    with pytest.raises(IndexError):
        cute.Layout(4).mode(1)
