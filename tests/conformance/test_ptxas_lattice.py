"""The verifier agrees with ptxas and the ISA: a seeded sample of every family for every target.

All points: `tilewright conformance lattice`.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tilewright.tools.conformance.agreement import Oracles, compare
from tilewright.tools.conformance.documented_targets import KNOWN
from tilewright.tools.conformance.lattice import FAMILIES, carry_out, sampled, whole

POINTS = 2500
SEED = 20


@pytest.mark.parametrize("target", KNOWN)
def test_the_verifier_agrees(target: str) -> None:
    tasks = sampled(tuple(FAMILIES), [target], POINTS // len(KNOWN), SEED)
    tallies = compare([each for task in tasks for each in task.candidates(target)], target)
    assert set(tallies) == set(FAMILIES)
    wrong = [each for tally in tallies.values() for each in tally.disagreements]
    assert not wrong, "\n".join(map(str, wrong))


def test_a_third_of_the_sample_is_legal() -> None:
    listed = Counter(
        each.family.documents(each.point, target)
        for task in sampled(tuple(FAMILIES), KNOWN, POINTS, SEED)
        for target in task.targets
        for each in task.candidates(target)
    )
    assert listed.total() >= 2000
    assert listed[True] >= listed.total() / 3


def test_the_tasks_are_the_whole_product() -> None:
    def nothing(lines: list[str], target: str) -> list[bool]:
        return [False] * len(lines)

    names, seen = ["ldmatrix", "wmma.mma-rounding"], Counter[str]()
    oracles = Oracles(nothing, nothing, lambda lines, target: [])
    for task in whole(names, ("sm_90",), oracles):
        seen.update({name: tally.points for (name, _), tally in carry_out(task).items()})
    assert seen == {name: len(FAMILIES[name]) for name in names}
