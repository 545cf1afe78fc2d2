"""Elements of a layout that lie in one place, against all of its images."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tilewright.dialects.cute import Layout
from tilewright.dialects.cute.layout import make_unchecked
from tilewright.dialects.cute.symbolic.scalar import Dynamic
from tilewright.dialects.cute.symbolic.sharing import sharing, split, steps_over

LEAVES = st.lists(st.tuples(st.integers(1, 4), st.integers(-3, 6)), min_size=1, max_size=4)


def layout_of(leaves: list[tuple[int, int]]) -> Layout:
    return Layout(tuple(extent for extent, _ in leaves), tuple(stride for _, stride in leaves))


def firsts(layout: Layout) -> list[int]:
    images = [layout(i) for i in range(layout.size())]
    return [images.index(image) for image in images]


@given(LEAVES)
def test_the_first_element_of_each_place(leaves: list[tuple[int, int]]):
    layout = layout_of(leaves)
    wanted = firsts(layout)
    is_apart = wanted == list(range(layout.size()))
    assert sharing(layout) == (None if is_apart else tuple(wanted))
    assert is_apart or not steps_over(leaves)


@given(LEAVES, st.integers(0, 2))
def test_what_is_one_element_here_is_one_there(leaves: list[tuple[int, int]], factor: int):
    """Strides times a number lead to one place where the strides do."""
    layout = layout_of(leaves)
    if (shared := sharing(layout)) is None:
        return
    assert split(shared, layout_of([(n, factor * stride) for n, stride in leaves])) is None
    apart = split(shared, Layout(layout.shape))
    assert apart is not None and layout(apart[0]) == layout(apart[1])


def test_strides_that_are_not_known_lead_elsewhere():
    step = Dynamic(64)
    rows = make_unchecked((2, 3, 2), (step, 0, step))
    assert sharing(rows) == (0, 1, 0, 1, 0, 1, 6, 7, 6, 7, 6, 7)
    assert sharing(make_unchecked((2, 3), (step, 1))) is None
    assert split((0, 0), make_unchecked(2, step)) == (0, 1)


def test_more_than_a_thread_moves_is_not_looked_at():
    assert sharing(Layout((1 << 16, 1 << 16), (0, 1))) is None
