"""Kernels that fold rows: loads that several loops share, lines brought ahead, masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tile_ir import entry, run

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.multiprocessors import Sm

RNG = np.random.default_rng(0)


def compiled(parameters: str, body: str, args: list[Any], **options: Any) -> list[NDArray[Any]]:
    """Run a kernel as PTX."""
    return run(parameters, body, args, level="ptx", **options)


VIEW = "partition_view<tile=(1x256), padding_value = zero, tensor_view<?x?xf32, strides=[?,1]>>"
ROWS = """
    %sizes = assume div_by<8>, %n : tile<i32>
    %apart = assume div_by<8>, %s : tile<i32>
    %first = assume div_by<16>, %p : tile<ptr<f32>>
    %v = make_tensor_view %first, shape = [%m, %sizes], strides = [%apart, 1]
        : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
    %x_v = make_partition_view %v : VIEW
    %q_v = make_tensor_view %q, shape = [%m], strides = [1]
        : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %y_v = make_partition_view %q_v
        : partition_view<tile=(1), padding_value = zero, tensor_view<?xf32, strides=[1]>>
    %i, %j, %k = get_tile_block_id : tile<i32>
    %o = constant <i32: 0> : tile<i32>
    %x, %t = load_view_tko weak %x_v[%i, %o] : VIEW, tile<i32> -> tile<1x256xf32>, token
    %number = iota : tile<256xi32>
    %wide = reshape %number : tile<256xi32> -> tile<1x256xi32>
    %one = reshape %sizes : tile<i32> -> tile<1x1xi32>
    %all = broadcast %one : tile<1x1xi32> -> tile<1x256xi32>
    %c = cmpi less_than %wide, %all, signed : tile<1x256xi32> -> tile<1x256xi1>
    %z = constant <f32: 1.0> : tile<1x256xf32>
    %w = select %c, %x, %z : tile<1x256xi1>, tile<1x256xf32>
    %sum = reduce %w dim=1 identities=[0.0 : f32] : tile<1x256xf32> -> tile<1xf32>
        (%e : tile<f32>, %a : tile<f32>) {
      %b = addf %e, %a : tile<f32>
      yield %b : tile<f32>
    }
    %u = store_view_tko weak %sum, %y_v[%i] : tile<1xf32>,
        partition_view<tile=(1), padding_value = zero, tensor_view<?xf32, strides=[1]>>,
        tile<i32> -> token
""".replace("VIEW", VIEW)
"""The sums of rows, behind whose ends there are ones."""
OF_ROWS = "%p: tile<ptr<f32>>, %m: tile<i32>, %n: tile<i32>, %s: tile<i32>, %q: tile<ptr<f32>>"


def test_neighbours_that_compare_alike_are_compared_once() -> None:
    """The bound is a multiple of 8, and a thread has four neighbours twice."""
    ptx = tw.compile(entry(OF_ROWS, ROWS), "sm_90a").ptx
    assert ptx.count("selp.f32") == 8 and ptx.count("setp.lt.s32") == 2
    x = RNG.integers(-4, 5, (5, 208)).astype(np.float32)
    args = [x, 5, 200, 208, np.zeros(5, np.float32)]
    got = compiled(OF_ROWS, ROWS, args, grid=(5,))[-1]
    assert (got == x[:, :200].sum(axis=1) + 56).all()


def test_lines_of_blocks_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that folds rows asks for those of a later block, and of none behind the last."""
    ptx = tw.compile(entry(OF_ROWS, ROWS), "sm_90a").ptx
    assert ptx.count("prefetch.global.L2") == 1 and f", {6 << 20};" in ptx
    monkeypatch.setattr("tilewright.lowering.cuda_tile.memory.convert_views.AHEAD", 256)
    x = np.ones(4 * 208 + 200, np.float32)
    args = [x, 5, 200, 208, np.zeros(5, np.float32)]
    assert (compiled(OF_ROWS, ROWS, args, grid=(5,))[-1] == 256).all()
    other = ROWS.replace("%x_v[%i, %o]", "%x_v[%o, %i]")
    assert "prefetch" not in tw.compile(entry(OF_ROWS, other), "sm_90a").ptx


