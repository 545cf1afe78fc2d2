"""What stands beside a product in its loop, or behind it: loads ahead by TMA or `cp.async` in its
stages, loops in loops, sums added to memory side by side. PTX equals the program level."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_warpgroups import matrix, operand, product

import tilewright as tw
from tilewright.launch import ptxas

TILE = (64, 32, 32)
VIEW = "partition_view<tile=({}), padding_value = zero, tensor_view<?x?x{}, strides=[?,1]>>"


def scaled(tile: tuple[int, int, int], hints: str = "") -> str:
    """A (B S) of a row of S for each tile of K, whose sums are added to C by atomic operations."""
    m, n, k = tile
    text = product(("f16", "f32"), tile)
    view = VIEW.format(f"1x{n}", "f16")
    text = text.replace("      %next = mmaf %x, %y,", f"""
      %s, %t3 = load_view_tko weak %S[%q, %j]{hints} : {view}, tile<i32> -> tile<1x{n}xf16>, token
      %every = broadcast %s : tile<1x{n}xf16> -> tile<{k}x{n}xf16>
      %w = mulf %y, %every : tile<{k}x{n}xf16>
      %next = mmaf %x, %w,""")  # fmt: skip
    stored = text.index("    %t = store_view_tko")
    added = f"""    %t = atomic_red_view_tko relaxed device %C[%i, %j], addf, %sum
        : tile<{m}x{n}xf32>, {VIEW.format(f"{m}x{n}", "f32")}, tile<i32> -> token
"""
    text = text[:stored] + added + text[text.index("\n", text.index("-> token", stored)) + 1 :]
    text = text.replace(
        "%m: tile<i32>,", "%S_p: tile<ptr<f16>>, %S_l: tile<i32>, %m: tile<i32>,", 1
    )
    text = text.replace("padding_value = zero, tensor_view<?x?xf32", "tensor_view<?x?xf32")
    text = text.replace("[%m, %n]", "[%m, %N]")
    at = text.index("%o = constant")
    text = f"{text[:at]}%N = assume div_by<8>, %n : tile<i32>\n    {text[at:]}"
    at = text.index("    %M, %steps")
    return text[:at] + matrix("S", "%k", "%n", "f16", f"1x{n}") + text[at:]


def check(text: str, arch: str, sizes: tuple[int, int, int], grid: tuple[int, int]) -> None:
    m, n, k = sizes
    a, b, s = (operand(*shape, "f16") for shape in ((m, k), (k, n), (k, n)))
    args = [x for array in (a, b, np.zeros((m, n), np.float32), s) for x in (array, array.shape[1])]
    want, got = (
        tw.interpret(text, "k", grid=grid, args=[*args, m, n, k], arch=arch, **level)[2]
        for level in ({}, {"level": "ptx", "schedule": 3})
    )
    assert np.abs(want).max() > 1 and np.abs(got - want).max() <= 2.0**-16 * np.abs(want).max()


@pytest.mark.parametrize(
    "arch, rows, copies",
    [
        ("sm_80", 64, "cp.async.cg.shared.global"),
        ("sm_90a", 64, "cp.async.bulk.tensor.2d.shared"),
        ("sm_90a", 16, "cp.async.bulk.tensor.2d.shared"),
        ("sm_100a", 64, "cp.async.bulk.tensor.2d.shared"),
    ],
)
def test_scales_come_in_stages(arch: str, rows: int, copies: str) -> None:
    """Nothing of the loop is loaded when it is needed; sums are added two or four at once."""
    text = scaled((rows, *TILE[1:]))
    kernel = tw.compile(text, arch)
    assert ptxas.assemble(kernel.ptx, arch).clean
    assert copies in kernel.ptx and "ld.global" not in kernel.ptx
    assert not [remark for remark in kernel.remarks if remark.kind == "pipeline"]
    vectors = re.findall(r"red\.relaxed\.gpu\.global\.add(\.v[24])?\.f32", kernel.ptx)
    assert vectors and all(vectors) is (arch != "sm_80")
    check(text, arch, (72, 40, 216), (-(-72 // rows), 2))


def test_copies_beside_boxes() -> None:
    """What TMA does not load threads copy ahead in the same loop."""
    text = scaled(TILE, " optimization_hints = <default = {allow_tma = false}>")
    ptx = tw.compile(text, "sm_90a").ptx
    assert "cp.async.bulk.tensor.2d.shared" in ptx and "cp.async.cg.shared.global" in ptx
    check(text, "sm_90a", (72, 40, 216), (2, 2))


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
def test_a_loop_that_another_one_repeats(arch: str) -> None:
    """Stages are filled once: there is one loop, and one place where copies begin."""
    text = product(("f16", "f32"), TILE)
    at, end = text.index("%sum = for"), text.index("    %t = store_view_tko")
    inner = text[at:end].replace("%sum = for %q in (%o to %steps", "%part = for %h in (%o to %two")
    inner = inner.replace("%acc = %zero", "%acc = %before")
    first = inner.index("{\n") + 2
    loops = f"""%two = constant <i32: 2> : tile<i32>
    %three = constant <i32: 3> : tile<i32>
    %sum = for %g in (%o to %three, step %one) : tile<i32> iter_values(%before = %zero)
        -> (tile<64x32xf32>) {{
      %twice = muli %g, %two : tile<i32>
      {inner[:first]}      %q = addi %twice, %h : tile<i32>
{inner[first:]}      continue %part : tile<64x32xf32>
    }}
