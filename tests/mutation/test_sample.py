"""A sample of the mutants of synchronisation: all are caught or proven equivalent, but for those
that are known."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from known_misses import KNOWN
from mutants import Mutant, kind_of, mutants
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


KINDS: list[tuple[str, Level, set[str]]] = [
    ("empty_groups_in_the_tail", "atom", {"group", "role"}),
    ("flag_between_fences", "ptx", {"scope"}),
    ("leader_waits_for_four", "atom", {"cluster", "divergence", "parity", "scope", "twice"}),
    ("pipeline_through_the_cluster", "atom", {"barrier", "cluster", "parity", "stage"}),
    ("reinitialised_mbarrier", "atom", {"divergence", "far", "guard", "reinit", "twice"}),
    ("release_of_what_comes_again", "ptx", {"far", "stage", "twice"}),
    ("two_allocations", "atom", {"columns", "divergence", "far", "twice"}),
    ("two_pipelines_in_lockstep", "atom", {"lockstep"}),
    ("two_wgmma_groups", "atom", {"divergence", "group", "space"}),
]
"""Small kernels, and kinds of which each has mutants: one of each is judged."""


def judged(example: str, level: Level, choose: Callable[[list[Mutant]], list[Mutant]]) -> None:
    """Judge some mutants of a kernel: those that are lost are known."""
    subject = SUBJECTS[example]
    module, _ = subject.module(example, level)
    right = subject.run(module)
    for mutant in choose(mutants(example, level, module)):
        verdict = judge(mutant, module, subject, level, right)
        assert verdict is None or verdict.outcome != CRASHED, verdict
        lost = verdict is not None and verdict.outcome in (MISSED, WRONG)
        assert lost == (mutant.name in KNOWN), verdict


@pytest.mark.parametrize("example, level, count", SAMPLE)
def test_mutants_are_caught(example: str, level: Level, count: int):
    some = random.Random(f"{example} {level} sample")
    judged(example, level, lambda every: some.sample(every, count))


@pytest.mark.parametrize("example, level, kinds", KINDS)
def test_one_of_each_kind_is_caught(example: str, level: Level, kinds: set[str]):
    some = random.Random(f"{example} {level} kinds")

    def one_of_each(every: list[Mutant]) -> list[Mutant]:
        rows = {kind: [m for m in every if kind_of(m.kind) == kind] for kind in sorted(kinds)}
        return [some.choice(rows[kind]) for kind in rows]

    judged(example, level, one_of_each)


def test_names_are_of_one_mutant_each():
    module, _ = SUBJECTS["gemm_sm80"].module("gemm_sm80", "atom")
    names = [mutant.name for mutant in mutants("gemm_sm80", "atom", module)]
    assert len(set(names)) == len(names) > 10


def test_known_misses_are_mutants():
    """A name in the list is that of a mutant: lines move with the examples."""
    for example, level in (("gemm_sm80", "atom"), ("gemm_sm80", "ptx"), ("gemm_wmma", "ptx")):
        module, _ = SUBJECTS[example].module(example, level)
        names = {mutant.name for mutant in mutants(example, level, module)}
        assert {name for name in KNOWN if name.startswith(f"{example}/{level}/")} <= names
