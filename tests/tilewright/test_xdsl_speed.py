"""The faster ways of xDSL do what its own do: `xdsl_speed` against the code that it replaces."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import ModuleOp, i32, i64
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.exceptions import VerifyException

import tilewright as tw
from tilewright import xdsl_speed
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.parsing import parse_module

EXAMPLES = Path(__file__).parents[2] / "examples"
MULTIPLE_BLOCKS = """func.func @f(%c: i1) {
  scf.if %c { "test.op"() ({ "test.op"() : () -> () }, {}) : () -> () }
  cf.cond_br %c, ^a, ^b
^a:
  cf.br ^b
^b:
  func.return
}"""


def nested(node: Any) -> list[Operation]:
    """The ops of a node in the order that xDSL documents, by recursion."""
    if isinstance(node, Operation):
        return [node, *(op for region in node.regions for op in nested(region))]
    children = node.blocks if isinstance(node, Region) else node.ops
    return [op for child in children for op in nested(child)]


@pytest.mark.parametrize("name", ["tile_attention_sm90", "gemm_sm100", None])
def test_walks(name: str | None) -> None:
    module = parse_module((EXAMPLES / f"{name}.mlir").read_text() if name else MULTIPLE_BLOCKS)
    nodes = [module, module.body, module.body.block, *module.body.block.ops]
    assert len(nested(module)) > 6
    for node in nodes:
        assert list(node.walk()) == nested(node)
        assert list(node.walk(reverse=True, region_first=True)) == nested(node)[::-1]
    assert all(list(block.ops) == list(reversed(block.ops))[::-1] for block in module.walk_blocks())


def test_a_walk_may_erase_the_op_that_it_gives() -> None:
    block = Block([AnyOp(regions=[Region(Block([AnyOp(), AnyOp()]))]), AnyOp(), AnyOp()])
    seen = 0
    for op in block.walk():
        seen += 1
        if not op.regions:
            op.detach()
            op.erase()
    assert seen == 5
    assert len(list(block.walk())) == 1


def test_instances_are_those_of_classes_that_inherit() -> None:
    for class_ in (AddiOp, PtxOp):
        assert type(class_) is xdsl_speed.IRMeta
        assert issubclass(class_, Operation)
    assert isinstance(i32, Attribute)
    assert not isinstance(i32, Operation)
    assert not isinstance(3, Operation)


def test_what_was_right_of_others_is_asked_anew_where_types_differ() -> None:
    a, b, wide = AnyOp(result_types=[i32, i32, i64]).results
    for _ in range(2):
        AddiOp(a, b).verify()
        wrong = AddiOp.create(operands=[a, wide], result_types=[i32])
        with pytest.raises(VerifyException):
            wrong.verify_()
        short = AddiOp.create(operands=[a], result_types=[i32])
        with pytest.raises(VerifyException, match="Expected 2 operands, but got 1"):
            short.verify_()


def test_uses_of_an_op_that_is_made() -> None:
    (value,) = AnyOp(result_types=[i32]).results
    op = AnyOp(operands=[value, value], result_types=[i64], attributes={"x": i32})
    assert [(use.operation, use.index) for use in value.uses] == [(op, 1), (op, 0)]
    assert (op.results[0].op, op.results[0].index, op.attributes) == (op, 0, {"x": i32})
    module = ModuleOp([AnyOp()])
    assert module.body.parent is module


def test_the_collector_is_as_before_a_compilation() -> None:
    before = gc.get_threshold()
    tw.compile((EXAMPLES / "axpy.mlir").read_text(), "sm_80")
    with pytest.raises(tw.CompileError):
        tw.compile("oops", "sm_80")
    assert gc.get_threshold() == before
