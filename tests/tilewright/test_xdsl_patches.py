"""The faster ways of xDSL do what its own do: `speed` against the code that it replaces."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import weakref
from functools import cache
from importlib import import_module
from inspect import getsource
from pkgutil import iter_modules
from typing import Any

import pytest
from example_files import EXAMPLES
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.dialects.test import TestOp as AnyOp
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRLexer

import tilewright as tw
from tilewright.dialects import ptx
from tilewright.dialects.contents import ops_of
from tilewright.dialects.ptx.bulk_copy import TensorStoreOp
from tilewright.dialects.ptx.data_movement import CpAsyncOp
from tilewright.dialects.ptx.instruction import PtxOp
from tilewright.dialects.ptx.types import reg
from tilewright.source.diagnostic import CompileError
from tilewright.source.parsing import SharedContext, parse_module, register_dialects
from tilewright.xdsl_patches import speed

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
def test_walks(name: str | None):
    module = parse_module((EXAMPLES / f"{name}.mlir").read_text() if name else MULTIPLE_BLOCKS)
    nodes = [module, module.body, module.body.block, *module.body.block.ops]
    assert len(nested(module)) > 6
    for node in nodes:
        assert list(node.walk()) == nested(node)
        assert list(node.walk(reverse=True, region_first=True)) == nested(node)[::-1]
    assert all(list(block.ops) == list(reversed(block.ops))[::-1] for block in module.walk_blocks())


def test_a_walk_may_erase_the_op_that_it_gives():
    block = Block([AnyOp(regions=[Region(Block([AnyOp(), AnyOp()]))]), AnyOp(), AnyOp()])
    seen = 0
    for op in block.walk():
        seen += 1
        if not op.regions:
            op.detach()
            op.erase()
    assert seen == 5
    assert len(list(block.walk())) == 1


def test_an_isolated_op_that_is_erased_is_gone_without_the_garbage_collector():
    first = AnyOp(result_types=[i32])
    twice = AnyOp(operands=[first.results[0]] * 2, result_types=[i32])
    module, seen = ModuleOp([first, twice, AnyOp(operands=[twice.results[0]])]), weakref.ref(twice)
    del twice
    gc.disable()
    try:
        assert seen() is not None
        module.erase(safe_erase=False)
        del first
        assert seen() is None
    finally:
        gc.enable()


def test_instances_are_those_of_classes_that_inherit():
    for class_ in (AddiOp, PtxOp):
        assert type(class_) is speed.IRMeta
        assert issubclass(class_, Operation)
    assert isinstance(i32, Attribute)
    assert not isinstance(i32, Operation)
    assert not isinstance(3, Operation)


def test_what_was_right_of_others_is_asked_anew_where_types_differ():
    a, b, wide = AnyOp(result_types=[i32, i32, i64]).results
    for _ in range(2):
        AddiOp(a, b).verify()
        wrong = AddiOp.create(operands=[a, wide], result_types=[i32])
        with pytest.raises(VerifyException):
            wrong.verify_()
        short = AddiOp.create(operands=[a], result_types=[i32])
        with pytest.raises(VerifyException, match="Expected 2 operands, but got 1"):
            short.verify_()


def test_fields_of_ops_are_those_of_xdsl():
    """With one value for a field, several or none, and numbers of operands that are written down;
    the rest is refused in xDSL's words."""
    (a,) = AnyOp(result_types=[i32]).results
    word, wide = AnyOp(result_types=[reg("b32"), reg("b64")]).results
    copy = CpAsyncOp(word, wide, "cg", 16)
    filled = CpAsyncOp.build(operands=[word, [wide], [word], None], properties=copy.properties)
    assert [tuple(op.operands) for op in (copy, filled)] == [(word, wide), (word, wide, word)]
    filled.verify_()
    store = TensorStoreOp.build(operands=[wide, [word, word], word, None])
    store.verify_()
    sizes = store.properties["operandSegmentSizes"]
    assert isinstance(sizes, DenseArrayBase)
    assert sizes.get_values() == (1, 2, 1, 0)
    with pytest.raises(ValueError, match="Expected 2 operand, but got 1"):
        AddiOp.build(operands=[a], result_types=[i32])
    with pytest.raises(ValueError, match=r"non-variadic .*OPERAND 1 'rhs'"):
        AddiOp.build(operands=[a, None], result_types=[i32])


def test_values_of_other_kernels_are_refused():
    inside = AnyOp(result_types=[i32])
    kernel = FuncOp(
        "k", ((), ()), Region(Block([inside, AnyOp(operands=inside.results), ReturnOp()]))
    )
    ModuleOp([kernel]).verify()
    stray = FuncOp("s", ((), ()), Region(Block([AnyOp(operands=inside.results)])))
    with pytest.raises(VerifyException, match="IsolatedFromAbove"):
        IsolatedFromAbove().verify(stray)


