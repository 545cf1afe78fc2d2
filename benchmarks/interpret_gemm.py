"""How fast the interpreter runs the GEMMs of examples/, on one core.

python benchmarks/interpret_gemm.py [--json] [M N K]
"""

import os

# One core: the arithmetic is NumPy's, which must not spread over threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from measured import parser, show

import tilewright as tw
from tilewright.execution import run
from tilewright.pipeline import verified

EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True)
class TimedGemm:
    """An example: the tile of a CTA, its threads, and what it takes for A, B, C and their extents
    (M, N, K)."""

    tile: tuple[int, int]
    threads: int
    element: Any
    arguments: Callable[..., list[Any]]
    arch: str | None = None


def _pointers(a: Any, b: Any, c: Any, m: int, n: int, k: int) -> list[Any]:
    return [a, b, c, m, n, k, k, n, n]


def _tensor_maps(*boxes: tuple[int, int]) -> Callable[..., list[Any]]:
    """Tensor maps of A, B and C with these boxes, and K."""

    def arguments(a: Any, b: Any, c: Any, m: int, n: int, k: int) -> list[Any]:
        boxed = zip((a, b, c), boxes, strict=True)
        return [*(tw.TensorMap(matrix, box=box, swizzle=128) for matrix, box in boxed), k]

    return arguments


GEMMS = {
    "gemm_sm80": TimedGemm((64, 64), 128, ml_dtypes.bfloat16, _pointers),
    "gemm_sm90": TimedGemm(
        (128, 256), 384, ml_dtypes.bfloat16, _tensor_maps((128, 64), (64, 64), (64, 32)), "sm_90a"
    ),
    "gemm_sm100": TimedGemm(
        (128, 256), 192, np.float16, _tensor_maps((128, 64), (64, 64), (128, 32)), "sm_100a"
    ),
}


def measure(name: str, extents: tuple[int, int, int]) -> dict[str, dict[str, float]]:
    """Seconds and operations of threads at each level."""
    gemm, (m, n, k) = GEMMS[name], extents
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(gemm.element) for shape in ((m, k), (k, n)))
    arguments = gemm.arguments(a, b, np.zeros((m, n), np.float32), m, n, k)
    results: dict[str, dict[str, float]] = {}
    for level in ("atom", "ptx"):
        start = time.perf_counter()
        outcome = run(
            verified((EXAMPLES / f"{name}.mlir").read_text())[0],
            "gemm",
            grid=(-(-n // gemm.tile[1]), -(-m // gemm.tile[0]), 1),
            block=(gemm.threads, 1, 1),
            args=arguments,
            arch=gemm.arch,
            level=level,
        )
        took = time.perf_counter() - start
        results[level] = {"seconds": took, "lane_operations": outcome.lane_operations}
    return results


def main() -> None:
    words = parser(__doc__)
    words.add_argument("extents", nargs="*", type=int)
    options = words.parse_args()
    sizes = {"gemm_sm80": (256,) * 3, "gemm_sm90": (512,) * 3, "gemm_sm100": (512,) * 3}
    if options.extents:
        m, n, k = options.extents
        sizes = dict.fromkeys(sizes, (m, n, k))
    results = {name: measure(name, size) for name, size in sizes.items()}
    lines: list[str] = []
    for name, levels in results.items():
        extents = " x ".join(map(str, sizes[name]))
        lines.append(f"{name} at {extents}, tilewright {tw.__version__}, one core")
        for level, timed in levels.items():
            rate = f"{timed['lane_operations'] / timed['seconds'] / 1e6:7.1f} M lane-operations/s"
            lines.append(f"{level:>5} level: {timed['seconds']:6.2f} s, {rate}")
    show(options, results, lines)


if __name__ == "__main__":
    main()
