"""Small kernels in pairs: one whose synchronisation is wrong, and one that is right.

A body is both. A line that ends with `// RIGHT` is in the right kernel alone, one with `// WRONG`
in the wrong one alone; there `// HERE` stands on the line of the op that must be named and
`// OTHER` on that of what it meets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from run_levels import LEVELS
from without_checks import without_checks

import tilewright as tw
from tilewright.pipeline import PIPELINE, run_pipeline, verified

SMEM = "#cute<space smem>"
BARS = f"memref<4xi64, {SMEM}>"
LINE = f"memref<64xi32, {SMEM}>"
THERE = "memref<64xi32, #cute<space dsmem>>"
BOXES = f"memref<2x8x16xi32, {SMEM}>"
MAP = "!cute_nvgpu.tma_descriptor<8x16xi32>"
OUT = "memref<?xi32>"
STATIC = PIPELINE[: 1 + [stage.name for stage in PIPELINE].index("cute-nvgpu-check-hazards")]

SYNC = '"gpu.barrier"() : () -> ()'
WARP_SYNC = "cute_nvgpu.bar.warp.sync"
CLUSTER_SYNC = "cute_nvgpu.cluster.arrive\n  cute_nvgpu.cluster.wait"
INIT = f"""  scf.if %first {{
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : {BARS}
    cute_nvgpu.fence.mbarrier_init
  }}
"""
"""The first mbarrier, made by thread 0 for one arrival."""

HEAD = "".join(f"  %c{n} = arith.constant {n} : index\n" for n in (0, 1, 2, 4, 8, 16, 32, 64))
HEAD += f"""  %even = arith.constant 0 : i32
  %odd = arith.constant 1 : i32
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %warp = arith.divui %t, %c32 : index
  %lane = arith.remui %t, %c32 : index
  %first = arith.cmpi eq, %t, %c0 : index
  %leads = arith.cmpi eq, %lane, %c0 : index
  %is0 = arith.cmpi eq, %warp, %c0 : index
  %is1 = arith.cmpi eq, %warp, %c1 : index
  %half = arith.cmpi ult, %lane, %c16 : index
  %next = arith.xori %t, %c1 : index
  %n = arith.index_cast %t : index to i32
  %rank = cute_nvgpu.cluster.rank
  %peer = arith.xori %rank, %odd : i32
  %lead = arith.cmpi eq, %rank, %even : i32
  %bar = memref.alloc() : {BARS}
  %s = memref.alloc() : {LINE}
  %x = memref.alloc() : {BOXES}
"""


def wait(barrier: int = 0, parity: str = "even") -> str:
    return f"cute_nvgpu.mbarrier.wait %bar[%c{barrier}] parity %{parity} : {BARS}"


def arrive(barrier: int = 0) -> str:
    return f"cute_nvgpu.mbarrier.arrive %bar[%c{barrier}] : {BARS}"


def store(where: str = "%s", at: str = "%t", value: str = "%n", type_: str = LINE) -> str:
    return f"memref.store {value}, {where}[{at}] : {type_}"


def load(name: str, where: str = "%s", at: str = "%t", type_: str = LINE) -> str:
    return f"%{name} = memref.load {where}[{at}] : {type_}"


@dataclass(frozen=True)
class Pair:
    """The body of a wrong kernel and a right one, and the words in which the wrong one is refused;
    the threads of a CTA, the CTAs of its cluster, its target, the levels that it is looked at on,
    and the blocks that it runs in, one cluster unless said."""

    name: str
    says: str
    body: str
    threads: int = 64
    ctas: int = 1
    arch: str = "sm_90a"
    levels: tuple[str, ...] = LEVELS
    blocks: int = 0
    head: str = HEAD
    parameters: str = f"%p: {OUT}, %map: {MAP}"

    def text(self, variant: str) -> str:
        """The kernel, `RIGHT` or `WRONG`."""
        other = {"RIGHT": "// WRONG", "WRONG": "// RIGHT"}[variant]
        lines = [line for line in self.body.splitlines() if other not in line]
        cluster = f", gpu.known_cluster_size = array<i32: {self.ctas}, 1, 1>" * (self.ctas > 1)
        return (
            f"func.func @k({self.parameters}) attributes {{gpu.kernel, "
            f"gpu.known_block_size = array<i32: {self.threads}, 1, 1>{cluster}}} {{\n"
            f"{self.head}" + "\n".join(lines) + "\n  func.return\n}\n"
        )

    def arguments(self) -> list[Any]:
        """What a run is given: an array and a tensor map of another one, or a matrix."""
        if "gmem" in self.parameters:
            return [np.zeros((64, 32), np.float32)]
        return [np.zeros(256, np.int32), tw.TensorMap(np.zeros((16, 16), np.int32), box=(8, 16))]


def checked(pair: Pair, variant: str, level: str) -> None:
    """Let the static checks look at a kernel as it stands, or at its instructions."""
    text = pair.text(variant)
    module, source = verified(text, "k.mlir")
    if level == "ptx":
        with without_checks():
            run_pipeline(module, pair.arch, source)
    run_pipeline(module, pair.arch, source, stages=STATIC)


def refused(pair: Pair, level: str) -> None:
    """The wrong kernel is, at its line, with the line of what it meets."""
    text = pair.text("WRONG")
    with pytest.raises(tw.CompileError) as caught:
        checked(pair, "WRONG", level)
    message = str(caught.value)
    assert re.match(rf"k\.mlir:{line_of(text, 'HERE')}:", message), message
    assert pair.says in message, message
    if (other := line_of(text, "OTHER")) is not None:
        assert re.search(rf"\b(line |k\.mlir:){other}\b", message), message


def line_of(text: str, mark: str) -> int | None:
    """The line that a mark stands on."""
    lines = (
        n for n, line in enumerate(text.splitlines(), 1) if re.search(rf"//.*\b{mark}\b", line)
    )
    return next(lines, None)


def run(pair: Pair, variant: str, level: str, schedule: int | None = None) -> list[Any]:
    """Run a kernel of a pair in one cluster, whatever the static checks say."""
    with without_checks():
        return tw.interpret(
            pair.text(variant), level=level, grid=(pair.blocks or pair.ctas,),
            block=(pair.threads,), args=pair.arguments(), arch=pair.arch, schedule=schedule,
            name="k.mlir", max_steps=20_000,
        )  # type: ignore[arg-type]  # fmt: skip


def cases(pairs: tuple[Pair, ...]) -> list[Any]:
    """The pairs at each of their levels."""
    return [
        pytest.param(pair, level, id=f"{pair.name}, {level}")
        for pair in pairs
        for level in pair.levels
    ]
