"""Trying programs: what is wrong with those of some seeds, and the smallest one that shows it."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from assembly import not_assembled
from campaign import in_time
from draw import Draw, shrunk
from kinds import KINDS, Case, drawn
from program import Program, general

SECONDS = 120
"""Of the processor, at most for a program."""


def differences(kind: str, seeds: Sequence[int], assembles: bool = True) -> list[tuple[int, str]]:
    """What is wrong with the programs of these seeds."""
    wrong: list[tuple[int, str]] = []
    right: list[tuple[int, Program]] = []
    for seed in seeds:
        case, difference = _tried(lambda seed=seed: drawn(kind, seed)[0])
        if difference is not None:
            wrong.append((seed, difference))
        elif isinstance(case, Program) and "ptx" in case.levels:
            right.append((seed, case))
    if assembles:
        wrong += [(seed, general(error)) for seed, error in not_assembled(right)]
    return wrong


def _tried(draw: Callable[[], Case]) -> tuple[Case | None, str | None]:
    """A program, and what is wrong with it."""
    case = None
    try:
        with in_time(SECONDS):
            case = draw()
            return case, case.difference()
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.name}"
        return case, f"{type(error).__name__} in {place}: {general(str(error))}"


def smallest(kind: str, seed: int, difference: str, tries: int = 200) -> str:
    """The text of a smaller program with the same difference."""

    def fails(choices: Sequence[int]) -> bool:
        return _tried(lambda: KINDS[kind](Draw(choices)))[1] == difference

    case, choices = drawn(kind, seed)
    if fails(choices):
        case = KINDS[kind](Draw(shrunk(choices, fails, tries)))
    return f"// {kind}, seed {seed}: {difference}\n{case.text}\n"
