"""The tile language of examples/tile_frontend: its kernels against NumPy, with equal bits at every
level, through ptxas; and what its README says."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import tokenize
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from covering import THOROUGH
from example_files import EXAMPLES
from tile_frontend.attention import attention
from tile_frontend.gemm import gemm
from tile_frontend.kernel import kernel, signature_of
from tile_frontend.language import COLUMNS, ROWS, Array, Registers, dot, load, steps, store, zeros
from tile_frontend.masks import elements, iota, rows, where
from tile_frontend.trace import index
from tile_frontend_cases import CASES, SMALL, attention_case, gemm_case, output

import tilewright as tw
from tilewright.launch.ptxas import assemble
from tilewright.passes.analysis.bank_conflicts import bank_conflicts

FOLDER = EXAMPLES / "tile_frontend"
LANGUAGE = ("trace", "language", "engines", "kernel")
LEVELS = ("tile", "atom", "ptx")


ARCHS = {"tma": "sm_90a", "umma": "sm_100a"}
"""What the engines need that are for one kind of chip."""


def arch_of(constants: dict[str, Any], other: str) -> str:
    """The chip that a kernel is for, or another one where any will do."""
    return ARCHS.get(constants.get("engine", ""), other)


@pytest.mark.parametrize("name", CASES)
def test_equal_bits_at_every_level(name: str):
    """Between tiles and PTX, atoms: `make conformance` looks there as well."""
    kernel, case, constants, tolerance = CASES[name]
    args, expected = case()
    found = [
        output(
            args,
            kernel.interpret(*args, arch=arch_of(constants, "sm_90a"), level=level, **constants),
        )
        for level in (LEVELS if THOROUGH else ("tile", "ptx"))
    ]
    assert (
        np.abs(found[0].astype(np.float64) - expected).max() <= tolerance * np.abs(expected).max()
    )
    for each in found[1:]:
        assert each.tobytes() == found[0].tobytes()


@pytest.mark.parametrize("name", CASES)
def test_ptxas_assembles_without_spills(name: str):
    kernel, case, constants, _ = CASES[name]
    arch = arch_of(constants, "sm_80")
    ptx = kernel.compile(signature_of(case()[0]), arch, **constants).ptx
    assert f".target {arch}\n" in ptx
    report = assemble(ptx, arch)
    assert report.clean, report.output
    # The bias beside 128 accumulators: two registers more than there are before setmaxnreg.
    allowed = 8 if name == "bias and ReLU by wgmma" else 0
    assert all(each.spill_stores <= allowed for each in report.kernels.values()), report.output


@pytest.mark.parametrize("name", CASES)
def test_shared_memory_has_no_bank_conflicts(name: str):
    kernel, case, constants, _ = CASES[name]
    found = bank_conflicts(kernel.module(signature_of(case()[0]), **constants))
    assert found or "engine" in constants
    assert all(each.ways == 1 for each in found), found


def test_kernels_are_compiled_once():
    signature = signature_of(gemm_case(16, 8, 8)[0])
    assert signature == [("bf16", 2), ("bf16", 2), ("f32", 2)]
    assert gemm.compile(signature, "sm_80", **SMALL) is gemm.compile(signature, "sm_80", **SMALL)


def test_rows_over_several_warps_are_refused():
    words = "expected each warp to have all of mode 1 of C"
    with pytest.raises(tw.CompileError, match=words) as caught:
        attention.module(signature_of(attention_case(1, 64, 64, 64)[0]), warps=(2, 2))
    diagnostic = caught.value.diagnostic
    assert Path(str(diagnostic.file)) == FOLDER / "attention.py"
    assert 'scores.reduced("max")' in str(diagnostic.text)


def test_a_mask_of_rows_and_of_what_they_hold():
    """One number a row, iota along both axes, comparisons with numbers and with one another."""
    bias = np.arange(64, dtype=np.float32)
    signature = [("f32", 1), ("f32", 2)]

    @kernel(grid=lambda *_, **__: (1,), warps=(4, 1))
    def masked(bias: Array, c: Array) -> None:
        acc = zeros(64, 32) + rows(bias, index(0), zeros(64, 32))
        row, column = (iota(axis, index(0), acc) for axis in (ROWS, COLUMNS))
        band = (column <= row) & (row < column + 8) | (elements(acc) > 60.0)
        store(c, (0, 0), where(band, acc, where(column < 2, zeros(64, 32), -1.0)))

    found = [
        masked.interpret(bias, np.zeros((64, 32), np.float32), arch="sm_80", level=level)[-1]
        for level in LEVELS
    ]
    row, column = np.arange(64)[:, None], np.arange(32)
    band = (column <= row) & (row < column + 8) | (row > 60)
    expected = np.where(band, row, np.where(column < 2, 0, -1))
    for level in found:
        np.testing.assert_array_equal(level, expected)
    assert assemble(masked.compile(signature, "sm_80").ptx, "sm_80").clean


def test_what_the_lowering_rejects_is_at_the_line_of_the_kernel():
    @kernel(grid=lambda *_, **__: (1,), warps=(4, 1))
    def wrong(c: Array) -> None:
        acc = zeros(64, 32)
        store(c, (0, 0), Registers(acc.frame, "f32"))

    with pytest.raises(tw.CompileError, match="reads registers that nothing has written") as caught:
        wrong.compile([("f32", 2)], "sm_80")
    assert caught.value.diagnostic.file == __file__
    assert 'store(c, (0, 0), Registers(acc.frame, "f32"))' in str(caught.value)


def test_the_hopper_engine_loads_in_loops():
    with pytest.raises(ValueError, match=r"expected loads within steps\(...\)"):
        attention.module(signature_of(attention_case(1, 64, 64, 64)[0]), engine="tma", warps=(4, 1))


def test_the_blackwell_engine_multiplies_in_loops():
    @kernel(grid=lambda a: (1,))
    def squares(a: Array) -> None:
        acc, one = zeros(128, 128), zeros(128, 64).to("bf16")
        for step in steps(a.extent(1), 64):
            dot(one, load(a, (64, 128), (0, step)), acc)

    with pytest.raises(
        ValueError, match=r"expected two blocks in shared memory, multiplied within"
    ):
        squares.module([("bf16", 2)], engine="umma", warps=(4, 1))


def code_lines(path: Path) -> int:
    """Lines with code other than imports: no blank ones, no comments, no docstrings."""
    text = path.read_text()
    tree = ast.parse(text)
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type in (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING)
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(tree):
        alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if alone or isinstance(node, ast.Import | ast.ImportFrom):
            lines -= set(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def test_the_language_is_small():
    assert sum(code_lines(FOLDER / f"{name}.py") for name in LANGUAGE) <= 400


def test_the_readme_runs(monkeypatch: pytest.MonkeyPatch):
    text = (FOLDER / "README.md").read_text()
    examples, shown = (
        re.findall(rf"^```{kind}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
        for kind in ("python", "text")
    )
    monkeypatch.chdir(FOLDER.parents[1])
    monkeypatch.setattr(sys, "path", list(sys.path))
    for code, prints in zip(examples, shown, strict=True):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "README.md", "exec"), {})
        assert printed.getvalue() == prints != ""


def test_the_readme_shows_a_kernel_as_it_is():
    text = (FOLDER / "README.md").read_text()
    (shown,) = re.findall(r"^```py\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert shown in (FOLDER / "gemm.py").read_text()


def test_the_readme_links_lead_somewhere():
    for link in re.findall(r"\]\(([^)]+)\)", (FOLDER / "README.md").read_text()):
        assert (FOLDER / link).exists(), link