def test_defaults_and_implicit_builders():
    """An op gets the properties that its definition gives it, and goes where a builder stands."""
    with ImplicitBuilder(block := Block()):
        op = AnyOp()
    assert list(block.ops) == [op]
    a, b = AnyOp(result_types=[i32, i32]).results
    assert AddiOp.create(operands=[a, b], result_types=[i32]).properties.keys() == {"overflowFlags"}


TYPES = """
!alias = !cute_nvgpu.fragment<{0}xf32>
func.func @f(%a: !alias, %b: memref<{0}xf32, #cute<space smem>>, %c: i32) {{
  func.return
}}"""


def test_types_are_read_once_and_aliases_anew():
    def types(count: int) -> list[Attribute]:
        (function,) = parse_module(TYPES.format(count)).ops
        return [argument.type for argument in function.regions[0].block.args]

    first, again, other = types(4), types(4), types(8)
    assert [str(type_) for type_ in first[:2]] == [
        "!cute_nvgpu.fragment<4xf32>", "memref<4xf32, #cute<space smem>>"
    ]  # fmt: skip
    assert all(a is b for a, b in zip(first[1:], again[1:], strict=True))
    assert first[0] == again[0] != other[0]
    assert str(other[0]) == "!cute_nvgpu.fragment<8xf32>"


BEHIND = """module {
  func.func @f() { func.return loc(#c) } loc(#a)
}
#a = loc("k.py":1:2)
#b = loc("inner"(#a))
#c = loc(callsite(#b at #a))
"""


def test_locations_are_defined_behind_the_module_once():
    (function,) = parse_module(BEHIND).ops
    (end,) = function.regions[0].block.ops
    assert [str(op.location) for op in (function, end)] == [
        'loc("k.py":1:2)', 'loc(callsite("inner"("k.py":1:2) at "k.py":1:2))'
    ]  # fmt: skip
    for line in ("#b = loc(unknown)", '#b = loc("k.py":7:7)', "#d = i32\n#d = i32"):
        with pytest.raises(CompileError, match="re-declaration of alias"):
            parse_module(BEHIND + line)


LINES = """func.func @f(%a: i32, %b: i32, %c: i64) {{
  %0 = arith.subi %{0}, %{1} : i32 loc("{2}":1:2)
  func.return
}}"""


def test_ops_of_lines_that_were_read_have_other_values_and_places():
    def sub(*names: str) -> Operation:
        (function,) = parse_module(LINES.format(*names)).ops
        (op, _) = function.regions[0].block.ops
        return op

    for names, places in (("ab", [0, 1]), ("ba", [1, 0]), ("aa", [0, 0]), ("bb", [1, 1])):
        op = sub(*names, names)
        assert [operand.index for operand in op.operands] == places
        assert str(op.location) == f'loc("{names}":1:2)'
        assert op.results[0].name_hint is None and op.parent is not None
    for names, why in (("ac", "with type i64"), ("ad", "not defined")):
        with pytest.raises(CompileError, match=why):
            sub(*names, "")


NAMED = """#a = loc("k":1:2)
func.func @f(%a: i32, %b: i32) {{
  %x_1 = arith.muli %a, %b : i32 loc(#a)
  %{0} = arith.muli %x_1, %b : i32 loc(#{1})
  func.return
}}
#c = loc("n"(#a))
"""


def test_lines_that_were_read_are_read_without_tokens(monkeypatch: pytest.MonkeyPatch):
    tokens: list[int] = []
    lex = MLIRLexer.lex
    monkeypatch.setattr(MLIRLexer, "lex", lambda lexer: tokens.append(1) or lex(lexer))

    def count(name: str, place: str) -> int:
        tokens.clear()
        (function,) = parse_module(NAMED.format(name, place)).ops
        first, second, _ = function.regions[0].block.ops
        assert [op.results[0].name_hint for op in (first, second)] == ["x", name]
        assert str(second.location) == {"a": 'loc("k":1:2)', "c": 'loc("n"("k":1:2))'}[place]
        return len(tokens)

    assert count("y", "a") > count("z", "c") + 8  # the whole first line, but for its name
    with pytest.raises(CompileError, match="%x_1 is already defined"):
        count("x_1", "a")


GOES_ON = """func.func @f(%a: i32, %b: i32) {{
  %0 = arith.subi %a, %b{0}
  %1 = arith.subi %b, %a : i32
  func.return
}}"""


