"""Tiles of tensors in memory: whole, partial, strided, gathered, packed."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from tile_ir import run

import tilewright as tw

TENSOR = "tensor_view<?x?x{element}, strides=[?,1]>"


def kernel(
    view: str, index: str, tile: str, element: str = "f32", load: str = "", store: str = ""
) -> tuple[str, str]:
    """Copy the tile of %p at an index into block b's place of %q, which is tiles in a row."""
    tensor = TENSOR.format(element=element)
    view = view.format(tensor=tensor)
    size = tile.replace("x", " ").split()
    shape = "x".join(size)
    rows = size[0]
    flat = f"tensor_view<?x{'x'.join(size[1:])}x{element}, strides=[{size[1]},1]>"
    out = f"partition_view<tile=({shape}), {flat}>"
    body = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %nx, %ny, %nz = get_num_tile_blocks : tile<i32>
    %yn = muli %y, %nx : tile<i32>
    %b = addi %yn, %x : tile<i32>
    %t = make_tensor_view %p, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {tensor}
    %v = make_{view.split("<")[0]} %t : {view}
    {index}
    %rows = constant <i32: {rows}> : tile<i32>
    %count = muli %nx, %ny : tile<i32>
    %total = muli %count, %rows : tile<i32>
    %o = make_tensor_view %q, shape = [%total, {size[1]}], strides = [{size[1]}, 1] : tile<i32>
        -> {flat}
    %w = make_partition_view %o : {out}
    %t1 = store_view_tko weak %a, %w[%b, %zero] : tile<{shape}x{element}>, {out}, tile<i32> -> token
