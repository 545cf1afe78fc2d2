"""What xDSL's verifiers of upstream ops leave out is one diagnostic at the op."""

from __future__ import annotations

import re

import pytest

import tilewright as tw

KERNEL = """func.func @k(%x: f32, %v: vector<4xf16>, %c: i1, %i: index, %m: memref<4x4xf32>)
    attributes {gpu.kernel} {
  OP
  func.return
}"""

WRONG = [
    ("%y = arith.extf %x : f32 to f16", "'arith.extf' expected a result wider than f32, got f16"),
    ("%y = arith.truncf %x : f32 to f64",
     "'arith.truncf' expected a result narrower than f32, got f64"),
    ("%y = arith.extf %v : vector<4xf16> to vector<2xf32>",
     "'arith.extf' expected operand and result of one shape"),
    ("%y = arith.constant 9223372036854775808 : index",
     "'arith.constant' expected an index of 64 bits"),
    ('%y = "arith.constant"() <{value = 1 : i32}> {value = 2 : i32} : () -> i32',
     "'arith.constant' expected value as a property, got an attribute too: 2 : i32"),
    ('%y = "arith.cmpi"(%i, %i) <{predicate = 10 : i64}> : (index, index) -> i1',
     "'arith.cmpi' expected a predicate of 0 to 9, got 10"),
    ('%y = "arith.cmpf"(%x, %x) <{predicate = 16 : i64, fastmath = #arith.fastmath<none>}> : '
     "(f32, f32) -> i1", "'arith.cmpf' expected a predicate of 0 to 15, got 16"),
    ("%y = memref.load %m[] : memref<4x4xf32>", "'memref.load' expected 2 indices"),
    ("memref.store %x, %m[%i] : memref<4x4xf32>", "'memref.store' expected 2 indices"),
    ("%y = scf.if %c -> (f32) {\n  scf.yield %x : f32\n  }",
     "'scf.if' expected an else region, since it has results of (f32), got none"),
    ("%y = scf.while (%j = %x) : (f32) -> i32 {\n  scf.condition(%c) %j : f32\n  } do {\n"
     "  ^bb0(%k: f32):\n  scf.yield %k : f32\n  }",
     "'scf.while' expected the arguments of its second region to be of (i32), got (f32)"),
    ("%y = scf.while (%j = %x) : (f32) -> f32 {\n  scf.condition(%c) %j : f32\n  } do {\n"
     "  ^bb0(%k: f32):\n  scf.yield %i : index\n  }",
     "'scf.while' expected what its second region yields to be of (f32), got (index)"),
    ('%y = "arith.cmpi"(%c, %i) <{predicate = 0 : i64}> : (i1, index) -> i1',
     "'arith.cmpi' expected operands of one type, got i1 and index"),
    ("%y = scf.while (%j = %x) : (f32) -> f32 {\n  scf.yield %j : f32\n  } do {\n"
     "  ^bb0(%k: f32):\n  scf.yield %k : f32\n  }",
     "'scf.while' expected its first region to end in scf.condition, got 'scf.yield' at line 4"),
    ("%y = memref.alloc() : memref<0xf32, #cute<space smem>>",
     "'memref.alloc' expected extents of at least 1, got memref<0xf32"),
    ("cf.br ^0\n  ^0:\n  cf.br ^1(%x : f32)\n  ^1(%y: i32):",
     "'cf.br' expected its successor's arguments of (i32), got (f32)"),
]  # fmt: skip


@pytest.mark.parametrize("op, message", WRONG, ids=lambda part: part.split("\n")[0][:40])
def test_what_verifiers_leave_out(op: str, message: str):
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(KERNEL.replace("OP", op), "sm_90a")
    assert caught.value.message.startswith(message)
    assert caught.value.line is not None and caught.value.line > 2


BYTES = '"memref.global"() <{sym_name = "g", sym_visibility = "private", type = memref<2xi8>, '


