"""The rules of tensor memory, asked twice: `cute-nvgpu-check-tmem` and `cute-nvgpu-check-hazards`
agree with the interpreter on small kernels, about what is wrong and at which line."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from faults import P, line_of, run
from run_levels import LEVELS
from tmem_kernels import (
    AFTER,
    ALLOC,
    BARRIER,
    CELLS,
    DEALLOC,
    RETRIEVE,
    SLOT,
    SMEM,
    SYNC,
    WAIT_LOAD,
    WAIT_STORE,
    bare,
    commit,
    held,
    wait,
)

import tilewright as tw
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.passes.check_tmem import CheckTmemPass
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import default_context, parse_module
from tilewright.source.verification import verify

pytestmark = pytest.mark.usefixtures("unchecked")

HERE, OTHER = "// HERE", "// OTHER"
F = "!cute_nvgpu.fragment<4xi32>"
TILE = f"memref<2x32x4xi32, {SMEM}>"
VIEW = '!cute_nvgpu.smem_desc_view<32x4xi32, tcgen05, "(32,4):(4,1)">'
SPLAT = f"  %v = cute_nvgpu.fragment.splat %even : i32 -> {F}\n"
EXTRACT = f"  %x = cute_nvgpu.fragment.extract %f[0] : {F} -> i32 "
COMPLETE = f"  {wait()}\n  {AFTER}\n"
RELINQUISH = "cute_nvgpu.tmem.relinquish_alloc_permit"


def load(mark: str = "", column: str = "%c0") -> str:
    return f"  %f = cute_nvgpu.tmem.load %m[%row, {column}] shape 32x32b : {CELLS} -> {F} {mark}\n"


def store(mark: str = "", column: str = "%c0") -> str:
    return f"  cute_nvgpu.tmem.store %v, %m[%row, {column}] shape 32x32b : {F}, {CELLS} {mark}\n"


def copy(mark: str = OTHER, column: str = "%c0", desc: str = "%d") -> str:
    form = "shape 32x128b warpx4"
    return (
        f"    cute_nvgpu.tmem.copy {desc} to %m[%c0, {column}] {form} : {VIEW} to {CELLS} {mark}\n"
    )


def started(*body: str) -> str:
    """What one thread does."""
    return "  scf.if %first {\n" + "".join(body) + "  }\n"


COMMIT = f"    {commit()}\n"
STORED = SPLAT + store() + f"  {WAIT_STORE}\n"


def write(stage: str, mark: str = "") -> str:
    return f"""  scf.if %low {{
    memref.store %even, %s[{stage}, %t, %c0] : {TILE} {mark}
  }}
"""


def fill(fence: str = "  cute_nvgpu.fence.proxy.async\n") -> str:
    """Both stages of shared memory, in the async proxy's sight, and a descriptor of either."""
    stores = "".join(
        f"    memref.store %even, %s[%c{stage}, %t, %c{j}] : {TILE}\n"
        for stage in range(2)
        for j in range(4)
    )
    descriptors = "".join(
        f"  %{name} = cute_nvgpu.make_smem_desc %s[%c{stage}, %c0, %c0] : {TILE} -> {VIEW}\n"
        for stage, name in enumerate("de")
    )
    return (
        f"  %s = memref.alloc() : {TILE}\n  scf.if %low {{\n{stores}  }}\n{fence}  {SYNC}\n"
        + descriptors
    )


FILL = fill()


@dataclass(frozen=True)
class Row:
    """A kernel; what is wrong with it in words of the checks, and in words of the interpreter."""

    name: str
    text: str
    static: str = ""
    dynamic: str = ""


