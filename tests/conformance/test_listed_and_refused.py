"""Everything that the ISA lists assembles, but for the exceptions of listed_and_refused."""

from __future__ import annotations

import pytest
from covering import THOROUGH
from listed_and_refused import LISTED_AND_REFUSED

from tilewright.tools.conformance.agreement import refused
from tilewright.tools.conformance.instruction_family import Candidate, Point, spell
from tilewright.tools.conformance.lattice import FAMILIES

# Of a family and target: hundreds of points differ in a number, and `make conformance` asks about
# more of them, and about every one by `tilewright conformance lattice`.
ENOUGH = 100 if THOROUGH else 16
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120a", "sm_120f")


def explained(candidate: Candidate) -> bool:
    return any(each.holds(candidate.point) for each in LISTED_AND_REFUSED)


def sampled(points: list[Point], turn: int) -> list[Point]:
    """About as many as are enough, others each turn."""
    step = max(1, len(points) // ENOUGH)
    return points[turn % step :: step]


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_listed_assembles_or_is_an_exception(target: str) -> None:
    listed = [
        spell(family, point)
        for family in FAMILIES.values()
        for point in sampled(list(family.listed(target)), TARGETS.index(target))
    ]
    assert {each.judged for each in refused(listed, target)} == {
        each.judged for each in listed if explained(each)
    }


@pytest.mark.parametrize("exception", LISTED_AND_REFUSED, ids=lambda each: each.form)
def test_an_exception_is_listed(exception) -> None:
    points = (point for family in FAMILIES.values() for point in family.listed("sm_120a"))
    assert any(map(exception.holds, points))
