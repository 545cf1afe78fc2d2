"""What no kernel may do is an error that names the op, the place and, for a race, both accesses.

Every kernel runs at both levels. The comment `// HERE` stands on the line of the op that must be
named, `// OTHER` on the line of the access that it races with.
"""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw

SMEM = "#cute<space smem>"
TILE = f"memref<64xi32, {SMEM}>"
LEVELS = ("atom", "ptx")
# What an op of the source is called after the lowering.
LOWERED = {
    "memref.load": "ptx.ld",
    "memref.store": "ptx.st",
    "cute_nvgpu.cp.async": "ptx.cp.async",
    "cute_nvgpu.ldmatrix": "ptx.ldmatrix",
    "cute_nvgpu.stmatrix": "ptx.stmatrix",
    "cute_nvgpu.sm80.mma": "ptx.mma",
    "cute_nvgpu.bar.sync": "ptx.bar.sync",
    "cute_nvgpu.bar.arrive": "ptx.bar.arrive",
    "cute_nvgpu.bar.warp.sync": "ptx.bar.warp.sync",
    "gpu.barrier": "ptx.bar.sync",
}
HEAD = f"""
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  %c63 = arith.constant 63 : index
  %one = arith.constant 1 : i32
  %s = memref.alloc() : {TILE}
  %first = arith.cmpi eq, %t, %c0 : index
  %low = arith.cmpi ult, %t, %c32 : index
  %other = arith.subi %c63, %t : index
  %next = arith.xori %t, %c1 : index
"""


def kernel(body: str, arguments: str = "%p: memref<?xi32>", attributes: str = "") -> str:
    return (
        f"func.func @k({arguments}) attributes {{gpu.kernel{attributes}}} {{"
        f"{HEAD}{body}\n  func.return\n}}"
    )


def line_of(text: str, mark: str) -> int | None:
    lines = [n for n, line in enumerate(text.splitlines(), 1) if mark in line]
    return lines[0] if lines else None


def run(text: str, level: str, args: list[Any], **launch: Any) -> list[np.ndarray]:
    launch = {"grid": (1,), "block": (64,), "arch": "sm_90", **launch}
    return tw.interpret(text, args=args, level=level, name="faults.mlir", **launch)  # type: ignore[arg-type]


P = np.arange(64, dtype=np.int32)


def fault(
    body: str,
    op: str,
    *words: str,
    thread: tuple[int, int, int] | None = None,
    text: str | None = None,
    args: list[Any] | None = None,
    levels: tuple[str, ...] = LEVELS,
    **launch: Any,
) -> None:
    """Require the error at the marked line, with these words, at both levels."""
    text = kernel(body) if text is None else text
    line, other = line_of(text, "// HERE"), line_of(text, "// OTHER")
    for level in levels:
        with pytest.raises(tw.ExecutionError) as caught:
            run(text, level, [P] if args is None else args, **launch)
        message = str(caught.value)
        name = LOWERED.get(op, op) if level == "ptx" else op
        place = re.match(rf"faults\.mlir:{line}:(\d+): error: '{re.escape(name)}' ", message)
        assert place is not None, message
        head, shown, caret = message.split("\n")
        assert shown == text.splitlines()[line - 1]
        assert caret == " " * (int(place[1]) - 1) + "^"
        for word in words:
            assert word in head, message
        if other is not None:
            assert f"at faults.mlir:{other} " in head, message
        if thread is not None:
            assert "block (0,0,0), thread ({},{},{})".format(*thread) in head, message


def fine(body: str, arguments: str = "%p: memref<?xi32>", **launch: Any) -> None:
    """The same kernel with its barrier runs."""
    for level in LEVELS:
        run(kernel(body, arguments), level, [P], **launch)


# Memory: out of bounds, misaligned, never written


def test_index_out_of_bounds() -> None:
    text = kernel("  %v = memref.load %p[%t] : memref<50xi32> // HERE", "%p: memref<50xi32>")
    fault("", "memref.load", "out of bounds", "index 50 of extent 50 in dimension 0",
          thread=(50, 0, 0), text=text, args=[P[:50]], levels=("atom",))  # fmt: skip
    fault("", "memref.load", "read out of bounds", "bytes 200 to 203 of 'p', which has 200",
          thread=(50, 0, 0), text=text, args=[P[:50]], levels=("ptx",))  # fmt: skip


