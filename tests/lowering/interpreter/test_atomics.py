"""Atomic operations: what they compute, and what they order within a CTA and between CTAs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from faults import kernel, run
from numpy.random import default_rng
from numpy.testing import assert_array_equal
from run_levels import LEVELS, at_levels

import tilewright as tw
from tilewright.lowering.interpreter.machine.combined_words import CombinedWords
from tilewright.lowering.interpreter.machine.word_accesses import Readers

SEEDS = (None, 0, 1)
BARRIER = '"gpu.barrier"() : () -> ()'
P = "memref<?xi32>"
SMEM = "memref<64xi32, #cute<space smem>>"


def atomic(
    result: str, kind: int, value: str, where: str, memref: str = P, type_: str = "i32"
) -> str:
    memory, index = where.rstrip("]").split("[")
    return (
        f'{result} = "memref.atomic_rmw"({value}, {memory}, {index}) <{{kind = {kind} : i64}}> '
        f": ({type_}, {memref}, index) -> {type_}"
    )


KINDS = {
    (1, "i32"): lambda a, b: a + b, (2, "i32"): lambda a, b: b, (4, "i32"): max,
    (7, "i32"): min, (11, "i32"): lambda a, b: a | b, (12, "i32"): lambda a, b: a & b,
    (15, "i32"): lambda a, b: a ^ b,
}  # fmt: skip


@at_levels()
def test_each_operation(level: Any):
    """One thread each, on numbers of both signs."""
    for (kind, type_), compute in KINDS.items():
        body = f"""  %v = memref.load %q[%t] : {P}
  {atomic("%old", kind, "%v", "%p[%t]", type_=type_)}
  memref.store %old, %q[%t] : {P}"""
        rng = default_rng(kind)
        a, b = (rng.integers(-100, 100, 64).astype(np.int32) for _ in range(2))
        after, old = run(kernel(body, f"%p: {P}, %q: {P}"), level, [a, b])
        assert_array_equal(old, a)
        assert_array_equal(after, [compute(x, y) for x, y in zip(a, b, strict=True)])


@pytest.mark.parametrize("kind, expected", [(5, 2**32 - 1), (8, 3)])
def test_unsigned_extremes(kind: int, expected: int):
    body = f"""  %v = memref.load %p[%c1] : {P}
  scf.if %first {{
    {atomic("%old", kind, "%v", "%p[%c0]")}
  }}"""
    for level in LEVELS:
        (found,) = run(kernel(body), level, [np.array([3, 2**32 - 1], np.uint32)])
        assert found[0] == expected


@at_levels()
def test_sums_of_floats_round_one_by_one(level: Any):
    text = kernel("  %v = memref.load %q[%t] : memref<?xf32>\n  "
                  + atomic("%old", 0, "%v", "%p[%c0]", "memref<?xf32>", "f32"),
                  "%p: memref<?xf32>, %q: memref<?xf32>")  # fmt: skip
    values = default_rng(0).standard_normal(64).astype(np.float32)
    expected = np.float32(0)
    for value in values:
        expected = np.float32(expected + value)
    assert run(text, level, [np.zeros(1, np.float32), values])[0][0] == expected


@at_levels()
@pytest.mark.parametrize(
    "type_, count", [("f32", 1), ("f32", 2), ("f32", 4), ("f16", 2), ("f16", 8)]
)
def test_floats_side_by_side(level: Any, type_: str, count: int):
    """Each is added as if alone; f32 have no subnormal numbers."""
    dtype = np.dtype({"f32": np.float32, "f16": np.float16}[type_])
    names = ", ".join(f"%v{i}" for i in range(count))
    loads = "".join(f"""  %c{i}x = arith.constant {i} : index
  %i{i} = arith.addi %at, %c{i}x : index
  %v{i} = memref.load %q[%i{i}] : memref<?x{type_}>
