"""Control flow, calls, the order of memory, products, descriptors; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from triton_kernel import converted, numbers, on_tiles, run

from tilewright.source.diagnostic import OpError

COLLATZ = """module {
  tt.func public @k(%n: i32, %out: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %r:2 = scf.while (%x = %n, %s = %c0) : (i32, i32) -> (i32, i32) {
      %go = arith.cmpi ne, %x, %c1 : i32
      scf.condition(%go) %x, %s : i32, i32
    } do {
    ^bb0(%x: i32, %s: i32):
      %half = arith.divsi %x, %c2 : i32
      %odd = arith.remsi %x, %c2 : i32
      %is = arith.cmpi eq, %odd, %c1 : i32
      %y = scf.if %is -> (i32) {
        %t = arith.muli %x, %c3 : i32
        %u = arith.addi %t, %c1 : i32
        scf.yield %u : i32
      } else {
        scf.yield %half : i32
      }
      %t = arith.addi %s, %c1 : i32
      scf.yield %y, %t : i32, i32
    }
    tt.store %out, %r#1 : !tt.ptr<i32>
    tt.return
  }
}
"""


def test_loops_until_a_condition():
    [got] = run(COLLATZ, 27, np.zeros(1, np.int32))
    assert got[0] == 111


EARLY = """module {
  tt.func public @k(%n: i32, %out: !tt.ptr<i32>) {
    %c0 = arith.constant 0 : i32
    %c5 = arith.constant 5 : i32
    %less = arith.cmpi slt, %n, %c0 : i32
    cf.cond_br %less, ^bb1, ^bb2
  ^bb1:
    tt.return
  ^bb2:
    %more = arith.cmpi sgt, %n, %c5 : i32
    cf.cond_br %more, ^bb3(%c5 : i32), ^bb3(%n : i32)
  ^bb3(%m: i32):
    %s = tt.call @twice(%m) : (i32) -> i32
    tt.store %out, %s : !tt.ptr<i32>
    tt.return
  }
  tt.func private @twice(%x: i32) -> i32 {
    %y = arith.addi %x, %x : i32
    tt.return %y : i32
  }
}
"""


@pytest.mark.parametrize(("n", "want"), [(-1, 0), (3, 6), (9, 10)])
def test_branches_that_return_and_branches_that_meet(n: int, want: int):
    [got] = run(EARLY, n, np.zeros(1, np.int32))
    assert got[0] == want


LOOP = """module {
  tt.func public @k(%a: !tt.ptr<i32>, %b: !tt.ptr<i32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
      %from = tt.addptr %a, %i : !tt.ptr<i32>, i32
      %x = tt.load %from : !tt.ptr<i32>
      %y = arith.addi %x, %c1 : i32
      %to = tt.addptr %b, %i : !tt.ptr<i32>, i32
      tt.store %to, %y : !tt.ptr<i32>
    }
    tt.return
  }
}
"""


def test_arguments_that_share_memory_are_in_program_order():
    """Each iteration reads the word that the one before wrote, through another argument."""
    memory = np.zeros(9, np.int32)
    [_, got] = run(LOOP, memory[:8], memory[1:], 8)
    assert_array_equal(got, np.arange(1, 9))


def test_loads_alone_are_not_ordered():
    """Loads take no token of loads; the store takes that of both."""
    body = "%r = arith.addi %a, %b : tensor<16xi32>"
    text = str(converted(on_tiles(body, "i32 i32", "i32")))
    loads = [line for line in text.splitlines() if "load_ptr_tko" in line]
    assert len(loads) == 2
    assert not any("token=" in line for line in loads)
    assert "join_tokens" in text


DOT = """%z = arith.constant dense<0.0> : tensor<16x16xf32>
    %r = tt.dot %a, %b, %z, inputPrecision = {} : tensor<16x16xf32> * tensor<16x16xf32> ->
      tensor<16x16xf32>"""


@pytest.mark.parametrize(
    ("precision", "error"),
    [("ieee", 1e-6), ("tf32", 4e-3), ("tf32x3", 2e-6), ("bf16x3", 2e-4), ("bf16x6", 2e-6)],
)
def test_products_of_f32(precision: str, error: float):
    """Each as near as it says, and not much nearer."""
    random = np.random.default_rng(0)
    a, b = (random.standard_normal((16, 16)).astype(np.float32) for _ in range(2))
    text = on_tiles(DOT.format(precision), "f32 f32", "f32", "16x16")
    [*_, got] = run(text, a, b, np.zeros((16, 16), np.float32))
    size = np.abs(a).astype(np.float64) @ np.abs(b)
    apart = (np.abs(got - a.astype(np.float64) @ b) / size).max()
    assert error / 1000 < apart < error


DESCRIPTOR = """module {
  tt.func public @k(%p: !tt.ptr<f32>, %out: !tt.ptr<f32>, %m: i32, %n: i32) {
    %c1 = arith.constant 1 : i64
    %c2 = arith.constant 2 : i32
    %s = arith.extsi %n : i32 to i64
    %from = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] PADDING : <f32>, <tensor<4x4xf32>>
    %to = tt.make_tensor_descriptor %out, [%m, %n], [%s, %c1] : <f32>, <tensor<4x4xf32>>
    %x = tt.descriptor_load %from[%c2, %c2] : !tt.tensordesc<tensor<4x4xf32>> -> tensor<4x4xf32>
    %y = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x4xf32> -> tensor<4x4xf32>
    tt.descriptor_store %to[%c2, %c2], %y : !tt.tensordesc<tensor<4x4xf32>>, tensor<4x4xf32>
    tt.return
  }
}
"""


@pytest.mark.parametrize(("padding", "outside"), [("", 0.0), ("{padding = 2 : i32}", np.nan)])
def test_a_descriptor_ends_where_its_tensor_does(padding: str, outside: float):
    """Of a block of 4 x 4, 3 x 4 are in the tensor of 5 x 6; what is not there is not written."""
    a = numbers("f32", (5, 6))
    [_, got] = run(DESCRIPTOR.replace("PADDING", padding), a, np.zeros_like(a), 5, 6)
    block = np.full((4, 4), outside, np.float32)
    block[:3] = a[2:5, 2:6]
    want = np.zeros_like(a)
    want[2:5, 2:6] = block.T[:3]
    assert_array_equal(got, want)


def test_facts_of_parameters_are_assumed():
    text = """module {
      tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
        %x = tt.load %p : !tt.ptr<f32>
        tt.store %p, %x : !tt.ptr<f32>
        tt.return
      }
    }"""
    assert "assume div_by<16>, %p" in str(converted(text))


CYCLE = """module {
  tt.func public @k(%n: i32) {
    %x = tt.call @f(%n) : (i32) -> i32
    tt.return
  }
  tt.func private @f(%n: i32) -> i32 {
    %x = tt.call @f(%n) : (i32) -> i32
    tt.return %x : i32
  }
}
"""
BACK = """module {
  tt.func public @k(%c: i1) {
    cf.br ^bb1
  ^bb1:
    cf.cond_br %c, ^bb1, ^bb2
  ^bb2:
    tt.return
  }
}
"""
NARROW = """module {
  tt.func public @k(%p: !tt.ptr<f8E4M3FNUZ>) {
    tt.return
  }
}
"""
OCTET = """module {
  tt.func public @k(%p: !tt.ptr<i8>, %x: i8) {
    %o = tt.atomic_cas relaxed, gpu, %p, %x, %x : (!tt.ptr<i8>, i8, i8) -> i8
    tt.return
  }
}
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CYCLE, "expected a callee that does not call itself"),
        (BACK, r"expected a block that was not left yet.*nearest legal: scf\.while"),
        (NARROW, "expected elements that Tile IR has, got f8E4M3FNUZ; nearest legal"),
        (OCTET, "expected elements i32, i64, f32, f64, i16, f16 or bf16 where"),
        ("module {}", "expected a public tt.func, got none"),
    ],
)
def test_what_is_refused(text: str, message: str):
    with pytest.raises(OpError, match=message):
        converted(text)