def test_index_out_of_bounds_in_a_later_dimension() -> None:
    """Inside of the buffer, but not of the row: only the level that knows the shape can tell."""
    text = kernel(
        "  %v = memref.load %p[%c1, %t] : memref<2x32xi32> // HERE", "%p: memref<2x32xi32>"
    )
    fault("", "memref.load", "index 32 of extent 32 in dimension 1", thread=(32, 0, 0), text=text,
          args=[P.reshape(2, 32)], levels=("atom",))  # fmt: skip


def test_negative_index() -> None:
    body = "  %v = memref.load %q[%n] : memref<?xi32> // HERE"
    text = kernel(
        "  %n = arith.subi %t, %c1 : index\n" + body, "%p: memref<?xi32>, %q: memref<?xi32>"
    )
    fault("", "memref.load", "read out of bounds: bytes -4 to -1 of 'q', which has 256",
          thread=(0, 0, 0), text=text, args=[P, P])  # fmt: skip
    sized = text.replace("memref<?xi32>", "memref<64xi32>")
    fault("", "memref.load", "index -1 of extent 64", thread=(0, 0, 0), text=sized, args=[P, P],
          levels=("atom",))  # fmt: skip


def test_index_out_of_a_view_with_sizes_known_at_run_time() -> None:
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
def test_global_address_out_of_bounds(op: str, body: str) -> None:
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
def test_shared_index_and_address_out_of_bounds(op: str, body: str) -> None:
    body = f"""  memref.store %one, %s[%t] : {TILE}
  "gpu.barrier"() : () -> ()
  %far = arith.addi %t, %c1 : index
  {body}"""
    verb = "read" if op == "memref.load" else "write"
    fault(body, op, "index 64 of extent 64", thread=(63, 0, 0), levels=("atom",))
    fault(body, op, f"{verb} out of bounds: bytes 256 to 259 of shared memory, which has 256",
          thread=(63, 0, 0), levels=("ptx",))  # fmt: skip


def test_cp_async_fills_no_more_than_it_copies() -> None:
    fault(
        f"""  %n = arith.index_cast %t : index to i32
  cute_nvgpu.cp.async %p[%t] to %s[%t] size 4 cache ca fill %n : memref<?xi32> to {TILE} // HERE""",
        "cute_nvgpu.cp.async", "fills 5 bytes of a copy of 4", thread=(5, 0, 0),
    )  # fmt: skip


BYTES = f"memref<1024xi8, {SMEM}>"


def test_misaligned_cp_async() -> None:
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
def test_misaligned_vectors(body: str, words: str) -> None:
    """Vectors exist at the `ptx` level alone."""
    text = VECTORS.replace("BODY", body + " // HERE")
    fault("", "ptx.ld", words, text=text, thread=(1, 0, 0), block=(16,), levels=("ptx",))


HALVES = f"memref<64x24xf16, {SMEM}>"


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
def test_misaligned_rows_of_matrices(op: str) -> None:
    """The second row of the second warp's matrix: thread 33, not the ninth row of both warps."""
    verb = "read" if op == "ldmatrix" else "write"
    fault(matrix_rows("%t", "%bad", op), f"cute_nvgpu.{op}", f"misaligned {verb}",
          "is no multiple of 16", thread=(33, 0, 0))  # fmt: skip


@pytest.mark.parametrize("op", ["ldmatrix", "stmatrix"])
def test_rows_of_matrices_out_of_bounds(op: str) -> None:
    verb, body = "read" if op == "ldmatrix" else "write", matrix_rows("%gone", "%c0", op)
    fault(body, f"cute_nvgpu.{op}", "index 100 of extent 64 in dimension 0", thread=(33, 0, 0),
          levels=("atom",))  # fmt: skip
    fault(body, f"cute_nvgpu.{op}", f"{verb} out of bounds", "of shared memory", thread=(33, 0, 0),
          levels=("ptx",))  # fmt: skip


