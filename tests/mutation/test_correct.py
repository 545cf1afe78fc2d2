"""Kernels that are right and unusual compile and run."""

from __future__ import annotations

import pytest
from correct_kernels import SMALL, corpus
from subjects import STATIC

from tilewright.pipeline import run_pipeline

CORPUS = dict(corpus())


@pytest.mark.parametrize("name", CORPUS)
def test_it_passes_the_static_check(name: str) -> None:
    kernel = CORPUS[name]()
    module = kernel.module()
    run_pipeline(module, kernel.arch, stages=STATIC)


@pytest.mark.parametrize("schedule", [None, 0, 1])
@pytest.mark.parametrize("name", SMALL)
def test_it_runs(name: str, schedule: int | None) -> None:
    kernel = CORPUS[name]()
    assert kernel.check(kernel.run(kernel.module(), schedule))


@pytest.mark.parametrize("schedule", [None, 3])
def test_roles_in_the_opposite_order_run(schedule: int | None) -> None:
    """One of the 24 orders; all were run when the corpus was made."""
    kernel = CORPUS["gemm_sm100, roles 2 1 0"]()
    assert kernel.check(kernel.run(kernel.module(), schedule))


@pytest.mark.parametrize("name", SMALL)
def test_it_runs_lowered(name: str) -> None:
    kernel = CORPUS[name]()
    module = kernel.module()
    run_pipeline(module, kernel.arch)
    assert kernel.check(kernel.run(module, 2))
