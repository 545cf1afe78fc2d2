"""How fast the interpreter executes PTX: millions of lane-operations a second, an instruction of
one thread each, races checked.

python benchmarks/interpret_ptx.py [--engine ENGINE] [--profile] [NAME ...]

A row for each of examples/gemm_sm90.mlir at level ptx, and of kernels that nvcc compiled (the
fixture tests/silicon/fixtures/cuda_kernels.tar.xz): `lcg64`, a loop of 64-bit hashes in 1024
threads; `monte_carlo_pi`, a loop of 32-bit hashes in 8192; `divergent`, Collatz sequences of 65536
threads, and `mandelbrot`, in f64. The first run compiles, the second has the code: processor time.
"""

import argparse
import cProfile
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import tilewright as tw
from tilewright.execution import run
from tilewright.pipeline import verified

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "tests" / "silicon" / "fixtures" / "cuda_kernels.tar.xz"


def _gemm() -> Callable[..., Any]:
    a, b = (np.ones((256, 256), ml_dtypes.bfloat16) for _ in "ab")
    boxes = zip(
        (a, b, np.zeros((256, 256), np.float32)), ((128, 64), (64, 64), (64, 32)), strict=True
    )
    args = [*(tw.TensorMap(matrix, box=box, swizzle=128) for matrix, box in boxes), 256]
    text = (ROOT / "examples" / "gemm_sm90.mlir").read_text()
    module, _ = verified(text, "gemm_sm90.mlir")
    return lambda **engine: run(
        module, grid=(1, 2, 1), block=(384, 1, 1), args=args, arch="sm_90a", level="ptx", **engine
    )


def _compiled(kernel: str, grid: int, block: int, *args: Any) -> Callable[..., Any]:
    with tarfile.open(KERNELS) as tar:
        member = tar.extractfile("kernels_sm_90a.ptx")
        assert member is not None
        module, _ = verified(member.read().decode(), "kernels_sm_90a.ptx")
    return lambda **engine: run(
        module, f"k_{kernel}", grid=(grid, 1, 1), block=(block, 1, 1), args=args, arch="sm_90a",
        **engine,
    )  # fmt: skip


def _lcg64() -> Callable[..., Any]:
    seeds = np.arange(1024, dtype=np.uint64)
    return _compiled("lcg64", 1, 1024, seeds, np.uint64(6364136223846793005), 20000)


def _monte_carlo_pi() -> Callable[..., Any]:
    return _compiled("monte_carlo_pi", 64, 128, np.zeros(1, np.uint64), 4000)


def _divergent() -> Callable[..., Any]:
    numbers = np.random.default_rng(1).integers(1, 100000, 65536, np.int32)
    return _compiled("divergent", 512, 128, np.zeros(65536, np.int32), numbers, 65536)


def _mandelbrot() -> Callable[..., Any]:
    return _compiled("mandelbrot", 512, 128, np.zeros(65536, np.int32), 256, 300)


NAMES: dict[str, Callable[[], Callable[..., Any]]] = {
    "gemm_sm90": _gemm,
    "lcg64": _lcg64,
    "monte_carlo_pi": _monte_carlo_pi,
    "divergent": _divergent,
    "mandelbrot": _mandelbrot,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(NAMES), metavar="NAME")
    parser.add_argument("--engine", help="numpy or compiled (default: both)")
    parser.add_argument("--profile", action="store_true", help="where the time goes")
    options = parser.parse_args()
    engines = [options.engine] if options.engine else ["numpy", "compiled"]
    print("| kernel | engine | first, s | second, s | M lane-operations/s |\n|---|---|---|---|---|")
    for name in options.names:
        execute = NAMES[name]()
        for engine in engines:
            start = time.process_time()
            execute(engine=engine)
            first, start = time.process_time() - start, time.process_time()
            count = execute(engine=engine).lane_operations
            second = time.process_time() - start
            rate = count / second / 1e6
            print(f"| {name} | {engine} | {first:.2f} | {second:.2f} | {rate:.1f} |", flush=True)
            if options.profile:
                with cProfile.Profile() as profile:
                    execute(engine=engine)
                profile.print_stats("tottime")


if __name__ == "__main__":
    main()
