"""Triton's tutorials on the GPU of this machine: compiled by Triton, by us, and the libraries.

    python benchmarks/triton_gpu.py CHECKOUT [--only WORD ...] [--json]     # of triton-lang/triton

Each tutorial's own function runs, as it is imported from its file, once under Triton and once under
`tilewright.triton.on_gpu()`, autotuning included; results are compared with torch's. Time is device
time by CUDA events of a CUDA graph of the call, the median of 20, the L2 flushed before each. The
last lines are the geometric mean of ours over Triton's, and the least.
"""

import importlib.util
import math
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch  # pyright: ignore
import triton  # pyright: ignore
from device_time import milliseconds
from measured import parser, show

import tilewright as tw

TUTORIALS = Path("python", "tutorials")
F16, F32 = torch.float16, torch.float32


@dataclass(frozen=True, slots=True)
class Work:
    """A call of a tutorial's function: its file, what is called with the module and the arguments,
    the arguments, what is done (operations, or bytes), and torch's function of the same."""

    name: str
    tutorial: str
    call: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    amount: float
    library: Callable[..., Any]
    unit: str = "TFLOP/s"
    bound: float = 1e-2


def random(*shape: int, dtype: Any = F16) -> Any:
    """Numbers from -0.5 to 0.5."""
    return (torch.rand(shape, device="cuda") - 0.5).to(dtype)


def elementwise() -> Iterator[Work]:
    """Tutorials 1, 4, 7 and 11."""
    n = 1 << 26
    yield Work(
        "vector add 2^26 f32", "01-vector-add", lambda module, x, y: module.add(x, y),
        lambda: (random(n, dtype=F32), random(n, dtype=F32)), 12 * n, torch.add, "TB/s",
    )  # fmt: skip
    yield Work(
        "dropout 2^26 f32", "04-low-memory-dropout",
        lambda module, x, keep: module.dropout(x, keep, 0.5),
        lambda: (random(n, dtype=F32), (torch.rand(n, device="cuda") > 0.5).to(torch.int32)),
        12 * n, lambda x, keep: torch.where(keep.bool(), x / 0.5, 0.0), "TB/s",
    )  # fmt: skip
    yield Work(
        "seeded dropout 2^26 f32", "04-low-memory-dropout",
        lambda module, x: module.seeded_dropout(x, 0.0, 123),
        lambda: (random(n, dtype=F32),), 8 * n, lambda x: x.clone(), "TB/s",
    )  # fmt: skip

    def asin(module: Any, x: Any) -> Any:
        out = torch.empty_like(x)
        module.asin_kernel[(triton.cdiv(n, 1024),)](x, out, n, BLOCK_SIZE=1024)
        return out

    yield Work(
        "asin 2^26 f32", "07-extern-functions", asin, lambda: (random(n, dtype=F32),), 8 * n,
        torch.asin, "TB/s",
    )  # fmt: skip
    yield Work(
        "vector add 2^26 f32, PDL", "11-programmatic-dependent-launch",
        lambda module, x, y: module.add(x, y),
        lambda: (random(n, dtype=F32), random(n, dtype=F32)), 12 * n, torch.add, "TB/s",
    )  # fmt: skip


def rows() -> Iterator[Work]:
    """Tutorials 2 and 5."""
    yield Work(
        "softmax 16384x4096 f32", "02-fused-softmax", lambda module, x: module.softmax(x),
        lambda: (random(16384, 4096, dtype=F32),), 8 * 16384 * 4096,
        lambda x: torch.softmax(x, 1), "TB/s",
    )  # fmt: skip
    for m, n in ((4096, 8192), (4096, 4096)):
        yield Work(
            f"layer norm {m}x{n} f16", "05-layer-norm",
            lambda module, x, w, b: module.layer_norm(x, (x.shape[1],), w, b, 1e-5),
            lambda m=m, n=n: (random(m, n), random(n), random(n)), 4 * m * n,
            lambda x, w, b: torch.nn.functional.layer_norm(x, (x.shape[1],), w, b, 1e-5), "TB/s",
        )  # fmt: skip

    def backward(x: Any, w: Any, b: Any, dy: Any, norm: Callable[..., Any]) -> Any:
        x, w, b = (one.detach().requires_grad_() for one in (x, w, b))
        return torch.autograd.grad(norm(x, (x.shape[1],), w, b, 1e-5), (x, w, b), dy)[0]

    yield Work(
        "layer norm and its gradient 4096x8192 f16", "05-layer-norm",
        lambda module, *args: backward(*args, module.layer_norm),
        lambda: (random(4096, 8192), random(8192), random(8192), random(4096, 8192)),
        12 * 4096 * 8192, lambda *args: backward(*args, torch.nn.functional.layer_norm), "TB/s",
    )  # fmt: skip


