"""A sample of generated programs: every level gives the same bits, and what NumPy has; ptxas takes
what compiles. `run.py` tries any number of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from assembly import not_assembled
from covering import THOROUGH
from draw import Draw, shrunk
from kinds import KINDS, drawn
from program import Expected, Program
from trial import differences, smallest
from wgmma_orders import Ordered

import tilewright as tw

COUNTS = {
    "scalars": 10, "vectors": 6, "blocks": 8, "functions": 8, "tiled_copies": 9, "matrices": 1,
    "tma": 4, "reductions": 8, "views": 14, "view_tensor_memory": 4, "view_warpgroups": 3,
    "register_mmas": 10, "warp_gemms": 6,
    "warpgroup_gemms": 2, "wgmmas": 3, "ummas": 1, "wgmma_orders": 6, "tcgen05_orders": 4,
    "shared_orders": 8, "tmem_lifetimes": 4,
    "tiles": 2, "tile_gemms": 1, "tile_attention": 1, "tile_products": 1, "tile_scaled": 1,
    "tile_rows": 2, "tile_shared": 4, "tile_poison": 6, "tile_memory": 2, "triton_accesses": 10,
    "tile_values": 4, "triton_values": 6, "ptx_texts": 1,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_differs(kind: str):
    count = COUNTS[kind] if THOROUGH else -(-COUNTS[kind] // 2)
    wrong = differences(kind, range(count), assembles=False)
    assert not wrong, smallest(kind, *wrong[0])


@pytest.mark.parametrize(
    "kind, seed",
    [
        ("tile_gemms", 1094),  # A stored to columns that other threads were loading
        ("tile_gemms", 1166),  # memory laid down anew while another warpgroup's wgmma read it
        ("tile_gemms", 30401),  # ptxas serialized wgmmas: a cp.async.wait_group before theirs
        ("tile_gemms", 30826),  # and of a loop that surely runs: numbers computed before it
        ("functions", 900078),  # the cube root of -3.04e38 was NaN
        ("tile_gemms", 900116),  # a box that a product without MMAs reads kept its stage
        ("tcgen05_orders", 900125),  # a copy to one lane of 32, a load of sixteen others
        ("wgmma_orders", 5000),  # two accumulators in turn, by one op
        ("wgmma_orders", 30060),  # a hazard behind a branch that block 1 alone takes
        ("wgmma_orders", 50177),  # the only wgmma.fence is in a loop that surely runs
    ],
)
def test_nothing_differs_any_more(kind: str, seed: int):
    assert not differences(kind, [seed], assembles=False)


def test_ptxas_takes_them(ptxas: Callable[..., object]):
    """Two programs of each kind, all of a target in one text."""
    programs = [drawn(kind, seed)[0] for kind in KINDS for seed in range(2)]
    compiled = [case for case in programs if isinstance(case, Program) and "ptx" in case.levels]
    assert not not_assembled(list(enumerate(compiled)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_program(kind: str):
    case, choices = drawn(kind, 5)
    assert case.text == drawn(kind, 5)[0].text == KINDS[kind](Draw(choices)).text
    assert len({drawn(kind, seed)[0].text for seed in range(8)}) > 4


def test_orders_of_both_kinds_are_drawn():
    """Of programs that must order their wgmmas, some do and some do not."""
    cases = [drawn("wgmma_orders", seed)[0] for seed in range(40)]
    counts = Counter(case.accepted for case in cases if isinstance(case, Ordered))
    assert min(counts[True], counts[False]) > 2


# What a difference looks like


ADD = """func.func @k(%x: memref<32xf32>, %y: memref<32xf32>) attributes {gpu.kernel} {
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %v = memref.load %x[%t] : memref<32xf32>
  %w = arith.addf %v, %v : f32
  memref.store %w, %y[%t] : memref<32xf32>
  func.return
}"""


def program(text: str, expected: float, within: float = 0) -> Program:
    args = [np.ones(32, np.float32), np.zeros(32, np.float32)]
    return Program(text, args, 32, {1: Expected(np.full(32, expected), within)})


def test_a_difference_has_a_name():
    assert program(ADD, 2).difference() is None
    assert program(ADD, 2.5, 0.5).difference() is None
    assert program(ADD, 2.5, 0.25).difference() == "not what NumPy has"
    assert program(ADD, np.nan).difference() == "not what NumPy has"
    refused = program(ADD.replace("[%t]", "[%x]"), 2).difference()
    assert refused is not None and refused.startswith("tile refuses: ") and "%x" not in refused
    beyond = program(ADD.replace("32x", "16x"), 2).difference()
    assert beyond is not None and beyond.startswith("tile refuses: ")


def test_levels_that_differ(monkeypatch: pytest.MonkeyPatch):
    true_run = Program.run

    def run(self: Program, module: object, level: str) -> list[np.ndarray]:
        found = true_run(self, module, level)  # type: ignore[arg-type]
        found[1][3] += level == "ptx"
        return found

    monkeypatch.setattr(Program, "run", run)
    assert program(ADD, 2).difference() == "tile and ptx differ"


def test_what_is_refused_by_ptxas(monkeypatch: pytest.MonkeyPatch):
    """Two kernels in one text: the one that fails is named."""
    wrong = ADD.replace("@k", "@wrong").replace("addf", "mulf")
    compile_ = tw.compile

    def broken(text: str, arch: str) -> object:
        kernel = compile_(text, arch)
        object.__setattr__(kernel, "ptx", kernel.ptx.replace("mul.rn.f32", "mul.f99"))
        return kernel

    monkeypatch.setattr(tw, "compile", broken)
    refused = not_assembled([(7, program(ADD, 2)), (8, program(wrong, 1))])
    assert [seed for seed, _ in refused] == [8] and "f99" in refused[0][1]


def test_choices_are_shrunk():
    """To the least that still fails: a number of 10 or more, and nothing around it."""
    draw = Draw("seed")
    for _ in range(50):
        draw.number(0, 99)

    def fails(choices: list[int]) -> bool:
        return any(choice >= 10 for choice in choices)

    found = shrunk(draw.choices, fails, 500)
    assert len(found) == 1 and 10 <= found[0] < 20
    assert Draw(found).number(0, 99) == found[0] and Draw([]).number(4, 9) == 4
