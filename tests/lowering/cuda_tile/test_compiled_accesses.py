"""Accesses of tiles whose rows begin anywhere, compiled to PTX: packed elements, and loads that are
placed by what reads them."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal
from tile_ir import entry, run

import tilewright as tw

RNG = np.random.default_rng(0)


def test_rows_of_packed_elements_that_begin_inside_a_byte() -> None:
    """Two threads store the halves of a byte, and what the tiles leave out stays."""
    tensor = "tensor_view<3x5xf4E2M1FN, strides=[?,1]>"
    type_ = f"strided_view<tile=(2x2), traversal_strides=[1,1], {tensor}>"
    tile = "tile<2x2xf4E2M1FN>"
    body = f"""
    %o = constant <i32: 1> : tile<i32>
    %q = ptr_to_ptr %p : tile<ptr<i8>> -> tile<ptr<f4E2M1FN>>
    %v = make_tensor_view %q, shape = [3, 5], strides = [%n, 1] : tile<i32> -> {tensor}
    %w = make_strided_view %v : {type_}
    %x, %t = load_view_tko weak %w[%o, %o] : {type_}, tile<i32> -> {tile}, token
    %u = store_view_tko weak %x, %w[%o, %m] token = %t : {tile}, {type_}, tile<i32> -> token
"""
    parameters = "%p: tile<ptr<i8>>, %n: tile<i32>, %m: tile<i32>"
    memory = RNG.integers(-128, 128, 8, dtype=np.int8)
    for stride, column in ((5, 3), (5, 4), (4, 2), (3, 0)):
        halves = np.stack([memory & 15, memory >> 4 & 15], 1).reshape(-1)
        own = np.arange(2)[:, None] * stride + stride
        new = halves.copy()
        inside = min(2, 5 - column)
        new[own + column + np.arange(inside)] = halves[own + 1 + np.arange(inside)]
        got = run(parameters, body, [memory, stride, column], level="ptx")[0]
        assert (np.stack([got & 15, got >> 4 & 15], 1).reshape(-1) == new).all()


def test_packed_elements_of_gathered_rows() -> None:
    """Columns of such views are numbered one by one, and two lie in a byte."""
    tensor = "tensor_view<4x8xf4E2M1FN, strides=[8,1]>"
    type_ = f"gather_scatter_view<tile=(2x4), {tensor}, sparse_dim=0>"
    body = f"""
    %o = constant <i32: 0> : tile<i32>
    %rows = constant <i32: [3, 1]> : tile<2xi32>
    %q = ptr_to_ptr %p : tile<ptr<i8>> -> tile<ptr<f4E2M1FN>>
    %v = make_tensor_view %q, shape = [4, 8], strides = [8, 1] : {tensor}
    %w = make_gather_scatter_view %v : {type_}
    %x, %t = load_view_tko weak %w[%rows, %n] : {type_}, tile<2xi32>, tile<i32>
        -> tile<2x4xf4E2M1FN>, token
    %u = store_view_tko weak %x, %w[%rows, %o] token = %t : tile<2x4xf4E2M1FN>, {type_},
        tile<2xi32>, tile<i32> -> token
"""
    parameters = "%p: tile<ptr<i8>>, %n: tile<i32>"
    memory = np.arange(16, dtype=np.int8)
    for column in (2, 3):
        halves = np.stack([memory & 15, memory >> 4 & 15], 1).reshape(4, 8)
        halves[[3, 1], :4] = halves[[3, 1], column : column + 4]
        want = halves[:, ::2] | halves[:, 1::2] << 4
        assert (run(parameters, body, [memory, column], level="ptx")[0] == want.reshape(-1)).all()


def test_rows_are_loaded_where_they_are_read() -> None:
    """Of 64 numbers, which tiles of two shapes are multiplied by, each thread loads eight or four
    that lie side by side."""
    body = "    %0 = constant <i32: 0> : tile<i32>\n"
    for x, rows in (("a", 1), ("b", 32), ("c", 8)):
        tensor, t = f"tensor_view<{rows}x64xf16, strides=[64,1]>", f"tile<{rows}x64xf16>"
        view = f"partition_view<tile=({rows}x64), {tensor}>"
        body += f"""
    %p{x} = assume div_by<16>, %{x} : tile<ptr<f16>>
    %t{x} = make_tensor_view %p{x}, shape = [{rows}, 64], strides = [64, 1] : {tensor}
    %v{x} = make_partition_view %t{x} : {view}
    %x{x}, %k{x} = load_view_tko weak %v{x}[%0, %0] : {view}, tile<i32> -> {t}, token
