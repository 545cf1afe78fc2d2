"""The rules of wgmma, asked twice: `cute-nvgpu-check-hazards` and the interpreter agree on kernels.

`// HERE` stands on the line of the op that breaks a rule, `// OTHER` on that of the op it breaks it
with. A row without a rule is right, and both accept it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from faults import line_of
from wgmma_kernels import SYNC, Case, descriptors, head, k_major, mma, splat

import tilewright as tw
from tilewright.lowering.to_ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtxPass
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.passes.synthesize_layouts import SynthesizeLayoutsPass
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import default_context, parse_module
from tilewright.source.verification import verify

CASE = k_major("bf16", 8, 16, 16)
BYTES = k_major("si8", 8, 32, 8, "i8")
FENCE = "  cute_nvgpu.wgmma.fence\n"
COMMIT = "  cute_nvgpu.wgmma.commit_group\n"
BARRIER = '  "gpu.barrier"() : () -> ()\n'
HERE, OTHER = "// HERE", "// OTHER"


def wait(pending: int = 0) -> str:
    return f"  cute_nvgpu.wgmma.wait_group {pending}\n"


def m(step: int, c: str, d: str, mark: str = "") -> str:
    return mma(CASE, step, c, d, mark)


def read(value: str, mark: str = "", case: Case = CASE) -> str:
    name = value.removeprefix("%")
    scalar = case.accumulator
    return (
        f"  %e_{name} = cute_nvgpu.fragment.extract {value}[0] : {case.c_type} -> {scalar} {mark}\n"
        f"  memref.store %e_{name}, %out[%t] : memref<?x{scalar}>\n"
    )


def write(tile: str, mark: str = "") -> str:
    memref = CASE.a.memref if tile == "a" else CASE.b.memref
    return f"  memref.store %bf, %{tile}[%c0, %half] : {memref} {mark}\n"


def loop(body: str, init: str = "%d_0", result: str = "%r", passed: str = "%d_1") -> str:
    c = CASE.c_type
    return (
        f"  {result} = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = {init}) -> ({c}) {{\n"
        f"{body}    scf.yield {passed} : {c} {{mark}}\n  }}\n"
    ).replace("{mark}", "")


def when(condition: str, body: str) -> str:
    return f"  scf.if {condition} {{\n{body}  }}\n"


def fill(case: Case, marks: bool) -> str:
    text = case.a.fill() + case.b.fill()
    if not marks:
        return text
    stored = f"memref.store %v, %a[%r, %c] : {case.a.memref}"
    return text.replace(stored, f"{stored} {OTHER}")


def kernel(body: str, sync: str = SYNC, *, marks: bool = False, case: Case = CASE) -> str:
    scalars = """
  %no = arith.constant false
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %half = arith.remui %t, %c64 : index
"""
    value = "  %bf = arith.constant 1.0 : bf16\n" if case is CASE else ""
    made = "".join(descriptors(case, step) for step in range(2))
    return (
        head(case) + scalars + value + fill(case, marks) + sync + splat(case)
        + splat(case).replace("%d_0", "%f_0") + made + body + f"  func.return {END}\n}}\n"
    )  # fmt: skip


END = "// END"


@dataclass(frozen=True)
class Row:
    """A kernel; what is wrong with it in words of the check, and in words of the interpreter, which
    may see it earlier at the ptx level: at OTHER, where registers are `copied` in flight."""

    name: str
    body: str
    static: str = ""
    dynamic: str = ""
    sync: str = SYNC
    marks: bool = False
    copied: str = ""

    @property
    def text(self) -> str:
        text = kernel(self.body, self.sync, marks=self.marks)
        return text if HERE in text else text.replace(END, HERE)


IN_FLIGHT = "which no wgmma.wait_group has completed"
FIRST = FENCE + m(0, "%d_0", "%d_1", OTHER)
ACCUMULATE = m(0, "%acc", "%d_1", OTHER)
FRESH = f"""
  %lv = memref.load %out[%t] : memref<?xf32>
  %g_0 = cute_nvgpu.fragment.splat %lv : f32 -> {CASE.c_type} {OTHER}
