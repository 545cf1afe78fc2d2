"""ptxas warns of nothing, and nothing is spilled: what `benchmarks/assembled.py` asks of any number
of kernels, of some of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from assembled import ARCHS, TESTS, Source, programs, said

FIXTURES = TESTS / "lowering/interpreter/cuda_tile/fixtures"


def silent(source: Source) -> None:
    row = said(source)
    assert not row["warnings"] and not row["spill_stores"] and row["registers"]


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", ["matmul", "softmax"])
def test_samples(name: str, arch: str) -> None:
    silent((name, (FIXTURES / f"{name}.tileirbc").read_bytes(), arch))


@pytest.mark.parametrize(
    "seed",
    [
        11,  # f64: all of K in registers
        70,  # two registers for each f64
        30745,  # wgmmas serialized: A in registers, in flight behind the next product's sums
    ],
)
def test_generated(seed: int) -> None:
    (source,) = programs("tile_gemms", range(seed, seed + 1), [])
    silent(source)
