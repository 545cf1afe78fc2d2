"""Boxes that MMAs of warps read as fragments: TMA without wgmma or tcgen05."""

from __future__ import annotations

from typing import Any

import pytest
from attention_kernel import GIVEN, arguments, attention, operands, twice
from test_warpgroups import check, product
from tile_ir import equal_as_ptx

import tilewright as tw
from tilewright.launch import ptxas

ARCH = "sm_120a"
TYPES = ("bf16", "bf16", "f32")


def test_a_warp_copies_ahead_of_ldmatrix() -> None:
    """Edges along every dimension, more steps than stages, copies that complete late; no barrier
    in the loop."""
    text = product(("bf16", "f32"), (64, 64, 32))
    kernel = tw.compile(text, ARCH)
    assert "cp.async.bulk.tensor.2d.shared::cta.global" in kernel.ptx
    assert "shared::cluster" not in kernel.ptx and "st.shared" not in kernel.ptx
    assert "ldmatrix" in kernel.ptx and "bar.sync 1" not in kernel.ptx
    assert kernel.entry().block == (160, 1, 1)
    check(text, (136, 56, 216), TYPES, (2, 1), schedule=3, arch=ARCH)


def test_stages_go_on_from_tile_to_tile() -> None:
    text = product(("bf16", "f32"), (64, 32, 32), persistent=True)
    check(text, (192, 32, 136), TYPES, (2, 1), schedule=1, arch=ARCH)


@pytest.mark.parametrize(
    "types, k, order, convert",
    [
        (("f8E4M3FN", "f32"), 64, "", ""),
        (("i8", "i32"), 64, "columns", ""),
        (("tf32", "f32"), 32, "", "f32"),
    ],
)
def test_types_and_orders(types: tuple[str, str], k: int, order: str, convert: str) -> None:
    text = product(types, (64, 32, k), b_order=order, convert=convert)
    assert "cp.async.bulk.tensor" in tw.compile(text, ARCH).ptx
    memory = convert or types[0]
    sizes, elements = (64, 32, 2 * k + 16), (memory, memory, types[1])
    check(text, sizes, elements, (1, 1), b_order=order, arch=ARCH)


@pytest.mark.parametrize("shape", [(128, 128, 64), (128, 256, 32)])
def test_no_warnings_no_spills(shape: tuple[int, int, int]) -> None:
    """Beside 64 and 128 sums a thread there are registers for a warp that copies."""
    kernel = tw.compile(product(("bf16", "f32"), shape), "sm_121a")
    assert kernel.entry().block == (288, 1, 1)
    report = ptxas.assemble(kernel.ptx, "sm_121a")
    assert report.ok and not report.warnings and report.kernels["k"].spill_stores == 0


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_one_stage_is_copied_to_while_another_is_read(trips: int) -> None:
    """Where memory has no room for two of keys and of values: keys of the next iteration come
    meanwhile values are multiplied, as in a loop behind it. Nothing is spilled."""
    text = twice(attention(128, 128, 128, GIVEN), "%sum = %acc, %max = %top")
    options: dict[str, Any] = {"grid": (1, 1), "arch": ARCH, "schedule": trips}
    equal_as_ptx(text, args=arguments(operands(128, 384, 128, 1), trips), **options)


@pytest.mark.parametrize("columns, depth, barriers", [(128, 128, 4), (64, 256, 0)])
def test_attention_without_spills(columns: int, depth: int, barriers: int) -> None:
    """Queries are laid down once, keys and values come by one stage each where they have room."""
    kernel = tw.compile(attention(128, columns, depth, GIVEN), ARCH)
    loop = kernel.ptx[kernel.ptx.index("_body:") :]
    assert kernel.ptx.count("mbarrier.init.shared") == barriers
    assert ("st.shared" in loop[: loop.index("ex2")]) is (barriers == 0)
    report = ptxas.assemble(kernel.ptx, ARCH)
    assert report.ok and not report.warnings and report.kernels["k"].spill_stores == 0