"""
        if rows > 1:
            body += f"""
    %w{x} = broadcast %xa : tile<1x64xf16> -> {t}
    %y{x} = mulf %x{x}, %w{x} : {t}
    %u{x} = store_view_tko weak %y{x}, %v{x}[%0, %0] token=%k{x} : {t}, {view}, tile<i32> -> token
"""
    text = entry(", ".join(f"%{x}: tile<ptr<f16>>" for x in "abc"), body)
    ptx = tw.compile(text, "sm_90a").ptx
    assert ".shared" not in ptx
    assert [ptx.count(f"ld.global.v{count}.b32") for count in (4, 2)] == [3, 2]
    x, *ys = (RNG.standard_normal(count).astype(np.float16) for count in (64, 2048, 512))
    left = tw.interpret(text, "k", grid=(1,), args=[x, *ys], level="ptx", arch="sm_90a")
    for y, got in zip(ys, left[1:], strict=True):
        assert_array_equal(got, (y.reshape(-1, 64) * x).ravel())


def test_what_lies_anywhere_is_loaded_where_it_is_read() -> None:
    """A factor for each 32 of numbers of which a thread has eight that lie side by side."""
    tensor = "tensor_view<2048xf16, strides=[1]>"
    view = f"partition_view<tile=(2048), {tensor}>"
    text = entry("%a: tile<ptr<f16>>, %w: tile<ptr<f16>>, %n: tile<i32>", f"""
    %0 = constant <i32: 0> : tile<i32>
    %p = assume div_by<16>, %a : tile<ptr<f16>>
    %t = make_tensor_view %p, shape = [2048], strides = [1] : {tensor}
    %v = make_partition_view %t : {view}
    %x, %k = load_view_tko weak %v[%0] : {view}, tile<i32> -> tile<2048xf16>, token
    %i = iota : tile<2048xi32>
    %n1 = reshape %n : tile<i32> -> tile<1xi32>
    %ns = broadcast %n1 : tile<1xi32> -> tile<2048xi32>
    %group = divi %i, %ns signed rounding<zero> : tile<2048xi32>
    %w1 = reshape %w : tile<ptr<f16>> -> tile<1xptr<f16>>
    %ws = broadcast %w1 : tile<1xptr<f16>> -> tile<2048xptr<f16>>
    %at = offset %ws, %group : tile<2048xptr<f16>>, tile<2048xi32> -> tile<2048xptr<f16>>
    %f, %l = load_ptr_tko weak %at : tile<2048xptr<f16>> -> tile<2048xf16>, token
    %y = mulf %x, %f : tile<2048xf16>
    %u = store_view_tko weak %y, %v[%0] token=%k : tile<2048xf16>, {view}, tile<i32> -> token
""")  # fmt: skip
    ptx = tw.compile(text, "sm_90a").ptx
    assert ".shared" not in ptx and ptx.count("ld.global.v4.b32") == 2
    x, w = (RNG.standard_normal(count).astype(np.float16) for count in (2048, 64))
    got = tw.interpret(text, "k", grid=(1,), args=[x, w, 32], level="ptx", arch="sm_90a")[0]
    assert_array_equal(got, x * w.repeat(32))
