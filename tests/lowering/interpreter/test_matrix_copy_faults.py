"""What matrix copies may not touch: the runs of every shape, and of packed rows the data alone."""

from __future__ import annotations

import numpy as np
import pytest
from faults import SMEM, P, fault, kernel, run
from run_levels import LEVELS

ROWS = f"memref<64x16xui8, {SMEM}>"
SOURCE = "memref<64x16xui8>"
BYTES = np.arange(64 * 16, dtype=np.uint8).reshape(64, 16)
LOADS = {
    "b4": ("shape 8x16 src_fmt b4x16_p64", 4),
    "b4 trans": ("trans shape 16x16 src_fmt b4x16_p64", 8),
    "b6": ("shape 8x16 src_fmt b6x16_p32", 4),
    "b6 trans": ("trans shape 16x16 src_fmt b6x16_p32", 8),
    "b8 trans": ("trans shape 16x16", 8),
    "plain": ("", 4),
}
DATA = {"b4": 8, "b6": 12, "b8": 16, "plain": 16}
"""How many bytes of a row are looked at."""


def load(name: str, row: str = "%t", column: str = "%c0") -> str:
    form, count = LOADS[name]
    return (
        f"%f = cute_nvgpu.ldmatrix %h[{row}, {column}] {form} : {ROWS} "
        f"-> !cute_nvgpu.fragment<{count}xui8>"
    )


def copied(*runs: tuple[int, int]) -> str:
    """Copies of `size` bytes from column `at` on into every row, and a barrier behind them."""
    lines = [f"  %h = memref.alloc() : {ROWS}"]
    for at, size in runs:
        lines.append(f"  %at{at} = arith.constant {at} : index")
        lines.append(
            f"  cute_nvgpu.cp.async %p[%t, %at{at}] to %h[%t, %at{at}] size {size} cache "
            f"{'cg' if size == 16 else 'ca'} : {SOURCE} to {ROWS}"
        )
    return "\n".join(
        [
            *lines,
            "  cute_nvgpu.cp.async.commit_group",
            "  cute_nvgpu.cp.async.wait_group 0",
            '  "gpu.barrier"() : () -> ()',
        ]
    )


WRITTEN = {8: ((0, 8),), 12: ((0, 8), (8, 4)), 16: ((0, 16),)}


def faulty(body: str, op: str, *words: str, thread: tuple[int, int, int] | None = None) -> None:
    text = kernel(body, f"%p: {SOURCE}")
    fault("", op, *words, text=text, args=[BYTES], arch="sm_120a", thread=thread)


def fine(body: str) -> None:
    for level in LEVELS:
        run(kernel(body, f"%p: {SOURCE}"), level, [BYTES], arch="sm_120a")


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("name", LOADS)
def test_padding_need_not_be_written(name: str, written: int):
    body = f"{copied(*WRITTEN[written])}\n  {load(name)}"
    if DATA[name.split()[0]] <= written:
        fine(body)
        return
    words = "read of shared memory that nothing has written"
    faulty(f"{body} // HERE", "cute_nvgpu.ldmatrix", words, thread=(0, 0, 0))


@pytest.mark.parametrize("name", ["b4 trans", "b6 trans"])
def test_a_write_to_padding_is_no_race(name: str):
    """Threads of another warp copy to the second half of the rows, and no barrier orders it."""
    body = f"""{copied((0, 16))}
  %c8 = arith.constant 8 : index
  %row = arith.subi %t, %c32 : index
  scf.if %low {{
    {load(name)} // OTHER
  }} else {{
    cute_nvgpu.cp.async %p[%row, %c8] to %h[%row, %c8] size 8 cache ca : {SOURCE} to {ROWS} // HERE
    cute_nvgpu.cp.async.commit_group
    cute_nvgpu.cp.async.wait_group 0
  }}"""
    if name.startswith("b4"):
        fine(body)
    else:
        faulty(body, "cute_nvgpu.cp.async", "race on shared memory: this write and the read by")


