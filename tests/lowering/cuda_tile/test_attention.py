"""Attention on Hopper: a product an iteration late, registers that copying threads give up, and the
longest blocks first. PTX equals the program level, which is near float64."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from attention_kernel import (
    GIVEN,
    RISING,
    arguments,
    attention,
    operands,
    with_keys_by_fours,
    with_sums,
)
from test_hints import hinted
from tile_ir import entry, equal_as_ptx

import tilewright as tw

FP8 = ml_dtypes.float8_e4m3fn


def check(end: str, ends: list[int], grid: tuple[int, int], rows: int = 64) -> None:
    """Block x reads tiles up to `ends[x]`; copies complete late."""
    columns, depth = 64, 128
    text = attention(rows, columns, depth, end)
    matrices = operands(grid[0] * rows, max(*ends, 1) * columns, depth, grid[1])
    args = arguments(matrices, ends[0])
    options: dict[str, Any] = {"grid": grid, "args": args, "arch": "sm_90a"}
    want = equal_as_ptx(text, **options)
    q, k, v = (x.astype(np.float64) for x in matrices)
    for x, end in enumerate(ends):
        own = slice(x * rows, (x + 1) * rows)
        scores = q[:, own] @ k[:, : end * columns].swapaxes(1, 2)
        top = scores.max(-1, keepdims=True, initial=-1000.0)
        near = np.exp2(scores - top) @ v[:, : end * columns]
        assert np.abs(want[:, own] - near).max() <= 0.02 * max(np.abs(near).max(initial=0), 1)


@pytest.mark.parametrize("trips, rows", [(0, 64), (1, 64), (4, 64), (3, 128)])
def test_a_product_an_iteration_late(trips: int, rows: int) -> None:
    """Also where the loop has no iteration, or nothing but a first one, and of two warpgroups."""
    check(GIVEN, [trips], (1, 1), rows)


def test_a_product_that_is_only_added_to_is_not_late() -> None:
    """Its MMAs are in flight as they are: the stage of V is released an iteration behind them."""
    text = attention(64, 64, 64, GIVEN).replace("%p, %v, %scaled", "%p, %v, %sum")
    text = text.replace("%scaled = mulf %sum, %f : tile<64x64xf32>", "")
    args = arguments(operands(64, 256, 64, 1), 4)
    options: dict[str, Any] = {"grid": (1, 1), "args": args, "arch": "sm_90a"}
    equal_as_ptx(text, **options)


def test_weights_of_8_bits_stay_in_registers() -> None:
    """Lanes exchange words of them: MMAs take four neighbours of a row, accumulators are two. Keys
    of values are contiguous, as the tensor cores take them, and no zero is added to scores."""
    text = attention(128, 64, 128, GIVEN, "f8E4M3FN")
    q, k, v = (x.astype(FP8) for x in operands(128, 192, 128, 1))
    args = arguments([q, k, v], 3)
    args[6] = np.ascontiguousarray(v.swapaxes(1, 2))
    ptx = tw.compile(text, "sm_90a").ptx
    equal_as_ptx(text, grid=(1, 1), args=args, arch="sm_90a")
    loop = "".join(ptx.split("wgmma.mma_async")[1:-1])
    assert "shfl.sync.bfly" in loop and "st.shared" not in loop and "bar.sync" not in loop


def test_queries_are_waited_for_once() -> None:
    """In front of the loop, whose iterations wait for keys and values alone."""
    ptx = tw.compile(attention(128, 64, 128, GIVEN), "sm_90a").ptx
    loop = ptx[ptx.index("$for5_body:") : ptx.index("$for5_end:")]
    assert loop.count("mbarrier.try_wait") == 3


@pytest.mark.parametrize("columns, depth, there", [(128, 128, 8), (64, 256, 0)])
def test_queries_in_registers(columns: int, depth: int, there: int, ptxas: Any) -> None:
    """Where a late product leaves enough of them: MMAs then read keys and values alone from shared
    memory."""
    ptx = tw.compile(attention(128, columns, depth, GIVEN), "sm_90a").ptx
    products = [line for line in ptx.splitlines() if "wgmma.mma_async" in line]
    from_memory = sum(line.count("{") == 1 for line in products)
    assert ptx.count("ldmatrix.sync") == there and (from_memory == 0) == (there > 0)
    assert "ldmatrix" not in ptx[ptx.index("wgmma.mma_async") :]
    assert ptxas(ptx, "sm_90a").clean


@pytest.mark.parametrize("later", [1, 0, np.nan])
def test_sums_are_not_multiplied_by_one(later: float) -> None:
    """As where scores of later keys are small; factors that are none are multiplied. A warp asks
    for each of the two rows that a lane has of it."""
    text = attention(64, 64, 64, GIVEN)
    q, k, v = operands(64, 192, 64, 1)
    k[:, 64:] = (k[:, 64:].astype(np.float32) * later).astype(k.dtype)
    assert tw.compile(text, "sm_90a").ptx.count("vote.sync.all.pred") == 2
    equal_as_ptx(text, grid=(1, 1), args=arguments([q, k, v], 3), arch="sm_90a")


@pytest.mark.parametrize("rows, depth, keys", [(64, 64, 128), (128, 128, 100), (128, 64, 36)])
def test_keys_of_8_bits_in_the_order_of_weights(rows: int, depth: int, keys: int) -> None:
    """Where keys are known to be a multiple of four TMA loads pairs of them so that each lane
    computes the weights that it multiplies: none is exchanged. What lies behind the last key counts
    as zero."""
    text = attention(rows, 128, depth, GIVEN, "f8E4M3FN")
    text = with_keys_by_fours(text, depth)
    q, k, v = (x.astype(FP8) for x in operands(rows, 384, depth, 1))
    args = arguments([q, k, v], 3)
    args[4], args[6] = 256 + keys, np.ascontiguousarray(v.swapaxes(1, 2))
    loop = "".join(tw.compile(text, "sm_90a").ptx.split("wgmma.mma_async")[1:-1])
    equal_as_ptx(text, grid=(1, 1), args=args, arch="sm_90a")
    assert not any(word in loop for word in ("st.shared", "bar.sync"))
    # Maxima of integers are exchanged twice for each of two rows, in the first iteration and in the
    # others, and nothing else but floats.
    assert loop.count("shfl.sync.bfly.b32 %r") == 8 * ("max.s32" in loop)
    assert "shfl.sync.bfly.b32 %f" in loop


def test_a_product_of_8_bits_an_iteration_late(ptxas: Any) -> None:
    """It is in flight while threads compute the next weights, beside the sums that it is added to
    then; both are complete in front of the stores. Registers suffice. Sums whose factors are all 1,
    as where scores of later keys are small, are not multiplied, but for factors that are none."""
    text = attention(128, 128, 128, GIVEN, "f8E4M3FN")
    for trips, later in (0, 1), (1, 1), (3, 1), (3, 0), (2, np.nan):
        q, k, v = (x.astype(FP8) for x in operands(128, 384, 128, 1))
        k[:, 128:] = (k[:, 128:].astype(np.float32) * later).astype(FP8)
        args = arguments([q, k, v], trips)
        args[6] = np.ascontiguousarray(v.swapaxes(1, 2))
        equal_as_ptx(text, grid=(1, 1), args=args, arch="sm_90a")
    kernel = tw.compile(text, "sm_90a")
    lines = [line.split() for line in kernel.ptx.splitlines()]
    waits = [i for i, line in enumerate(lines) if line[:1] == ["wgmma.wait_group.sync.aligned"]]
    assert [lines[i][1] for i in waits] == ["0;", "1;", "0;", "0;"]
    meanwhile = lines[waits[1] : waits[2]]
    assert any(line and line[0].startswith("ex2") for line in meanwhile)
    assert ["vote.sync.all.pred"] in [line[:1] for line in lines[waits[2] : waits[3]]]
    assert ptxas(kernel.ptx, "sm_90a").clean


def test_scores_an_iteration_early(ptxas: Any) -> None:
    """The late product is in flight while threads compute the next weights of the first half of the
    rows, the next scores while they compute the others, where lanes compute what they multiply.
    Registers suffice. Sums whose factors are all 1, as where scores of later keys are small, are
    not multiplied, but for factors that are none."""
    text = with_keys_by_fours(attention(128, 128, 128, GIVEN, "f8E4M3FN"), 128)
    for trips, later in (0, 1), (1, 1), (3, 1), (3, 0), (2, np.nan):
        q, k, v = (x.astype(FP8) for x in operands(128, 384, 128, 1))
        k[:, 128:] = (k[:, 128:].astype(np.float32) * later).astype(FP8)
        args = arguments([q, k, v], trips)
        args[4], args[6] = 384, np.ascontiguousarray(v.swapaxes(1, 2))
        equal_as_ptx(text, grid=(1, 1), args=args, arch="sm_90a")
    kernel = tw.compile(text, "sm_90a")
    lines = [line.split() for line in kernel.ptx.splitlines()]
    waits = [i for i, line in enumerate(lines) if line[:1] == ["wgmma.wait_group.sync.aligned"]]
    assert [lines[i][1] for i in waits] == ["0;"] * 5
    late, early = lines[waits[1] : waits[2]], lines[waits[2] : waits[3]]
    for part in late, early:
        ops = [line[0].partition(".")[0] for line in part if line]
        assert "ex2" in ops[ops.index("wgmma") :] and ops.count("ex2") == 33
    assert ["vote.sync.all.pred"] in [line[:1] for line in early]
    report = ptxas(kernel.ptx, "sm_90a")
    assert report.clean and report.kernels["k"].spill_stores == 0


@pytest.mark.parametrize("sign", [1, -1, 0])
def test_maxima_of_integers(sign: int) -> None:
    """Of scores that are there when an iteration begins, three at once, but where a row has none
    that is at least zero."""
    text = with_keys_by_fours(attention(128, 128, 128, GIVEN, "f8E4M3FN"), 128)
    q, k, v = (np.abs(x).astype(FP8) for x in operands(128, 384, 128, 1))
    k[:, 128:] = (k[:, 128:].astype(np.float32) * sign).astype(FP8)
    args = arguments([q, k, v], 3)
    args[4], args[6] = 384, np.ascontiguousarray(v.swapaxes(1, 2))
    ptx = tw.compile(text, "sm_90a").ptx
    equal_as_ptx(text, grid=(1, 1), args=args, arch="sm_90a")
    assert ptx.count("max.s32") == 4 * (31 + 2) and ptx.count("vote.sync.all.pred") == 4 + 2


def test_a_product_from_nothing_reads_no_accumulators() -> None:
    """Nothing is written to them in front of its MMAs, where one fence stands."""
    ptx = tw.compile(attention(128, 128, 128, GIVEN, "f8E4M3FN"), "sm_90a").ptx
    products = [group.split("wgmma.fence.sync") for group in ptx.split("commit_group.sync")[:-1]]
    assert [len(parts) for parts in products] == [2] * 4
    assert not any("mov.f32" in mmas for _, mmas in products)


def test_sums_are_exchanged_behind_a_late_product() -> None:
    """For the second time: in front of the wait for it maxima are, and sums once. Its values are
    waited for once, at the end of an iteration."""
    text = with_sums(attention(128, 128, 128, GIVEN, "f8E4M3FN"))
    q, k, v = (x.astype(FP8) for x in operands(128, 384, 128, 1))
    args = arguments([q, k, v], 3)
    args[6] = np.ascontiguousarray(v.swapaxes(1, 2))
    options: dict[str, Any] = {"grid": (1, 1), "args": args, "arch": "sm_90a"}
    want, got = (tw.interpret(text, "k", level=x, **options)[-1] for x in ("program", "ptx"))
    assert np.abs(got - want).max() <= 1e-6 * np.abs(want).max()
    ptx = tw.compile(text, "sm_90a").ptx
    _, late, behind, *_ = ptx[ptx.index("wait_group.sync.aligned 1;") :].split("wait_group.sync")
    exchange = "shfl.sync.bfly.b32 %f"
    assert "try_wait" not in ptx.split("wgmma.commit_group.sync")[2] and "try_wait" in late
    assert (late.count(exchange), behind.count(exchange)) == (6, 2)
    assert behind.index(exchange) > behind.index("vote.sync.all.pred")


COUNT = """
    %x, %y, %z = get_tile_block_id : tile<i32>
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %n = for %j in (%o to %x, step %one) : tile<i32> iter_values(%s = %o) -> (tile<i32>) {
      %t = addi %s, %one : tile<i32>
      continue %t : tile<i32>
    }
