"""Functions of SGLang's Triton kernels, for triton_gpu.py (pip install --no-deps sglang msgspec):
attention, products of quantized matrices, experts."""

import sys
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import torch  # pyright: ignore
import triton.language as tl  # pyright: ignore
from triton_tutorials import Work, random

BF16, F32, I32 = torch.bfloat16, torch.float32, torch.int32
TOKENS, WIDTH, GROUP = 4096, 4096, 128
BATCH, CONTEXT, HEADS, SHARED, DIM, SPLITS = 64, 4096, 32, 8, 128, 8
EXPERTS, CHOSEN = 8, 2
KERNELS = "sglang.kernels.ops."


class Absent:
    """The answers of a server that is not there: no platform but CUDA, nothing switched on."""

    def __bool__(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *args: Any, **_: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) else self


def absent_from(name: str) -> Any:
    """The value of a name of a module of the server's: no for a question."""
    if name.startswith("__"):
        raise AttributeError(name)
    return (lambda *_: False) if name.startswith("is_") else Absent()


class Server:
    """Finds the packages of SGLang's kernels as empty ones, as they import its server, and of the
    rest of SGLang modules of which all is `Absent`."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Where a module is; a file of kernels is left to others."""
        if name.partition(".")[0] != "sglang":
            return None
        spec = ModuleSpec(name, self, is_package=True)
        if not f"{name}.".startswith(KERNELS) and not KERNELS.startswith(f"{name}."):
            return spec
        homes = [str(Path(home, *name.split("."))) for home in sys.path]
        spec.submodule_search_locations = [home for home in homes if Path(home).is_dir()]
        return spec if spec.submodule_search_locations else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module."""
        module = ModuleType(spec.name)
        module.__getattr__ = absent_from  # type: ignore[method-assign]
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to do."""


def sglang(
    module: str, name: str, call: Callable[..., Any], arguments: Callable[[], tuple[Any, ...]],
    amount: float, library: Callable[..., Any] | None = None, unit: str = "TFLOP/s",
) -> Work:  # fmt: skip
    """A function of SGLang's, which `call` calls."""
    home = f"{KERNELS}{module}"
    return Work(f"SGLang {name}", home, call, arguments, amount, library, unit, 3e-2)


def attention() -> Iterator[Work]:
    """A token for each sequence of a batch, whose keys and values lie in pages, and whole ones."""

    def pages() -> tuple[Any, ...]:
        slots = BATCH * CONTEXT
        q, keys, values = (random(slots if heads == SHARED else BATCH, heads, DIM, dtype=BF16)
                           for heads in (HEADS, SHARED, SHARED))  # fmt: skip
        where = torch.randperm(slots, device="cuda").to(I32)
        first = torch.arange(0, slots + 1, CONTEXT, device="cuda", dtype=I32)
        return q, keys, values, where, first

    def decode(module: Any, q: Any, keys: Any, values: Any, where: Any, first: Any) -> Any:
        parts = torch.empty(BATCH, HEADS, SPLITS, DIM, dtype=F32, device="cuda")
        sums = torch.empty(BATCH, HEADS, SPLITS, dtype=F32, device="cuda")
        splits = torch.full((BATCH,), SPLITS, dtype=I32, device="cuda")
        out = torch.empty_like(q)
        module.decode_attention_fwd(
            q, keys, values, out, first, where, parts, sums, splits, SPLITS, DIM**-0.5, 1.0, 1.0,
        )  # fmt: skip
        return out

    def gathered(q: Any, keys: Any, values: Any, where: Any, _: Any) -> Any:
        shape = BATCH, CONTEXT, SHARED, DIM
        keys, values = (x[where.long()].view(shape).transpose(1, 2) for x in (keys, values))
        attention = torch.nn.functional.scaled_dot_product_attention
        return attention(q[:, :, None], keys, values, enable_gqa=True)[:, :, 0]

    yield sglang(
        "attention.decode_attention", "decode attention, paged", decode, pages,
        2 * 2 * BATCH * CONTEXT * SHARED * DIM, gathered, "TB/s",
    )  # fmt: skip

    def prefill(module: Any, q: Any, k: Any, v: Any) -> Any:
        out = torch.empty_like(q)
        first = torch.arange(0, TOKENS, CONTEXT, device="cuda", dtype=I32)
        module.context_attention_fwd(q, k, v, out, first, torch.full_like(first, CONTEXT), CONTEXT)
        return out

    def causal(q: Any, k: Any, v: Any) -> Any:
        q, k, v = (x.view(-1, CONTEXT, x.shape[1], DIM).transpose(1, 2) for x in (q, k, v))
        attention = torch.nn.functional.scaled_dot_product_attention
        out = attention(q, k, v, is_causal=True, enable_gqa=True)
        return out.transpose(1, 2).reshape(TOKENS, HEADS, DIM)

    yield sglang(
        "attention.prefill_attention", "prefill attention", prefill,
        lambda: tuple(random(TOKENS, heads, DIM, dtype=BF16) for heads in (HEADS, SHARED, SHARED)),
        2 * TOKENS * CONTEXT * HEADS * DIM, causal,
    )  # fmt: skip


