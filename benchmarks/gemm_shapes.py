"""GEMMs of eleven shapes on Hopper, examples/hopper_gemm.py beside cuBLAS (torch) in one run.

    python benchmarks/gemm_shapes.py [--all] [--json]

Device time by CUDA events, median of 20 launches, the L2 flushed before each; the tile is what the
model of the example picks, `--all` measures each. cuBLAS multiplies the same matrices; of bf16 both
do so with a B whose K is contiguous and with a row-major one, and the faster counts, of each (the
last columns are both, ours / cuBLAS); of fp8 with fast accumulation, of f32 as tf32. Results are
checked against the float32 product of torch.
"""

import math
import sys
from pathlib import Path
from typing import Any

import torch
from device_time import checked, cublas, launch_of, milliseconds
from measured import parser, show

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
import hopper_gemm
from hopper_gemm_schedule import TILES, grid_of, legal, schedule_of, workspace

SQUARES = tuple((size,) * 3 for size in (512, 1024, 2048, 4096, 8192))
SHAPES = (
    *SQUARES, (16, 4096, 4096), (128, 4096, 4096), (512, 4096, 4096), (2048, 11008, 4096),
    (4096, 4096, 14336), (8192, 1024, 8192),
)  # fmt: skip
PROBLEMS = {
    "bf16": ("bfloat16", SHAPES), "f8E4M3FN": ("float8_e4m3fn", SQUARES[2:]),
    "tf32": ("float32", SQUARES[2:]),
}  # fmt: skip


def measure(element: str, shape: tuple[int, int, int], every: bool) -> dict[str, Any]:
    """The rates of one problem, in TFLOP/s."""
    m, n, k = shape
    a, b = (torch.randn(rows, k, device="cuda").to(getattr(torch, PROBLEMS[element][0]))
            for rows in (m, n))  # fmt: skip
    c = torch.empty(m, n, device="cuda", dtype=torch.bfloat16)
    reference, work = a.float() @ b.float().t(), 2 * m * n * k / 1e9
    orders = {"": b, " row-major": b.t().contiguous().t()} if element == "bf16" else {"": b}
    rates: dict[str, float] = {}
    chosen: dict[str, float] = {}
    for order, laid in orders.items():
        row_major = bool(order)
        best = schedule_of(m, n, k, element, row_major=row_major)
        every_tile = [own for own in TILES if legal(own, row_major, element)]
        for own in every_tile if every else (best,):
            kernel = hopper_gemm.compiled(own, element, row_major=row_major)
            kinds = (torch.float32, torch.int32)
            more = [torch.zeros(shape, dtype=kind, device="cuda")
                    for shape, kind in zip(workspace(own, m, n), kinds, strict=False)]  # fmt: skip
            launch = launch_of(kernel, [a, laid, c, *more], grid_of(own, m, n))
            # Hopper cuts sums of fp8 at 13 bits below the largest product.
            bound = 1e-2 if element == "bf16" else max(k * 2.0**-17, 1e-2)
            rates[f"{own}{order}"] = work / checked(launch, [c], reference, bound)
        chosen[f"{best}{order}"] = rates[f"{best}{order}"]
    torch.backends.cuda.matmul.allow_tf32 = element == "tf32"
    out = c if element == "bf16" else None
    theirs = [work / milliseconds(cublas(a, laid.t(), out)) for laid in orders.values()]
    tile = max(chosen, key=lambda name: chosen[name])
    return {"element": element, "shape": "x".join(map(str, shape)), "tile": tile,
            "ours": chosen[tile], "cublas": max(theirs), "tiles": rates,
            "orders": list(zip(chosen.values(), theirs, strict=True))}  # fmt: skip


def main() -> None:
    """Measure and print the table."""
    words = parser(__doc__)
    words.add_argument("--all", action="store_true", help="every tile, not the model's alone")
    options = words.parse_args()
    rows = [
        measure(element, shape, options.all)
        for element, (_, shapes) in PROBLEMS.items()
        for shape in shapes
    ]
    lines = [f"{torch.cuda.get_device_name()}, TFLOP/s"]
    for element in PROBLEMS:
        own = [row for row in rows if row["element"] == element]
        ratios = [row["ours"] / row["cublas"] for row in own]
        for row, ratio in zip(own, ratios, strict=True):
            every = "  ".join(f"{tile} {rate:.0f}" for tile, rate in row["tiles"].items())
            orders = "  ".join(f"{ours:.0f}/{theirs:.0f}" for ours, theirs in row["orders"])
            rates = f"{row['ours']:7.1f} {row['cublas']:7.1f} {ratio:6.3f}"
            lines.append(f"{element:>8} {row['shape']:>16} {row['tile']:>18} {rates}  "
                         f"{orders}  {every if options.all else ''}")  # fmt: skip
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines.append(f"{element}: geometric mean {mean:.3f} of cuBLAS, least {min(ratios):.3f}")
    show(options, rows, lines)


if __name__ == "__main__":
    main()
