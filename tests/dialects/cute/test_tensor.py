"""Tensors: what is known of where their elements are, against where they are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tilewright.dialects.cute import ComposedLayout, Layout, LayoutError, Swizzle
from tilewright.dialects.cute.rules.scheduler import tile_coord
from tilewright.dialects.cute.rules.tensors import local_partition, local_tile
from tilewright.dialects.cute.symbolic import scalar
from tilewright.dialects.cute.symbolic.composed import evaluated
from tilewright.dialects.cute.symbolic.layouts import slice_layout
from tilewright.dialects.cute.symbolic.scalar import Dynamic, Multiple, divisor_of_result
from tilewright.dialects.cute.tensor import (
    Tensor,
    alignment_of_runs,
    element_bits,
    multiples,
    read_layout,
    run_of,
)
from tilewright.dialects.cute.values import Typed, read_typed

# --- divisors -------------------------------------------------------------------------------------

COMPUTED = {
    "add": scalar.add,
    "sub": scalar.sub,
    "mul": scalar.mul,
    "div": scalar.div,
    "mod": scalar.mod,
    "ceil_div": scalar.ceil_div,
    "min": scalar.minimum,
    "and": scalar.bit_and,
    "xor": scalar.bit_xor,
}
NUMBERS = st.integers(1, 200)


@settings(deadline=None)
@given(st.sampled_from(sorted(COMPUTED)), NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.booleans())
def test_results_are_multiples_of_their_divisors(
    operation: str, a: int, b: int, x: int, y: int, b_is_known: bool
):
    """a is some multiple of x; b one of y, or known."""
    a, b = a * x, b * y
    compute: Any = COMPUTED[operation]
    claimed = compute(Multiple(64, x), b if b_is_known else Multiple(64, y))
    actual = compute(a, b)
    if isinstance(claimed, int):
        assert claimed == actual
    else:
        assert actual % claimed.divisor == 0


@settings(deadline=None)
@given(NUMBERS, NUMBERS, st.integers(0, 6))
def test_shifts_and_magnitudes(a: int, x: int, bits: int):
    for claimed, actual in (
        (scalar.shift_right(Multiple(64, x), bits), a * x >> bits),
        (scalar.shift_right(Multiple(64, x), -bits), a * x << bits),
        (scalar.absolute(Multiple(64, x)), a * x),
    ):
        assert isinstance(claimed, Multiple) and actual % claimed.divisor == 0


def test_a_result_has_a_divisor_where_an_operand_has_one():
    assert scalar.mul(Dynamic(), 8) == Dynamic()
    assert scalar.mul(Dynamic(32, 2), 8) == Dynamic(32, 16)
    assert scalar.add(Dynamic(64, 12), Dynamic(32, 8)) == Dynamic(64, 4)
    assert scalar.mul(Multiple(), 8) == Multiple(32, 8)
    assert scalar.equal(Dynamic(32, 8), 3) == Dynamic(1)
    assert scalar.choose(Dynamic(1), lambda: Dynamic(32, 8), lambda: 12) == Dynamic(32, 4)
    assert scalar.choose(Multiple(1), lambda: Multiple(32, 8), lambda: 12) == Multiple(32, 4)
    assert divisor_of_result("lt", (Dynamic(32, 8), 16)) == 1


@pytest.mark.parametrize(
    ("text", "leaf"),
    [
        ("?", Dynamic()),
        ("?{i64}", Dynamic(64)),
        ("?{div=8}", Dynamic(32, 8)),
        ("?{i64 div=8}", Dynamic(64, 8)),
    ],
)
def test_text_of_leaves(text: str, leaf: Dynamic):
    assert read_typed("int_tuple", text).value == leaf and str(leaf) == text


# --- where elements are ---------------------------------------------------------------------------

SWIZZLES = (None, Swizzle(1, 3, 3), Swizzle(2, 3, 3), Swizzle(3, 3, 3), Swizzle(2, 2, 3))
EXTENTS = st.sampled_from((1, 2, 4))


@st.composite
def tensors(draw: st.DrawFn) -> Tensor:
    """Small tensors of known layout, through a swizzle or not."""
    shape: list[Any] = []
    stride: list[Any] = []
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            shape.append((draw(EXTENTS), draw(EXTENTS)))
            stride.append(
                (draw(st.sampled_from((0, 1, 2, 4, 8))), draw(st.sampled_from((2, 8, 24))))
            )
        else:
            shape.append(draw(EXTENTS))
            stride.append(draw(st.sampled_from((0, 1, 3, 8, 16, 64))))
    plain = Layout(tuple(shape), tuple(stride))
    swizzle = draw(st.sampled_from(SWIZZLES))
    offset = draw(st.sampled_from((0, 2, 8, 48)))
    layout = plain if swizzle is None else ComposedLayout(swizzle, offset, plain)
    return Tensor("f16", "smem", draw(st.sampled_from((2, 4, 16, 128))), layout)


def addresses(tensor: Tensor) -> list[int]:
    """The address of each element, in bytes, where the first one lies as aligned as it says."""
    return [tensor.align + 2 * evaluated(i, tensor.layout) for i in range(tensor.modes.size())]


@settings(deadline=None)
@given(tensors())
def test_runs_are_side_by_side_and_aligned(tensor: Tensor):
    run = run_of(tensor, (0,))
    found = addresses(tensor)
    within = tensor.modes[0].size()
    for vector in (each for each in (1, 2, 4, 8) if run % each == 0 and within % each == 0):
        aligned = alignment_of_runs(tensor, vector)
        starts_on_it = aligned % (2 * vector) == 0
        for at in range(0, len(found), vector):
            assert found[at] % aligned == 0
            if starts_on_it:
                step = [found[at + i] - found[at] for i in range(vector)]
                assert step == [2 * i for i in range(vector)]


@settings(deadline=None)
@given(tensors(), st.data())
def test_a_slice_is_where_the_tensor_says(tensor: Tensor, data: st.DataObject):
    modes = tensor.modes
    count = modes.rank()
    assume(count > 1)
    kept = data.draw(st.integers(0, count - 1))
    coord = tuple(
        None if i == kept else data.draw(st.integers(0, modes[i].size() - 1)) for i in range(count)
    )
    known = multiples(tensor)
    by = modes(tuple(0 if each is None else each for each in coord))
    based = Tensor(tensor.element, tensor.space, tensor.align, known.layout, base="memory")
    part = based.moved(by, slice_layout(coord, modes))
    for i in range(modes[kept].size()):
        at = tuple(i if each is None else each for each in coord)
        there = part.offset + evaluated((i,), part.layout)
        assert there == evaluated(at, tensor.layout)
    start = tensor.align + 2 * (0 if isinstance(part.layout, ComposedLayout) else by)
    assert start % part.align == 0 or part.align == tensor.align


def test_alignment_of_a_tile_comes_from_divisors():
    """A row of a tile starts as far from the first as its stride is known to divide."""
    gmem = read_typed("memref", 'f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)"')
    tiler, at = read_typed("shape", "(128,32)"), read_typed("coord", "(?,_)")
    tile = local_tile(gmem, tiler, at)
    assert str(tile) == '!cute.memref<f16, gmem, align<16>, "(128,32,?):(?{i64 div=8},1,32)">'
    rows = local_tile(gmem, tiler, read_typed("coord", "(?,?)"))
    assert rows.value.align == 16
    plain = read_typed("memref", 'f16, gmem, align<16>, "(?,?):(?,1)"')
    assert local_tile(plain, tiler, read_typed("coord", "(?,_)")).value.align == 16
    odd = read_typed("shape", "(128,3)")
    assert local_tile(plain, odd, read_typed("coord", "(?,?)")).value.align == 2


@settings(deadline=None)
@given(st.integers(1, 4), st.integers(1, 4), st.data())
def test_local_tile_and_partition_take_each_element_once(
    rows: int, columns: int, data: st.DataObject
):
    layout = Layout((4 * rows, 2 * columns), (1, 4 * rows))
    tensor = Typed("memref", Tensor("f16", "smem", 2, layout, base="memory"))
    seen: list[int] = []
    for m in range(rows):
        for n in range(columns):
            part = local_tile(tensor, Typed("shape", (4, 2)), Typed("coord", (m, n))).value
            seen += [part.offset + part.layout(i) for i in range(part.layout.size())]
    assert sorted(seen) == list(range(layout.size()))
    seen = []
    for thread in range(8):
        threads = Typed("layout", Layout.parse(data.draw(st.sampled_from(("(4,2):(2,1)",)))))
        part = local_partition(tensor, threads, Typed("scalar", thread)).value
        seen += [part.offset + part.layout(i) for i in range(part.layout.size())]
    assert sorted(seen) == list(range(layout.size()))


@pytest.mark.parametrize(
    "text",
    [
        'f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)"',
        'bf16, smem, align<1024>, "S<3,3,3> o ?{div=64} o (64,64):(64,1)"',
        'f8E4M3FN, rmem, "16:1"',
    ],
)
def test_text_of_tensors(text: str):
    assert read_typed("memref", text).text == text


def test_elements_have_a_width():
    assert [element_bits(each) for each in ("f16", "bf16", "tf32", "f8E4M3FN", "si8")] == [
        *(16, 16, 32, 8, 8)
    ]
    with pytest.raises(LayoutError, match="a width, got index"):
        element_bits("index")
    assert isinstance(read_layout("S<3,3,3> o 0 o 8:1"), ComposedLayout)


# --- schedulers -----------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 9))
def test_every_tile_has_one_number(rows: int, columns: int, swizzle: int):
    tiles = Typed("shape", (rows, columns))
    found = [tile_coord(Typed("scalar", i), tiles, swizzle).value for i in range(rows * columns)]
    assert sorted(found) == [(m, n) for m in range(rows) for n in range(columns)]
    # As many tiles as a band is high and wide lie within the band.
    for i, (m, _) in enumerate(found):
        assert m // swizzle == i // (swizzle * columns)


def test_bands_go_along_m_first():
    tiles = Typed("shape", (4, 3))
    found = [tile_coord(Typed("scalar", i), tiles, 2).value for i in range(6)]
    assert found == [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
