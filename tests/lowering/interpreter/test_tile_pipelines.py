"""Pipelines and TMA copies of the tile level, and what goes wrong without their waits."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from run_levels import at_levels
from tile_kernels import kernel, run
from tile_levels import BARRIER, memref, numbers

import tilewright as tw

# cp.async: every thread copies and reads its own part, and that of its neighbour

ROWS = memref("f32", "gmem", "(64,?):(?{div=4},1)", 16)
ASYNC = f"""
  %copy = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f32, 128, \
cache = cg>, layout_tv = "(64,4):(1,64)", tiler_mn = "[64;4]">
  %s = cute.memref.alloc() : {memref("f32", "smem", "(64,4,3):(4,1,256)", 128)}
  %pipe = cute.pipeline.create() : !cute.pipeline<cp_async, stages = 3>
  %tiler = cute.static : !cute.shape<"(64,4)">
  %row = cute.static : !cute.coord<"(0,_)">
  %shape = cute.get_shape(%x)
  %identity = cute.make_identity_tensor(%shape)
  %gx = cute.local_tile(%x, %tiler, %row)
  %gc = cute.local_tile(%identity, %tiler, %row)
  %from = cute.tiled.copy.partition_S(%copy, %gx, %t)
  %into = cute.tiled.copy.partition_D(%copy, %s, %t)
  %where = cute.tiled.copy.partition_S(%copy, %gc, %t)
  %count = cute.size<[3]> (%from)
  %tiles = cute.get_scalars(%count) : !cute.int_tuple<"?">
  %c3 = arith.constant 3 : i32
  %next = arith.xori %t, %c1 : i32
  %sum = cute.memref.alloca() : {memref("f32", "rmem", "4:1")}
  cute.fill(%sum, %zero)
  scf.for %i = %c0 to %c2 step %c1 : i32 {{
    %tile = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,_,?)">
    %a = cute.slice(%from, %tile)
    %b = cute.slice(%into, %tile)
    %c = cute.slice(%where, %tile)
    cute.copy(%copy, %a, %b) bounds(%c, %shape)
    cute.pipeline.producer_commit(%pipe, %i)
  }}
  scf.for %i = %c0 to %tiles step %c1 : i32 {{
    cute.pipeline.consumer_wait(%pipe, %i)
    %ahead = arith.addi %i, %c2 : i32
    %tile = cute.make_coord(%ahead) : (i32) -> !cute.coord<"(_,_,_,?)">
    %stage = cute.pipeline.stage(%pipe, %ahead)
    %free = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
    %a = cute.slice(%from, %tile)
    %b = cute.slice(%into, %free)
    %c = cute.slice(%where, %tile)
    cute.pipeline.producer_acquire(%pipe, %ahead)
    cute.copy(%copy, %a, %b) bounds(%c, %shape)
    cute.pipeline.producer_commit(%pipe, %ahead)
    %now = cute.pipeline.stage(%pipe, %i)
    %there = cute.make_coord(%next, %now) : (i32, i32) -> !cute.coord<"(?,_,?)">
    %theirs = cute.slice(%s, %there)
    %v = cute.memref.load_vec(%theirs)
    %w = cute.memref.load_vec(%sum)
    %u = arith.addf %v, %w : vector<4xf32>
    cute.memref.store_vec(%u, %sum)
    cute.pipeline.consumer_release(%pipe, %i)
  }}
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %to = cute.slice(%y, %at)
  cute.copy(%sum, %to)"""
RESULT = memref("f32", "gmem", "(64,4):(4,1)")
OVER_STAGES = kernel(f"%x: {ROWS}, %y: {RESULT}", ASYNC)


def over_stages(text: str, columns: int = 28, **launch: Any) -> np.ndarray:
    args = numbers((64, columns)), np.zeros((64, 4), np.float32)
    return run(text, *args, threads=64, arch="sm_80", name="k.mlir", **launch)[1]


@pytest.mark.parametrize("tiles", [1, 2, 3, 7])
def test_stages_of_cp_async(tiles: int):
    x = numbers((64, 4 * tiles))
    expected = np.zeros((64, 4), np.float32)
    for tile in range(tiles):
        expected += x[np.arange(64) ^ 1, 4 * tile : 4 * tile + 4]
    found = over_stages(OVER_STAGES, 4 * tiles, lowered=True)
    assert_array_equal(found, expected)


def line_of(text: str, words: str, which: int = 0) -> int:
    """The line of the which-th op with these words."""
    found = [n for n, line in enumerate(text.splitlines(), 1) if words in line]
    return found[which]


def fault(text: str, execute: Any, op: str, which: int, *words: str) -> None:
    """Require an error at an op's line that says these words."""
    with pytest.raises(tw.ExecutionError) as caught:
        execute(text)
    message = str(caught.value)
    assert message.startswith(f"k.mlir:{line_of(text, op, which)}:"), message
    for each in words:
        assert re.search(each, message), message


