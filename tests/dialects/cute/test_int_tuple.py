"""IntTuple structure and arithmetic, and coordinates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layout_strategies import law, shapes

from tilewright.dialects.cute import (
    Layout,
    LayoutError,
    ScaledBasis,
    ceil_div,
    compatible,
    congruent,
    coprofile,
    crd2crd,
    crd2idx,
    depth,
    dice,
    elem_scale,
    flatten,
    idx2crd,
    inner_product,
    make_basis_like,
    prefix_product,
    product,
    product_each,
    rank,
    repeat_like,
    shape_div,
    slice_,
    transform,
    transform_leaf,
    tuple_max,
    unflatten,
    weakly_congruent,
    zip_,
)


@law
@given(shapes())
def test_flatten_and_unflatten_are_inverse(shape):
    assert unflatten(flatten(shape), shape) == shape
    assert congruent(shape, repeat_like(shape, 0))
    assert product(flatten(shape)) == product(shape) == product(product_each(shape))


@law
@given(shapes())
def test_idx2crd_and_crd2idx_are_inverse(shape):
    coords = [idx2crd(i, shape) for i in range(product(shape))]
    assert [crd2idx(c, shape) for c in coords] == list(range(product(shape)))
    assert all(congruent(c, shape) for c in coords)
    assert len(set(coords)) == len(coords)


@law
@given(shapes())
def test_crd2crd_keeps_the_element(shape):
    for i in range(product(shape)):
        crd = idx2crd(i, shape)
        assert crd2crd(crd, shape, product(shape)) == i
        assert crd2crd(i, product(shape), shape) == crd
        assert crd2crd(crd, shape, shape) == crd


@law
@given(shapes())
def test_the_size_is_the_coarsest_compatible_shape(shape):
    assert compatible(product(shape), shape)
    assert compatible(shape, shape)
    assert not compatible(shape, product(shape)) or not isinstance(shape, tuple)


@law
@given(shapes(), st.data())
def test_slice_and_dice_part_the_leaves(shape, data):
    coord = transform_leaf(lambda _: data.draw(st.sampled_from([None, 0])), shape)
    kept, fixed = flatten(slice_(coord, shape)), flatten(dice(coord, shape))
    assert sorted((*kept, *fixed)) == sorted(flatten(shape))
    assert len(kept) == flatten(coord).count(None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (rank(5), 1),
        (rank((2, (3, 4))), 2),
        (depth(5), 0),
        (depth((2, (3, 4))), 2),
        (product(()), 1),
        (tuple_max((2, (9, 4))), 9),
        (prefix_product((2, (3, 4))), (1, (2, 6))),
        (inner_product((1, (2, 3)), (4, (5, 6))), 32),
        (ceil_div((8, 10, 6), (3, 4)), (3, 3, 6)),
        (ceil_div((4, 8), 8), (1, 4)),
        (shape_div((4, 5, 6), 40), (1, 1, 3)),
        (shape_div(60, (3, 4, 5)), 1),
        (elem_scale((2, 3), ((4, 5), 6)), (40, 18)),
        (zip_((1, 2), (3, 4)), ((1, 3), (2, 4))),
        (transform(max, (1, 5), (2, 3)), (2, 5)),
        (slice_(((None, 0), None), ((2, 3), 4)), (2, 4)),
        (slice_(None, (4, 8)), (4, 8)),
        (dice((None, 2), (4, 8)), (8,)),
        (crd2idx((1, 2), (4, 8)), 9),
        (crd2idx(33, (4, 8)), 33),
        (idx2crd(33, (4, 8)), (1, 8)),
        (weakly_congruent((6, 4), ((2, 3), 4)), True),
        (weakly_congruent(((2, 3), 4), (6, 4)), False),
        (compatible((6, 4), ((2, 3), 4)), True),
        (compatible((6, 4), ((2, 4), 4)), False),
    ],
)
def test_examples(value, expected):
    assert value == expected


def test_scaled_basis_text_leads_from_the_inside_out():
    assert str(ScaledBasis(4, (0, 1))) == "4@1@0"
    assert ScaledBasis(1, (0,)) * 4 == 4 * ScaledBasis(1, (0,)) == ScaledBasis(4, (0,))


def test_coprofile_holds_every_basis():
    assert coprofile((1, (4, 0))) == 0
    assert coprofile(make_basis_like((4, (2, 3)))) == (0, (0, 0))
    assert coprofile((ScaledBasis(4, (2, 1)), 0)) == (0, 0, (0, 0))


@pytest.mark.parametrize(
    "call",
    [
        lambda: crd2idx((1, 2, 3), (4, 8)),
        lambda: crd2idx((1, 2), 8),
        lambda: idx2crd((1, 2, 3), (4, 8)),
        lambda: shape_div(6, 4),
        lambda: ceil_div((4,), (1, 2)),
        lambda: transform(max, (1, 2), (1, 2, 3)),
        lambda: transform_leaf(max, (1, 2), (1, (2, 3))),
        lambda: unflatten((1, 2), (0, (0, 0))),
        lambda: slice_((None, 0), (1, 2, 3)),
        lambda: elem_scale((2, 3), 4),
        lambda: ScaledBasis(1, ()),
        lambda: coprofile((ScaledBasis(1, (0,)), 1)),
        lambda: coprofile((ScaledBasis(1, (0,)), ScaledBasis(1, (0, 1)))),
    ],
)
def test_misfits_raise(call):
    with pytest.raises(LayoutError):
        call()


def test_a_layout_and_its_tuples_agree():
    layout = Layout(((4, 8), 2), ((32, 1), 16))
    assert layout((5, 1)) == crd2idx((5, 1), layout.shape, layout.stride) == 32 + 1 + 16
