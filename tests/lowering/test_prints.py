"""`gpu.printf`, `cute.print`, `cf.assert` and calls of device functions: the same text at every
level, and PTX that ptxas takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from printing_kernel import FAILED, KERNEL, PRINTED
from run_levels import at_levels

import tilewright as tw


def run(level: Any, n: int) -> np.ndarray:
    return tw.interpret(
        KERNEL, "k", grid=(1,), block=(2,), args=[n, 0.5, 65, np.zeros(2, np.int32)], level=level
    )[-1]


@at_levels("tile", "atom", "ptx")
def test_what_is_printed(level: Any, capsys: pytest.CaptureFixture[str]):
    assert run(level, 7).tolist() == [7, 7]
    assert capsys.readouterr().out == PRINTED.format(n=7, fits=1)


@at_levels("tile", "atom", "ptx")
def test_a_failed_assertion(level: Any, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(tw.ExecutionError, match=r"thread \(1,0,0\)"):
        run(level, 1)
    assert capsys.readouterr().out == PRINTED.format(n=1, fits=0) + FAILED


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a", "sm_100a"])
def test_the_text_assembles(arch: str, ptxas: Any):
    report = ptxas(tw.compile(KERNEL, arch).ptx, arch)
    assert report.clean, report.output


def test_a_format_that_does_not_fit():
    wrong = KERNEL.replace("n %d x %g", "n %f x %g")
    with pytest.raises(tw.CompileError, match="expected a conversion for i32, got %f; nearest"):
        tw.compile(wrong, "sm_80")
