"""Copies of the tile level: every instruction, between all spaces, within bounds."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from tile_kernels import BARRIER, kernel, memref, numbers, run

import tilewright as tw

DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8}


# One thread by itself


@pytest.mark.parametrize("element, bits", [
    ("f16", 16), ("f16", 32), ("f16", 128), ("f32", 32), ("f32", 64), ("f64", 128), ("i8", 128),
])  # fmt: skip
@pytest.mark.parametrize("space", ["smem", "rmem"])
def test_vectors(element: str, bits: int, space: str) -> None:
    """Through shared memory or registers, to the transpose of the tile's threads."""
    width = bits // (8 * np.dtype(DTYPES[element]).itemsize)
    columns = 4 * width
    rows = 8 * 2
    copy = (
        f"!cute.tiled_copy<#cute_nvgpu.copy<universal, {element}, {bits}>, "
        f'layout_tv = "((8,4),{width}):((1,{8 * width}),8)", tiler_mn = "[8;{columns}]">'
    )
    gmem = memref(element, "gmem", f"({rows},{columns}):({columns},1)", align=16)
    between = (
        "cute.make_fragment_like(%from)"
        if space == "rmem"
        else "cute.tiled.copy.partition_D(%copy, %tile, %t)"
    )
    text = kernel(
        f"%x: {gmem}, %y: {gmem}",
        f"""
  %copy = cute.make_tiled_copy : {copy}
  %tile = cute.memref.alloc() : {memref(element, "smem", f"({rows},{columns}):({columns},1)", 128)}
  %from = cute.tiled.copy.partition_S(%copy, %x, %t)
  %to = cute.tiled.copy.partition_D(%copy, %y, %t)
  %held = {between}
  cute.copy(%copy, %from, %held)
  cute.copy(%copy, %held, %to)""",
    )
    x = numbers((rows, columns)).astype(DTYPES[element])
    np.testing.assert_array_equal(run(text, x, np.zeros_like(x), lowered=True)[1], x)


def test_threads_copy_by_themselves_through_any_layouts() -> None:
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


