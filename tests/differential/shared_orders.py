"""Programs of copies to shared memory and from it, and of what threads do there, in any order:
where the static check is silent nothing goes wrong when they run, and where it refuses them
something does, on some schedule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from checked_program import CheckedProgram
from draw import Draw
from hazard_kernels import BOXES, HEAD, MAP, SMEM, SYNC, WARP_SYNC

import tilewright as tw

THREADS, SCHEDULES = 64, (None, 1, 2)
RING = f"memref<16xi64, {SMEM}>"
ARRAY = "memref<512xi32>"
PLACES = ("%row, %column", "%row, %beside", "%across, %column", "%below, %column")
"""Of the thread, of its neighbour, of one of the other warp, and nobody else's."""
WHO = ("", "is0", "is1", "first")
FENCE = "cute_nvgpu.fence.proxy.async"
LAUNCH = (
    f"gpu.known_block_size = array<i32: {THREADS}, 1, 1>, gpu.known_grid_size = array<i32: 1, 1, 1>"
)
FILLED = f"""
  %row = arith.divui %t, %c16 : index
  %column = arith.remui %t, %c16 : index
  %beside = arith.xori %column, %c1 : index
  %across = arith.xori %row, %c2 : index
  %below = arith.addi %row, %c4 : index
  %q = memref.alloc() : {RING}
  scf.if %first {{
    scf.for %j = %c0 to %c16 step %c1 {{
      cute_nvgpu.mbarrier.init %q[%j] count 1 : {RING}
    }}
    cute_nvgpu.fence.mbarrier_init
  }}
  memref.store %n, %x[%c0, %row, %column] : {BOXES}
  memref.store %n, %x[%c1, %row, %column] : {BOXES}
  memref.store %n, %x[%c0, %below, %column] : {BOXES}
  memref.store %n, %x[%c1, %below, %column] : {BOXES}
  {FENCE}
  {SYNC}
"""


