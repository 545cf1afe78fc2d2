"""Accesses out of bounds, misaligned, or of what nothing has written."""

from __future__ import annotations

import numpy as np
import pytest
from faults import HALVES, SMEM, TILE, P, fault, kernel, line_of

import tilewright as tw

# Memory: out of bounds, misaligned, never written


def test_index_out_of_bounds():
    """Each level has its words, whichever the text ran at before."""
    text = kernel("  %v = memref.load %p[%t] : memref<50xi32> // HERE", "%p: memref<50xi32>")
    fault("", "memref.load", "read out of bounds", "bytes 200 to 203 of 'p', which has 200",
          thread=(50, 0, 0), text=text, args=[P[:50]], levels=("ptx",))  # fmt: skip
    fault("", "memref.load", "out of bounds", "index 50 of extent 50 in dimension 0",
          thread=(50, 0, 0), text=text, args=[P[:50]], levels=("atom",))  # fmt: skip


def test_index_out_of_bounds_in_a_later_dimension():
    """Inside of the buffer, but not of the row: only the level that knows the shape can tell."""
    text = kernel(
        "  %v = memref.load %p[%c1, %t] : memref<2x32xi32> // HERE", "%p: memref<2x32xi32>"
    )
    fault("", "memref.load", "index 32 of extent 32 in dimension 1", thread=(32, 0, 0), text=text,
          args=[P.reshape(2, 32)], levels=("atom",))  # fmt: skip


def test_negative_index():
    body = "  %v = memref.load %q[%n] : memref<?xi32> // HERE"
    text = kernel(
        "  %n = arith.subi %t, %c1 : index\n" + body, "%p: memref<?xi32>, %q: memref<?xi32>"
    )
    fault("", "memref.load", "read out of bounds: bytes -4 to -1 of 'q', which has 256",
          thread=(0, 0, 0), text=text, args=[P, P.copy()])  # fmt: skip
    sized = text.replace("memref<?xi32>", "memref<64xi32>")
    fault("", "memref.load", "index -1 of extent 64", thread=(0, 0, 0), text=sized,
          args=[P, P.copy()], levels=("atom",))  # fmt: skip


def test_index_out_of_a_view_with_sizes_known_at_run_time():
    view = "memref<?x?xi32, strided<[?, 1], offset: ?>>"
    fault(
        f"""  %c3 = arith.constant 3 : index
  %view = memref.reinterpret_cast %p to offset: [0], sizes: [%c3, %c31], strides: [%c32, 1]
    : memref<?xi32> to {view}
  %v = memref.load %view[%c1, %t] : {view} // HERE""",
        "memref.load", "index 31 of extent 31 in dimension 1", thread=(31, 0, 0), levels=("atom",),
    )  # fmt: skip


@pytest.mark.parametrize("op, body", [
    ("memref.load", "%v = memref.load %p[%far] : memref<?xi32> // HERE"),
    ("memref.store", "memref.store %one, %p[%far] : memref<?xi32> // HERE"),
    ("cute_nvgpu.cp.async", "cute_nvgpu.cp.async %p[%far] to %s[%t] size 4 cache ca : "
                            f"memref<?xi32> to {TILE} // HERE"),
])  # fmt: skip
def test_global_address_out_of_bounds(op: str, body: str):
    verb = "write" if op == "memref.store" else "read"
    fault(f"  %far = arith.addi %t, %c1 : index\n  {body}", op,
          f"{verb} out of bounds: bytes 256 to 259 of 'p', which has 256",
          thread=(63, 0, 0))  # fmt: skip


@pytest.mark.parametrize("op, body", [
    ("memref.load", f"%v = memref.load %s[%far] : {TILE} // HERE"),
    ("memref.store", f"memref.store %one, %s[%far] : {TILE} // HERE"),
    ("cute_nvgpu.cp.async", "cute_nvgpu.cp.async %p[%t] to %s[%far] size 4 cache ca : "
                            f"memref<?xi32> to {TILE} // HERE"),
])  # fmt: skip
def test_shared_index_and_address_out_of_bounds(op: str, body: str):
    body = f"""  memref.store %one, %s[%t] : {TILE}
  "gpu.barrier"() : () -> ()
  %far = arith.addi %t, %c1 : index
  {body}"""
    verb = "read" if op == "memref.load" else "write"
    fault(body, op, "index 64 of extent 64", thread=(63, 0, 0), levels=("atom",))
    fault(body, op, f"{verb} out of bounds: bytes 256 to 259 of shared memory, which has 256",
          thread=(63, 0, 0), levels=("ptx",))  # fmt: skip


