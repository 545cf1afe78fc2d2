"""What only the interpreter sees of wgmma, and the rules that take kernels of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from faults import line_of
from run_levels import LEVELS
from test_wgmma_hazards import (
    BARRIER,
    CASE,
    COMMIT,
    FENCE,
    FIRST,
    HERE,
    OTHER,
    check,
    execute,
    kernel,
    lowered,
    m,
    module_of,
    wait,
)
from wgmma_kernels import SYNC, Tile, head, load_fragment, mma, splat, view

import tilewright as tw
from tilewright.source.diagnostic import OpError


def faults(text: str, *words: str, levels: tuple[str, ...] = LEVELS, **launch: Any) -> None:
    """Require an error at the marked line, with these words, at the levels."""
    line, other = line_of(text, HERE), line_of(text, OTHER)
    for level in levels:
        with pytest.raises(tw.ExecutionError) as caught:
            execute(text, level, **launch)
        message = str(caught.value)
        assert message.startswith(f"wgmma.mlir:{line}:"), message
        for word in words:
            assert word in message, message
        if other is not None:
            assert f"at wgmma.mlir:{other}" in message, message


def bare(text: str) -> str:
    """Without what fills shared memory."""
    return text.replace(CASE.a.fill(), "").replace(CASE.b.fill(), "")


# Whole warpgroups

LOW = "  %low = arith.cmpi ult, %t, %c64 : index\n"


@pytest.mark.parametrize("op", ["fence", "commit_group", "wait_group 0"])
def test_part_of_a_warpgroup_orders(op: str):
    body = LOW + f"  scf.if %low {{\n    cute_nvgpu.wgmma.{op} {HERE}\n  }}\n"
    faults(kernel(body), f"wgmma.{op.split()[0]} needs all 128 threads of a warpgroup, and 64 "
           "execute it")  # fmt: skip


def test_part_of_a_warpgroup_issues():
    body = (
        LOW + FENCE + "  scf.if %low {\n" + m(0, "%d_0", "%d_1", HERE) + COMMIT + wait() + "  }\n"
    )
    faults(kernel(body), "m64n8k16.f32.bf16.bf16 needs all 128 threads of a warpgroup, and 64")


def test_a_block_of_five_warps_has_one_warpgroup():
    text = bare(kernel("  cute_nvgpu.wgmma.fence " + HERE + "\n"))
    faults(text, "needs all 128 threads of a warpgroup, and 32 execute it", block=(160,))


def test_threads_disagree_on_a_descriptor():
    text = kernel(FENCE + m(0, "%d_0", "%d_1", HERE) + COMMIT + wait())
    mine = "  %bit = arith.andi %t, %c1 : index\n  %k0 = arith.muli %bit, %c8 : index\n"
    text = text.replace("  %k0 = arith.constant 0 : index\n", mine)
    text = text.replace("  %no =", "  %c8 = arith.constant 8 : index\n  %no =")
    faults(text, "expected one descriptor A in all threads of a warpgroup", "thread (1,0,0)")


def test_threads_disagree_on_scale_d():
    body = LOW + FENCE + m(0, "%d_0", "%d_1", HERE) + COMMIT + wait()
    text = kernel(body).replace("%d_0 <", "%d_0 scale_d %low <")
    text = text.replace("fragment<4xf32>) ->", "fragment<4xf32>, i1) ->")
    faults(text, "expected one scale-d in all threads of a warpgroup")


# Memory


def test_memory_that_nothing_has_written():
    text = kernel(FENCE + m(0, "%d_0", "%d_1", HERE) + COMMIT + wait())
    faults(text.replace(CASE.b.fill(), ""), "read of shared memory that nothing has written")


def test_a_descriptor_beyond_shared_memory():
    """At the ptx level a descriptor is a number."""
    module = lowered(bare(kernel(FIRST + COMMIT + wait())))
    ones = np.ones(64 * 64, ml_dtypes.bfloat16)
    (entry,) = module.body.block.ops
    entry.properties["shared"] = type(entry.shared)(8704, entry.shared.type)
    with pytest.raises(tw.ExecutionError, match="out of bounds: bytes 9200 to 9215 of shared"):
        tw.interpret(module, args=[ones, ones, np.zeros(128, np.float32)], grid=(1,),
                     block=(128,), arch="sm_90a")  # fmt: skip


def test_no_barrier_after_the_stores():
    text = kernel(FENCE + m(0, "%d_0", "%d_1", HERE) + COMMIT + wait(),
                  "  cute_nvgpu.fence.proxy.async\n")  # fmt: skip
    faults(text, "race on shared memory")


def test_a_fence_of_the_proxy_after_the_barrier():
    """The threads of other warps may not have come to their fences yet."""
    text = kernel(FENCE + m(0, "%d_0", "%d_1", HERE) + COMMIT + wait(),
                  BARRIER + "  cute_nvgpu.fence.proxy.async\n")  # fmt: skip
    faults(text, "no barrier follows the fence.proxy.async of its thread")


def test_others_execute_the_fence_of_the_proxy():
    fence = LOW + "  scf.if %low {\n    cute_nvgpu.fence.proxy.async\n  }\n"
    text = kernel(FENCE + m(0, "%d_0", "%d_1", HERE) + COMMIT + wait(), fence + BARRIER)
    faults(text, "no fence.proxy.async of its thread follows it")


def two_warpgroups(between: str, mark: str) -> str:
    """The first multiplies, the second writes what that reads."""
    store = f"    memref.store %bf, %a[%half, %half] : {CASE.a.memref} {mark}\n"
    late = "  %late = arith.cmpi uge, %t, %c192 : index\n  scf.if %late {\n" + store + "  }\n"
    mine = "  %mine = arith.cmpi ult, %t, %c128 : index\n  scf.if %mine {\n"
    issue = f"{FENCE}{m(0, '%d_0', '%d_1')}{COMMIT}{wait()}  }}\n"
    text = kernel(mine + issue + between + late).replace("step %c128", "step %c256")
    more = "".join(f"  %c{each} = arith.constant {each} : index\n" for each in (192, 256))
    return text.replace("  %no =", more + "  %no =")


def test_another_warpgroup_writes_without_a_barrier():
    faults(two_warpgroups("", HERE), "race on shared memory: this write and the read by",
           block=(256,))  # fmt: skip


def test_another_warpgroup_writes_behind_a_barrier():
    for level in LEVELS:
        execute(two_warpgroups(BARRIER, ""), level, block=(256,))


def test_the_warpgroup_itself_writes_after_the_wait():
    """A wgmma is complete for all of its threads, or for none."""
    store = f"  memref.store %bf, %a[%half, %half] : {CASE.a.memref}\n"
    late = "  %late = arith.cmpi uge, %t, %c64 : index\n  scf.if %late {\n" + store + "  }\n"
    for level in LEVELS:
        execute(kernel(FIRST + COMMIT + wait() + late), level)


def test_a_copy_into_what_is_read():
    copy = (
        "  %eight = arith.constant 8 : index\n  %row = arith.remui %t, %c64 : index\n"
        f"  cute_nvgpu.cp.async %ga[%c0] to %a[%row, %c0] size 16 cache cg : memref<?xbf16> to "
        f"{CASE.a.memref} {HERE}\n"
    )
    text = kernel(FIRST + COMMIT + copy + wait())
    with pytest.raises(OpError, match="expected memory that no wgmma reads"):
        check(text)
    faults(text, "write of shared memory that")


def test_a_copy_that_the_async_proxy_does_not_see():
    copy = (
        "  %row = arith.remui %t, %c64 : index\n  scf.if %first {\n"
        f"  cute_nvgpu.cp.async %ga[%c0] to %a[%row, %c0] size 16 cache cg : memref<?xbf16> to "
        f"{CASE.a.memref} {OTHER}\n  }}\n  cute_nvgpu.cp.async.commit_group\n"
        "  cute_nvgpu.cp.async.wait_group 0\n"
    )
    first = "  %first = arith.cmpi eq, %t, %c0 : index\n"
    text = kernel(
        FENCE + m(0, "%d_0", "%d_1", HERE) + COMMIT + wait(), SYNC + first + copy + BARRIER
    )
    with pytest.raises(OpError, match="expected memory that the async proxy sees"):
        check(text)
    faults(text, "no fence.proxy.async of its thread follows it")


# Descriptors of IR


def desc(tile: Tile, indices: str, type_: str) -> str:
    made = f"  %q = cute_nvgpu.make_smem_desc %x[{indices}] : {tile.memref} -> {type_} {HERE}\n"
    return tile.alloc() + made


def test_a_matrix_beyond_the_memref():
    tile = replace(CASE.a, name="x")
    faults(kernel(desc(tile, "%c64, %c0", CASE.a_view)), "out of bounds: expected at most 0, got "
           "index 64 in dimension 0", levels=("atom",))  # fmt: skip
    faults(kernel(desc(tile, "%c0, %c64", CASE.a_view)), "out of bounds: expected at most 48, got "
           "index 64 in dimension 1", levels=("atom",))  # fmt: skip


def test_a_matrix_that_begins_astride():
    """Rows 0 to 63 and 64 to 127 lie apart: a matrix cannot begin at row 3."""
    layout = "S<3,3,3> o 0 o ((64,2),64):((64,8192),1)"
    tile = Tile("x", (128, 64), layout, "bf16")
    faults(kernel(desc(tile, "%c3, %c0", CASE.a_view)), "expected a multiple of 64, as "
           "(64,2):(64,8192) has more than one stride, got index 3", levels=("atom",))  # fmt: skip


def test_a_matrix_that_begins_within_a_chunk():
    tile = replace(CASE.a, name="x")
    faults(kernel(desc(tile, "%c0, %c3", CASE.a_view)), "expected a multiple of 16 below 0x40000 "
           "for the matrix start address", levels=("atom",))  # fmt: skip


# The A fragment

REGISTERS = replace(CASE, a_fragment=True)


def fragment_kernel(body: str) -> str:
    """A kernel that multiplies A fragments of its first argument, [steps, threads, values]."""
    scalars = "  %c3 = arith.constant 3 : index\n  %k0 = arith.constant 0 : index\n"
    b = CASE.b.fill() + SYNC + CASE.b.desc("b0", CASE.b_view, "%c0", "%k0")
    return head(REGISTERS) + scalars + b + splat(CASE) + body + "  func.return\n}\n"


def a_in_a_loop(pending: int) -> str:
    """A loaded in every round of a loop, from another place each."""
    made = load_fragment(REGISTERS, 0).replace("muli %t, %fw0", "addi %t, %i")
    made = made.replace(f"-> {REGISTERS.a_type}", f"-> {REGISTERS.a_type} {HERE}")
    issue = mma(REGISTERS, 0, "%acc", "%d_1", OTHER)
    c = CASE.c_type
    return (
        f"  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %d_0) -> ({c}) {{\n{made}"
        f"{FENCE}{issue}{COMMIT}{wait(pending)}    scf.yield %d_1 : {c}\n  }}\n{wait()}"
    )


def carried(pending: int) -> str:
    """A loaded for the next round while this one's is multiplied."""
    first = load_fragment(REGISTERS, 0)
    after = load_fragment(replace(REGISTERS), 1)
    issue = mma(REGISTERS, 0, "%acc", "%d_1", OTHER).replace("%a0", "%af")
    c, a = CASE.c_type, REGISTERS.a_type
    return (
        f"{first}  %r, %s = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %d_0, %af = %a0) -> "
        f"({c}, {a}) {{\n{FENCE}{issue}{COMMIT}{after}{wait(pending)}"
        f"    scf.yield %d_1, %a1 : {c}, {a} {HERE}\n  }}\n{wait()}"
    )


