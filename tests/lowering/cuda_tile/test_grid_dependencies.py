"""Programmatic dependent launch: no thread loads before it has waited for the grids before."""

from __future__ import annotations

import re

import pytest
from test_warpgroups import product

import tilewright as tw
from tilewright.launch import ptxas

WAIT, LAUNCH = "griddepcontrol.wait;", "griddepcontrol.launch_dependents;"
LOAD = re.compile(r"cp\.async\.bulk\.tensor\.\dd\.shared|ld\.global|cp\.async\.cg")


def waiting(text: str, *, nested: bool = False) -> str:
    """A product whose loads come after a wait, or wait in each step, and that lets others start."""
    for load in ("%x, %t0", "%y, %t1"):
        at = text.index(f"{load} = load_view_tko")
        colon = text.index("] :", at) + 1
        text = f"{text[:colon]} token = %ready{text[colon:]}"
    start = "%x, %t0" if nested else "%sum = for"
    text = text.replace(start, f"%ready = gdc_wait_tko -> token\n    {start}", 1)
    start = "%zero = constant"
    return text.replace(start, f"%begun = gdc_launch_dependents_tko -> token\n    {start}", 1)


def before_first_load(part: str) -> bool:
    """The wait comes before all loads of a part of the text, if there are any."""
    load = LOAD.search(part)
    return load is None or WAIT in part[: load.start()]


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("arch", ["sm_90a", "sm_120a"])
def test_loads_come_after_the_wait(arch: str, nested: bool) -> None:
    text = waiting(product(("bf16", "f32"), (128, 64, 16)), nested=nested)
    ptx = tw.compile(text, arch).ptx
    # The warp that copies has a part of its own, in front of or behind that of the others.
    parts = [ptx] if nested else ptx.split("_else:\n")
    assert all(map(before_first_load, parts)) and LAUNCH in ptx
    assert ptx.count(WAIT) == 2 - nested and len(LOAD.findall(ptx)) > 1
    assert ptxas.assemble(ptx, arch).clean


def test_before_hopper_grids_start_one_after_another() -> None:
    kernel = tw.compile(waiting(product(("bf16", "f32"), (64, 32, 32))), "sm_80")
    assert "griddepcontrol" not in kernel.ptx
    assert [remark.kind for remark in kernel.remarks].count("hint") >= 2
