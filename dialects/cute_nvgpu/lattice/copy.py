"""Copies that feed warp-level MMAs: ldmatrix, stmatrix and cp.async."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.dialects.cute_nvgpu.targets import Target, target


@dataclass(frozen=True, slots=True)
class MatrixCopyRow:
    """`ldmatrix` or `stmatrix` of 8x8 matrices of 16-bit elements.

    Thread t holds columns 2*(t%4) and 2*(t%4)+1 of row t/4 of every matrix, one 32-bit
    register a matrix; row r of matrix i comes from the address that thread 8*i + r gives.
    Narrower elements ride along two or four to the 16 or 32 bits.
    """

    op: str
    numbers: tuple[int, ...]
    target: Target
    ptx_version: tuple[int, int]
    section: str
    row_bytes: int = 16

    def mnemonic(self, number: int, transposed: bool) -> str:
        trans = ".trans" if transposed else ""
        return f"{self.op}.sync.aligned.m8n8.x{number}{trans}.shared.b16"


LDMATRIX = MatrixCopyRow("ldmatrix", (1, 2, 4), target("sm_75"), (6, 5), "9.7.14.5.15")
STMATRIX = MatrixCopyRow("stmatrix", (1, 2, 4), target("sm_90"), (7, 8), "9.7.14.5.16")


@dataclass(frozen=True, slots=True)
class AsyncCopyRow:
    """`cp.async.CACHE.shared.global [dst], [src], cp-size{, src-size}`: legal sizes in bytes."""

    sizes: dict[str, tuple[int, ...]]
    target: Target
    ptx_version: tuple[int, int]
    section: str

    def mnemonic(self, cache: str) -> str:
        return f"cp.async.{cache}.shared.global"


CP_ASYNC = AsyncCopyRow({"ca": (4, 8, 16), "cg": (16,)}, target("sm_80"), (7, 0), "9.7.9.25.3.1")
