"""The registers of wgmma: accumulators stay in place, A is kept as long as it is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator

import pytest
from without_checks import without_checks

import tilewright as tw
from tilewright.launch.ptxas import PtxasReport
from tilewright.lowering.ptx.text import module_text
from tilewright.source.parsing import parse_module
from tilewright.source.verification import verify

Ptxas = Callable[..., PtxasReport]

B_LAYOUT = "S<3,3,3> o 0 o (4,64,(64,4)):(16384,64,(1,4096))"
TYPES = f"""
!sa = memref<4x64x64xbf16, !cute.composed_layout<"S<3,3,3> o 0 o (4,64,64):(4096,64,1)">, 3>
!sb = memref<4x64x256xbf16, !cute.composed_layout<"{B_LAYOUT}">, 3>
!da = !cute_nvgpu.smem_desc_view<64x16xbf16, "S<3,3,3> o 0 o (64,16):(64,1)">
!db = !cute_nvgpu.smem_desc_view<256x16xbf16, "S<3,3,3> o 0 o ((64,4),16):((1,4096),64)">
!acc = !cute_nvgpu.fragment<128xf32>
"""
ATOM = "<64x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, mn), frag_kind = ss>"
FENCE = "    cute_nvgpu.wgmma.fence\n"
COMMIT = "    cute_nvgpu.wgmma.commit_group\n"


def wait(pending: int) -> str:
    return f"    cute_nvgpu.wgmma.wait_group {pending}\n"


def steps(scale_d: bool) -> str:
    """Four steps of K of one stage, from %acc to %d4."""
    text = ""
    for step in range(4):
        c = "%acc" if step == 0 else f"%d{step}"
        given, type_ = (" scale_d %more", ", i1") if scale_d and step == 0 else ("", "")
        text += f"""
    %a{step} = cute_nvgpu.make_smem_desc %sa[%s, %c0, %k{step}] : !sa -> !da
    %b{step} = cute_nvgpu.make_smem_desc %sb[%s, %k{step}, %c0] modes [2, 1] : !sb -> !db
    %d{step + 1} = cute_nvgpu.sm90.mma %a{step}, %b{step}, {c}{given} {ATOM} : (!da, !db, !acc{type_}) -> !acc
"""  # noqa: E501
    return text


def gemm_loop(before: str, inside: str, after: str, *, scale_d: bool = False) -> str:
    constants = "".join(f"  %k{i} = arith.constant {16 * i} : index\n" for i in range(4))
    stores = "".join(
        f"  %x{i} = cute_nvgpu.fragment.extract %r[{i}] : !acc -> f32\n"
        f"  %o{i} = arith.constant {128 * i} : index\n"
        f"  %p{i} = arith.addi %t, %o{i} : index\n"
        f"  memref.store %x{i}, %out[%p{i}] : memref<?xf32>\n"
        for i in range(128)
    )
    return f"""{TYPES}
func.func @k(%out: memref<?xf32>, %n32: i32)
    attributes {{gpu.kernel, "gpu.known_block_size" = array<i32: 128, 1, 1>}} {{
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %n = arith.index_cast %n32 : i32 to index
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
{constants}
  %sa = memref.alloc() : !sa
  %sb = memref.alloc() : !sb
  %z = arith.constant 0.0 : f32
  %c = cute_nvgpu.fragment.splat %z : f32 -> !acc
{before}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c) -> (!acc) {{
    %s = arith.andi %i, %c3 : index
    %more = arith.cmpi ne, %i, %c0 : index
{FENCE if not before else ""}{steps(scale_d)}{inside}
    scf.yield %d4 : !acc
  }}
{after}{stores}
  func.return
}}
"""


LOOPS = {
    "waits every time": gemm_loop("", COMMIT + wait(0), ""),
    "one group in flight": gemm_loop("", COMMIT + wait(1), wait(0)),
    "all in flight": gemm_loop(FENCE, "", COMMIT + wait(0)),
    "first step overwrites": gemm_loop("", COMMIT + wait(1), wait(0), scale_d=True),
}


def loop_of(ptx: str) -> list[str]:
    """The instructions between the loop's label and the branch back to it."""
    lines = [line.strip() for line in ptx.splitlines()]
    labels = {line[:-1]: i for i, line in enumerate(lines) if re.fullmatch(r"\$?\w+:", line)}
    for end, line in enumerate(lines):
        found = re.search(r"bra(?:\.uni)? (\$?\w+);", line)
        if found and labels.get(found[1], end) < end:
            return lines[labels[found[1]] : end]
    raise AssertionError("no loop")


