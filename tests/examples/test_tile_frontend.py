"""The tile language of examples/tile_frontend: its kernels against NumPy, with equal bits at every
level, through ptxas; and what its README says."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import sys
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray
from tile_frontend.attention import attention
from tile_frontend.gemm import HOPPER, batched_gemm, gemm, gemm_bias_relu
from tile_frontend.kernel import Kernel, signature_of

from tilewright.dialects.cute import LayoutError
from tilewright.ptxas import assemble

FOLDER = Path(__file__).parents[2] / "examples" / "tile_frontend"
LANGUAGE = ("trace", "language", "engines", "kernel")
LEVELS = ("tile", "atom", "ptx")
Array = NDArray[Any]


def matrix(*shape: int, dtype: Any = ml_dtypes.bfloat16, seed: int = 0) -> Array:
    """Random elements in rows of whole 16 bytes, NaN behind them and behind the last row."""
    run = 16 // np.dtype(dtype).itemsize
    whole = np.full((*shape[:-2], shape[-2] + 1, -(-shape[-1] // run) * run + run), np.nan, dtype)
    found = whole[..., : shape[-2], : shape[-1]]
    found[...] = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return found


def result(*shape: int, dtype: Any = np.float32) -> Array:
    """An output full of NaN."""
    found = matrix(*shape, dtype=dtype)
    found[...] = np.nan
    return found


def exact(*arrays: Array) -> list[Array]:
    return [each.astype(np.float64) for each in arrays]


def softmax(scores: Array) -> Array:
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def gemm_case(m: int, n: int, k: int, dtype: Any = ml_dtypes.bfloat16) -> tuple[list[Any], Array]:
    a, b = matrix(m, k, dtype=dtype), matrix(k, n, dtype=dtype, seed=1)
    x, y = exact(a, b)
    return [a, b, result(m, n)], x @ y


def bias_case(m: int, n: int, k: int) -> tuple[list[Any], Array]:
    (a, b, c), product = gemm_case(m, n, k)
    bias = matrix(1, n, dtype=np.float32, seed=2)[0]
    return [a, b, bias, c], np.maximum(product + bias, 0)


def batched_case(z: int, m: int, n: int, k: int) -> tuple[list[Any], Array]:
    a, b = matrix(z, m, k), matrix(z, k, n, seed=1)
    x, y = exact(a, b)
    return [a, b, result(z, m, n)], x @ y


def attention_case(z: int, queries: int, keys: int, depth: int) -> tuple[list[Any], Array]:
    q, k, v = (matrix(z, n, depth, seed=i) for i, n in enumerate((queries, keys, keys)))
    scale = 1 / np.sqrt(depth)
    x, y, w = exact(q, k, v)
    out = softmax(x @ y.transpose(0, 2, 1) * scale) @ w
    o = result(z, queries, depth, dtype=ml_dtypes.bfloat16)
    return [q, k, v, o, float(scale * np.log2(np.e))], out


SMALL = {"tile": (64, 64, 32), "stages": 2}
HALVES = {"warps": (4, 1), "tile": (64, 128, 64)}
CASES: dict[str, tuple[Kernel, Callable[[], tuple[list[Any], Array]], dict[str, Any], float]] = {
    "gemm": (gemm, lambda: gemm_case(130, 264, 96), {}, 1e-5),
    "gemm, one step": (gemm, lambda: gemm_case(16, 8, 8), SMALL, 1e-5),
    "gemm of f16": (gemm, lambda: gemm_case(65, 72, 40, np.float16), SMALL, 1e-5),
    "gemm, other warps": (gemm, lambda: gemm_case(100, 136, 200), HALVES, 1e-5),
    "gemm by wgmma": (gemm, lambda: gemm_case(130, 264, 200), HOPPER, 1e-5),
    "bias and ReLU": (gemm_bias_relu, lambda: bias_case(130, 136, 64), {}, 1e-5),
    "bias and ReLU by wgmma": (gemm_bias_relu, lambda: bias_case(130, 264, 72), HOPPER, 1e-5),
    "batched": (batched_gemm, lambda: batched_case(3, 65, 72, 40), SMALL, 1e-5),
    "attention": (attention, lambda: attention_case(2, 100, 128, 64), {}, 8e-3),
    "attention, 128 deep": (attention, lambda: attention_case(1, 64, 192, 128),
                            {"depth": 128}, 8e-3),
}  # fmt: skip


def output(args: list[Any], arrays: list[Array]) -> Array:
    """The array that a kernel writes: its last one."""
    return arrays[sum(isinstance(each, np.ndarray) for each in args) - 1]


@pytest.mark.parametrize("name", CASES)
def test_equal_bits_at_every_level(name: str) -> None:
    kernel, case, constants, tolerance = CASES[name]
    args, expected = case()
    found = [
        output(args, kernel.interpret(*args, arch="sm_90a", level=level, **constants))
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
    arch = "sm_90a" if constants is HOPPER else "sm_80"
    ptx = kernel.compile(signature_of(case()[0]), arch, **constants).ptx
    assert f".target {arch}\n" in ptx
    report = assemble(ptx, arch)
    assert report.clean, report.output
    # The bias beside 128 accumulators: two registers more than there are before setmaxnreg.
    allowed = 8 if name == "bias and ReLU by wgmma" else 0
    assert all(each.spill_stores <= allowed for each in report.kernels.values()), report.output


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