def test_cp_async_fills_no_more_than_it_copies():
    fault(
        f"""  %n = arith.index_cast %t : index to i32
  cute_nvgpu.cp.async %p[%t] to %s[%t] size 4 cache ca fill %n : memref<?xi32> to {TILE} // HERE""",
        "cute_nvgpu.cp.async", "fills 5 bytes of a copy of 4", thread=(5, 0, 0),
    )  # fmt: skip


BYTES = f"memref<1024xi8, {SMEM}>"


def test_misaligned_cp_async():
    source = f"""  %b = memref.alloc() : {BYTES}
  %c16 = arith.constant 16 : index
  %at = arith.muli %t, %c16 : index
  %off = arith.addi %at, %c1 : index
  cute_nvgpu.cp.async %p[FROM] to %b[TO] size 4 cache ca : memref<?xi8> to {BYTES} // HERE"""
    args = [np.zeros(2048, np.int8)]
    for places, words in (
        (("%off", "%at"), ("misaligned read: byte 1 of 'p' is no multiple of 4",)),
        (("%at", "%off"), ("misaligned write: byte", "of 'shared memory' is no multiple of 4")),
    ):
        body = source.replace("FROM", places[0]).replace("TO", places[1])
        fault("", "cute_nvgpu.cp.async", *words, text=kernel(body, "%p: memref<?xi8>"), args=args,
              thread=(0, 0, 0))  # fmt: skip


VECTORS = """ptx.entry @k(%p: u64) shared 256 align 16 {
  %g = ptx.cvta to.global.u64 %p
  %t = ptx.sreg "tid.x"
  %four = ptx.const 4 : !ptx.reg<b32>
  %by = ptx.mul lo.u32 %t, %four
  %wide = ptx.cvt u64.u32 %by
  %a = ptx.add u64 %g, %wide
  %s = ptx.shared_address 0
  %b = ptx.add u32 %s, %by
  BODY
  ptx.ret
}"""


@pytest.mark.parametrize("body, words", [
    ('%v = ptx.ld "global" "f32" %a, 0 : !ptx.reg<b64> -> !ptx.reg<f32 x 2>',
     "misaligned read: byte 4 of 'p' is no multiple of 8"),
    ('%v = ptx.ld "shared" "b32" %b, 0 : !ptx.reg<b32> -> !ptx.reg<b32 x 2>',
     "misaligned read: byte 4 of 'shared memory' is no multiple of 8"),
])  # fmt: skip
def test_misaligned_vectors(body: str, words: str):
    """Vectors exist at the `ptx` level alone."""
    text = VECTORS.replace("BODY", body + " // HERE")
    fault("", "ptx.ld", words, text=text, thread=(1, 0, 0), block=(16,), levels=("ptx",))


def matrix_rows(row: str, column: str, op: str) -> str:
    """One matrix a warp from a tile that the CTA has filled."""
    access = {
        "ldmatrix": f"%f = cute_nvgpu.ldmatrix %h[{row}, {column}] : {HALVES} "
        "-> !cute_nvgpu.fragment<2xf16> // HERE",
        "stmatrix": f"cute_nvgpu.stmatrix %z, %h[{row}, {column}] : "
        f"!cute_nvgpu.fragment<2xf16>, {HALVES} // HERE",
    }[op]
    return f"""  %h = memref.alloc() : {HALVES}
  %c24 = arith.constant 24 : index
  %zero = arith.constant 0.0 : f16
  scf.for %k = %c0 to %c24 step %c1 {{
    memref.store %zero, %h[%t, %k] : {HALVES}
  }}
  %z = cute_nvgpu.fragment.splat %zero : f16 -> !cute_nvgpu.fragment<2xf16>
  "gpu.barrier"() : () -> ()
  %c33 = arith.constant 33 : index
  %high = arith.cmpi uge, %t, %c33 : index
  %bad = arith.select %high, %c1, %c0 : index
  %c100 = arith.constant 100 : index
  %gone = arith.muli %bad, %c100 : index
  {access}"""


@pytest.mark.parametrize("op", ["ldmatrix", "stmatrix"])
def test_misaligned_rows_of_matrices(op: str):
    """The second row of the second warp's matrix: thread 33, not the ninth row of both warps."""
    verb = "read" if op == "ldmatrix" else "write"
    fault(matrix_rows("%t", "%bad", op), f"cute_nvgpu.{op}", f"misaligned {verb}",
          "is no multiple of 16", thread=(33, 0, 0))  # fmt: skip


