"""Registers in flight stay where they are: no move of them in the text, none that ptxas mends, and
an error where there is no other way."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from overlap_kernels import (
    FENCE,
    KERNELS,
    TILES,
    C,
    bare,
    expected,
    inputs,
    kernel,
    loop,
    multiply,
    store,
    wait,
)
from run_levels import at_levels

import tilewright as tw
from tilewright import execution
from tilewright.dialects.ptx.control_flow import EntryOp
from tilewright.launch.ptxas import PtxasReport
from tilewright.lowering.ptx.registers import RegisterNames
from tilewright.lowering.ptx.rename_in_flight import rename_in_flight
from tilewright.lowering.ptx.text import module_text
from tilewright.lowering.to_ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtxPass
from tilewright.passes.check_hazards import CheckHazardsPass
from tilewright.passes.insert_wgmma_sync import InsertWgmmaSyncPass
from tilewright.source.diagnostic import OpError
from tilewright.source.parsing import default_context, parse_module
from tilewright.source.verification import verify

Ptxas = Callable[..., PtxasReport]


def parsed(text: str) -> Any:
    module = parse_module(text, "flight.mlir")
    verify(module, text)
    return module


def run(module: Any, level: Any, schedule: int | None = None) -> Any:
    a, b = inputs()
    out = np.zeros((TILES, TILES, 128, 4), np.float32)
    args = [a.reshape(-1), b.reshape(-1), out.reshape(-1)]
    launch: dict[str, Any] = {"grid": (TILES,), "block": (128,), "arch": "sm_90a"}
    found = tw.interpret(module, args=args, level=level, schedule=schedule, **launch)[2]
    return found.reshape(out.shape)


# The overlap


@pytest.mark.parametrize("name", KERNELS)
def test_overlapping_accumulators_are_never_moved(name: str, ptxas: Ptxas) -> None:
    """The loop is there once for each place that the accumulators have, and so is the wait."""
    ptx = tw.compile(KERNELS[name], "sm_90a").ptx
    report = ptxas(ptx, "sm_90a")
    assert report.clean, report.output
    loops = ptx[ptx.index("$for3_body:") : ptx.rindex("wgmma.wait_group.sync.aligned 0;")]
    assert loops.count("wgmma.wait_group.sync.aligned 1;") == 2
    last = [re.findall(r"%f\d+", line)[:4] for line in loops.splitlines() if "mma_async" in line]
    assert len({tuple(registers) for registers in last}) == 2
    flying = {register for registers in last for register in registers}
    before_the_wait = loops[: loops.index("wgmma.wait_group.sync.aligned 0;")]
    moved = set(re.findall(r"mov\.f32 (%f\d+), %f\d+;", before_the_wait))
    assert not flying & moved


@at_levels("tile", "atom", "ptx")
@pytest.mark.parametrize("name", KERNELS)
def test_every_level_computes_the_same(name: str, level: str) -> None:
    """Even and odd rounds, and none: what NumPy has, bit for bit."""
    for schedule in (None, 1):
        np.testing.assert_array_equal(run(KERNELS[name], level, schedule), expected(name))


@pytest.mark.parametrize("name", KERNELS)
def test_the_overlap_is_put_in_order(name: str, ptxas: Ptxas) -> None:
    """`cute-nvgpu-insert-wgmma-sync` keeps what it can in flight, and the check accepts it."""
    module = parsed(bare(KERNELS[name]))
    InsertWgmmaSyncPass().apply(default_context(), module)
    module.verify()
    CheckHazardsPass().apply(default_context(), module)
    waits = re.findall(r"wgmma\.wait_group (\d)", str(module))
    assert waits == ["1", "0"]
    np.testing.assert_array_equal(run(module, "ptx"), expected(name))
    report = ptxas(tw.compile(module, "sm_90a").ptx, "sm_90a")
    assert report.clean, report.output


# Paths that meet

ISSUED = FENCE + multiply("%c0", "%z", "%first") + multiply("%c0", "%z", "%second")
VALUE = f"""
  %given = memref.load %out[%base] : memref<?xf32>
  %g = cute_nvgpu.fragment.splat %given : f32 -> {C}
