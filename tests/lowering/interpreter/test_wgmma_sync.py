"""`cute-nvgpu-insert-wgmma-sync`: kernels that nothing orders run as those ordered by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from covering import THOROUGH
from numpy.testing import assert_array_equal
from run_levels import LEVELS, at_levels
from test_wgmma import expected, run
from wgmma_kernels import CASES, Case, head, k_major, mma, product_kernel, splat, store_result
from wgmma_products import atom_of

import tilewright as tw
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.passes.insert_wgmma_sync import InsertWgmmaSyncPass
from tilewright.source.parsing import default_context, parse_module
from tilewright.source.verification import verify

FENCE, COMMIT, WAIT, PROXY = (
    f"cute_nvgpu.{name}"
    for name in ("wgmma.fence", "wgmma.commit_group", "wgmma.wait_group", "fence.proxy.async")
)
BARRIER = '    "gpu.barrier"() : () -> ()\n'


@cache
def ordered(text: str) -> Any:
    """The module with what orders its wgmmas, checked: of all who ask for it."""
    module = parse_module(text)
    verify(module)
    InsertWgmmaSyncPass().apply(default_context(), module)
    module.verify()
    CheckHazardsPass().apply(default_context(), module)
    return module


def counts(module: Any) -> tuple[int, ...]:
    """How many fences, commits, waits and fences of the proxy."""
    found = Counter(op.name for op in module.walk())
    return tuple(found[name] for name in (FENCE, COMMIT, WAIT, PROXY))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_product(case: Case):
    module = ordered(product_kernel(case, ordered=False))
    assert counts(module) == (1, 1, 1, 1)
    for level in LEVELS if THOROUGH else ("ptx",):
        assert_array_equal(run(case, module, level), expected(case))


# A loop over K: each round stores 64 columns of A and B to a stage, and multiplies them.

ROUNDS = 4
SMALL = k_major("bf16", 32, 16, 16)


def staged(case: Case, body: str, attributes: str) -> str:
    return (
        head(case, attributes)
        + f"  %rounds = arith.constant {ROUNDS} : index\n"
        + "".join(f"  %k{i} = arith.constant {i * case.k} : index\n" for i in range(4))
        + splat(case)
        + f"  %step = arith.constant {body.count('BEGIN')} : index\n"
        + "  %r = scf.for %n = %c0 to %rounds step %step iter_args(%acc = %d_0) -> "
        + f"({case.c_type}) {{\n{body.replace('BEGIN', '')}  }}\n"
        + store_result(case, "%r")
        + "  func.return\n}\n"
    )


def one_round(case: Case, a: str, b: str, number: int, c: str, d: str) -> str:
    """Fill a stage with the columns of its round, and multiply it: four steps of K."""
    tiles = replace(case.a, name=a), replace(case.b, name=b)
    text = f"BEGIN    %q{number} = arith.constant {number} : index\n"
    text += f"    %m{number} = arith.addi %n, %q{number} : index\n"
    for tile in tiles:
        size = tile.shape[0] * tile.shape[1]
        fill = tile.fill().replace(f"%g{tile.name}[%i]", f"%g{tile.name[0]}[%at]")
        text += fill.replace(
            "    %v =",
            f"    %size = arith.constant {size} : index\n"
            f"    %first = arith.muli %m{number}, %size : index\n"
            "    %at = arith.addi %first, %i : index\n    %v =",
        )
    text += BARRIER
    for step in range(4):
        into = d if step == 3 else f"%e{number}_{step}"
        given = c if step == 0 else f"%e{number}_{step - 1}"
        text += (
            tiles[0].desc("a0", case.a_view, "%c0", f"%k{step}").replace("%a0", f"%a{number}{step}")
        )
        text += (
            tiles[1].desc("b0", case.b_view, "%c0", f"%k{step}").replace("%b0", f"%b{number}{step}")
        )
        issue = mma(case, 0, given, into).replace("%a0", f"%a{number}{step}")
        text += issue.replace("%b0", f"%b{number}{step}")
    return text


def single_stage(threads: int) -> str:
    body = one_round(SMALL, "a", "b", 0, "%acc", "%d") + BARRIER
    body += f"    scf.yield %d : {SMALL.c_type}\n"
    return staged(SMALL, body, f', "gpu.known_block_size" = array<i32: {threads}, 1, 1>')


def two_stages() -> str:
    """Two tiles by name, a barrier between filling each and reading it."""
    body = one_round(SMALL, "a", "b", 0, "%acc", "%d")
    body += one_round(SMALL, "a2", "b2", 1, "%d", "%e")
    body += f"    scf.yield %e : {SMALL.c_type}\n"
    text = staged(SMALL, body, ', "gpu.known_block_size" = array<i32: 128, 1, 1>')
    second = replace(SMALL.a, name="a2").alloc() + replace(SMALL.b, name="b2").alloc()
    return text.replace("  %rounds =", second + "  %rounds =", 1)


def run_rounds(module: Any, level: Any) -> tuple[np.ndarray, np.ndarray]:
    """D as computed, and as it should be."""
    rng = np.random.default_rng(1)
    a = rng.integers(-3, 4, (ROUNDS, 64, 64)).astype(ml_dtypes.bfloat16)
    b = rng.integers(-3, 4, (ROUNDS, SMALL.n, 64)).astype(ml_dtypes.bfloat16)
    out = np.zeros(128 * SMALL.values, np.float32)
    found = tw.interpret(module, grid=(1,), block=(128,), args=[a.reshape(-1), b.reshape(-1), out],
                         arch="sm_90a", level=level)[2]  # fmt: skip
    row, column = np.moveaxis(atom_of(SMALL).coords("D"), -1, 0)
    d = np.zeros((64, SMALL.n), np.float32)
    d[row, column] = found.reshape(128, -1)
    return d, np.einsum("rmk,rnk->mn", a.astype(np.float32), b.astype(np.float32))


@at_levels()
def test_a_stage_that_is_filled_again(level: str):
    """The wait stands before the stores of the next round; another before the result is read."""
    module = ordered(single_stage(128))
    assert counts(module) == (1, 1, 2, 1)
    assert_array_equal(*run_rounds(module, level))


@at_levels()
def test_two_stages(level: str):
    """Each stage is waited for while the other is read: one group stays in flight."""
    module = ordered(two_stages())
    assert counts(module) == (1, 2, 3, 2)
    waits = [op.pending.value.data for op in module.walk() if op.name == WAIT]
    assert waits == [1, 1, 0]
    assert_array_equal(*run_rounds(module, level))


def test_two_stages_assemble(ptxas: Any):
    report = ptxas(tw.compile(ordered(two_stages()), "sm_90a").ptx, "sm_90a")
    assert report.clean, report.output
    assert "serialized" not in report.output


@pytest.mark.parametrize("which", [WAIT, PROXY, FENCE])
@pytest.mark.parametrize("make", [two_stages, lambda: single_stage(128)])
def test_nothing_is_there_in_vain(make: Any, which: str):
    """Without any one of them the interpreter finds a fault."""
    whole = ordered(make())
    places = [i for i, op in enumerate(whole.walk()) if op.name == which]
    for place in places:
        module = whole.clone()
        list(module.walk())[place].detach()
        with pytest.raises(tw.ExecutionError, match=r"wgmma|proxy"):
            run_rounds(module, "atom")
