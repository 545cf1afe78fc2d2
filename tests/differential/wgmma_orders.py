"""Programs of wgmmas in any order: what the check accepts runs, what it rejects does not, and what
the pass puts in order needs all that it puts there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from draw import Draw
from test_wgmma_hazards import (
    BARRIER,
    CASE,
    COMMIT,
    FENCE,
    check,
    execute,
    kernel,
    lowered,
    m,
    module_of,
    wait,
)
from wgmma_kernels import SYNC

import tilewright as tw
from tilewright.lowering.ptx.text import module_text
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.passes.insert_wgmma_sync import InsertWgmmaSyncPass
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import default_context

STORE = f"  memref.store %bf, %a[%half, %side] : {CASE.a.memref}\n"
SIDE = """
  %side = arith.divui %t, %c64 : index
  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %second = arith.cmpi eq, %block, %c1 : index
"""
ORDER = (FENCE, COMMIT, wait(0), wait(1), SYNC)
INSERTED = (
    "cute_nvgpu.wgmma.fence",
    "cute_nvgpu.wgmma.commit_group",
    "cute_nvgpu.wgmma.wait_group",
    "cute_nvgpu.fence.proxy.async",
)


BOTH = {"grid": (2,), "races": "ignore"}
"""Both blocks store what they read to one place: what is stored there is not looked at."""


class Statements:
    """Text of a program on two accumulators, and the names of their latest values: a loop may
    swap them, and the two blocks of the grid may do different things to them."""

    def __init__(self, draw: Draw, *, bare: bool):
        self._draw = draw
        self._bare = bare
        self._count = 0
        self._latest = ["%d_0", "%f_0"]

    def text(self) -> str:
        body = self._ops(self._draw.number(2, 8))
        if self._draw.chance(50):
            body += self._loop() + self._ops(self._draw.number(0, 3))
        if self._draw.chance(30):
            body += self._branches() + self._ops(self._draw.number(0, 3))
        if not self._bare and self._draw.chance(70):
            body += COMMIT + wait()
        return SIDE + body

    def _name(self) -> str:
        self._count += 1
        return f"%n{self._count}"

    def _ops(self, count: int) -> str:
        return "".join(self._op() for _ in range(count))

    def _op(self) -> str:
        choices = [self._wgmma] * 3 + [self._read, self._store]
        if not self._bare:
            choices += [lambda: self._draw.pick(ORDER)] * 5
        return self._draw.pick(choices)()

    def _wgmma(self) -> str:
        which, name = self._draw.number(0, 1), self._name()
        before, self._latest[which] = self._latest[which], name
        return m(0, before, name)

    def _read(self) -> str:
        """All of it: ptxas finds no registers for an accumulator that is read in part (C7511)."""
        value, text = self._draw.pick(self._latest), ""
        for place in range(CASE.values):
            name = self._name()
            text += (
                f"  {name} = cute_nvgpu.fragment.extract {value}[{place}] : {CASE.c_type} -> f32\n"
                f"  memref.store {name}, %out[%t] : memref<?xf32>\n"
            )
        return text

    def _store(self) -> str:
        return STORE + (BARRIER if self._bare else "")

    def _loop(self) -> str:
        c, init = CASE.c_type, ", ".join(
            f"{each} = {value}" for each, value in zip(("%p", "%q"), self._latest, strict=True)
        )  # fmt: skip
        self._latest = ["%p", "%q"]
        body = self._ops(self._draw.number(1, 5))
        yielded = self._yielded()
        self._latest = ["%l#0", "%l#1"]
        return (
            f"  %l:2 = scf.for %i = %c0 to %c3 step %c1 iter_args({init}) -> ({c}, {c}) {{\n"
            f"{body}    scf.yield {yielded} : {c}, {c}\n  }}\n"
        )

    def _yielded(self) -> str:
        return ", ".join(reversed(self._latest) if self._draw.chance(50) else self._latest)

    def _branches(self) -> str:
        c, before = CASE.c_type, self._latest
        text = f"  %s:2 = scf.if %second -> ({c}, {c}) {{\n"
        for following in ("} else {", "}"):
            self._latest = list(before)
            choices = (self._wgmma, self._wgmma, self._read)
            body = "".join(self._draw.pick(choices)() for _ in range(self._draw.number(0, 3)))
            text += f"{body}    scf.yield {self._yielded()} : {c}, {c}\n  {following}\n"
        self._latest = ["%s#0", "%s#1"]
        return text


def _rejected(run: Callable[[], Any]) -> str | None:
    try:
        run()
    except (OpError, tw.ExecutionError) as error:
        return str(error)
    return None


def _has_registers(text: str) -> bool:
    """What is in flight can stay in its registers; else the lowering refuses it."""
    try:
        module_text(lowered(text))
    except OpError as error:
        assert "expected registers that nothing accesses" in error.message
        return False
    return True


@dataclass(frozen=True)
class Ordered:
    """A program that orders its wgmmas itself, somehow: all its loops run, so what may go wrong
    does."""

    text: str

    @property
    def accepted(self) -> bool:
        return _rejected(lambda: check(self.text)) is None

    def difference(self) -> str | None:
        runs = _rejected(lambda: execute(self.text, "atom", **BOTH)) is None
        if self.accepted != runs:
            return "the check rejects what runs" if runs else "the check accepts what does not run"
        if not runs or not _has_registers(self.text):
            return None
        lower = _rejected(lambda: execute(self.text, "ptx", **BOTH))
        return None if lower is None else "runs before the lowering, not after it"


@dataclass(frozen=True)
class Bare:
    """A program whose wgmmas a pass orders."""

    text: str

    def difference(self) -> str | None:
        module = module_of(self.text)
        InsertWgmmaSyncPass().apply(default_context(), module)
        module.verify()
        CheckHazardsPass().apply(default_context(), module)
        for level in ("atom", "ptx")[: 1 + _has_registers(str(module))]:
            run = lambda level=level: execute(str(module), level, **BOTH)  # noqa: E731
            if _rejected(run) is not None:
                return f"what is put in order does not run at level {level}"
        for place, op in enumerate(list(module.walk())):
            if op.name in INSERTED:
                less = module.clone()
                list(less.walk())[place].detach()
                if (
                    _rejected(lambda less=less: CheckHazardsPass().apply(default_context(), less))
                    is None
                ):
                    return f"{op.name} is put where nothing needs it"
        return None


def wgmma_orders(draw: Draw) -> Ordered | Bare:
    """Ordered at random, or by the pass."""
    if draw.chance(25):
        return Bare(kernel(Statements(draw, bare=True).text(), sync=BARRIER))
    return Ordered(kernel(Statements(draw, bare=False).text()))
