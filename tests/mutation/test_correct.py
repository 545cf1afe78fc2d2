"""Kernels that are right and unusual compile and run."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from correct_kernels import corpus
from covering import THOROUGH
from small_kernels import FOLDER, SMALL, arguments_of, launch_of
from subjects import EXAMPLES, STATIC
from without_checks import without_checks

import tilewright as tw
from tilewright.launch.ptxas import PtxasReport
from tilewright.pipeline import run_pipeline

CORPUS = dict(corpus())
ORDERS = [name for name in CORPUS if name not in SMALL]
"""The kernels that are made of examples: one of them runs here, all with TILEWRIGHT_THOROUGH=1."""
if not THOROUGH:
    ORDERS = ["gemm_sm100, roles 2 1 0"]
WGMMA = sorted(path.stem for path in EXAMPLES.glob("[!t]*sm90*.mlir"))
"""The examples whose accumulators wgmmas own; tests/lowering/tile assembles those in tiles."""


@pytest.mark.parametrize("name", CORPUS)
def test_it_passes_the_static_check(name: str):
    """Every order of the roles of four Blackwell GEMMs and two accumulators in turn among them."""
    kernel = CORPUS[name]()
    module = kernel.module()
    run_pipeline(module, kernel.arch, stages=STATIC)


def test_every_order_is_there():
    """Six orders of three roles, of four GEMMs."""
    assert sum(", roles " in name for name in CORPUS) == 24
    assert "double_buffered_tensor_memory" in CORPUS


@pytest.mark.parametrize("name", SMALL)
def test_its_instructions_pass_the_static_check_and_run(name: str):
    kernel = CORPUS[name]()
    module = kernel.module()
    run_pipeline(module, kernel.arch)
    run_pipeline(module, kernel.arch, stages=STATIC)
    assert kernel.check(kernel.run(module, 2))


@pytest.mark.parametrize("name", [*SMALL, *WGMMA])
def test_ptxas_mends_nothing(name: str, ptxas: Callable[..., PtxasReport]):
    """No C75xx: registers of wgmmas in flight stay where they are."""
    if name in WGMMA:
        text, arch = (EXAMPLES / f"{name}.mlir").read_text(), "sm_90a"
    else:
        text, arch = (FOLDER / f"{name}.mlir").read_text(), CORPUS[name]().arch
    assert ptxas(tw.compile(text, arch=arch).ptx, arch).clean


def behind_reads(name: str) -> str:
    """A kernel of the corpus whose arrivals at mbarriers of other CTAs are behind reads alone."""
    text = (FOLDER / f"{name}.mlir").read_text()
    return re.sub(r"(cluster.mbarrier_arrive .* rank %even)", r"\1 reads", text)


def test_what_was_read_is_passed_on_to_another_cta():
    text = behind_reads("multicast_released_by_both")
    grid, block = launch_of(text)
    for level in ("atom", "ptx"):
        arrays = tw.interpret(text, grid=grid, block=block, args=arguments_of(text), level=level)
        assert SMALL["multicast_released_by_both"](arrays)
    tw.compile(text, arch="sm_90a")


def test_what_was_written_is_not():
    """A release of its CTA's scope says nothing of writes to another one."""
    text = behind_reads("multicast_over_writes")
    grid, block = launch_of(text)
    with pytest.raises(tw.CompileError, match=r"load' expected shared memory that other"):
        tw.compile(text, arch="sm_90a")
    with without_checks():
        for level in ("atom", "ptx"):
            with pytest.raises(tw.ExecutionError, match=r"write by .* ordered by no barrier"):
                tw.interpret(text, grid=grid, block=block, args=arguments_of(text), level=level)


@pytest.mark.parametrize("schedule", [None, 0, 1])
@pytest.mark.parametrize("name", SMALL)
def test_it_runs(name: str, schedule: int | None):
    kernel = CORPUS[name]()
    assert kernel.check(kernel.run(kernel.module(), schedule))


@pytest.mark.parametrize("schedule", [None, 3])
@pytest.mark.parametrize("name", ORDERS)
def test_roles_in_another_order_run(name: str, schedule: int | None):
    kernel = CORPUS[name]()
    assert kernel.check(kernel.run(kernel.module(), schedule))
