"""Which target runs what another requires, and which is the lowest for several requirements."""

from __future__ import annotations

import pytest

from tilewright.dialects.cute_nvgpu.lattice.targets import (
    TARGETS,
    TargetError,
    any_of,
    lowest,
    target,
)


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
def test_supports(arch: str, minimum: str, runs: bool):
    assert target(arch).supports(target(minimum)) is runs


def test_every_target_supports_itself_and_the_oldest():
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
def test_lowest(requirements: list[str], found: str):
    result = lowest([target(each) for each in requirements])
    assert result.number == target(found).number
    assert all(result.supports(target(each)) for each in requirements)


BLACKWELL = any_of("sm_100f", "sm_110f", "sm_120f")


@pytest.mark.parametrize("arch", TARGETS)
def test_any_of_several_targets(arch: str):
    runs = any(target(arch).supports(each) for each in BLACKWELL.targets)
    assert target(arch).supports(BLACKWELL) is runs
    assert runs == (arch[-1] in "af" and arch != "sm_90a")


def test_any_of_in_words():
    assert str(BLACKWELL) == BLACKWELL.name == "sm_100f, sm_110f or sm_120f"
    assert BLACKWELL.at_least == "sm_100f, sm_110f or sm_120f, or later of the same family"
    assert any_of("sm_120a", "sm_121a").at_least == "sm_120a or sm_121a"
    mixed = any_of("sm_80", "sm_120f")
    assert mixed.at_least == "sm_80 or later or sm_120f or later of the same family"
    assert target("sm_80").at_least == "sm_80 or later"
    assert target("sm_90a").at_least == "sm_90a"
    with pytest.raises(TargetError, match="unknown target 'sm_100b'"):
        any_of("sm_100a", "sm_100b")


@pytest.mark.parametrize(
    ("arch", "found"),
    [
        (None, "sm_100a"),
        ("sm_100a", "sm_100a"),
        ("sm_100f", "sm_100f"),
        ("sm_103a", "sm_100f"),
        ("sm_110a", "sm_110a"),
        ("sm_120a", "sm_120a"),
        ("sm_121a", "sm_120f"),
        ("sm_121f", "sm_120f"),
    ],
)
def test_lowest_that_an_arch_runs(arch: str | None, found: str):
    chip = None if arch is None else target(arch)
    assert lowest([target("sm_80"), BLACKWELL], chip) == target(found)
    if chip is not None:
        assert lowest([target("sm_80")], chip) == target("sm_80")


def test_an_arch_that_lacks_a_requirement():
    said = "instructions require sm_100f, sm_110f or sm_120f, or later of the same family; got "
    with pytest.raises(TargetError, match=f"{said}target sm_90a"):
        lowest([target("sm_90"), BLACKWELL], target("sm_90a"))
    with pytest.raises(TargetError, match=r"all of sm_100f, sm_110f or sm_120f; sm_90a"):
        lowest([target("sm_90a"), BLACKWELL])


def test_no_target_for_two_architectures():
    with pytest.raises(TargetError, match="no target supports all of sm_100a; sm_90a"):
        lowest([target("sm_90a"), target("sm_100a")])


@pytest.mark.parametrize("name", ["", "sm_1", "90", "sm_90b", "SM_90", "compute_90"])
def test_unknown_names(name: str):
    with pytest.raises(TargetError, match=r"unknown target '.*'; nearest legal: sm_"):
        target(name)