"""
    p = f"tile<ptr<{element}>>"
    return f"%p: {p}, %m: tile<i32>, %n: tile<i32>, %q: {p}", body


def copied(
    array: NDArray[Any],
    view: str,
    index: str,
    tile: tuple[int, int],
    grid: tuple[int, ...],
    **options: Any,
) -> NDArray[Any]:
    """The tiles of all blocks, [blocks, *tile]."""
    element = options.pop("element", "f32")
    parameters, body = kernel(view, index, "x".join(map(str, tile)), element)
    out = np.zeros((int(np.prod(grid)), *tile), array.dtype)
    result = run(parameters, body, [array, *array.shape, out], grid, **options)[1]
    return result.reshape(out.shape)


def load(view: str, index: str, shape: str, element: str = "f32", extra: str = "tile<i32>") -> str:
    full = view.format(tensor=TENSOR.format(element=element))
    return (
        f"%a, %t0 = load_view_tko weak %v[{index}] : {full}, {extra} "
        f"-> tile<{shape}x{element}>, token"
    )


def padded(array: NDArray[Any], rows: int, columns: int, value: float) -> NDArray[Any]:
    out = np.full((rows, columns), value, array.dtype)
    part = array[:rows, :columns]
    out[: part.shape[0], : part.shape[1]] = part
    return out


@pytest.mark.parametrize("shape", [(64, 32), (61, 30), (3, 5)])
@pytest.mark.parametrize(("name", "value"), [("zero", 0.0), ("nan", np.nan), ("neg_inf", -np.inf)])
def test_partitions_pad_what_lies_outside(shape: tuple[int, int], name: str, value: float):
    rng = default_rng(3)
    array = rng.standard_normal(shape).astype(np.float32)
    view = f"partition_view<tile=(16x8), padding_value = {name}, {{tensor}}>"
    grid = (-(-shape[1] // 8), -(-shape[0] // 16))
    got = copied(array, view, load(view, "%y, %x", "16x8"), (16, 8), grid)
    whole = padded(array, 16 * grid[1], 8 * grid[0], value)
    want = whole.reshape(grid[1], 16, grid[0], 8).swapaxes(1, 2).reshape(-1, 16, 8)
    assert_array_equal(got, want)


def test_a_dim_map_is_a_permutation():
    array = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
    view = "partition_view<tile=(4x8), {tensor}, dim_map=[1, 0]>"
    got = copied(array, view, load(view, "%x, %y", "4x8"), (4, 8), (8, 8))
    want = array.T.reshape(8, 4, 8, 8).transpose(2, 0, 1, 3).reshape(-1, 4, 8)
    assert_array_equal(got, want)


@pytest.mark.parametrize("steps", [(3, 5), (1, 1), (16, 8), (20, 9)])
def test_strided_views_step_as_they_say(steps: tuple[int, int]):
    array = np.arange(40 * 24, dtype=np.float32).reshape(40, 24)
    view = (
        f"strided_view<tile=(16x8), traversal_strides=[{steps[0]},{steps[1]}], "
        "padding_value = zero, {tensor}>"
    )
    grid = (-(-24 // steps[1]), -(-40 // steps[0]))
    got = copied(array, view, load(view, "%y, %x", "16x8"), (16, 8), grid)
    want = [
        padded(array[y * steps[0] :, x * steps[1] :], 16, 8, 0.0)
        for y in range(grid[1])
        for x in range(grid[0])
    ]
    assert_array_equal(got, np.stack(want))


def test_gathered_rows_may_lie_outside():
    array = np.arange(10 * 8, dtype=np.float32).reshape(10, 8)
    view = "gather_scatter_view<tile=(4x4), padding_value = zero, {tensor}, sparse_dim=0>"
    index = "%i = constant <i32: [7, 2, 11, -1]> : tile<4xi32>\n    "
    index += load(view, "%i, %x", "4x4", extra="tile<4xi32>, tile<i32>")
    got = copied(array, view, index, (4, 4), (3,))
    for x in range(3):
        want = np.zeros((4, 4), np.float32)
        want[:2] = array[[7, 2], x : x + 4]
        assert_array_equal(got[x], want)


def test_an_index_outside_of_the_view_is_undefined():
    array = np.zeros((16, 16), np.float32)
    view = "partition_view<tile=(16x8), padding_value = nan, {tensor}>"
    with pytest.raises(tw.ExecutionError) as raised:
        copied(array, view, load(view, "%y, %x", "16x8"), (16, 8), (3, 1))
    assert "expected index 1 below 2 (1x2 tiles), got 2 (block (2, 0, 0))" in str(raised.value)
    got = copied(array, view, load(view, "%y, %x", "16x8"), (16, 8), (3, 1), races="ignore")
    assert np.isnan(got[2]).all() and not got[:2].any()


def test_a_tensor_that_is_larger_than_its_memory():
    view = "partition_view<tile=(16x8), {tensor}>"
    parameters, body = kernel(view, load(view, "%y, %x", "16x8"), "16x8")
    args = [np.zeros((16, 8), np.float32), 17, 8, np.zeros((2, 16, 8), np.float32)]
    with pytest.raises(
        tw.ExecutionError, match=r"of argument 0 \(128 of 4 bytes\), got element 128"
    ):
        run(parameters, body, args, (1, 2))


def test_an_access_said_to_be_inbounds():
    view = "partition_view<tile=(16x8), {tensor}>"
    index = load(view, "%y, %x", "16x8").replace("] :", "] inbounds = [true, false] :")
    array = np.ones((17, 8), np.float32)
    parameters, body = kernel(view, index, "16x8")
    args = [array, 17, 8, np.zeros((2, 16, 8), np.float32)]
    with pytest.raises(
        tw.ExecutionError, match=r"along dimension 0 .inbounds., got elements 16 to 31"
    ):
        run(parameters, body, args, (1, 2))
    run(parameters, body, args, (1, 1))


@pytest.mark.parametrize(
    ("element", "dtype"),
    [
        ("i1", np.bool_),
        ("i8", np.int8),
        ("i64", np.int64),
        ("f16", np.float16),
        ("bf16", ml_dtypes.bfloat16),
        ("f64", np.float64),
        ("f8E4M3FN", ml_dtypes.float8_e4m3fn),
        ("f8E5M2", ml_dtypes.float8_e5m2),
    ],
)
def test_every_element_type_passes_through_memory(element: str, dtype: Any):
    rng = default_rng(5)
    octets = rng.integers(0, 2 if element == "i1" else 256, 30 * 20 * np.dtype(dtype).itemsize)
    array = octets.astype(np.uint8).view(dtype).reshape(30, 20)
    view = "partition_view<tile=(8x4), padding_value = zero, {tensor}>"
    got = copied(array, view, load(view, "%y, %x", "8x4", element), (8, 4), (5, 4), element=element)
    whole = np.zeros((32, 20), array.dtype)
    whole[:30] = array
    want = whole.reshape(4, 8, 5, 4).swapaxes(1, 2).reshape(-1, 8, 4)
    words = f"u{array.dtype.itemsize}"
    assert (got.view(words) == want.view(words)).all()


def test_four_bit_elements_share_bytes():
    """Tiles of f4E2M1FN copied from one place of a tensor to another."""
    tensor = "tensor_view<16x8xf4E2M1FN, strides=[8,1]>"
    view = f"partition_view<tile=(4x8), {tensor}>"
    body = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %t = make_tensor_view %p, shape = [16, 8], strides = [8, 1] : {tensor}
    %u = make_tensor_view %q, shape = [16, 8], strides = [8, 1] : {tensor}
    %v = make_partition_view %t : {view}
    %w = make_partition_view %u : {view}
    %a, %t0 = load_view_tko weak %v[%x, %zero] : {view}, tile<i32> -> tile<4x8xf4E2M1FN>, token
    %i = subi %three, %x : tile<i32>
    %t1 = store_view_tko weak %a, %w[%i, %zero] : tile<4x8xf4E2M1FN>, {view}, tile<i32> -> token
"""
    p = "tile<ptr<f4E2M1FN>>"
    array = default_rng(1).integers(0, 256, 64).astype(np.uint8)
    got = run(f"%p: {p}, %q: {p}", body, [array, np.zeros(64, np.uint8)], (4,))[1]
    assert_array_equal(got.reshape(4, 16), array.reshape(4, 16)[::-1])


