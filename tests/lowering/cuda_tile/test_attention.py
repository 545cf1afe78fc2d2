"""Attention on Hopper: a product an iteration late, registers that copying threads give up, and the
longest blocks first. PTX equals the program level, which is near float64."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "interpreter" / "cuda_tile"))

from tile_ir import entry

import tilewright as tw

BF16 = ml_dtypes.bfloat16


def attention(rows: int, columns: int, depth: int, end: str) -> str:
    """Sums of weights times values, not divided: block (x, y) has rows of matrix y, and reads tiles
    of keys and values up to the `end`."""
    matrix = f"tensor_view<?x?x{depth}xbf16, strides=[?,{depth},1]>"
    views, setup = dict[str, str](), ""
    for name, size in (("Q", rows), ("K", columns), ("V", columns)):
        tile = f"1x{depth}x{size}" if name == "K" else f"1x{size}x{depth}"
        order = ", dim_map=[0, 2, 1]" if name == "K" else ""
        views[name] = f"partition_view<tile=({tile}), {matrix}{order}>"
        setup += f"""
    %{name}_a = assume div_by<16>, %{name}_p : tile<ptr<bf16>>
    %{name}_t = assume div_by<8>, %{name}_s : tile<i32>
    %{name}_v = make_tensor_view %{name}_a, shape = [%count, %{name}_n, {depth}],
        strides = [%{name}_t, {depth}, 1] : tile<i32> -> {matrix}
    %{name} = make_partition_view %{name}_v : {views[name]}
"""
    out = f"tensor_view<?x?x{depth}xf32, strides=[?,{depth},1]>"
    view = f"partition_view<tile=(1x{rows}x{depth}), {out}>"
    scores, sums, line = (f"tile<{rows}x{n}xf32>" for n in (columns, depth, 1))
    body = f"""
    %x, %y, %z = get_tile_block_id : tile<i32>
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
{setup}
    %O_v = make_tensor_view %O_p, shape = [%count, %Q_n, {depth}], strides = [%Q_t, {depth}, 1]
        : tile<i32> -> {out}
    %O = make_partition_view %O_v : {view}
    %zero = constant <f32: 0.0> : {sums}
    %none = constant <f32: 0.0> : {scores}
    %least = constant <f32: -1000.0> : {line}
    %q0, %t0 = load_view_tko weak %Q[%y, %x, %o] : {views["Q"]}, tile<i32>
        -> tile<1x{rows}x{depth}xbf16>, token
    %q = reshape %q0 : tile<1x{rows}x{depth}xbf16> -> tile<{rows}x{depth}xbf16>
    {end}
    %acc, %top = for %j in (%o to %end, step %one) : tile<i32>
        iter_values(%sum = %zero, %max = %least) -> ({sums}, {line}) {{
      %k0, %t1 = load_view_tko weak %K[%y, %o, %j] : {views["K"]}, tile<i32>
          -> tile<1x{depth}x{columns}xbf16>, token
      %k = reshape %k0 : tile<1x{depth}x{columns}xbf16> -> tile<{depth}x{columns}xbf16>
      %s = mmaf %q, %k, %none : tile<{rows}x{depth}xbf16>, tile<{depth}x{columns}xbf16>, {scores}
      %m0 = reduce %s dim=1 identities=[0xff800000 : f32] : {scores} -> tile<{rows}xf32>
      (%a: tile<f32>, %b: tile<f32>) {{
        %c = maxf %a, %b : tile<f32>
        yield %c : tile<f32>
      }}
      %m1 = reshape %m0 : tile<{rows}xf32> -> {line}
      %m = maxf %m1, %max : {line}
      %m2 = broadcast %m : {line} -> {scores}
      %d = subf %s, %m2 : {scores}
      %p0 = exp2 %d flush_to_zero : {scores}
      %f0 = subf %max, %m : {line}
      %f1 = exp2 %f0 flush_to_zero : {line}
      %f = broadcast %f1 : {line} -> {sums}
      %scaled = mulf %sum, %f : {sums}
      %v0, %t2 = load_view_tko weak %V[%y, %j, %o] : {views["V"]}, tile<i32>
          -> tile<1x{columns}x{depth}xbf16>, token
      %v = reshape %v0 : tile<1x{columns}x{depth}xbf16> -> tile<{columns}x{depth}xbf16>
      %p = ftof %p0 : {scores} -> tile<{rows}x{columns}xbf16>
      %next = mmaf %p, %v, %scaled
          : tile<{rows}x{columns}xbf16>, tile<{columns}x{depth}xbf16>, {sums}
      continue %next, %m : {sums}, {line}
    }}
    %r = reshape %acc : {sums} -> tile<1x{rows}x{depth}xf32>
    %t = store_view_tko weak %r, %O[%y, %x, %o] : tile<1x{rows}x{depth}xf32>, {view}, tile<i32>
        -> token
