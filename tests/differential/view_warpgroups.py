"""wgmmas on views that share elements: tiles of A and B in shared memory, fragments of A in
registers, and sums, each any number of tiles or fragments apart along any mode."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

import numpy as np
from draw import Draw
from program import Expected, Program, Refused
from tile_levels import BARRIER, kernel, memref

THREADS, ROWS, DEPTH, N, STEP = 128, 64, 64, 16, 16
"""A tile in shared memory has 64 rows, of which B takes 16, and the depth of four MMAs."""
TILES, FRAGMENTS = 4, 8
SUMS, FACTORS = ROWS * N // THREADS, ROWS * STEP // THREADS
"""The registers of a fragment of the sums and of A, a thread."""
SWIZZLE = "S<3,3,3> o 0 o"

WAIT = "cute_nvgpu.wgmma.wait_group 0"
Strides = tuple[int, ...]


def view_warpgroups(draw: Draw) -> Program | Refused:
    """Some products, each of views of the tiles, added to a view of the registers, which those
    before it may be in flight in."""
    rng = draw.generator()
    a, b = (rng.integers(-3, 4, (TILES, ROWS, DEPTH)).astype(np.float16) for _ in "ab")
    held = rng.integers(-3, 4, (FRAGMENTS, ROWS, STEP)).astype(np.float16)
    given = rng.integers(-9, 10, (FRAGMENTS, ROWS, N)).astype(np.float32)
    sums, lines, refused, flight = given.copy(), list[str](), None, Flight()
    for number in range(draw.number(1, 3)):
        m, n, k = extents = tuple(draw.number(1, 2) for _ in "mnk")
        in_registers = draw.chance(40)
        of_a = _strides(draw, (m, 4, k), FRAGMENTS) if in_registers else _strides(draw, (m, k))
        of_b, of_d = _strides(draw, (n, k)), _strides(draw, (m, n), FRAGMENTS)
        of_c = of_d if draw.chance(50) else _strides(draw, (m, n), FRAGMENTS)
        lines += _product(f"%o{number}", extents, (of_d, of_a, of_b, of_c))
        if len({*_places((m, n), of_d)}) < m * n:
            refused = "whose elements lie apart"
            break
        along = (of_a[0], *of_a[:0:-1])
        if not flight.takes(_places((n, m), of_c[::-1]), _places((n, m), of_d[::-1])):
            break
        if draw.chance(50):
            lines.append(WAIT)
            flight.results.clear()
        left = _tiles(held, (m, k, 4), along) if in_registers else _tiles(a, (m, k), of_a)
        right = _tiles(b[:, :N], (n, k), of_b)
        _add(sums, left @ right.T, (m, n), of_d, of_c)
    arrays = (("a", "f16", a), ("b", "f16", b), ("h", "f16", held), ("x", "f32", given))
    args = [array.reshape(-1, array.shape[-1]) for _, _, array in arrays]
    parameters = ", ".join(
        f"%{name}: {memref(type_, 'gmem', f'({rows},{columns}):({columns},1)', 16)}"
        for (name, type_, _), (rows, columns) in zip(arrays, (x.shape for x in args), strict=True)
    )
    text = kernel(parameters, "\n".join(f"  {line}" for line in _body([*lines, WAIT])), THREADS)
    program = Program(text, args, THREADS, {3: Expected(sums.reshape(-1, N))})
    refused = refused or ("has overwritten" if flight.lost else None)
    return program if refused is None else Refused(program, refused)


@dataclass
class Flight:
    """The fragments of the sums that are the results of products in flight, and those in whose
    registers another one is: nobody may look at them any more."""

    results: set[int] = field(default_factory=set[int])
    lost: set[int] = field(default_factory=set[int])

    def takes(self, sources: list[int], results: list[int]) -> bool:
        """The products from each of some fragments to another one may be issued in this order."""
        for source in sources:
            if source in self.lost:
                return False
            if source in self.results:
                self.results.remove(source)
                self.lost.add(source)
        self.lost -= {*results}
        self.results |= {*results}
        return True


def _strides(draw: Draw, extents: tuple[int, ...], room: int = TILES) -> Strides:
    """Any that stay among so many tiles."""
    strides, left = list[int](), room - 1
    for extent in extents:
        strides.append(draw.number(0, left // max(extent - 1, 1)))
        left -= (extent - 1) * strides[-1]
    return tuple(strides)


def _places(extents: tuple[int, ...], strides: Strides) -> list[int]:
    """The tile at each coordinate, the last mode running fastest."""
    coordinates = product(*map(range, extents))
    return [sum(i * step for i, step in zip(at, strides, strict=True)) for at in coordinates]


def _tiles(tiles: np.ndarray, extents: tuple[int, ...], strides: Strides) -> np.ndarray:
    """The matrix of a view of tiles."""
    rows, depth = tiles.shape[1:]
    blocks = tiles[_places(extents, strides)].reshape(extents[0], -1, rows, depth)
    return blocks.swapaxes(1, 2).reshape(extents[0] * rows, -1).astype(np.float64)


def _add(
    sums: np.ndarray, terms: np.ndarray, extents: tuple[int, int], of_d: Strides, of_c: Strides
) -> None:
    start = sums[_places(extents, of_c)]
    blocks = terms.reshape(extents[0], ROWS, extents[1], N)
    for number, (i, j) in enumerate(product(*map(range, extents))):
        sums[_places(extents, of_d)[number]] = start[number] + blocks[i, :, j]


def _product(name: str, extents: tuple[int, ...], strides: tuple[Strides, ...]) -> list[str]:
    """The text of d = c + a b."""
    (m, n, k), (of_d, of_a, of_b, of_c) = extents, strides
    tile = ROWS * DEPTH
    mma = "rs" if len(of_a) == 3 else "ss"
    views = {
        "D": ("r", f'layout<"((2,2,2),{m},{n}):((1,2,4),{SUMS * of_d[0]},{SUMS * of_d[1]})">'),
        "C": ("r", f'layout<"((2,2,2),{m},{n}):((1,2,4),{SUMS * of_c[0]},{SUMS * of_c[1]})">'),
        "B": ("sb", f'composed_layout<"{SWIZZLE} (({N},{n}),({DEPTH},{k})):'
                    f'(({DEPTH},{tile * of_b[0]}),(1,{tile * of_b[1]}))">'),
    }  # fmt: skip
    if mma == "rs":
        steps = [FACTORS * step for step in of_a]
        views["A"] = (
            "f",
            (f'layout<"((2,2,2),{m},(4,{k})):((1,2,4),{steps[0]},({steps[1]},{steps[2]}))">'),
        )
    else:
        views["A"] = (
            "sa",
            (
                f'composed_layout<"{SWIZZLE} (({ROWS},{m}),({DEPTH},{k})):'
                f'(({DEPTH},{tile * of_a[0]}),(1,{tile * of_a[1]}))">'
            ),
        )
    lines, operands = list[str](), dict[str, str]()
    for operand, (tensor, layout) in views.items():
        operands[operand] = view = f"{name}{operand}"
        lines += [f"{view}l = cute.static : !cute.{layout}",
                  f"{view} = cute.make_view(%{tensor}, {view}l)"]  # fmt: skip
        if tensor in ("sa", "sb"):
            operands[operand] = f"{view}f"
            lines += [f"{view}p = cute.tiled.mma.partition {operand} (%{mma}, {view}, %t)",
                      f"{view}f = cute.mma.make_fragment {operand} (%{mma}, {view}p)"]  # fmt: skip
    d, a, b, c = (operands[operand] for operand in "DABC")
    return [
        *lines, "cute_nvgpu.wgmma.fence",
        f"cute.gemm(%{mma}, {d}, {a}, {b}, {d if of_c == of_d else c})",
        "cute_nvgpu.wgmma.commit_group",
    ]  # fmt: skip


def _body(lines: list[str]) -> list[str]:
    """The tiles and the fragments of a thread, the products, and what the registers hold then."""
    tiles = memref("f16", "smem", f"{SWIZZLE} ({TILES * ROWS},{DEPTH}):({DEPTH},1)", 1024)
    atom = f"64x{N}x{STEP}, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind"
    return [
        *(f"%{kind} = cute.make_tiled_mma : !cute.tiled_mma<!cute_nvgpu.sm90.mma<{atom} = {kind}>>"
          for kind in ("ss", "rs")),
        *(f"%s{name} = cute.memref.alloc() : {tiles}" for name in "ab"),
        '%own = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">',
        "%half = arith.constant 128 : i32",
        "%below = arith.addi %t, %half : i32",
        '%lower = cute.make_coord(%below) : (i32) -> !cute.coord<"(?,_)">',
        *(line for name, row in product("ab", ("own", "lower"))
          for line in (f"%{row}_{name} = cute.slice(%{name}, %{row})",
                       f"%{row}_s{name} = cute.slice(%s{name}, %{row})",
                       f"cute.copy(%{row}_{name}, %{row}_s{name})")),
        "cute_nvgpu.fence.proxy.async",
        BARRIER,
        *(line for name, register, operand in (("h", "f", "A"), ("x", "r", "C"))
          for line in (f"%of_{name} = cute.tiled.mma.partition {operand} (%rs, %{name}, %t)",
                       f"%{register} = cute.mma.make_fragment {operand} (%rs, %of_{name})",
                       f"cute.copy(%of_{name}, %{register})")),
        *lines,
        "cute.copy(%r, %of_x)",
    ]  # fmt: skip
