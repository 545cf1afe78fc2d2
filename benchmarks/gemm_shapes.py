"""GEMMs of eleven shapes on Hopper, examples/hopper_gemm.py beside cuBLAS (torch) in one run.

    python benchmarks/gemm_shapes.py [--all] [--json]

Device time by CUDA events, the L2 flushed before each launch, medians of turns, a rest before each;
the tile is what the model of the example picks; `--all` measures each, and says what the pick lacks
of the best. cuBLAS multiplies the same matrices; of bf16 both do so with a B whose K is contiguous
and with a row-major one, and the faster counts, of each (the last columns are both, ours / cuBLAS);
of fp8 with fast accumulation, of f32 as tf32. Results are checked against the float32 product of
torch.
"""

import itertools
import math
import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch
from device_time import Launch, checked, cublas, launch_of, medians
from measured import parser, show

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import hopper_gemm
from hopper_gemm_schedule import TILES, GemmSchedule, grid_of, legal, schedule_of, workspace

import tilewright as tw
from tilewright.launch.ptxas import assembled

SQUARES = tuple((size,) * 3 for size in (512, 1024, 2048, 4096, 8192))
SHAPES = (
    *SQUARES, (16, 4096, 4096), (128, 4096, 4096), (512, 4096, 4096), (2048, 11008, 4096),
    (4096, 4096, 14336), (8192, 1024, 8192),
)  # fmt: skip
PROBLEMS = {
    "bf16": ("bfloat16", SHAPES), "f8E4M3FN": ("float8_e4m3fn", SQUARES[2:]),
    "tf32": ("float32", SQUARES[2:]),
}  # fmt: skip
ORDERS = {"bf16": (False, True), "f8E4M3FN": (False,), "tf32": (False,)}
"""If a B is row-major: those that count."""
Tile = tuple[GemmSchedule, str, bool]
"""A schedule for elements of a type, and for a row-major B or not."""


def picked(element: str, shape: tuple[int, int, int]) -> list[Tile]:
    """The tile that the model picks for each order of B that counts."""
    return [
        (schedule_of(*shape, element, row_major=order), element, order) for order in ORDERS[element]
    ]


def every_tile(element: str) -> list[Tile]:
    """All tiles."""
    return [
        (own, element, order)
        for order in ORDERS[element]
        for own in TILES
        if legal(own, order, element)
    ]


def compiled(tile: Tile) -> tw.Kernel:
    """The kernel of a tile, whose machine code is in the cache of compiled kernels then."""
    own, element, row_major = tile
    kernel = hopper_gemm.compiled(own, element, row_major=row_major)
    assembled(kernel.ptx, "sm_90a")
    return kernel


def measure(
    element: str, shape: tuple[int, int, int], kernels: dict[Tile, tw.Kernel]
) -> dict[str, Any]:
    """The rates of one problem, in TFLOP/s."""
    m, n, k = shape
    a, b = (torch.randn(rows, k, device="cuda").to(getattr(torch, PROBLEMS[element][0]))
            for rows in (m, n))  # fmt: skip
    c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    reference, work = a.float() @ b.float().t(), 2 * m * n * k / 1e9
    orders = {False: b, True: b.t().contiguous().t()}
    launches: dict[Tile | int, Launch] = {}
    for (own, _, row_major), kernel in kernels.items():
        kinds = (torch.float32, torch.int32)
        more = [torch.zeros(shape, dtype=kind, device="cuda")
                for shape, kind in zip(workspace(own, m, n), kinds, strict=False)]  # fmt: skip
        launch = launch_of(kernel, [a, orders[row_major], c, *more], grid_of(own, m, n))
        # Hopper cuts sums of fp8 at 13 bits below the largest product.
        bound = 1e-2 if element == "bf16" else max(k * 2.0**-17, 1e-2)
        launches[own, element, row_major] = checked(launch, [c], reference, bound)
    torch.backends.cuda.matmul.allow_tf32 = element == "tf32"
    out = c if element == "bf16" else None
    chosen = picked(element, shape)
    for place, (*_, order) in enumerate(chosen):
        launches[place] = cublas(a, orders[order].t(), out)
    rates = {name: work / time for name, time in medians(launches).items()}
    theirs = [rates[place] for place in range(len(chosen))]
    best = max(chosen, key=rates.__getitem__)
    return {"element": element, "shape": "x".join(map(str, shape)), "tile": _name(best),
            "ours": rates[best], "cublas": max(theirs),
            "tiles": {_name(tile): rates[tile] for tile in kernels},
            "orders": [*zip(map(rates.__getitem__, chosen), theirs, strict=True)]}  # fmt: skip


def _name(tile: Tile) -> str:
    own, _, row_major = tile
    return f"{own}{' row-major' * row_major}"


def main() -> None:
    """Measure and print the table."""
    words = parser(__doc__)
    words.add_argument("--all", action="store_true", help="every tile, not the model's alone")
    options = words.parse_args()
    problems = {
        (element, shape): every_tile(element) if options.all else picked(element, shape)
        for element, (_, shapes) in PROBLEMS.items()
        for shape in shapes
    }
    all_tiles = list(dict.fromkeys(itertools.chain(*problems.values())))
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        kernels = dict(zip(all_tiles, pool.map(compiled, all_tiles), strict=True))
    rows = [
        measure(*problem, {tile: kernels[tile] for tile in own})
        for problem, own in problems.items()
    ]
    lines = [f"{torch.cuda.get_device_name()}, TFLOP/s"]
    for element in PROBLEMS:
        own = [row for row in rows if row["element"] == element]
        ratios = [row["ours"] / row["cublas"] for row in own]
        for row, ratio in zip(own, ratios, strict=True):
            every = "  ".join(f"{tile} {rate:.0f}" for tile, rate in row["tiles"].items())
            orders = "  ".join(f"{ours:.0f}/{theirs:.0f}" for ours, theirs in row["orders"])
            rates = f"{row['ours']:7.1f} {row['cublas']:7.1f} {ratio:6.3f}"
            loss = f"lacks {1 - row['ours'] / max(row['tiles'].values()):.1%}  {every}"
            lines.append(f"{element:>8} {row['shape']:>16} {row['tile']:>18} {rates}  "
                         f"{orders}  {loss if options.all else ''}")  # fmt: skip
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines.append(f"{element}: geometric mean {mean:.3f} of cuBLAS, least {min(ratios):.3f}")
    show(options, rows, lines)


if __name__ == "__main__":
    main()