""" for i in range(count))  # fmt: skip
    text = kernel(
        f"""  %count = arith.constant {count} : index
  %at = arith.muli %t, %count : index
{loads}  %size = arith.constant {dtype.itemsize} : index
  %far = arith.muli %at, %size : index
  %far64 = arith.index_cast %far : index to i64
  %base = cute_nvgpu.address %p : memref<?x{type_}> -> i64
  %a = arith.addi %base, %far64 : i64
  cute_nvgpu.address.reduce "relaxed.gpu" {names} to %a + 0
    : i64, {", ".join([type_] * count)}""",
        f"%p: memref<?x{type_}>, %q: memref<?x{type_}>",
    )
    a, b = default_rng(0).standard_normal((2, 64 * count)).astype(dtype)
    a[:3], b[:3] = 0, np.finfo(dtype).smallest_subnormal
    want = a + b
    if type_ == "f32":
        want[:3] = 0
    assert_array_equal(run(text, level, [a, b])[0], want)


@at_levels()
@pytest.mark.parametrize("seed", SEEDS)
def test_threads_of_many_ctas_take_numbers(level: Any, seed: int | None):
    """Each of 192 threads gets another ticket, in shared and in global memory."""
    body = f"""  %b = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %c64 = arith.constant 64 : index
  {atomic("%ticket", 1, "%one", "%p[%c0]")}
  %at = arith.index_cast %ticket : i32 to index
  %mine = arith.index_cast %t : index to i32
  memref.store %mine, %q[%at] : {P}"""
    text = kernel(body, f"%p: {P}, %q: {P}")
    args = [np.zeros(1, np.int32), np.full(192, -1, np.int32)]
    count, found = run(text, level, args, grid=(3,), schedule=seed)
    assert count[0] == 192 and sorted(found.tolist()) == sorted(list(range(64)) * 3)


@pytest.mark.usefixtures("unchecked")
@at_levels()
def test_a_counter_in_shared_memory(level: Any):
    body = f"""  %zero = arith.constant 0 : i32
  scf.if %first {{
    memref.store %zero, %s[%c0] : {SMEM}
  }}
  {BARRIER}
  {atomic("%old", 1, "%one", "%s[%c0]", SMEM)}
  {BARRIER}
  %v = memref.load %s[%c0] : {SMEM}
  memref.store %v, %p[%t] : {P}"""
    for seed in SEEDS:
        assert (run(kernel(body), level, [np.zeros(64, np.int32)], schedule=seed)[0] == 64).all()
        unordered = body[::-1].replace(BARRIER[::-1], "", 1)[::-1]
        with pytest.raises(tw.ExecutionError, match="race on shared memory"):
            run(kernel(unordered), level, [np.zeros(64, np.int32)], schedule=seed)


# CTA 0 writes %q and sets a flag; CTA 1 waits for the flag and reads.
FLAG = f"""  %b = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %zero = arith.constant 0 : i32
  %writes = arith.cmpi eq, %b, %c0 : index
  scf.if %writes {{
    %n = arith.index_cast %t : index to i32
    memref.store %n, %q[%t] : {P} // OTHER
    BEFORE
    scf.if %first {{
      SET
    }}
  }} else {{
    scf.if %first {{
      %seen = scf.while (%last = %zero) : (i32) -> (i32) {{
        GET
        %unset = arith.cmpi ne, %flag, %one : i32
        scf.condition(%unset) %flag : i32
      }} do {{
      ^bb0(%again: i32):
        scf.yield %again : i32
      }}
    }}
    AFTER
    %v = memref.load %q[%other] : {P} // HERE
    memref.store %v, %r[%t] : {P}
  }}"""
SET, GET = atomic("%was", 2, "%one", "%p[%c0]"), atomic("%flag", 11, "%zero", "%p[%c0]")


def flagged(before: str = BARRIER, after: str = BARRIER, set_: str = SET, get: str = GET) -> str:
    body = FLAG.replace("BEFORE", before).replace("AFTER", after)
    return kernel(body.replace("SET", set_).replace("GET", get), f"%p: {P}, %q: {P}, %r: {P}")


def arrays() -> list[np.ndarray]:
    return [np.zeros(1, np.int32), np.zeros(64, np.int32), np.zeros(64, np.int32)]


@at_levels()
@pytest.mark.parametrize("seed", SEEDS)
def test_a_flag_hands_on_what_a_cta_wrote(level: Any, seed: int | None):
    found = run(flagged(), level, arrays(), grid=(2,), schedule=seed)
    assert_array_equal(found[2], np.arange(64)[::-1])


@at_levels()
@pytest.mark.parametrize(
    "change, words",
    [({"before": ""}, "this read and the write"), ({"after": ""}, "this read and the write"),
     ({"set_": f"memref.store %one, %p[%c0] : {P}"}, "on global memory: this"),
     ({"get": f"%flag = memref.load %p[%c0] : {P}"}, "on global memory: this")],
)  # fmt: skip
def test_a_flag_without_one_of_its_parts(level: Any, change: dict[str, str], words: str):
    with pytest.raises(tw.ExecutionError, match=words):
        for seed in (None, 0, 1, 2):
            run(flagged(**change), level, arrays(), grid=(2,), schedule=seed)


@pytest.mark.usefixtures("impatient")
@at_levels()
def test_a_flag_that_nobody_sets(level: Any):
    text = flagged(set_=atomic("%was", 2, "%one", "%p[%c1]"))
    args = [np.zeros(2, np.int32), *arrays()[1:]]
    with pytest.raises(tw.ExecutionError, match="waits for what never comes"):
        run(text, level, args, grid=(2,))


@pytest.mark.usefixtures("impatient")
@at_levels()
@pytest.mark.parametrize("seed", [None, 0])
def test_a_flag_that_is_set_late(level: Any, seed: int | None):
    """A warp waits together for its thread that spins, however long."""
    work = f"""{BARRIER}
    %c150 = arith.constant 150 : index
    %y = scf.for %i = %c0 to %c150 step %c1 iter_args(%x = %one) -> (i32) {{
      %z = arith.addi %x, %x : i32
      scf.yield %z : i32
    }}"""
    found = run(flagged(before=work), level, arrays(), grid=(2,), schedule=seed)
    assert_array_equal(found[2], np.arange(64)[::-1])


# The last CTA to come adds what all have left: three CTAs, in two steps from one to the next.
LAST = f"""  %b = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %c64 = arith.constant 64 : index
  %c3 = arith.constant 3 : index
  %two = arith.constant 2 : i32
  %zero = arith.constant 0 : i32
  %row = arith.muli %b, %c64 : index
  %at = arith.addi %row, %t : index
  %n = arith.index_cast %at : index to i32
  memref.store %n, %q[%at] : {P}
  {BARRIER}
  scf.if %first {{
    {atomic("%came", 1, "%one", "%p[%c0]")}
    memref.store %came, %s[%c0] : {SMEM}
  }}
  {BARRIER}
  %came_before = memref.load %s[%c0] : {SMEM}
  %is_last = arith.cmpi eq, %came_before, %two : i32
  scf.if %is_last {{
    %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %zero) -> (i32) {{
      %start = arith.muli %i, %c64 : index
      %from = arith.addi %start, %t : index
      %v = memref.load %q[%from] : {P}
      %y = arith.addi %x, %v : i32
      scf.yield %y : i32
    }}
    memref.store %sum, %r[%t] : {P}
  }}"""


@at_levels()
@pytest.mark.parametrize("seed", SEEDS)
def test_the_last_cta_adds_what_all_have_left(level: Any, seed: int | None):
    args = [np.zeros(1, np.int32), np.zeros(192, np.int32), np.zeros(64, np.int32)]
    text = kernel(LAST, f"%p: {P}, %q: {P}, %r: {P}")
    found = run(text, level, args, grid=(3,), schedule=seed)
    assert_array_equal(found[2], 3 * np.arange(64) + 192)


def test_waves_of_ctas_know_of_each_other(monkeypatch: pytest.MonkeyPatch):
    from tilewright.lowering.interpreter.machine import grid

    monkeypatch.setattr(grid, "RESIDENT_THREADS", 1)
    test_the_last_cta_adds_what_all_have_left("atom", None)


@at_levels()
@pytest.mark.parametrize("kind, type_", [(9, "f32"), (0, "i32"), (1, "i16"), (3, "f32")])
def test_operations_that_ptx_has_not(level: Any, kind: int, type_: str):
    body = f"""  %v = memref.load %p[%c0] : memref<?x{type_}>
  {atomic("%old", kind, "%v", "%p[%c0]", f"memref<?x{type_}>", type_)}"""
    array = np.zeros(4, np.float32 if type_ == "f32" else np.dtype(f"int{type_[1:]}"))
    with pytest.raises(tw.CompileError, match=rf"'memref.atomic_rmw' .*kind {kind} "):
        run(kernel(body, f"%p: memref<?x{type_}>"), level, [array])


@at_levels()
def test_atomics_on_one_word_look_at_as_many_accesses_each(
    level: Any, monkeypatch: pytest.MonkeyPatch
):
    """However many came to the word before: reductions race with none of those, and all of an op
    look once."""
    looked: list[int] = []
    reads = Readers.of

    def counted(self: Readers, places: Any) -> Any:
        looked.append(sum(len(places) for places, _ in self._log))
        return reads(self, places)

    monkeypatch.setattr(Readers, "of", counted)
    add = atomic("%old", 1, "%one", "%p[%c0]")
    text = kernel(add)
    sums: list[int] = []
    for ctas in (1, 4):
        looked.clear()
        (found,) = run(text, level, [np.zeros(1, np.int32)], grid=(ctas,))
        assert (int(found[0]), len(looked)) == (64 * ctas, 1)
        sums.append(sum(looked))
    assert sums == [0, 0]
    # A store that is none has to look at all of them, and races with them but for a barrier.
    store = f"  scf.if %first {{\n    memref.store %one, %p[%c0] : {P}\n  }}"
    looked.clear()
    run(kernel("\n".join([add, BARRIER, store])), level, [np.zeros(1, np.int32)])
    assert max(looked) >= 62
    with pytest.raises(tw.ExecutionError, match=r"race on global memory: this write and the .* by"):
        run(kernel("\n".join([add, store])), level, [np.zeros(1, np.int32)])


@pytest.mark.covered
@pytest.mark.parametrize("order", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("operation, scope", [("add", "gpu"), ("max", "gpu"), ("add", "cta")])
@pytest.mark.parametrize("after", ["", "ld.global.u32 %r5, [%rd1];\n"])
def test_turns_on_words_are_as_those_in_memory(
    monkeypatch: pytest.MonkeyPatch, order: str, operation: str, scope: str, after: str
):
    """What threads get, and the races that they are in: the last one reads what all have left."""
    text = f""".version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {{
.reg .pred %p<2>;
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
ld.param.u64 %rd1, [p];
ld.param.u64 %rd2, [q];
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mad.lo.u32 %r3, %r2, 64, %r1;
mad.wide.u32 %rd3, %r3, 4, %rd2;
st.global.u32 [%rd3], %r3;
and.b32 %r4, %r3, 1;
mad.wide.u32 %rd4, %r4, 8, %rd1;
atom.{order}.{scope}.global.{operation}.u32 %r5, [%rd4], 1;
st.global.u32 [%rd3+1024], %r5;
{after}mad.lo.u32 %r7, %r4, 512, %r5;
setp.ne.u32 %p1, %r7, 127;
@%p1 bra DONE;
ld.global.u32 %r6, [%rd2];
DONE:
ret;
}}
"""
    ends = list[Any]()
    for _ in range(2):
        try:
            arrays = [np.zeros(4, np.uint32), np.zeros(512, np.uint32)]
            ends.append(
                [x.tolist() for x in tw.interpret(text, "k", grid=(4,), block=(64,), args=arrays)]
            )
        except tw.ExecutionError as error:
            ends.append(str(error))
        monkeypatch.setattr(CombinedWords, "of", lambda *_: None)
    assert ends[0] == ends[1]
    assert isinstance(ends[0], str) == bool(
        after or scope == "cta" or (operation == "add" and order != "acq_rel")
    )