"""
GOOD = (
    Row("one wgmma", FIRST + COMMIT + wait() + read("%d_1")),
    Row("a chain", FIRST + m(1, "%d_1", "%d_2") + COMMIT + wait() + read("%d_2")),
    Row("groups of a chain", FIRST + COMMIT + m(1, "%d_1", "%d_2") + COMMIT + wait()
        + read("%d_2")),
    Row("the older of two groups", FIRST + COMMIT + m(1, "%f_0", "%f_1") + COMMIT + wait(1)
        + read("%d_1") + wait() + read("%f_1")),
    Row("a complete result goes on without a fence", FIRST + COMMIT + wait()
        + m(1, "%d_1", "%d_2") + COMMIT + wait() + read("%d_2")),
    Row("two accumulators in turn", FENCE + f"""
  %r:2 = scf.for %i = %c0 to %c3 step %c1
      iter_args(%p = %d_0, %q = %f_0) -> ({CASE.c_type}, {CASE.c_type}) {{
{m(0, "%q", "%n1")}    scf.yield %n1, %p : {CASE.c_type}, {CASE.c_type}
  }}
""" + COMMIT + wait() + read("%r#0").replace("e_r#0", "e_r")),
    Row("a loop with all in flight", FENCE + loop(ACCUMULATE) + COMMIT + wait() + read("%r")),
    Row("a loop that waits for the last round", FENCE
        + loop(ACCUMULATE + COMMIT + wait(1)) + wait() + read("%r")),
    Row("a fence in the loop", loop(FENCE + ACCUMULATE + COMMIT) + wait() + read("%r")),
    Row("written after the wait", FIRST + COMMIT + wait() + BARRIER + write("a")),
    Row("written in the next round", loop(
        "  cute_nvgpu.fence.proxy.async\n" + BARRIER + FENCE + ACCUMULATE + COMMIT + wait()
        + BARRIER + write("a")) + read("%r")),
    Row("a branch that waits, and waits again", FIRST + COMMIT + when("%no", wait()) + wait()
        + read("%d_1")),
    Row("of two buffers one is written", FIRST.replace(" %a0,", " %a1,") + COMMIT
        + "  memref.store %bf, %a[%c0, %k0] : " + CASE.a.memref + "\n" + wait()),
)  # fmt: skip
BAD = (
    Row("read before the wait", FIRST + COMMIT + read("%d_1", HERE),
        "expected an accumulator that is complete", "reads an accumulator of"),
    Row("waited for, not committed", FIRST + wait() + read("%d_1", HERE),
        "expected an accumulator that is complete", "reads an accumulator of"),
    Row("waited for another group", FIRST + COMMIT + wait(1) + read("%d_1", HERE),
        "expected an accumulator that is complete", "reads an accumulator of"),
    Row("the younger of two groups", FENCE + m(0, "%d_0", "%d_1") + COMMIT
        + m(1, "%f_0", "%f_1", OTHER) + COMMIT + wait(1) + read("%f_1", HERE),
        "expected an accumulator that is complete", "reads an accumulator of"),
    Row("a branch may wait", FIRST + COMMIT + when("%no", wait()) + read("%d_1", HERE),
        "expected an accumulator that is complete", "reads an accumulator of"),
    Row("read in the next round", FENCE + loop(read("%acc", HERE) + ACCUMULATE + COMMIT) + wait(),
        "expected an accumulator that is complete", "reads an accumulator of"),
    Row("read after the loop", FENCE + loop(ACCUMULATE + COMMIT + wait(1)) + read("%r", HERE),
        "expected an accumulator that is complete", "reads an accumulator of"),
    Row("a result of which another is made", FENCE + m(0, "%d_0", "%d_1")
        + m(1, "%d_1", "%d_2", OTHER) + COMMIT + wait() + read("%d_1", HERE),
        "expected an accumulator of its own", "use of an accumulator that",
        copied="copies an accumulator of"),
    Row("memory written in flight", FIRST + COMMIT + write("a", HERE) + wait(),
        "expected memory that no wgmma reads", "write of shared memory that"),
    Row("memory written in the next round", FENCE + loop(write("a", HERE) + SYNC + ACCUMULATE
        + COMMIT) + wait(), "expected memory that no wgmma reads", "write of shared memory that"),
    Row("the kernel ends", FIRST + COMMIT, "expected every wgmma to be complete",
        "ends the kernel while"),
    Row("the kernel ends, nothing committed", FIRST + wait(),
        "expected every wgmma to be complete", "ends the kernel while"),
    Row("no fence at all", m(0, "%d_0", "%d_1", HERE) + COMMIT + wait(),
        "expected a wgmma.fence before the first wgmma", "is the first of its warpgroup"),
    Row("no fence after a write", FENCE + FRESH + m(0, "%g_0", "%d_1", HERE) + COMMIT + wait(),
        "expected registers that were not written", "accesses registers of operand C"),
    Row("no fence of the proxy", FENCE + m(0, "%d_0", "%d_1", HERE) + COMMIT + wait(),
        "expected memory that the async proxy sees", "no fence.proxy.async of its thread",
        sync=BARRIER, marks=True),
    Row("a fence of the proxy before the write", FENCE + m(0, "%d_0", "%d_1")
        + COMMIT + wait() + BARRIER + "  cute_nvgpu.fence.proxy.async\n" + write("a", OTHER)
        + BARRIER + m(1, "%d_1", "%d_2", HERE) + COMMIT + wait(),
        "expected memory that the async proxy sees", "no fence.proxy.async of its thread"),
)  # fmt: skip


def module_of(text: str) -> Any:
    module = parse_module(text, "wgmma.mlir")
    verify(module, text)
    return module


def lowered(text: str) -> Any:
    """The kernel at the ptx level, unchecked."""
    module = module_of(text)
    for each in (SynthesizeLayoutsPass(), ConvertCuteNvgpuToPtxPass("sm_90a")):
        each.apply(default_context(), module)
    return module


def execute(text: str, level: str, case: Case = CASE, **launch: Any) -> Any:
    """What the kernel stores to %out, from matrices of ones."""
    dtype = ml_dtypes.bfloat16 if case is CASE else np.int8
    out = np.zeros(256, np.float32 if case is CASE else np.int32)
    a, b = (np.ones(np.prod(each.shape), dtype) for each in (case.a, case.b))
    launch = {"grid": (1,), "block": (128,), "arch": "sm_90a", **launch}
    module = module_of(text) if level == "atom" else lowered(text)
    return tw.interpret(module, args=[a, b, out], **launch)[2]


def check(text: str) -> None:
    module = module_of(text)
    CheckHazardsPass().apply(default_context(), module)


@pytest.mark.parametrize("row", GOOD, ids=lambda row: row.name)
def test_right(row: Row):
    check(row.text)
    for level in ("atom", "ptx"):
        execute(row.text, level)


def test_warps_meet_where_they_multiply_together():
    """Of a warpgroup, under any schedule, where some go another way."""
    first = "  %c32 = arith.constant 32 : index\n  %first = arith.cmpi ult, %t, %c32 : index\n"
    stored = "  %one = arith.constant 1.0 : f32\n  memref.store %one, %out[%t] : memref<?xf32>\n"
    text = kernel(first + FIRST + COMMIT + when("%first", stored) + wait() + read("%d_1"))
    for seed, level in product(range(4), ("atom", "ptx")):
        assert (execute(text, level, schedule=seed)[:128] == 16).all()


@pytest.mark.parametrize("row", GOOD, ids=lambda row: row.name)
def test_right_assembles(row: Row, ptxas: Any):
    report = ptxas(tw.compile(row.text, "sm_90a").ptx, "sm_90a")
    assert report.clean, report.output
    assert "serialized" not in report.output


@pytest.mark.parametrize("row", BAD, ids=lambda row: row.name)
def test_wrong(row: Row):
    line, other = line_of(row.text, HERE), line_of(row.text, OTHER)
    with pytest.raises(OpError) as rejected:
        check(row.text)
    assert row.static in rejected.value.message
    assert f"at line {line} " not in rejected.value.message
    where = str(rejected.value.op.location)
    assert f":{line}:" in where, where
    if other is not None:
        assert f" at line {other}" in rejected.value.message
    for level in ("atom", "ptx"):
        with pytest.raises(tw.ExecutionError) as caught:
            execute(row.text, level)
        message = str(caught.value)
        if level == "ptx" and row.copied:
            assert message.startswith(f"wgmma.mlir:{other}:") and row.copied in message
            continue
        assert row.dynamic in message
        assert message.startswith(f"wgmma.mlir:{line}:"), message
        # Of registers without a fence the interpreter knows no writer.
        if other is not None and "accesses registers" not in message:
            assert f"at wgmma.mlir:{other}" in message, message