def run_fragments(text: str, level: str) -> Any:
    module = module_of(text) if level == "atom" else lowered(text)
    a = np.arange(2 * 128 * 8).astype(ml_dtypes.bfloat16)
    args = [a, np.ones(8 * 64, ml_dtypes.bfloat16), np.zeros(128, np.float32)]
    return tw.interpret(module, args=args, grid=(1,), block=(128,), arch="sm_90a")


@pytest.mark.parametrize("pending", [0, 1])
@pytest.mark.parametrize("make", [a_in_a_loop, carried])
def test_a_fragment_is_kept_until_the_wait(make: Any, pending: int, ptxas: Any):
    """Where a round does not wait for the one before, the PTX has registers for two."""
    text = fragment_kernel(make(pending))
    check(text)
    outputs = [run_fragments(text, level) for level in LEVELS]
    np.testing.assert_array_equal(outputs[0][2], outputs[-1][2])
    report = ptxas(tw.compile(text, "sm_90a").ptx, "sm_90a")
    assert report.clean, report.output


# Shapes

SPARSE = "64x8x32, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss"


def sparse(c: str, d: str, mark: str = "") -> str:
    b = view(8, 32, "bf16", "S<3,3,3> o 0 o (8,32):(64,1)")
    c_type = CASE.c_type
    words = "!cute_nvgpu.fragment<1xi32>"
    e = "!cute_nvgpu.fragment<16xui2>"
    return (
        f"  %w32 = arith.constant 0x44444444 : i32\n"
        f"  %ew = cute_nvgpu.fragment.splat %w32 : i32 -> {words}\n"
        f"  %e = cute_nvgpu.fragment.cast %ew : {words} -> {e}\n"
        f"  %bs = cute_nvgpu.make_smem_desc %b[%c0, %c0] : {CASE.b.memref} -> {b}\n"
        f"  {d} = cute_nvgpu.sm90.sparse_mma %a0, %bs, {c}, %e[0] <{SPARSE}> : "
        f"({CASE.a_view}, {b}, {c_type}, {e}) -> {c_type} {mark}\n"
    )


def test_another_shape_waits():
    text = kernel(FIRST + sparse("%d_1", "%d_2", HERE) + COMMIT + wait())
    with pytest.raises(OpError, match="expected an accumulator of the same shape, or complete"):
        check(text)
    faults(text, "reads an accumulator of")


def test_another_shape_after_a_wait():
    text = kernel(FIRST + COMMIT + wait() + FENCE + sparse("%d_1", "%d_2") + COMMIT + wait())
    check(text)
    for level in LEVELS:
        execute(text, level)