@pytest.mark.parametrize(
    "name, type_, value, message",
    [
        ("h", "memref<2xi8>", "dense<1> : tensor<2xi8>", "expected a memref.global @h, got none"),
        ("k", "memref<2xi8>", "dense<1> : tensor<2xi8>",
         "expected a memref.global @k, got 'func.func' at line 2"),
        ("g", "memref<3xi8>", "dense<1> : tensor<2xi8>",
         "expected memref<2xi8> as @g is, got memref<3xi8>"),
        ("g", "memref<2xi8>", "dense<1> : tensor<4xi8>",
         "expected elements of memref<2xi8>, got tensor<4xi8>"),
    ],
)  # fmt: skip
def test_variables_are_those_of_the_module(name: str, type_: str, value: str, message: str):
    variable = f"{BYTES}initial_value = {value}}}> : () -> ()\n"
    kernel = KERNEL.replace("OP", f"%y = memref.get_global @{name} : {type_}")
    with pytest.raises(tw.CompileError, match=re.escape(message)):
        tw.compile(variable + kernel, "sm_90a")
    with pytest.raises(tw.CompileError, match=re.escape(message)):
        tw.interpret(variable + kernel, "k", grid=(1,), block=(1,), args=[])


@pytest.mark.parametrize(
    "size, message",
    [
        ("known_block_size = 128 : i32", "block_size expected array<i32: X, Y, Z>, got 128 : i32"),
        ("known_block_size = array<i32: 128>", "got 128; nearest legal: 128x1x1"),
        ("known_block_size = array<i32: 0, 1, 1>", "a block of positive extents, got 0x1x1"),
        ("known_block_size = array<i32: -32, 1, 1>", "a block of positive extents, got -32x1x1"),
        ("known_block_size = array<i32: 2048, 1, 1>", "at most 1024 threads, got 2048: 2048x1x1"),
        ("known_block_size = array<i32: 1, 1, 128>", "at most 1024x1024x64 threads, got 1x1x128"),
        ("known_cluster_size = array<i32: 64, 1, 1>", "at most 8 CTAs, got 64: 64x1x1"),
        ("known_cluster_size = array<i32: 0, 1, 1>", "a cluster of positive extents, got 0x1x1"),
    ],
)
def test_sizes_that_no_launch_has(size: str, message: str):
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(
            f"func.func @k() attributes {{gpu.kernel, gpu.{size}}} {{ func.return }}", "sm_90a"
        )
    assert caught.value.message.startswith("'func.func' gpu.known_")
    assert caught.value.message.endswith(message)


def test_a_kernel_has_a_body():
    with pytest.raises(tw.CompileError, match="expected a kernel to have a body"):
        tw.compile("func.func private @k() attributes {gpu.kernel}", "sm_90a")


def test_every_block_has_a_terminator():
    """An empty entry block would be printed as nothing, and the next one read as the entry."""
    empty = """"builtin.module"() ({"func.func"() <{sym_name = "f", function_type = () -> ()}> ({
    ^0:
    ^1:
      "func.return"() : () -> ()
    }) : () -> ()}) : () -> ()"""
    with pytest.raises(tw.CompileError, match=r"'func\.func' expected its blocks to end in term"):
        tw.compile(empty, "sm_90a")


def test_the_first_block_of_a_launch_has_a_terminator():
    arguments = ", ".join(f"%a{i}: index" for i in range(12))
    launch = f""""builtin.module"() ({{
      %one = "arith.constant"() <{{value = 1 : index}}> : () -> index
      "gpu.launch"(%one, %one, %one, %one, %one, %one)
          <{{operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0>}}> ({{
      ^0({arguments}):
      ^1:
        "gpu.terminator"() : () -> ()
      }}) : (index, index, index, index, index, index) -> ()
    }}) : () -> ()"""
    with pytest.raises(tw.CompileError, match=r"'gpu\.launch' expected its blocks to end in term"):
        tw.compile(launch, "sm_90a")


@pytest.mark.parametrize("given", ["", "{}, {}"])
def test_attributes_are_those_of_the_arguments(given: str):
    properties = f"""sym_name = "k", function_type = (i32) -> (), arg_attrs = [{given}]"""
    kernel = f""""builtin.module"() ({{"func.func"() <{{{properties}}}> ({{
    ^0(%n: i32):
      "func.return"() : () -> ()
    }}) {{gpu.kernel}} : () -> ()}}) : () -> ()"""
    with pytest.raises(tw.CompileError, match=r"'func\.func' expected attributes of 1 arguments"):
        tw.compile(kernel, "sm_90a")