def by_blocks(x: Any, scales: Any) -> Any:
    """A quantized matrix times the scales of its blocks."""
    for axis in (0, 1):
        scales = scales.repeat_interleave(x.shape[axis] // scales.shape[axis], axis)
    return x.float() * scales


def products() -> Iterator[Work]:
    """Products of quantized matrices."""
    operations = 2 * TOKENS * WIDTH * WIDTH

    def quantized(dtype: Any, rows: int) -> tuple[Any, Any]:
        numbers = random(rows, WIDTH, dtype=F32) * (254 if dtype == torch.int8 else 8)
        tall = 1 if rows == TOKENS else GROUP
        return numbers.to(dtype), torch.rand(rows // tall, WIDTH // GROUP, device="cuda") + 0.5

    def blocks(dtype: Any) -> Callable[[], tuple[Any, ...]]:
        def arguments() -> tuple[Any, ...]:
            (a, a_scales), (b, b_scales) = quantized(dtype, TOKENS), quantized(dtype, 2 * WIDTH)
            return a, b, a_scales, b_scales

        return arguments

    def library(a: Any, b: Any, a_scales: Any, b_scales: Any) -> Any:
        return by_blocks(a, a_scales).to(BF16) @ by_blocks(b, b_scales).to(BF16).T

    for name, home, dtype in (
        ("w8a8_block_int8_matmul", "gemm.int8_kernel", torch.int8),
        ("w8a8_block_fp8_matmul_triton", "gemm.fp8_kernel", torch.float8_e4m3fn),
    ):
        yield sglang(
            home, name,
            lambda module, *args, name=name: getattr(module, name)(*args, [GROUP, GROUP], BF16),
            blocks(dtype), 2 * operations, library,
        )  # fmt: skip

    def columns() -> tuple[Any, ...]:
        (a, _), (b, _) = (quantized(torch.float8_e4m3fn, rows) for rows in (TOKENS, WIDTH))
        return a, b.T, *(torch.rand(n, 1, device="cuda") for n in (TOKENS, WIDTH))

    yield sglang(
        "gemm.fp8_kernel", "triton_scaled_mm fp8",
        lambda module, *args: module.triton_scaled_mm(*args, BF16), columns, operations,
        lambda a, b, x, y: ((a.to(BF16) @ b.to(BF16)).float() * x * y.T).to(BF16),
    )  # fmt: skip

    def words() -> tuple[Any, ...]:
        shapes = (WIDTH, WIDTH // 8), (WIDTH // GROUP, WIDTH // 8)
        packed, zeros = (torch.randint(-1 << 31, 1 << 31, shape, device="cuda").to(I32)
                         for shape in shapes)  # fmt: skip
        return packed, random(WIDTH // GROUP, WIDTH), zeros

    def unpacked(packed: Any, scales: Any, zeros: Any) -> Any:
        order = torch.arange(8, device="cuda")
        places = (order // 2 + order % 2 * 4) * 4
        whole, none = ((x[..., None] >> places & 15).flatten(1) for x in (packed, zeros))
        scales, none = (x.repeat_interleave(GROUP, 0) for x in (scales, none))
        return (whole - none) * scales

    yield sglang(
        "quantization.awq_triton", "awq_dequantize_triton int4",
        lambda module, packed, scales, zeros: module.awq_dequantize_triton(packed, scales, zeros),
        words, WIDTH * WIDTH * 2.5, unpacked, "TB/s",
    )  # fmt: skip


def experts() -> Iterator[Work]:
    """A product of each token with the matrices of some experts."""
    block = {"BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 128, "BLOCK_SIZE_K": 64, "GROUP_SIZE_M": 8,
             "num_warps": 8, "num_stages": 4}  # fmt: skip

    def arguments(weights: Any, scales: Any = None) -> tuple[Any, ...]:
        ids = torch.rand(TOKENS, EXPERTS, device="cuda").topk(CHOSEN).indices.to(I32)
        size, order, blocks = block["BLOCK_SIZE_M"], list[Any](), list[int]()
        for expert in range(EXPERTS):
            own = (ids.flatten() == expert).nonzero().flatten()
            count = -(-len(own) // size)
            order += [own, own.new_full((count * size - len(own),), ids.numel())]
            blocks += [expert] * count
        numbers = (
            torch.tensor(x, dtype=I32, device="cuda") for x in (blocks, [size * len(blocks)])
        )
        return (
            random(TOKENS, WIDTH, dtype=BF16),
            weights,
            scales,
            torch.ones(ids.shape, device="cuda"),
            ids,
            torch.cat(order).to(I32),
            *numbers,
        )

    def words() -> tuple[Any, ...]:
        shape = EXPERTS, WIDTH, WIDTH // 2
        return arguments(
            torch.randint(256, shape, device="cuda").to(torch.uint8),
            random(EXPERTS, WIDTH, WIDTH // GROUP, dtype=BF16),
        )

    def call(module: Any, x: Any, weights: Any, scales: Any, *numbers: Any) -> Any:
        out, packed = x.new_empty(TOKENS, CHOSEN, WIDTH), scales is not None
        module.invoke_fused_moe_kernel(
            x, weights, None, out, None, scales, None, *numbers, False, CHOSEN, block, tl.bfloat16,
            False, False, False, packed, False, [0, GROUP] if packed else None,
        )  # fmt: skip
        return out

    for name, of in (
        ("fused_moe_kernel", lambda: arguments(random(EXPERTS, WIDTH, WIDTH, dtype=BF16))),
        ("fused_moe_kernel_gptq_awq int4", words),
    ):
        yield sglang(
            "moe.fused_moe_triton_kernels", name, call, of, 2 * TOKENS * CHOSEN * WIDTH * WIDTH
        )


def works() -> list[Work]:
    """All of them, where SGLang is installed."""
    if find_spec("sglang") is None:
        return []
    sys.meta_path.insert(0, Server())
    return [*attention(), *products(), *experts()]