def test_a_stage_that_is_not_waited_for():
    text = OVER_STAGES.replace("    cute.pipeline.consumer_wait(%pipe, %i)\n", "")
    line = line_of(text, "cute.copy(%copy, %a, %b)")
    fault(text, over_stages, "load_vec(%theirs)", 0,
          rf"'cute\.copy' at k\.mlir:{line} is still copying")  # fmt: skip


def test_copies_that_no_group_has():
    text = OVER_STAGES.replace("    cute.pipeline.producer_commit(%pipe, %i)\n", "")
    fault(text, over_stages, "load_vec(%theirs)", 0, "no cp.async.wait_group has completed it")


def test_a_stage_filled_too_early():
    """The tile after the next goes where others still read."""
    text = OVER_STAGES.replace("%stage = cute.pipeline.stage(%pipe, %ahead)",
                               "%stage = cute.pipeline.stage(%pipe, %i)")  # fmt: skip
    fault(text, over_stages, "load_vec(%theirs)", 0, "is still copying to")


def test_a_stage_read_by_others_without_a_barrier():
    """Waiting for one's own copies is not waiting for the neighbour's."""
    text = OVER_STAGES.replace(
        "    cute.pipeline.consumer_wait(%pipe, %i)\n", "    cute_nvgpu.cp.async.wait_group 1\n"
    ).replace("arith.xori %t, %c1", "arith.xori %t, %c32")
    text = text.replace("  %c3 = ", "  %c32 = arith.constant 32 : i32\n  %c3 = ")
    fault(text, over_stages, "load_vec(%theirs)", 0,
          r"race on shared memory: this read and the write by 'cute\.copy'")  # fmt: skip


# TMA: one warp copies, another one reads

TENSOR = memref("f16", "gmem", "(?,?):(?{div=8},1)", 16)
LOADS = f"""
  %load, %coords = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[32;64]", \
smem = "S<3,3,3> o 0 o (32,64):(64,1)"> (%x)
  %tiler = cute.static : !cute.shape<"(32,64)">
  %row = cute.make_coord(%block) : (i32) -> !cute.coord<"(?,_)">
  %gx = cute.local_tile(%coords, %tiler, %row)
  %gy = cute.local_tile(%y, %tiler, %row)
  %s = cute.memref.alloc() : {memref("f16", "smem", "S<3,3,3> o 0 o (32,64,2):(64,1,2048)", 1024)}
  %pipe = cute.pipeline.create() : !cute.pipeline<tma, stages = 2, producers = 1, \
consumers = 1, bytes = 4096>
  %count = cute.size<[2]> (%gx)
  %tiles = cute.get_scalars(%count) : !cute.int_tuple<"?">
  %c32 = arith.constant 32 : i32
  %shape = cute.get_shape(%y)
  %copies = arith.cmpi eq, %t, %c32 : i32
  %reads = arith.cmpi ult, %t, %c32 : i32
  scf.if %copies {{
    scf.for %i = %c0 to %tiles step %c1 : i32 {{
      %stage = cute.pipeline.stage(%pipe, %i)
      %tile = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,?)">
      %to = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,?)">
      %a = cute.slice(%gx, %tile)
      %b = cute.slice(%s, %to)
      cute.pipeline.producer_acquire(%pipe, %i)
      cute.copy(%load, %a, %b) pipeline %pipe[%i]
      cute.pipeline.producer_commit(%pipe, %i)
    }}
  }}
  scf.if %reads {{
    %identity = cute.make_identity_tensor(%shape)
    %gc = cute.local_tile(%identity, %tiler, %row)
    scf.for %i = %c0 to %tiles step %c1 : i32 {{
      %stage = cute.pipeline.stage(%pipe, %i)
      %mine = cute.make_coord(%t, %stage) : (i32, i32) -> !cute.coord<"(?,_,?)">
      %out = cute.make_coord(%t, %i) : (i32, i32) -> !cute.coord<"(?,_,?)">
      cute.pipeline.consumer_wait(%pipe, %i)
      %b = cute.slice(%s, %mine)
      %to = cute.slice(%gy, %out)
      %at = cute.slice(%gc, %out)
      %held = cute.make_fragment_like(%b)
      cute.copy(%b, %held)
      cute.pipeline.consumer_release(%pipe, %i)
      cute.copy(%held, %to) bounds(%at, %shape)
    }}
  }}"""