# How MLIR spells the extents of a launch

MODULE = "gpu.module @m {{\n gpu.func @k(%n: i32) kernel attributes {{{}}} {{\n gpu.return\n }}\n}}"
GENERIC = """"builtin.module"() ({"gpu.module"() <{sym_name = "m"}> ({
  "gpu.func"() <{function_type = (i32) -> (), kernel, known_block_size = array<i32: 64, 1, 1>}> ({
  ^bb0(%n: i32):
    "gpu.return"() : () -> ()
  }) {sym_name = "k", workgroup_attributions = 0 : i64} : () -> ()
}) : () -> ()}) : () -> ()"""


@pytest.mark.parametrize("name", ["known_block_size", "gpu.known_block_size", "nvvm.reqntid"])
def test_block_sizes_of_gpu_functions(name: str):
    """The op's own attribute, and what other functions and NVVM have for it."""
    kernel = tw.compile(MODULE.format(f"{name} = array<i32: 64, 1, 1>"), "sm_90a")
    assert kernel.entries[0].block == (64, 1, 1) and ".reqntid 64, 1, 1" in kernel.ptx


def test_block_size_in_the_generic_form():
    assert ".reqntid 64, 1, 1" in tw.compile(GENERIC, "sm_90a").ptx


@pytest.mark.parametrize("slip", ["gpu.known_bloc_size", "known_block_sizes"])
def test_a_slip_in_the_name_of_a_block_size(slip: str):
    with pytest.raises(tw.CompileError, match=f"expected gpu.known_block_size, got {slip} = array"):
        tw.compile(MODULE.format(f"{slip} = array<i32: 64, 1, 1>"), "sm_90a")


@pytest.mark.parametrize("name", ["known_cluster_size", "nvvm.cluster_dim"])
def test_cluster_sizes_of_gpu_functions(name: str):
    assert tw.compile(MODULE.format(f"{name} = array<i32: 2, 1, 1>"), "sm_90a").entries[
        0
    ].cluster == (2, 1, 1)


@pytest.mark.parametrize(
    "text, message",
    [
        (
            MODULE.format(
                "known_block_size = array<i32: 64, 1, 1>, nvvm.reqntid = array<i32: 32, 1, 1>"
            ),
            "'gpu.func' expected gpu.known_block_size, got nvvm.reqntid = array<i32: 32, 1, 1>, "
            "which says array<i32: 64, 1, 1>",
        ),
        (
            "func.func @k() attributes {gpu.kernel, known_block_size = array<i32: 64, 1, 1>} {\n"
            "func.return }",
            "'func.func' expected gpu.known_block_size, got known_block_size",
        ),
        (MODULE.format("known_block_size = 64 : i32"), "'gpu.func' gpu.known_block_size expected"),
        ("gpu.module @m {\ngpu.func @k() kernel {}\n}", "'gpu.func' expected a kernel to have a"),
    ],
)
def test_sizes_that_nobody_would_read(text: str, message: str):
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(text, "sm_90a")
    assert caught.value.message.startswith(message)


HELD = {
    "vector": "%v = vector.broadcast %x : f32 to vector<{}xf32>",
    "constant": "%v = arith.constant dense<1.0> : vector<{}xf32>",
    "fragment": "%v = cute_nvgpu.fragment.splat %x : f32 -> !cute_nvgpu.fragment<{}xf32>",
    "tensor": '%v = cute.memref.alloca() : !cute.memref<f32, rmem, align<4>, "{}:1">',
}


@pytest.mark.parametrize("count", [0, 65537, 1 << 32, (1 << 63) - 1, 10**20])
@pytest.mark.parametrize("op", HELD.values(), ids=HELD)
def test_more_elements_than_a_thread_can_hold(op: str, count: int):
    body = f"func.func @k(%x: f32) attributes {{gpu.kernel}} {{{op.format(count)} func.return }}"
    for call in (
        lambda: tw.compile(body, "sm_90a"),
        lambda: tw.interpret(body, grid=(1,), block=(1,), args=[1.0]),
    ):
        with pytest.raises(tw.CompileError, match=r"elements|64 bits|positive shape"):
            call()