POINTED = ROWS.replace(
    """    %v = make_tensor_view %first, shape = [%m, %sizes], strides = [%apart, 1]
        : tile<i32> -> tensor_view<?x?xf32, strides=[?,1]>
""",
    """    %i, %j, %k = get_tile_block_id : tile<i32>
    %far = muli %i, %apart : tile<i32>
    %row = offset %first, %far : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %v = make_tensor_view %row, shape = [%sizes], strides = [1]
        : tile<i32> -> tensor_view<?xf32, strides=[1]>
""",
)
POINTED = POINTED.replace(VIEW, "ROW").replace(
    """    %i, %j, %k = get_tile_block_id : tile<i32>
    %o = constant <i32: 0> : tile<i32>
    %x, %t = load_view_tko weak %x_v[%i, %o] : ROW, tile<i32> -> tile<1x256xf32>, token
""",
    """    %o = constant <i32: 0> : tile<i32>
    %l, %t = load_view_tko weak %x_v[%o] : ROW, tile<i32> -> tile<256xf32>, token
    %x = reshape %l : tile<256xf32> -> tile<1x256xf32>
""",
)
POINTED = POINTED.replace(
    "ROW", "partition_view<tile=(256), padding_value = zero, tensor_view<?xf32, strides=[1]>>"
)
"""The same, where a row is a tensor that begins at a pointer."""


