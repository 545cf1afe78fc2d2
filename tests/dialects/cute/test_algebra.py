"""The algebra's laws, each over all coordinates of random layouts."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from layout_strategies import injective_layouts, law, layouts, power_of_two_layouts, shapes, values

from tilewright.dialects.cute import (
    Layout,
    LayoutError,
    blocked_product,
    coalesce,
    compatible,
    complement,
    composition,
    congruent,
    downcast,
    equivalent,
    filter,
    flat_divide,
    flat_product,
    flatten,
    idx2crd,
    left_inverse,
    logical_divide,
    logical_product,
    make_identity_layout,
    make_layout,
    make_ordered_layout,
    max_common_layout,
    max_common_vector,
    nullspace,
    product,
    product_each,
    raked_product,
    recast_layout,
    right_inverse,
    tile_to_shape,
    tiled_divide,
    tiled_product,
    upcast,
    zipped_divide,
    zipped_product,
)


def parse(*texts):
    return [Layout.parse(text) for text in texts]


# --- coalesce, filter -----------------------------------------------------------------------------


@law
@given(layouts())
def test_coalesce_keeps_the_function_in_the_fewest_modes(layout):
    short = coalesce(layout)
    assert values(short) == values(layout)
    assert short.depth() <= 1
    if short.size() > 1:
        assert 1 not in flatten(short.shape)
    leaves = short.leaves
    for (s, d), (_, after) in pairwise(leaves):
        assert s * d != after
    assert coalesce(short) == short


@law
@given(layouts())
def test_coalesce_by_profile_keeps_the_modes(layout):
    assume(isinstance(layout.shape, tuple))
    by_mode = coalesce(layout, (1,) * layout.rank())
    assert list(map(values, by_mode)) == list(map(values, layout))
    assert all(mode.depth() <= 1 for mode in by_mode)


@law
@given(layouts())
def test_filter_keeps_the_images(layout):
    short = filter(layout)
    assert set(values(short)) == set(values(layout))
    assert 0 not in flatten(short.stride) or short == Layout(1, 0)


@law
@given(layouts())
def test_nullspace_maps_to_zero(layout):
    null = nullspace(layout)
    assert all(layout(null(i)) == 0 for i in range(null.size()))
    assert null.size() == layout.size() // product(tuple(s for s, d in layout.leaves if d))


# --- composition ----------------------------------------------------------------------------------


@law
@given(layouts(), layouts())
def test_composition_is_a_of_b_or_an_error(a, b):
    try:
        ab = composition(a, b)
    except LayoutError:
        return
    assert compatible(b.shape, ab.shape)
    for i in range(b.size()):
        assert ab(i) == a(b(i))
        assert ab(idx2crd(i, b.shape)) == a(b(i))


@law
@given(power_of_two_layouts(), power_of_two_layouts())
def test_powers_of_two_always_compose(a, b):
    ab = composition(a, b)
    assert values(ab) == [a(j) for j in values(b)]


@law
@given(power_of_two_layouts(), power_of_two_layouts(), power_of_two_layouts())
def test_composition_is_associative(a, b, c):
    assume(a.size() >= b.size() >= c.size())
    assert equivalent(composition(composition(a, b), c), composition(a, composition(b, c)))


@law
@given(layouts())
def test_identities_compose_to_the_layout(layout):
    assert values(composition(layout, Layout(layout.size()))) == values(layout)
    assert values(composition(Layout(layout.cosize()), layout)) == values(layout)
    identity = make_identity_layout(layout.shape)
    assert values(composition(layout, identity)) == values(layout)


@law
@given(layouts(), layouts())
def test_composition_by_tuple_acts_on_modes(a, b):
    pair = make_layout(a, b)
    assert composition(pair, (None, 1)) == make_layout(a, composition(b, 1))
    assert composition(pair, (None,)) == make_layout(a)


def test_composition_after_a_coordinate_layout():
    a, b = parse("(4,(2,3)):(6,(3,1))", "(2,4):(1@1@1,1@0)")
    assert str(composition(a, b)) == "(2,4):(1,6)"
    tiles = composition(make_identity_layout((8, 8)), Layout((2, 2), (8, 1)))
    assert values(tiles) == [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize(
    ("a", "b", "ab"),
    [
        ("20:2", "(5,4):(4,1)", "(5,4):(8,2)"),
        ("(4,6,8,10):(2,3,5,7)", "6:12", "(2,3):(9,5)"),
        ("(4,3):(3,1)", "24:1", "(4,6):(3,1)"),
        ("(4,3,1):(3,1,0)", "24:1", "(4,3,2):(3,1,0)"),
        ("(8,8):(8,1)", "3:3", "3:24"),
        ("((4,2)):((1,16))", "(4,2):(2,1)", "((2,2),2):((2,16),1)"),
        ("10:2", "4:-1", "4:-2"),
    ],
)
def test_composition_examples(a, b, ab):
    assert str(composition(*parse(a, b))) == ab


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ("(4,8):(8,1)", "3:3", "stride, 3"),
        ("(4,8):(2,1)", "(2,5):(1,5)", "stride, 5"),
        ("(4,8):(2,1)", "6:1", "extent, 6"),
        # CuTe lets this one pass, with a wrong value at 3: 8 elements do not end on a step of 3.
        ("(8,8):(8,1)", "6:3", "stride, 3"),
        # And this one, in both implementations: 1 and 2 are in mode 0, their sum is not.
        ("(3,4):(1,6)", "(2,2):(1,2)", "together leave mode 0"),
        ("(4,8):(8,1)", "4:-1", "leaves the domain"),
    ],
)
def test_composition_names_what_does_not_divide(a, b, words):
    with pytest.raises(LayoutError, match=words):
        composition(*parse(a, b))


def test_too_many_tilers_raise():
    with pytest.raises(LayoutError, match="at most 2"):
        composition(Layout((4, 8)), (2, 2, 2))
    with pytest.raises(LayoutError, match="at most 2"):
        logical_divide(Layout((4, 8)), (2, 2, 2))
    with pytest.raises(LayoutError, match="no mode"):
        composition(Layout((4, 8)), Layout.parse("2:1@2"))


# --- complement -----------------------------------------------------------------------------------


@law
@given(injective_layouts(3), st.integers(1, 300))
def test_complement_is_disjoint_ordered_and_large_enough(layout, cotarget):
    rest = complement(layout, cotarget)
    outside = values(rest)
    assert outside[0] == 0 and sorted(set(outside)) == outside
    assert set(outside) & set(values(layout)) == {0}
    both = values(make_layout(layout, rest))
    assert len(set(both)) == len(both)
    assert set(range(cotarget)) <= set(both)
    covered = max((s * d for s, d in layout.leaves if s > 1), default=1)
    assert rest.cosize() <= -(-cotarget // covered) * covered


@law
@given(injective_layouts(padded=False))
def test_complement_of_a_compact_layout_completes_it(layout):
    target = 3 * layout.size()
    both = values(make_layout(layout, complement(layout, target)))
    assert sorted(both) == list(range(target))


def test_complement_examples():
    for layout, cotarget, rest in [
        ("4:2", 16, "(2,2):(1,8)"),
        ("3:0", 6, "6:1"),
        ("4:1", 4, "1:0"),
        ("(3,(5,2)):(1,(3,15))", (6, 20), "4:30"),
        ("(4,2):(1,10)", 14, "2:4"),
    ]:
        assert str(complement(Layout.parse(layout), cotarget)) == rest
    assert complement(Layout(3, 2), Layout(6)) == Layout(2, 1)


@pytest.mark.parametrize("text", ["(2,2):(1,1)", "(4,2):(1,2)", "4:-1", "(4,8):(1@0,1@1)"])
def test_complement_needs_an_injective_layout(text):
    with pytest.raises(LayoutError, match="complement"):
        complement(Layout.parse(text), 16)


# --- inverses -------------------------------------------------------------------------------------


@law
@given(layouts())
def test_right_inverse(layout):
    inverse = right_inverse(layout)
    assert [layout(i) for i in values(inverse)] == list(range(inverse.size()))


@law
@given(injective_layouts(padded=False))
def test_right_inverse_of_a_compact_layout_is_its_inverse(layout):
    assert right_inverse(layout).size() == layout.size()
    assert equivalent(right_inverse(right_inverse(layout)), layout)


@law
@given(injective_layouts())
def test_left_inverse(layout):
    inverse = left_inverse(layout)
    assert [inverse(j) for j in values(layout)] == list(range(layout.size()))


@law
@given(layouts())
def test_left_inverse_is_a_quasi_inverse_past_broadcast_modes(layout):
    moving = filter(layout)
    assume(len(set(values(moving))) == moving.size())
    try:
        inverse = left_inverse(layout)
    except LayoutError:
        return
    assert [layout(inverse(j)) for j in values(layout)] == values(layout)


@law
@given(shapes())
def test_inverses_of_coordinate_layouts(shape):
    identity = make_identity_layout(shape)
    for inverse in (right_inverse(identity), left_inverse(identity)):
        assert [inverse(identity(i)) for i in range(identity.size())] == list(
            range(identity.size())
        )


def test_inverse_examples():
    for layout, right, left in [
        ("(2,4):(4,1)", "(4,2):(2,1)", "(4,2):(2,1)"),
        ("(4,2):(1,10)", "4:1", "(10,2):(1,4)"),
        ("4:2", "1:0", "(2,4):(0,1)"),
        ("(32,128):(0,1)", "128:32", "128:32"),
        ("(4,5):(1@1,1@0)", "(5,4):(4,1)", "(5,4):(4,1)"),
        ("(4,5):(2@0,2@1)", "(1,1):(0,0)", "((2,4),(2,5)):((0,1),(0,4))"),
    ]:
        assert str(right_inverse(Layout.parse(layout))) == right
        assert str(left_inverse(Layout.parse(layout))) == left


def test_left_inverse_needs_dividing_strides():
    with pytest.raises(LayoutError, match="3 after 2"):
        left_inverse(Layout((2, 2), (2, 3)))


@law
@given(power_of_two_layouts(), power_of_two_layouts())
def test_max_common_layout(a, b):
    common = max_common_layout(a, b)
    assert [a(i) for i in values(common)] == [b(i) for i in values(common)]
    assert [a(i) for i in values(common)] == list(range(common.size()))
    assert max_common_vector(a, b) == common.size()
    assert max_common_vector(a, a) == right_inverse(a).size()


# --- divide ---------------------------------------------------------------------------------------


@law
@given(layouts(), injective_layouts())
def test_logical_divide_composes_with_the_tiler_and_its_complement(a, b):
    try:
        divided = logical_divide(a, b)
    except LayoutError:
        return
    pair = make_layout(b, complement(b, coalesce(a).shape))
    assert values(divided) == [a(j) for j in values(pair)]
    assert values(divided[0]) == [a(j) for j in values(b)]


@law
@given(power_of_two_layouts(), power_of_two_layouts())
def test_division_by_a_layout_that_fits_permutes_the_layout(a, b):
    assume(b.size() <= a.size())
    divided = logical_divide(a, b)
    assert divided.rank() == 2
    assert sorted(values(divided)) == sorted(values(a))


@law
@given(layouts(), layouts(), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 3]))
def test_the_variants_of_division_gather_the_same_modes(a, b, m, n):
    ab = make_layout(a, b)
    try:
        logical = logical_divide(ab, (m, n))
    except LayoutError:
        return
    (tile_m, rest_m), (tile_n, rest_n) = logical
    tile, rest = make_layout(tile_m, tile_n), make_layout(rest_m, rest_n)
    assert zipped_divide(ab, (m, n)) == make_layout(tile, rest)
    assert tiled_divide(ab, (m, n)) == make_layout(tile, rest_m, rest_n)
    assert flat_divide(ab, (m, n)) == make_layout(tile_m, tile_n, rest_m, rest_n)
    assert product_each(tile.shape) == (m, n)


def test_division_examples():
    (a,) = parse("(6,8):(8,1)")
    assert str(logical_divide(a, (3, 4))) == "((3,2),(4,2)):((8,24),(1,4))"
    assert str(zipped_divide(a, (3, 4))) == "((3,4),(2,2)):((8,1),(24,4))"
    assert str(flat_divide(a, Layout((3, 4)))) == "(3,(2,2),4):(8,(24,1),2)"
    assert str(logical_divide(a, (None, 4))) == "(6,(4,2)):(8,(1,4))"
    assert str(zipped_divide(a, (3,))) == "((3),(2,8)):((8),(24,1))"
    overhanging = logical_divide(Layout(10), 4)
    assert str(overhanging) == "(4,3):(1,4)"
    with pytest.raises(LayoutError, match="divided in two"):
        zipped_divide(Layout((6, (2, 2, 2))), (3, None))


# --- product --------------------------------------------------------------------------------------


@law
@given(injective_layouts(3), injective_layouts(3, padded=False))
def test_logical_product_repeats_the_block_disjointly(block, tiler):
    assume(block.size() * tiler.size() < 3000)
    try:
        repeated = logical_product(block, tiler)
    except LayoutError:
        return
    assert repeated[0] == block
    assert compatible(tiler.shape, repeated[1].shape)
    assert len(set(values(repeated))) == repeated.size() == block.size() * tiler.size()
    rest = complement(block, block.size() * tiler.cosize())
    assert values(repeated[1]) == [rest(j) for j in values(tiler)]


@law
@given(power_of_two_layouts(), power_of_two_layouts(), st.sampled_from([1, 2, 4]))
def test_the_variants_of_product_gather_the_same_modes(a, b, n):
    ab = make_layout(a, b)
    (a_block, a_rest), (b_block, b_rest) = logical_product(ab, (n, Layout((2, n))))
    block, rest = make_layout(a_block, b_block), make_layout(a_rest, b_rest)
    tiler = (n, Layout((2, n)))
    assert zipped_product(ab, tiler) == make_layout(block, rest)
    assert tiled_product(ab, tiler) == make_layout(block, *rest)
    assert flat_product(ab, tiler) == make_layout(*block, *rest)


@law
@given(st.permutations([0, 1]), st.sampled_from([1, 2, 3, 4]), st.sampled_from([1, 2, 5]))
def test_blocked_and_raked_products_place_whole_blocks(order, m, n):
    block = make_ordered_layout((4, 3), tuple(order))
    tiler = Layout((m, n))
    blocked, raked = blocked_product(block, tiler), raked_product(block, tiler)
    for i in range(4):
        for j in range(3):
            for x in range(m):
                for y in range(n):
                    index = block(i, j) + 12 * tiler(x, y)
                    assert blocked(i + 4 * x, j + 3 * y) == index
                    assert raked(x + m * i, y + n * j) == index


@law
@given(st.permutations([0, 1, 2]), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
def test_tile_to_shape_fills_the_target(order, m, n, k):
    block = Layout((8, 4), (4, 1))
    target = (8 * m, 4 * n, k)
    tiled = tile_to_shape(block, target, tuple(order))
    assert compatible(target, tiled.shape)
    assert sorted(values(tiled)) == list(range(product(target)))
    assert all(tiled(i, j, 0) == block(i, j) for i in range(8) for j in range(4))


def test_product_examples():
    a, b = parse("(3,4):(4,1)", "(2,5):(1,2)")
    assert str(logical_product(a, b)) == "((3,4),(2,5)):((4,1),(12,24))"
    assert str(blocked_product(a, b)) == "((3,2),(4,5)):((4,12),(1,24))"
    assert str(raked_product(a, b)) == "((2,3),(5,4)):((12,4),(24,1))"
    assert str(tiled_product(a, b)) == "((3,4),2,5):((4,1),12,24)"
    assert str(blocked_product(Layout(4), Layout(3))) == "((4,3)):((1,4))"
    text = "((8,16),(64,1)):((64,512),(1,0))"
    assert str(tile_to_shape(Layout((8, 64), (64, 1)), (128, 64))) == text
    with pytest.raises(LayoutError, match="multiple of 3"):
        tile_to_shape(Layout((3, 3)), (5, 6))
    with pytest.raises(LayoutError, match="injective"):
        logical_product(Layout((2, 2), (1, 1)), 4)


# --- recast ---------------------------------------------------------------------------------------


@law
@given(power_of_two_layouts(), st.sampled_from([1, 2, 4]))
def test_upcast_divides_the_images(layout, n):
    wide = upcast(n, layout)
    assert congruent(wide.shape, layout.shape)
    assert set(values(wide)) == {v // n for v in values(layout)}


@law
@given(injective_layouts(padded=False), st.sampled_from([1, 2, 3, 4]))
def test_upcast_undoes_downcast(layout, n):
    assume(layout.size() > 1)
    narrow = downcast(n, layout)
    assert set(values(narrow)) == {n * v + k for v in values(layout) for k in range(n)}
    assert equivalent(upcast(n, narrow), layout)


def test_recast_examples():
    assert str(recast_layout(32, 8, Layout.parse("(32,4):(1,32)"))) == "(8,4):(1,8)"
    assert str(recast_layout(8, 32, Layout.parse("(8,4):(1,8)"))) == "(32,4):(1,32)"
    assert str(recast_layout(6, 4, Layout((6, 4)))) == "(4,4):(1,4)"
    assert str(upcast(4, Layout((2, 2)))) == "(1,1):(1,1)"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: upcast(2, Layout(4, 3)), "stride 3"),
        (lambda: upcast(2, Layout(3, 1)), "does not fill"),
        (lambda: upcast(2, make_identity_layout((4, 4))), "integer strides"),
        (lambda: upcast(0, Layout(4)), "factor"),
        (lambda: downcast(2, Layout(4, 2)), "one mode of stride 1"),
        (lambda: downcast(2, Layout((2, 2), (1, 1))), "one mode of stride 1"),
        (lambda: recast_layout(0, 8, Layout(4)), "widths"),
    ],
)
def test_recast_needs_elements_that_line_up(call, words):
    with pytest.raises(LayoutError, match=words):
        call()
