"""Products of axes, what the ISA lists of them, and samples."""

from __future__ import annotations

import inspect
import random
import re
from dataclasses import replace
from math import prod
from pathlib import Path
from types import ModuleType

import pytest

from tilewright.tools.conformance import (
    block_scale_families,
    copy_families,
    mma_families,
    sparse_families,
    wgmma_families,
    wmma_families,
)
from tilewright.tools.conformance.documented_targets import KNOWN, since
from tilewright.tools.conformance.instruction_family import Family, documented, spell, within
from tilewright.tools.conformance.lattice import FAMILIES

# The example of instruction_family.
AXES = {
    "shape": ("m8n8k4", "m16n8k8", "m16n8k16"),
    "d": ("f16", "f32"),
    "a": ("f16", "bf16"),
}
BOXES = (
    documented("9.7.14.5.14", since(80), shape="m16n8k8 m16n8k16", d="f16 f32", a="f16"),
    documented("9.7.14.5.14", since(90), shape="m16n8k8 m16n8k16", d="f32", a="bf16"),
)
FAMILY = Family(
    "example",
    AXES,
    "mma.sync.aligned.{shape}.row.col.{d}.{a}.{a}.{d}",
    lambda point: (f"one of {point['shape']}", "another"),
    BOXES,
)
MODULES = (
    mma_families,
    block_scale_families,
    sparse_families,
    copy_families,
    wmma_families,
    wgmma_families,
)


def test_every_point_stands_once() -> None:
    points = list(FAMILY.points(range(len(FAMILY))))
    assert len(FAMILY) == len(points) == 12
    assert len({tuple(point.items()) for point in points}) == 12
    assert points[0] == {"shape": "m8n8k4", "d": "f16", "a": "f16"}
    assert points[1] == {"shape": "m8n8k4", "d": "f16", "a": "bf16"}


def test_an_axis_may_bind_several_names() -> None:
    axes = {"shape": AXES["shape"], "d a": (("f16", "f16"), ("f32", "f16"))}
    family = replace(FAMILY, axes=axes, documented=within(axes, BOXES))
    assert len(family) == 6
    assert family.point(1) == {"shape": "m8n8k4", "d": "f32", "a": "f16"}
    assert [len(box.words["shape"]) for box in family.documented] == [2]


@pytest.mark.parametrize("target, listed", [("sm_75", 0), ("sm_80", 4), ("sm_90", 6)])
def test_what_is_documented(target: str, listed: int) -> None:
    points = [each for each in FAMILY.points(range(len(FAMILY))) if FAMILY.documents(each, target)]
    assert len(points) == listed
    assert sorted(map(str, FAMILY.listed(target))) == sorted(map(str, points))


def test_a_name_that_a_box_leaves_out_must_be_empty() -> None:
    family = replace(FAMILY, axes={**AXES, "bit_op": ("", ".xor.popc")})
    point = {"shape": "m16n8k8", "d": "f32", "a": "f16", "bit_op": ""}
    assert family.documents(point, "sm_80")
    assert not family.documents(point | {"bit_op": ".xor.popc"}, "sm_80")


@pytest.mark.parametrize("words", [{"a": "f64"}, {"layout": "row"}, {"shape": "m16n8k8"}])
def test_a_box_without_a_point_is_an_error(words: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="example: no"):
        replace(FAMILY, documented=(documented("9.7.14.5.14", since(80), **words),))


def test_boxes_are_cut_down_to_axes() -> None:
    few = {"shape": ("m16n8k8",), "d": ("f32", "f64"), "a": ("f16",)}
    [box] = within(few, BOXES)
    assert box.words == {"shape": ("m16n8k8",), "d": ("f32",), "a": ("f16",)}
    words = {"shape": "m16n8k8", "d": "f32", "a": "f16"}
    [kept] = within(few, [documented("9.7.14.5.14", since(80), satfinite=("", ".sat"), **words)])
    assert kept.words == box.words
    assert not within(few, [documented("9.7.14.5.14", since(80), satfinite=(".sat",), **words)])


def test_a_candidate_is_judged_by_its_mnemonic_or_with_its_operands() -> None:
    point = FAMILY.point(0)
    mnemonic = "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16"
    candidate = spell(FAMILY, point)
    assert candidate.judged == mnemonic
    assert candidate.instructions == (f"{mnemonic} one of m8n8k4;", f"{mnemonic} another;")
    assert spell(replace(FAMILY, with_operands=True), point).judged == candidate.instructions[0]


def test_half_of_a_sample_is_documented() -> None:
    sample = FAMILY.sample(random.Random(1), 100, "sm_90")
    assert sum(FAMILY.documents(point, "sm_90") for point in sample) >= 50
    assert sample == FAMILY.sample(random.Random(1), 100, "sm_90")
    assert sample != FAMILY.sample(random.Random(2), 100, "sm_90")


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_documented_point_of_every_box_is_in_its_family(family: Family) -> None:
    for box in family.documented:
        assert set(box.targets) <= set(KNOWN)
        inside = prod(
            sum(box.holds(dict(zip(names.split(), _tuple(value), strict=True))) for value in values)
            for names, values in family.axes.items()
        )
        assert inside, f"{family.name}: no point is in {box}"


def _tuple(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_tables_of_points_are_true(module: ModuleType) -> None:
    table = re.findall(r"\| (\S+) +\| ([\d,]+) ", inspect.getdoc(module) or "")
    said = {name: int(number.replace(",", "")) for name, number in table}
    listed = {name for families in _tables(module) for name in (each.name for each in families)}
    assert said == {name: len(FAMILIES[name]) for name in listed}
    page = (Path(__file__).parents[2] / "docs" / "conformance.md").read_text()
    file = Path(module.__file__ or "").name
    assert f"| {sum(said.values()):,} | `{file}` |" in page


def _tables(module: ModuleType) -> list[tuple[Family, ...]]:
    return [value for name, value in vars(module).items() if name.endswith("_FAMILIES")]