def test_lines_of_rows_at_pointers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row for each block: there are as many, and none is asked for that a block may not load."""
    ptx = tw.compile(entry(OF_ROWS, POINTED), "sm_90a").ptx
    assert ptx.count("prefetch.global.L2") == 1 and f", {6 << 20};" in ptx
    monkeypatch.setattr("tilewright.lowering.cuda_tile.memory.convert_views.AHEAD", 256)
    args = [np.ones(4 * 208 + 200, np.float32), 5, 200, 208, np.zeros(5, np.float32)]
    assert (compiled(OF_ROWS, POINTED, args, grid=(5,))[-1] == 256).all()
    leaves = """
    %c0 = cmpi less_than %i, %m, signed : tile<i32> -> tile<i1>
    if %c0 {
    } else {
      return
    }
    %l, %t ="""
    some = tw.compile(entry(OF_ROWS, POINTED.replace("    %l, %t =", leaves)), "sm_90a").ptx
    assert "prefetch" not in some


def test_no_lines_of_rows_of_two_matrices() -> None:
    """An H200 took longer with them."""
    second = """
    %row2 = offset %q, %far : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %v2 = make_tensor_view %row2, shape = [%sizes], strides = [1]
        : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %x2_v = make_partition_view %v2 : KIND
    %l2, %t2 = load_view_tko weak %x2_v[%o] : KIND, tile<i32> -> tile<256xf32>, token
    %both = addf %l, %l2 : tile<256xf32>
    %x = reshape %both :""".replace(
        "KIND", "partition_view<tile=(256), padding_value = zero, tensor_view<?xf32, strides=[1]>>"
    )
    body = POINTED.replace("\n    %x = reshape %l :", second)
    ptx = tw.compile(entry(OF_ROWS, body), "sm_90a").ptx
    assert "prefetch" not in ptx and "prefetch" in tw.compile(entry(OF_ROWS, POINTED), "sm_90a").ptx


def test_lines_of_the_next_row() -> None:
    """Of a loop over rows the next iteration's are asked for, if there is one, where copies, which
    pad with zeros, are not ahead."""
    number = "    %i, %j, %k = get_tile_block_id : tile<i32>\n"
    loop = """    %begin, %j, %k = get_tile_block_id : tile<i32>
    %step, %gy, %gz = get_num_tile_blocks : tile<i32>
    for %i in (%begin to %m, step %step) : tile<i32> {
"""
    body = POINTED.replace("= zero", "= neg_inf").replace(number, loop) + "continue\n}\n"
    ptx = tw.compile(entry(OF_ROWS, body), "sm_90a").ptx
    assert ptx.count("prefetch.global.L2") == 1 and f"{6 << 20}" not in ptx
    args = [np.ones(4 * 208 + 200, np.float32), 5, 200, 208, np.zeros(5, np.float32)]
    assert (compiled(OF_ROWS, body, args, grid=(2,))[-1] == 256).all()


FOLD = """
    %NAME_s = for %NAME_j in (%o to %count, step %one) : tile<i32> iter_values(%NAME_c = %zeros)
        -> (tile<1x256xf32>) {
      %NAME_x, %NAME_t = load_view_tko weak %x_v[%i, %NAME_j]
          : VIEW, tile<i32> -> tile<1x256xf32>, token
      %NAME_a = addf %NAME_c, %NAME_x : tile<1x256xf32>
      continue %NAME_a : tile<1x256xf32>
    }
    %NAME_r = reduce %NAME_s dim=1 identities=[IDENTITY : f32] : tile<1x256xf32> -> tile<1xf32>
        (%NAME_e : tile<f32>, %NAME_f : tile<f32>) {
      %NAME_g = OP %NAME_e, %NAME_f : tile<f32>
      yield %NAME_g : tile<f32>
    }
"""


def folded_twice(first: str) -> str:
    """The body of a kernel that adds the sum of a row and the maximum of what it has in columns of
    its tiles, of these from %first on."""
    head, _, tail = ROWS.partition("    %x, %t")
    store = tail[tail.index("    %u = ") :].replace("%sum", "%total")
    largest = FOLD.replace("NAME", "q").replace("OP", "maxf").replace("IDENTITY", "-1.0e38")
    return f"""{head}
    %one = constant <i32: 1> : tile<i32>
    %zeros = constant <f32: 0.0> : tile<1x256xf32>
    %rows, %count = get_index_space_shape %x_v : {VIEW} -> tile<i32>
    {FOLD.replace("NAME", "p").replace("OP", "addf").replace("IDENTITY", "0.0")}
    {largest.replace("(%o to", f"({first} to")}
    %total = addf %p_r, %q_r : tile<1xf32>
    {store}""".replace("VIEW", VIEW)


def check_folded_twice(body: str, first: int, *widths: int) -> None:
    for columns in widths:
        x = RNG.integers(-4, 5, (3, columns)).astype(np.float32)
        tiles = np.zeros((3, -(-columns // 256), 256), np.float32)
        tiles.reshape(3, -1)[:, :columns] = x
        want = x.sum(axis=1) + tiles[:, first:].sum(axis=1).max(axis=1)
        args = [x, 3, columns, columns, np.zeros(3, np.float32)]
        assert (compiled(OF_ROWS, body, args, grid=(3,))[-1] == want).all()


def copies_in_branches(ptx: str) -> int:
    return sum(part.partition("_then:")[2].count("cp.async.cg") for part in ptx.split("_end:"))


def test_what_several_loops_load_is_loaded_once() -> None:
    """Rows of one tile; and rows of three with an edge, which stay in the stages of the first loop,
    where copies of nothing write no zeros. Those of six do not stay."""
    body = folded_twice("%o")
    ptx = tw.compile(entry(OF_ROWS, body), "sm_90a").ptx
    once, _, loops = ptx.partition("_else:")
    assert once.count("ld.global.v4.f32") == 2 and "ld.global" not in loops
    assert "cp.async.cg" in loops and "cp.async" not in once
    assert once.count("prefetch.global") == 1 and "prefetch" not in loops
    assert copies_in_branches(ptx) == ptx.count("cp.async.cg")
    check_folded_twice(body, 0, 248, 520, 1288)


def test_lines_of_blocks_behind_those_that_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles that stay in stages, of CTAs that have a multiprocessor each, are followed by half of
    those of the blocks that an H100's 132 take next."""
    body = folded_twice("%o")
    for old, new in (("1x256", "16x256"), ("<1xf32>", "<16xf32>"), ("tile=(1)", "tile=(16)")):
        body = body.replace(old, new)
    _, _, loops = tw.compile(entry(OF_ROWS, body), "sm_90a").ptx.partition("$for")
    assert loops.count("prefetch.global") == 4 and f", {132 * 8 * 16 * 1024};" in loops
    rings = "tilewright.lowering.cuda_tile.memory.convert_copied_loads"
    monkeypatch.setattr(f"{rings}.AHEAD", 1 << 14)
    monkeypatch.setattr(f"{rings}.chip_of", lambda _: Sm(2048, 32, 228))
    x = RNG.integers(-4, 5, (40, 520)).astype(np.float32)
    tiles = np.pad(x, ((0, 0), (0, 248))).reshape(40, 3, 256)
    got = compiled(OF_ROWS, body, [x, 40, 520, 520, np.zeros(40, np.float32)], grid=(3,))[-1]
    assert (got == x.sum(axis=1) + tiles.sum(axis=1).max(axis=1)).all()


def test_loops_of_other_bounds_load_again() -> None:
    body = folded_twice("%one")
    ptx = tw.compile(entry(OF_ROWS, body), "sm_90a").ptx
    assert copies_in_branches(ptx) == 0 < ptx.count("cp.async.cg")
    check_folded_twice(body, 1, 248, 520)


@pytest.mark.parametrize("scale", [0, 1, 50, 70, 126])
def test_a_row_divided_by_one_number_is_rounded_once(scale: int) -> None:
    """With the reciprocal computed once, and where that may be subnormal or infinite without it."""
    body = """
    %i = iota : tile<1024xi32>
    %r = reshape %p : tile<ptr<f32>> -> tile<1xptr<f32>>
    %b = broadcast %r : tile<1xptr<f32>> -> tile<1024xptr<f32>>
    %at = offset %b, %i : tile<1024xptr<f32>>, tile<1024xi32> -> tile<1024xptr<f32>>
    %x, %t = load_ptr_tko weak %at : tile<1024xptr<f32>> -> tile<1024xf32>, token
    %y, %u = load_ptr_tko weak %q : tile<ptr<f32>> -> tile<f32>, token
    %s = reshape %y : tile<f32> -> tile<1xf32>
    %w = broadcast %s : tile<1xf32> -> tile<1024xf32>
    %d = divf %x, %w : tile<1024xf32>
    %v = store_ptr_tko weak %at, %d token=%t : tile<1024xptr<f32>>, tile<1024xf32> -> token
"""
    pointers = "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>"
    assert tw.compile(entry(pointers, body), "sm_90a").ptx.count("rcp.approx.ftz") == 1
    for divisor in (
        3.0,
        np.float32(2) - np.float32(2**-23),
        -RNG.random() * 2.0**scale,
        2.0**-scale,
    ):
        with np.errstate(all="ignore"):
            x = (RNG.standard_normal(1024) * 2.0 ** RNG.integers(-scale, scale + 1, 1024)).astype(
                np.float32
            )
            x[:4] = [np.inf, -0.0, np.nan, 1e-45] if scale == 1 else x[:4]
            y = np.array([divisor], np.float32)
            want = x / y
        got = compiled(pointers, body, [x, y])[0]
        same = got.view(np.uint32) == want.view(np.uint32)
        assert (same | (np.isnan(got) & np.isnan(want))).all()


@pytest.mark.parametrize("elements, threads", [(256, 32), (4096, 256), (8192, 1024)])
def test_threads_of_tiles(elements: int, threads: int) -> None:
    """Of 64 bits an element: more than an eighth of a multiprocessor's registers take all threads
    that a CTA may have, else each has too many of its own."""
    text = entry(
        "%p: tile<ptr<i32>>",
        f"""
    %o = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %q = broadcast %o : tile<1xptr<i32>> -> tile<{elements}xptr<i32>>
    %i = iota : tile<{elements}xi32>
    %r = offset %q, %i : tile<{elements}xptr<i32>>, tile<{elements}xi32>
        -> tile<{elements}xptr<i32>>
    %t = store_ptr_tko weak %r, %i : tile<{elements}xptr<i32>>, tile<{elements}xi32> -> token
    return""",
    )
    assert tw.compile(text, "sm_90a").entry().block == (threads, 1, 1)


def test_parts_of_a_tile_behind_a_tensor_are_not_accessed() -> None:
    """Of 1024 elements of a tensor of 500 no thread has one there in its second vector."""
    view = "partition_view<tile=(1024), padding_value = zero, tensor_view<500xf32, strides=[1]>>"
    parameters = "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>"
    body = f"""
    %a = assume div_by<16>, %p : tile<ptr<f32>>
    %b = assume div_by<16>, %q : tile<ptr<f32>>
    %av = make_tensor_view %a, shape = [500], strides = [1] : tensor_view<500xf32, strides=[1]>
    %bv = make_tensor_view %b, shape = [500], strides = [1] : tensor_view<500xf32, strides=[1]>
    %ap = make_partition_view %av : {view}
    %bp = make_partition_view %bv : {view}
    %i, %j, %k = get_tile_block_id : tile<i32>
    %x, %t = load_view_tko weak %ap[%i] : {view}, tile<i32> -> tile<1024xf32>, token
    %u = store_view_tko weak %x, %bp[%i] : tile<1024xf32>, {view}, tile<i32> -> token
"""
    ptx = tw.compile(entry(parameters, body), "sm_90a").ptx
    assert ptx.count("setp.lt.u32") == ptx.count("setp.ne.s32") == 1
    source = np.arange(512, dtype=np.float32)
    _, left = compiled(parameters, body, [source, np.full(512, -1, np.float32)])
    np.testing.assert_array_equal(left, np.where(source < 500, source, -1))


DIVIDED = """cuda_tile.module @m {
  entry @k(%a: tile<ptr<f32>>, %c: tile<ptr<f32>>, %n: tile<i32>) {
    %0 = constant <i32: 0> : tile<i32>
    %1 = constant <i32: 1> : tile<i32>
    %9 = constant <i32: 9> : tile<i32>
    %z = constant <f32: 0.0> : tile<128xf32>
    %i = iota : tile<128xi32>
    %n0 = reshape %n : tile<i32> -> tile<1xi32>
    %n1 = broadcast %n0 : tile<1xi32> -> tile<128xi32>
    %r = remi %i, %n1 signed : tile<128xi32>
    %a0 = reshape %a : tile<ptr<f32>> -> tile<1xptr<f32>>
    %a1 = broadcast %a0 : tile<1xptr<f32>> -> tile<128xptr<f32>>
    %p = offset %a1, %r : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
    %s = for %k in (%0 to %9, step %1) : tile<i32> iter_values(%acc = %z) -> (tile<128xf32>) {
      %k0 = reshape %k : tile<i32> -> tile<1xi32>
      %k1 = broadcast %k0 : tile<1xi32> -> tile<128xi32>
      %q = offset %p, %k1 : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
      %x, %t = load_ptr_tko weak %q : tile<128xptr<f32>> -> tile<128xf32>, token
      %y = addf %acc, %x : tile<128xf32>
      continue %y : tile<128xf32>
    }
    %c0 = reshape %c : tile<ptr<f32>> -> tile<1xptr<f32>>
    %c1 = broadcast %c0 : tile<1xptr<f32>> -> tile<128xptr<f32>>
    %o = offset %c1, %i : tile<128xptr<f32>>, tile<128xi32> -> tile<128xptr<f32>>
    %u = store_ptr_tko weak %o, %s : tile<128xptr<f32>>, tile<128xf32> -> token
    return
  }
}
"""


def test_rows_that_wrap_around_are_divided_before_the_loop() -> None:
    """Once, where ptxas would not move it from the loop that loads them."""
    ptx = tw.compile(DIVIDED, "sm_90a").ptx
    before, loop = ptx.split("_body:")
    assert before.count("rem.s32") == 4 and "rem.s32" not in loop
    args = [np.arange(72, dtype=np.float32), np.zeros(128, np.float32), 50]
    left = tw.interpret(DIVIDED, "k", grid=(1,), args=args, level="ptx", arch="sm_90a")[1]
    np.testing.assert_array_equal(left, 9 * (np.arange(128) % 50) + 36)