def test_shared_memory_that_nothing_has_written() -> None:
    fault(
        f"""  scf.if %low {{
    memref.store %one, %s[%t] : {TILE}
  }}
  "gpu.barrier"() : () -> ()
  %v = memref.load %s[%t] : {TILE} // HERE""",
        "memref.load", "read of shared memory that nothing has written", thread=(32, 0, 0),
    )  # fmt: skip


def test_ldmatrix_of_memory_that_nothing_has_written() -> None:
    fault(
        f"""  %h = memref.alloc() : {HALVES}
  %f = cute_nvgpu.ldmatrix %h[%t, %c0] : {HALVES} -> !cute_nvgpu.fragment<2xf16> // HERE""",
        "cute_nvgpu.ldmatrix", "read of shared memory that nothing has written", thread=(0, 0, 0),
    )  # fmt: skip


# Registers and scalars


def test_use_of_an_undefined_register() -> None:
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


def test_use_of_a_register_that_some_threads_have_not_written() -> None:
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


def test_branch_on_an_undefined_register() -> None:
    fault(
        """  %none = ub.poison : i1
  scf.if %none { // HERE
    memref.store %one, %p[%t] : memref<?xi32>
  }""",
        "scf.if", "use of an undefined register", levels=("atom",),
    )  # fmt: skip


@pytest.mark.parametrize("op", ["divsi", "divui", "remsi", "remui", "ceildivsi", "floordivsi"])
def test_division_by_zero(op: str) -> None:
    lowered = "ptx.rem" if op.startswith("rem") else "ptx.div"
    text = kernel(f"""  %n = arith.index_cast %t : index to i32
  %seven = arith.constant 7 : i32
  %d = arith.subi %n, %seven : i32
  %v = arith.{op} %one, %d : i32 // HERE
  memref.store %v, %p[%t] : memref<?xi32>""")
    for level, name in (("atom", f"arith.{op}"), ("ptx", lowered)):
        fault("", name, "division by zero", thread=(7, 0, 0), text=text, levels=(level,))


# Races. `SYNC` is where a barrier belongs.

