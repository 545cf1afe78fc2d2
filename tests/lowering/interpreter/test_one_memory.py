"""Arguments that overlap are one memory, at every level: what is written through one of them is
read through another, races among them are races, and what may not be written is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from faults import fault, kernel, run
from run_levels import at_levels
from test_mbarriers import BOX, EXPECT, LOAD, MAP, STORE, WAIT, made
from test_memory_order import HANDED_ON, PROXY

import tilewright as tw

TWO = "%p: memref<?xi32>, %q: memref<?xi32>"
PASSED_ON = """  scf.if %first {
    memref.store %one, %p[%c0] : memref<?xi32>
    %v = memref.load %q[%c0] : memref<?xi32>
    memref.store %v, %q[%c1] : memref<?xi32>
  }"""


@at_levels("tile", "atom", "ptx")
def test_one_array_twice(level: Any):
    array = np.zeros(4, np.int32)
    for q in (array, array[:], array.view(np.uint32)):
        for found in run(kernel(PASSED_ON, TWO), level, [array, q]):
            assert found.tolist() == [1, 1, 0, 0]
    assert not array.any()


@at_levels("tile", "atom", "ptx")
def test_views_that_overlap(level: Any):
    """Whichever of them comes first, and through others that both overlap."""
    array = np.arange(8, dtype=np.int32)
    q, p = run(kernel(PASSED_ON, TWO.replace("%p", "%o").replace("%q", "%p").replace("%o", "%q")),
               level, [array[1:5], array[:3]])  # fmt: skip
    assert (p.tolist(), q.tolist()) == ([1, 1, 1], [1, 1, 3, 4])
    text = kernel(PASSED_ON.replace("%q[%c1]", "%r[%c0]"), f"{TWO}, %r: memref<?xi32>")
    first, second, both = run(text, level, [array[:3], array[3:6], array[2:5]])
    assert (first.tolist(), second.tolist(), both.tolist()) == ([1, 1, 3], [3, 4, 5], [3, 3, 4])


@at_levels("tile", "atom", "ptx")
def test_arrays_that_meet_nowhere_stay_apart(level: Any):
    """Neighbours, and one without elements: an access out of one does not reach the other."""
    array = np.zeros(8, np.int32)
    p, q = run(kernel(PASSED_ON, TWO), level, [array[:2], array[2:]])
    assert (p.tolist(), q.tolist()) == ([1, 0], [0, 0, 0, 0, 0, 0])
    for p, q in ((array[2:2], array), (array, array[2:2])):
        with pytest.raises(tw.ExecutionError, match=r"out of bounds: .* which has 0"):
            run(kernel(PASSED_ON, TWO), level, [p, q])


@at_levels("tile", "atom", "ptx")
def test_elements_of_other_types(level: Any):
    """A byte of a word, and a number that is an array without dimensions."""
    body = """  scf.if %first {
    %v = memref.load %b[%c1] : memref<?xi8>
    memref.store %v, %b[%c0] : memref<?xi8>
    %w = memref.load %n[] : memref<i32>
    memref.store %w, %q[%c1] : memref<?xi32>
  }"""
    words = np.array([0x0201, 7], np.int32)
    args = [words, words[:1].view(np.int8), words[:1].reshape(())]
    text = kernel(body, "%q: memref<?xi32>, %b: memref<?xi8>, %n: memref<i32>")
    q, b, n = run(text, level, args)
    assert (q.tolist(), b.tolist(), n.tolist()) == ([0x0202, 0x0202], [2, 2, 0, 0], 0x0202)


@at_levels("tile", "atom", "ptx")
def test_races_under_two_names(level: Any):
    """What is apart in one array, and what is not in two views of it."""
    body = """  %v = memref.load %q[%t] : memref<?xi32>
  BARRIER
  memref.store %v, %p[%t] : memref<?xi32>"""
    array = np.arange(96, dtype=np.int32)
    ordered = kernel(body.replace("BARRIER", '"gpu.barrier"() : () -> ()'), TWO)
    p, q = run(ordered, level, [array[:64], array[1:65]])
    assert (p == np.arange(1, 65)).all() and (q[:63] == p[1:]).all() and q[63] == 64
    racing = kernel(body.replace("BARRIER", ""), TWO)
    run(racing, level, [array[:64], array[:64]])
    run(racing, level, [array[:64], np.arange(64, dtype=np.int32)])
    with pytest.raises(tw.ExecutionError, match="race on global memory: this write and the read"):
        run(racing, level, [array[:64], array[1:65]])


# Tensor maps


def boxed(array: np.ndarray) -> tw.TensorMap:
    return tw.TensorMap(array, box=(8, 16), swizzle=64)


@at_levels("tile", "atom", "ptx")
def test_a_copy_reads_through_a_map_what_threads_wrote_behind_a_fence(level: Any):
    """Of those who wrote, or of the one who copies; the map may begin elsewhere."""
    array = np.zeros((64, 32), np.int32)
    read = f"""
  %v = memref.load %x[%c0, %c1] : {BOX}
  scf.if %first {{
    memref.store %v, %p[%c0] : memref<?xi32>
  }}"""
    text = made(HANDED_ON.replace("%one", "%odd") + read).replace(
        "  memref.store %odd", "  %seven = arith.constant 7 : i32\n  memref.store %seven"
    )
    for whole in (array, array[8:]):
        for before, after in ((PROXY, ""), ("", PROXY)):
            ordered = text.replace("BEFORE", before).replace("AFTER", after)
            args = [array.reshape(-1)[:64], boxed(array)]
            found, _ = run(ordered, level, args)
            assert (found == 7).all()
        args = [whole.reshape(-1)[:64], boxed(whole)]
        with pytest.raises(tw.ExecutionError, match=r"reads by the async proxy what .* no fence\."):
            run(text.replace("BEFORE", "").replace("AFTER", ""), level, args)
        # Nobody wrote what the map shows.
        run(text.replace("BEFORE", "").replace("AFTER", ""), level, [args[0], boxed(array[32:])])


@at_levels("tile", "atom", "ptx")
def test_a_copy_through_one_map_and_another_one_back(level: Any):
    """A box that was loaded from the middle of an array is stored over its beginning."""
    two = f"%p: memref<?xi32>, %m: {MAP}, %n: {MAP}"
    body = f"""  scf.if %first {{
    {EXPECT}
    {LOAD}
  }}
  {WAIT}
  scf.if %first {{
    {STORE.replace("%m", "%n")}
    cute_nvgpu.cp.async.bulk.commit_group
    DONE
    %v = memref.load %p[%c1] : memref<?xi32>
    memref.store %v, %p[%c63] : memref<?xi32>
    AT END
  }}"""
    text = made(body).replace(f"%p: memref<?xi32>, %m: {MAP}", two)
    array = np.arange(64 * 16, dtype=np.int32).reshape(64, 16)
    args = [array.reshape(-1), boxed(array[16:]), boxed(array)]
    wait = "cute_nvgpu.cp.async.bulk.wait_group 0"
    waited = text.replace("DONE", wait).replace("AT END", "")
    whole, lower, upper = run(waited, level, args)
    want = array.copy()
    want[:8] = array[16:24]
    want[3, 15] = array[16, 1]
    assert (upper == want).all() and (lower == want[16:]).all()
    assert (whole == want.reshape(-1)).all()
    with pytest.raises(tw.ExecutionError, match="race on global memory: this read and the write"):
        run(text.replace("DONE", "").replace("AT END", wait), level, args)


def test_a_map_of_an_address_that_is_not_aligned():
    array = np.zeros(8 * 16 + 4, np.int32)
    map_ = boxed(array[1 : 8 * 16 + 1].reshape(8, 16))
    run(made(""), "atom", [np.zeros(64, np.int32), map_])
    with pytest.raises(tw.ExecutionError, match="'m' expected an address of whole 16 bytes"):
        run(made(""), "atom", [array, map_])


# What is not one memory


@at_levels("tile", "atom", "ptx")
def test_a_bare_pointer_is_to_what_is_contiguous(level: Any):
    """A copy of an array with other strides may stand for it as long as nobody sees a second one:
    not where another argument overlaps it, or two of its elements are one."""
    array = np.zeros((4, 4), np.int32)
    text = kernel(PASSED_ON, TWO)
    p, q = run(text, level, [array[:, 1], array[::-1].copy()[::-1].reshape(-1)])
    assert (p.tolist(), q[:2].tolist()) == ([1, 0, 0, 0], [0, 0])
    assert run(text, level, [np.arange(4, dtype=np.int32)[::-1], array])[0].tolist() == [1, 2, 1, 0]
    one = np.lib.stride_tricks.as_strided(array, (8,), (0,))
    spread = np.broadcast_to(array[0, :1], (8,))
    reading = text.replace("memref.store %v, %q", "memref.store %v, %p")
    assert run(reading, level, [np.ones(4, np.int32), spread])[0].tolist() == [1, 0, 1, 1]
    with pytest.raises(tw.ExecutionError, match="which is read-only"):
        run(text, level, [spread, array.copy()])
    for args, why in (
        ([array[:, 1], array], r"'p' expected a C-contiguous array .*shares memory with p / q\)"),
        ([array.reshape(-1)[::-1], array], r"'p' expected .*shares memory with p / q\)"),
        ([one, np.zeros(4, np.int32)], r"'p' expected .*overlaps itself\); nearest legal: a copy"),
    ):
        with pytest.raises(tw.ExecutionError, match=why):
            run(text, level, args)


@at_levels("tile", "atom", "ptx")
def test_threads_that_write_one_element(level: Any):
    """Of a tensor with a stride of zero; equal values may meet."""
    body = """  %i = arith.index_cast %t : index to i32
  memref.store %WHAT, %p[%c0] : memref<?xi32>"""
    assert run(kernel(body.replace("WHAT", "one")), level, [np.zeros(1, np.int32)])[0][0] == 1
    with pytest.raises(tw.ExecutionError, match="two threads of the op write one element"):
        run(kernel(body.replace("WHAT", "i")), level, [np.zeros(1, np.int32)])


# One op, several arguments

BY_PARITY = """  %a = cute_nvgpu.address %p : memref<?xi32> -> i64
  %b = cute_nvgpu.address %q : memref<?xi32> -> i64
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %half = arith.divui %t, %c2 : index
  %bytes = arith.muli %half, %c4 : index
  %at = arith.index_cast %bytes : index to i64
  %parity = arith.andi %t, %c1 : index
  %even = arith.cmpi eq, %parity, %c0 : index
  %base = arith.select %even, %a, %b : i64
  %to = arith.addi %base, %at : i64
  %i = arith.index_cast %t : index to i32
  cute_nvgpu.address.store %i to %to + 0 : i32 to i64 // HERE"""


