"""Every use of a value is dominated by its definition, or there is an error at the use."""

from __future__ import annotations

import random
from itertools import product
from time import process_time

import pytest
from xdsl.dialects import arith, cf, func
from xdsl.dialects.builtin import ModuleOp, i1, i32
from xdsl.ir import Block, Region
from xdsl.irdl.dominance import DominanceInfo

import tilewright as tw
from tilewright.source.dominance import dominator_tree, misplaced_uses
from tilewright.source.parsing import default_context, parse_module

HEAD = """func.func @k(%p: memref<?xi32>, %c: i1) attributes {gpu.kernel} {
  %z = arith.constant 0 : index
  %n = arith.constant 4 : index
"""
STORE = "memref.store %v, %p[%z] : memref<?xi32>"
TAIL = "  func.return\n}"

ASIDE = "defines in a block that paths go around"
# The body, the line of the error, its words.
WRONG = {
    "before it": (
        f"  {STORE}\n  %v = arith.constant 1 : i32\n",
        4,
        "'memref.store' expected operand 0 to be defined on every path here, got %v, "
        "which 'arith.constant' at line 5 defines later",
    ),
    "in the op itself": ("  %v = arith.addi %v, %v : i32\n", 4, "got %v, its own result"),
    "in a region before it": (
        f"  scf.if %c {{\n    {STORE}\n  }}\n  %v = arith.constant 1 : i32\n",
        5,
        "got %v, which 'arith.constant' at line 7 defines later",
    ),
    "in a region of its op": (
        f"  %v = scf.if %c -> (i32) {{\n    {STORE}\n    scf.yield %v : i32\n  }} else {{\n"
        "    %w = arith.constant 1 : i32\n    scf.yield %w : i32\n  }\n",
        5,
        "got %v, which 'scf.if' at line 4 defines around it",
    ),
    "in a block that is gone around": (
        "  cf.cond_br %c, ^a, ^b\n^a:\n  %v = arith.constant 1 : i32\n  cf.br ^b\n"
        f"^b:\n  {STORE}\n",
        9,
        f"which 'arith.constant' at line 6 {ASIDE}",
    ),
    "in a loop": (
        "  cf.br ^a\n^a:\n  cf.cond_br %c, ^b, ^c\n^b:\n  %v = arith.constant 1 : i32\n"
        f"  cf.br ^a\n^c:\n  {STORE}\n",
        11,
        f"which 'arith.constant' at line 8 {ASIDE}",
    ),
    "an argument of another block": (
        "  %w = arith.constant 1 : i32\n  cf.cond_br %c, ^a(%w : i32), ^b\n^a(%v: i32):\n"
        f"  cf.br ^b\n^b:\n  {STORE}\n",
        9,
        f"which an argument {ASIDE}",
    ),
    "a bound that is its loop's": (
        "  scf.for %i = %i to %n step %n {\n  }\n",
        4,
        "'scf.for' expected operand 0 to be defined on every path here",
    ),
}