RACES = {
    "write after write": (
        f"""  scf.if %low {{
    memref.store %one, %s[%t] : {TILE} // OTHER
  }}
  SYNC
  %n = arith.index_cast %t : index to i32
  %low_place = arith.remui %t, %c32 : index
  %high = arith.cmpi uge, %t, %c32 : index
  scf.if %high {{
    memref.store %n, %s[%low_place] : {TILE} // HERE
  }}""",
        "memref.store", "this write and the write by", "memref.store",
    ),
    "read after write": (
        f"""  memref.store %one, %s[%t] : {TILE} // OTHER
  SYNC
  %v = memref.load %s[%other] : {TILE} // HERE""",
        "memref.load", "this read and the write by", "memref.store",
    ),
    "write after read": (
        f"""  memref.store %one, %s[%t] : {TILE}
  "gpu.barrier"() : () -> ()
  %v = memref.load %s[%other] : {TILE} // OTHER
  SYNC
  memref.store %v, %s[%t] : {TILE} // HERE""",
        "memref.store", "this write and the read by", "memref.load",
    ),
    "stmatrix after load": (
        f"""  %h = memref.alloc() : {HALVES}
  %zero = arith.constant 0.0 : f16
  %z = cute_nvgpu.fragment.splat %zero : f16 -> !cute_nvgpu.fragment<2xf16>
  memref.store %zero, %h[%t, %c0] : {HALVES}
  "gpu.barrier"() : () -> ()
  %v = memref.load %h[%other, %c0] : {HALVES} // OTHER
  SYNC
  scf.if %low {{
    cute_nvgpu.stmatrix %z, %h[%t, %c0] : !cute_nvgpu.fragment<2xf16>, {HALVES} // HERE
  }}""",
        "cute_nvgpu.stmatrix", "this write and the read by", "memref.load",
    ),
    "ldmatrix after store": (
        f"""  %h = memref.alloc() : {HALVES}
  %zero = arith.constant 0.0 : f16
  %c24 = arith.constant 24 : index
  scf.for %k = %c0 to %c24 step %c1 {{
    memref.store %zero, %h[%other, %k] : {HALVES} // OTHER
  }}
  SYNC
  %f = cute_nvgpu.ldmatrix %h[%t, %c0] : {HALVES} -> !cute_nvgpu.fragment<2xf16> // HERE""",
        "cute_nvgpu.ldmatrix", "this read and the write by", "memref.store",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RACES)
def test_race_across_warps(name: str) -> None:
    body, op, words, before = RACES[name]
    for level in LEVELS:
        other = LOWERED[before] if level == "ptx" else before
        fault(body.replace("SYNC", ""), op, "race on shared memory", f"{words} '{other}'",
              "ordered by no barrier", levels=(level,))  # fmt: skip
    # A warp's own barrier orders nothing between warps.
    fault(body.replace("SYNC", "cute_nvgpu.bar.warp.sync"), op, words)
    fine(body.replace("SYNC", '"gpu.barrier"() : () -> ()'))
    fine(body.replace("SYNC", "cute_nvgpu.bar.sync 3 threads 64"))


WARP_RACES = {
    "read after write": (
        f"""  memref.store %one, %s[%t] : {TILE} // OTHER
  SYNC
  %v = memref.load %s[%next] : {TILE} // HERE""",
        "memref.load", "this read and the write by",
    ),
    "write after read": (
        f"""  memref.store %one, %s[%t] : {TILE}
  cute_nvgpu.bar.warp.sync
  %v = memref.load %s[%next] : {TILE} // OTHER
  SYNC
  memref.store %v, %s[%t] : {TILE} // HERE""",
        "memref.store", "this write and the read by",
    ),
    "write by the last of those who read together": (
        f"""  scf.if %first {{
    memref.store %one, %s[%c0] : {TILE}
  }}
  cute_nvgpu.bar.warp.sync
  %v = memref.load %s[%c0] : {TILE} // OTHER
  SYNC
  %last = arith.cmpi eq, %t, %c31 : index
  scf.if %last {{
    memref.store %one, %s[%c0] : {TILE} // HERE
  }}""",
        "memref.store", "this write and the read by",
    ),
    "write after write": (
        f"""  memref.store %one, %s[%t] : {TILE} // OTHER
  SYNC
  %n = arith.index_cast %t : index to i32
  memref.store %n, %s[%next] : {TILE} // HERE""",
        "memref.store", "this write and the write by",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WARP_RACES)
def test_race_within_a_warp(name: str) -> None:
    body, op, words = WARP_RACES[name]
    fault(body.replace("SYNC", ""), op, "race on shared memory", words, block=(32,))
    fine(body.replace("SYNC", "cute_nvgpu.bar.warp.sync"), block=(32,))
    fine(body.replace("SYNC", '"gpu.barrier"() : () -> ()'), block=(32,))


def test_two_threads_of_one_store_write_one_place() -> None:
    body = f"""  %n = arith.index_cast %t : index to i32
  memref.store VALUE, %s[%c0] : {TILE} // HERE"""
    fault(body.replace("VALUE", "%n"), "memref.store", "race on shared memory",
          "two threads of the op write one byte")  # fmt: skip
    fine(body.replace("VALUE", "%one"))


def test_two_threads_of_one_copy_write_one_place() -> None:
    body = (
        "  cute_nvgpu.cp.async %p[FROM] to %s[%c0] size 4 cache ca "
        f": memref<?xi32> to {TILE} // HERE"
    )
    fault(body.replace("FROM", "%t"), "cute_nvgpu.cp.async", "race on shared memory",
          "two threads of the op write one byte")  # fmt: skip
    fine(body.replace("FROM", "%c0"))


def test_a_barrier_of_some_warps_does_not_order_the_others() -> None:
    tile = TILE.replace("64", "128")
    body = f"""  %big = memref.alloc() : {tile}
  memref.store %one, %big[%t] : {tile} // OTHER
  %c64 = arith.constant 64 : index
  %c96 = arith.constant 96 : index
  %two_warps = arith.cmpi ult, %t, %c64 : index
  %three_warps = arith.cmpi ult, %t, %c96 : index
  scf.if %two_warps {{
    cute_nvgpu.bar.sync 1 threads 64
  }}
  %up = arith.addi %t, %c32 : index
  scf.if READERS {{
    %v = memref.load %big[%up] : {tile} // HERE
  }}"""
    fault(body.replace("READERS", "%three_warps"), "memref.load", "this read and the write by",
          thread=(32, 0, 0), block=(128,))  # fmt: skip
    # Warps 0 and 1 have met, and warp 0 reads what warp 1 wrote.
    fine(body.replace("READERS", "%low"), block=(128,))


def test_who_only_arrives_learns_nothing() -> None:
    fault(
        f"""  scf.if %low {{
    memref.store %one, %s[%t] : {TILE} // OTHER
    cute_nvgpu.bar.sync 1 threads 64
  }} else {{
    cute_nvgpu.bar.arrive 1 threads 64
    %v = memref.load %s[%other] : {TILE} // HERE
  }}""",
        "memref.load", "this read and the write by",
    )  # fmt: skip


def test_what_comes_after_an_arrival_is_not_before_the_barrier() -> None:
    body = f"""  scf.if %low {{
    memref.store %one, %s[%t] : {TILE}
    cute_nvgpu.bar.arrive 1 threads 64
    AGAIN
  }} else {{
    cute_nvgpu.bar.sync 1 threads 64
    %v = memref.load %s[%other] : {TILE} // HERE
  }}"""
    fault(body.replace("AGAIN", f"memref.store %one, %s[%t] : {TILE} // OTHER"), "memref.load",
          "this read and the write by")  # fmt: skip
    fine(body.replace("AGAIN", ""))


# Asynchronous copies

COPY = f"""  cute_nvgpu.cp.async %p[%t] to %s[%t] size 4 cache ca : memref<?xi32> to {TILE} // OTHER
  cute_nvgpu.cp.async.commit_group
"""
COPY_LINE = COPY.split("\n")[0]


@pytest.mark.parametrize("access, op, verb", [
    (f"%v = memref.load %s[%t] : {TILE} // HERE", "memref.load", "read"),
    (f"memref.store %one, %s[%t] : {TILE} // HERE", "memref.store", "write"),
    (COPY_LINE.strip().replace("OTHER", "HERE"), "cute_nvgpu.cp.async", "write"),
])  # fmt: skip
def test_destination_of_a_copy_before_its_wait(access: str, op: str, verb: str) -> None:
    for level, name in (("atom", "cute_nvgpu.cp.async"), ("ptx", "ptx.cp.async")):
        fault(COPY + "  " + access, op, f"{verb} of shared memory that '{name}'",
              "is still copying to", "no cp.async.wait_group has completed it",
              levels=(level,))  # fmt: skip
    fine(f"{COPY}  cute_nvgpu.cp.async.wait_group 0\n  {access}")


def test_wait_for_too_few_groups() -> None:
    body = f"""{COPY}  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group COUNT
  %v = memref.load %s[%t] : {TILE} // HERE"""
    fault(body.replace("COUNT", "2"), "memref.load", "no cp.async.wait_group has completed it")
    fine(body.replace("COUNT", "1"))


def test_wait_for_a_copy_that_no_group_holds() -> None:
    fault(
        f"""{COPY_LINE}
  cute_nvgpu.cp.async.wait_group 0
  %v = memref.load %s[%t] : {TILE} // HERE""",
        "memref.load", "no cp.async.wait_group has completed it", thread=(0, 0, 0),
    )  # fmt: skip


def test_a_copy_is_seen_by_other_threads_after_a_barrier_only() -> None:
    body = f"""{COPY}  cute_nvgpu.cp.async.wait_group 0
  SYNC
  %v = memref.load %s[%other] : {TILE} // HERE"""
    for level, name in (("atom", "cute_nvgpu.cp.async"), ("ptx", "ptx.cp.async")):
        fault(body.replace("SYNC", ""), "memref.load", f"this read and the write by '{name}'",
              levels=(level,))  # fmt: skip
    fine(body.replace("SYNC", '"gpu.barrier"() : () -> ()'))


def test_a_wait_of_another_thread_completes_nothing() -> None:
    """The other warp's wait and a barrier: the copying thread has not waited."""
    fault(
        f"""{COPY}  scf.if %low {{
    cute_nvgpu.cp.async.wait_group 0
  }}
  "gpu.barrier"() : () -> ()
  %v = memref.load %s[%other] : {TILE} // HERE""",
        "memref.load", "no cp.async.wait_group has completed it", thread=(0, 0, 0),
    )  # fmt: skip


def test_copy_over_what_others_still_read() -> None:
    body = f"""  memref.store %one, %s[%t] : {TILE}
  "gpu.barrier"() : () -> ()
  %v = memref.load %s[%other] : {TILE} // OTHER
  SYNC
{COPY_LINE.replace("OTHER", "HERE")}"""
    fault(body.replace("SYNC", ""), "cute_nvgpu.cp.async", "this write and the read by")
    fine(body.replace("SYNC", '"gpu.barrier"() : () -> ()'))


# Whole warps and barriers

MMA = """  %z = arith.constant 0.0 : f32
  %h = arith.constant 0.0 : f16
  %a = cute_nvgpu.fragment.splat %h : f16 -> !cute_nvgpu.fragment<4xf16>
  %b = cute_nvgpu.fragment.splat %h : f16 -> !cute_nvgpu.fragment<2xf16>
  %c = cute_nvgpu.fragment.splat %z : f32 -> !cute_nvgpu.fragment<4xf32>
"""
ALIGNED = {
    "cute_nvgpu.sm80.mma": "%d = cute_nvgpu.sm80.mma %a, %b, %c "
    "<16x8x8, elem_type = (f16, f16, f32)> : (!cute_nvgpu.fragment<4xf16>, "
    "!cute_nvgpu.fragment<2xf16>, !cute_nvgpu.fragment<4xf32>) -> !cute_nvgpu.fragment<4xf32>",
    "cute_nvgpu.ldmatrix": f"%f = cute_nvgpu.ldmatrix %w[%t, %c0] : {HALVES} "
    "-> !cute_nvgpu.fragment<2xf16>",
    "cute_nvgpu.stmatrix": f"cute_nvgpu.stmatrix %b, %w[%t, %c0] : !cute_nvgpu.fragment<2xf16>, "
    f"{HALVES}",
    "cute_nvgpu.bar.warp.sync": "cute_nvgpu.bar.warp.sync",
    "cute_nvgpu.bar.sync": "cute_nvgpu.bar.sync 1 threads 64",
    "cute_nvgpu.bar.arrive": "cute_nvgpu.bar.arrive 1 threads 64",
    "gpu.barrier": '"gpu.barrier"() : () -> ()',
}


@pytest.mark.parametrize("op", ALIGNED)
def test_an_aligned_op_by_part_of_a_warp(op: str) -> None:
    fault(
        f"""{MMA}  %w = memref.alloc() : {HALVES}
  %c40 = arith.constant 40 : index
  %some = arith.cmpi ult, %t, %c40 : index
  scf.if %some {{
    {ALIGNED[op]} // HERE
  }}""",
        op, "needs all 32 threads of a warp, and 8 execute it", thread=(32, 0, 0),
    )  # fmt: skip


def test_deadlock_at_a_barrier_that_not_all_reach() -> None:
    fault(
        """  scf.if %low {
    "gpu.barrier"() : () -> () // HERE
  }""",
        "gpu.barrier", "deadlock: 32 threads (warps 0) wait at barrier 0",
        "no other thread of the CTA will come",
    )  # fmt: skip


def test_deadlock_because_threads_have_left() -> None:
    fault(
        """  cf.cond_br %low, ^stay, ^leave
^stay:
  cute_nvgpu.bar.sync 2 threads 64 // HERE
  func.return
^leave:""",
        "cute_nvgpu.bar.sync", "deadlock: 32 threads (warps 0) wait at barrier 2",
    )  # fmt: skip


def test_deadlock_of_two_barriers_that_wait_for_each_other() -> None:
    fault(
        """  scf.if %low {
    cute_nvgpu.bar.sync 1 threads 64 // HERE
    cute_nvgpu.bar.sync 2 threads 64
  } else {
    cute_nvgpu.bar.sync 2 threads 64
    cute_nvgpu.bar.sync 1 threads 64
  }""",
        "cute_nvgpu.bar.sync", "deadlock: 32 threads (warps 0) wait at barrier 1",
    )  # fmt: skip


def test_deadlock_in_one_block_of_many() -> None:
    text = kernel("""  %b = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %here = arith.cmpi ne, %b, %c1 : index
  %stay = arith.ori %here, %low : i1
  scf.if %stay {
    "gpu.barrier"() : () -> () // HERE
  }""")
    for level in LEVELS:
        with pytest.raises(tw.ExecutionError, match=r"deadlock: 32 .*\(block \(1,0,0\), thread"):
            run(text, level, [P], grid=(3,))


@pytest.mark.parametrize("op", ["sync", "arrive"])
def test_too_many_threads_at_a_named_barrier(op: str) -> None:
    fault(f"  cute_nvgpu.bar.{op} 1 threads 32 // HERE", f"cute_nvgpu.bar.{op}",
          "barrier 1 expects 32 threads, and 64 came")  # fmt: skip


# Arguments and launches

AXPY = """func.func @axpy(%x: memref<4x8xf32>, %y: memref<?xbf16>, %n: i8, %a: f32, %b: i1)
    attributes {gpu.kernel} {
  func.return
}"""
X, Y = np.zeros((4, 8), np.float32), np.zeros(3, ml_dtypes.bfloat16)
BAD_ARGUMENTS = [
    ([X, Y, 1, 2.0], "expected 5 arguments (x: memref<4x8xf32>, y: memref<?xbf16>, n: i8, a: f32, "
                     "b: i1), got 4"),
    ([X.astype(np.float64), Y, 1, 2.0, 0], "argument 'x' expected dtype float32 (or uint32, raw "
                                           "bits) for memref<4x8xf32>, got float64"),
    ([X.astype(np.int32), Y, 1, 2.0, 0], "argument 'x' expected dtype float32"),
    ([X, Y.astype(np.float16), 1, 2.0, 0], "argument 'y' expected dtype bfloat16 (or uint16"),
    ([X.T, Y, 1, 2.0, 0], "argument 'x' expected shape (4, 8) for memref<4x8xf32>, got (8, 4)"),
    ([X.ravel(), Y, 1, 2.0, 0], "argument 'x' expected shape (4, 8)"),
    ([1.0, Y, 1, 2.0, 0], "argument 'x' expected an array for memref<4x8xf32>, got float"),
    ([X, Y, X, 2.0, 0], "argument 'n' expected a number for i8, got an array"),
    ([X, Y, 256, 2.0, 0], "argument 'n' expected 8 bits for i8, got 256"),
    ([X, Y, -129, 2.0, 0], "argument 'n' expected 8 bits for i8, got -129"),
    ([X, Y, 1.5, 2.0, 0], "argument 'n' expected a number for i8, got 1.5"),
    ([X, Y, float("inf"), 2.0, 0], "argument 'n' expected a number for i8, got inf"),
    ([X, Y, "one", 2.0, 0], "argument 'n' expected a number for i8, got 'one'"),
    ([X, Y, 1, None, 0], "argument 'a' expected a number for f32, got None"),
    ([X, Y, 1, 2.0, 2], "argument 'b' expected 1 bits for i1, got 2"),
]  # fmt: skip


@pytest.mark.parametrize("args, words", BAD_ARGUMENTS)
@pytest.mark.parametrize("level", LEVELS)
def test_wrong_arguments(args: list[Any], words: str, level: str) -> None:
    with pytest.raises(tw.ExecutionError, match=re.escape(words)):
        tw.interpret(AXPY, grid=(1,), block=(1,), args=args, level=level)  # type: ignore[arg-type]


@pytest.mark.parametrize("launch, words", [
    ({"block": (33, 32)}, "expected a block of at most 1024 threads, got 1056"),
    ({"block": (0,)}, "expected block as up to three positive extents, got (0,)"),
    ({"grid": (1, 1, 1, 1)}, "expected grid as up to three positive extents, got (1, 1, 1, 1)"),
    ({"grid": ()}, "expected grid as up to three positive extents, got ()"),
    ({"grid": (1.5,)}, "expected grid as up to three positive extents, got (1.5,)"),
    ({"numerics": "fast"}, "expected numerics of hardware, exact, got 'fast'"),
    ({"level": "tile"}, "expected level of atom, ptx, got 'tile'"),
])  # fmt: skip
def test_wrong_launches(launch: dict[str, Any], words: str) -> None:
    settings: dict[str, Any] = {"grid": (1,), "block": (1,), **launch}
    with pytest.raises(tw.ExecutionError, match=re.escape(words)):
        tw.interpret(AXPY, args=[X, Y, 1, 2.0, 0], **settings)


def test_block_that_is_not_the_one_the_kernel_asks_for() -> None:
    text = kernel("", attributes=', "gpu.known_block_size" = array<i32: 64, 1, 1>')
    for level in LEVELS:
        run(text, level, [P])
        with pytest.raises(tw.ExecutionError, match=re.escape(
            "'k' expected block (64, 1, 1), got (32, 1, 1)")):  # fmt: skip
            run(text, level, [P], block=(32,))


def test_unknown_kernel() -> None:
    two = kernel("") + "\n" + kernel("").replace("@k", "@other")
    with pytest.raises(tw.CompileError, match="expected a kernel 'x', got k, other"):
        run(two, "atom", [P], kernel="x")
    with pytest.raises(tw.CompileError, match="expected one kernel, got k, other"):
        run(two, "ptx", [P])
    run(two, "ptx", [P], kernel="other")
    with pytest.raises(tw.CompileError, match="expected one kernel, got none"):
        run("func.func @f() {\n  func.return\n}", "atom", [])


@pytest.mark.parametrize("body, op", [
    ("  %v = math.sin %f : f32 // HERE", "math.sin"),
    ("  %v = arith.maximumf %w, %w : f80 // HERE", "arith.maximumf"),
    ("  %v = arith.select %first, %p, %p : memref<?xi32> // HERE", "arith.select"),
    ("  %v = arith.fptoui %f : f32 to i1 // HERE", "arith.fptoui"),
    ("  %v = arith.truncf %d : f64 to bf16 // HERE", "arith.truncf"),
    ("  %v = arith.sitofp %one : i32 to bf16 // HERE", "arith.sitofp"),
    ("  %v = math.fma %b, %b, %b : bf16 // HERE", "math.fma"),
    ("  %v = arith.divui %first, %first : i1 // HERE", "arith.divui"),
    ("  %v = memref.alloc() : memref<4xi32> // HERE", "memref.alloc"),
])  # fmt: skip
def test_kernel_that_cannot_be_interpreted(body: str, op: str) -> None:
    values = "\n".join(f"  %{name} = ub.poison : {type_}" for name, type_ in (
        ("f", "f32"), ("d", "f64"), ("b", "bf16"), ("w", "f80")))  # fmt: skip
    values = values.replace("  %w = ub.poison : f80", "") if "f80" not in body else values
    text = kernel(f"{values}\n{body}")
    for level in LEVELS:
        with pytest.raises(tw.CompileError) as caught:
            run(text, level, [P])
        assert caught.value.message.startswith(f"'{op}'") or "f80" in caught.value.message
        assert str(caught.value).endswith("^"), caught.value
        if "f80" not in body:
            assert caught.value.line == line_of(text, "// HERE")


@pytest.mark.parametrize("type_, words", [
    ("memref<?x?xf32>", "has strides that its address does not carry; nearest legal: pass "
                        "memref<?xf32>"),
    (f"memref<4x8xf32, {SMEM}>", "expected global memory"),
    ('memref<4x8xf32, !cute.layout<"(8,4):(4,1)">>', "expected a layout of shape 4x8"),
    ('memref<4x8xf32, !cute.composed_layout<"(8,4):(4,1) o 0 o (4,8):(8,1)">>',
     "expected a swizzle before its layout"),
])  # fmt: skip
def test_memref_that_is_no_argument(type_: str, words: str) -> None:
    text = f"func.func @k(%x: {type_}) attributes {{gpu.kernel}} {{\n  func.return\n}}"
    for level in LEVELS:
        with pytest.raises(tw.CompileError, match=re.escape(words)) as caught:
            run(text, level, [X])
        assert caught.value.line == 1 and str(caught.value).endswith("^")
