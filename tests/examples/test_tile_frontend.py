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
from tile_frontend.attention import attention
from tile_frontend.gemm import gemm
from tile_frontend.kernel import kernel, signature_of
from tile_frontend.language import Array, dot, load, steps, zeros
from tile_frontend_cases import CASES, SMALL, attention_case, gemm_case, output

from tilewright.dialects.cute import LayoutError
from tilewright.passes.analysis.bank_conflicts import bank_conflicts
from tilewright.ptxas import assemble

FOLDER = Path(__file__).parents[2] / "examples" / "tile_frontend"
LANGUAGE = ("trace", "language", "engines", "kernel")
LEVELS = ("tile", "atom", "ptx")


ARCHS = {"tma": "sm_90a", "umma": "sm_100a"}
"""What the engines need that are for one kind of chip."""


def arch_of(constants: dict[str, Any], other: str) -> str:
    """The chip that a kernel is for, or another one where any will do."""
    return ARCHS.get(constants.get("engine", ""), other)


@pytest.mark.parametrize("name", CASES)
def test_equal_bits_at_every_level(name: str) -> None:
    kernel, case, constants, tolerance = CASES[name]
    args, expected = case()
    found = [
        output(
            args,
            kernel.interpret(*args, arch=arch_of(constants, "sm_90a"), level=level, **constants),
        )
        for level in LEVELS
    ]
    assert (
        np.abs(found[0].astype(np.float64) - expected).max() <= tolerance * np.abs(expected).max()
    )
    for each in found[1:]:
        assert each.tobytes() == found[0].tobytes()


@pytest.mark.parametrize("name", CASES)
def test_ptxas_assembles_without_spills(name: str) -> None:
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
def test_shared_memory_has_no_bank_conflicts(name: str) -> None:
    kernel, case, constants, _ = CASES[name]
    found = bank_conflicts(kernel.module(signature_of(case()[0]), **constants))
    assert found or "engine" in constants
    assert all(each.ways == 1 for each in found), found


def test_kernels_are_compiled_once() -> None:
    signature = signature_of(gemm_case(16, 8, 8)[0])
    assert signature == [("bf16", 2), ("bf16", 2), ("f32", 2)]
    assert gemm.compile(signature, "sm_80", **SMALL) is gemm.compile(signature, "sm_80", **SMALL)


def test_rows_over_several_warps_are_refused() -> None:
    with pytest.raises(LayoutError, match="expected each warp to have all of mode 1 of C"):
        attention.module(signature_of(attention_case(1, 64, 64, 64)[0]), warps=(2, 2))


def test_the_hopper_engine_loads_in_loops() -> None:
    with pytest.raises(ValueError, match=r"expected loads within steps\(...\)"):
        attention.module(signature_of(attention_case(1, 64, 64, 64)[0]), engine="tma", warps=(4, 1))


def test_the_blackwell_engine_multiplies_in_loops() -> None:
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


def test_the_language_is_small() -> None:
    assert sum(code_lines(FOLDER / f"{name}.py") for name in LANGUAGE) <= 400


def test_the_readme_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FOLDER / "README.md").read_text()
    code, shown = (
        "".join(re.findall(rf"^```{kind}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL))
        for kind in ("python", "text")
    )
    monkeypatch.chdir(FOLDER.parents[1])
    monkeypatch.setattr(sys, "path", list(sys.path))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == shown != ""


def test_the_readme_shows_a_kernel_as_it_is() -> None:
    text = (FOLDER / "README.md").read_text()
    (shown,) = re.findall(r"^```py\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert shown in (FOLDER / "gemm.py").read_text()


def test_the_readme_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)]+)\)", (FOLDER / "README.md").read_text()):
        assert (FOLDER / link).exists(), link
