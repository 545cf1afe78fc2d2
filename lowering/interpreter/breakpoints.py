"""Breakpoints: what values are where a line of the source is reached, in the order of the run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.frozen import factory, frozen
from tilewright.lowering.interpreter.builder import Builder
from tilewright.lowering.interpreter.machine.launch import Launch
from tilewright.lowering.interpreter.machine.machine import Gang, Machine
from tilewright.lowering.interpreter.program import Program, Suspend
from tilewright.lowering.interpreter.state import Registers, shown, uniform
from tilewright.source.diagnostic import ExecutionError, at

_EXPRESSION = re.compile(r"%([\w.$-]+)(?:\[(\d+)(?:,\s*(\d+))?\])?")
FEW = 8
"""Threads whose value, which differs among them, is shown."""


@frozen
class Shown:
    """`%name`, `%name[thread]` or `%name[thread, block]`, both by their numbers."""

    text: str
    name: str
    thread: int | None
    block: int

    @classmethod
    def parse(cls, text: str) -> Shown:
        """Raises ExecutionError for what is none."""
        match = _EXPRESSION.fullmatch(text.strip())
        if match is None:
            raise ExecutionError(
                f"expected %name, %name[thread] or %name[thread,block] to print, got '{text}'"
            )
        thread = None if match[2] is None else int(match[2])
        return cls(text.strip(), match[1], thread, int(match[3] or 0))


@dataclass
class Breakpoints:
    """Lines at which values are shown, the first `hits` times that threads come there, or blocks of
    Tile IR. Values are those of the level that runs; `say` takes the text."""

    lines: Sequence[int]
    values: Sequence[Shown] = ()
    hits: int = 1
    say: Callable[[str], Any] = print
    level: str | None = field(default=None, init=False)
    _met: Counter[int] = factory(Counter)

    def watch(self, program: Program, builder: Builder, launch: Launch) -> None:
        """Stop at the first op of each line in each block of a program. Raises ExecutionError
        for lines and names that it has not."""
        registers, source = builder.registers, (launch.source or "").splitlines()
        named = {value.name_hint: value for value in registers if value.name_hint}
        for expression in self.values:
            if expression.name not in named:
                names = ", ".join(f"%{name}" for name in sorted(named))
                raise ExecutionError(f"expected a value of {names} to print, got {expression.text}")
        names = {expression.name for expression in self.values}
        shown_slots = {slot for value, slot in registers.items() if value.name_hint in names}
        met = set[int]()
        for block in program.blocks:
            seen = set[int]()
            for number, (op, step, writes) in enumerate(block.steps):
                line = at(op.location, "").line
                if line is not None and line in self.lines and line not in seen:
                    seen.add(line)
                    watched = self._before(op, line, step, registers, source)
                    block.steps[number] = op, watched, writes
            ending = block.ending
            if isinstance(ending, Suspend) and block.ending_op is not None:
                line = at(block.ending_op.location, "").line
                if line is not None and line in self.lines and line not in seen:
                    seen.add(line)
                    begin = self._before(block.ending_op, line, ending.begin, registers, source)
                    block.ending = Suspend(begin, ending.following)
            if seen:  # what is shown is alive until here
                block.reads |= shown_slots
            met |= seen
        self.check(met, {at(op.location, "").line for b in program.blocks for op, _, _ in b.steps})

    def check(self, met: set[int], lines: Iterable[int | None]) -> None:
        """Raise ExecutionError for a line that was not met, of those that have ops."""
        known = sorted(line for line in lines if line)
        for line in self.lines:
            if line not in met:
                nearest = min(known, key=lambda other: abs(other - line), default=None)
                raise ExecutionError(
                    f"expected a line that has an op of the kernel to break at, got {line}; "
                    f"nearest legal: {nearest}"
                )

    def reached(self, line: int) -> bool:
        """Threads come to a line; true where values are shown this time."""
        self._met[line] += 1
        return self._met[line] <= self.hits

    def _before(
        self, op: Operation, line: int, step: Callable[[Any, Any], Any], registers: Registers,
        source: Sequence[str],
    ) -> Callable[[Any, Any], Any]:  # fmt: skip
        def stopping(machine: Machine, gang: Gang) -> Any:
            if self.reached(line):
                self.say("\n".join(self._state(op, line, machine, gang, registers, source)))
            return step(machine, gang)

        return stopping

    def _state(
        self, op: Operation, line: int, machine: Machine, gang: Gang, registers: Registers,
        source: Sequence[str],
    ) -> list[str]:  # fmt: skip
        first = machine.where(int(gang.lanes[0]))
        words = [f"line {line}: '{op.name}' by {gang.count} threads, {first} first"]
        if line <= len(source):
            words.append(source[line - 1].rstrip())
        return words + [
            text for wanted in self.values for text in self._shown(wanted, machine, gang, registers)
        ]

    def _shown(
        self, wanted: Shown, machine: Machine, gang: Gang, registers: Registers
    ) -> list[str]:
        value, register = _latest(wanted.name, gang, registers)
        if value is None:
            return [f"  {wanted.text} has no value yet"]
        if wanted.thread is None:
            lanes = range(1 if uniform(register) else min(gang.count, FEW))
        else:
            lane = wanted.block * machine.slots + wanted.thread
            place = int(np.searchsorted(gang.lanes, lane))
            if place == gang.count or gang.lanes[place] != lane:
                return [f"  {wanted.text}: that thread is not among those here"]
            lanes = range(place, place + 1)
        texts = [shown(register, value.type, lane) for lane in lanes]
        if wanted.thread is not None:
            return [f"  {wanted.text} = {texts[0]}"]
        if uniform(register) or (len(set(texts)) == 1 and gang.count <= FEW):
            return [f"  {wanted.text} = {texts[0]} in all of them"]
        return [f"  {wanted.text} = {', '.join(texts)}{', ...' * (gang.count > FEW)}"]


def _latest(name: str, gang: Gang, registers: Registers) -> tuple[SSAValue | None, Any]:
    """The last value of a name that the threads have."""
    for value, slot in reversed(list(registers.items())):
        if value.name_hint == name and slot < len(gang.regs) and gang.regs[slot] is not None:
            return value, gang.regs[slot]
    return None, None
