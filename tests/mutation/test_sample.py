"""A sample of the mutants of synchronisation: all are caught or proven equivalent, but for those
that are known."""

from __future__ import annotations

import random

import pytest
from known_misses import KNOWN
from mutants import mutants
from subjects import SUBJECTS, Level
from verdicts import CRASHED, MISSED, WRONG, judge

SAMPLE: list[tuple[str, Level, int]] = [
    ("gemm_wmma", "atom", 3),
    ("gemm_sm80", "atom", 4),
    ("gemm_sm80", "ptx", 3),
    ("wgmma_sm90", "atom", 4),
    ("wgmma_sm90", "ptx", 3),
]
"""How many of each kernel's: those whose runs take least."""


@pytest.mark.parametrize("example, level, count", SAMPLE)
def test_mutants_are_caught(example: str, level: Level, count: int) -> None:
    subject = SUBJECTS[example]
    module, _ = subject.module(example, level)
    right = subject.run(module)
    every = mutants(example, level, module)
    for mutant in random.Random(f"{example} {level} sample").sample(every, count):
        verdict = judge(mutant, module, subject, level, right)
        assert verdict is None or verdict.outcome != CRASHED, verdict
        lost = verdict is not None and verdict.outcome in (MISSED, WRONG)
        assert lost == (mutant.name in KNOWN), verdict


def test_names_are_of_one_mutant_each() -> None:
    module, _ = SUBJECTS["gemm_sm80"].module("gemm_sm80", "atom")
    names = [mutant.name for mutant in mutants("gemm_sm80", "atom", module)]
    assert len(set(names)) == len(names) > 10


def test_known_misses_are_mutants() -> None:
    """A name in the list is that of a mutant: lines move with the examples."""
    for example, level in (("gemm_sm80", "atom"), ("gemm_sm80", "ptx"), ("gemm_wmma", "ptx")):
        module, _ = SUBJECTS[example].module(example, level)
        names = {mutant.name for mutant in mutants(example, level, module)}
        assert {name for name in KNOWN if name.startswith(f"{example}/{level}/")} <= names
