"""Types are compared by their text, and read once."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import MemRefType, StringAttr, f32
from xdsl.dialects.func import FuncOp

from tilewright.dialects.cute.types.algebra import ATTRIBUTES, TYPES, LayoutType, ShapeType, type_of
from tilewright.dialects.cute.values import Typed, is_known, read_typed
from tilewright.source.parsing import parse_module

TEXTS = {
    "int_tuple": ("(1,?)", "(1,2)"),
    "coord": ("(_,?)", "(_,1)"),
    "shape": ("(?{i64},4)", "(4,4)"),
    "stride": ("(?@0,1@1)", "(1@0,1@1)"),
    "layout": ("4:?", "4:1"),
    "tile": ("[_;4:?]", "[_;4:1]"),
    "composed_layout": ("S<3,4,3> o ? o 4:1", "4:1 o 1 o 4:1"),
    "swizzle": ("S<2,4,3>", "S<3,4,3>"),
}


@pytest.mark.parametrize("kinds", [TYPES, ATTRIBUTES])
def test_values_of_another_text_are_others(kinds: tuple[type[LayoutType], ...]):
    for kind in kinds:
        first, second = TEXTS[kind.kind()]
        one, other = kind(StringAttr(first)), kind(StringAttr(second))
        assert one != other and one == kind(StringAttr(first))
        assert len({one, other, kind(StringAttr(second))}) == 2


def test_memrefs_of_another_layout_are_others():
    one, other = (MemRefType(f32, [4], LayoutType(StringAttr(text))) for text in ("4:1", "4:2"))
    assert one != other


@pytest.mark.parametrize("kind", TEXTS)
def test_what_is_known(kind: str):
    dynamic, known = TEXTS[kind]
    assert is_known(read_typed(kind, known))
    assert is_known(read_typed(kind, dynamic)) == (kind == "swizzle")


def test_types_of_one_text_are_one_object():
    text = 'func.func private @f(!cute.shape<"(4,8)">, !cute.shape<"(4,8)">, !cute.shape<"( 4,8)">)'
    (function,) = parse_module(text).ops
    assert isinstance(function, FuncOp)
    first, second, spaced = function.function_type.inputs
    assert isinstance(first, ShapeType) and isinstance(second, ShapeType)
    assert first == second == spaced and first.text is second.text
    assert type_of(Typed("shape", (4, 8))) is type_of(Typed("shape", (4, 8)))
    assert type_of(Typed("shape", (4, 8))) == ShapeType(StringAttr("(4,8)"))
