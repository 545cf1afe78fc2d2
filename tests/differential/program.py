"""A generated program: what runs, on what, and what must come of it."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

import tilewright as tw
from tilewright.source.parsing import parse_module

Level = Literal["tile", "atom", "ptx"]
LEVELS: tuple[Level, ...] = ("tile", "atom", "ptx")


@dataclass(frozen=True)
class Expected:
    """What an argument holds after the run, and how far off each element may be."""

    values: np.ndarray
    within: Any = 0

    def wrong(self, found: np.ndarray) -> np.ndarray:
        """Which elements are not what they must be; every NaN is as good as another."""
        with np.errstate(all="ignore"):
            found = found.astype(self.values.dtype)
            different = found != self.values
            if found.dtype.kind in "biu":
                return different
            wide, wanted = found.astype(np.float64), self.values.astype(np.float64)
            far = ~(np.abs(wide - wanted) <= self.within)
            return different & far & ~(np.isnan(wide) & np.isnan(wanted))


@dataclass(frozen=True)
class Program:
    """A kernel, its launch and what its arrays must be after it, by number of argument."""

    text: str
    args: Sequence[Any]
    block: int
    expected: Mapping[int, Expected] = field(default_factory=dict[int, Expected])
    grid: tuple[int, ...] = (1,)
    arch: str = "sm_90a"
    levels: tuple[Level, ...] = LEVELS
    numerics: Literal["hardware", "exact"] = "hardware"

    def run(self, module: Any, level: Level) -> list[np.ndarray]:
        return tw.interpret(
            module,
            grid=self.grid,
            block=(self.block,),
            args=self.args,
            arch=self.arch,
            level=level,
            numerics=self.numerics,
        )

    def difference(self) -> str | None:
        """What is wrong, without numbers, so that one kind of difference has one name."""
        found: dict[Level, list[np.ndarray]] = {}
        module: Any = None
        for level in self.levels:
            try:
                module = parse_module(self.text, "program.mlir") if module is None else module
                found[level] = self.run(module, level)
            except (tw.CompileError, tw.ExecutionError, tw.TargetError) as error:
                return f"{level} refuses: {general(str(error))}"
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{Path(last.filename).name}:{last.name}"
                return f"{level} raises {type(error).__name__} in {place}: {general(str(error))}"
        first = self.levels[0]
        for level in self.levels[1:]:
            for before, after in zip(found[first], found[level], strict=True):
                if before.tobytes() != after.tobytes():
                    return f"{first} and {level} differ"
        for number, expected in self.expected.items():
            if expected.wrong(found[first][number]).any():
                return "not what NumPy has"
        return None


@dataclass(frozen=True)
class Refused:
    """A program that every level refuses with these words."""

    program: Program
    words: str

    @property
    def text(self) -> str:
        return self.program.text

    def difference(self) -> str | None:
        for level in self.program.levels:
            try:
                self.program.run(self.program.text, level)
            except (tw.CompileError, tw.ExecutionError) as error:
                if self.words in str(error):
                    continue
                return f"{level} refuses otherwise: {general(str(error))}"
            return f"{level} takes what it should refuse: {self.words}"
        return None


def general(message: str) -> str:
    """The message's first line without place, numbers and what is specific to the program."""
    line = re.sub(r"^\S*:\d+:\d+: (error: )?", "", message.splitlines()[0] if message else "")
    return re.sub(r"%\w+|\d+", "N", line)[:160]
