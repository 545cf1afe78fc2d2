"""Ops declared beside those of Tile IR: their text, and the words of their diagnostics."""

from __future__ import annotations

import io

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, IndexType, IntegerAttr, IntegerType, TensorType, UnitAttr
from xdsl.dialects.test import Test
from xdsl.ir import Dialect
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def, result_def

from tilewright.dialects.accepts import Accepts, integer
from tilewright.dialects.cuda_tile.constraints import number_of
from tilewright.dialects.cuda_tile.enums import TileEnum
from tilewright.dialects.declared import DeclaredOp, declared_op
from tilewright.dialects.directives import Flags, Word
from tilewright.source.diagnostic import CompileError
from tilewright.source.parsing import parse_module
from tilewright.source.printing import ShortPrinter
from tilewright.source.verification import verify

TENSOR = Accepts("a tensor", lambda type_: isinstance(type_, TensorType))
MASK = Accepts("an i1", lambda type_: type_ == IntegerType(1), IntegerType(1))
PLACE = Accepts("an index", lambda type_: isinstance(type_, IndexType))


class Cache(TileEnum):
    """Where a load is kept."""

    ALL = "ca"
    GLOBAL = "cg"


@declared_op("declared.load")
class LoadOp(DeclaredOp):
    """`%r = declared.load %x, %i, 4 mask = %m cache = cg volatile : tensor<4xf32>, index`."""

    SAME_TYPES = "source result"

    source = operand_def(TENSOR)
    place = operand_def(PLACE)
    mask = opt_operand_def(MASK)
    width = prop_def(integer(32, least=1))
    cache = prop_def(number_of(Cache))
    volatile = opt_prop_def(UnitAttr)
    shared = opt_prop_def(UnitAttr)
    result = result_def(TENSOR)

    custom_directives = (Word, Flags)
    assembly_format = (
        "$source `,` $place `,` $width (`mask` `=` $mask^)? `cache` `=` custom<Word>($cache) "
        "custom<Flags>($volatile, $shared)"
    )


@declared_op("declared.add")
class AddOp(DeclaredOp):
    """`%r = declared.add %x, %y : tensor<4xf32>`, which it says by its fields."""

    SAME_TYPES = "lhs rhs result"

    lhs = operand_def(TENSOR)
    rhs = operand_def(TENSOR)
    result = result_def(TENSOR)


VALUES = """%x, %i, %m = "test.op"() : () -> (tensor<4xf32>, index, i1)
%n = "test.op"() : () -> i32
"""
LOADED = "%r = declared.load %x, %i, 4 mask = %m cache = cg shared : tensor<4xf32>, index"
ADDED = "%s = declared.add %x, %x : tensor<4xf32>"


def text_of(source: str) -> str:
    """A module read, verified and printed."""
    context = Context()
    for dialect in (Builtin, Test, Dialect("declared", [LoadOp, AddOp])):
        context.load_dialect(dialect)
    module = parse_module(VALUES + source, context=context)
    verify(module, source)
    output = io.StringIO()
    ShortPrinter(output).print_op(module)
    return output.getvalue()


@pytest.mark.parametrize("op", [LOADED, ADDED, LOADED.replace(" mask = %m", "")])
def test_text_is_read_and_written(op: str):
    assert op in text_of(op)
    assert op in text_of(op.replace(" shared", " {shared}"))


def test_a_constructor_takes_the_fields():
    tensor, place, _ = next(iter(parse_module(VALUES).ops)).results
    load = LoadOp(tensor, place, tensor.type, 4, "cg", shared=True)
    load.verify()
    assert load.width == IntegerAttr(4, 32) and load.cache == IntegerAttr(1, 32)
    assert load.mask is None and load.shared == UnitAttr() and load.volatile is None


WRONG = (
    ("= cg", "= none", "expected cache that is one of ca, cg, got none; nearest legal: cg"),
    (", 4", ", 0", "'declared.load' expected width to be an i32 of 1 or more, got 0 : i32"),
    (", 4", ", 9999999999", "expected an integer of 32 bits, got 9999999999"),
    ("= %m", "=", "operand expected"),
    ("tensor<4xf32>", "i32", "'declared.load' expected source to be a tensor, got i32"),
)


@pytest.mark.parametrize(("legal", "wrong", "words"), WRONG)
def test_diagnostics_have_the_words_of_constraints(legal: str, wrong: str, words: str):
    with pytest.raises(CompileError) as error:
        text_of(LOADED.replace("%x", "%n" if wrong == "i32" else "%x").replace(legal, wrong))
    assert words in str(error.value)