SHAPES = (
    *((side, side, side) for side in (512, 1024, 2048, 4096, 8192)),
    (16, 4096, 4096), (128, 4096, 4096), (512, 4096, 4096),
    (2048, 11008, 4096), (4096, 4096, 14336), (8192, 1024, 8192),
)  # fmt: skip


def products() -> Iterator[Work]:
    """Tutorials 3, 8 and 9."""
    for m, n, k in SHAPES:
        yield Work(
            f"matmul {m}x{n}x{k}", "03-matrix-multiplication",
            lambda module, a, b: module.matmul(a, b),
            lambda m=m, n=n, k=k: (random(m, k), random(k, n)), 2 * m * n * k, torch.matmul,
        )  # fmt: skip
    side = 4096

    def matrices() -> tuple[Any, Any]:
        return random(side, side), random(side, side)

    for name, transposed in (("matmul", True), ("matmul_persistent", True), ("matmul_tma", False),
                             ("matmul_tma_persistent", False),
                             ("matmul_descriptor_persistent", False)):  # fmt: skip

        def call(module: Any, a: Any, b: Any, name: str = name, by_rows: bool = transposed) -> Any:
            function = getattr(module, name)
            return function(a, b.T) if by_rows else function(a, b, False)

        yield Work(
            f"{name} {side}", "09-persistent-matmul", call, matrices, 2 * side**3,
            lambda a, b: torch.matmul(a, b.T),
        )  # fmt: skip
    for name, by_rows in (("group_gemm_fn", True), ("group_gemm_tma_fn", False)):
        yield grouped(name, by_rows)


def grouped(name: str, by_rows: bool) -> Work:
    """Tutorial 8's function of four products, the launch alone."""
    side, many = 1024, 4

    def arguments() -> tuple[Any, ...]:
        group = [(random(side, side), random(side, side), random(side, side)) for _ in range(many)]
        pointers = [torch.tensor([x.data_ptr() for x in column], device="cuda")
                    for column in zip(*group, strict=True)]  # fmt: skip
        numbers = torch.full((3 * many,), side, dtype=torch.int32, device="cuda")
        return group, *pointers, numbers

    def call(module: Any, group: Any, a: Any, b: Any, c: Any, numbers: Any) -> Any:
        triton.set_allocator(lambda size, *_: torch.empty(size, dtype=torch.int8, device="cuda"))
        if by_rows:
            module.triton_perf_fn(a, b, c, numbers, numbers, many)
        else:
            module.triton_tma_perf_fn(a, b, c, numbers, numbers, many, F16)
        return torch.stack([one[2] for one in group])

    def library(group: Any, *_: Any) -> Any:
        return torch.stack([a @ (b if by_rows else b.T) for a, b, _ in group])

    return Work(f"{name} 4 of {side}", "08-grouped-gemm", call, arguments, 2 * many * side**3,
                library)  # fmt: skip


def attention() -> Iterator[Work]:
    """Tutorial 6."""
    for b, h, length, dim in ((4, 16, 2048, 64), (2, 16, 4096, 64), (2, 16, 4096, 128),
                              (1, 16, 8192, 128)):  # fmt: skip
        for causal in (False, True):

            def call(module: Any, q: Any, k: Any, v: Any, causal: bool = causal) -> Any:
                return module.attention(q, k, v, causal, q.shape[-1] ** -0.5, False)

            def library(q: Any, k: Any, v: Any, causal: bool = causal) -> Any:
                from torch.nn.attention import SDPBackend, sdpa_kernel  # pyright: ignore

                with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                    return torch.nn.functional.scaled_dot_product_attention(
                        q, k, v, is_causal=causal)  # fmt: skip

            yield Work(
                f"attention {(b, h, length, dim)}{' causal' * causal}", "06-fused-attention",
                call, lambda s=(b, h, length, dim): tuple(random(*s) for _ in range(3)),
                4 * b * h * length * length * dim // (1 + causal), library,
            )  # fmt: skip


