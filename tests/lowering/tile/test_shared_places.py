"""Tensors whose own elements lie in one place: what ops read of them and write to them, at every
level alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from run_levels import at_levels
from tile_levels import BARRIER, BOXES_LOADED, BOXES_STORED, LEVELS, kernel, memref, numbers, run

import tilewright as tw
from tilewright.dialects.cute_nvgpu.atoms.lookup import parse

GMEM = memref("f32", "gmem", "(?,?):(?{i64},1)")
EPILOGUE = kernel(
    f"%x: {GMEM}, %y: {GMEM}, %bias: {memref('f32', 'gmem', '(?,?):(0,1)')}",
    """
  %mma = cute.make_tiled_mma() : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, \
elem_type = (bf16, bf16, f32)>>
  %shape = cute.get_shape(%x)
  %identity = cute.make_identity_tensor(%shape)
  %tiler = cute.static : !cute.tile<"[16;16]">
  %cta = cute.make_coord(%block, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
  %tile = cute.local_tile(%identity, %tiler, %cta)
  %tx = cute.local_tile(%x, %tiler, %cta)
  %ty = cute.local_tile(%y, %tiler, %cta)
  %tb = cute.local_tile(%bias, %tiler, %cta)
  %at = cute.tiled.mma.partition C (%mma, %tile, %t)
  %from = cute.tiled.mma.partition C (%mma, %tx, %t)
  %to = cute.tiled.mma.partition C (%mma, %ty, %t)
  %pb = cute.tiled.mma.partition C (%mma, %tb, %t)
  %held = cute.make_fragment_like(%from)
  %added = cute.make_fragment_like(%pb)
  cute.copy(%from, %held) bounds(%at, %shape)
  cute.copy(%pb, %added) bounds(%at, %shape)
  %v = cute.memref.load_vec(%held)
  %b = cute.memref.load_vec(%added)
  %sum = arith.addf %v, %b : vector<8xf32>
  %none = arith.constant dense<0.0> : vector<8xf32>
  %relu = arith.maximumf %sum, %none : vector<8xf32>
  cute.memref.store_vec(%relu, %held)
  cute.copy(%held, %to) bounds(%at, %shape)""",
)
"""Bias and ReLU: rows r and r + 8 of an accumulator share what a thread loads of the bias."""


def test_rows_beyond_the_bounds_do_not_come_over_a_bias():
    """Rows 16 to 19 of 20 are a thread's only ones, rows 24 to 27 lie beyond."""
    x, bias = numbers((20, 13)), numbers((13,), seed=1)
    rows = np.broadcast_to(bias, x.shape)
    found = run(EPILOGUE, x, np.zeros_like(x), rows, grid=(2,))[1]
    assert_array_equal(found, np.maximum(x + bias, 0))


def test_a_bias_is_loaded_once_for_all_rows():
    """Of 16 columns a thread has 4: 8 elements of x, and 4 of the bias."""
    assert tw.compile(EPILOGUE, "sm_90a").ptx.count("ld.global") == 8 + 4


ROWS = memref("f32", "gmem", "(32,16):(16,1)", 16)
VIEWS = """
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %from = cute.slice(%x, %at)
  %to = cute.slice(%y, %at)
  %r = cute.memref.alloca() : !cute.memref<f32, rmem, "16:1">
  cute.copy(%from, %r)
  %twos = cute.static : !cute.layout<"(2,8):(0,1)">
  %pairs = cute.static : !cute.layout<"(8,2):(1,0)">
  %apart = cute.static : !cute.layout<"(2,8):(1,2)">
  %overlap = cute.static : !cute.layout<"(3,4):(2,1)">
  %turned = cute.static : !cute.layout<"(4,4):(4,1)">
  %square = cute.static : !cute.layout<"(4,4):(1,4)">
"""
"""Each thread's rows of x and y, x in registers, and layouts of views."""
OPS = {
    # The last one stays.
    "store_vec to registers": (
        """%v = cute.memref.load_vec(%from)
  %view = cute.make_view(%r, %twos)
  cute.memref.store_vec(%v, %view)""",
        lambda x: np.concatenate([x[:, 1::2], x[:, 8:]], axis=1),
    ),
    "convert": (
        """%h = cute.memref.alloca() : !cute.memref<f16, rmem, "(2,8):(0,1)">
  %all = cute.make_view(%r, %apart)
  cute.convert<#cute_nvgpu.convert<"rn.f16x2.f32">> (%all, %h)
  %v = cute.memref.load_vec(%h)
  %w = arith.extf %v : vector<16xf16> to vector<16xf32>
  cute.memref.store_vec(%w, %r)""",
        lambda x: np.repeat(x[:, 1::2].astype(np.float16), 2, axis=1),
    ),
    # Reads of one tensor are all before writes of it.
    "copy to a view of the source": (
        """%a = cute.make_view(%r, %turned)
  %b = cute.make_view(%r, %square)
  cute.copy(%a, %b)""",
        lambda x: x.reshape(32, 4, 4).swapaxes(1, 2).reshape(32, 16),
    ),
    "reduce to overlapping sums": (
        """%a = cute.make_view(%r, %overlap)
  %b = cute.make_view(%r, %twos)
  %c = cute.static : !cute.layout<"(3,4):(1,3)">
  %d = cute.make_view(%r, %c)
  cute.reduce<max> (%d, %a)""",
        lambda x: np.concatenate(
            [np.stack([x[:, [e for e in range(12) if 2 * (e % 3) + e // 3 == place]].max(axis=1)
                       for place in range(8)], axis=1), x[:, 8:]], axis=1),
    ),
    "gemm of other views of its sums": (
        """%mma = cute.make_tiled_mma : !cute.tiled_mma<!cute_nvgpu.universal_fma<1x1x1, \
elem_type = (f32, f32, f32)>>
  %ld = cute.static : !cute.layout<"(1,4,2):(0,1,4)">
  %lc = cute.static : !cute.layout<"(1,4,2):(0,2,1)">
  %la = cute.static : !cute.layout<"(1,4,2):(0,0,1)">
  %lb = cute.static : !cute.layout<"(1,2,2):(0,1,1)">
  %d = cute.make_view(%r, %ld)
  %c = cute.make_view(%r, %lc)
  %a = cute.make_view(%r, %la)
  %b = cute.make_view(%r, %lb)
  cute.gemm(%mma, %d, %a, %b, %c)""",
        lambda x: np.concatenate(
            [np.stack([x[:, 2 * m + n] + x[:, 0] * x[:, n] + x[:, 1] * x[:, n + 1]
                       for n in range(2) for m in range(4)], axis=1), x[:, 8:]], axis=1),
    ),
}  # fmt: skip
SMALL = default_rng(2).integers(-9, 10, (32, 16)).astype(np.float32)


@pytest.mark.parametrize("op", OPS)
def test_registers_that_elements_share(op: str):
    body, wanted = OPS[op]
    text = kernel(f"%x: {ROWS}, %y: {ROWS}", f"{VIEWS}  {body}\n  cute.copy(%r, %to)")
    assert_array_equal(run(text, SMALL, np.zeros_like(SMALL))[1], wanted(SMALL))


@pytest.mark.parametrize("space", ["gmem", "smem"])
def test_memory_that_elements_share(space: str):
    """The last one stays of what a thread stores; a copy stores one of them."""
    into = "%to" if space == "gmem" else "%line"
    text = kernel(
        f"%x: {ROWS}, %y: {ROWS}",
        f"""{VIEWS}
  %s = cute.memref.alloc() : {memref("f32", "smem", "(32,16):(16,1)", 16)}
  %line = cute.slice(%s, %at)
  cute.fill({into}, %zero)
  %v = cute.memref.load_vec(%from)
  %view = cute.make_view({into}, %pairs)
  cute.memref.store_vec(%v, %view)
  %twice = cute.static : !cute.layout<"(2,12):(0,1)">
  %one = cute.make_view(%r, %twice)
  %other = cute.make_view({into}, %twice)
  cute.copy(%one, %other)
  cute.memref.store_vec(%v, %view)
  cute.copy({into}, %r)
  cute.copy(%r, %to)""",
    )
    wanted = SMALL.copy()
    wanted[:, :8], wanted[:, 12:] = SMALL[:, 8:], 0
    assert_array_equal(run(text, SMALL, np.zeros_like(SMALL))[1], wanted)


def test_a_copy_from_and_to_global_memory_stays_within_its_bounds():
    text = kernel(
        f"%x: {ROWS}, %y: {ROWS}",
        """
  %shape = cute.static : !cute.shape<"(32,16)">
  %limits = cute.static : !cute.shape<"(30,5)">
  %identity = cute.make_identity_tensor(%shape)
  %threads = cute.static : !cute.layout<"(32,1):(1,1)">
  %px = cute.local_partition(%x, %threads, %t)
  %py = cute.local_partition(%y, %threads, %t)
  %at = cute.local_partition(%identity, %threads, %t)
  cute.copy(%px, %py) bounds(%at, %limits)""",
    )
    wanted = np.ones_like(SMALL)
    wanted[:30, :5] = SMALL[:30, :5]
    assert_array_equal(run(text, SMALL, np.ones_like(SMALL))[1], wanted)


WGMMA = (
    "!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x8x16, elem_type = (f16, f16, f32), "
    "ab_major = (k, k), frag_kind = ss>>"
)


def test_wgmmas_add_to_one_block_of_their_sums():
    """A's rows count twice, and c is the first 64 rows of d for the other 64 as well."""
    swizzled = "S<3,3,3> o 0 o"
    text = kernel(
        f"%a: {memref('f16', 'gmem', '(64,64):(64,1)', 16)}, "
        f"%b: {memref('f16', 'gmem', '(8,64):(64,1)', 16)}, "
        f"%c: {memref('f32', 'gmem', '(128,8):(8,1)', 16)}",
        f"""
  %mma = cute.make_tiled_mma : {WGMMA}
  %sa = cute.memref.alloc() : {memref("f16", "smem", f"{swizzled} (64,64):(64,1)", 1024)}
  %sb = cute.memref.alloc() : {memref("f16", "smem", f"{swizzled} (8,64):(64,1)", 1024)}
  %threads = cute.static : !cute.layout<"(8,16):(16,1)">
  %ga = cute.local_partition(%a, %threads, %t)
  %gb = cute.local_partition(%b, %threads, %t)
  %ha = cute.local_partition(%sa, %threads, %t)
  %hb = cute.local_partition(%sb, %threads, %t)
  cute.copy(%ga, %ha)
  cute.copy(%gb, %hb)
  cute_nvgpu.fence.proxy.async
  {BARRIER}
  %twice = cute.static : !cute.composed_layout<"{swizzled} ((64,2),64):((64,0),1)">
  %rows = cute.make_view(%sa, %twice)
  %pa = cute.tiled.mma.partition A (%mma, %rows, %t)
  %pb = cute.tiled.mma.partition B (%mma, %sb, %t)
  %pc = cute.tiled.mma.partition C (%mma, %c, %t)
  %fa = cute.mma.make_fragment A (%mma, %pa)
  %fb = cute.mma.make_fragment B (%mma, %pb)
  %fc = cute.mma.make_fragment C (%mma, %pc)
  cute.copy(%pc, %fc)
  %one = cute.static : !cute.layout<"((2,2),(1,2),1):((1,2),(0,0),0)">
  %start = cute.make_view(%fc, %one)
  cute_nvgpu.wgmma.fence
  cute.gemm(%mma, %fc, %fa, %fb, %start)
  cute_nvgpu.wgmma.commit_group
  cute_nvgpu.wgmma.wait_group 0
  cute.copy(%fc, %pc)""",
        threads=128,
    )
    rng = default_rng(3)
    a, b, c = (rng.integers(-3, 4, shape) for shape in ((64, 64), (8, 64), (128, 8)))
    args = a.astype(np.float16), b.astype(np.float16), c.astype(np.float32)
    wanted = np.tile(a @ b.T + c[:64], (2, 1))
    assert_array_equal(run(text, *args, threads=128)[2], wanted)


@at_levels(*LEVELS)
def test_threads_that_share_elements_race(level: str):
    """Thread t writes elements t to t + 3 of shared memory, be it the same number."""
    text = kernel(
        "",
        f"""
  %s = cute.memref.alloc() : {memref("f32", "smem", "(32,4):(1,1)")}
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %mine = cute.slice(%s, %at)
  cute.fill(%mine, %zero)""",
    )
    with pytest.raises((tw.ExecutionError, tw.CompileError), match="no barrier"):
        tw.interpret(text, args=[], grid=(1,), block=(32,), arch="sm_90a", level=level)


# Strides that are known when the kernel runs


def test_two_values_for_one_place_are_an_error_of_the_copy():
    text = kernel(
        f"%x: {ROWS}, %y: {memref('f32', 'gmem', '(?,16):(?{i64},1)')}",
        """
  %first = arith.cmpi eq, %t, %c0 : i32
  scf.if %first {
    %rows = cute.static : !cute.shape<"(4,16)">
    %at = cute.make_coord(%c0, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
    %a = cute.local_tile(%x, %rows, %at)
    %b = cute.local_tile(%y, %rows, %at)
    cute.copy(%a, %b)
  }""",
    )
    one = as_strided(np.zeros(16, np.float32), (4, 16), (0, 4))
    with pytest.raises(tw.ExecutionError, match="one value for elements that lie in one place"):
        tw.interpret(text, grid=(1,), block=(32,), args=[SMALL, one], arch="sm_90a")
    same = np.broadcast_to(SMALL[0], SMALL.shape).copy()
    assert run(text, same, one)[1].tolist() == same[:4].tolist()


def boxes(way: str) -> str:
    gmem = memref("i32", "gmem", "(?,?):(?{i64 div=4},1)", 16)
    layout = "(4,32):(32,1)"
    return kernel(
        f"%x: {gmem}, %y: {gmem}",
        f"""
  %in, %mx = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[4;32]", smem = "{layout}"> (%x)
  %out, %my = cute.make_tma_copy<#cute_nvgpu.tma<{way}>, tile = "[4;32]", smem = "{layout}"> (%y)
  %tiler = cute.static : !cute.shape<"(4,32)">
  %c = cute.make_coord(%c0, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
  %gx = cute.local_tile(%mx, %tiler, %c)
  %gy = cute.local_tile(%my, %tiler, %c)
  %s = cute.memref.alloc() : {memref("i32", "smem", layout, 128)}
  %pipe = cute.pipeline.create() : !cute.pipeline<tma, stages = 1, producers = 1, consumers = 1, \
bytes = 512>
{BOXES_LOADED}{BOXES_STORED}""",
    )


@pytest.mark.parametrize("step", [0, 4], ids=["one row", "windows"])
def test_boxes_of_rows_that_overlap(step: int):
    """A load takes any strides; what stores and reductions write lies apart."""
    line = np.arange(64, dtype=np.int32)
    overlapping = as_strided(line, (4, 32), (4 * step, 4))
    out = np.ones((4, 32), np.int32)
    assert_array_equal(run(boxes("store"), overlapping, out)[1], overlapping)
    assert_array_equal(run(boxes("reduce, add"), overlapping, out)[1], overlapping + 1)
    for way in ("store", "reduce, add"):
        for level in LEVELS:
            with pytest.raises(tw.ExecutionError, match="writes two elements to one place"):
                launch: dict[str, Any] = {"grid": (1,), "block": (32,), "arch": "sm_90a"}
                tw.interpret(boxes(way), args=[out, overlapping], level=level, **launch)


def test_registers_that_are_every_operand_of_a_product():
    """Each operand has a layout of its own, and so have the two products."""
    mma = "!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f16)>>"
    row = memref("f16", "gmem", "(32,8):(8,1)", 16)
    text = kernel(
        f"%x: {row}, %y: {row}",
        f"""
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %from = cute.slice(%x, %at)
  %to = cute.slice(%y, %at)
  %r = cute.memref.alloca() : !cute.memref<f16, rmem, "8:1">
  cute.copy(%from, %r)
  %mma = cute.make_tiled_mma : {mma}
  %la = cute.static : !cute.layout<"(8,1,1):(1,0,0)">
  %lb = cute.static : !cute.layout<"(4,1,1):(1,0,0)">
  %a = cute.make_view(%r, %la)
  %b = cute.make_view(%r, %lb)
  scf.for %i = %c0 to %c2 step %c1 : i32 {{
    cute.gemm(%mma, %b, %a, %b, %b)
  }}
  cute.copy(%r, %to)""",
    )
    x = default_rng(5).integers(0, 2, (32, 8)).astype(np.float16)
    found = run(text, x, np.zeros_like(x))[1]
    atom = parse("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")
    (am, ak), (bn, bk), (m, n) = (np.moveaxis(atom.coords(o), -1, 0) for o in ("A", "B", "C"))
    wanted = x.astype(np.float64)
    for _ in range(2):
        a, b, c = np.zeros((16, 16)), np.zeros((8, 16)), np.zeros((16, 8))
        a[am, ak], b[bn, bk], c[m, n] = wanted, wanted[:, :4], wanted[:, :4]
        wanted[:, :4] = (c + a @ b.T)[m, n]
    assert_array_equal(found, wanted.astype(np.float16))