RIGHT = {
    "a loop of blocks": f"  %v = arith.constant 1 : i32\n  cf.br ^a\n^a:\n  {STORE}\n"
    "  cf.cond_br %c, ^a, ^b\n^b:\n",
    "blocks that nothing leads to": f"  cf.br ^b\n^a:\n  {STORE}\n  cf.br ^b\n^d:\n"
    "  %v = arith.constant 1 : i32\n  cf.br ^a\n^b:\n",
    "a definition in a later block": f"  cf.br ^d\n^b:\n  {STORE}\n  cf.br ^e\n^d:\n"
    "  %v = arith.constant 1 : i32\n  cf.br ^b\n^e:\n",
    "regions": f"  %v = arith.constant 1 : i32\n  scf.if %c {{\n    scf.if %c {{\n      {STORE}\n"
    "    }\n  }\n",
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_at_the_use(name: str):
    body, line, words = WRONG[name]
    text = HEAD + body + TAIL
    for call in (
        lambda: tw.compile(text, "sm_80"),
        lambda: tw.interpret(text, grid=(1,), block=(1,), args=[]),
        lambda: tw.compile(parse_module(text), "sm_80"),
    ):
        with pytest.raises(tw.CompileError) as caught:
            call()
        assert words in caught.value.message and caught.value.line == line


def test_a_value_outside_of_its_region():
    body = f"  scf.if %c {{\n    %v = arith.constant 1 : i32\n    {STORE}\n  }}\n  {STORE}\n"
    with pytest.raises(tw.CompileError, match="values used but not defined") as caught:
        tw.compile(HEAD + body + TAIL, "sm_80")
    assert (caught.value.line, caught.value.column) == (8, 16)


@pytest.mark.parametrize("name", RIGHT)
def test_what_dominates(name: str):
    assert not misplaced_uses(parse_module(HEAD + RIGHT[name] + TAIL))


def test_the_order_in_a_module_means_nothing():
    ops = '"a.b"(%x) : (i32) -> () %x = "a.c"() : () -> i32'
    context = default_context().clone()
    context.allow_unregistered = True
    assert not misplaced_uses(
        parse_module(f'"builtin.module"() ({{ {ops} }}) : () -> ()', context=context)
    )


def test_ir_made_in_python():
    one = arith.ConstantOp.from_int_and_width(1, 32)
    block = Block([arith.AddiOp(one.result, one.result), one, func.ReturnOp()])
    kernel = func.FuncOp("k", ((), ()), Region(block))
    kernel.attributes["gpu.kernel"] = i32
    other = func.FuncOp("other", ((), ()), Region(Block([func.ReturnOp()])))
    module = ModuleOp([kernel, other])
    words = r"operand 0 .* got a value of i32, which 'arith.constant' defines later"
    with pytest.raises(tw.CompileError, match=words):
        tw.compile(module, "sm_80")
    one.detach()
    first = other.body.block.first_op
    assert first is not None
    other.body.block.insert_op_before(one, first)
    with pytest.raises(tw.CompileError, match="defines in a region that does not enclose it"):
        tw.compile(module, "sm_80")


def random_blocks(seed: int, count: int) -> Region:
    """Blocks that branch anywhere but to the first."""
    generator = random.Random(seed)
    blocks = [Block(arg_types=[i1] if not place else []) for place in range(count)]
    for block in blocks:
        targets = generator.choices(blocks[1:], k=2)
        if generator.random() < 0.2:
            block.add_op(func.ReturnOp())
        elif generator.random() < 0.5:
            block.add_op(cf.BranchOp(targets[0]))
        else:
            block.add_op(cf.ConditionalBranchOp(blocks[0].args[0], targets[0], [], targets[1], []))
    return Region(blocks)


@pytest.mark.parametrize("seed", range(30))
def test_the_tree_is_what_xdsl_finds_by_sets(seed: int):
    region = random_blocks(seed, 12)
    entry = region.blocks[0]
    tree = dominator_tree(entry)
    below: dict[Block, set[Block]] = {}
    for block in reversed([*_preorder(entry, tree)]):
        below[block] = {block}.union(*(below[child] for child in tree[block]))
    # xDSL's sets count paths from blocks that nothing leads to: only reachable blocks are compared.
    for block in region.blocks:
        if block not in tree:
            region.detach_block(block)
    info = DominanceInfo(region)
    for a, b in product(tree, tree):
        assert (b in below[a]) == info.dominates(a, b)


def _preorder(block: Block, tree: dict[Block, list[Block]]) -> list[Block]:
    return [block, *(each for child in tree[block] for each in _preorder(child, tree))]


def test_time_is_linear():
    """Many blocks and deep nests: ten times the ops take some ten times as long."""

    def took(count: int) -> float:
        chain = "".join(f"  cf.br ^b{i}\n^b{i}:\n" for i in range(count))
        nest = "  scf.if %c {\n" * 40 + f"  {STORE}\n" * count + "  }\n" * 40
        module = parse_module(HEAD + "  %v = arith.constant 1 : i32\n" + chain + nest + TAIL)
        times: list[float] = []
        for _ in range(3):
            started = process_time()
            assert not misplaced_uses(module)
            times.append(process_time() - started)
        return min(times)

    took(20)
    assert took(2000) < 40 * took(200)
