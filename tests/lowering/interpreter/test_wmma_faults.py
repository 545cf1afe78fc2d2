"""What wmma.load and wmma.store may not do, at both levels."""

from __future__ import annotations

import numpy as np
import pytest
from faults import SMEM, fault, kernel, run
from run_levels import LEVELS

TILE = f"memref<16x16xf32, {SMEM}>"
C = "!cute_nvgpu.fragment<8xf32>"
OPERAND = "16x16x16, operand = {}, elem_type = f32, layout = row"
ALLOC = f"""
  %x = memref.alloc() : {TILE}
  %f0 = arith.constant 1.0 : f32
  %c16 = arith.constant 16 : index
  %c8 = arith.constant 8 : index
  %v = cute_nvgpu.fragment.splat %f0 : f32 -> {C}
  %lane = arith.remui %t, %c32 : index
"""
# Each thread of the first warp writes eight elements of one row.
FILL = f"""
  %row = arith.remui %t, %c16 : index
  %half = arith.divui %t, %c16 : index
  %col = arith.muli %half, %c8 : index
  scf.for %k = %c0 to %c8 step %c1 {{
    %at = arith.addi %col, %k : index
    memref.store %f0, %x[%row, %at] : {TILE} // BEFORE
  }}
"""
BARRIER = '  "gpu.barrier"() : () -> ()\n'
SYNC = "  cute_nvgpu.bar.warp.sync\n"
ONE = {"block": (32,)}


def load(indices: str = "%c0, %c0", memory: str = "%x", type_: str = TILE) -> str:
    what = OPERAND.format("c")
    return f"  %c = cute_nvgpu.wmma.load {memory}[{indices}] <{what}> : {type_} -> {C} // HERE\n"


def store(
    indices: str = "%c0, %c0", memory: str = "%x", type_: str = TILE, mark: str = "HERE"
) -> str:
    what = OPERAND.format("d")
    return f"  cute_nvgpu.wmma.store %v, {memory}[{indices}] <{what}> : {C}, {type_} // {mark}\n"


def read(indices: str, mark: str = "HERE") -> str:
    return f"  %e = memref.load %x[{indices}] : {TILE} // {mark}\n"


LOAD, STORE = "cute_nvgpu.wmma.load", "cute_nvgpu.wmma.store"


def runs(body: str) -> None:
    for level in LEVELS:
        run(kernel(body), level, [np.zeros(64, np.int32)], **ONE)


# Memory


@pytest.mark.parametrize("indices", ["%c1, %c0", "%c0, %c8"])
def test_the_whole_matrix_must_be_in_bounds(indices: str):
    dimension = 0 if indices == "%c1, %c0" else 1
    fault(ALLOC + FILL + SYNC + load(indices), LOAD, "out of bounds", levels=("atom",), **ONE)
    size = 16 if dimension == 0 else 23
    words = f"out of bounds: index {size} of extent 16 in dimension {dimension}"
    fault(ALLOC + store(indices), STORE, words, levels=("atom",), **ONE)


def test_out_of_bounds_in_bytes():
    fault(ALLOC + store("%c1, %c0"), STORE, "write out of bounds: bytes 1280 to 1295 of shared "
          "memory, which has 1280", levels=("ptx",), thread=(28, 0, 0), **ONE)  # fmt: skip
    view = "memref<16x16xi32>"
    what = OPERAND.format("c").replace("f32", "i32")
    body = (
        f"{ALLOC}  %g = memref.reinterpret_cast %p to offset: [0], sizes: [16, 16], "
        f"strides: [16, 1] : memref<?xi32> to {view}\n"
        f"  %n = cute_nvgpu.wmma.load %g[%c0, %c0] <{what}> : {view} "
        "-> !cute_nvgpu.fragment<8xi32> // HERE\n"
    )
    fault(body, LOAD, "read out of bounds: bytes 256 to 271 of 'p', which has 256", **ONE)


def test_rows_off_their_alignment():
    body = ALLOC.replace(TILE, WIDE) + load("%c0, %c1", type_=WIDE)
    fault(body, LOAD, "misaligned read: byte 260 of 'shared memory' is no multiple of 16", **ONE)
    body = ALLOC.replace(TILE, WIDE) + store("%c0, %c1", type_=WIDE)
    fault(body, STORE, "misaligned write: byte 260 of 'shared memory' is no multiple of 16", **ONE)


WIDE = f"memref<16x24xf32, {SMEM}>"


def test_memory_that_nothing_has_written():
    fault(ALLOC + load(), LOAD, "read of shared memory that nothing has written", **ONE)


def test_the_gap_between_rows_is_not_read():
    filled = (ALLOC + FILL + SYNC + load()).replace(TILE, WIDE)
    runs(filled)


# What all threads of a warp agree on


def test_threads_that_disagree_on_the_address():
    body = ALLOC + FILL + SYNC + "  %odd = arith.divui %lane, %c16 : index\n"
    body = body.replace(TILE, TALL) + load("%odd, %c0", type_=TALL)
    words = "expected one address in all threads of a warp (PTX ISA 9.7.14.4.3)"
    fault(body, LOAD, words, thread=(16, 0, 0), **ONE)
    body = (ALLOC + "  %odd = arith.divui %lane, %c16 : index\n").replace(TILE, TALL)
    words = "expected one address in all threads of a warp (PTX ISA 9.7.14.4.4)"
    fault(body + store("%odd, %c0", type_=TALL), STORE, words, thread=(16, 0, 0), **ONE)