@pytest.mark.parametrize("op", ["ldmatrix", "stmatrix"])
def test_rows_of_matrices_out_of_bounds(op: str):
    verb, body = "read" if op == "ldmatrix" else "write", matrix_rows("%gone", "%c0", op)
    fault(body, f"cute_nvgpu.{op}", "index 100 of extent 64 in dimension 0", thread=(33, 0, 0),
          levels=("atom",))  # fmt: skip
    fault(body, f"cute_nvgpu.{op}", f"{verb} out of bounds", "of shared memory", thread=(33, 0, 0),
          levels=("ptx",))  # fmt: skip


def test_shared_memory_that_nothing_has_written():
    fault(
        f"""  scf.if %low {{
    memref.store %one, %s[%t] : {TILE}
  }}
  "gpu.barrier"() : () -> ()
  %v = memref.load %s[%t] : {TILE} // HERE""",
        "memref.load", "read of shared memory that nothing has written", thread=(32, 0, 0),
    )  # fmt: skip


def test_ldmatrix_of_memory_that_nothing_has_written():
    fault(
        f"""  %h = memref.alloc() : {HALVES}
  %f = cute_nvgpu.ldmatrix %h[%t, %c0] : {HALVES} -> !cute_nvgpu.fragment<2xf16> // HERE""",
        "cute_nvgpu.ldmatrix", "read of shared memory that nothing has written", thread=(0, 0, 0),
    )  # fmt: skip


# Registers and scalars


def test_use_of_an_undefined_register():
    fault(
        """  %none = ub.poison : i32 // THERE
  memref.store %none, %p[%t] : memref<?xi32> // HERE""",
        "memref.store", "use of an undefined register",
    )  # fmt: skip
    text = kernel("""  %none = ub.poison : i32 // THERE
  %v = arith.addi %none, %one : i32 // HERE
  memref.store %v, %p[%t] : memref<?xi32>""")
    place = f"at faults.mlir:{line_of(text, '// THERE')}"
    for level, op, origin in (("atom", "arith.addi", "ub.poison"), ("ptx", "ptx.add", "ptx.undef")):
        fault("", op, f"use of an undefined register ('{origin}' {place}", text=text,
              levels=(level,))  # fmt: skip


def test_use_of_a_register_that_some_threads_have_not_written():
    fault(
        """  %v = scf.if %low -> (i32) {
    scf.yield %one : i32
  } else {
    %none = ub.poison : i32
    scf.yield %none : i32
  }
  memref.store %v, %p[%t] : memref<?xi32> // HERE""",
        "memref.store", "use of an undefined register", thread=(32, 0, 0),
    )  # fmt: skip


def test_branch_on_an_undefined_register():
    fault(
        """  %none = ub.poison : i1
  scf.if %none { // HERE
    memref.store %one, %p[%t] : memref<?xi32>
  }""",
        "scf.if", "use of an undefined register", levels=("atom",),
    )  # fmt: skip


@pytest.mark.parametrize("op", ["divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi"])
def test_division_by_zero(op: str):
    lowered = "ptx.rem" if op.startswith("rem") else "ptx.div"
    text = kernel(f"""  %n = arith.index_cast %t : index to i32
  %seven = arith.constant 7 : i32
  %d = arith.subi %n, %seven : i32
  %v = arith.{op} %one, %d : i32 // HERE
  memref.store %v, %p[%t] : memref<?xi32>""")
    for level, name in (("atom", f"arith.{op}"), ("ptx", lowered)):
        fault("", name, "division by zero", thread=(7, 0, 0), text=text, levels=(level,))


@pytest.mark.parametrize(
    "type_",
    [
        "memref<100000000000000000000xi64, #cute<space smem>>",
        'memref<8x8xf16, !cute.composed_layout<"S<1,3,3> o 9223372036854775807 o (8,8):(8,1)">, '
        "#cute<space smem>>",
    ],
)
def test_shared_memory_beyond_its_addresses(type_: str):
    text = kernel(f"  %far = memref.alloc() : {type_}")
    with pytest.raises(tw.CompileError, match=r"'memref\.alloc' expected at most 4294967296 bytes"):
        tw.interpret(text, grid=(1, 1, 1), block=(32, 1, 1), args=[P], level="atom")
