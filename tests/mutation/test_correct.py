"""Kernels that are right and unusual compile and run."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from correct_kernels import corpus
from covering import THOROUGH, covering
from small_kernels import FOLDER, SMALL, arguments_of, launch_of
from subjects import EXAMPLES, STATIC
from without_checks import without_checks

import tilewright as tw
from tilewright.dialects.cute_nvgpu.lattice.targets import target
from tilewright.launch.ptxas import PtxasReport
from tilewright.lowering.ptx.text import module_text
from tilewright.pipeline import run_pipeline

CORPUS = dict(corpus())
MADE = covering((name for name in CORPUS if name not in SMALL), lambda name: name.split(", "))
"""Kernels that are made of examples: each example, and each order."""
ORDERS = MADE if THOROUGH else ["gemm_sm100, roles 2 1 0"]
"""Those that run."""
WGMMA = sorted(path.stem for path in EXAMPLES.glob("[!t]*sm90*.mlir"))
"""The examples whose accumulators wgmmas own; tests/lowering/tile assembles those in tiles."""


@pytest.mark.parametrize("name", MADE)
def test_it_passes_the_static_check(name: str):
    """Orders of the roles of four Blackwell GEMMs."""
    kernel = CORPUS[name]()
    module = kernel.module()
    run_pipeline(module, kernel.arch, stages=STATIC)


def test_every_order_is_there():
    """Six orders of three roles, of four GEMMs."""
    assert sum(", roles " in name for name in CORPUS) == 24
    assert "double_buffered_tensor_memory" in CORPUS


@pytest.mark.parametrize("name", SMALL)
def test_it_and_its_instructions_pass_the_static_check_and_run(
    name: str, ptxas: Callable[..., PtxasReport]
):
    """And ptxas mends nothing."""
    kernel = CORPUS[name]()
    module = kernel.module()
    for schedule in (None, 0, 1) if THOROUGH else (None, 0):
        assert kernel.check(kernel.run(module, schedule)), schedule
    run_pipeline(module, kernel.arch)
    run_pipeline(module, kernel.arch, stages=STATIC)
    assert kernel.check(kernel.run(module, 2))
    assert ptxas(module_text(module, target(kernel.arch)), kernel.arch).clean


@pytest.mark.parametrize("name", WGMMA)
def test_ptxas_mends_nothing(name: str, ptxas: Callable[..., PtxasReport]):
    """No C75xx: registers of wgmmas in flight stay where they are."""
    text = (EXAMPLES / f"{name}.mlir").read_text()
    assert ptxas(tw.compile(text, arch="sm_90a").ptx, "sm_90a").clean


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


@pytest.mark.parametrize("schedule", [None, 3])
@pytest.mark.parametrize("name", ORDERS)
def test_roles_in_another_order_run(name: str, schedule: int | None):
    kernel = CORPUS[name]()
    assert kernel.check(kernel.run(kernel.module(), schedule))
