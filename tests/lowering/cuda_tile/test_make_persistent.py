"""CTAs that take one tile block after the other, and the order of blocks: the result stays."""

from __future__ import annotations

import re
from functools import cache
from math import prod
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
    twice,
    with_masks,
)
from numpy.random import default_rng
from test_copied_loads import COPY
from test_copied_pointers import gathered, scattered
from test_hints import hinted
from test_warpgroups import DTYPES, operand, product, whole
from tile_ir import entry
from xdsl.context import Context

import tilewright as tw
from tilewright.dialects.cuda_tile.ops.control_flow import ForOp
from tilewright.launch import ptxas
from tilewright.lowering.cuda_tile.plan import Plan
from tilewright.passes.cuda_tile.scheduling.common_divisors import divide_by_reciprocals
from tilewright.passes.cuda_tile.scheduling.make_persistent import CudaTileMakePersistentPass
from tilewright.passes.cuda_tile.scheduling.order_blocks import slow_dimension
from tilewright.passes.cuda_tile.scheduling.split_blocks import CudaTileShareBlocksPass
from tilewright.source.parsing import parse_module

TYPES, FP8 = ("bf16", "f32"), "f8E4M3FN"


@cache
def taken(text: str, *, along_x: bool = False) -> str:
    """The kernel whose CTAs take blocks."""
    module = parse_module(text, "taken")
    CudaTileMakePersistentPass(along_x).apply(Context(), module)
    return str(module)


@pytest.mark.parametrize(
    "arch, tile, sizes, grid, ctas, hints, more",
    [
        ("sm_90a", (64, 64, 16), (72, 72, 40), (2, 2, 1), 3, "", True),
        ("sm_90a", (64, 64, 16), (136, 328, 24), (3, 6, 1), 5, "", True),
        ("sm_90a", (128, 64, 16), (264, 64, 24), (3, 1, 1), 2, "num_cta_in_cga = 2", False),
        ("sm_100a", (128, 64, 16), (264, 64, 24), (3, 1, 1), 1, "", False),
        ("sm_80", (32, 32, 16), (40, 40, 24), (2, 2, 1), 2, "", False),
        ("sm_80", (32, 32, 16), (32, 32, 16), (1, 1, 1), 2, "", False),
    ],
)
def test_blocks_taken_in_turn(
    arch: str, tile: tuple[int, int, int], sizes: tuple[int, int, int],
    grid: tuple[int, int, int], ctas: int, hints: str, *, more: bool,
) -> None:  # fmt: skip
    """Fewer CTAs than blocks, or more, compute what a CTA for each would: at the program level, and
    by PTX whose copies for the next block come while the last one is stored. Blocks along x have
    their numbers without a division."""
    text = product(TYPES, tile, more=more)
    if hints:
        text = hinted(text, hints)
    m, n, k = sizes
    a, b = operand(m, k, "bf16"), operand(k, n, "bf16")
    c = operand(m, n, "f32") if more else np.zeros((m, n), DTYPES["f32"])
    args = [part for array in (a, b, c) for part in (array, array.shape[1])] + [m, n, k]
    options: dict[str, Any] = {"arch": arch}
    want = tw.interpret(text, "k", grid=grid, args=args, **options)[2]
    assert np.abs(want).max() > 0
    along_x, told = grid[1:] == (1, 1), [*grid, 0, prod(grid)]
    kernel = tw.compile(taken(text, along_x=along_x), arch)
    for level in ("tile", "ptx"):
        got = tw.interpret(
            taken(text, along_x=along_x), "k", grid=(ctas, 1, 1), args=[*args, *told], level=level,
            schedule=None if level == "tile" else 3, **options,
        )[2]  # fmt: skip
        assert (got.view(np.uint32) == want.view(np.uint32)).all()
    assert kernel.entry().takes_blocks and not tw.compile(text, arch).entry().takes_blocks
    assert along_x is not bool(re.search(r"(div|rem)\.[su]32", kernel.ptx))


