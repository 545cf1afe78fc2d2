"""Launches of libraries on the problems of cuTile's samples, beside ours, and their results."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import cutile_cases
import user_kernel_cases
from device_time import Launch, cublas

if TYPE_CHECKING:
    from cutile_gpu import Bench


def library(bench: Bench) -> tuple[Launch, str] | None:
    """The library's launch of the same work, through torch."""
    torch, arguments = bench.torch, bench.arguments
    match bench.case.sample:
        case "MatMul" | "BatchMatMul":
            torch.backends.cuda.matmul.allow_tf32 = True
            return cublas(*arguments), "cuBLAS"
        case "AttentionFMHA":
            from torch.nn.attention import SDPBackend, sdpa_kernel

            attended = attention(bench)

            def run() -> None:
                with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                    bench.latest = attended()  # type: ignore[attr-defined]

            return run, "cuDNN"
        case "MoE" if bench.case.kernel == "fused_moe_kernel":
            a, b, _, _, rows, _, shared = arguments
            return cublas(a[rows.long() // shared], b[0].t()), "cuBLAS, one expert"
        case cutile_cases.OWN:
            return library_of_own(bench)
        case "VectorAddition" | "MoE":
            a, b, c = arguments
            return (lambda: torch.add(a, b, out=c)), "torch"
        case "Transpose":
            x, y = arguments
            return (lambda: y.copy_(x)), "copy"
        case "FFT":
            x = _complex(arguments[0]).reshape(len(arguments[0]), -1)
            return (lambda: torch.fft.fft(x)), "cuFFT"
        case _:
            x, y = arguments[0], bench.results()[0]
            return (lambda: y.copy_(x)), "copy"


def attention(bench: Bench) -> Callable[[], Any]:
    """Attention by torch, of fp8 in bf16."""
    q, k, v = (one.bfloat16().contiguous() for one in bench.arguments[:3])
    causal, scale = "causal" in bench.case.configuration, bench.arguments[4]
    return partial(
        bench.torch.nn.functional.scaled_dot_product_attention,
        q, k, v, is_causal=causal, scale=scale, enable_gqa=True,
    )  # fmt: skip


def library_of_own(bench: Bench) -> tuple[Launch, str]:
    """The same of a kernel that no sample has: of what memory bounds a copy of as many bytes."""
    torch, arguments = bench.torch, bench.arguments
    match bench.case.kernel:
        case "attention_backward":
            from torch.nn.attention import SDPBackend, sdpa_kernel

            q, k, v = (one[None].detach().requires_grad_() for one in arguments[:3])
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                result = torch.nn.functional.scaled_dot_product_attention(q, k, v)
            gradient = arguments[3][None]
            return lambda: torch.autograd.grad(
                result, (q, k, v), gradient, retain_graph=True
            ), "cuDNN"  # fmt: skip
        case "grouped_gemm":
            return cublas(arguments[0], arguments[1][0], arguments[3]), "cuBLAS, one expert"
        case _:
            x, y = torch.empty(2, int(bench.problem.bytes) // 2, dtype=torch.uint8, device="cuda")
            return lambda: y.copy_(x), "copy"


def _complex(array: Any) -> Any:
    """The complex numbers whose parts are neighbours."""
    import torch

    return torch.view_as_complex(array.reshape(*array.shape[:-1], -1, 2))


def transformed(bench: Bench) -> Any:
    """The transform as the kernel makes it: three products by matrices, factors between them."""
    torch, case = bench.torch, bench.case
    x, w0, w1, w2, t0, t1 = (
        _complex(one.float()).squeeze(-1)
        for one in bench.arguments
        if one is not bench.arguments[1]
    )
    x = x.reshape(-1, *case.constants[1:4])
    x = torch.einsum("ap,npqr->naqr", w0, x) * t0.reshape(x.shape[1:])
    x = torch.einsum("bq,naqr->nbra", w1, x) * t1[..., None]
    x = torch.einsum("cr,nbra->ncba", w2, x).contiguous()
    return torch.view_as_real(x).reshape(bench.arguments[1].shape)


def multiplied_by_experts(bench: Bench) -> Any:
    """Rows by the matrices of their experts."""
    a, b, result, weights, rows, owners, shared = bench.arguments
    expected = bench.torch.empty_like(result)
    for own, owner in zip(rows.long().chunk(len(owners)), owners.tolist(), strict=True):
        expected[own] = a[own // shared] @ b[owner].t()
    return expected * weights[:, None] if bench.case.constants[0] else expected


def expected(bench: Bench) -> Any:
    """The first result, by torch."""
    torch, arguments = bench.torch, bench.arguments
    match bench.case.sample:
        case "MatMul" | "BatchMatMul":
            return arguments[0].float() @ arguments[1].float()
        case "AttentionFMHA":
            return attention(bench)()
        case "VectorAddition":
            return arguments[0] + arguments[1]
        case "Transpose":
            return arguments[0].t()
        case "FFT":
            return transformed(bench)
        case "MoE" if bench.case.kernel == "fused_moe_kernel":
            return multiplied_by_experts(bench)
        case "MoE":
            return torch.nn.functional.silu(arguments[0].float()) * arguments[1]
        case cutile_cases.OWN:
            given = [_numbers(one) if hasattr(one, "shape") else one for one in arguments]
            return torch.from_numpy(user_kernel_cases.result(bench.case, *given)).cuda()
        case _:
            x, w, b = (one.float() for one in arguments[:3])
            return torch.nn.functional.layer_norm(x, x.shape[-1:], w, b, arguments[-1])


def _numbers(array: Any) -> Any:
    """The array in NumPy, floats as f32."""
    return (array.float() if array.is_floating_point() else array).cpu().numpy()
