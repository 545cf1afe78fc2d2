"""How fast the interpreter runs the GEMMs of examples/, on one core.

python benchmarks/interpret_gemm.py [--json] [M N K]
"""

from __future__ import annotations

import argparse
import json
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


def _tensor_maps_sm90(a: Any, b: Any, c: Any, m: int, n: int, k: int) -> list[Any]:
    boxes = ((a, (128, 64)), (b, (64, 64)), (c, (64, 32)))
    return [*(tw.TensorMap(matrix, box=box, swizzle=128) for matrix, box in boxes), k]


def _tensor_maps_sm100(a: Any, b: Any, c: Any, m: int, n: int, k: int) -> list[Any]:
    boxes = ((a, (128, 64)), (b, (64, 64)), (c, (128, 32)))
    return [*(tw.TensorMap(array, box=box, swizzle=128) for array, box in boxes), k]


GEMMS = {
    "gemm_sm80": TimedGemm((64, 64), 128, ml_dtypes.bfloat16, _pointers),
    "gemm_sm90": TimedGemm((128, 256), 384, ml_dtypes.bfloat16, _tensor_maps_sm90, "sm_90a"),
    "gemm_sm100": TimedGemm((128, 256), 192, np.float16, _tensor_maps_sm100, "sm_100a"),
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("extents", nargs="*", type=int)
    options = parser.parse_args()
    sizes = {
        "gemm_sm80": (256, 256, 256),
        "gemm_sm90": (512, 512, 512),
        "gemm_sm100": (512, 512, 512),
    }
    if options.extents:
        m, n, k = options.extents
        sizes = dict.fromkeys(sizes, (m, n, k))
    results = {name: measure(name, size) for name, size in sizes.items()}
    if options.json:
        print(json.dumps(results))
        return
    for name, levels in results.items():
        print(
            f"{name} at {' x '.join(map(str, sizes[name]))}, tilewright {tw.__version__}, one core"
        )
        for level, timed in levels.items():
            rate = timed["lane_operations"] / timed["seconds"] / 1e6
            print(f"{level:>5} level: {timed['seconds']:6.2f} s, {rate:7.1f} M lane-operations/s")


if __name__ == "__main__":
    main()
