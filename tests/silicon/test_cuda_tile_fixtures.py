"""CUDA Tile IR kernels leave in memory what the chip left (fixture: record_cuda_tile.py)."""

from __future__ import annotations

from pathlib import Path

import pytest
from run_levels import at_levels

from tilewright import compile
from tilewright.launch.ptxas import assemble
from tilewright.levels import Level
from tilewright.tools.conformance.records import records, replay

RECORDS = dict(records(Path(__file__).parent / "fixtures" / "cuda_tile.tar"))
APPROXIMATE = {"product_e4m3", "softmax", "sums"}
"""Kernels whose bits Tile IR leaves open: orders of sums."""
UNDEFINED = {"conversions"}
"""Kernels that store what Tile IR leaves undefined: floats that an integer type does not hold."""


def test_every_kernel_was_recorded():
    assert len(RECORDS) == 19
    assert set(RECORDS) >= APPROXIMATE


@at_levels("program", "ptx")
@pytest.mark.parametrize("name", RECORDS)
def test_kernel_equals_the_chip(name: str, level: Level):
    outcome = replay(name, RECORDS[name], level)
    verdicts = ("equal", "within bounds") if name in APPROXIMATE else ("equal",)
    if name in UNDEFINED:
        verdicts = ("undefined",)
    assert outcome.verdict in verdicts, "\n".join(outcome.lines)


@pytest.mark.parametrize("arch", ["sm_90a", "sm_120a"])
def test_compiled_kernels_assemble(arch: str):
    for name, record in RECORDS.items():
        report = assemble(compile(record["bytecode"], arch, name=name).ptx, arch)
        assert report.clean, f"{name}: {report.output}"