GOOD = (
    Row("a copy, waited for", held(FILL + started(copy(), COMMIT) + COMPLETE + load()
        + f"  {WAIT_LOAD}\n{EXTRACT}\n")),
    Row("waited for by the thread that started it", held(FILL + started(copy(), COMMIT, "  "
        + COMPLETE) + f"  {SYNC}\n" + load() + f"  {WAIT_LOAD}\n")),
    Row("a commit covers two copies", held(FILL + started(copy(), copy(column="%c8"), COMMIT)
        + COMPLETE + load(column="%c8") + f"  {WAIT_LOAD}\n")),
    Row("a load beside the copy", held(FILL + STORED + started(copy(column="%c32"), COMMIT) + load()
        + f"  {WAIT_LOAD}\n" + COMPLETE)),
    Row("the source is written again once it was read", held(FILL + started(copy(), COMMIT)
        + f"  {wait()}\n" + write("%c0") + f"  {AFTER}\n")),
    Row("the other stage is written meanwhile", held(FILL + started(copy(), COMMIT) + write("%c1")
        + COMPLETE)),
    Row("stored, then loaded", held(STORED + load() + f"  {WAIT_LOAD}\n{EXTRACT}\n")),
    Row("stores of either half of the lanes", held(SPLAT
        + "  %high = arith.addi %row, %c16 : index\n"
        + store().replace("32x32b", "16x64b") + store().replace("32x32b", "16x64b").replace(
            "%row", "%high") + f"  {WAIT_STORE}\n")),
    Row("a store beside a load", held(STORED + load() + store(column="%c32") + f"  {WAIT_LOAD}\n"
        + f"  {WAIT_STORE}\n")),
)  # fmt: skip
BAD = (
    Row("no commit", held(FILL + started(copy()) + f"  {AFTER}\n" + load(HERE)
        + f"  {WAIT_LOAD}\n"),
        "no tcgen05.commit follows it", "no tcgen05.commit of its thread follows it"),
    Row("no wait", held(FILL + started(copy(), COMMIT) + f"  {AFTER}\n" + load(HERE)
        + f"  {WAIT_LOAD}\n" + COMPLETE),
        "no wait for the mbarrier of its tcgen05.commit", "no wait for the mbarrier of its"),
    Row("the other mbarrier", held(FILL + f"  %o = memref.alloc() : memref<1xi64, {SMEM}>\n"
        + started(f"    cute_nvgpu.mbarrier.init %o[%c0] count 1 : memref<1xi64, {SMEM}>\n"
        + f"    cute_nvgpu.mbarrier.arrive %o[%c0] : memref<1xi64, {SMEM}>\n", copy(), COMMIT)
        + f"  {BARRIER}\n  cute_nvgpu.mbarrier.wait %o[%c0] parity %even : memref<1xi64, {SMEM}>\n"
        + f"  {AFTER}\n" + load(HERE) + f"  {WAIT_LOAD}\n"),
        "no wait for the mbarrier of its tcgen05.commit", "no wait for the mbarrier of its"),
    Row("no fence", held(FILL + started(copy(), COMMIT) + f"  {wait()}\n" + load(HERE)
        + f"  {WAIT_LOAD}\n"),
        "no tcgen05.fence.after_thread_sync follows the wait",
        "no tcgen05.fence.after_thread_sync follows"),
    Row("a fence before the wait", held(FILL + started(copy(), COMMIT) + f"  {AFTER}\n  {wait()}\n"
        + load(HERE) + f"  {WAIT_LOAD}\n"),
        "no tcgen05.fence.after_thread_sync follows the wait",
        "no tcgen05.fence.after_thread_sync follows"),
    Row("a copy after the commit", held(FILL + started(COMMIT, copy()) + COMPLETE + load(HERE)
        + f"  {WAIT_LOAD}\n"),
        "no tcgen05.commit follows it", "writes, and no tcgen05.commit of its thread follows it"),
    Row("a store over it", held(FILL + SPLAT + started(copy(), COMMIT) + f"  {AFTER}\n"
        + store(HERE) + f"  {WAIT_STORE}\n"),
        "no wait for the mbarrier of its tcgen05.commit", "no wait for the mbarrier of its"),
    Row("given back meanwhile", held(FILL + started(copy(), COMMIT)).replace(
            DEALLOC, f"{DEALLOC} {HERE}"),
        "expected tensor memory that is complete", "deallocation of tensor memory that"),
    Row("the source is written meanwhile", held(FILL + started(copy(), COMMIT) + write("%c0", HERE)
        + COMPLETE),
        "expected shared memory that nothing reads", "write of shared memory that"),
    Row("the source is unseen", held(fill("")
        + started(copy(HERE), COMMIT) + COMPLETE),
        "expected memory that the async proxy sees", "no fence.proxy.async"),
    Row("registers before their wait", held(STORED + load(OTHER) + EXTRACT + HERE
        + f"\n  {WAIT_LOAD}\n  memref.store %x, %p[%c0] : memref<?xi32>\n"),
        "which no tmem.wait_load has completed", "reads registers of"),
    Row("loaded before it is stored", held(SPLAT + store(OTHER) + load(HERE) + f"  {WAIT_LOAD}\n"
        + f"  {WAIT_STORE}\n"),
        "which no tmem.wait_store has completed", "no tmem.wait_store of its threads"),
    Row("stored before it is loaded", held(STORED + load(OTHER) + store(HERE) + f"  {WAIT_LOAD}\n"
        + f"  {WAIT_STORE}\n"),
        "which no tmem.wait_load has completed", "reads, and no tmem.wait_load"),
    Row("one half of the lanes stored twice", held(SPLAT
        + store(OTHER).replace("32x32b", "16x64b") + store(HERE).replace("32x32b", "16x64b")
        + f"  {WAIT_STORE}\n"),
        "which no tmem.wait_store has completed", "no tmem.wait_store of its threads"),
    Row("stored twice", held(SPLAT + store(OTHER) + store(HERE) + f"  {WAIT_STORE}\n"),
        "which no tmem.wait_store has completed", "no tmem.wait_store of its threads"),
    # Lifetimes
    Row("not given back", bare(f"  scf.if %leads {{\n    {ALLOC} {OTHER}\n  }}").replace(
            "  func.return", f"  func.return {HERE}"),
        "expected all tensor memory to be given back", "ends the kernel with 256 columns"),
    Row("used after it was given back", bare(f"  scf.if %leads {{\n    {ALLOC}\n  }}\n  {SYNC}\n"
        + f"  {RETRIEVE}\n{SPLAT}  {SYNC}\n  scf.if %leads {{\n    {DEALLOC} {OTHER}\n"
        + f"{store(HERE)}  {WAIT_STORE}\n  }}"),
        "expected tensor memory that is allocated", "which is not allocated"),
    Row("given back twice", held("").replace(DEALLOC, f"{DEALLOC} {OTHER}\n    {DEALLOC} {HERE}"),
        "expected tensor memory that is allocated", "allocated: none"),
    Row("given back in part", held("").replace(DEALLOC, "%n = cute_nvgpu.tmem.retrieve %slot[%c0]"
        + f" : {SLOT} -> {CELLS.replace('256', '128')}\n    "
        + f"{DEALLOC.replace('%m', '%n').replace('256', '128')} {HERE}"),
        "expected the 256 columns of", "gives back 128 columns"),
    Row("after the permit", bare(f"  scf.if %leads {{\n    {RELINQUISH} {OTHER}\n"
        + f"    {ALLOC} {HERE}\n  }}"),
        "expected the right to allocate", "given up the right to"),
    Row("more than before", bare(f"  scf.if %leads {{\n    {ALLOC.replace('256', '64')} {OTHER}\n"
        + f"    {ALLOC.replace('256', '128')} {HERE}\n  }}"),
        "expected at most the 64 columns", "expected at most 64 columns"),
    Row("more than there is", bare("  scf.if %leads {\n" + f"    {ALLOC}\n    {ALLOC} {OTHER}\n"
        + f"    {ALLOC} {HERE}\n  }}"),
        "expected at most 512 columns at once", "deadlock: waits for 256 columns"),
    Row("a pair alone", bare(f"  scf.if %leads {{\n    {ALLOC.replace('256', '256 cta_group 2')} "
        + f"{HERE}\n  }}"),
        "expected clusters of pairs", "expected a cluster of pairs"),
)  # fmt: skip


def check(text: str) -> None:
    module = parse_module(text, "faults.mlir")
    verify(module, text)
    for each in (CheckTmemPass(), CheckHazardsPass()):
        each.apply(default_context(), module)


@pytest.mark.parametrize("row", GOOD, ids=lambda row: row.name)
def test_right(row: Row):
    check(row.text)
    for level in LEVELS:
        run(row.text, level, [P], block=(128,), arch="sm_100a")


@pytest.mark.parametrize("row", BAD, ids=lambda row: row.name)
def test_wrong(row: Row):
    line, other = line_of(row.text, HERE), line_of(row.text, OTHER)
    with pytest.raises(OpError) as rejected:
        check(row.text)
    assert row.static in rejected.value.message
    where = str(rejected.value.op.location)
    assert f":{line}:" in where, where
    if other is not None:
        assert f" at line {other}" in rejected.value.message, rejected.value.message
    for level in LEVELS:
        with pytest.raises(tw.ExecutionError) as caught:
            run(row.text, level, [P], block=(128,), arch="sm_100a")
        message = str(caught.value)
        assert row.dynamic in message, message
        assert message.startswith(f"faults.mlir:{line}:"), message