TALL = f"memref<17x16xf32, {SMEM}>"


VIEW = "offset: [0], sizes: [%c16, %c16], strides: [%step, 1]"


def strided(stride: str) -> str:
    """A store to global memory with a stride that is known when it runs."""
    view = "memref<?x?xf32, strided<[?, 1]>>"
    return f"""
func.func @k(%p: memref<?xf32>, %n: index) attributes {{gpu.kernel}} {{
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %f0 = arith.constant 1.0 : f32
  %v = cute_nvgpu.fragment.splat %f0 : f32 -> {C}
  {stride}
  %g = memref.reinterpret_cast %p to {VIEW} : memref<?xf32> to {view}
{store(memory="%g", type_=view)}  func.return
}}"""


BUFFER = np.zeros(1024, np.float32)


@pytest.mark.parametrize("stride, nearest", [(8, 16), (18, 20), (0, 16)])
def test_a_stride_that_is_illegal_when_it_runs(stride: int, nearest: int):
    text = strided("%step = arith.addi %n, %c0 : index")
    fault("", STORE, f"expected a stride of at least 16 and a multiple of 4 (a row on 16 bytes), "
          f"got {stride}; nearest legal: {nearest}", "PTX ISA 9.7.14.4.2", text=text,
          args=[BUFFER, stride], **ONE)  # fmt: skip


@pytest.mark.parametrize("stride", [16, 20, 24, 40])
def test_a_stride_that_is_known_when_it_runs(stride: int):
    text = strided("%step = arith.addi %n, %c0 : index")
    expected = np.zeros(1024, np.float32)
    expected[: 16 * stride].reshape(16, stride)[:, :16] = 1
    for level in LEVELS:
        found = run(text, level, [BUFFER, stride], **ONE)[0]
        np.testing.assert_array_equal(found, expected)


def test_threads_that_disagree_on_the_stride():
    text = strided("""%even = arith.divui %t, %c16 : index
  %more = arith.muli %even, %c16 : index
  %step = arith.addi %n, %more : index""")
    words = "expected one stride in all threads of a warp (PTX ISA 9.7.14.4.4)"
    fault("", STORE, words, text=text, args=[BUFFER, 16], thread=(16, 0, 0), **ONE)


def test_part_of_a_warp():
    body = f"{ALLOC}  scf.if %first {{\n  {store()}  }}\n"
    fault(body, STORE, "needs all 32 threads of a warp, and 1 execute it", **ONE)


# Races


def test_a_load_of_what_the_warp_has_just_written():
    """Also of what a thread itself holds: PTX leaves it to the chip which that is."""
    fill = FILL.replace("BEFORE", "OTHER")
    fault(ALLOC + fill + load(), LOAD, "race on shared memory: this read and the write", **ONE)
    runs(ALLOC + FILL + SYNC + load())


@pytest.mark.parametrize("thread", range(0, 32, 5))
def test_a_load_of_what_one_thread_has_written(thread: int):
    fill = f"""
  %me = arith.constant {thread} : index
  %mine = arith.cmpi eq, %t, %me : index
  scf.if %mine {{
    scf.for %i = %c0 to %c16 step %c1 {{
      scf.for %j = %c0 to %c16 step %c1 {{
        memref.store %f0, %x[%i, %j] : {TILE} // OTHER
      }}
    }}
  }}
"""
    fault(ALLOC + fill + load(), LOAD, "race on shared memory: this read and the write", **ONE)
    runs(ALLOC + fill + SYNC + load())


def test_a_store_then_a_read():
    body = ALLOC + store(mark="OTHER")
    each = """  %row = arith.remui %t, %c16 : index
"""
    words = "race on shared memory: this read and the write"
    fault(body + each + read("%row, %c0"), "memref.load", words, **ONE)
    runs(body + each + SYNC + read("%row, %c0"))


def test_a_store_then_a_load():
    words = "race on shared memory: this read and the write"
    fault(ALLOC + store(mark="OTHER") + load(), LOAD, words, **ONE)
    runs(ALLOC + store(mark="OTHER") + SYNC + load())


@pytest.mark.parametrize("thread", range(0, 32, 5))
def test_a_load_then_a_write_by_one_thread(thread: int):
    body = ALLOC + FILL + SYNC + load().replace("HERE", "OTHER")
    write = f"""
  %me = arith.constant {thread} : index
  %mine = arith.cmpi eq, %t, %me : index
  scf.if %mine {{
    memref.store %f0, %x[%c0, %c0] : {TILE} // HERE
  }}
"""
    words = "race on shared memory: this write and the read"
    fault(body + write, "memref.store", words, thread=(thread, 0, 0), **ONE)
    runs(body + SYNC + write)


def test_two_warps_without_a_barrier():
    body = f"{ALLOC}  scf.if %low {{\n  {store(mark='OTHER')}  }}\n"
    fault(body + load(), LOAD, "race on shared memory: this read and the write")
    for level in LEVELS:
        run(kernel(body + BARRIER + load()), level, [np.zeros(64, np.int32)])