COPY = kernel(f"%x: {TENSOR}, %y: {TENSOR}", LOADS)


def copied(text: str, shape: tuple[int, int] = (40, 200), **launch: Any) -> np.ndarray:
    x = numbers((shape[0], -(-shape[1] // 8) * 8), np.float16)[:, : shape[1]]
    y = np.zeros((shape[0], -(-shape[1] // 8) * 8), np.float16)[:, : shape[1]]
    grid = (-(-shape[0] // 32),)
    return run(text, x, y, threads=64, grid=grid, arch="sm_90", name="k.mlir", **launch)[1]


@pytest.mark.parametrize("shape", [(32, 64), (32, 320), (40, 200), (1, 9), (33, 65)])
def test_tiles_copied_by_tma(shape: tuple[int, int]):
    expected = numbers((shape[0], -(-shape[1] // 8) * 8), np.float16)[:, : shape[1]]
    assert_array_equal(copied(COPY, shape, lowered=True), expected)


def test_tiles_of_a_column_major_tensor():
    """A box runs along the contiguous mode, whichever it is."""
    text = COPY.replace('"(?,?):(?{div=8},1)"', '"(?,?):(1,?{div=8})"')
    text = text.replace("[32;64]", "[64;32]").replace("(32,64):(64,1)", "(64,32):(1,64)")
    text = text.replace("(32,64,2):(64,1,2048)", "(64,32,2):(1,64,2048)")
    text = text.replace('!cute.shape<"(32,64)">', '!cute.shape<"(64,32)">')
    text = text.replace("(%t, %stage) : (i32, i32) -> !cute.coord<\"(?,_,?)\">",
                        "(%t, %stage) : (i32, i32) -> !cute.coord<\"(_,?,?)\">")  # fmt: skip
    text = text.replace("(%t, %i) : (i32, i32) -> !cute.coord<\"(?,_,?)\">",
                        "(%t, %i) : (i32, i32) -> !cute.coord<\"(_,?,?)\">")  # fmt: skip
    whole = np.asfortranarray(numbers((72, 70), np.float16))
    x, y = whole[:70], np.zeros((72, 70), np.float16, order="F")[:70]
    found = run(text, x, y, threads=64, grid=(2,), arch="sm_90", lowered=True)[1]
    assert_array_equal(found, x)


TMA_FAULTS: dict[str, tuple[str, str, str, int, str]] = {
    "no wait": ("      cute.pipeline.consumer_wait(%pipe, %i)\n", "", "cute.copy(%b, %held)", 0,
                r"this read and the write by 'cute\.copy' at k.mlir:34 are ordered by no wait for "
                "the mbarrier"),
    "no release": ("      cute.pipeline.consumer_release(%pipe, %i)\n", "",
                   "producer_acquire", 0, "deadlock: 1 threads wait for phase 0"),
    "no acquire": ("      cute.pipeline.producer_acquire(%pipe, %i)\n", "", "cute.copy(%load", 0,
                   r"this write and the write by 'cute\.copy' at k.mlir:33 are ordered by no wait"),
    "too many bytes": ("bytes = 4096", "bytes = 8192", "producer_acquire", 0, "deadlock"),
    "half a warp releases": (
        "      cute.pipeline.consumer_release(%pipe, %i)\n",
        "      %half = arith.cmpi ult, %t, %c8 : i32\n      scf.if %half {\n"
        "        cute.pipeline.consumer_release(%pipe, %i)\n      }\n",
        "consumer_release", 0, "needs all 32 threads of a warp, and 8 execute it"),
    "released before it is read": (
        "      cute.copy(%b, %held)\n      cute.pipeline.consumer_release(%pipe, %i)\n",
        "      cute.pipeline.consumer_release(%pipe, %i)\n      cute.copy(%b, %held)\n",
        "", 0, "race on shared memory"),
}  # fmt: skip


@pytest.mark.parametrize("case", TMA_FAULTS)
def test_faults_of_tma(case: str):
    before, after, op, which, words = TMA_FAULTS[case]
    assert before in COPY
    text = COPY.replace(before, after)
    if not op:
        with pytest.raises(tw.ExecutionError, match=words):
            copied(text)
        return
    fault(text, copied, op, which, words)


@at_levels("tile", "atom", "ptx")
def test_a_copy_by_tma_of_what_threads_wrote_under_another_name(level: Any):
    """The proxy of their stores is another one than that of the copy."""
    write = f"""  %seven = arith.constant 7.0 : f16
  %there = cute.make_coord(%c0, %t) : (i32, i32) -> !cute.coord<"(?,?)">
  cute.memref.store(%seven, %y, %there)
  FENCE
  {BARRIER}
  %copies ="""
    text = COPY.replace("  %copies =", write)
    array = numbers((32, 64), np.float16)
    launch: dict[str, Any] = {"threads": 64, "arch": "sm_90", "level": level}
    fenced = text.replace("FENCE", "cute_nvgpu.fence.proxy.async")
    x, y = run(fenced, array, array[:], **launch)
    assert (x[0] == 7).all() and (x[1:] == array[1:]).all() and (x == y).all()
    run(text.replace("FENCE", ""), array, array.copy(), **launch)
    with pytest.raises(tw.ExecutionError, match=r"reads by the async proxy what 'c?\w+.* no fence"):
        run(text.replace("FENCE", ""), array, array[:], **launch)


# Stores

STORES = f"""
  %store, %coords = cute.make_tma_copy<#cute_nvgpu.tma<KIND>, tile = "[32;32]", \
smem = "S<3,2,3> o 0 o (32,32):(32,1)"> (%y)
  %s = cute.memref.alloc() : {memref("f32", "smem", "S<3,2,3> o 0 o (32,32):(32,1)", 1024)}
  %tiler = cute.static : !cute.shape<"(32,32)">
  %cta = cute.make_coord(%block, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
  %to = cute.local_tile(%coords, %tiler, %cta)
  %gx = cute.local_tile(%x, %tiler, %cta)
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %mine = cute.slice(%s, %at)
  %from = cute.slice(%gx, %at)
  cute.copy(%from, %mine)
  cute_nvgpu.fence.proxy.async
  {BARRIER}
  %first = arith.cmpi eq, %t, %c0 : i32
  scf.if %first {{
    cute.copy(%store, %s, %to)
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }}"""
STORED = kernel(
    f"%x: {memref('f32', 'gmem', '(64,32):(32,1)')}, "
    f"%y: {memref('f32', 'gmem', '(?,?):(?{div=4},1)', 16)}",
    STORES,
)


def stored(text: str, kind: str, y: np.ndarray, **more: Any) -> np.ndarray:
    text = text.replace("KIND", kind)
    return run(text, numbers((64, 32)), y, grid=(2,), arch="sm_90", name="k.mlir", **more)[1]


@pytest.mark.parametrize("shape", [(64, 32), (40, 20), (1, 4)])
def test_tiles_stored_by_tma(shape: tuple[int, int]):
    found = stored(STORED, "store", np.ones(shape, np.float32), lowered=True)
    assert_array_equal(found, numbers((64, 32))[: shape[0], : shape[1]])


REDUCTIONS: dict[str, tuple[str, Any, Any]] = {
    "add": ("f32", np.float32, np.add),
    "max": ("f16", np.float16, np.maximum),
    "min": ("f16", np.float16, np.minimum),
    "inc": ("i32", np.uint32, lambda old, new: np.where(old >= new, np.uint32(0), old + 1)),
    "xor": ("i32", np.uint32, np.bitwise_xor),
}


@pytest.mark.parametrize("kind", REDUCTIONS)
def test_reductions_by_tma(kind: str):
    """Both CTAs combine tiles of their own with the tensor, at every level."""
    element, dtype, combine = REDUCTIONS[kind]
    text = STORED.replace("<f32,", f"<{element},").replace("KIND", f"reduce, {kind}")
    if element == "f16":
        text = text.replace("S<3,2,3>", "S<2,3,3>").replace("div=4", "div=8")
    whole = [numbers((64, 32)), numbers((40, 24), seed=7)]
    x, y = (each.astype(dtype) if element == "f16" else each.view(dtype) for each in whole)
    launch: dict[str, Any] = {"grid": (2,), "arch": "sm_90", "name": "k.mlir", "lowered": True}
    found = run(text, x, y.copy(), **launch)[1]
    assert found.tobytes() == combine(y, x[:40, :24]).astype(dtype).tobytes()


@pytest.mark.parametrize("left_out, words", [
    ("  cute_nvgpu.fence.proxy.async\n", "no fence.proxy.async of its thread follows it"),
    (f"  {BARRIER}\n", "are ordered by no barrier"),
    ("    cute_nvgpu.cp.async.bulk.wait_group 0\n", "ends the kernel while 'cute.copy'"),
])  # fmt: skip
def test_faults_of_stores(left_out: str, words: str):
    assert left_out in STORED
    with pytest.raises(tw.ExecutionError, match=words):
        stored(STORED.replace(left_out, ""), "store", np.ones((64, 32), np.float32))
