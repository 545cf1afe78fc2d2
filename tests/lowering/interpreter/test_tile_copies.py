"""Copies of the tile level: every instruction, between all spaces, within bounds."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tile_kernels import kernel, run
from tile_levels import memref, numbers

import tilewright as tw

DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8}


def test_threads_copy_by_themselves_through_any_layouts():
    """Element by element: a column-major matrix to a row-major one."""
    text = kernel(
        f"%x: {memref('f32', 'gmem', '(32,(2,3)):(1,(32,64))')}, "
        f"%y: {memref('f32', 'gmem', '(32,6):(6,1)')}",
        """
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %from = cute.slice(%x, %at)
  %to = cute.slice(%y, %at)
  %held = cute.make_fragment_like(%from)
  cute.copy(%from, %held)
  cute.copy(%held, %to)""",
    )
    x = numbers((3, 2, 32)).transpose(2, 1, 0)
    found = run(text, x, np.zeros((32, 6), np.float32), lowered=True)[1]
    np.testing.assert_array_equal(found, x.transpose(0, 2, 1).reshape(32, 6))


# Bounds

TILED = """
  %copy = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<{instruction}>, \
layout_tv = "((8,4),8):((1,64),8)", tiler_mn = "[8;32]">
  %shape = cute.get_shape(%x)
  %identity = cute.make_identity_tensor(%shape)
  %tiler = cute.static : !cute.shape<"(8,32)">
  %c = cute.make_coord(%block, %c0) : (i32, i32) -> !cute.coord<"(?,?)">
  %gx = cute.local_tile(%x, %tiler, %c)
  %gy = cute.local_tile(%y, %tiler, %c)
  %gc = cute.local_tile(%identity, %tiler, %c)
  %from = cute.tiled.copy.partition_S(%copy, %gx, %t)
  %to = cute.tiled.copy.partition_D(%copy, %gy, %t)
  %at = cute.tiled.copy.partition_S(%copy, %gc, %t)
"""
OPEN = memref("f16", "gmem", "(?,?):(?{div=8},1)", align=16)


def test_the_hull_is_not_read():
    """Where nothing is in bounds, an address may be anything."""
    text = kernel(
        f"%x: {OPEN}, %y: {OPEN}",
        TILED.replace("(%block, %c0)", "(%c8, %c0)").format(instruction="universal, f16, 128")
        + """
  %held = cute.make_fragment_like(%from)
  cute.copy(%copy, %from, %held) bounds(%at, %shape)""",
    )
    run(text, numbers((8, 32), np.float16), np.zeros((8, 32), np.float16))
    with pytest.raises(tw.ExecutionError, match="read out of bounds") as error:
        run(
            text.replace(" bounds(%at, %shape)", ""),
            numbers((8, 32), np.float16),
            np.zeros((8, 32), np.float16),
        )
    places, window = str(error.value).splitlines()[-2:]
    assert re.fullmatch(
        r"note: there %from = gmem from element \d+ on, %held = rmem from .* on", places
    )
    assert re.match(r"note: 'x' has .* in bytes \d+ to 511 of 512, byte \d+ is outside", window)
