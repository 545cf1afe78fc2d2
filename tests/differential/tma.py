"""Programs that move tiles by TMA: loaded, changed by the threads, stored or reduced."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from draw import Draw
from program import Expected, Program
from tile_levels import BARRIER, kernel, memref

DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "i32": np.int32,
}  # fmt: skip
REDUCED = {"f16": ("add", "min", "max"), "bf16": ("add", "min", "max"), "f32": ("add",),
           "i32": ("add",)}  # fmt: skip
LAWS = {"add": np.add, "min": np.minimum, "max": np.maximum}


def tma(draw: Draw) -> Program:
    """Tiles of one box or more, in every swizzle, over the edges of a matrix."""
    element = draw.pick(tuple(DTYPES))
    width = np.dtype(DTYPES[element]).itemsize
    rows, (columns, layout) = 16 * draw.number(1, 3), (0, "")
    columns, layout = _shared(draw, rows, width)
    reduction = draw.pick(REDUCED[element]) if element in REDUCED and draw.chance(50) else None
    negates = draw.chance(50) and element != "i32"
    tiles = draw.number(1, 2), draw.number(1, 2)
    extents = draw.number(1, tiles[0] * rows), draw.number(1, tiles[1] * columns)
    per_chunk = 16 // width
    gmem = memref(element, "gmem", f"(?,?):(?{{i64 div={per_chunk}}},1)", 16)
    way = "store" if reduction is None else f"reduce, {reduction}"
    copies = [
        f"%{name}, %m{tensor} = cute.make_tma_copy<#cute_nvgpu.tma<{kind}>, "
        f'tile = "[{rows};{columns}]", smem = "{layout}"> (%{tensor})'
        for name, tensor, kind in (("in", "x", "load"), ("out", "y", way))
    ]
    text = kernel(
        f"%x: {gmem}, %y: {gmem}",
        _body(copies, memref(element, "smem", layout, 1024), (rows, columns),
              rows * columns * width, _negation(element, rows * columns) if negates else ""),
    )  # fmt: skip
    rng, dtype = draw.generator(), DTYPES[element]
    pitch = -(-extents[1] // per_chunk) * per_chunk
    x, y = (rng.integers(-9, 10, (extents[0], pitch)).astype(dtype)[:, : extents[1]]
            for _ in range(2))  # fmt: skip
    moved = -x if negates else x
    expected = moved if reduction is None else LAWS[reduction](y, moved)
    return Program(text, [x, y], 32, {1: Expected(expected)}, tiles)


def _shared(draw: Draw, rows: int, width: int) -> tuple[int, str]:
    """Columns, and how the tile lies in shared memory."""
    swizzle, boxes = draw.pick((3, 2, 1, 0)), draw.pick((1, 2, 3))
    inner = (16 << swizzle) // width
    if not swizzle:
        columns = inner * draw.number(1, 4)
        return columns, f"({rows},{columns}):({columns},1)"
    base = 4 - (width.bit_length() - 1)
    shape = f"({rows},({inner},{boxes})):({inner},(1,{rows * inner}))"
    if boxes == 1:
        shape = f"({rows},{inner}):({inner},1)"
    return inner * boxes, f"S<{swizzle},{base},3> o 0 o {shape}"


def _negation(element: str, size: int) -> str:
    """Every thread negates its elements of the tile."""
    return f"""
  %threads = cute.static : !cute.layout<"(16,2):(1,16)">
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