@pytest.mark.parametrize(
    "first, end, x, y",
    [(0, 16, (0, 4), (0, 4)), (16, 24, (4, 6), (0, 4)), (24, 27, (0, 3), (4, 5))],
)
def test_blocks_of_four_rows(first: int, end: int, x: tuple[int, int], y: tuple[int, int]) -> None:
    """CTAs side by side have neighbouring blocks in both directions; rows behind the last four are
    taken as they lie."""
    text = product(TYPES, (16, 16, 16))
    a, b, c = operand(96, 16, "bf16"), operand(16, 80, "bf16"), np.zeros((96, 80), np.float32)
    args = [a, 16, b, 80, c, 80, 96, 80, 16, 6, 5, 1, first, end]
    got = tw.interpret(taken(text), "k", grid=(2, 1, 1), args=args, level="tile", arch="sm_90a")[2]
    want = np.zeros((6, 5), bool)
    want[slice(*x), slice(*y)] = True
    assert (got.reshape(6, 16, 5, 16).any((1, 3)) == want).all()


@pytest.mark.covered
@pytest.mark.parametrize("end", [GIVEN, RISING], ids=["alike", "longest first"])
@pytest.mark.parametrize("ctas, element", [(1, "bf16"), (4, "bf16"), (7, "bf16"), (4, FP8)])
def test_attention_taken_in_turn(end: str, ctas: int, element: str) -> None:
    """Queries of the next block come while the last one is stored: they have a stage, which is free
    behind the loop that multiplies them. Also where one CTA has more turns than another, or none,
    and with blocks of no iteration."""
    text = attention(64, 64, 64, end, element)
    matrices = operands(192, 192, 64, 2)
    args = arguments(matrices, 0 if end is GIVEN and ctas == 4 else 2)
    if element != "bf16":
        q, k, v = (x.astype(ml_dtypes.float8_e4m3fn) for x in matrices)
        args[0:9:3] = q, k, np.ascontiguousarray(v.swapaxes(1, 2))
    options: dict[str, Any] = {"arch": "sm_90a"}
    want = tw.interpret(text, "k", grid=(3, 2, 1), args=args, **options)[-1]
    ptx = tw.compile(taken(text), "sm_90a").ptx
    assert ptx.count("cp.async.bulk.tensor.3d.shared") == 3 and "ld.global" not in ptx
    got = tw.interpret(
        taken(text), "k", grid=(ctas, 1, 1), args=[*args, 3, 2, 1, 0, 6], level="ptx", schedule=3,
        **options,
    )[-1]  # fmt: skip
    assert (got.view(np.uint32) == want.view(np.uint32)).all()


def test_queries_of_blocks_in_turn_in_registers() -> None:
    """Their stage is free for TMA behind a fence."""
    text, q, *others = attention(128, 128, 128, GIVEN), *operands(256, 128, 128, 1)
    args = arguments([q, *others], 1)
    options: dict[str, Any] = {"arch": "sm_90a"}
    want = tw.interpret(text, "k", grid=(2, 1, 1), args=args, **options)[-1]
    ptx = tw.compile(taken(text), "sm_90a").ptx
    assert "ldmatrix" in ptx
    assert ptx.count("fence.proxy.async.shared::cta") == 2
    got = tw.interpret(
        taken(text), "k", grid=(1, 1, 1), args=[*args, 2, 1, 1, 0, 2], level="ptx", schedule=3,
        **options,
    )[-1]  # fmt: skip
    assert (got.view(np.uint32) == want.view(np.uint32)).all()


def in_blocks(text: str) -> str:
    """The kernel of gathered rows, 64 of them a block."""
    return text.replace(
        "%i64 = iota : tile<64xi32>",
        """%bx, %by, %bz = get_tile_block_id : tile<i32>
        %tall = constant <i32: 64> : tile<i32>
        %from = muli %bx, %tall : tile<i32>
        %from1 = reshape %from : tile<i32> -> tile<1xi32>
        %from64 = broadcast %from1 : tile<1xi32> -> tile<64xi32>
        %i = iota : tile<64xi32>
        %i64 = addi %from64, %i : tile<64xi32>""",
    )


