"""Asynchronous copies that feed warp-level MMAs: cp.async."""

from __future__ import annotations

from dataclasses import dataclass

from tilewright.dialects.cute_nvgpu.lattice.instruction import InstructionRow
from tilewright.dialects.cute_nvgpu.lattice.operand_forms import (
    Address,
    Choice,
    Constant,
    OperandForm,
)
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

    def operands(self, cache: str) -> tuple[OperandForm, ...]:
        """Those of a copy, in PTX's order."""
        sizes = self.sizes[cache]
        fill = Choice("src-size", range(max(sizes) + 1), optional=True, type_="u32", bounded=True)
        return Address("dst"), Address("src"), Constant("cp-size", sizes), fill


CP_ASYNC = AsyncCopyRow({"ca": (4, 8, 16), "cg": (16,)}, target("sm_80"), (7, 0), "9.7.9.25.3.1")
CP_ASYNC_COMMIT_GROUP = InstructionRow(
    "cp.async.commit_group", "make the thread's cp.async that are in no group yet the latest group",
    ("cp.async.commit_group",), CP_ASYNC.target, CP_ASYNC.ptx_version, "9.7.9.25.3.2",
)  # fmt: skip
CP_ASYNC_WAIT_GROUP = InstructionRow(
    "cp.async.wait_group", "wait until at most the latest N groups are not complete",
    ("cp.async.wait_group",), CP_ASYNC.target, CP_ASYNC.ptx_version, "9.7.9.25.3.3",
    (Constant("N"),),
)  # fmt: skip
