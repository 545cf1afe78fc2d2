"""Programs that reduce register tensors over modes and lanes, and compute on vectors of them."""

from __future__ import annotations

import numpy as np
from arithmetic import FLOATS
from draw import Draw
from program import Expected, Program
from tile_levels import kernel, memref

DTYPES: dict[str, np.dtype] = {
    **{name: np.dtype(FLOATS[name]) for name in ("f32", "f64", "f16", "bf16")},
    **{name: np.dtype(f"int{name[1:]}") for name in ("i8", "i16", "i32", "i64")},
}
LAWS = {"add": np.add, "max": np.maximum, "min": np.minimum}


def reductions(draw: Draw) -> Program:
    """Each thread's row of numbers that every order of adding leaves exact."""
    element, kind = draw.pick(tuple(DTYPES)), draw.pick(tuple(LAWS))
    extents = [draw.number(1, 4) for _ in range(draw.number(1, 3))]
    kept = [draw.chance(50) for _ in extents]
    lanes = [lane for lane in (1, 2, 4, 8, 16) if draw.chance(40)]
    size, count = int(np.prod(extents)), 1
    strides: list[int] = []
    for extent, keeps in zip(extents, kept, strict=True):
        strides.append(count if keeps else 0)
        count *= extent if keeps else 1
    shape = ",".join(map(str, extents))
    view = ",".join(str(int(np.prod(extents[:place]))) for place in range(len(extents)))
    sums = memref(element, "rmem", f"({shape}):({','.join(map(str, strides))})")
    over = f", [{', '.join(map(str, lanes))}]" if lanes else ""
    text = kernel(
        f"%x: {memref(element, 'gmem', f'(32,{size}):({size},1)')}, "
        f"%y: {memref(element, 'gmem', f'(32,{count}):({count},1)')}",
        f"""
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %from = cute.slice(%x, %at)
  %held = cute.make_fragment_like(%from)
  cute.copy(%from, %held)
  %layout = cute.static : !cute.layout<"({shape}):({view})">
  %view = cute.make_view(%held, %layout)
  %sums = cute.memref.alloca() : {sums}
  cute.reduce<{kind}{over}> (%view, %sums)
  %to = cute.slice(%y, %at)
  %line = cute.static : !cute.layout<"{count}:1">
  %row = cute.make_view(%sums, %line)
  cute.copy(%row, %to)""",
    )
    dtype = DTYPES[element]
    most = 1 if element == "bf16" else 9
    x = draw.generator().integers(-most, most + 1, (32, size)).astype(dtype)
    # Modes count from the left: the first one is the fastest.
    parts = x.reshape(32, *extents[::-1])
    axes = tuple(1 + len(extents) - 1 - i for i, keeps in enumerate(kept) if not keeps)
    law = LAWS[kind]
    result = law.reduce(parts, axis=axes).reshape(32, count) if axes else x.reshape(32, count)
    for lane in lanes:
        result = law(result, result[np.arange(32) ^ lane])
    args = [x, np.zeros((32, count), dtype)]
    return Program(text, args, 32, {1: Expected(result.astype(dtype))})