@pytest.mark.parametrize("ctas, depth", [(1, 136), (2, 136), (4, 136), (2, 8), (1, 72)])
def test_blocks_of_gathered_rows(ctas: int, depth: int) -> None:
    """Rows through pointers and B come by a warpgroup of their own, also in loops of fewer
    iterations than it is ahead: no barrier is between the warps that multiply, nobody waits for
    copies but at an mbarrier, and a thread finds one of 64 rows."""
    text = in_blocks(gathered("less_than %cs, %size").replace("%C[%o, %o]", "%C[%bx, %o]"))
    kernel = tw.compile(taken(text), "sm_90a")
    assert kernel.entry().takes_blocks and COPY in kernel.ptx
    assert kernel.entry().block == (256, 1, 1) and "bar.sync 1" not in kernel.ptx
    assert "cp.async.wait" not in kernel.ptx
    assert kernel.ptx.count("cp.async.mbarrier.arrive.noinc") == kernel.ptx.count("ld.global") == 1
    report = ptxas.assemble(kernel.ptx, "sm_90a")
    assert report.clean and report.kernels["k"].spill_stores == 0
    a, b = operand(40, depth, "f16"), operand(depth, 32, "f16")
    rows = default_rng(1).integers(0, 39, 192).astype(np.int32)
    c = np.zeros((192, 32), np.float32)
    args = [a, depth, b, 32, rows, 192, c, 32, 192, 32, depth, 3, 1, 1, 0, 3]
    got = tw.interpret(taken(text), "k", grid=(ctas,), args=args, level="ptx", arch="sm_90a",
                       schedule=3)[3]  # fmt: skip
    want = a[rows].astype(np.float32) @ b.astype(np.float32)
    assert np.abs(got - want).max() <= 1e-5 * np.abs(want).max()


DIVIDED = """
    %zero = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    for %i in (%zero to %count, step %one) : tile<i32> {
      %far = muli %i, %step : tile<i32>
      %n = addi %first, %far : tile<i32>
      %q = divi %n, %d unsigned : tile<i32>
      %r = remi %n, %d unsigned : tile<i32>
      %a = offset %quotients, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %b = offset %rests, %i : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
      %s = store_ptr_tko weak %a, %q : tile<ptr<i32>>, tile<i32> -> token
      %t = store_ptr_tko weak %b, %r : tile<ptr<i32>>, tile<i32> -> token
      continue
    }
"""
NUMBERS = (
    "%quotients: tile<ptr<i32>>, %rests: tile<ptr<i32>>, %d: tile<i32>, %first: tile<i32>, "
    "%step: tile<i32>, %count: tile<i32>"
)


@cache
def divided() -> str:
    """A loop whose quotients are by reciprocals."""
    module = parse_module(entry(NUMBERS, DIVIDED), "divided")
    (loop,) = (op for op in module.walk() if isinstance(op, ForOp))
    divide_by_reciprocals(loop)
    return str(module)