@pytest.mark.parametrize("races", ["error", "ignore"])
def test_threads_of_a_store_write_two_arguments(races: Any):
    """A fault names the thread whose address it is."""
    text, write = kernel(BY_PARITY, TWO), "cute_nvgpu.address.store"
    for level in ("atom", "ptx"):
        p, q = run(text, level, [np.zeros(32, np.int32) for _ in "pq"], races=races)
        assert (p == np.arange(0, 64, 2)).all() and (q == np.arange(1, 64, 2)).all()
    whole, part, fixed = np.zeros(32, np.int32), np.zeros(5, np.int32), np.zeros(32, np.int32)
    fixed.flags.writeable = False
    for args, thread, why in (
        ([whole, part], 11, "write out of bounds: bytes 20 to 23 of 'q'"),
        ([part, whole], 10, "write out of bounds: bytes 20 to 23 of 'p'"),
        ([whole, fixed], 1, "got byte 0 of 'q', which is read-only"),
    ):
        fault("", write, why, thread=(thread, 0, 0), text=text, args=args, races=races)


def test_races_of_threads_of_a_store_to_two_arguments():
    read = f"  %v = memref.load %q[%half] : memref<?xi32>\n{BY_PARITY.splitlines()[-1]}"
    text = kernel(BY_PARITY.replace(BY_PARITY.splitlines()[-1], read), TWO)
    args = [np.full(32, -1, np.int32) for _ in "pq"]
    fault("", "cute_nvgpu.address.store", "this write and the read by", text=text, args=args)