def accumulators(line: str) -> list[str]:
    """The registers of d."""
    return re.findall(r"%f\d+", line[: line.index("}")])


@pytest.fixture(autouse=True)
def unchecked() -> Generator[None]:
    """The matrices are what nothing wrote."""
    with without_checks():
        yield


@pytest.mark.parametrize("name", LOOPS)
def test_128_accumulators_stay_in_place(name: str, ptxas: Ptxas) -> None:
    ptx = tw.compile(LOOPS[name], "sm_90a").ptx
    body = loop_of(ptx)
    wgmmas = [line for line in body if line.startswith("wgmma.mma_async")]
    assert len(wgmmas) == 4
    registers = accumulators(wgmmas[0])
    assert len(set(registers)) == 128
    assert all(accumulators(line) == registers for line in wgmmas)
    moves = [line for line in body if line.startswith("mov")]
    assert not [line for line in moves if set(re.findall(r"%f\d+", line)) & set(registers)]
    report = ptxas(ptx, "sm_90a")
    assert report.clean, report.output
    assert "serialized" not in report.output
    assert "Performance" not in report.output
    assert report.kernels["k"].spill_stores == 0


def test_the_moves_before_a_loop_are_fenced() -> None:
    """The program's fence is before the loop; the copies of the first accumulator come after it."""
    ptx = tw.compile(LOOPS["all in flight"], "sm_90a").ptx
    head = ptx[: ptx.index("wgmma.mma_async")]
    last = max(match.start() for match in re.finditer(r"mov\.f32", head))
    assert "wgmma.fence.sync.aligned;" in head[last:]


def test_a_program_that_fences_in_the_loop_gets_no_other_fence() -> None:
    ptx = tw.compile(LOOPS["one group in flight"], "sm_90a").ptx
    assert len(re.findall(r"^\twgmma\.fence", ptx, re.MULTILINE)) == 1


def text_of(ir: str) -> str:
    module = parse_module(ir)
    verify(module)
    return module_text(module)


def prefetched(pending: int) -> str:
    """A of the next round is loaded, then passed on, before or after the wait."""
    return f"""
!a = !ptx.reg<b32 x 4>
!c = !ptx.reg<f32 x 4>
ptx.entry @k(%p: u64, %d: u64, %n: u32) {{
  %g = ptx.cvta to.global.u64 %p
  %zero = ptx.const 0 : !ptx.reg<b32>
  %a0 = ptx.ld "global" "b32" %g, 0 : !ptx.reg<b64> -> !a
  %c0 = ptx.ld "global" "f32" %g, 64 : !ptx.reg<b64> -> !c
  ptx.bra ^loop(%a0, %c0, %zero : !a, !c, !ptx.reg<b32>)
^loop(%a: !a, %c: !c, %i: !ptx.reg<b32>):
  ptx.wgmma.fence
  %e = ptx.wgmma.mma_async "m64n8k16.f32.bf16.bf16" %a, %d, %c immediates [1, 1, 0] : !a, !c -> !c
  ptx.wgmma.commit_group
  %next = ptx.ld "global" "b32" %g, 16 : !ptx.reg<b64> -> !a
  ptx.wgmma.wait_group {pending}
  %one = ptx.const 1 : !ptx.reg<b32>
  %j = ptx.add s32 %i, %one
  %less = ptx.setp lt.s32 %j, %n
  ptx.cond_bra %less, ^loop(%next, %e, %j : !a, !c, !ptx.reg<b32>), ^end
^end:
  ptx.wgmma.wait_group 0
  ptx.st "global" "f32" %g, 64, %e : !ptx.reg<b64>, !c
  ptx.ret
}}
"""


def test_a_fragment_keeps_its_registers_until_the_wait(ptxas: Ptxas) -> None:
    text = text_of(prefetched(0))
    body = text[text.index("$loop:") :]
    issued = re.search(r"wgmma\.mma_async\S+ \{[^}]*\}, \{([^}]*)\}", body)
    loaded = re.search(r"ld\.global\.v4\.b32 \{([^}]*)\}", body)
    assert issued and loaded
    a, following = (set(found[1].split(", ")) for found in (issued, loaded))
    assert not a & following
    waits = body.index("wgmma.wait_group")
    moves = [found for found in re.finditer(r"mov\.b32 (%r\d+)", body) if found[1] in a]
    assert len(moves) == 4
    assert all(found.start() > waits for found in moves)
    assert ptxas(text, "sm_90a").clean