@pytest.mark.covered
@pytest.mark.parametrize("divisor", [1, 2, 3, 7, 641, 65537, 2**31 - 1, 2**31, 2**32 - 1])
@pytest.mark.parametrize("first, step", [(0, 1), (2**32 - 40, 1), (5, 2**27 + 11), (2**31 - 9, 1)])
def test_quotients_by_what_iterations_share(divisor: int, first: int, step: int) -> None:
    """By a reciprocal, of numbers of all 32 bits, at the program level and by PTX."""
    numbers = (first + step * np.arange(40)) % 2**32
    d, low, by = (int(np.uint32(x).astype(np.int32)) for x in (divisor, first, step))
    for level in ("tile", "ptx"):
        empty = [np.zeros(40, np.int32) for _ in range(2)]
        args = [*empty, d, low, by, 40]
        got = tw.interpret(divided(), "k", grid=(1, 1, 1), args=args, level=level)
        assert (got[0].view(np.uint32) == numbers // divisor).all()
        assert (got[1].view(np.uint32) == numbers % divisor).all()


def test_numbers_of_blocks_are_natural() -> None:
    """What the kernel divides them by has no sign either, and is the same for all blocks."""
    text = product(TYPES, (64, 64, 16))
    begin, id_line, rest = text.partition(" = get_tile_block_id : tile<i32>\n")
    start = begin.rpartition("\n")[2].strip()
    number = start.split(",")[0]
    divided = f"""
    %wide = assume bounded<1, 1000>, %n : tile<i32>
    %part = divi {number}, %wide signed rounding<negative_inf> : tile<i32>
    %whole = muli %part, %wide : tile<i32>
    %rest = remi {number}, %wide signed : tile<i32>
    %again = addi %whole, %rest : tile<i32>
"""
    body = rest.replace(f"[{number}", "[%again")
    assert body != rest
    ptx = tw.compile(taken(begin + id_line + divided + body, along_x=True), "sm_90a").ptx
    assert len(re.findall(r"(div|rem)\.", ptx)) == len(re.findall(r"div\.u32", ptx)) > 0


def test_what_is_common_stays_in_front() -> None:
    """So tensor maps are made of arguments, and copies are boxes."""
    text = taken(product(TYPES, (64, 64, 16)))
    loop = next(op for op in parse_module(text).walk() if isinstance(op, ForOp))
    inside = {op.name.removeprefix("cuda_tile.") for op in loop.walk()}
    assert not inside & {"make_tensor_view", "make_partition_view", "get_tile_block_id"}
    assert "cp.async.bulk.tensor.2d.shared" in tw.compile(text, "sm_90a").ptx


DOUBLED = "    %double = addf %acc, %acc : tile<64x64xf32>\n"
"""What the second of two loops begins with that are no pipeline."""


def test_a_loop_goes_on_with_what_another_has_left() -> None:
    """One that masks scores begins with the weights and the scores that the one in front of it has
    put off, so that nobody waits for any. Also where either has no iteration. Registers suffice."""
    text, matrices = with_masks(), operands(512, 384, 128, 1)
    q, k, v = (x.astype(ml_dtypes.float8_e4m3fn) for x in matrices)
    args = arguments([q, k, v], 0)
    args[6] = np.ascontiguousarray(v.swapaxes(1, 2))
    options: dict[str, Any] = {"arch": "sm_90a", "level": "ptx", "schedule": 3}
    want = tw.interpret(text, "k", grid=(4, 1, 1), args=args, **options)[-1]
    told = [*args, 4, 1, 1, 0, 4]
    got = tw.interpret(taken(text), "k", grid=(2, 1, 1), args=told, **options)[-1]
    assert (got.view(np.uint32) == want.view(np.uint32)).all()
    ptx = tw.compile(taken(text), "sm_90a").ptx
    assert "wgmma.wait_group.sync.aligned 1;" not in ptx
    report = ptxas.assemble(ptx, "sm_90a")
    assert report.clean and report.kernels["k"].spill_stores == 0


@pytest.mark.parametrize(
    "text",
    [
        twice(attention(64, 64, 64, GIVEN, FP8), "%sum = %double, %max = %top", DOUBLED),
        attention(64, 64, 64, GIVEN).replace("mmaf %q, ", "mmaf %twice, ").replace(
            GIVEN, GIVEN + "%twice = addf %q, %q : tile<64x64xbf16>"
        ),
        entry("%p: tile<ptr<i32>>", "    %i = iota : tile<64xi32>\n"),
        product(TYPES, (64, 64, 16)).replace("weak %sum", "relaxed device %sum"),
        product(TYPES, (64, 64, 16)).replace("to %steps,", "to %i,"),
    ],
    ids=["two loops of 8 bits", "queries that are computed", "no product",
         "blocks that others may wait for", "blocks that differ"],
)  # fmt: skip
def test_kernels_that_keep_a_cta_for_each_block(text: str) -> None:
    module = parse_module(text, "text")
    before = str(module)
    CudaTileMakePersistentPass().apply(Context(), module)
    assert str(module) == before


BATCHED = """
    %bx, %by, %bz = get_tile_block_id : tile<i32>
    %ones = constant <f32: 1.0> : tile<1x4x8xf32>
    %v = make_tensor_view %p, shape = [3, 8, 8], strides = [64, 8, 1]
        : tensor_view<3x8x8xf32, strides=[64,8,1]>
    %w = make_partition_view %v
        : partition_view<tile=(1x4x8), tensor_view<3x8x8xf32, strides=[64,8,1]>>
    %o = constant <i32: 0> : tile<i32>
    %x, %t = load_view_tko weak %w[%bx, LOADED, %o]
        : partition_view<tile=(1x4x8), tensor_view<3x8x8xf32, strides=[64,8,1]>>, tile<i32>
        -> tile<1x4x8xf32>, token
    %y = addf %x, %ones : tile<1x4x8xf32>
    %u = make_tensor_view %q, shape = [3, 8, 8], strides = [64, 8, 1]
        : tensor_view<3x8x8xf32, strides=[64,8,1]>
    %s = make_partition_view %u
        : partition_view<tile=(1x4x8), tensor_view<3x8x8xf32, strides=[64,8,1]>>
    %r = store_view_tko weak %y, %s[%bx, %by, %o]
        : tile<1x4x8xf32>, partition_view<tile=(1x4x8),
          tensor_view<3x8x8xf32, strides=[64,8,1]>>, tile<i32> -> token
"""


PRODUCT = """
    %h = constant <f16: 0.0> : tile<8x8xf16>
    %z = constant <f32: 0.0> : tile<8x8xf32>
    %s8 = mmaf %h, %h, %z : tile<8x8xf16>, tile<8x8xf16>, tile<8x8xf32>
    %u = make"""


@pytest.mark.parametrize("loaded, slow", [("%o", 0), ("%by", None)])
def test_blocks_that_share_nothing_lie_apart(loaded: str, slow: int | None) -> None:
    """The dimension that all accesses have to do with is the slowest, where another is not such."""
    text = entry("%p: tile<ptr<f32>>, %q: tile<ptr<f32>>", BATCHED.replace("LOADED", loaded))
    assert "%nctaid" not in tw.compile(text, "sm_80").ptx  # it multiplies nothing
    text = text.replace("    %u = make", PRODUCT)
    assert slow_dimension(parse_module(text, "text").walk()) == slow
    p = np.arange(192, dtype=np.float32)
    options: dict[str, Any] = {"grid": (3, 2), "args": [p, np.zeros_like(p)]}
    want = tw.interpret(text, "k", **options)[1]
    got = tw.interpret(text, "k", level="ptx", arch="sm_80", **options)[1]
    assert want.any() and (got == want).all()
    ptx = tw.compile(text, "sm_80").ptx
    assert ("%nctaid" in ptx) == (slow is not None)


@pytest.mark.covered
@pytest.mark.parametrize("ctas", [2, 4])
@pytest.mark.parametrize("depth", [72, 40, 8, 0])
@pytest.mark.parametrize("tma", [False, True])
def test_stores_under_products(
    ctas: int, depth: int, monkeypatch: pytest.MonkeyPatch, *, tma: bool
) -> None:
    """A tile is stored under the first MMAs of the next block: by threads, in four iterations, or
    by TMA half of it, of CTAs of several blocks and of one or none, and where fewer iterations
    multiply, or none."""
    monkeypatch.setattr(Plan, "store_room", lambda self, beside: 1 << 12)
    text = product(TYPES, (64, 64, 16), stored="bf16")
    text = whole(text) if tma else text
    a, b = operand(152, depth, "bf16"), operand(depth, 72, "bf16")
    c = np.ones((152, 72), ml_dtypes.bfloat16)
    args = [part for array in (a, b, c) for part in (array, array.shape[1])] + [152, 72, depth]
    want = tw.interpret(text, "k", grid=(3, 2, 1), args=args, arch="sm_90a")[2]
    for level in ("tile", "ptx"):
        got = tw.interpret(
            taken(text), "k", grid=(ctas, 1, 1), args=[*args, 3, 2, 1, 0, 6], level=level,
            schedule=None if level == "tile" else 3, arch="sm_90a",
        )[2]  # fmt: skip
        assert (got.view(np.uint16) == want.view(np.uint16)).all()


def test_stores_of_clusters_under_products() -> None:
    """CTAs that share a block store their parts of the one before."""
    text = hinted(product(TYPES, (128, 64, 16), stored="bf16"), "num_cta_in_cga = 2")
    a, b = operand(520, 40, "bf16"), operand(40, 64, "bf16")
    args = [a, 40, b, 64, np.zeros((520, 64), ml_dtypes.bfloat16), 64, 520, 64, 40]
    want = tw.interpret(text, "k", grid=(5,), args=args, arch="sm_90a")[2]
    got = tw.interpret(taken(text), "k", grid=(2,), args=[*args, 5, 1, 1, 0, 5], level="ptx",
                       arch="sm_90a", schedule=3)[2]  # fmt: skip
    assert np.abs(want).max() > 0 and (got.view(np.uint16) == want.view(np.uint16)).all()


@pytest.mark.parametrize("tma", [False, True], ids=["threads", "TMA"])
def test_registers_for_stores_under_products(*, tma: bool) -> None:
    """The loop of the product stores, and ptxas keeps its MMAs in flight, without a spill."""
    text = product(TYPES, (128, 256, 64), stored="bf16")
    kernel = tw.compile(taken(whole(text) if tma else text), "sm_90a")
    (loop,) = re.findall(r"\n\twgmma.commit_group((?:.|\n)*?)bra.uni \$for", kernel.ptx)
    assert ("cp.async.bulk.tensor" if tma else "st.global") in loop
    assert ptxas.assemble(kernel.ptx, "sm_90a").clean


@pytest.mark.covered
@pytest.mark.parametrize("ctas", [1, 2, 3])
@pytest.mark.parametrize("width, depth", [(32, 136), (128, 520)])
def test_scattered_stores_under_products(ctas: int, width: int, depth: int) -> None:
    """Threads know still where rows of the block before go, and load where those of their own do
    behind their first MMAs. Tiles of lines change their layout through memory that each warp has
    for itself."""
    text = in_blocks(scattered(gathered("less_than %cs, %size", "f16"), "f16"))
    for size in ("64x32", "32x32", "1x32x", "<32x", ": 32>"):
        text = text.replace(size, size.replace("32", str(width)))
    text = hinted(text, "occupancy = 1")
    kernel = tw.compile(taken(text), "sm_90a")
    (loop,) = re.findall(r"\n\twgmma.commit_group((?:.|\n)*?)bra.uni \$for", kernel.ptx)
    assert "st.global" in loop and ptxas.assemble(kernel.ptx, "sm_90a").clean
    assert kernel.ptx.index("ld.global") > kernel.ptx.index("wgmma.mma_async")
    assert ("st.shared" in loop) == ("shfl.sync.bfly" not in loop) == (width == 128)
    a, b = operand(192, depth, "f16"), operand(depth, width, "f16")
    rows = default_rng(1).permutation(192).astype(np.int32)
    c = np.zeros((192, width), np.float16)
    args = [a, depth, b, width, rows, 192, c, width, 192, width, depth]
    want = tw.interpret(text, "k", grid=(3,), args=args, arch="sm_90a")[3]
    got = tw.interpret(taken(text), "k", grid=(ctas,), args=[*args, 3, 1, 1, 0, 3], level="ptx",
                       arch="sm_90a", schedule=3)[3]  # fmt: skip
    assert np.abs(want).max() > 0 and (got.view(np.uint16) == want.view(np.uint16)).all()


def test_last_blocks_that_ctas_share() -> None:
    """Blocks from a number on, of which four CTAs have a part each, are those that others leave
    out, of a grid that waits for theirs."""
    (m, n, k), tile, arch = (136, 512, 40), (128, 256, 16), "sm_90a"
    text, grid = product(TYPES, tile, more=True), (2, 2, 1)
    a, b, c = operand(m, k, "bf16"), operand(k, n, "bf16"), operand(m, n, "f32")
    given = [a, k, b, n, c, n, m, n, k]
    want = tw.interpret(text, "k", grid=grid, args=given, arch=arch)[2]
    module = parse_module(text, "shared")
    CudaTileShareBlocksPass(4).apply(Context(), module)
    CudaTileMakePersistentPass(behind=True).apply(Context(), module)
    last = tw.compile(module, arch)
    assert last.entry().ctas == 4 and last.ptx.count("\tgriddepcontrol.wait;") == 2
    for kernel, ctas, first, end in ((taken(text), 2, 0, 3), (module, 4, 3, 4)):
        given[4] = tw.interpret(
            kernel, "k", grid=(ctas,), args=[*given, *grid, first, end], level="ptx", arch=arch
        )[2]  # fmt: skip
    assert (given[4].view(np.uint32) == want.view(np.uint32)).all() and (want != c).any()
