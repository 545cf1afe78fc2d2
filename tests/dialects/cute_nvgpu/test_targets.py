"""Which target runs what another requires, and which is the lowest for several requirements."""

from __future__ import annotations

import pytest

from tilewright.dialects.cute_nvgpu.targets import TARGETS, TargetError, lowest, target


@pytest.mark.parametrize(
    ("arch", "minimum", "runs"),
    [
        ("sm_80", "sm_75", True),
        ("sm_75", "sm_80", False),
        ("sm_90a", "sm_90", True),
        ("sm_90", "sm_90a", False),
        ("sm_100a", "sm_90a", False),
        ("sm_120", "sm_90", True),
        ("sm_103a", "sm_100f", True),
        ("sm_103f", "sm_100f", True),
        ("sm_103", "sm_100f", False),
        ("sm_100f", "sm_103f", False),
        ("sm_110f", "sm_100f", False),
        ("sm_121a", "sm_120f", True),
        ("sm_120f", "sm_100f", False),
        ("sm_120f", "sm_80", True),
    ],
)
def test_supports(arch: str, minimum: str, runs: bool) -> None:
    assert target(arch).supports(target(minimum)) is runs


def test_every_target_supports_itself_and_the_oldest() -> None:
    for name, each in TARGETS.items():
        assert each.name == str(each) == name
        assert each.supports(each) and each.supports(target("sm_70"))


@pytest.mark.parametrize(
    ("requirements", "found"),
    [
        ([], "sm_70"),
        (["sm_80", "sm_75"], "sm_80"),
        (["sm_90a", "sm_80"], "sm_90a"),
        (["sm_100f"], "sm_100a"),
        (["sm_120f", "sm_90"], "sm_120a"),
    ],
)
def test_lowest(requirements: list[str], found: str) -> None:
    result = lowest([target(each) for each in requirements])
    assert result.number == target(found).number
    assert all(result.supports(target(each)) for each in requirements)


def test_no_target_for_two_architectures() -> None:
    with pytest.raises(TargetError, match="no target supports all of sm_100a, sm_90a"):
        lowest([target("sm_90a"), target("sm_100a")])


@pytest.mark.parametrize("name", ["", "sm_1", "90", "sm_90b", "SM_90", "compute_90"])
def test_unknown_names(name: str) -> None:
    with pytest.raises(TargetError, match=r"unknown target '.*'; nearest legal: sm_"):
        target(name)
