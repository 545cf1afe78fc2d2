"""The engines that run gangs: NumPy's, one step after the other, or native code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Literal

from xdsl.ir import Operation, SSAValue

from tilewright.lowering.interpreter.machine.launch import Runner
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.program import Program

Engine = Literal["auto", "numpy", "compiled"]

COMPILING = 1 << 17
"""The thread-steps that NumPy takes in about the time in which one step is compiled."""

SHARE = 0.001
"""The part of them from which on a block is worth its code."""

KERNELS = 64
_COMPILED: dict[tuple[str, tuple[int, ...]], Runner] = {}
"""The code of the last kernels, by their text and the blocks that have some: they run again."""


def runner_of(
    engine: Engine, op: Operation, program: Program, registers: Mapping[SSAValue, int]
) -> Runner | None:
    """Who runs the program of a `ptx.entry`; None: the machine itself."""
    if engine == "numpy" or (engine == "auto" and not is_installed()):
        return None
    return Warming(op, program, registers, at_once=engine == "compiled")


def is_installed() -> bool:
    """Native code can be made: the extra `fast` is there."""
    return find_spec("llvmlite") is not None


class Warming:
    """NumPy's engine until a run has taken longer than it takes to compile it, or no time: then
    native code, of blocks that have taken some part of that time."""

    def __init__(
        self, op: Operation, program: Program, registers: Mapping[SSAValue, int], *, at_once: bool
    ):
        self._op, self._program, self._registers = op, program, registers
        self._taken = Counter[int]()
        self._left = 0 if at_once else COMPILING * sum(len(block.steps) for block in program.blocks)
        self._runner: Runner | None = None

    def run(self, machine: Machine, gang: Gang, others: Sequence[Gang]) -> list[Gang]:
        if self._runner is None:
            if self._left > 0:
                taken = gang.count * (len(gang.block.steps) + 1)
                self._taken[gang.block.number] += taken
                self._left -= taken
                return machine.run_steps(gang)
            self._runner = self._compiled()
        return self._runner.run(machine, gang, others)

    def _compiled(self) -> Runner:
        from tilewright.lowering.interpreter.compiled.engine import CompiledRunner
        from tilewright.lowering.interpreter.compiled.stretches import CompiledBlocks

        least = self._taken.total() * SHARE
        hot = [block.number for block in self._program.blocks if self._taken[block.number] >= least]
        key = str(self._op), tuple(hot)
        if key not in _COMPILED:
            while len(_COMPILED) >= KERNELS:
                del _COMPILED[next(iter(_COMPILED))]
            _COMPILED[key] = CompiledRunner(CompiledBlocks(self._program, self._registers, hot))
        return _COMPILED[key]