def test_an_op_of_a_line_that_was_read_may_go_on_in_the_next_one():
    def ops(rest: str) -> list[Operation]:
        (function,) = parse_module(GOES_ON.format(rest)).ops
        return list(function.regions[0].block.ops)

    for rest, place, names, line in (
        (" : i32", "<string>", [], 3), (" {x} : i32", "<string>", ["x"], 3),
        (" {x}\n  : i32", "<string>", ["x"], 4), ("\n  {x}\n  : i32", "<string>", ["x"], 5),
        (" : i32\n", "<string>", [], 4), (' : i32\n  loc("k":2:3)', "k", [], 4),
        (" : i32 %c = arith.subi %a, %b : i32", "<string>", [], 3),
    ):  # fmt: skip
        for first, *_, second, _ in (ops(rest), ops(rest)):
            assert [operand.index for operand in first.operands] == [0, 1]
            assert (str(first.location), [*first.attributes]) == (f'loc("{place}":2:3)', names)
            assert [operand.index for operand in second.operands] == [1, 0]
            assert str(second.location) == f'loc("<string>":{line}:3)'


def test_ops_that_ask_their_operands_say_so():
    """A shape of an instruction holds for all of its signature but of ops that say otherwise."""
    modules = [import_module(f"{ptx.__name__}.{file.name}") for file in iter_modules(ptx.__path__)]
    source_of = cache(getsource)
    asking = re.compile(r"\.owner\b|\borigins\(|\.uses\b")
    for op in (op for op in ops_of(*modules) if issubclass(op, PtxOp)):
        own = [class_ for class_ in op.__mro__ if class_.__module__.startswith(ptx.__name__)]
        if f"class {op.__name__}(" not in source_of(import_module(op.__module__)):
            own.remove(op)  # made of a row
        assert op.ASKS_OPERANDS or not any(asking.search(source_of(c)) for c in own), op.name


def test_uses_of_an_op_that_is_made():
    (value,) = AnyOp(result_types=[i32]).results
    op = AnyOp(operands=[value, value], result_types=[i64], attributes={"x": i32})
    assert [(use.operation, use.index) for use in value.uses] == [(op, 1), (op, 0)]
    assert (op.results[0].op, op.results[0].index, op.attributes) == (op, 0, {"x": i32})
    module = ModuleOp([AnyOp()])
    assert module.body.parent is module


def test_the_collector_is_as_before_a_compilation():
    before = gc.get_threshold()
    tw.compile((EXAMPLES / "axpy.mlir").read_text(), "sm_80")
    with pytest.raises(tw.CompileError):
        tw.compile("oops", "sm_80")
    assert gc.get_threshold() == before


def test_values_older_than_the_patches_have_their_types():
    code = """
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import i32
from xdsl.dialects.test import TestOp
a, b = TestOp(result_types=[i32, i32]).results
from tilewright import xdsl_patches
xdsl_patches.install()
op = AddiOp(a, b)
op.verify()
assert op.result.type == a.type == i32
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_first_compilations_may_be_in_several_threads():
    """xDSL is changed once, and a dialect is loaded once."""
    program = f"""
import sys, threading, tilewright as tw
sys.setswitchinterval(1e-6)
start, ready = threading.Barrier(32), []
def read():
    start.wait()
    ready.append(tw.compile({(EXAMPLES / "axpy.mlir").read_text()!r}, "sm_80"))
threads = [threading.Thread(target=read) for _ in range(32)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(ready) == 32
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


class LoadedMeanwhile(dict[str, Any]):
    """Names of a context, whose dialect another thread loads behind the look at a missing one."""

    context: SharedContext | None = None

    def __contains__(self, name: object) -> bool:
        there = super().__contains__(name)
        if (context := self.context) is not None:
            self.context = None
            context.load_registered_dialect("gpu")
        return there


@pytest.mark.parametrize(
    "names, look, name",
    [
        ("_loaded_ops", "get_optional_op", "gpu.global_id"),
        ("_loaded_attrs", "get_optional_attr", "gpu.dim"),
        ("_loaded_types", "get_optional_type", "gpu.async.token"),
    ],
)
def test_a_dialect_that_is_loaded_between_two_looks(names: str, look: str, name: str):
    """A name is known whose dialect was loaded while it was looked up."""
    context = SharedContext()
    register_dialects(context)
    meanwhile = LoadedMeanwhile()
    meanwhile.context = context
    setattr(context, names, meanwhile)
    assert getattr(context, look)(name) is not None


def test_a_patch_may_be_left_out():
    """Views of operands work on what others of the patches construct."""
    words = ["benchmarks/xdsl_patches.py", "--without", "indexed_values", "--rounds", "1"]
    subprocess.run([sys.executable, *words], check=True, stdout=-1, cwd=EXAMPLES.parent)
