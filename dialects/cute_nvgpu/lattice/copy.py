"""Asynchronous copies that feed warp-level MMAs: cp.async."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.dialects.cute_nvgpu.lattice.targets import Target, target


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