"""
"""As many turns of a loop as the block's number along x."""


def test_the_longest_blocks_begin_first() -> None:
    """Each block of a grid still computes its tile."""
    check(RISING, [1, 2, 3], (3, 2))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_the_order_of_blocks(arch: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The last number along x first, for every y and z, whatever is computed in the loop."""
    body = (
        COUNT
        + """
    %u = print_tko "%d %d %d %d\\0A", %x, %y, %z, %n
        : tile<i32>, tile<i32>, tile<i32>, tile<i32> -> token
"""
    )
    tw.interpret(entry("", body), "k", grid=(3, 2, 2), args=[], level="ptx", arch=arch)
    lines = [tuple(map(int, line.split())) for line in capsys.readouterr().out.splitlines()]
    assert lines == [(x, y, z, x) for x in (2, 1, 0) for z in range(2) for y in range(2)]


@pytest.mark.parametrize(
    "rows, columns, depth, threads",
    [(64, 64, 128, 160), (128, 128, 128, 384), (128, 64, 256, 384)],
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


def weighed(columns: int) -> str:
    """Attention that folds its weights, too, by what does not depend on an order; the result is
    multiplied by it."""
    line, sums = (f"tile<128x{n}xf32>" for n in (1, 64))
    body = f"""
      %l0 = reduce %p0 dim=1 identities=[0.0 : f32] : tile<128x{columns}xf32> -> tile<128xf32>
      (%x0: tile<f32>, %x1: tile<f32>) {{
        %x2 = maxf %x0, %x1 : tile<f32>
        yield %x2 : tile<f32>
      }}
      %l1 = reshape %l0 : tile<128xf32> -> {line}
      %l2 = mulf %l, %f1 : {line}
      %l3 = addf %l1, %l2 : {line}
      %f = broadcast"""
    text = attention(128, columns, 64, GIVEN)
    for before, after in (
        ("\n    %acc, %top", f"\n    %no = constant <f32: 0.0> : {line}\n    %acc, %top, %all"),
        (f"%least) -> ({sums}, {line}", f"%least, %l = %no) -> ({sums}, {line}, {line}"),
        ("\n      %f = broadcast", body),
        (f"%next, %m : {sums}", f"%next, %m, %l3 : {sums}, {line}"),
        ("%r = reshape %acc", f"%w = broadcast %all : {line} -> {sums}\n    %u = mulf %acc, %w"
         f" : {sums}\n    %r = reshape %u"),
    ):  # fmt: skip
        assert text.count(before) == 1
        text = text.replace(before, after)
    return text


def test_a_fold_in_the_flight_of_a_product_that_is_not_late(ptxas: Any) -> None:
    """A second CTA beside the first one is worth more than a product an iteration late: ptxas is
    told of it, and need not spill for it. Registers are left for weights beside A, so that they are
    folded behind the product; of a tile twice as wide they are not."""
    text = weighed(64)
    equal_as_ptx(text, grid=(1, 1), args=arguments(operands(128, 192, 64, 1), 3), arch="sm_90a")
    for columns, exchanges in (64, 4), (128, 0):
        ptx = tw.compile(hinted(weighed(columns), "occupancy = 2"), "sm_90a").ptx
        flight = ptx.split("wgmma.mma_async")[-1].split("wgmma.wait_group")[0]
        assert flight.count("\tshfl.sync") == exchanges
    kernel = tw.compile(text, "sm_90a")
    assert "wgmma.wait_group.sync.aligned 1" not in kernel.ptx
    assert ".minnctapersm 2\n" in kernel.ptx
    report = ptxas(kernel.ptx, "sm_90a")
    (resources,) = report.kernels.values()
    assert report.clean and resources.registers <= 96 and not resources.spill_stores


def test_blocks_that_may_wait_for_others_have_their_numbers() -> None:
    atomic = (
        COUNT
        + """
    %old, %k = atomic_rmw_tko relaxed device %p, add, %n : tile<ptr<i32>>, tile<i32>
        -> tile<i32>, token
"""
    )
    ptx = tw.compile(entry("%p: tile<ptr<i32>>", atomic), "sm_90a").ptx
    assert "%nctaid" not in ptx
