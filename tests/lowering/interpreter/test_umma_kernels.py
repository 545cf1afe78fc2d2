"""Kernels with tcgen05.mma at both levels, against `tilewright.simulate` of the instruction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from covering import THOROUGH
from numpy.testing import assert_array_equal
from run_levels import at_levels
from test_umma import CASES, run
from umma_images import build
from umma_programs import COLUMNS, atom_of, execute, kernel

import tilewright as tw
from tilewright.launch.ptxas import PtxasReport

PLACED = (
    "f16", "f16-into-f16", "tf32", "e4m3-e5m2", "e2m3-e3m2", "s8-u8", "f16-tmem", "e2m1-tmem",
    "sp-f16", "sp-bf16-selector", "sp-e4m3", "ws-32", "ws-sp-64-e4m3", "mxf8f6f4-id", "mxf4",
    "mxf4nvf4", "mxf4-sp", "pair-256", "pair-128", "pair-128-tmem", "pair-256-i8", "mxf8f6f4-pair",
    "mxf4nvf4-pair-128", "mxf4nvf4-k96",
)  # fmt: skip


SAMPLE = (
    "f16-into-f16", "tf32", "e2m3-e3m2", "s8-u8", "f16-tmem", "sp-bf16-selector", "ws-32",
    "ws-sp-64-e4m3", "mxf8f6f4-id", "mxf4-sp", "pair-128-tmem", "mxf4nvf4-pair-128", "mxf4nvf4-k96",
)  # fmt: skip
"""One of each place of operands, kind of elements and group; `test_umma` has the arithmetic."""


@pytest.mark.parametrize("name", PLACED if THOROUGH else SAMPLE)
def test_a_kernel_does_what_the_instruction_does(name: str):
    u = CASES[name]
    images = build(u)
    arch = "sm_103a" if u.k == 96 else "sm_100a"
    text = kernel(u, images).text()
    wanted = run(u, images, "hardware").reshape(-1, 512)
    # Every third at the level of atoms too; `make conformance` runs all of them there.
    levels: tuple[Any, ...] = ("ptx",)
    if THOROUGH or PLACED.index(name) % 3 == 0:
        levels = ("atom", "ptx")
    for level in levels:
        found = execute(u, images, text, level, arch)
        assert_array_equal(found, wanted[:, :COLUMNS], level)


@at_levels()
def test_modifiers(level: Any):
    u = CASES["f16"]
    images = build(u)
    words = "\n".join(
        f"    %m{i} = arith.constant {value} : i32" for i, value in enumerate((5, -1, 0, 1 << 30))
    )
    more = (
        "enable_input_d %more scale_input_d 2 disable_output_lane (%m0, %m1, %m2, %m3) negate_b "
        'collector "a::fill"'
    )
    made = kernel(u, images, more)
    found = execute(u, images, replace(made, body=f"{words}\n{made.body}").text(), level)
    idesc = atom_of(u).descriptor(negated=(False, True)).encode()
    wanted = run(u, images, "hardware", idesc=idesc, scale_input_d=2,
                 disable_output_lane=[5, 0xFFFFFFFF, 0, 1 << 30])  # fmt: skip
    assert_array_equal(found, wanted[:, :COLUMNS])


@pytest.mark.parametrize("name", ["mxf8f6f4-id", "sp-bf16-selector"])
@at_levels()
def test_ids_in_a_register(name: str, level: Any, ptxas: Callable[..., PtxasReport]):
    """The instruction descriptor is given, ids and all: what the same ids in the op give."""
    u = CASES[name]
    images = build(u)
    ids = {"sfa_id": u.ids[0], "sfb_id": u.ids[1]} if u.scale_type else {"selector": u.selector}
    word = atom_of(u).descriptor(**ids).encode()
    made = kernel(replace(u, ids=(0, 0), selector=0), images, "enable_input_d %more idesc %idesc")

    def text(word: int) -> str:
        """The word from numbers that are not constants."""
        from_lane = f"""    %word = arith.constant {word} : i32
    %zero = arith.index_cast %lane : index to i32
    %idesc = arith.ori %word, %zero : i32"""
        return replace(made, body=f"{from_lane}\n{made.body}").text()

    wanted = run(u, images, "hardware").reshape(-1, 512)
    assert_array_equal(execute(u, images, text(word), level), wanted[:, :COLUMNS])
    if level == "ptx":
        assert ptxas(tw.compile(text(word), "sm_100a").ptx, "sm_100a").clean
        return
    with pytest.raises(tw.ExecutionError, match="expected an instruction descriptor of"):
        execute(u, images, text(word ^ 1 << 17), level)


@at_levels()
def test_the_first_step_ignores_d(level: Any):
    u = CASES["f16"]
    images = build(u)
    found = execute(u, images, kernel(u, images, "enable_input_d %never").text(), level)
    wanted = run(u, images, "hardware", enable_input_d=False)
    assert_array_equal(found, wanted[:, :COLUMNS])


@at_levels()
def test_columns_that_count_as_zeros(level: Any):
    u = replace(CASES["ws-32"])
    images = build(u)
    word = 1 << 8 | 1 << 33 | 1 << 39 | 1 << 40 | 2 << 48
    made = kernel(u, images, 'zero_column_mask %mask collector "b2::discard"')
    body = f"    %mask = arith.constant {word} : i64\n{made.body}"
    found = execute(u, images, replace(made, body=body).text(), level)
    wanted = run(u, images, "hardware", zero_column_mask_desc=word)
    assert_array_equal(found, wanted[:, :COLUMNS])


@pytest.mark.usefixtures("unchecked")
@at_levels()
def test_memory_that_no_fence_ordered(level: Any):
    u = CASES["f16"]
    images = build(u)
    text = kernel(u, images).text().replace("  cute_nvgpu.fence.proxy.async\n", "")
    with pytest.raises(tw.ExecutionError, match=r"sm100.mma|tcgen05.mma"):
        execute(u, images, text, level)


@pytest.mark.usefixtures("unchecked")
@at_levels()
def test_a_result_that_nobody_waited_for(level: Any):
    u = CASES["f16"]
    images = build(u)
    lines = kernel(u, images).text().splitlines(keepends=True)
    text = "".join(line for line in lines if "mbarrier.wait" not in line)
    message = "read of tensor memory that .*mma.* writes, and no wait for the mbarrier"
    with pytest.raises(tw.ExecutionError, match=message):
        execute(u, images, text, level)


@pytest.mark.usefixtures("unchecked")
@at_levels()
def test_two_threads_that_issue_one_mma(level: Any):
    """The second one's D is not ordered after the first one's."""
    u = CASES["f16"]
    images = build(u)
    text = kernel(u, images).text()
    before, after = text.split("  scf.if %issues {", 1)
    text = f"{before}  scf.if %leads {{{after}"
    with pytest.raises(tw.ExecutionError, match=r"tensor memory that .*mma.* writes"):
        execute(u, images, text, level)


@at_levels()
def test_a_shifted_a_is_not_modelled(level: Any):
    u = CASES["f16-tmem"]
    images = build(u)
    with pytest.raises(tw.ExecutionError, match="a shifted A is not modelled"):
        execute(u, images, kernel(u, images, "ashift").text(), level)


@at_levels()
def test_an_operand_outside_of_tensor_memory(level: Any):
    u = CASES["f16"]
    images = build(u)
    made = kernel(u, images)
    tensors = ((*made.tensors[0][:3], 8),)
    text = replace(made, tensors=tensors).text().replace(
        "    %dc = arith.constant 8 : index", "    %dc = arith.addi %columns, %c128 : index"
    )  # fmt: skip
    with pytest.raises(tw.ExecutionError, match=r"out of bounds|nothing has written"):
        execute(u, images, text, level)


@pytest.mark.parametrize("name", ["f16", "e2m1-tmem", "sp-f16", "mxf4nvf4", "pair-256"])
def test_the_kernels_assemble(name: str, ptxas: Callable[..., PtxasReport]):
    u = CASES[name]
    text = tw.compile(kernel(u, build(u)).text(), arch="sm_100a").ptx
    assert "tcgen05.mma" in text
    report = ptxas(text, "sm_100a")
    assert report.ok and not report.warnings