OFF = """  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %is9 = arith.cmpi eq, %t, %c9 : index
  %off = arith.select %is9, %c8, %c0 : index
  %c100 = arith.constant 100 : index
  %gone = arith.select %is9, %c100, %t : index
"""


def used_threads(name: str) -> int:
    """How many threads give addresses for one matrix."""
    return 16 if "trans" in name else 8


@pytest.mark.parametrize("name", LOADS)
def test_thread_9_counts_where_a_matrix_has_16_runs(name: str):
    """A misaligned run of thread 9, and one that is not there."""
    misaligned = f"{copied((0, 16))}\n{OFF}  {load(name, column='%off')}"
    outside = f"{copied((0, 16))}\n{OFF}  {load(name, row='%gone')}"
    if used_threads(name) == 8:
        fine(misaligned)
        fine(outside)
        return
    words = ("misaligned read", "is no multiple of 16")
    faulty(f"{misaligned} // HERE", "cute_nvgpu.ldmatrix", *words, thread=(9, 0, 0))
    text = kernel(f"{outside} // HERE", f"%p: {SOURCE}")
    for level, said in (("atom", "index 100 of extent 64"), ("ptx", "read out of bounds")):
        fault("", "cute_nvgpu.ldmatrix", said, text=text, args=[BYTES], arch="sm_120a",
              levels=(level,), thread=(9, 0, 0))  # fmt: skip


def stored(count: int, row: str) -> str:
    held = f"!cute_nvgpu.fragment<{count}xui8>"
    words = f"!cute_nvgpu.fragment<{count // 4}xi32>"
    return f"""  %n = arith.index_cast %t : index to i32
  %words = cute_nvgpu.fragment.splat %n : i32 -> {words}
  %v = cute_nvgpu.fragment.cast %words : {words} -> {held}
  cute_nvgpu.stmatrix %v, %h[{row}, %c0] trans shape 16x8 : {held}, {ROWS} // HERE"""


def test_two_runs_of_a_store_in_one_place():
    """Threads 0 to 15 name the rows of two matrices; here rows 8 to 15 are rows 0 to 7 again."""
    same = """  %c8 = arith.constant 8 : index
  %row = arith.remui %t, %c8 : index
"""
    body = f"  %h = memref.alloc() : {ROWS}\n{same}"
    words = "race on shared memory: two threads of the op write one byte"
    faulty(body + stored(8, "%row"), "cute_nvgpu.stmatrix", words)
    # One matrix has 8 rows, and the second warp stores to others.
    apart = "  %place = arith.addi %row, %base : index\n"
    base = "  %base = arith.andi %t, %c32 : index\n"
    fine(body + base + apart + stored(4, "%place"))


def test_movmatrix_of_an_undefined_register():
    """Of PTX it is no error, as nothing depends on it."""
    held = "!cute_nvgpu.fragment<2xf16>"
    body = f"""  %none = ub.poison : {held}
  %f = cute_nvgpu.movmatrix %none : {held} -> {held} // HERE"""
    words = "use of an undefined register"
    fault(body, "cute_nvgpu.movmatrix", words, levels=("atom",))
    run(kernel(body), "ptx", [P])


@pytest.mark.parametrize("op", ["ldmatrix", "stmatrix"])
def test_an_undefined_address(op: str):
    """At the `ptx` level: an index of a memref is looked at before it becomes an address."""
    access = {
        "ldmatrix": "%f = ptx.ldmatrix %none, 0 : !ptx.reg<b32>",
        "stmatrix": "ptx.stmatrix %none, 0, %v : !ptx.reg<b32>",
    }[op]
    text = f"""ptx.entry @k(%p: u64) shared 256 align 16 {{
  %none = ptx.undef : !ptx.reg<b32>
  %v = ptx.sreg "tid.x"
  {access} // HERE
  ptx.ret
}}"""
    fault("", f"ptx.{op}", "use of an undefined register", text=text, levels=("ptx",))