"""
    parameters = ", ".join(
        f"%{name}_p: tile<ptr<bf16>>, %{name}_n: tile<i32>, %{name}_s: tile<i32>" for name in "QKV"
    )
    return entry(f"{parameters}, %O_p: tile<ptr<f32>>, %count: tile<i32>, %e: tile<i32>", body)


GIVEN = "%end = addi %e, %o : tile<i32>"
RISING = "%end = addi %x, %one : tile<i32>"


def check(end: str, ends: list[int], grid: tuple[int, int]) -> None:
    """Block x reads tiles up to `ends[x]`; copies complete late."""
    rows, columns, depth = 64, 64, 128
    text = attention(rows, columns, depth, end)
    rng = np.random.default_rng(0)
    blocks, count = grid
    keys = max(*ends, 1) * columns
    q, k, v = (
        rng.standard_normal((count, length, depth)).astype(BF16)
        for length in (blocks * rows, keys, keys)
    )
    args: list[Any] = [part for x in (q, k, v) for part in (x, x.shape[1], x.shape[1] * depth)]
    args += [np.full(q.shape, np.nan, np.float32), count, ends[0]]
    options: dict[str, Any] = {"grid": grid, "args": args, "arch": "sm_90a"}
    want, got = (_result(tw.interpret(text, "k", **more, **options)) for more in (
        {}, {"level": "ptx", "schedule": 1}
    ))  # fmt: skip
    assert (got.view(np.uint32) == want.view(np.uint32)).all()
    wide = [x.astype(np.float64) for x in (q, k, v)]
    for x, end in enumerate(ends):
        own = slice(x * rows, (x + 1) * rows)
        scores = wide[0][:, own] @ wide[1][:, : end * columns].swapaxes(1, 2)
        top = scores.max(-1, keepdims=True, initial=-1000.0)
        near = np.exp2(scores - top) @ wide[2][:, : end * columns]
        assert np.abs(want[:, own] - near).max() <= 0.02 * max(np.abs(near).max(initial=0), 1)


def _result(arrays: list[Any]) -> NDArray[Any]:
    return [x for x in arrays if getattr(x, "dtype", None) == np.float32 and x.ndim == 3][-1]


@pytest.mark.parametrize("trips", [0, 1, 4])
def test_a_product_an_iteration_late(trips: int) -> None:
    """Also where the loop has no iteration, or nothing but a first one."""
    check(GIVEN, [trips], (1, 1))


def test_the_longest_blocks_begin_first() -> None:
    """Each block of a grid still computes its tile."""
    check(RISING, [1, 2, 3], (3, 2))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_the_order_of_blocks(arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The last number along x first, for every y and z, whatever is computed in the loop."""
    body = """
    %x, %y, %z = get_tile_block_id : tile<i32>
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %n = for %j in (%o to %x, step %one) : tile<i32> iter_values(%s = %o) -> (tile<i32>) {
      %t = addi %s, %one : tile<i32>
      continue %t : tile<i32>
    }
    %u = print_tko "%d %d %d %d\\0A", %x, %y, %z, %n
        : tile<i32>, tile<i32>, tile<i32>, tile<i32> -> token
"""
    tw.interpret(entry("", body), "k", grid=(3, 2, 2), args=[], level="ptx", arch=arch)
    lines = [tuple(map(int, line.split())) for line in capsys.readouterr().out.splitlines()]
    assert lines == [(x, y, z, x) for x in (2, 1, 0) for z in range(2) for y in range(2)]


@pytest.mark.parametrize(
    "rows, columns, depth, threads", [(64, 64, 128, 160), (128, 128, 128, 384)]
)
def test_registers_are_given_up(
    rows: int, columns: int, depth: int, threads: int, ptxas: Any
) -> None:
    """By a warpgroup that copies, where those that compute have too few; nothing is spilled, and no
    MMA waits for the one before."""
    kernel = tw.compile(attention(rows, columns, depth, GIVEN), "sm_90a", assemble=True)
    assert kernel.entry().block == (threads, 1, 1)
    assert ("setmaxnreg.inc.sync.aligned.u32 240" in kernel.ptx) is (threads == 384)
    assert "wgmma.wait_group.sync.aligned 1" in kernel.ptx
    assert not {remark.kind for remark in kernel.remarks} & {"spill", "serialized"}
    assert ptxas(kernel.ptx, "sm_90a").clean


def test_blocks_that_may_wait_for_others_have_their_numbers() -> None:
    atomic = """
    %x, %y, %z = get_tile_block_id : tile<i32>
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %n = for %j in (%o to %x, step %one) : tile<i32> iter_values(%s = %o) -> (tile<i32>) {
      %t = addi %s, %one : tile<i32>
      continue %t : tile<i32>
    }
    %old, %k = atomic_rmw_tko relaxed device %p, add, %n : tile<ptr<i32>>, tile<i32>
        -> tile<i32>, token
"""
    ptx = tw.compile(entry("%p: tile<ptr<i32>>", atomic), "sm_90a").ptx
    assert "%nctaid" not in ptx