# What may not be written


@at_levels("tile", "atom", "ptx")
def test_an_array_that_is_read_only(level: Any):
    """It may be read; what an argument that may be written shows of it is that one's."""
    array = np.zeros(4, np.int32)
    fixed = array[:]
    fixed.flags.writeable = False
    text = kernel(PASSED_ON, TWO)
    assert run(text, level, [array, fixed])[1].tolist() == [1, 1, 0, 0]
    own = np.zeros(4, np.int32)
    reading = text.replace("memref.store %v, %q", "memref.store %v, %p")
    found, kept = run(reading, level, [own, fixed])
    assert (found.tolist(), kept.tolist()) == ([1, 0, 0, 0], [0, 0, 0, 0])
    for args, byte in (([fixed, own], "byte 0 of 'p'"), ([own, fixed], "byte 4 of 'q'"),
                       ([array[:1], fixed], "byte 4 of 'p / q'")):  # fmt: skip
        with pytest.raises(tw.ExecutionError, match="expected an array that may be wri") as caught:
            run(text, level, args)
        assert f"got {byte}, which is read-only" in str(caught.value)


FILL = f"""  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %inside = arith.cmpi ult, %t, %c8 : index
  scf.if %inside {{
    scf.for %i = %c0 to %c16 step %c1 {{
      memref.store %one, %x[%t, %i] : {BOX}
    }}
    {PROXY}
  }}
  "gpu.barrier"() : () -> ()
"""


@at_levels("tile", "atom", "ptx")
@pytest.mark.parametrize("races", ["error", "ignore"])
def test_atomics_and_copies_write(level: Any, races: Any):
    fixed = np.zeros((32, 32), np.int32)
    fixed.flags.writeable = False
    add = '"memref.atomic_rmw"(%z, %p, %t) <{kind = 2 : i64}> : (i32, memref<?xi32>, index) -> i32'
    body = f"  %z = arith.constant 0 : i32\n  %v = {add}"
    bulk = "cute_nvgpu.cp.async.bulk"
    groups = f"{bulk}.commit_group\n    {bulk}.wait_group 0"
    store = f"  scf.if %first {{\n    {STORE}\n    {groups}\n  }}"
    own = np.zeros(64, np.int32)
    for text, args in (
        (kernel(body), [fixed.reshape(-1)]),
        (made(FILL + store), [own, boxed(fixed)]),
    ):
        with pytest.raises(tw.ExecutionError, match="which is read-only"):
            run(text, level, args, races=races)
