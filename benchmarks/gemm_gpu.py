"""Speed of the GEMM examples on the GPU of this machine, beside cuBLAS (torch) in one run.

    python benchmarks/gemm_gpu.py [--json] [--example NAME ...] [SIZE ...]

examples/gemm_sm80.mlir on every GPU, examples/gemm_sm90.mlir on Hopper. Median of 20 launches by
CUDA events, after 3 that warm up; a fresh random input, checked against the float32 product of
torch.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import tilewright as tw
from tilewright.launcher import device_arch, load, start, tensor_map_value

EXAMPLES = Path(__file__).parents[1] / "examples"


@dataclass(frozen=True)
class Example:
    """A GEMM example: where it runs, and how it is launched on square matrices on the GPU.

    `arguments` are those of `start` for A, B, C and their size.
    """

    name: str
    runs_on: Callable[[str], bool]
    tile: tuple[int, int]
    threads: int
    arguments: Callable[[Any, Any, Any, int], list[Any]]


def _sm80(a: Any, b: Any, c: Any, size: int) -> list[Any]:
    return [*(each.data_ptr() for each in (a, b, c)), *[size] * 6]


def _sm90(a: Any, b: Any, c: Any, size: int) -> list[Any]:
    maps = [
        tw.TensorMap(each.data_ptr(), shape=(size, size), element=element, box=box, swizzle=128)
        for each, element, box in
        ((a, "bf16", (128, 64)), (b, "bf16", (64, 64)), (c, "f32", (64, 32)))
    ]  # fmt: skip
    return [*(tensor_map_value(each, []) for each in maps), size]


ALL = (
    Example("gemm_sm80", lambda arch: True, (64, 64), 128, _sm80),
    Example("gemm_sm90", lambda arch: arch == "sm_90a", (128, 256), 384, _sm90),
)


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


def measure(example: Example, size: int) -> dict[str, Any]:
    """TFLOP/s of an example and of cuBLAS at size x size x size."""
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = torch.full((size, size), float("nan"), device="cuda")
    kernel = tw.compile((EXAMPLES / f"{example.name}.mlir").read_text(), device_arch())
    entry = kernel.entry("gemm")
    function = load(kernel, entry)
    arguments = example.arguments(a, b, c, size)
    rows, columns = example.tile
    grid, block = (-(-size // columns), -(-size // rows)), (example.threads,)
    stream = torch.cuda.current_stream().cuda_stream
    ours = milliseconds(lambda: start(function, entry, arguments, grid, block, stream))
    reference = a.float() @ b.float()
    assert (torch.linalg.norm(c - reference) / torch.linalg.norm(reference)).item() < 1e-2
    theirs = milliseconds(lambda: a @ b)
    work = 2 * size**3 / 1e9
    return {
        "example": example.name,
        "size": size,
        "ours": work / ours,
        "cublas": work / theirs,
        "ratio": theirs / ours,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--example", action="append", choices=[each.name for each in ALL])
    parser.add_argument("sizes", nargs="*", type=int, default=[2048, 4096, 8192])
    options = parser.parse_args()
    arch = device_arch()
    chosen = [
        each for each in ALL if each.runs_on(arch) and each.name in (options.example or each.name)
    ]
    rows = [measure(example, size) for example in chosen for size in options.sizes]
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{torch.cuda.get_device_name()}, bf16 GEMM, TFLOP/s")
    print(f"{'example':>10} {'size':>6} {'ours':>8} {'cuBLAS':>8} {'ratio':>6}")
    for row in rows:
        ours, cublas, ratio = (f"{row[key]:.{digits}f}" for key, digits in
                               (("ours", 0), ("cublas", 0), ("ratio", 2)))  # fmt: skip
        print(f"{row['example']:>10} {row['size']:>6} {ours:>8} {cublas:>8} {ratio:>6}")


if __name__ == "__main__":
    main()
