"""The laws of division, product and recast, each over all coordinates of random layouts."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from layout_strategies import injective_layouts, law, layouts, power_of_two_layouts, values

from tilewright.dialects import cute


def parse(*texts):
    return [cute.Layout.parse(text) for text in texts]


# --- divide ---------------------------------------------------------------------------------------


@law
@given(layouts(), injective_layouts())
def test_logical_divide_composes_with_the_tiler_and_its_complement(a, b):
    try:
        divided = cute.logical_divide(a, b)
    except cute.LayoutError:
        return
    pair = cute.make_layout(b, cute.complement(b, cute.coalesce(a).shape))
    assert values(divided) == [a(j) for j in values(pair)]
    assert values(divided[0]) == [a(j) for j in values(b)]


@law
@given(power_of_two_layouts(), power_of_two_layouts())
def test_division_by_a_layout_that_fits_permutes_the_layout(a, b):
    assume(b.size() <= a.size())
    divided = cute.logical_divide(a, b)
    assert divided.rank() == 2
    assert sorted(values(divided)) == sorted(values(a))


@law
@given(layouts(), layouts(), st.sampled_from([1, 2, 4]), st.sampled_from([1, 2, 3]))
def test_the_variants_of_division_gather_the_same_modes(a, b, m, n):
    ab = cute.make_layout(a, b)
    try:
        logical = cute.logical_divide(ab, (m, n))
    except cute.LayoutError:
        return
    (tile_m, rest_m), (tile_n, rest_n) = logical
    tile, rest = cute.make_layout(tile_m, tile_n), cute.make_layout(rest_m, rest_n)
    assert cute.zipped_divide(ab, (m, n)) == cute.make_layout(tile, rest)
    assert cute.tiled_divide(ab, (m, n)) == cute.make_layout(tile, rest_m, rest_n)
    assert cute.flat_divide(ab, (m, n)) == cute.make_layout(tile_m, tile_n, rest_m, rest_n)
    assert cute.product_each(tile.shape) == (m, n)


def test_division_examples():
    (a,) = parse("(6,8):(8,1)")
    assert str(cute.logical_divide(a, (3, 4))) == "((3,2),(4,2)):((8,24),(1,4))"
    assert str(cute.zipped_divide(a, (3, 4))) == "((3,4),(2,2)):((8,1),(24,4))"
    assert str(cute.flat_divide(a, cute.Layout((3, 4)))) == "(3,(2,2),4):(8,(24,1),2)"
    assert str(cute.logical_divide(a, (None, 4))) == "(6,(4,2)):(8,(1,4))"
    assert str(cute.zipped_divide(a, (3,))) == "((3),(2,8)):((8),(24,1))"
    overhanging = cute.logical_divide(cute.Layout(10), 4)
    assert str(overhanging) == "(4,3):(1,4)"
    with pytest.raises(cute.LayoutError, match="divided in two"):
        cute.zipped_divide(cute.Layout((6, (2, 2, 2))), (3, None))


# --- product --------------------------------------------------------------------------------------


@law
@given(injective_layouts(3), injective_layouts(3, padded=False))
def test_logical_product_repeats_the_block_disjointly(block, tiler):
    assume(block.size() * tiler.size() < 3000)
    try:
        repeated = cute.logical_product(block, tiler)
    except cute.LayoutError:
        return
    assert repeated[0] == block
    assert cute.compatible(tiler.shape, repeated[1].shape)
    assert len(set(values(repeated))) == repeated.size() == block.size() * tiler.size()
    rest = cute.complement(block, block.size() * tiler.cosize())
    assert values(repeated[1]) == [rest(j) for j in values(tiler)]


@law
@given(power_of_two_layouts(), power_of_two_layouts(), st.sampled_from([1, 2, 4]))
def test_the_variants_of_product_gather_the_same_modes(a, b, n):
    ab = cute.make_layout(a, b)
    (a_block, a_rest), (b_block, b_rest) = cute.logical_product(ab, (n, cute.Layout((2, n))))
    block, rest = cute.make_layout(a_block, b_block), cute.make_layout(a_rest, b_rest)
    tiler = (n, cute.Layout((2, n)))
    assert cute.zipped_product(ab, tiler) == cute.make_layout(block, rest)
    assert cute.tiled_product(ab, tiler) == cute.make_layout(block, *rest)
    assert cute.flat_product(ab, tiler) == cute.make_layout(*block, *rest)


@law
@given(st.permutations([0, 1]), st.sampled_from([1, 2, 3, 4]), st.sampled_from([1, 2, 5]))
def test_blocked_and_raked_products_place_whole_blocks(order, m, n):
    block = cute.make_ordered_layout((4, 3), tuple(order))
    tiler = cute.Layout((m, n))
    blocked, raked = cute.blocked_product(block, tiler), cute.raked_product(block, tiler)
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
    block = cute.Layout((8, 4), (4, 1))
    target = (8 * m, 4 * n, k)
    tiled = cute.tile_to_shape(block, target, tuple(order))
    assert cute.compatible(target, tiled.shape)
    assert sorted(values(tiled)) == list(range(cute.product(target)))
    assert all(tiled(i, j, 0) == block(i, j) for i in range(8) for j in range(4))


def test_product_examples():
    a, b = parse("(3,4):(4,1)", "(2,5):(1,2)")
    assert str(cute.logical_product(a, b)) == "((3,4),(2,5)):((4,1),(12,24))"
    assert str(cute.blocked_product(a, b)) == "((3,2),(4,5)):((4,12),(1,24))"
    assert str(cute.raked_product(a, b)) == "((2,3),(5,4)):((12,4),(24,1))"
    assert str(cute.tiled_product(a, b)) == "((3,4),2,5):((4,1),12,24)"
    assert str(cute.blocked_product(cute.Layout(4), cute.Layout(3))) == "((4,3)):((1,4))"
    text = "((8,16),(64,1)):((64,512),(1,0))"
    assert str(cute.tile_to_shape(cute.Layout((8, 64), (64, 1)), (128, 64))) == text
    with pytest.raises(cute.LayoutError, match="multiple of 3"):
        cute.tile_to_shape(cute.Layout((3, 3)), (5, 6))
    with pytest.raises(cute.LayoutError, match="injective"):
        cute.logical_product(cute.Layout((2, 2), (1, 1)), 4)


# --- recast ---------------------------------------------------------------------------------------


@law
@given(power_of_two_layouts(), st.sampled_from([1, 2, 4]))
def test_upcast_divides_the_images(layout, n):
    wide = cute.upcast(n, layout)
    assert cute.congruent(wide.shape, layout.shape)
    assert set(values(wide)) == {v // n for v in values(layout)}


@law
@given(injective_layouts(padded=False), st.sampled_from([1, 2, 3, 4]))
def test_upcast_undoes_downcast(layout, n):
    assume(layout.size() > 1)
    narrow = cute.downcast(n, layout)
    assert set(values(narrow)) == {n * v + k for v in values(layout) for k in range(n)}
    assert cute.equivalent(cute.upcast(n, narrow), layout)


def test_recast_examples():
    assert str(cute.recast_layout(32, 8, cute.Layout.parse("(32,4):(1,32)"))) == "(8,4):(1,8)"
    assert str(cute.recast_layout(8, 32, cute.Layout.parse("(8,4):(1,8)"))) == "(32,4):(1,32)"
    assert str(cute.recast_layout(6, 4, cute.Layout((6, 4)))) == "(4,4):(1,4)"
    assert str(cute.upcast(4, cute.Layout((2, 2)))) == "(1,1):(1,1)"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cute.upcast(2, cute.Layout(4, 3)), "stride 3"),
        (lambda: cute.upcast(2, cute.Layout(3, 1)), "does not fill"),
        (lambda: cute.upcast(2, cute.make_identity_layout((4, 4))), "integer strides"),
        (lambda: cute.upcast(0, cute.Layout(4)), "factor"),
        (lambda: cute.downcast(2, cute.Layout(4, 2)), "one mode of stride 1"),
        (lambda: cute.downcast(2, cute.Layout((2, 2), (1, 1))), "one mode of stride 1"),
        (lambda: cute.recast_layout(0, 8, cute.Layout(4)), "widths"),
    ],
)
def test_recast_needs_elements_that_line_up(call, words):
    with pytest.raises(cute.LayoutError, match=words):
        call()
