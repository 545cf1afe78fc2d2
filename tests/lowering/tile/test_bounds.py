"""Copies within bounds whose elements within are any of a run, at every level alike."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from run_levels import at_levels
from tile_levels import kernel, memref, run

import tilewright as tw

WAIT = """  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group 0
  cute.copy(%s, %y)"""


def moved(element: str, count: int, layout: str, shape: str, limits: str, atom: str = "") -> str:
    """Each thread's row of x to its row of y; `atom` is of a copy by instructions, and what it
    loads asynchronously goes through shared memory."""
    row = memref(element, "gmem", f"(32,{count}):({count},1)", 16)
    copier = f"%c = cute.make_tiled_copy : !cute.tiled_copy<{atom}>" if atom else ""
    to, wait = ("%vs", WAIT) if "cp_async" in atom else ("%vy", "")
    return kernel(
        f"%gx: {row}, %gy: {row}",
        f"""
  %own = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %x = cute.slice(%gx, %own)
  %y = cute.slice(%gy, %own)
  %shared = cute.memref.alloc() : {row.replace("gmem", "smem")}
  %s = cute.slice(%shared, %own)
  {copier}
  %l = cute.static : !cute.layout<"{layout}">
  %vx = cute.make_view(%x, %l)
  %vy = cute.make_view(%y, %l)
  %vs = cute.make_view(%s, %l)
  %shape = cute.static : !cute.shape<"{shape}">
  %at = cute.make_identity_tensor(%shape)
  %limits = cute.static : !cute.shape<"{limits}">
  cute.copy({"%c, " if atom else ""}%vx, {to}) bounds(%at, %limits)
{wait}""",
    )


BY_FOUR = '#cute_nvgpu.copy<{}, f32, 128>, layout_tv = "(32,4):(4,1)", tiler_mn = "[128]"'
CASES = {
    "plain": ("(2,4):(1,2)", "(2,4)", "(1,3)", ""),
    "the second dimension alone": ("(2,4):(1,2)", "(2,4)", "(2,3)", ""),
    "128 bits": ("((2,2),2):((1,2),4)", "((2,2),2)", "((1,2),2)", BY_FOUR.format("universal")),
    "cp.async": (
        "((2,2),2):((1,2),4)", "((2,2),2)", "((1,2),1)",
        BY_FOUR.format("cp_async").replace("128>", "128, cache = cg>", 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_elements_within_bounds_are_moved_wherever_they_are(name: str):
    layout, shape, limits, atom = CASES[name]
    x = np.arange(1, 257, dtype=np.float32).reshape(32, 8)
    extents, most = (
        [int(n) for n in text.replace("(", "").replace(")", "").split(",")]
        for text in (shape, limits)
    )
    within = np.ones(extents, np.bool_)
    for axis, place in enumerate(np.indices(extents)):
        within &= place < most[axis]
    wanted = np.where(within.ravel(order="F"), x, 0)
    found = run(moved("f32", 8, layout, shape, limits, atom), x, np.zeros_like(x))[1]
    assert_array_equal(found, wanted)


ASYNC = (
    "#cute_nvgpu.copy<cp_async, {}, {}, cache = ca>, "
    'layout_tv = "(32,{}):({},1)", tiler_mn = "[{}]"'
)


def test_cp_async_within_half_a_register_of_packed_elements():
    """Ten of 16 elements of four bits: five bytes."""
    atom = ASYNC.format("ui4", 64, 16, 16, 512)
    x = np.full((32, 8), 0x21, np.uint8)
    text = moved("ui4", 16, "(16,1):(1,0)", "(16,1)", "(10,1)", atom)
    found = run(text, x, np.zeros_like(x))[1]
    assert_array_equal(found, np.where(np.arange(8) < 5, x, 0))


@at_levels("tile", "ptx")
@pytest.mark.parametrize(
    "element, dtype, count, case, rule",
    [
        ("ui4", np.uint8, 16, ("(16,1):(1,0)", "(16,1)", "(9,1)", (64, 16, 16, 512)),
         "elements of 4 bits fill whole bytes; nearest legal: limits that are multiples of 2"),
        ("f16", np.float16, 8, ("((2,2),2):((1,2),4)", "((2,2),2)", "((1,2),2)", (64, 4, 4, 128)),
         "elements of 16 bits are the first ones of each cp.async"),
    ],
)  # fmt: skip
def test_what_no_cp_async_reads(
    level: str, element: str, dtype: type, count: int, case: tuple, rule: str
):
    layout, shape, limits, sizes = case
    text = moved(element, count, layout, shape, limits, ASYNC.format(element, *sizes))
    x = np.zeros((32, count // 2 if dtype is np.uint8 else count), dtype)
    with pytest.raises((tw.CompileError, tw.ExecutionError), match=rule):
        tw.interpret(text, args=[x, x.copy()], level=level, grid=(1,), block=(32,), arch="sm_90a")
