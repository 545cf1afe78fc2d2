"""A GEMM in Triton, `tl.dot` over blocks of K with float32 accumulation, for gemm_gpu.py."""

import triton
import triton.language as tl

CONFIGURATIONS = [
    triton.Config({"M": m, "N": n, "K": k, "BAND": 8}, num_stages=stages, num_warps=warps)
    for m, n, k, stages, warps in (
        (128, 256, 64, 3, 8),
        (128, 256, 64, 4, 8),
        (128, 128, 64, 4, 4),
        (128, 128, 64, 4, 8),
        (128, 128, 32, 4, 4),
        (64, 256, 32, 4, 4),
    )
]


@triton.autotune(configs=CONFIGURATIONS, key=["rows", "columns", "depth"])
@triton.jit
def matmul(
    a, b, c, rows, columns, depth,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BAND: tl.constexpr,
):  # fmt: skip
    """c = a b, row-major: a rows x depth, b depth x columns; whole blocks of K."""
    number = tl.program_id(0)
    across, down = tl.cdiv(columns, N), tl.cdiv(rows, M)
    first = number // (BAND * across) * BAND
    height = min(down - first, BAND)
    within = number % (BAND * across)
    i = (first + within % height) * M + tl.arange(0, M)
    j = within // height * N + tl.arange(0, N)
    k = tl.arange(0, K)
    a_block = a + (i % rows)[:, None] * depth + k[None, :]
    b_block = b + k[:, None] * columns + (j % columns)[None, :]
    acc = tl.zeros((M, N), dtype=tl.float32)
    for _ in range(0, depth, K):
        acc = tl.dot(tl.load(a_block), tl.load(b_block), acc)
        a_block += K
        b_block += K * columns
    mask = (i < rows)[:, None] & (j < columns)[None, :]
    tl.store(c + i[:, None] * columns + j[None, :], acc, mask=mask)
