"""IntTuple structure and arithmetic, and coordinates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from layout_strategies import law, shapes

from tilewright.dialects import cute


@law
@given(shapes())
def test_flatten_and_unflatten_are_inverse(shape):
    assert cute.unflatten(cute.flatten(shape), shape) == shape
    assert cute.congruent(shape, cute.repeat_like(shape, 0))
    assert (
        cute.product(cute.flatten(shape))
        == cute.product(shape)
        == cute.product(cute.product_each(shape))
    )


@law
@given(shapes())
def test_idx2crd_and_crd2idx_are_inverse(shape):
    coords = [cute.idx2crd(i, shape) for i in range(cute.product(shape))]
    assert [cute.crd2idx(c, shape) for c in coords] == list(range(cute.product(shape)))
    assert all(cute.congruent(c, shape) for c in coords)
    assert len(set(coords)) == len(coords)


@law
@given(shapes())
def test_crd2crd_keeps_the_element(shape):
    for i in range(cute.product(shape)):
        crd = cute.idx2crd(i, shape)
        assert cute.crd2crd(crd, shape, cute.product(shape)) == i
        assert cute.crd2crd(i, cute.product(shape), shape) == crd
        assert cute.crd2crd(crd, shape, shape) == crd


@law
@given(shapes())
def test_the_size_is_the_coarsest_compatible_shape(shape):
    assert cute.compatible(cute.product(shape), shape)
    assert cute.compatible(shape, shape)
    assert not cute.compatible(shape, cute.product(shape)) or not isinstance(shape, tuple)


@law
@given(shapes(), st.data())
def test_slice_and_dice_part_the_leaves(shape, data):
    coord = cute.transform_leaf(lambda _: data.draw(st.sampled_from([None, 0])), shape)
    kept, fixed = cute.flatten(cute.slice_(coord, shape)), cute.flatten(cute.dice(coord, shape))
    assert sorted((*kept, *fixed)) == sorted(cute.flatten(shape))
    assert len(kept) == cute.flatten(coord).count(None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (cute.rank(5), 1),
        (cute.rank((2, (3, 4))), 2),
        (cute.depth(5), 0),
        (cute.depth((2, (3, 4))), 2),
        (cute.product(()), 1),
        (cute.tuple_max((2, (9, 4))), 9),
        (cute.prefix_product((2, (3, 4))), (1, (2, 6))),
        (cute.inner_product((1, (2, 3)), (4, (5, 6))), 32),
        (cute.ceil_div((8, 10, 6), (3, 4)), (3, 3, 6)),
        (cute.ceil_div((4, 8), 8), (1, 4)),
        (cute.shape_div((4, 5, 6), 40), (1, 1, 3)),
        (cute.shape_div(60, (3, 4, 5)), 1),
        (cute.elem_scale((2, 3), ((4, 5), 6)), (40, 18)),
        (cute.zip_((1, 2), (3, 4)), ((1, 3), (2, 4))),
        (cute.transform(max, (1, 5), (2, 3)), (2, 5)),
        (cute.slice_(((None, 0), None), ((2, 3), 4)), (2, 4)),
        (cute.slice_(None, (4, 8)), (4, 8)),
        (cute.dice((None, 2), (4, 8)), (8,)),
        (cute.crd2idx((1, 2), (4, 8)), 9),
        (cute.crd2idx(33, (4, 8)), 33),
        (cute.idx2crd(33, (4, 8)), (1, 8)),
        (cute.weakly_congruent((6, 4), ((2, 3), 4)), True),
        (cute.weakly_congruent(((2, 3), 4), (6, 4)), False),
        (cute.compatible((6, 4), ((2, 3), 4)), True),
        (cute.compatible((6, 4), ((2, 4), 4)), False),
    ],
)
def test_examples(value, expected):
    assert value == expected


def test_scaled_basis_text_leads_from_the_inside_out():
    assert str(cute.ScaledBasis(4, (0, 1))) == "4@1@0"
    assert (
        cute.ScaledBasis(1, (0,)) * 4 == 4 * cute.ScaledBasis(1, (0,)) == cute.ScaledBasis(4, (0,))
    )


def test_coprofile_holds_every_basis():
    assert cute.coprofile((1, (4, 0))) == 0
    assert cute.coprofile(cute.make_basis_like((4, (2, 3)))) == (0, (0, 0))
    assert cute.coprofile((cute.ScaledBasis(4, (2, 1)), 0)) == (0, 0, (0, 0))


@pytest.mark.parametrize(
    "call",
    [
        lambda: cute.crd2idx((1, 2, 3), (4, 8)),
        lambda: cute.crd2idx((1, 2), 8),
        lambda: cute.idx2crd((1, 2, 3), (4, 8)),
        lambda: cute.shape_div(6, 4),
        lambda: cute.ceil_div((4,), (1, 2)),
        lambda: cute.transform(max, (1, 2), (1, 2, 3)),
        lambda: cute.transform_leaf(max, (1, 2), (1, (2, 3))),
        lambda: cute.unflatten((1, 2), (0, (0, 0))),
        lambda: cute.slice_((None, 0), (1, 2, 3)),
        lambda: cute.elem_scale((2, 3), 4),
        lambda: cute.ScaledBasis(1, ()),
        lambda: cute.coprofile((cute.ScaledBasis(1, (0,)), 1)),
        lambda: cute.coprofile((cute.ScaledBasis(1, (0,)), cute.ScaledBasis(1, (0, 1)))),
    ],
)
def test_misfits_raise(call):
    with pytest.raises(cute.LayoutError):
        call()


def test_a_layout_and_its_tuples_agree():
    layout = cute.Layout(((4, 8), 2), ((32, 1), 16))
    assert layout((5, 1)) == cute.crd2idx((5, 1), layout.shape, layout.stride) == 32 + 1 + 16
