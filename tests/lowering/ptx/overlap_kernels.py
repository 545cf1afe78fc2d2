"""Kernels of one warpgroup whose accumulators overlap: what one round multiplies is in flight while
the results of another are stored. Block b multiplies b + 1 tiles of B, and stores them all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from wgmma_kernels import SYNC, Tile, head, k_major
from wgmma_products import atom_of

TILES = 4
_LAYOUT = f"S<3,3,3> o 0 o ({8 * TILES},64):(64,1)"
CASE = replace(k_major("bf16", 8, 16, 16), b=Tile("b", (8 * TILES, 64), _LAYOUT, "bf16"))
C = CASE.c_type
FENCE, COMMIT = "  cute_nvgpu.wgmma.fence\n", "  cute_nvgpu.wgmma.commit_group\n"
_HEAD = f"""
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %values = arith.constant {CASE.values} : index
  %tile_size = arith.constant {128 * CASE.values} : index
  %block_size = arith.constant {128 * CASE.values * TILES} : index
  %no = arith.constant false
  %block = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %rounds = arith.addi %block, %c1 : index
  %from = arith.muli %block, %block_size : index
  %mine = arith.muli %t, %values : index
  %base = arith.addi %from, %mine : index
  %z = cute_nvgpu.fragment.splat %zero : f32 -> {C}
"""


def wait(pending: int = 0) -> str:
    return f"  cute_nvgpu.wgmma.wait_group {pending}\n"


def multiply(tile: str, c: str, d: str, *, fresh: bool = False) -> str:
    """d = A * B^T of one tile, on top of c unless `fresh`: four steps of K, and their commit."""
    name, text = d.removeprefix("%"), f"  %row_{d[1:]} = arith.muli {tile}, %c8 : index\n"
    for step in range(4):
        text += f"  %k_{name}{step} = arith.constant {16 * step} : index\n"
        text += CASE.a.desc(f"a_{name}{step}", CASE.a_view, "%c0", f"%k_{name}{step}")
        text += CASE.b.desc(f"b_{name}{step}", CASE.b_view, f"%row_{name}", f"%k_{name}{step}")
    for step in range(4):
        given = " scale_d %no" if fresh and step == 0 else ""
        text += (
            f"  {d if step == 3 else f'{d}_{step}'} = cute_nvgpu.sm90.mma %a_{name}{step}, "
            f"%b_{name}{step}, {c if step == 0 else f'{d}_{step - 1}'}{given} {CASE.atom} : "
            f"({CASE.a_view}, {CASE.b_view}, {C}{', i1' if given else ''}) -> {C}\n"
        )
    return text + COMMIT


def store(value: str, tile: str) -> str:
    """out[block, tile, thread, :] = value."""
    name = value.removeprefix("%").replace("#", "_")
    text = (
        f"  %at_{name} = arith.muli {tile}, %tile_size : index\n"
        f"  %to_{name} = arith.addi %base, %at_{name} : index\n"
    )
    for place in range(CASE.values):
        text += (
            f"  %p{place}_{name} = arith.constant {place} : index\n"
            f"  %q{place}_{name} = arith.addi %to_{name}, %p{place}_{name} : index\n"
            f"  %v{place}_{name} = cute_nvgpu.fragment.extract {value}[{place}] : {C} -> f32\n"
            f"  memref.store %v{place}_{name}, %out[%q{place}_{name}] : memref<?xf32>\n"
        )
    return text


def loop(arguments: str, results: int, body: str, passed: str, first: str = "%c1") -> str:
    types = ", ".join([C] * results)
    return (
        f"  %r:{results} = scf.for %i = {first} to %rounds step %c1 iter_args({arguments}) -> "
        f"({types}) {{\n  %before = arith.subi %i, %c1 : index\n{body}"
        f"    scf.yield {passed} : {types}\n  }}\n  %last = arith.subi %rounds, %c1 : index\n"
    )


def kernel(body: str) -> str:
    return head(CASE) + _HEAD + CASE.a.fill() + CASE.b.fill() + SYNC + body + "  func.return\n}\n"


KERNELS = {
    # Each tile's product is stored while the next one's is computed.
    "carried": kernel(
        FENCE + multiply("%c0", "%z", "%first", fresh=True)
        + loop("%prev = %first", 1, FENCE + multiply("%i", "%z", "%d", fresh=True) + wait(1)
               + store("%prev", "%before"), "%d")
        + wait() + store("%r#0", "%last")
    ),
    # Odd tiles are added up in one accumulator and even ones in the other.
    "swapped": kernel(
        FENCE + multiply("%c0", "%z", "%first")
        + loop("%x = %z, %y = %first", 2, FENCE + multiply("%i", "%x", "%d") + wait(1)
               + store("%y", "%before"), "%y, %d")
        + wait() + store("%r#1", "%last")
    ),
}  # fmt: skip


def bare(text: str) -> str:
    """The kernel without what orders its wgmmas."""
    lines = [line for line in text.splitlines(keepends=True) if "cute_nvgpu.wgmma." not in line]
    return "".join(line for line in lines if "fence.proxy" not in line)


def inputs() -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    return tuple(
        rng.integers(-3, 4, shape).astype(ml_dtypes.bfloat16)
        for shape in ((64, 64), (8 * TILES, 64))
    )  # type: ignore[return-value]


def expected(name: str) -> NDArray[Any]:
    """out, of every block: [blocks, tiles, threads, values]."""
    a, b = (each.astype(np.float64) for each in inputs())
    tiles = [a @ b[8 * tile : 8 * tile + 8].T for tile in range(TILES)]
    if name == "swapped":
        tiles = [sum(tiles[tile % 2 : tile + 1 : 2]) for tile in range(TILES)]  # type: ignore[misc]
    row, column = np.moveaxis(atom_of(CASE).coords("D"), -1, 0)
    out = np.zeros((TILES, TILES, 128, CASE.values), np.float32)
    for block in range(TILES):
        for tile in range(block + 1):
            out[block, tile] = tiles[tile][row, column]
    return out
