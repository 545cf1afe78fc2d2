"""Programs that move tiles by TMA: loaded, changed by the threads, stored or reduced."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from draw import Draw
from numpy.lib.stride_tricks import as_strided
from program import Expected, Program, Refused
from tile_levels import BARRIER, kernel, memref

DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "i32": np.int32,
}  # fmt: skip
REDUCED = {"f16": ("add", "min", "max"), "bf16": ("add", "min", "max"), "f32": ("add",),
           "i32": ("add",)}  # fmt: skip
LAWS = {"add": np.add, "min": np.minimum, "max": np.maximum}


def tma(draw: Draw) -> Program | Refused:
    """Tiles of one box or more, in every swizzle, over the edges of a matrix, rows in either mode;
    of rows that are one, or overlap, and to rows of shared memory with gaps."""
    element = draw.pick(tuple(DTYPES))
    width = np.dtype(DTYPES[element]).itemsize
    rows = 16 * draw.number(1, 3)
    order = slice(None, None, -1) if draw.chance(30) else slice(None)
    columns, gap, layout = _shared(draw, rows, width, order)
    reduction = draw.pick(REDUCED[element]) if element in REDUCED and draw.chance(50) else None
    negates = draw.chance(50) and element != "i32"
    tiles = draw.number(1, 2), draw.number(1, 2)
    extents = draw.number(1, tiles[0] * rows), draw.number(1, tiles[1] * columns)
    per_chunk = 16 // width
    steps, tile = (f"?{{i64 div={per_chunk}}}", "1")[order], (rows, columns)[order]
    gmem = memref(element, "gmem", f"(?,?):({','.join(steps)})", 16)
    way = "store" if reduction is None else f"reduce, {reduction}"
    copies = [
        f"%{name}, %m{tensor} = cute.make_tma_copy<#cute_nvgpu.tma<{kind}>, "
        f'tile = "[{tile[0]};{tile[1]}]", smem = "{layout}"> (%{tensor})'
        for name, tensor, kind in (("in", "x", "load"), ("out", "y", way))
    ]
    text = kernel(
        f"%x: {gmem}, %y: {gmem}",
        _body(copies, memref(element, "smem", layout, 1024), tile,
              rows * columns * width, _negation(element, rows * columns, order) if negates else ""),
    )  # fmt: skip
    rng, dtype = draw.generator(), DTYPES[element]
    pitch = -(-extents[1] // per_chunk) * per_chunk
    x, y = (rng.integers(-9, 10, (extents[0], pitch)).astype(dtype)[:, : extents[1]]
            for _ in range(2))  # fmt: skip
    if draw.chance(40):
        # Rows that are one, or windows of a line.
        step = draw.pick((0, 16))
        line = rng.integers(-9, 10, extents[0] * per_chunk + pitch).astype(dtype)
        x = as_strided(line, extents, (step, width))
    moved = -x if negates else x
    expected = moved if reduction is None else LAWS[reduction](y, moved)
    if order.step:
        x, y, expected = x.T, y.T, expected.T
    program = Program(text, [x, y], 32, {1: Expected(expected)}, tiles[order])
    if gap * width % 128 == 0:
        return program
    return Refused(program, "expected boxes that start at multiples of 128 bytes")


def _shared(draw: Draw, rows: int, width: int, order: slice) -> tuple[int, int, str]:
    """Columns, how far boxes of one row are apart, or 0, and how the tile lies in shared memory, of
    rows and columns in an order."""

    def layout(shape: tuple[object, object], stride: tuple[object, object]) -> str:
        return ":".join(f"({','.join(map(str, modes[order]))})" for modes in (shape, stride))

    swizzle, boxes = draw.pick((3, 2, 1, 0)), draw.pick((1, 2, 3))
    inner = (16 << swizzle) // width
    if not swizzle:
        columns = inner * draw.number(1, 4)
        gap = inner * draw.pick((0, 0, 1, 2, 8))
        pitch = columns + gap
        return columns, pitch if gap else 0, layout((rows, columns), (pitch, 1))
    base = 4 - (width.bit_length() - 1)
    plain = layout((rows, f"({inner},{boxes})"), (inner, f"(1,{rows * inner})"))
    if boxes == 1:
        plain = layout((rows, inner), (inner, 1))
    return inner * boxes, 0, f"S<{swizzle},{base},3> o 0 o {plain}"


def _negation(element: str, size: int, order: slice) -> str:
    """Every thread negates its elements of the tile."""
    threads, steps = ("16", "2")[order], ("1", "16")[order]
    return f"""
  %threads = cute.static : !cute.layout<"({",".join(threads)}):({",".join(steps)})">
  %own = cute.local_partition(%s, %threads, %t)
  %r = cute.make_fragment_like(%own)
  cute.copy(%own, %r)
  %v = cute.memref.load_vec(%r)
  %w = arith.negf %v : vector<{size // 32}x{element}>
  cute.memref.store_vec(%w, %r)
  cute.copy(%r, %own)
  cute_nvgpu.fence.proxy.async"""


def _body(copies: list[str], tile: str, shape: tuple[int, int], size: int, change: str) -> str:
    return f"""
  {copies[0]}
  {copies[1]}
  %tiler = cute.static : !cute.shape<"({shape[0]},{shape[1]})">
  %bidy = "gpu.block_id"() <{{dimension = #gpu<dim y>}}> : () -> index
  %by = arith.index_cast %bidy : index to i32
  %c = cute.make_coord(%block, %by) : (i32, i32) -> !cute.coord<"(?,?)">
  %gx = cute.local_tile(%mx, %tiler, %c)
  %gy = cute.local_tile(%my, %tiler, %c)
  %s = cute.memref.alloc() : {tile}
  %pipe = cute.pipeline.create() : !cute.pipeline<tma, stages = 1, producers = 1, consumers = 1, \
bytes = {size}>
  %first = arith.cmpi eq, %t, %c0 : i32
  scf.if %first {{
    cute.pipeline.producer_acquire(%pipe, %c0)
    cute.copy(%in, %gx, %s) pipeline %pipe[%c0]
    cute.pipeline.producer_commit(%pipe, %c0)
  }}
  cute.pipeline.consumer_wait(%pipe, %c0){change}
  {BARRIER}
  scf.if %first {{
    cute.copy(%out, %s, %gy)
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0
  }}"""
