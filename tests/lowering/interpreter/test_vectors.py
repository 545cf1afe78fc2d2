"""Vectors: every element as the scalar op computes it, and the threads of a gang apart."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tilewright as tw
from tilewright.source.diagnostic import CompileError

N = 4
DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32}
HEAD = """
  %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
"""


def load(name: str, element: str) -> str:
    """Four elements of a row of `name`, as a vector `%v_name`."""
    lines = [f"  %v_{name}_0 = arith.constant dense<0.0> : vector<{N}x{element}>"]
    for n in range(N):
        lines += [
            f"  %s_{name}_{n} = memref.load %{name}[%t, %c{n}] : memref<?x{N}x{element}>",
            f"  %v_{name}_{n + 1} = vector.insert %s_{name}_{n}, %v_{name}_{n} [{n}] "
            f": {element} into vector<{N}x{element}>",
        ]
    return "\n".join(lines).replace(f"%v_{name}_{N}", f"%v_{name}")


def store(value: str, element: str) -> str:
    return "\n".join(
        f"  %o_{n} = vector.extract {value}[{n}] : {element} from vector<{N}x{element}>\n"
        f"  memref.store %o_{n}, %out[%t, %c{n}] : memref<?x{N}x{element}>"
        for n in range(N)
    )


def run(body: str, *inputs: np.ndarray, result: str = "f32") -> np.ndarray:
    """What a kernel on rows of the inputs, %a and %b, leaves in %out; %r is the result."""
    names = "ab"[: len(inputs)]
    arguments = ", ".join(f"%{name}: memref<?x{N}xf32>" for name in names)
    loads = "\n".join(load(name, "f32") for name in names)
    text = (
        f"func.func @k({arguments}, %out: memref<?x{N}x{result}>) attributes {{gpu.kernel}} {{"
        f"{HEAD}{loads}\n{body}\n{store('%r', result)}\n  func.return\n}}"
    )
    out = np.zeros(
        (len(inputs[0]), N), {"f32": np.float32, "f16": np.float16, "i32": np.int32}[result]
    )
    block = (len(inputs[0]), 1, 1)
    return tw.interpret(text, grid=(1,), block=block, args=[*inputs, out])[-1]


def rows(seed: int, count: int = 64) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((count, N)).astype(np.float32)


A, B = rows(0), rows(1)
V = f"vector<{N}xf32>"


@pytest.mark.parametrize(
    "op, expected",
    [("addf", A + B), ("subf", A - B), ("mulf", A * B), ("maximumf", np.maximum(A, B)),
     ("minnumf", np.minimum(A, B)), ("divf", A / B)],
)  # fmt: skip
def test_elementwise(op: str, expected: np.ndarray):
    assert_array_equal(run(f"  %r = arith.{op} %v_a, %v_b : {V}", A, B), expected)


def test_casts_and_constants():
    found = run(
        f"""  %c = arith.constant dense<[1.0, -2.5, 0.0, 4.0]> : {V}
  %s = arith.addf %v_a, %c : {V}
  %r = arith.truncf %s : {V} to vector<{N}xf16>""",
        A,
        result="f16",
    )
    added = A + np.array([1, -2.5, 0, 4], np.float32)
    assert_array_equal(found, added.astype(np.float16))


def test_integers():
    found = run(
        f"""  %n = arith.constant dense<[-7, 3, 0, 40]> : vector<{N}xi32>
  %c = arith.constant dense<-3> : vector<{N}xi32>
  %r = arith.muli %n, %c : vector<{N}xi32>""",
        A,
        result="i32",
    )
    assert_array_equal(found, np.tile([21, -9, 0, -120], (64, 1)))


def test_upper_halves_of_products():
    found = run(
        f"""  %n = arith.constant dense<[-7, 3, 0, 40]> : vector<{N}xi64>
  %l, %h = arith.mulsi_extended %n, %n : vector<{N}xi64>
  %l2, %h2 = arith.mului_extended %n, %n : vector<{N}xi64>
  %x = arith.addi %h, %h2 : vector<{N}xi64>
  %e = vector.extract %x[0] : i64 from vector<{N}xi64>
  %s = arith.trunci %e : i64 to i32
  %r = vector.broadcast %s : i32 to vector<{N}xi32>""",
        A,
        result="i32",
    )
    assert_array_equal(found, np.full((64, N), -14))


def test_broadcast_of_a_scalar_that_differs_by_thread():
    found = run(
        f"""  %s = vector.extract %v_a[2] : f32 from {V}
  %w = vector.broadcast %s : f32 to {V}
  %r = vector.fma %v_b, %w, %v_a : {V}""",
        A,
        B,
    )
    exact = B.astype(np.longdouble) * A[:, 2:3] + A
    assert_array_equal(found, exact.astype(np.float32))


def test_threads_that_part_and_meet_carry_vectors():
    found = run(
        f"""  %c32 = arith.constant 32 : index
  %odd = arith.remui %t, %c2 : index
  %is = arith.cmpi eq, %odd, %c1 : index
  %x = scf.if %is -> ({V}) {{
    %y = arith.negf %v_a : {V}
    scf.yield %y : {V}
  }} else {{
    scf.yield %v_b : {V}
  }}
  %l = scf.for %i = %c0 to %odd step %c1 iter_args(%v = %x) -> ({V}) {{
    %w = arith.addf %v, %v : {V}
    scf.yield %w : {V}
  }}
  %r = arith.select %is, %l, %x : {V}""",
        A,
        B,
    )
    odd = np.arange(64)[:, None] % 2 == 1
    assert_array_equal(found, np.where(odd, -2 * A, B))


def test_rows_of_a_vector_of_rank_2():
    found = run(
        f"""  %m = vector.broadcast %v_a : {V} to vector<3x{N}xf32>
  %n = vector.insert %v_b, %m [1] : {V} into vector<3x{N}xf32>
  %p = vector.extract %n[1] : {V} from vector<3x{N}xf32>
  %q = vector.extract %n[2, 1] : f32 from vector<3x{N}xf32>
  %s = vector.broadcast %q : f32 to {V}
  %r = arith.addf %p, %s : {V}""",
        A,
        B,
    )
    assert_array_equal(found, B + A[:, 1:2])


@pytest.mark.parametrize(
    "body, message",
    [
        (f"%r = vector.extract %v_a[%t] : f32 from {V}\n%x = arith.addf %r, %r : f32",
         "'vector.extract' expected a static position"),
        (f"%x = arith.constant dense<1> : vector<{N}xi4>\n%r = arith.addi %x, %x : vector<{N}xi4>",
         f"on vector<{N}xi4> cannot be interpreted"),
    ],
)  # fmt: skip
def test_what_cannot_be_interpreted(body: str, message: str):
    text = (
        f"func.func @k(%a: memref<?x{N}xf32>) attributes {{gpu.kernel}} {{{HEAD}"
        f"{load('a', 'f32')}\n  {body}\n  func.return\n}}"
    )
    with pytest.raises(CompileError, match=message.replace("[", r"\[")):
        tw.interpret(text, grid=(1,), block=(32,), args=[A])


def test_division_by_zero_names_its_thread():
    text = (
        f"func.func @k(%a: memref<?xi32>) attributes {{gpu.kernel}} {{{HEAD}"
        f"  %n = memref.load %a[%t] : memref<?xi32>\n"
        f"  %ones = arith.constant dense<1> : vector<{N}xi32>\n"
        f"  %m = vector.insert %n, %ones [3] : i32 into vector<{N}xi32>\n"
        f"  %x = arith.divsi %ones, %m : vector<{N}xi32>\n  func.return\n}}"
    )
    values = np.ones(32, np.int32)
    values[5] = 0
    with pytest.raises(tw.ExecutionError, match=r"division by zero .*thread \(5,0,0\)"):
        tw.interpret(text, grid=(1,), block=(32,), args=[values])
