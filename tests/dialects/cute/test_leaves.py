"""Values from their leaves alone, without types: docs/tile.md."""

from __future__ import annotations

import pytest

from tilewright.source.diagnostic import CompileError
from tilewright.source.parsing import parse_module

FUNCTION = """func.func @f(%n: i32, %m: i64, %x: !cute.int_tuple<"7">,
    %d: !cute.int_tuple<"?{div=8}">, %t: !cute.memref<f32, rmem, "4:1">) {
  %s = OP
  func.return
}"""


@pytest.mark.parametrize(
    "op, type_",
    [
        ("cute.make_shape(%n, %n)", '!cute.shape<"(?,?)">'),
        ("cute.make_shape(%n)", '!cute.shape<"?">'),
        ("cute.make_coord(%n, %m)", '!cute.coord<"(?,?{i64})">'),
        ("cute.make_stride(%x, %d)", '!cute.stride<"(?,?{div=8})">'),
        ("cute.make_int_tuple(%m)", '!cute.int_tuple<"?{i64}">'),
    ],
)
def test_the_operands_are_all_leaves(op: str, type_: str):
    module = parse_module(FUNCTION.replace("OP", op))
    module.verify()
    assert f"-> {type_}" in str(module)


@pytest.mark.parametrize("op", ["cute.make_shape()", "cute.make_tile(%n)"])
def test_of_others_the_type_is_said(op: str):
    with pytest.raises(CompileError, match="do not follow from its operands; nearest legal: with"):
        parse_module(FUNCTION.replace("OP", op))


@pytest.mark.parametrize(
    "op, wanted",
    [
        ("cute.tiled.mma.partition A (%t, %t, %n)", "operand #0 must be !cute.tiled_mma"),
        ("cute.tiled.copy.retile(%t, %t)", "operand #0 must be !cute.tiled_copy"),
    ],
)
def test_rules_are_asked_about_operands_that_the_op_takes(op: str, wanted: str):
    with pytest.raises(CompileError, match=wanted):
        parse_module(FUNCTION.replace("OP", op))