"""
    nested = text[:at] + loops + text[end:]
    labels = [tw.compile(x, arch).ptx.count("bra") for x in (text, nested)]
    assert labels[0] == labels[1]
    m, n, k = 72, 40, 6 * 32
    a, b = operand(m, k, "f16"), operand(k, n, "f16")
    args = [x for array in (a, b, np.zeros((m, n), np.float32)) for x in (array, array.shape[1])]
    options = {"grid": (2, 2), "args": [*args, m, n, k], "arch": arch}
    want = tw.interpret(text, "k", level="ptx", **options)[2]
    got = tw.interpret(nested, "k", level="ptx", **options)[2]
    assert want.any() and (want == got).all()


@pytest.mark.parametrize("around", ["loop", "if", "continue"])
def test_rings_go_on_behind_whatever_is_around_a_loop(around: str) -> None:
    """Four tiles: their loads come by TMA whether anybody knows how often the loop runs or not."""
    text = product(("f16", "f32"), TILE)
    at, end = text.index("    %sum = for"), text.rindex("  }\n}")
    tile = text[at:end].replace("%C[%i, %j]", "%C[%row, %j]").replace("%A[%i, %q]", "%A[%row, %q]")
    is_two = """
      %is = cmpi equal %row, %two, signed : tile<i32> -> tile<i1>"""
    begin = {
        "if": f"{is_two}\n      if %is {{\n        yield\n      }} else {{\n",
        "continue": f"{is_two}\n      if %is {{\n        continue\n      }}\n",
        "loop": """
      %done = cmpi equal %row, %four, signed : tile<i32> -> tile<i1>
      if %done {
        break
      }
      %more = addi %row, %one : tile<i32>
""",
    }[around]
    head, last = {
        "loop": ("loop iter_values(%row = %o) : tile<i32> ", "      continue %more : tile<i32>\n"),
        "if": ("for %row in (%o to %four, step %one) : tile<i32> ", "      }\n"),
        "continue": ("for %row in (%o to %four, step %one) : tile<i32> ", ""),
    }[around]
    numbers = "".join(
        f"    %{name} = constant <i32: {i}> : tile<i32>\n" for name, i in (("two", 2), ("four", 4))
    )
    tiles = f"{numbers}    {head}{{{begin}{tile}{last}    }}\n"
    text = text[:at] + tiles + text[end:]
    ptx = tw.compile(text, "sm_90a").ptx
    assert "cp.async.bulk.tensor.2d.shared" in ptx and ptxas.assemble(ptx, "sm_90a").clean
    m, n, k = 4 * 64, 32, 216
    a, b = operand(m, k, "f16"), operand(k, n, "f16")
    args = [x for array in (a, b, np.zeros((m, n), np.float32)) for x in (array, array.shape[1])]
    options = {"grid": (1,), "args": [*args, m, n, k], "arch": "sm_90a"}
    want, got = (tw.interpret(text, "k", **options, **level)[2] for level in ({}, {"level": "ptx"}))
    assert want[-1].any() and bool(want[128:192].any()) is (around == "loop")
    assert np.abs(got - want).max() <= 2.0**-16 * np.abs(want).max()
