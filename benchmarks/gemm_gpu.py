"""Speed of the GEMMs on the GPU of this machine, beside cuBLAS (torch) and Triton in one run.

    python benchmarks/gemm_gpu.py [--json] [--example NAME ...] [SIZE ...]

examples/gemm_sm80.mlir on every GPU, examples/gemm_sm90.mlir on Hopper; those of
examples/tile_frontend, tiles in Python, in the same two ways, the faster one of a few tiles each,
as Triton's `tl.dot` is. Median of 20 launches by CUDA events, after 3 that warm up; a fresh random
input, checked against the float32 product of torch.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch

import tilewright as tw
from tilewright.arguments.binding import Binding
from tilewright.launcher import device_arch, device_memory

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))

Launch = Callable[[], None]


@dataclass(frozen=True)
class Example:
    """A GEMM: where it runs, and its launches for matrices on the GPU, a few to choose from."""

    name: str
    runs_on: Callable[[str], bool]
    launches: Callable[[Any, Any, Any], Iterable[Launch]]


def launch_of(
    kernel: tw.Kernel, name: str, args: list[Any], grid: tuple[int, ...], threads: int
) -> Launch:
    entry = kernel.entry(name)
    function = kernel.load(entry)
    stream = torch.cuda.current_stream().cuda_stream
    values = entry.values(Binding(entry.arguments, args, device_memory(), on_gpu=True))
    return lambda: function.start(values, grid, (threads,), stream)


# --- examples/*.mlir ------------------------------------------------------------------------------


@cache
def _compiled(name: str) -> tw.Kernel:
    return tw.compile((EXAMPLES / f"{name}.mlir").read_text(), device_arch())


def _sm80(a: Any, b: Any, c: Any) -> Iterable[Launch]:
    size = len(a)
    args = [a, b, c, *[size] * 6]
    yield launch_of(_compiled("gemm_sm80"), "gemm", args, (-(-size // 64),) * 2, 128)


def _sm90(a: Any, b: Any, c: Any) -> Iterable[Launch]:
    size = len(a)
    maps = [
        tw.TensorMap(matrix, box=box, swizzle=128)
        for matrix, box in ((a, (128, 64)), (b, (64, 64)), (c, (64, 32)))
    ]
    grid = -(-size // 256), -(-size // 128)
    yield launch_of(_compiled("gemm_sm90"), "gemm", [*maps, size], grid, 384)


# --- examples/tile_frontend -----------------------------------------------------------------------

CP_ASYNC: tuple[dict[str, Any], ...] = (
    {"tile": (128, 128, 32), "warps": (2, 2), "stages": 3},
    {"tile": (128, 128, 32), "warps": (2, 2), "stages": 4},
    {"tile": (128, 128, 64), "warps": (2, 2), "stages": 3},
    {"tile": (128, 128, 64), "warps": (4, 2), "stages": 3},
    {"tile": (128, 256, 32), "warps": (2, 4), "stages": 4},
    {"tile": (128, 256, 64), "warps": (2, 4), "stages": 3},
    {"tile": (256, 128, 32), "warps": (4, 2), "stages": 4},
)
TMA: tuple[dict[str, Any], ...] = tuple(
    {"engine": "tma", "tile": (128, 256, 64), "warps": (8, 1), "stages": stages}
    for stages in (3, 4)
)


def _tiles(choices: Iterable[dict[str, Any]]) -> Callable[[Any, Any, Any], Iterable[Launch]]:
    def launches(a: Any, b: Any, c: Any) -> Iterable[Launch]:
        from tile_frontend.gemm import gemm
        from tile_frontend.kernel import signature_of

        for constants in choices:
            kernel = gemm.compile(signature_of([a, b, c]), device_arch(), **constants)
            shape = gemm.shape([a, b, c], constants)
            yield launch_of(kernel, "gemm", [a, b, c], shape["grid"], shape["block"][0])

    return launches


HOPPER = "sm_90a"
ALL = (
    Example("gemm_sm80", lambda arch: True, _sm80),
    Example("gemm_sm90", lambda arch: arch == HOPPER, _sm90),
    Example("tiles_sm80", lambda arch: True, _tiles(CP_ASYNC)),
    Example("tiles_sm90", lambda arch: arch == HOPPER, _tiles(TMA)),
)


# --- the peers ------------------------------------------------------------------------------------


def triton_launch(a: Any, b: Any, c: Any) -> Launch | None:
    """Triton's dot on the same matrices, tuned over its tutorial's tiles; None without Triton."""
    try:
        import triton  # pyright: ignore
        from triton_gemm import matmul  # pyright: ignore
    except ImportError:
        return None
    size = len(a)

    def grid(meta: dict[str, int]) -> tuple[int]:
        return (triton.cdiv(size, meta["M"]) * triton.cdiv(size, meta["N"]),)

    return lambda: matmul[grid](a, b, c, size, size, size)


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


def checked(call: Launch, c: Any, reference: Any) -> float:
    """The time of a launch whose result is right."""
    c.fill_(float("nan"))
    took = milliseconds(call)
    assert (torch.linalg.norm(c - reference) / torch.linalg.norm(reference)).item() < 1e-2
    return took


def measure(examples: Iterable[Example], size: int) -> list[dict[str, Any]]:
    """TFLOP/s of examples and of their peers at size x size x size."""
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    c = torch.empty((size, size), device="cuda")
    reference = a.float() @ b.float()
    work = 2 * size**3 / 1e9
    triton = triton_launch(a, b, c)
    peers = {
        "cublas": work / milliseconds(lambda: a @ b),
        "triton": None if triton is None else work / checked(triton, c, reference),
    }
    rows: list[dict[str, Any]] = []
    for example in examples:
        times = [checked(call, c, reference) for call in example.launches(a, b, c)]
        ours = work / min(times)
        row = {"example": example.name, "size": size, "ours": ours, **peers}
        row["choice"] = times.index(min(times))
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--example", action="append", choices=[example.name for example in ALL])
    parser.add_argument("sizes", nargs="*", type=int, default=[2048, 4096, 8192])
    options = parser.parse_args()
    arch = device_arch()
    chosen = [
        example
        for example in ALL
        if example.runs_on(arch) and example.name in (options.example or example.name)
    ]
    rows = [row for size in options.sizes for row in measure(chosen, size)]
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{torch.cuda.get_device_name()}, bf16 GEMM, TFLOP/s")
    print(f"{'example':>10} {'size':>6} {'ours':>6} {'cuBLAS':>7} {'ratio':>6} {'Triton':>7} "
          f"{'ratio':>6} {'choice':>7}")  # fmt: skip
    for row in rows:
        ours, cublas, triton = (row[key] or float("nan") for key in ("ours", "cublas", "triton"))
        numbers = f"{ours:>6.0f} {cublas:>7.0f} {ours / cublas:>6.2f} {triton:>7.0f}"
        which = f"{ours / triton:>6.2f} {row['choice']:>7}"
        print(f"{row['example']:>10} {row['size']:>6} {numbers} {which}")


if __name__ == "__main__":
    main()