@pytest.mark.parametrize("rows, columns", product((1, 7, 8, 11), (1, 8, 13, 31, 32)))
def test_loads_within_bounds_are_zeros_outside(rows: int, columns: int) -> None:
    text = kernel(
        f"%x: {OPEN}, %y: {OPEN}",
        TILED.format(instruction="universal, f16, 128")
        + """
  %held = cute.make_fragment_like(%from)
  cute.copy(%copy, %from, %held) bounds(%at, %shape)
  cute.copy(%copy, %held, %to)""",
    )
    stride = -(-columns // 8) * 8
    x = numbers((rows, stride), np.float16)[:, :columns]
    blocks = -(-rows // 8)
    y = np.ones((8 * blocks, 32), np.float16)
    found = run(text, x, y, grid=(blocks,), lowered=True)[1]
    expected = np.zeros_like(found)
    expected[:rows, :columns] = x
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rows, columns", product((1, 8, 11), (1, 8, 13, 32)))
def test_stores_within_bounds_leave_the_rest(rows: int, columns: int) -> None:
    text = kernel(
        f"%x: {OPEN}, %y: {OPEN}",
        TILED.format(instruction="universal, f16, 128")
        + """
  %limits = cute.get_shape(%y)
  %held = cute.make_fragment_like(%from)
  cute.copy(%copy, %from, %held)
  cute.copy(%copy, %held, %to) bounds(%at, %limits)""",
    )
    blocks = -(-rows // 8)
    x = numbers((8 * blocks, 32), np.float16)
    whole = np.ones((rows + 1, 40), np.float16)
    y = whole[:rows, :columns]
    found = run(text, x, y, grid=(blocks,), lowered=True)[1]
    np.testing.assert_array_equal(found, x[:rows, :columns])


@pytest.mark.parametrize("rows, columns", product((1, 8, 11), (1, 8, 13, 32)))
def test_cp_async_within_bounds(rows: int, columns: int) -> None:
    text = kernel(
        f"%x: {OPEN}, %y: {OPEN}",
        TILED.format(instruction="cp_async, f16, 128, cache = cg")
        + f"""
  %tile = cute.memref.alloc() : {memref("f16", "smem", "(8,32):(32,1)", 128)}
  %mine = cute.tiled.copy.partition_D(%copy, %tile, %t)
  cute.copy(%copy, %from, %mine) bounds(%at, %shape)
  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group 0
  %held = cute.make_fragment_like(%mine)
  cute.copy(%mine, %held)
  cute.copy(%held, %to)""",
    )
    stride = -(-columns // 8) * 8
    x = numbers((rows, stride), np.float16)[:, :columns]
    blocks = -(-rows // 8)
    y = np.ones((8 * blocks, 32), np.float16)
    found = run(text, x, y, grid=(blocks,), arch="sm_80", lowered=True)[1]
    expected = np.zeros_like(found)
    expected[:rows, :columns] = x
    np.testing.assert_array_equal(found, expected)


def test_the_hull_is_not_read() -> None:
    """Where nothing is in bounds, an address may be anything."""
    text = kernel(
        f"%x: {OPEN}, %y: {OPEN}",
        TILED.replace("(%block, %c0)", "(%c8, %c0)").format(instruction="universal, f16, 128")
        + """
  %held = cute.make_fragment_like(%from)
  cute.copy(%copy, %from, %held) bounds(%at, %shape)""",
    )
    run(text, numbers((8, 32), np.float16), np.zeros((8, 32), np.float16))
    with pytest.raises(tw.ExecutionError, match="read out of bounds"):
        run(
            text.replace(" bounds(%at, %shape)", ""),
            numbers((8, 32), np.float16),
            np.zeros((8, 32), np.float16),
        )


# Matrices: as the atom level moves them

MATRICES = [(number, trans) for number in (1, 2, 4) for trans in ("", ", trans")]


def tile_level_load(number: int, trans: str) -> str:
    """Each thread's part of `number` matrices of 8 x 8 below each other, read by ldmatrix."""
    rows = 8 * number
    atom = f"#cute_nvgpu.copy<ldmatrix, f16, x{number}{trans}>"
    # What ldmatrix gives a thread: neighbours of a row, or of a column.
    values = (f"(2,{number}):({rows},8)", f"(4,8):({2 * rows},1)")
    if trans:
        values = (f"(2,{number}):(1,8)", f"(4,8):(2,{rows})")
    value, thread = (each.split(":") for each in values)
    layout = f"({thread[0]},{value[0]}):({thread[1]},{value[1]})"
    smem = memref("f16", "smem", f"({rows},8):(8,1)", 128)
    return kernel(
        f"%x: {memref('f16', 'gmem', f'({rows},8):(8,1)')}, "
        f"%y: {memref('f16', 'gmem', f'(32,{2 * number}):({2 * number},1)')}",
        f"""
  %copy = cute.make_tiled_copy : !cute.tiled_copy<{atom}, layout_tv = "{layout}", \
tiler_mn = "[{rows};8]">
  %s = cute.memref.alloc() : {smem}
  %first = arith.cmpi eq, %t, %c0 : i32
  scf.if %first {{
    cute.copy(%x, %s)
  }}
  {BARRIER}
  %from = cute.tiled.copy.partition_S(%copy, %s, %t)
  %into = cute.tiled.copy.partition_D(%copy, %s, %t)
  %held = cute.make_fragment_like(%into)
  cute.copy(%copy, %from, %held)
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %to = cute.slice(%y, %at)
  %v = cute.memref.load_vec(%held)
  cute.memref.store_vec(%v, %to)""",
    )


def atom_level_load(number: int, trans: str) -> str:
    rows, count = 8 * number, 2 * number
    smem = f"memref<{rows}x8xf16, #cute<space smem>>"
    fragment = f"!cute_nvgpu.fragment<{count}xf16>"
    stores = "\n".join(
        f"""  %e{n} = cute_nvgpu.fragment.extract %f[{n}] : {fragment} -> f16
  %n{n} = arith.constant {n} : index
  memref.store %e{n}, %y[%tid, %n{n}] : memref<32x{count}xf16>"""
        for n in range(count)
    )
    modifier = " trans" if trans else ""
    return kernel(
        f"%x: memref<{rows}x8xf16>, %y: memref<32x{count}xf16>",
        f"""
  %s = memref.alloc() : {smem}
  %i0 = arith.constant 0 : index
  %i1 = arith.constant 1 : index
  %i8 = arith.constant 8 : index
  %rows = arith.constant {rows} : index
  %first = arith.cmpi eq, %t, %c0 : i32
  scf.if %first {{
    scf.for %i = %i0 to %rows step %i1 {{
      scf.for %j = %i0 to %i8 step %i1 {{
        %v = memref.load %x[%i, %j] : memref<{rows}x8xf16>
        memref.store %v, %s[%i, %j] : {smem}
      }}
    }}
  }}
  {BARRIER}
  %row = arith.remui %tid, %rows : index
  %f = cute_nvgpu.ldmatrix %s[%row, %i0]{modifier} : {smem} -> {fragment}
{stores}""",
    )


@pytest.mark.parametrize("number, trans", MATRICES)
def test_ldmatrix_moves_what_the_atom_does(number: int, trans: str) -> None:
    x = np.arange(64 * number, dtype=np.float16).reshape(-1, 8)
    args: list[Any] = [x, np.zeros((32, 2 * number), np.float16)]
    found = run(tile_level_load(number, trans), *args, arch="sm_80", lowered=True)[1]
    wanted = run(atom_level_load(number, trans), *args, arch="sm_80")[1]
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("number, trans", MATRICES)
def test_stmatrix_undoes_ldmatrix(number: int, trans: str) -> None:
    load = tile_level_load(number, trans)
    rows, atom = 8 * number, f"stmatrix, f16, x{number}{trans}"
    back = f"""
  %store = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<{atom}>, \
{load[load.index("layout_tv") : load.index("%s = ") - 3]}
  %s2 = cute.memref.alloc() : {memref("f16", "smem", f"({rows},8):(8,1)", 128)}
  %dest = cute.tiled.copy.partition_D(%store, %s2, %t)
  cute.copy(%store, %held, %dest)
  {BARRIER}
  scf.if %first {{
    cute.copy(%s2, %y)
  }}"""
    text = load[: load.index("  %at = cute.make_coord(%t)")] + back + "\n  func.return\n}"
    y = memref("f16", "gmem", f"({rows},8):(8,1)")
    text = text.replace(text[text.index("%y: ") : text.index(") attributes")], f"%y: {y}")
    x = np.arange(8 * rows, dtype=np.float16).reshape(rows, 8)
    np.testing.assert_array_equal(run(text, x, np.zeros_like(x), arch="sm_90", lowered=True)[1], x)
