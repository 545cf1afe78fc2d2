"""What a version of the bytecode cannot hold, and which can."""

from __future__ import annotations

import pytest

from tilewright.dialects.cuda_tile.bytecode.error import TooOldError
from tilewright.dialects.cuda_tile.bytecode.write_module import write_bytecode
from tilewright.dialects.cuda_tile.versions import V13_1, V13_2, V13_3, V13_4, V13_5, Version
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import parse_module

ENTRY = "cuda_tile.module @kernels {{ entry @k(%i: tile<i32>, %x: tile<f32>) {{ {} return }} }}"
VIEW = (
    "%p = constant <i64: 0> : tile<i64> %q = int_to_ptr %p : tile<i64> -> tile<ptr<f32>> "
    "%v = make_tensor_view %q, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]> "
)

CASES = [
    ("%n = negi %i overflow<no_signed_wrap> : tile<i32>", V13_1, V13_2,
     "attribute 'overflow' requires bytecode version 13.2+, but targeting 13.1"),
    ("%n = atan2 %x, %x : tile<f32>", V13_1, V13_2,
     "operation 'cuda_tile.atan2' is not available in bytecode version 13.1"),
    ('%t = print_tko "%d", %i : tile<i32> -> token %u = join_tokens %t, %t : token', V13_1, V13_2,
     "result 'result_token' requires bytecode version 13.2 but is being used and targeting 13.1"),
    ('%t = make_token : token %u = print_tko "%d", %i token = %t : tile<i32> -> token', V13_1,
     V13_2, "optional operand 'token' is provided but requires bytecode version 13.2, targeting"),
    ("%n = ftoi %x signed saturating : tile<f32> -> tile<i32>", V13_3, V13_4,
     "optional attribute 'saturating' is provided but requires bytecode version 13.4, targeting"),
    (VIEW + "%w = make_strided_view %v : strided_view<tile=(4), traversal_strides=[2], "
     "tensor_view<64xf32, strides=[1]>>", V13_2, V13_3,
     "operation 'cuda_tile.make_strided_view' is not available in bytecode version 13.2"),
    ("%p = constant <i64: 0> : tile<i64> %q = int_to_ptr %p : tile<i64> -> "
     "tile<ptr<f32, #cuda_tile.ptr_attr<multicast>>>", V13_4, V13_5,
     "parameter 'attribute' requires bytecode version 13.5+, but targeting 13.4"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "old", "new", "message"), CASES)
def test_later_features(body: str, old: Version, new: Version, message: str):
    module = parse_module(ENTRY.format(body))
    with pytest.raises(TooOldError) as caught:
        write_bytecode(module, old)
    assert message in caught.value.message
    assert caught.value.since == new
    data = write_bytecode(module)
    assert data[8:10] == bytes(new)


GLOBALS = [
    ("global private @g <i32: 1> : tile<1xi32>", "uses non-public symbol visibility"),
    ("global constant @g <i32: 1> : tile<1xi32>", "constant global `g` cannot be encoded"),
]


@pytest.mark.parametrize(("text", "message"), GLOBALS)
def test_later_globals(text: str, message: str):
    module = parse_module(f"cuda_tile.module @kernels {{ {text} }}")
    with pytest.raises(TooOldError, match=message):
        write_bytecode(module, V13_2)
    assert write_bytecode(module)[9] == 3


def test_later_types():
    module = parse_module("cuda_tile.module @kernels { entry @k(%s: tile<f8E8M0FNU>) { return } }")
    with pytest.raises(TooOldError, match=r"type 'Float8E8M0FNU' requires bytecode version 13.2\+"):
        write_bytecode(module, V13_1)
    assert write_bytecode(module)[9] == 2


def test_the_producer_is_dropped_before_13_3():
    text = 'cuda_tile.module @kernels attributes {producer = "me"} { entry @k() { return } }'
    module = parse_module(text)
    assert b"me" not in write_bytecode(module, V13_2)
    assert b"me" in write_bytecode(module, V13_3)


FOREIGN = [
    ('entry @k() { "test.op"() : () -> () return }', "only ops from the 'cuda_tile' dialect"),
    ("entry @k() { %x = arith.constant 1 : i32 return }", "only ops from the 'cuda_tile' dialect"),
]


@pytest.mark.parametrize(("body", "message"), FOREIGN)
def test_ops_of_others(body: str, message: str):
    from xdsl.context import Context

    from tilewright.source.parsing import register_dialects

    context = Context(allow_unregistered=True)
    register_dialects(context)
    module = parse_module(f"cuda_tile.module @kernels {{ {body} }}", context=context)
    with pytest.raises(OpError, match=message):
        write_bytecode(module)


@pytest.mark.parametrize(
    "text",
    ['entry @"" () { return }', 'global @"" <i32: 1> : tile<1xi32>'],
    ids=["entry", "global"],
)
def test_names_that_are_none(text: str):
    """No reader takes them."""
    with pytest.raises(OpError, match="expected a name for bytecode, got an empty one"):
        write_bytecode(parse_module(f"cuda_tile.module @kernels {{ {text} }}"))