def test_shapes_of_tensors_and_index_spaces():
    tensor = TENSOR.format(element="f32")
    view = f"strided_view<tile=(4x2), traversal_strides=[4,3], {tensor}>"
    body = f"""
    %t = make_tensor_view %p, shape = [%m, %n], strides = [%n, 1] : tile<i32> -> {tensor}
    %v = make_strided_view %t : {view}
    %a, %b = get_tensor_shape %t : {tensor} -> tile<i32>
    %c, %d = get_index_space_shape %v : {view} -> tile<i32>
    %s = print_tko "%d %d %d %d", %a, %b, %c, %d : tile<i32>, tile<i32>, tile<i32>, tile<i32>
        -> token
"""
    parameters = "%p: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        run(parameters, body, [np.zeros((64, 16), np.float32), 64, 16])
    assert out.getvalue().strip() == "64 16 16 6"


@pytest.mark.parametrize("mode", ["addf", "max", "umin", "and"])
def test_reductions_into_a_view(mode: str):
    element, dtype = ("f32", np.float32) if mode == "addf" else ("i32", np.int32)
    tensor = f"tensor_view<8x8x{element}, strides=[8,1]>"
    view = f"strided_view<tile=(4x8), traversal_strides=[2,8], {tensor}>"
    body = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %zero = constant <i32: 0> : tile<i32>
    %t = make_tensor_view %p, shape = [8, 8], strides = [8, 1] : {tensor}
    %v = make_strided_view %t : {view}
    %w = make_tensor_view %q, shape = [8, 8], strides = [8, 1] : {tensor}
    %u = make_strided_view %w : {view}
    %a, %t0 = load_view_tko weak %u[%x, %zero] : {view}, tile<i32> -> tile<4x8x{element}>, token
    %t1 = atomic_red_view_tko relaxed device %v[%x, %zero], {mode}, %a
        : tile<4x8x{element}>, {view}, tile<i32> -> token
"""
    p = f"tile<ptr<{element}>>"
    rng = default_rng(7)
    start, values = (rng.integers(-9, 9, (8, 8)).astype(dtype) for _ in range(2))
    got = run(f"%p: {p}, %q: {p}", body, [start, values], (3,))[0]
    want = start.copy()
    for x in range(3):
        for i in range(2 * x, 2 * x + 4):
            want[i] = {
                "addf": lambda a, b: a + b,
                "max": np.maximum,
                "umin": lambda a, b: np.minimum(a.view(np.uint32), b.view(np.uint32)).view(
                    np.int32
                ),
                "and": np.bitwise_and,
            }[mode](want[i], values[i])
    assert_array_equal(got, want)


def test_strides_that_wrap_around_lie_outside():
    """Sixteen rows of 2**60 elements of four bytes come back to where they began."""
    given = "tensor_view<64x64xf32, strides=[1152921504606846976,1]>"
    view = f"partition_view<tile=(64x64), {given}>"
    body = f"""
    %zero = constant <i32: 0> : tile<i32>
    %t = make_tensor_view %p, shape = [64, 64], strides = [1152921504606846976, 1] : {given}
    %v = make_partition_view %t : {view}
    %a, %t0 = load_view_tko weak %v[%zero, %zero] : {view}, tile<i32> -> tile<64x64xf32>, token
    %t1 = store_view_tko weak %a, %v[%zero, %zero] : tile<64x64xf32>, {view}, tile<i32> -> token
"""
    with pytest.raises(tw.ExecutionError, match=r"argument 0 .* got element 1152921504606846976"):
        run("%p: tile<ptr<f32>>", body, [np.zeros((64, 64), np.float32)])
