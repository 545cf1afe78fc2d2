"""How much quicker two processes interpret a GEMM of 64 CTAs than one: wall time where the machine
has two free cores, and the processor time of each share, which says it of any machine.

python benchmarks/executor.py [--processes N] [--extent 512] [--k 512] [--require 0.8]
"""

import argparse
import os

# One core a process: the arithmetic is NumPy's, which must not spread over threads.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"

import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

import tilewright as tw

TEXT = (Path(__file__).parents[1] / "examples/gemm_sm80.mlir").read_text()
TILE = 64


class Timed(Executor):
    """An executor that notes the processor time of each task."""

    def __init__(self, pool: ProcessPoolExecutor, workers: int):
        self._pool, self._max_workers = pool, workers
        self.times: list[Future[float]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        both = self._pool.submit(_timed, fn, *args)
        result, seconds = Future[Any](), Future[float]()
        self.times.append(seconds)

        def done(future: Future[Any]) -> None:
            seconds.set_result(future.result()[1])
            result.set_result(future.result()[0])

        both.add_done_callback(done)
        return result


def _timed(fn: Any, *args: Any) -> tuple[Any, float]:
    start = time.process_time()
    return fn(*args), time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--extent", type=int, default=512, help="M and N: 512 is 64 CTAs")
    parser.add_argument("--k", type=int, default=512)
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the best")
    parser.add_argument("--require", type=float, metavar="SHARE",
                        help="exit status 1 below this share of linear: 0.8")  # fmt: skip
    options = parser.parse_args()
    n, k, count = options.extent, options.k, options.processes
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(ml_dtypes.bfloat16) for shape in ((n, k), (k, n)))
    args = [a, b, np.zeros((n, n), np.float32), n, n, k, k, n, n]
    grid = (n // TILE, n // TILE)

    def run(executor: Executor | None, grid: tuple[int, int] = grid) -> tuple[Any, float, float]:
        wall, cpu = time.perf_counter(), time.process_time()
        c = tw.interpret(TEXT, grid=grid, block=(128,), args=args, executor=executor)[2]
        return c, time.perf_counter() - wall, time.process_time() - cpu

    run(None, (1, 1))  # what is imported and kept at the first run
    with ProcessPoolExecutor(count) as pool:
        # Workers that have started and run something, as those of a cluster have.
        list(pool.map(_warm, range(count)))
        run(pool, (count, 1))
        alone, shared = [], []
        for _ in range(options.repeat):
            executor = Timed(pool, count)
            alone.append(run(None))
            shared.append((*run(executor), [seconds.result() for seconds in executor.times]))
            assert (alone[-1][0] == shared[-1][0]).all()
    _, wall, cpu = min(alone, key=lambda one: one[1])
    _, shared_wall, own, shares = min(shared, key=lambda one: one[1])
    longest = max(shares) + own
    print(f"{n} x {n} x {k}, {grid[0] * grid[1]} CTAs, {os.cpu_count()} cores, "
          f"load {os.getloadavg()[0]:.1f}; the best of {options.repeat} runs each")  # fmt: skip
    print(f"one process: {wall:.2f} s, {cpu:.2f} s of a processor")
    print(f"{count} processes: {shared_wall:.2f} s, {wall / shared_wall:.2f} times as quick, "
          f"{wall / shared_wall / count:.0%} of linear")  # fmt: skip
    print(f"processor time: shares {', '.join(f'{s:.2f}' for s in shares)} s, sharing {own:.2f} s")
    print(f"by processor time: {cpu / longest:.2f} times, {cpu / longest / count:.0%} of linear")
    sys.exit(options.require is not None and wall / shared_wall < options.require * count)


def _warm(_: int) -> None:
    time.sleep(0.5)  # so that every worker gets one


if __name__ == "__main__":
    main()