def works() -> list[Work]:
    """All of them."""
    return [*elementwise(), *rows(), *products(), *attention()]


def loaded(checkout: Path, tutorial: str, by: str) -> Any:
    """A tutorial's module, without its tables."""
    path = checkout / TUTORIALS / f"{tutorial}.py"
    spec = importlib.util.spec_from_file_location(f"{tutorial}, {by}", path)
    assert spec is not None and spec.loader is not None
    module, report = importlib.util.module_from_spec(spec), triton.testing.perf_report
    triton.testing.perf_report = lambda *_: lambda _: SimpleNamespace(run=lambda **_: None)
    try:
        spec.loader.exec_module(module)
    finally:
        triton.testing.perf_report = report
    return module


def time_of(run: Callable[[], Any]) -> tuple[float, Any]:
    """The device time of a call in milliseconds, and its result."""
    for _ in range(3):
        run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = run()
    graph.replay()
    torch.cuda.synchronize()
    result = result.clone()
    return milliseconds(graph.replay), result


Row = dict[str, Any]


class Tutorials:
    """The modules of tutorials, by who compiles them."""

    def __init__(self, checkout: Path) -> None:
        self.checkout = checkout
        self.modules: dict[tuple[str, str], Any] = {}

    def module(self, tutorial: str, by: str) -> Any:
        """A tutorial's module for a compiler."""
        if (tutorial, by) not in self.modules:
            self.modules[tutorial, by] = loaded(self.checkout, tutorial, by)
        return self.modules[tutorial, by]

    def measure(self, work: Work) -> Row:
        """The rates of a work."""
        torch.manual_seed(0)
        arguments, row = work.arguments(), {"work": work.name, "unit": work.unit}
        took, wanted = time_of(lambda: work.library(*arguments))
        row["library"] = work.amount / took / 1e9
        ways: dict[str, AbstractContextManager[None]] = {
            "Triton": nullcontext(), "ours": tw.triton.on_gpu(),
        }  # fmt: skip
        for by, context in ways.items():
            try:
                with context:
                    module = self.module(work.tutorial, by)
                    took, result = time_of(lambda module=module: work.call(module, *arguments))
                norm = torch.linalg.norm
                error = (norm((result - wanted).float()) / norm(wanted.float())).item()
                assert error < work.bound, f"wrong result, by {error}"
                row[by] = work.amount / took / 1e9
            except Exception as error:
                traceback.print_exc(limit=-4)
                row[f"{by} failed"] = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        return row


def line(row: Row) -> str:
    """A row of the table."""
    digits = ".3f" if row["unit"] == "TB/s" else ".1f"
    shown = [format(row[by], digits) if by in row else "-" for by in ("ours", "Triton", "library")]
    ratios = [f"{row['ours'] / row[by]:.2f}" if by in row and "ours" in row else "-"
              for by in ("Triton", "library")]  # fmt: skip
    numbers = " ".join(f"{text:>8}" for text in (*shown, *ratios))
    return f"{row['work']:44} {numbers} {row['unit']} {row.get('ours failed', '')}"


def summary(rows: list[Row]) -> str:
    """The mean and the least of ours over Triton's."""
    ratios = {row["work"]: row["ours"] / row["Triton"] for row in rows
              if "ours" in row and "Triton" in row}  # fmt: skip
    if not ratios:
        return "nothing ran by both"
    mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
    least = min(ratios, key=lambda work: ratios[work])
    return (
        f"geometric mean of ours / Triton: {mean:.3f} over {len(ratios)} of {len(rows)}; "
        f"the least {ratios[least]:.2f}, {least}"
    )


def main() -> None:
    """Measure and print the table."""
    words = parser(__doc__)
    words.add_argument("checkout", type=Path)
    words.add_argument("--only", nargs="*", default=[], help="words in a work's name")
    options = words.parse_args()
    chosen = [
        work for work in works()
        if not options.only or any(word in work.name for word in options.only)
    ]  # fmt: skip
    print(f"{'':44} {'ours':>8} {'Triton':>8} {'library':>8} {'/Triton':>8} {'/lib.':>8}",
          file=sys.stderr)  # fmt: skip
    bench, rows = Tutorials(options.checkout), list[Row]()
    for work in chosen:
        rows.append(bench.measure(work))
        print(line(rows[-1]), file=sys.stderr, flush=True)
    show(options, rows, [*map(line, rows), summary(rows)])


if __name__ == "__main__":
    main()
