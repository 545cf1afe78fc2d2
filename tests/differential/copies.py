"""Programs of tiled copies: a tile there and back, between any layouts, within bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from draw import Draw
from program import Expected, Program
from tile_levels import BARRIER, kernel, memref

BITS = {
    "f16": 16, "bf16": 16, "f32": 32, "f64": 64, "i8": 8, "i16": 16, "i32": 32, "i64": 64,
    "f8E4M3FN": 8, "f8E5M2": 8,
}  # fmt: skip
"""The elements whose copies lower, whatever their vectors and bounds."""
THREADS = 32


def bits_of(element: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Raw bits of an element type."""
    return rng.integers(0, 1 << BITS[element] - 1, shape, np.uint64).astype(
        f"u{BITS[element] // 8}"
    )


@dataclass(frozen=True)
class Tiling:
    """A tile of rows x columns that threads copy by vectors along the columns, or the rows."""

    element: str
    instruction: str
    vector: int
    threads: tuple[int, int]
    rows: int
    columns: int
    along_columns: bool
    rows_first: bool

    @classmethod
    def drawn(cls, draw: Draw, instructions: tuple[str, ...]) -> Tiling:
        element, instruction = draw.pick(tuple(BITS)), draw.pick(instructions)
        least = 32 if instruction == "cp_async" else BITS[element]
        bits = draw.pick([n for n in (8, 16, 32, 64, 128) if n >= least and n >= BITS[element]])
        vector = bits // BITS[element]
        down = draw.pick((1, 2, 4, 8, 16, 32))
        threads, along = (down, THREADS // down), not draw.chance(30)
        rows = down * (1 if along else vector) * draw.number(1, 3)
        columns = threads[1] * (vector if along else 1) * draw.number(1, 3)
        cache = ", cache = " + draw.pick(("ca", "cg") if bits == 128 else ("ca",))
        atom = f"{instruction}, {element}, {bits}{cache if instruction == 'cp_async' else ''}"
        return cls(element, atom, vector, threads, rows, columns, along, draw.chance(50))

    @property
    def copy(self) -> str:
        """The tiled copy's type."""
        down, right = self.threads
        if self.along_columns:
            tile, steps, inner = (down, right * self.vector), (1, self.vector * down), down
        else:
            tile = (down * self.vector, right)
            steps, inner = (self.vector, down * self.vector), 1
        pairs = [(down, steps[0]), (right, steps[1])]
        if not self.rows_first:
            pairs.reverse()
        (a, step_a), (b, step_b) = pairs
        return (
            f"!cute.tiled_copy<#cute_nvgpu.copy<{self.instruction}>, layout_tv = "
            f'"(({a},{b}),{self.vector}):(({step_a},{step_b}),{inner})", '
            f'tiler_mn = "[{tile[0]};{tile[1]}]">'
        )

    def shared(self, draw: Draw) -> str:
        """A layout in shared memory: padded or swizzled, contiguous along the vectors."""
        rows, columns = self.rows, self.columns
        along = columns if self.along_columns else rows
        base = self.vector.bit_length() - 1
        size = rows * columns
        swizzles = [
            (b, m, s)
            for b in (1, 2, 3)
            for m in range(base, base + 3)
            for s in (3, 4)
            if s >= b and size % (1 << (m + b + s)) == 0
        ]
        swizzle, pitch = "", along
        if swizzles and draw.chance(60):
            swizzle = "S<{},{},{}> o 0 o ".format(*draw.pick(swizzles))
        else:
            pitch += self.vector * draw.number(0, 3)
        strides = f"({pitch},1)" if self.along_columns else f"(1,{pitch})"
        return f"{swizzle}({rows},{columns}):{strides}"


def tiled_copies(draw: Draw) -> Program:
    """Global memory to registers or shared memory and back to global memory."""
    tiling = Tiling.drawn(draw, ("universal", "universal", "cp_async"))
    by_cp_async = tiling.instruction.startswith("cp_async")
    through_smem = by_cp_async or draw.chance(60)
    bounds_in, bounds_out = draw.chance(60), draw.chance(60)
    tiles = draw.number(1, 3), draw.number(1, 2)
    whole = tiles[0] * tiling.rows, tiles[1] * tiling.columns
    inside = whole
    if bounds_in or bounds_out:
        # By element along the vectors too: a run may lie partly inside.
        inside = draw.number(1, whole[0]), draw.number(1, whole[1])
    gmem = _global(tiling)
    text = kernel(
        f"%x: {gmem}, %y: {gmem}", _body(draw, tiling, through_smem, bounds_in, bounds_out)
    )
    rng = draw.generator()
    x = _array(draw, tiling, inside if bounds_in else whole, rng)
    y = _array(draw, tiling, inside if bounds_out else whole, rng)
    expected = y.copy()
    rows, columns = (min(a, b) for a, b in zip(x.shape, y.shape, strict=True))
    if bounds_in and not bounds_out:
        expected[:] = 0
    expected[:rows, :columns] = x[:rows, :columns]
    return Program(text, [x, y], THREADS, {1: Expected(expected)}, tiles, arch="sm_80")


def _global(tiling: Tiling) -> str:
    """Any extents; rows, or columns, that begin at whole vectors."""
    div = f"?{{i64 div={tiling.vector}}}" if tiling.vector > 1 else "?{i64}"
    strides = f"({div},1)" if tiling.along_columns else f"(1,{div})"
    return memref(tiling.element, "gmem", f"(?,?):{strides}", 16)


def _array(
    draw: Draw, tiling: Tiling, shape: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    order = shape if tiling.along_columns else shape[::-1]
    pitch = -(-order[1] // tiling.vector) * tiling.vector + tiling.vector * draw.number(0, 2)
    array = bits_of(tiling.element, (order[0], pitch), rng)[:, : order[1]]
    return array if tiling.along_columns else array.T


def _body(draw: Draw, tiling: Tiling, through_smem: bool, bounds_in: bool, bounds_out: bool) -> str:
    is_async = tiling.instruction.startswith("cp_async")
    plain = tiling.copy.replace(tiling.instruction, f"universal, {tiling.element}, "
                                f"{tiling.vector * BITS[tiling.element]}")  # fmt: skip
    inward, outward = (" bounds(%tc, %shape)" if on else "" for on in (bounds_in, bounds_out))
    outward = outward.replace("%shape", "%limits")
    if is_async:
        load = f"cute.copy(%copy, %tx, %ts){inward}"
        ready = "cute_nvgpu.cp.async.commit_group\n  cute_nvgpu.cp.async.wait_group 0"
    else:
        load, ready = f"cute.copy(%copy, %tx, %r){inward}", ""
    shared = memref(tiling.element, "smem", tiling.shared(draw), 128)
    if not through_smem:
        between = ""
    else:
        stored = "" if is_async else "cute.copy(%copy, %r, %ts)"
        between = f"{stored}\n  {ready}\n  {BARRIER}\n  cute.copy(%out, %ts, %r)"
    made = f"%s = cute.memref.alloc() : {shared}" if through_smem else ""
    target = "%s" if through_smem else "%gy"
    return f"""
  %copy = cute.make_tiled_copy : {tiling.copy}
  %out = cute.make_tiled_copy : {plain}
  %tiler = cute.static : !cute.shape<"({tiling.rows},{tiling.columns})">
  %bidy = "gpu.block_id"() <{{dimension = #gpu<dim y>}}> : () -> index
  %by = arith.index_cast %bidy : index to i32
  %c = cute.make_coord(%block, %by) : (i32, i32) -> !cute.coord<"(?,?)">
  %shape = cute.get_shape(%x)
  %limits = cute.get_shape(%y)
  %identity = cute.make_identity_tensor(%{"shape" if bounds_in else "limits"})
  %gx = cute.local_tile(%x, %tiler, %c)
  %gy = cute.local_tile(%y, %tiler, %c)
  %gc = cute.local_tile(%identity, %tiler, %c)
  {made}
  %tx = cute.tiled.copy.partition_S(%copy, %gx, %t)
  %tc = cute.tiled.copy.partition_S(%copy, %gc, %t)
  %ts = cute.tiled.copy.partition_D(%copy, {target}, %t)
  %ty = cute.tiled.copy.partition_D(%out, %gy, %t)
  %r = cute.make_fragment_like(%ts)
  {load}
  {between}
  cute.copy(%out, %r, %ty){outward}"""


# Matrices


def matrices(draw: Draw) -> Program:
    """ldmatrix to registers, whose elements are stored, and back by stmatrix; of rows that may all
    be one."""
    element, number, trans = draw.pick(("f16", "bf16")), draw.pick((1, 2, 4)), draw.chance(50)
    rows, pitch = 8 * number, 8 * draw.pick((1, 2, 3, 5))
    swizzle = f"S<{draw.pick((1, 2, 3))},3,3> o 0 o " if pitch == 8 and number == 4 else ""
    swizzle = "S<1,3,3> o 0 o " if swizzle and draw.chance(70) else ""
    smem = memref(element, "smem", f"{swizzle}({rows},8):({pitch},1)", 128)
    # What ldmatrix gives a thread: neighbours of a row, or of a column.
    layout = f"((4,8),(2,{number})):(({2 * rows},1),({rows},8))"
    if trans:
        layout = f"((4,8),(2,{number})):((2,{rows}),(1,8))"
    tiled = f'layout_tv = "{layout}", tiler_mn = "[{rows};8]"'
    word, one = ", trans" if trans else "", not swizzle and draw.chance(30)
    view = f"({rows},8):(0,1)" if one else f"({rows},8):({pitch},1)"
    seen = (
        ""
        if swizzle
        else f"""
  %rows = cute.static : !cute.layout<"{view}">
  %seen = cute.make_view(%s, %rows)"""
    )
    text = kernel(
        f"%x: {memref(element, 'gmem', f'({rows},8):(8,1)')}, "
        f"%y: {memref(element, 'gmem', f'(32,{2 * number}):({2 * number},1)')}, "
        f"%z: {memref(element, 'gmem', f'({rows},8):(8,1)')}",
        f"""
  %load = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<ldmatrix, {element}, \
x{number}{word}>, {tiled}>
  %store = cute.make_tiled_copy : !cute.tiled_copy<#cute_nvgpu.copy<stmatrix, {element}, \
x{number}{word}>, {tiled}>
  %s = cute.memref.alloc() : {smem}
  %s2 = cute.memref.alloc() : {smem}
  %first = arith.cmpi eq, %t, %c0 : i32
  scf.if %first {{
    cute.copy(%x, %s)
  }}
  {BARRIER}{seen}
  %from = cute.tiled.copy.partition_S(%load, {"%seen" if seen else "%s"}, %t)
  %into = cute.tiled.copy.partition_D(%load, %s, %t)
  %held = cute.make_fragment_like(%into)
  cute.copy(%load, %from, %held)
  %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
  %to = cute.slice(%y, %at)
  %v = cute.memref.load_vec(%held)
  cute.memref.store_vec(%v, %to)
  %dest = cute.tiled.copy.partition_D(%store, %s2, %t)
  cute.copy(%store, %held, %dest)
  {BARRIER}
  scf.if %first {{
    cute.copy(%s2, %z)
  }}""",
    )
    x = bits_of(element, (rows, 8), draw.generator())
    lane, value = np.arange(32)[:, None], np.arange(2 * number)[None]
    row, column = lane // 4, 2 * (lane % 4) + value % 2
    row, column = (column, row) if trans else (row, column)
    z = np.broadcast_to(x[0], x.shape) if one else x
    y = z[row + 8 * (value // 2), column]
    args = [x, np.zeros_like(y), np.zeros_like(x)]
    return Program(text, args, THREADS, {1: Expected(y), 2: Expected(z)})
