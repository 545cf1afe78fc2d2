"""From a Python call to PTX: kernels of examples/tile_frontend, traced and compiled, in a warm and
in a cold process, without ptxas and with it.

python benchmarks/python_to_ptx.py [--json]
"""

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from measured import best_time, parser, show

EXAMPLES = str(Path(__file__).parents[1] / "examples")
sys.path.insert(0, EXAMPLES)
ROUNDS = 5

MATRICES = [("bf16", 2), ("bf16", 2), ("f32", 2)]
KERNELS: dict[str, tuple[str, list[tuple[str, int]], str, dict[str, Any]]] = {
    "GEMM, TMA and wgmma, 128x256x64": (
        "gemm.gemm", MATRICES, "sm_90a",
        {"engine": "tma", "warps": (8, 1), "tile": (128, 256, 64), "stages": 3},
    ),
    "GEMM, cp.async and mma.sync, 128x128x32": ("gemm.gemm", MATRICES, "sm_80", {}),
    "GEMM, bias, ReLU": (
        "gemm.gemm_bias_relu", [*MATRICES[:2], ("f32", 1), ("f32", 2)], "sm_80", {},
    ),
    "attention, forward, 64x64x64": (
        "attention.attention",
        [*[("bf16", 3)] * 3, ("f32", 2), ("bf16", 3), ("f32", 0)], "sm_80", {},
    ),
}  # fmt: skip


def to_ptx(name: str) -> str:
    """The PTX of a kernel, from nothing but its Python function."""
    from importlib import import_module

    import tilewright as tw

    path, signature, arch, constants = KERNELS[name]
    module, _, function = path.partition(".")
    kernel = getattr(import_module(f"tile_frontend.{module}"), function)
    return tw.compile(kernel.module(signature, **constants), arch).ptx


def measure(name: str) -> dict[str, float]:
    """Seconds of a kernel: warm, in a process of its own, and what ptxas takes of each."""
    from tilewright.launch.ptxas import assemble

    arch, ptx = KERNELS[name][2], to_ptx(name)
    command = [sys.executable, str(Path(__file__).resolve()), "--cold", name]
    return {
        "warm": best_time(ROUNDS, partial(to_ptx, name)),
        "cold": best_time(ROUNDS, partial(subprocess.run, command, check=True)),
        "ptxas": best_time(ROUNDS, partial(assemble, ptx, arch)),
    }


def main() -> None:
    words = parser(__doc__)
    words.add_argument("--cold", choices=KERNELS, help="compile one kernel and leave")
    options = words.parse_args()
    if options.cold is not None:
        to_ptx(options.cold)
        return
    rows = {name: measure(name) for name in KERNELS}
    lines = [f"{'kernel, in ms':<40} {'warm':>6} {'+ptxas':>7} {'cold':>6} {'+ptxas':>7}"]
    for name, row in rows.items():
        warm, cold, ptxas = (1e3 * row[key] for key in ("warm", "cold", "ptxas"))
        times = f"{warm:>6.0f} {warm + ptxas:>7.0f} {cold:>6.0f} {cold + ptxas:>7.0f}"
        lines.append(f"{name:<40} {times}")
    show(options, rows, lines)


if __name__ == "__main__":
    main()
