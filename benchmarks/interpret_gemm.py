"""How fast the interpreter runs examples/gemm_sm80.mlir, on one core.

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
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import tilewright as tw
from tilewright.execution import run

SOURCE = Path(__file__).parents[1] / "examples" / "gemm_sm80.mlir"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("extents", nargs="*", type=int, default=[256, 256, 256])
    options = parser.parse_args()
    m, n, k = options.extents
    rng = np.random.default_rng(0)
    a = rng.standard_normal((m, k)).astype(ml_dtypes.bfloat16)
    b = rng.standard_normal((k, n)).astype(ml_dtypes.bfloat16)
    arguments: list[Any] = [a, b, np.zeros((m, n), np.float32), m, n, k, k, n, n]
    results: dict[str, dict[str, float]] = {}
    for level in ("atom", "ptx"):
        start = time.perf_counter()
        outcome = run(
            SOURCE.read_text(),
            "gemm",
            grid=(-(-n // 64), -(-m // 64), 1),
            block=(128, 1, 1),
            args=arguments,
            level=level,
        )
        took = time.perf_counter() - start
        results[level] = {"seconds": took, "lane_operations": outcome.lane_operations}
    if options.json:
        print(json.dumps(results))
        return
    print(f"gemm_sm80 at {m} x {n} x {k}, tilewright {tw.__version__}, one core")
    for level, each in results.items():
        rate = each["lane_operations"] / each["seconds"]
        print(f"{level:>5} level: {each['seconds']:6.2f} s, {rate / 1e6:7.1f} M lane-operations/s")


if __name__ == "__main__":
    main()
