"""Speed of the GEMMs on the GPU of this machine, beside cuBLAS (torch) and Triton in one run.

    python benchmarks/gemm_gpu.py [--json] [--example NAME ...] [SIZE ...]

examples/gemm_sm80.mlir on every GPU, examples/gemm_sm90.mlir on Hopper; those of
examples/tile_frontend, tiles in Python, in the same two ways, the faster one of a few tiles each,
as Triton's `tl.dot` is; the persistent GEMMs written in tiles on Hopper, of bf16, and of fp8 (e4m3,
summed up by the tensor cores, as by cuBLAS's fast accumulation). Device time by CUDA events,
medians of turns, a rest before each, the L2 flushed before each launch; a fresh random input,
checked against the float32 product of torch.
"""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from device_time import Launch, checked, cublas, launch_of, medians
from measured import parser, show

import tilewright as tw
from tilewright.launch.launcher import device_arch

EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))


@dataclass(frozen=True)
class Example:
    """A GEMM: where it runs, and its launches for matrices on the GPU, a few to choose from."""

    name: str
    runs_on: Callable[[str], bool]
    launches: Callable[[Any, Any, Any], Iterable[Launch]]
    element: str = "bfloat16"
    result: str = "float32"


# --- examples/*.mlir ------------------------------------------------------------------------------


@cache
def _compiled(name: str) -> tw.Kernel:
    return tw.compile((EXAMPLES / f"{name}.mlir").read_text(), device_arch())


def _sm80(a: Any, b: Any, c: Any) -> Iterable[Launch]:
    size = len(a)
    args = [a, b, c, *[size] * 6]
    yield launch_of(_compiled("gemm_sm80"), args, (-(-size // 64),) * 2, threads=128)


def _sm90(a: Any, b: Any, c: Any) -> Iterable[Launch]:
    size = len(a)
    maps = [
        tw.TensorMap(matrix, box=box, swizzle=128)
        for matrix, box in ((a, (128, 64)), (b, (64, 64)), (c, (64, 32)))
    ]
    grid = -(-size // 256), -(-size // 128)
    yield launch_of(_compiled("gemm_sm90"), [*maps, size], grid, threads=384)


def _persistent(name: str) -> Callable[[Any, Any, Any], Iterable[Launch]]:
    """An example with a CTA for every SM, in pairs; of its B, K is contiguous."""

    def launches(a: Any, b: Any, c: Any) -> Iterable[Launch]:
        ctas = torch.cuda.get_device_properties(0).multi_processor_count // 2 * 2
        yield launch_of(_compiled(name), [a, b.t().contiguous(), c], (ctas,), threads=384)

    return launches


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
            yield launch_of(kernel, [a, b, c], shape["grid"], threads=shape["block"][0])

    return launches


HOPPER = "sm_90a"
ALL = (
    Example("gemm_sm80", lambda arch: True, _sm80),
    Example("gemm_sm90", lambda arch: arch == HOPPER, _sm90),
    Example("tiles_sm80", lambda arch: True, _tiles(CP_ASYNC)),
    Example("tiles_sm90", lambda arch: arch == HOPPER, _tiles(TMA)),
    *(
        Example(
            name, lambda arch: arch == HOPPER, _persistent(f"tile_gemm_{name}"), element, "bfloat16"
        )
        for name, element in (
            ("sm90_persistent", "bfloat16"),
            ("sm90_fp8_multicast", "float8_e4m3fn"),
        )
    ),
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


def measure(examples: Iterable[Example], element: str, size: int) -> list[dict[str, Any]]:
    """TFLOP/s of examples and of cuBLAS and Triton at size x size x size, measured in turns."""
    a, b = (torch.randn(size, size, device="cuda").to(getattr(torch, element)) for _ in range(2))
    if element == "float8_e4m3fn":  # of which the tensor cores take K contiguous alone
        b = b.t()
    reference = a.float() @ b.float()
    peers = {"cublas": cublas(a, b)}
    theirs = torch.empty(reference.shape, device="cuda")
    triton = None if element == "float8_e4m3fn" else triton_launch(a, b, theirs)
    if triton is not None:
        peers["triton"] = checked(triton, [theirs], reference)
    rows: list[dict[str, Any]] = []
    for example in examples:
        c = torch.empty((size, size), device="cuda", dtype=getattr(torch, example.result))
        # Hopper cuts sums of fp8 at 13 bits below the largest product.
        bound = 1e-2 if element == "bfloat16" else size * 2.0**-17
        launches: dict[str | int, Launch] = dict(peers)
        for place, call in enumerate(example.launches(a, b, c)):
            launches[place] = checked(call, [c], reference, bound)
        rates = {name: 2 * size**3 / 1e9 / time for name, time in medians(launches).items()}
        best = max(launches.keys() - peers.keys(), key=rates.__getitem__)
        row = {"example": example.name, "size": size, "ours": rates[best], "choice": best}
        rows.append(row | {name: rates.get(name) for name in ("cublas", "triton")})
    return rows


def main() -> None:
    words = parser(__doc__)
    words.add_argument("--example", action="append", choices=[example.name for example in ALL])
    words.add_argument("sizes", nargs="*", type=int, default=[2048, 4096, 8192])
    options = words.parse_args()
    arch = device_arch()
    chosen = [
        example
        for example in ALL
        if example.runs_on(arch) and example.name in (options.example or example.name)
    ]
    rows = [
        row
        for element in dict.fromkeys(example.element for example in chosen)
        for size in options.sizes
        for row in measure([own for own in chosen if own.element == element], element, size)
    ]
    lines = [f"{torch.cuda.get_device_name()}, GEMM, TFLOP/s",
             f"{'example':>18} {'size':>6} {'ours':>6} {'cuBLAS':>7} {'ratio':>6} {'Triton':>7} "
             f"{'ratio':>6} {'choice':>7}"]  # fmt: skip
    for row in rows:
        ours, cublas, triton = (row[key] or float("nan") for key in ("ours", "cublas", "triton"))
        numbers = f"{ours:>6.0f} {cublas:>7.0f} {ours / cublas:>6.2f} {triton:>7.0f}"
        which = f"{ours / triton:>6.2f} {row['choice']:>7}"
        lines.append(f"{row['example']:>18} {row['size']:>6} {numbers} {which}")
    show(options, rows, lines)


if __name__ == "__main__":
    main()
