"""ptxas warns of nothing, and nothing is spilled: what `benchmarks/assembled.py` asks of any number
of kernels, of some of them."""

from __future__ import annotations

import pytest
from assembled import ARCHS, ROOT, Source, programs, said

FIXTURES = ROOT / "tests/lowering/interpreter/cuda_tile/fixtures"


def silent(source: Source) -> None:
    row = said(source)
    assert not row["warnings"] and not row["spill_stores"] and row["registers"]


@pytest.mark.covered
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("name", ["matmul", "softmax"])
def test_samples(name: str, arch: str):
    silent((name, (FIXTURES / f"{name}.tileirbc").read_bytes(), arch))


@pytest.mark.parametrize(
    ("kind", "seed", "archs"),
    [
        ("tile_gemms", 11, []),  # f64: all of K in registers
        ("tile_gemms", 70, []),  # two registers for each f64
        # wgmmas serialized: A in registers, in flight behind the next product's sums
        ("tile_gemms", 30745, []),
        # in flight behind their loop, while threads load
        ("tile_products", 75098, ["sm_90a"]),
        # 9 warps of two CTAs, of which one part of a multiprocessor has 5
        ("tile_attention", 70033, ["sm_90a"]),
    ],
)
def test_generated(kind: str, seed: int, archs: list[str]):
    (source,) = programs(kind, range(seed, seed + 1), archs)
    silent(source)
