"""Random programs of wgmmas: the check, the interpreter and the pass that orders them agree."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import pytest
from test_wgmma_hazards import (
    BARRIER,
    CASE,
    COMMIT,
    FENCE,
    check,
    execute,
    kernel,
    m,
    module_of,
    wait,
)
from wgmma_kernels import SYNC

import tilewright as tw
from tilewright.diagnostic import OpError
from tilewright.parsing import default_context
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.passes.insert_wgmma_sync import InsertWgmmaSyncPass

STORE = f"  memref.store %bf, %a[%half, %side] : {CASE.a.memref}\n"
SIDE = "  %side = arith.divui %t, %c64 : index\n"
ORDER = (FENCE, COMMIT, wait(0), wait(1), SYNC)
INSERTED = {
    "cute_nvgpu.wgmma.fence",
    "cute_nvgpu.wgmma.commit_group",
    "cute_nvgpu.wgmma.wait_group",
    "cute_nvgpu.fence.proxy.async",
}


class Program:
    """Text of a program on two accumulators, and the names of their latest values."""

    def __init__(self, random: Random, *, bare: bool):
        self._random = random
        self._bare = bare
        self._count = 0
        self._latest = ["%d_0", "%f_0"]

    def text(self) -> str:
        body = self._ops(self._random.randrange(2, 9))
        if self._random.random() < 0.5:
            body += self._loop() + self._ops(self._random.randrange(0, 4))
        if not self._bare and self._random.random() < 0.7:
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
            choices += [lambda: self._random.choice(ORDER)] * 5
        return self._random.choice(choices)()

    def _wgmma(self) -> str:
        which, name = self._random.randrange(2), self._name()
        before, self._latest[which] = self._latest[which], name
        return m(0, before, name)

    def _read(self) -> str:
        value, name = self._random.choice(self._latest), self._name()
        return (
            f"  {name} = cute_nvgpu.fragment.extract {value}[0] : {CASE.c_type} -> f32\n"
            f"  memref.store {name}, %out[%t] : memref<?xf32>\n"
        )

    def _store(self) -> str:
        return STORE + (BARRIER if self._bare else "")

    def _loop(self) -> str:
        c, init = CASE.c_type, ", ".join(
            f"{each} = {value}" for each, value in zip(("%p", "%q"), self._latest, strict=True)
        )  # fmt: skip
        self._latest = ["%p", "%q"]
        body = self._ops(self._random.randrange(1, 6))
        yielded = ", ".join(self._latest)
        self._latest = ["%l#0", "%l#1"]
        return (
            f"  %l:2 = scf.for %i = %c0 to %c3 step %c1 iter_args({init}) -> ({c}, {c}) {{\n"
            f"{body}    scf.yield {yielded} : {c}, {c}\n  }}\n"
        )


SEEDS = 75


def rejected(run: Any) -> str | None:
    try:
        run()
    except (OpError, tw.ExecutionError) as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_check_and_the_interpreter_agree(seed: int) -> None:
    """All loops run, and no branch is left to chance: what may happen does."""
    text = kernel(Program(Random(seed), bare=False).text())
    static = rejected(lambda: check(text))
    dynamic = rejected(lambda: execute(text, "atom"))
    assert (static is None) == (dynamic is None), (static, dynamic, text)
    if static is None:
        execute(text, "ptx")


def test_the_programs_are_of_both_kinds() -> None:
    texts = [kernel(Program(Random(seed), bare=False).text()) for seed in range(SEEDS)]
    right = [text for text in texts if rejected(partial(check, text)) is None]
    assert SEEDS // 15 < len(right) < SEEDS - SEEDS // 15


@pytest.mark.parametrize("seed", range(SEEDS // 3))
def test_bare_programs_are_put_in_order(seed: int) -> None:
    """What is inserted is right at both levels, and nothing of it can be left out."""
    text = kernel(Program(Random(seed), bare=True).text(), sync=BARRIER)
    module = ordered(text)
    execute_module(module)
    for place, op in enumerate(list(module.walk())):
        if op.name not in INSERTED:
            continue
        less = module.clone()
        removed = list(less.walk())[place]
        removed.detach()
        wrong = rejected(partial(CheckHazardsPass().apply, default_context(), less))
        assert wrong is not None, (str(module), str(op))


def ordered(text: str) -> Any:
    module = module_of(text)
    InsertWgmmaSyncPass().apply(default_context(), module)
    module.verify()
    CheckHazardsPass().apply(default_context(), module)
    return module


def execute_module(module: Any) -> None:
    for level in ("atom", "ptx"):
        execute(str(module), level)
