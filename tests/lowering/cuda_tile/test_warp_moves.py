"""Tiles that change layout within warps: where the moves take every element, and kernels in which
shuffles make them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import i1, i8

import tilewright as tw
from tilewright.lowering.cuda_tile.kernel.warp_moves import WarpMove, WarpMoves
from tilewright.passes.cuda_tile.layouts.layouts import WARP_BITS, TileLayout, spread

Held = dict[int, list[int]]
"""The element that each thread has in a register, by the register's part of its number."""


def held(layout: TileLayout) -> Held:
    threads = range(1 << len(layout.threads))
    return {place: [spread(t, layout.threads) | place for t in threads] for place in layout.places}


def sender(move: WarpMove, thread: int, known: int) -> int:
    """The thread from which one has the elements whose numbers have some bits known."""
    before, after = move.lanes
    for bit in before:
        if bit is not None and bit in after:
            known |= (thread >> after.index(bit) & 1) << bit
    own = sum((known >> bit & 1) << i for i, bit in enumerate(before) if bit is not None)
    return thread >> WARP_BITS << WARP_BITS | own


def moved(move: WarpMove, values: Held) -> Held:
    """What a move does, by the numbers of lanes alone."""
    threads = range(len(next(iter(values.values()))))
    after: Held = {}
    for place, own in values.items():
        low, high = place & ~(1 << move.bit), place | 1 << move.bit
        match move.kind:
            case "pick":
                after[low] = [values[high if t >> move.to & 1 else low][t] for t in threads]
            case "send":
                for number in range(1 << len(move.spread)):
                    known = spread(number, move.spread)
                    after[place | known] = [own[sender(move, t, known)] for t in threads]
            case "swap":
                lane, gone = 1 << move.to, 1 << move.other
                after[low] = [values[high if t & lane else low][t & ~lane] for t in threads]
                after[low | gone] = [values[high if t & lane else low][t | lane] for t in threads]
    return after


@st.composite
def layouts(draw: st.DrawFn) -> tuple[TileLayout, TileLayout]:
    """Two layouts of one tile, of which warps have the same, or, of what all warps have, any."""
    warps, count = draw(st.integers(0, 2)), draw(st.integers(0, 8))
    made: list[TileLayout] = []
    for _ in range(2):
        bits = draw(st.permutations(range(count)))
        threads: list[int | None] = [None] * (WARP_BITS + warps)
        if made:
            threads[WARP_BITS:] = made[0].threads[WARP_BITS:]
        bits = [bit for bit in bits if bit not in threads]
        for place in draw(st.permutations(range(len(threads)))):
            if bits and threads[place] is None and draw(st.booleans()):
                threads[place] = bits.pop()
        made.append(TileLayout(tuple(threads), tuple(bits)))
    return made[0], made[1]


@given(layouts())
@settings(max_examples=200, deadline=None)
def test_moves_take_every_element_where_it_belongs(pair: tuple[TileLayout, TileLayout]) -> None:
    source, target = pair
    moves = WarpMoves.between(source, target, 4)
    assert moves is not None
    values = held(source)
    for move in moves.moves:
        values = moved(move, values)
    assert {place: values[place] for place in target.places} == held(target)


def test_elements_that_leave_their_warp_have_no_moves() -> None:
    source = TileLayout((0, 1, 2, 3, 4, 5), ())
    assert WarpMoves.between(source, TileLayout((0, 1, 2, 3, 5, 4), ()), 4) is None


def test_bytes_are_packed_and_bits_are_not() -> None:
    source = TileLayout((0, 1, 2, 3, 4), (5, 6, 7))
    target = TileLayout((5, 1, 2, 3, 4), (0, 6, 7))
    packed = [WarpMoves.paying(source, target, element) for element in (i8, i1)]
    assert [None if moves is None else (moves.packed, moves.shuffles) for moves in packed] == [
        ((6, 7), 1), ((), 4),
    ]  # fmt: skip


KERNEL = """cuda_tile.module @m {{
  entry @k(%p: tile<ptr<{t}>>, %q: tile<ptr<{t}>>) {{
    %i = constant <i32: 0> : tile<i32>
    %r = assume div_by<16>, %p : tile<ptr<{t}>>
    %a = make_tensor_view %r, shape = [{n}, {n}], strides = [{n}, 1] : {tensor}
    %b = make_tensor_view %q, shape = [{n}, {n}], strides = [{n}, 1] : {tensor}
    %v = make_partition_view %a : {view}
    %w = make_partition_view %b : {view}
    %x, %t = load_view_tko weak %v[%i, %i] : {view}, tile<i32> -> {tile}, token
    %y = permute %x [1, 0] : {tile} -> {tile}
    %z = {op} %x, %y : {tile}
    %u = store_view_tko weak %z, %w[%i, %i] : {tile}, {view}, tile<i32> -> token
  }}
}}
"""


@pytest.mark.parametrize(
    ("type_", "dtype", "extent"),
    [
        ("f64", np.float64, 4),
        ("f32", np.float32, 8),
        ("f16", np.float16, 8),
        ("i16", np.int16, 4),
        ("i8", np.int8, 8),
        ("i1", np.bool_, 8),
    ],
)
def test_a_small_tile_is_turned_without_a_barrier(type_: str, dtype: Any, extent: int) -> None:
    tensor = f"tensor_view<{extent}x{extent}x{type_}, strides=[{extent},1]>"
    op = "xori" if type_ == "i1" else "subf" if type_.startswith("f") else "subi"
    text = KERNEL.format(
        t=type_, n=extent, op=op, tensor=tensor, tile=f"tile<{extent}x{extent}x{type_}>",
        view=f"partition_view<tile=({extent}x{extent}), {tensor}>",
    )  # fmt: skip
    ptx = tw.compile(text, arch="sm_80").ptx
    assert "shfl.sync" in ptx and "bar" not in ptx and ".shared" not in ptx
    given = (np.arange(extent * extent) % 5).reshape(extent, extent).astype(dtype)
    arguments = [given, np.zeros_like(given)]
    outputs = tw.interpret(text, "k", grid=(1,), args=arguments, level="ptx", arch="sm_80")
    want = given ^ given.T if type_ == "i1" else given - given.T
    assert np.array_equal(outputs[1], want)
