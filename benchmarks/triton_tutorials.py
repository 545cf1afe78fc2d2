"""Functions of Triton's tutorials, for triton_gpu.py."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch  # pyright: ignore
import triton  # pyright: ignore

F16, F32 = torch.float16, torch.float32


@dataclass(frozen=True, slots=True)
class Work:
    """A call of a kernel's function: its module, by name or a tutorial's file, what is called with
    the module and the arguments, the arguments, what is done (operations, or bytes), and torch's
    function of the same, if there is one. One that waits for the GPU no graph can have."""

    name: str
    home: str
    call: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    amount: float
    library: Callable[..., Any] | None = None
    unit: str = "TFLOP/s"
    bound: float = 1e-2
    waits: bool = False


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
