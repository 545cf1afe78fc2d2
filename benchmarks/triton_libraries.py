"""Functions of libraries of Triton kernels, for triton_gpu.py: Liger-Kernel's and
flash-linear-attention's (pip install --no-deps liger-kernel fla-core einops), and SGLang's."""

from collections.abc import Callable, Iterator
from typing import Any

import torch  # pyright: ignore
from triton_sglang import works as of_sglang
from triton_tutorials import Work, random

BF16 = torch.bfloat16
TOKENS, WIDTH, WORDS = 8192, 4096, 32768


def liger(
    module: str, name: str, arguments: Callable[[], tuple[Any, ...]], reads: float, *given: Any,
    library: Callable[..., Any] | None = None, waits: bool = False,
) -> Work:  # fmt: skip
    """A function of Liger-Kernel's, and the bytes that it has to move; the result is the first."""

    def call(home: Any, *args: Any) -> Any:
        result = getattr(home, f"Liger{name}Function").apply(*args, *given)
        return result[0] if isinstance(result, tuple) else result

    return Work(
        f"Liger {module}", f"liger_kernel.ops.{module}", call, arguments, reads, library,
        "TB/s", 2e-2, waits,
    )  # fmt: skip


def of_liger() -> Iterator[Work]:
    """Norms, activations, losses."""
    functional = torch.nn.functional
    rows, matrix = TOKENS * WIDTH, (TOKENS, WIDTH)
    words, logits = 4096 * WORDS, (4096, WORDS)

    def of_matrices(count: int, *shape: int) -> Callable[[], tuple[Any, ...]]:
        return lambda: tuple(random(*shape, dtype=BF16) for _ in range(count))

    def labels() -> Any:
        return torch.randint(WORDS, (logits[0],), device="cuda")

    yield liger(
        "rms_norm", "RMSNorm", lambda: (random(*matrix, dtype=BF16), random(WIDTH, dtype=BF16)),
        4 * rows, 1e-5, library=lambda x, w: functional.rms_norm(x, (WIDTH,), w, 1e-5),
    )  # fmt: skip
    yield liger(
        "fused_add_rms_norm", "FusedAddRMSNorm",
        lambda: (*of_matrices(2, *matrix)(), random(WIDTH, dtype=BF16)), 8 * rows, 1e-5,
    )  # fmt: skip
    yield liger(
        "layer_norm", "LayerNorm", lambda: (random(*matrix, dtype=BF16), random(WIDTH, dtype=BF16),
                                            random(WIDTH, dtype=BF16)),
        4 * rows, 1e-5, library=lambda x, w, b: functional.layer_norm(x, (WIDTH,), w, b, 1e-5),
    )  # fmt: skip
    yield liger(
        "group_norm", "GroupNorm",
        lambda: (random(32, 512, 4096, dtype=BF16), random(512, dtype=BF16),
                 random(512, dtype=BF16)),
        4 * 32 * 512 * 4096, 512, 32, 1e-5,
        library=lambda x, w, b: functional.group_norm(x, 32, w, b, 1e-5),
    )  # fmt: skip
    yield liger(
        "swiglu", "SiLUMul", of_matrices(2, TOKENS, 11008), 6 * TOKENS * 11008,
        library=lambda a, b: functional.silu(a) * b,
    )  # fmt: skip
    yield liger(
        "geglu", "GELUMul", of_matrices(2, TOKENS, 11008), 6 * TOKENS * 11008,
        library=lambda a, b: functional.gelu(a, approximate="tanh") * b,
    )  # fmt: skip
    yield liger(
        "softmax", "Softmax", of_matrices(1, *matrix), 4 * rows,
        library=lambda x: torch.softmax(x, -1),
    )  # fmt: skip
    yield liger(
        "rope", "Rope",
        lambda: (random(4, 32, 2048, 128, dtype=BF16), random(4, 8, 2048, 128, dtype=BF16),
                 random(1, 2048, 128, dtype=BF16), random(1, 2048, 128, dtype=BF16)),
        4 * 4 * 40 * 2048 * 128,
    )  # fmt: skip
    yield liger(
        "cross_entropy", "CrossEntropy", lambda: (random(*logits, dtype=BF16), labels()),
        2 * words, None, library=lambda x, y: functional.cross_entropy(x.float(), y), waits=True,
    )  # fmt: skip
    yield liger(
        "kl_div", "KLDivLoss",
        lambda: tuple(torch.log_softmax(random(*logits, dtype=torch.float32), -1) for _ in "ab"),
        8 * words, "batchmean", True,
    )  # fmt: skip
    yield liger(
        "jsd", "JSD", lambda: tuple(torch.log_softmax(random(*logits), -1) for _ in range(2)),
        6 * words,
    )  # fmt: skip
    yield liger(
        "fused_linear_cross_entropy", "FusedLinearCrossEntropy",
        lambda: (random(4096, WIDTH, dtype=BF16), random(WORDS, WIDTH, dtype=BF16), labels()),
        2 * words, waits=True,
    )  # fmt: skip


def linear(
    module: str, name: str, more: Callable[..., dict[str, Any]], waits: bool = False
) -> Work:
    """A function of flash-linear-attention's on (batch, tokens, heads, 128), and its arguments
    beside queries, keys and values."""
    batch, tokens, heads, width = 4, 4096, 16, 128
    shape = (batch, tokens, heads, width)

    def call(home: Any, q: Any, k: Any, v: Any, others: Any) -> Any:
        return getattr(home, name)(q, k, v, **others)[0]

    def arguments() -> tuple[Any, ...]:
        q, k, v = (random(*shape, dtype=BF16) for _ in range(3))
        return q, torch.nn.functional.normalize(k, dim=-1), v, more(shape)

    # Of a chunk of 64: scores and their product with values, the state's update and its use.
    operations = 2 * batch * tokens * heads * width * (2 * 64 + 2 * width)
    return Work(
        f"fla {name}", f"fla.ops.{module}", call, arguments, operations, bound=3e-2, waits=waits
    )


def of_fla() -> Iterator[Work]:
    """Linear attention by chunks."""

    def decay(*shape: int) -> Any:
        return torch.nn.functional.logsigmoid(random(*shape, dtype=torch.float32) + 3)

    def beta(shape: Any) -> Any:
        return torch.rand(shape[:3], device="cuda").to(BF16)

    yield linear("linear_attn", "chunk_linear_attn", lambda shape: {"normalize": False})
    yield linear("retention", "chunk_retention", lambda shape: {}, waits=True)
    yield linear("simple_gla", "chunk_simple_gla", lambda shape: {"g": decay(*shape[:3])})
    yield linear("gla", "chunk_gla", lambda shape: {"g": decay(*shape)})
    yield linear("delta_rule", "chunk_delta_rule", lambda shape: {"beta": beta(shape)})
    yield linear(
        "gated_delta_rule", "chunk_gated_delta_rule",
        lambda shape: {"g": decay(*shape[:3]), "beta": beta(shape)},
    )  # fmt: skip


def works() -> list[Work]:
    """All of them."""
    return [*of_liger(), *of_fla(), *of_sglang()]