class Statements:
    """Statements of two warps, or of some of their threads."""

    def __init__(self, draw: Draw):
        self._draw = draw
        self._lines: list[str] = []
        self._values = self._barriers = 0
        self._parity, self._stages = "%even", ["%c0", "%c1"]
        self._some(draw.number(2, 8), [self._send] * 2)
        if draw.chance(30):
            self._loop()
            self._some(draw.number(0, 2), [self._send] * 2)
        self._lines += ["cute_nvgpu.cp.async.wait_group 0", *self._sent("first", "")]

    def _some(self, count: int, more: list[Callable[[], None]]) -> None:
        kinds = [self._store, self._load] * 3 + [self._copy, self._box] * 2 + more
        kinds += [self._sync] * 5 + [self._wait, self._fence, self._tell]
        for _ in range(count):
            self._draw.pick(kinds)()

    def _loop(self) -> None:
        self._lines.append("""  scf.for %i = %c0 to %c4 step %c1 {
  %stage = arith.remui %i, %c2 : index
  %round = arith.index_cast %i : index to i32
  %turn = arith.andi %round, %odd : i32""")
        self._parity, self._stages = "%turn", ["%stage", "%stage", "%c1"]
        self._some(self._draw.number(1, 5), [])
        self._lines.append("  }")
        self._parity, self._stages = "%even", ["%c0", "%c1"]

    @property
    def text(self) -> str:
        numbers = range(0, 8 * (self._values + self._barriers + 1), 8)
        constants = "".join(f"  %k{n} = arith.constant {n} : index\n" for n in numbers)
        constants += "".join(f"  %q{n} = arith.constant {n} : index\n" for n in range(16))
        return (
            f"func.func @k(%p: {ARRAY}, %map: {MAP}) attributes {{gpu.kernel, {LAUNCH}}} {{\n"
            f"{HEAD}{constants}{FILLED}" + "\n".join(self._lines) + "\n  func.return\n}\n"
        )

    def _next(self) -> int:
        self._values += 1
        return self._values

    def _by(self, who: str, *lines: str) -> None:
        self._lines += [f"  scf.if %{who} {{", *lines, "  }"] if who else lines

    def _at(self) -> str:
        return f"%x[{self._draw.pick(self._stages)}, {self._draw.pick(PLACES)}]"

    def _stage(self) -> str:
        return f"%x[{self._draw.pick(self._stages)}, %c0, %c0]"

    def _mbarrier(self) -> str:
        self._barriers += 1
        return f"%q[%q{self._barriers % 16}]"

    def _store(self) -> None:
        self._by(self._draw.pick(WHO), f"  memref.store %n, {self._at()} : {BOXES}")

    def _load(self) -> None:
        load = f"  %v{self._next()} = memref.load {self._at()} : {BOXES}"
        self._by(self._draw.pick(WHO), load)

    def _copy(self) -> None:
        """A `cp.async` by each thread, mostly of a group that is waited for."""
        copy = f"  cute_nvgpu.cp.async %p[%t] to {self._at()} size 4 cache ca : {ARRAY} to {BOXES}"
        self._by(self._draw.pick(WHO[:3]), copy)
        if self._draw.chance(80):
            self._lines.append("  cute_nvgpu.cp.async.commit_group")
        self._wait()

    def _wait(self) -> None:
        if self._draw.chance(70):
            self._lines.append(f"  cute_nvgpu.cp.async.wait_group {self._draw.pick((0, 0, 1))}")

    def _box(self) -> None:
        """A box by TMA, and a wait for it."""
        at = self._mbarrier()
        self._by(
            "first",
            f"  cute_nvgpu.mbarrier.arrive.expect_tx {at} bytes 512 : {RING}",
            f"  cute_nvgpu.tma.load %map[%k{8 * self._next()}, %c0] to {self._stage()} mbarrier "
            f"{at} : {MAP} to {BOXES}, {RING}",
        )
        self._waited(at)

    def _waited(self, at: str) -> None:
        wait = f"  cute_nvgpu.mbarrier.wait {at} parity {self._parity} : {RING}"
        if self._parity == "%turn":
            self._lines += [wait, f"  {SYNC}"]
        elif self._draw.chance(85):
            self._by(self._draw.pick(("", "", *WHO)), wait)

    def _sent(self, who: str, read: str) -> list[str]:
        return [
            f"  scf.if %{who} {{",
            "    cute_nvgpu.cp.async.bulk.commit_group",
            f"    cute_nvgpu.cp.async.bulk.wait_group 0{read}",
            "  }",
        ]

    def _send(self) -> None:
        """A box sent by TMA, and a wait until it is read."""
        if self._draw.chance(80):
            self._fence()
            self._sync()
        self._by("first", f"  cute_nvgpu.tma.store {self._stage()} to %map[%k{8 * self._next()}, "
                          f"%c0] : {BOXES} to {MAP}")  # fmt: skip
        if self._draw.chance(80):
            self._lines += self._sent("first", self._draw.pick((" read", "")))

    def _fence(self) -> None:
        self._by(self._draw.pick(("", "", *WHO)), f"  {FENCE}")

    def _sync(self) -> None:
        self._lines.append("  " + self._draw.pick((SYNC, SYNC, SYNC, WARP_SYNC)))

    def _tell(self) -> None:
        """A thread arrives, behind its warp or not, and others wait for it."""
        at = self._mbarrier()
        if self._draw.chance(60):
            self._lines.append(f"  {WARP_SYNC}")
        self._by("first", f"  cute_nvgpu.mbarrier.arrive {at} : {RING}")
        self._waited(at)


@dataclass(frozen=True)
class SharedOrders(CheckedProgram):
    arch, threads, unproven, schedules = "sm_90a", THREADS, "warn", SCHEDULES

    @property
    def arguments(self) -> list[Any]:
        return [np.zeros(512, np.int32), tw.TensorMap(np.zeros((256, 16), np.int32), box=(8, 16))]


def shared_orders(draw: Draw) -> SharedOrders:
    """Threads of two warps store, load and copy; one has boxes brought and sent."""
    return SharedOrders(Statements(draw).text)
