"""Trying programs: what is wrong with those of some seeds, and the smallest one that shows it."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from pathlib import Path

from assembly import not_assembled
from campaign import in_time
from draw import Draw, shrunk
from kinds import KINDS, drawn
from program import Program, general

SECONDS = 120
"""Of the processor, at most for a program."""


def differences(kind: str, seeds: Sequence[int], assembles: bool = True) -> list[tuple[int, str]]:
    """What is wrong with the programs of these seeds."""
    wrong: list[tuple[int, str]] = []
    right: list[tuple[int, Program]] = []
    for seed in seeds:
        try:
            with in_time(SECONDS):
                case, _ = drawn(kind, seed)
                difference = case.difference()
        except Exception as error:
            last = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{Path(last.filename).name}:{last.name}"
            wrong.append((seed, f"{type(error).__name__} in {place}: {general(str(error))}"))
            continue
        if difference is not None:
            wrong.append((seed, difference))
        elif isinstance(case, Program) and "ptx" in case.levels:
            right.append((seed, case))
    if assembles:
        wrong += [(seed, general(error)) for seed, error in not_assembled(right)]
    return wrong


def smallest(kind: str, seed: int, difference: str, tries: int = 200) -> str:
    """The text of a smaller program with the same difference."""

    def fails(choices: Sequence[int]) -> bool:
        try:
            return KINDS[kind](Draw(choices)).difference() == difference
        except Exception:
            return False

    case, choices = drawn(kind, seed)
    if case.difference() == difference:
        case = KINDS[kind](Draw(shrunk(choices, fails, tries)))
    return f"// {kind}, seed {seed}: {difference}\n{case.text}\n"
