"""Speed of examples/gemm_sm80.mlir on the GPU of this machine, beside cuBLAS (torch) in one run.

    python benchmarks/gemm_gpu.py [--json] [SIZE ...]

Median of 20 launches by CUDA events, after 3 that warm up; a fresh random input, checked against
the float32 product of torch.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

import tilewright as tw
from tilewright.launcher import device_arch, load, start

SOURCE = Path(__file__).parents[1] / "examples" / "gemm_sm80.mlir"


def milliseconds(call: Callable[[], Any]) -> float:
    """The median time of a call on the GPU."""
    for _ in range(3):
        call()
    times: list[float] = []
    for _ in range(20):
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        before.record()
        call()
        after.record()
        after.synchronize()
        times.append(before.elapsed_time(after))
    return statistics.median(times)


def measure(size: int) -> dict[str, float]:
    """TFLOP/s of ours and of cuBLAS at size x size x size."""
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = torch.full((size, size), float("nan"), device="cuda")
    kernel = tw.compile(SOURCE.read_text(), device_arch())
    entry = kernel.entry("gemm")
    function = load(kernel, entry)
    pointers = [each.data_ptr() for each in (a, b, c)]
    arguments = [*pointers, size, size, size, size, size, size]
    grid = -(-size // 64), -(-size // 64)
    stream = torch.cuda.current_stream().cuda_stream
    ours = milliseconds(lambda: start(function, entry, arguments, grid, (128,), stream))
    reference = a.float() @ b.float()
    assert (torch.linalg.norm(c - reference) / torch.linalg.norm(reference)).item() < 1e-2
    theirs = milliseconds(lambda: a @ b)
    work = 2 * size**3 / 1e9
    return {"size": size, "ours": work / ours, "cublas": work / theirs, "ratio": theirs / ours}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("sizes", nargs="*", type=int, default=[2048, 4096, 8192])
    options = parser.parse_args()
    rows = [measure(size) for size in options.sizes]
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{torch.cuda.get_device_name()}, bf16 GEMM, TFLOP/s")
    print(f"{'size':>6} {'gemm_sm80':>10} {'cuBLAS':>8} {'ratio':>6}")
    for row in rows:
        print(f"{row['size']:>6} {row['ours']:>10.0f} {row['cublas']:>8.0f} {row['ratio']:>6.2f}")


if __name__ == "__main__":
    main()