def test_a_grid_of_programs():
    text = """module {
      tt.func public @k(%p: !tt.ptr<i32>) {
        %x = tt.get_program_id x : i32
        %y = tt.get_program_id y : i32
        %n = tt.get_num_programs x : i32
        %row = arith.muli %y, %n : i32
        %i = arith.addi %row, %x : i32
        %to = tt.addptr %p, %i : !tt.ptr<i32>, i32
        tt.store %to, %i : !tt.ptr<i32>
        tt.return
      }
    }"""
    [got] = run(text, np.zeros(6, np.int32), grid=(3, 2))
    assert_array_equal(got, np.arange(6))


def test_a_flag_orders_the_blocks_that_pass_it_on():
    """Each program waits until the one before it has released the flag, and reads what it wrote."""
    text = """module {
      tt.func public @k(%flag: !tt.ptr<i32>, %p: !tt.ptr<i32>) {
        %c1 = arith.constant 1 : i32
        %me = tt.get_program_id x : i32
        scf.while : () -> () {
          %now = tt.atomic_load acquire, gpu, %flag : (!tt.ptr<i32>) -> i32
          %wait = arith.cmpi ne, %now, %me : i32
          scf.condition(%wait)
        } do {
          scf.yield
        }
        %x = tt.load %p : !tt.ptr<i32>
        %y = arith.addi %x, %x : i32
        tt.store %p, %y : !tt.ptr<i32>
        %next = arith.addi %me, %c1 : i32
        tt.atomic_store release, gpu, %flag, %next : !tt.ptr<i32>
        tt.return
      }
    }"""
    [_, got] = run(text, np.zeros(1, np.int32), np.ones(1, np.int32), grid=(4,))
    assert got[0] == 16
