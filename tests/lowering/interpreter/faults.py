"""Kernels that do what no kernel may do, and what must be said of them.

Every kernel runs at both levels. The comment `// HERE` stands on the line of the op that must be
named, `// OTHER` on the line of the access that it races with.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from run_levels import LEVELS
from without_checks import without_checks

import tilewright as tw

SMEM = "#cute<space smem>"
TILE = f"memref<64xi32, {SMEM}>"
HALVES = f"memref<64x24xf16, {SMEM}>"
# What an op of the source is called after the lowering.
LOWERED = {
    "memref.load": "ptx.ld",
    "memref.store": "ptx.st",
    "cute_nvgpu.address.store": "ptx.st",
    "cute_nvgpu.fragment.load": "ptx.ld",
    "cute_nvgpu.fragment.store": "ptx.st",
    "cute_nvgpu.cp.async": "ptx.cp.async",
    "cute_nvgpu.ldmatrix": "ptx.ldmatrix",
    "cute_nvgpu.stmatrix": "ptx.stmatrix",
    "cute_nvgpu.movmatrix": "ptx.movmatrix",
    "cute_nvgpu.sm80.mma": "ptx.mma",
    "cute_nvgpu.wmma.load": "ptx.wmma.load",
    "cute_nvgpu.wmma.store": "ptx.wmma.store",
    "cute_nvgpu.bar.sync": "ptx.bar.sync",
    "cute_nvgpu.bar.arrive": "ptx.bar.arrive",
    "cute_nvgpu.bar.warp.sync": "ptx.bar.warp.sync",
    "gpu.barrier": "ptx.bar.sync",
    "cute_nvgpu.mbarrier.init": "ptx.mbarrier.init",
    "cute_nvgpu.mbarrier.inval": "ptx.mbarrier.inval",
    "cute_nvgpu.mbarrier.arrive": "ptx.mbarrier.arrive",
    "cute_nvgpu.mbarrier.arrive.expect_tx": "ptx.mbarrier.arrive.expect_tx",
    "cute_nvgpu.mbarrier.wait": "ptx.mbarrier.try_wait.parity",
    "cute_nvgpu.tma.load": "ptx.cp.async.bulk.tensor.load",
    "cute_nvgpu.tma.store": "ptx.cp.async.bulk.tensor.store",
    "cute_nvgpu.elect.sync": "ptx.elect.sync",
    "cute_nvgpu.setmaxnreg": "ptx.setmaxnreg",
    "cute_nvgpu.tmem.alloc": "ptx.tcgen05.alloc",
    "cute_nvgpu.tmem.dealloc": "ptx.tcgen05.dealloc",
    "cute_nvgpu.tmem.relinquish_alloc_permit": "ptx.tcgen05.relinquish_alloc_permit",
    "cute_nvgpu.tmem.load": "ptx.tcgen05.ld",
    "cute_nvgpu.tmem.store": "ptx.tcgen05.st",
    "cute_nvgpu.tmem.wait_load": "ptx.tcgen05.wait.ld",
    "cute_nvgpu.tmem.copy": "ptx.tcgen05.cp",
    "cute_nvgpu.tmem.shift": "ptx.tcgen05.shift",
    "cute_nvgpu.tcgen05.commit": "ptx.tcgen05.commit",
    "cute_nvgpu.fragment.extract": "ptx.list.get",
    "func.return": "ptx.ret",
}
HEAD = f"""
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %c63 = arith.constant 63 : index
  %one = arith.constant 1 : i32
  %s = memref.alloc() : {TILE}
  %first = arith.cmpi eq, %t, %c0 : index
  %low = arith.cmpi ult, %t, %c32 : index
  %other = arith.subi %c63, %t : index
  %next = arith.xori %t, %c1 : index
"""


def kernel(body: str, arguments: str = "%p: memref<?xi32>", attributes: str = "") -> str:
    return (
        f"func.func @k({arguments}) attributes {{gpu.kernel{attributes}}} {{"
        f"{HEAD}{body}\n  func.return\n}}"
    )


def line_of(text: str, mark: str) -> int | None:
    lines = [n for n, line in enumerate(text.splitlines(), 1) if mark in line]
    return lines[0] if lines else None


def run(text: str, level: str, args: list[Any], **launch: Any) -> list[np.ndarray]:
    launch = {"grid": (1,), "block": (64,), "arch": "sm_90", **launch}
    return tw.interpret(text, args=args, level=level, name="faults.mlir", **launch)  # type: ignore[arg-type]


P = np.arange(64, dtype=np.int32)


def fault(
    body: str,
    op: str,
    *words: str,
    thread: tuple[int, int, int] | None = None,
    text: str | None = None,
    args: list[Any] | None = None,
    levels: tuple[str, ...] = LEVELS,
    **launch: Any,
) -> None:
    """Require the error at the marked line, with these words, at both levels."""
    text = kernel(body) if text is None else text
    line, other = line_of(text, "// HERE"), line_of(text, "// OTHER")
    for level in levels:
        with without_checks(), pytest.raises(tw.ExecutionError) as caught:
            run(text, level, [P] if args is None else args, **launch)
        message = str(caught.value)
        name = LOWERED.get(op, op) if level == "ptx" else op
        place = re.match(rf"faults\.mlir:{line}:(\d+): error: '{re.escape(name)}' ", message)
        assert place is not None, message
        head, shown, caret, *notes = message.split("\n")
        assert shown == text.splitlines()[line - 1]
        assert caret == " " * (int(place[1]) - 1) + "^"
        for word in words:
            assert word in head, message
        if other is not None:
            assert f"at faults.mlir:{other} " in head, message
            assert notes[-2:] == ["note: the other access is", text.splitlines()[other - 1]]
        if thread is not None:
            assert "block (0,0,0), thread ({},{},{})".format(*thread) in head, message


def fine(body: str, arguments: str = "%p: memref<?xi32>", **launch: Any) -> None:
    """The same kernel with its barrier runs."""
    for level in LEVELS:
        run(kernel(body, arguments), level, [P], **launch)