"""


def meeting(then: str, other: str, before: str = ISSUED) -> str:
    """An `if` that not all blocks take the same way, of two accumulators, and their wait."""
    return kernel(
        f"{VALUE}{before}  %one = arith.cmpi eq, %block, %c1 : index\n"
        f"  %r = scf.if %one -> ({C}) {{\n{then}  }} else {{\n{other}  }}\n"
        + wait() + store("%r", "%c0")
    )  # fmt: skip


def passed(value: str) -> str:
    return f"    scf.yield {value} : {C}\n"


MEETINGS = {
    "one of two": meeting(passed("%first"), passed("%second")),
    "one of two, or more of it": meeting(
        multiply("%c1", "%first", "%d") + passed("%d"), passed("%second")
    ),
    "issued on either": meeting(
        multiply("%c0", "%z", "%d") + passed("%d"),
        multiply("%c1", "%z", "%e") + passed("%e"), FENCE,
    ),
    "issued on one": meeting(multiply("%c0", "%z", "%d") + passed("%d"), passed("%g"), FENCE),
    "abandoned": meeting(passed("%first"), passed("%g")),
}  # fmt: skip


@pytest.mark.parametrize("name", MEETINGS)
def test_what_is_in_flight_on_a_path_is_not_moved(name: str, ptxas: Ptxas) -> None:
    text = MEETINGS[name]
    report = ptxas(tw.compile(text, "sm_90a").ptx, "sm_90a")
    assert report.clean, report.output
    np.testing.assert_array_equal(run(text, "ptx"), run(text, "atom"))


# Where there is no other way

CHOSEN = loop(
    "%x = %first, %y = %second",
    2,
    f"  %odd = arith.cmpi eq, %block, %c1 : index // HERE\n  %q = scf.if %odd -> ({C}) {{\n"
    f"{passed('%x')}  }} else {{\n{passed('%y')}  }}\n",
    "%y, %q",
)
UNMOVABLE = kernel(ISSUED + CHOSEN + wait() + store("%r#0", "%c0") + store("%r#1", "%c1"))


def line_of(text: str, part: str) -> int:
    return next(n for n, line in enumerate(text.splitlines(), 1) if part in line)


def test_a_choice_of_accumulators_in_flight_is_refused() -> None:
    with pytest.raises(tw.CompileError) as refused:
        tw.compile(UNMOVABLE, "sm_90a", name="flight.mlir")
    issue = line_of(UNMOVABLE, "%first = cute_nvgpu.sm90.mma")
    assert refused.value.message == (
        "'scf.if' expected registers that nothing accesses, got those of the result of "
        f"'cute_nvgpu.sm90.mma' at line {issue}, which it would move and no wgmma.wait_group has "
        "completed; nearest legal: cute_nvgpu.wgmma.wait_group 0 before it"
    )
    assert refused.value.line == line_of(UNMOVABLE, "// HERE") + 1


def test_a_move_in_flight_is_an_error_of_the_run() -> None:
    """At the level of instructions alone: above there are values, and no registers."""
    module = parsed(UNMOVABLE)
    run(module.clone(), "atom")
    ConvertCuteNvgpuToPtxPass("sm_90a").apply(default_context(), module)
    with pytest.raises(tw.ExecutionError) as stopped:
        run(module, "ptx")
    issue = line_of(UNMOVABLE, "%first = cute_nvgpu.sm90.mma")
    assert "'ptx.bra' moves an accumulator of 'ptx.wgmma.mma_async' at flight.mlir:" in str(
        stopped.value
    )
    assert f"flight.mlir:{issue}, which no wgmma.wait_group has completed" in str(stopped.value)


RING, DEPTH = 5, 4


def turned(depth: int, given: list[str]) -> str:
    """Loops in loops, each of which turns a ring of accumulators by one place."""
    names = [f"%x{depth}_{place}" for place in range(RING)]
    types = ", ".join([C] * RING)
    carried = ", ".join(f"{name} = {value}" for name, value in zip(names, given, strict=True))
    if depth == DEPTH:
        body, passed_on = multiply("%c0", names[0], "%d"), [*names[1:], "%d"]
    else:
        body = turned(depth + 1, names)
        passed_on = [f"%r{depth + 1}#{(place + 1) % RING}" for place in range(RING)]
    return (
        f"  %r{depth}:{RING} = scf.for %i{depth} = %c1 to %rounds step %c1 iter_args({carried}) -> "
        f"({types}) {{\n{body}    scf.yield {', '.join(passed_on)} : {types}\n  }}\n"
    )


def test_copies_of_copies_come_to_an_end() -> None:
    """Each loop would be copied for each place of the ring, and what is in it anew."""
    ring = [f"%s{place}" for place in range(RING)]
    text = kernel(
        FENCE + "".join(multiply("%c0", "%z", name) for name in ring) + turned(0, ring) + wait()
        + "".join(store(f"%r0#{place}", "%c0") for place in range(RING))
    )  # fmt: skip
    with pytest.raises(tw.CompileError, match=r"no wgmma\.wait_group has completed"):
        tw.compile(text, "sm_90a")


# Instructions

LOADED = """
!c = !ptx.reg<b32 x 2>
ptx.entry @k(%p: u64, %t: u32, %n: u32) {
  %g = ptx.cvta to.global.u64 %p
  %i0 = ptx.const 0 : !ptx.reg<b32>
  %first = ptx.tcgen05.ld "32x32b" %t, 0 : !c
  ptx.bra ^loop(%first, %i0 : !c, !ptx.reg<b32>)
^loop(%x: !c, %i: !ptx.reg<b32>):
  ptx.tcgen05.wait.ld
  %d = ptx.tcgen05.ld "32x32b" %t, 2 : !c
  ptx.st "global" "b32" %g, 0, %x : !ptx.reg<b64>, !c
  %one = ptx.const 1 : !ptx.reg<b32>
  %j = ptx.add s32 %i, %one
  %more = ptx.setp lt.s32 %j, %n
  ptx.cond_bra %more, ^loop(%d, %j : !c, !ptx.reg<b32>), ^end
^end:
  ptx.tcgen05.wait.ld
  ptx.st "global" "b32" %g, 8, %d : !ptx.reg<b64>, !c
  ptx.ret
}
"""
FRAGMENT = """
!a = !ptx.reg<b32 x 4>
!c = !ptx.reg<f32 x 4>
ptx.entry @k(%p: u64, %d: u64, %n: u32) {
  %g = ptx.cvta to.global.u64 %p
  %zero = ptx.const 0 : !ptx.reg<b32>
  %a0 = ptx.ld "global" "b32" %g, 0 : !ptx.reg<b64> -> !a
  %c0 = ptx.ld "global" "f32" %g, 64 : !ptx.reg<b64> -> !c
  ptx.bra ^loop(%a0, %c0, %zero : !a, !c, !ptx.reg<b32>)
^loop(%a: !a, %c: !c, %i: !ptx.reg<b32>):
  ptx.wgmma.fence
  %e = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %a, %d, %c immediates [1, 1, 0] : !a, !c -> !c
  ptx.wgmma.commit_group
  ptx.wgmma.wait_group 1
  %next = ptx.ld "global" "b32" %g, 16 : !ptx.reg<b64> -> !a
  %one = ptx.const 1 : !ptx.reg<b32>
  %j = ptx.add s32 %i, %one
  %less = ptx.setp lt.s32 %j, %n
  ptx.cond_bra %less, ^loop(%next, %e, %j : !a, !c, !ptx.reg<b32>), ^end
^end:
  ptx.wgmma.wait_group 0
  ptx.st "global" "f32" %g, 64, %e : !ptx.reg<b64>, !c
  ptx.ret
}
"""
GIVEN_ANEW = "expected registers that nothing accesses, got those of {} at line {}, which it would "


def text_of(ir: str, *, renamed: bool) -> str:
    module = parsed(ir)
    entry = module.body.block.first_op
    assert isinstance(entry, EntryOp)
    if renamed:
        rename_in_flight(entry.body)
        verify(module)
    return module_text(module)


@pytest.mark.parametrize(
    ("ir", "target", "access", "line"),
    [
        (LOADED, "sm_100a", "the result of 'ptx.tcgen05.ld'", 10),
        (FRAGMENT, "sm_90a", "operand A of 'ptx.wgmma.mma_async'", 12),
    ],
)
def test_loads_and_fragments_are_as_accumulators(
    ir: str, target: str, access: str, line: int, ptxas: Ptxas
) -> None:
    """A load from tensor memory writes, and a wgmma reads A, until the wait too."""
    with pytest.raises(OpError) as refused:
        text_of(ir, renamed=False)
    assert GIVEN_ANEW.format(access, line) in refused.value.message
    text = text_of(ir, renamed=True)
    assert text.count("@!%p") + text.count("@%p") == 2
    assert not re.search(r"mov\.b32 %r\d+, %r\d+;", text[: text.rindex("wait")])
    report = ptxas(text, target)
    assert report.clean, report.output


# The interpreter runs registers

SUM = """
!two = !ptx.reg<b32 x 2>
ptx.entry @k(%p: u64) {
  %g = ptx.cvta to.global.u64 %p
  %a = ptx.ld "global" "b32" %g, 0 : !ptx.reg<b64> -> !two
  %b = ptx.ld "global" "b32" %g, 8 : !ptx.reg<b64> -> !ptx.reg<b32>
  %first = ptx.list.get %a[0] : !two -> !ptx.reg<b32>
  %sum = ptx.add s32 %first, %b
  ptx.st "global" "b32" %g, 8, %sum : !ptx.reg<b64>, !ptx.reg<b32>
  ptx.st "global" "b32" %g, 0, %a : !ptx.reg<b64>, !two
  ptx.ret
}
"""


def sums(monkeypatch: pytest.MonkeyPatch, wrong: dict[str, tuple[str, int]]) -> list[int]:
    """The sum with some values in registers of others: each name with whose, and which of them."""

    class Wrong(RegisterNames):
        def registers(self, value: Any) -> Any:
            other, place = wrong.get(value.name_hint, (value.name_hint, None))
            named = next(each for each in self._slots if each.name_hint == other)
            found = super().registers(named)
            return found if place is None else found[place : place + 1]

    monkeypatch.setattr(execution, "RegisterNames", Wrong)
    words = np.array([3, 5, 7], np.uint32)
    return tw.interpret(SUM, grid=(1,), block=(1,), args=[words], arch="sm_80")[0].tolist()


def test_the_interpreter_runs_the_registers_of_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sums(monkeypatch, {}) == [3, 5, 10]
    # b in the register of the sum's other addend: what a chip would add.
    assert sums(monkeypatch, {"first": ("b", 0)}) != [3, 5, 10]
    with pytest.raises(tw.ExecutionError, match=r"'ptx\.st' reads a register that 'ptx\.add' at"):
        sums(monkeypatch, {"sum": ("a", 1)})
