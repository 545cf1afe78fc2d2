"""Operands that loops do not change are laid down once, on each way to those that read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_warpgroups import matrix, operand
from tile_ir import entry

import tilewright as tw

SUMS = "tile<64x32xf32>"
VIEW = "partition_view<tile=({}), padding_value = zero, tensor_view<?x?x{}, strides=[?,1]>>"


def loop(result: str, sums: str) -> str:
    """Sums and the products of %x with two tiles."""
    return f"""
    {result} = for %q in (%o to %two, step %one) : tile<i32> iter_values(%acc = {sums})
        -> ({SUMS}) {{
      %y, %t1 = load_view_tko weak %B[%q, %o] : {VIEW.format("32x32", "f16")}, tile<i32>
          -> tile<32x32xf16>, token
      %next = mmaf %x, %y, %acc : tile<64x32xf16>, tile<32x32xf16>, {SUMS}
      continue %next : {SUMS}
    }}"""


def either(result: str, sums: str, condition: str, body: str, then: str) -> str:
    """What a body makes of sums, where a condition holds."""
    return f"""
    {result} = if {condition} -> ({SUMS}) {{ {body}
      yield {then} : {SUMS}
    }} else {{
      yield {sums} : {SUMS}
    }}"""


BODIES = {
    "behind a branch that leaves in a branch": "if %odd { if %first { return } }"
    + loop("%a", "%zero")
    + either("%end", "%a", "%late", loop("%b", "%a"), "%b"),
    "in a branch, and behind it": either(
        "%a", "%zero", "%odd",
        loop("%b", "%zero") + either("%d", "%b", "%first", loop("%c", "%b"), "%c"), "%d",
    )
    + loop("%end", "%a"),
}  # fmt: skip


@pytest.mark.covered
@pytest.mark.parametrize("arch", ["sm_80", "sm_120a"])
@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_operands_are_laid_down_on_each_way(body: str, arch: str) -> None:
    shapes = {"A": ("f16", "64x32"), "B": ("f16", "32x32"), "C": ("f32", "64x32")}
    setup = "".join(matrix(x, "%m", "%n", *shape) for x, shape in shapes.items())
    text = f"""{setup}
    %o = constant <i32: 0> : tile<i32>
    %one = constant <i32: 1> : tile<i32>
    %two = constant <i32: 2> : tile<i32>
    %zero = constant <f32: 0.0> : {SUMS}
    %i, %j, %bz = get_tile_block_id : tile<i32>
    %odd = trunci %i : tile<i32> -> tile<i1>
    %first = cmpi equal %i, %one, signed : tile<i32> -> tile<i1>
    %late = cmpi greater_than %i, %one, signed : tile<i32> -> tile<i1>
    %x, %t0 = load_view_tko weak %A[%i, %o] : {VIEW.format("64x32", "f16")}, tile<i32>
        -> tile<64x32xf16>, token
    {body}
    %t = store_view_tko weak %end, %C[%i, %o] : {SUMS}, {VIEW.format("64x32", "f32")}, tile<i32>
        -> token
"""
    names = ", ".join(
        f"%{x}_p: tile<ptr<{of}>>, %{x}_l: tile<i32>" for x, (of, _) in shapes.items()
    )
    text = entry(f"{names}, %m: tile<i32>, %n: tile<i32>", text)
    a, b, c = operand(256, 32, "f16"), operand(64, 32, "f16"), np.zeros((256, 32), np.float32)
    args = [a, 32, b, 32, c, 32, 256, 32]
    options: dict[str, Any] = {"grid": (4,), "args": args, "arch": arch}
    want, got = (tw.interpret(text, "k", level=x, **options)[2] for x in ("program", "ptx"))
    assert want.any() and (want == got).all()
