"""Functions of a PTX text, and calls of them: as they were, and as a part of the kernel."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pytest

import tilewright as tw
from tilewright.launch.ptxas import assemble
from tilewright.lowering.ptx.text import module_text
from tilewright.pipeline import verified
from tilewright.source.parsing import parse_module

FUNCTIONS = """\
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 out) twice(.param .b32 in)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [in];
  add.s32 %r2, %r1, %r1;
  st.param.b32 [out], %r2;
  ret;
}
.func (.param .align 8 .b8 out[16]) parts(
  .param .align 8 .b8 in[16],
  .param .b32 which
)
{
  .local .align 8 .b8 depot[16];
  .reg .pred %p<2>; .reg .b16 %h<3>; .reg .b32 %r<7>; .reg .f64 %d<2>; .reg .b64 %rd<5>;
  ld.param.f64 %d1, [in];
  ld.param.v2.b32 {%r1, %r2}, [in+8];
  ld.param.u8 %h1, [in+8];
  ld.param.b32 %r3, [which];
  mov.u64 %rd1, depot;
  st.local.v2.b32 [%rd1+8], {%r2, %r1};
  setp.eq.s32 %p1, %r3, 0;
  @%p1 bra ZERO;
  ld.local.b64 %rd2, [depot+8];
  st.param.f64 [out], %d1;
  st.param.b64 [out+8], %rd2;
  ret;
ZERO:
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], %r2;
  call (b), twice, (a);
  ld.param.b32 %r4, [b]; }
  cvt.u32.u16 %r5, %h1;
  mov.b64 %rd3, {%r5, %r4};
  st.param.f64 [out], %d1;
  st.param.b64 [out+8], %rd3;
  ret;
}
"""
KERNEL = """\
.visible .entry k(.param .u64 p)
{
  .local .align 4 .b8 own[12];
  .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f64 %d<3>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 16;
  add.u64 %rd3, %rd1, %rd2;
  st.local.b32 [own+8], %r1;
  ld.global.f64 %d1, [%rd3];
  and.b32 %r2, %r1, 1;
  { .param .align 8 .b8 a[16]; .param .b32 b; .param .align 8 .b8 c[16];
  st.param.f64 [a], %d1;
  st.param.b32 [a+8], 258;
  st.param.b32 [a+12], %r1;
  st.param.b32 [b], %r2;
  call.uni (c), parts, (a, b);
  ld.param.f64 %d2, [c];
  ld.param.v2.b32 {%r3, %r4}, [c+8]; }
  ld.local.b32 %r5, [own+8];
  add.s32 %r3, %r3, %r5;
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], %r4;
  call (b), twice, (a);
  ld.param.b32 %r4, [b]; }
  st.global.f64 [%rd3], %d2;
  st.global.v2.b32 [%rd3+8], {%r3, %r4};
  ret;
}
"""


def run(text: str) -> list[int]:
    """What the kernel leaves of 4 threads."""
    given = np.arange(16, dtype=np.uint32)
    [result] = tw.interpret(text, grid=(1, 1, 1), block=(4, 1, 1), args=[given])
    return [int(number) for number in result]


def expected() -> list[int]:
    left = list[int]()
    for thread in range(4):
        low, high = (thread, 258) if thread & 1 else (258 & 255, 2 * thread)
        left += [4 * thread, 4 * thread + 1, low + thread, 2 * high]
    return left


def test_functions_come_back() -> None:
    again = module_text(parse_module(FUNCTIONS + KERNEL))
    assert again.count(".func ") == 2 and again.count("call.uni (") == 1
    assert again.count("call (twice_result0), twice, (twice_given0);") == 2
    assert "parts_local[16]" in again and ".param .align 8 .b8 parts_0[16]" in again
    assert assemble(again, "sm_80").ok
    assert run(FUNCTIONS + KERNEL) == run(again) == expected()
    assert module_text(parse_module(again)) == again


def test_what_runs_and_is_checked_has_no_calls() -> None:
    module, _ = verified(FUNCTIONS + KERNEL)
    assert [op.name for op in module.body.ops] == ["ptx.entry"]
    assert "ptx.call" not in str(module)
    assert run(str(parse_module(FUNCTIONS + KERNEL))) == run(str(module)) == expected()
    assert "local 32 align 8" in str(module)


SHARED = """\
.version 8.0
.target sm_80
.address_size 64
.shared .align 4 .b8 module[4];
.extern .shared .align 16 .b8 dynamic[];
.func (.param .b32 out) count(.param .b32 in)
{
  .shared .align 4 .b8 own[4]; .reg .pred %p<2>; .reg .b32 %r<6>;
  ld.param.b32 %r1, [in];
  setp.ne.s32 %p1, %r1, 0;
  mov.b32 %r2, 0;
  @%p1 ld.shared.b32 %r2, [own];
  add.s32 %r2, %r2, %r1;
  st.shared.b32 [own], %r2;
  ld.shared.b32 %r3, [module];
  ld.shared.b32 %r4, [dynamic+4];
  add.s32 %r5, %r2, %r3;
  add.s32 %r5, %r5, %r4;
  st.param.b32 [out], %r5;
  ret;
}
.func (.param .b32 out) start(.param .b32 in)
{
  .shared .align 4 .b8 own[4]; .reg .b32 %r<4>;
  ld.param.b32 %r1, [in];
  st.shared.b32 [own], %r1;
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], 0;
  call (b), count, (a);
  st.param.b32 [a], 4;
  call (b), count, (a);
  ld.param.b32 %r2, [b]; }
  ld.shared.b32 %r3, [own];
  add.s32 %r2, %r2, %r3;
  st.param.b32 [out], %r2;
  ret;
}
.visible .entry k(.param .u64 p)
{
  .shared .align 8 .b8 own[8]; .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  st.shared.b32 [own+4], 1000;
  st.shared.b32 [module], 100;
  st.shared.b32 [dynamic+4], 10000;
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], 3;
  call (b), start, (a);
  ld.param.b32 %r1, [b];
  st.param.b32 [a], 5;
  call (b), count, (a);
  ld.param.b32 %r2, [b]; }
  ld.shared.b32 %r3, [own+4];
  st.global.v2.b32 [%rd1], {%r1, %r2};
  st.global.b32 [%rd1+8], %r3;
  ret;
}
"""


def test_shared_variables_of_functions_are_of_the_module() -> None:
    """They are one for all calls, behind those that a kernel alone names."""
    module = parse_module(SHARED)
    again = module_text(module)
    assert again.count(".func ") == 2 and again.count("\n.shared ") == 4
    assert ".shared .align 4 .b8 module[4];\n" in again
    assert ".extern .shared .align 16 .b8 dynamic[];\n" in again
    assert assemble(again, "sm_80").ok
    for one in (SHARED, again, str(module), str(verified(SHARED)[0])):
        given = np.zeros(3, np.int32)
        [result] = tw.interpret(one, grid=(1,), block=(1,), args=[given], arch="sm_80")
        assert result.tolist() == [10107, 10109, 1000]


def test_bytes_that_no_part_is_known_of_are_words() -> None:
    """Of what a function elsewhere takes, and of what one that does not return would."""
    taken = ".param .align 8 .b8 in[16]"
    head = FUNCTIONS.partition(".func (.param .align 8 .b8 out[16]) parts(")[0]
    declared = f".extern .func (.param .align 8 .b8 out[16]) parts({taken}, .param .b32 which);\n"
    kernel = KERNEL.replace("st.param.b32 [a+8], 258;\n  st.param.b32 [a+12], %r1;",
                            "st.param.v2.b32 [a+8], {258, %r1};")  # fmt: skip
    again = module_text(parse_module(f"{head}{declared}{kernel}"))
    assert "st.param.b64 [parts_given0+0]" in again and "[parts_given0+8]" in again
    assert assemble(again, "sm_80", options=["-c"]).ok


@pytest.mark.parametrize(
    ("inside", "leaves"),
    [
        (".reg .pred %q; setp.gt.s32 %q, %r3, 7; @%q exit;", ()),
        (".reg .pred %q; setp.ne.s32 %q, %r3, 0; @%q exit;", (1, 3)),
        ("exit;", range(4)),
    ],
    ids=["never", "where a predicate holds", "always"],
)
def test_a_function_may_end_the_kernel(inside: str, leaves: Sequence[int]) -> None:
    text = FUNCTIONS.replace("mov.u64 %rd1, depot;", f"{inside} mov.u64 %rd1, depot;") + KERNEL
    again = module_text(parse_module(text))
    assert again.count(".func ") == 2 and again.count("exit;") == 1
    assert assemble(again, "sm_80").ok
    stays = expected()
    for thread in leaves:
        stays[4 * thread : 4 * thread + 4] = range(4 * thread, 4 * thread + 4)
    assert run(text) == run(again) == stays


@pytest.mark.parametrize("linkage", [".visible", ".weak"])
def test_linkage_comes_back(linkage: str) -> None:
    text = FUNCTIONS.replace(".func (.param .b32", f"{linkage} .func (.param .b32") + KERNEL
    again = module_text(parse_module(text))
    assert f"{linkage} .func (.param .b32 twice_result0) twice(.param .b32 twice_0)\n{{" in again
    assert assemble(again, "sm_80").ok


def test_functions_from_elsewhere_are_declared_and_not_run() -> None:
    head, _, rest = FUNCTIONS.partition(".func (.param .b32 out) twice")
    _, _, rest = rest.partition("}\n")
    text = f"{head}.extern .func (.param .b32 out) twice(.param .b32 in);\n{rest}{KERNEL}"
    again = module_text(parse_module(text))
    assert ".extern .func (.param .b32 twice_result0) twice(.param .b32 twice_0);\n" in again
    with pytest.raises(tw.CompileError, match="expected a function with a body, or one of vprintf"):
        run(text)


INDIRECT = """\
.func (.param .b32 out) less(.param .b32 in);
.global .align 8 .u64 table[3] = {twice, 0, less};
.func (.param .b32 out) less(.param .b32 in)
{
  .reg .b32 %r<3>;
  ld.param.b32 %r1, [in];
  sub.s32 %r2, %r1, 3;
  st.param.b32 [out], %r2;
  ret;
}
.visible .entry i(.param .u64 p)
{
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  setp.eq.s32 %p1, %r1, 0;
  mov.u64 %rd3, twice;
  @%p1 bra CALL;
  ld.global.u64 %rd3, [table+16];
CALL:
  { .param .b32 a; .param .b32 b;
  st.param.b32 [a], %r1;
  proto: .callprototype (.param .b32 _) _ (.param .b32 _);
  call (b), %rd3, (a), proto;
  ld.param.b32 %r2, [b]; }
  st.global.b32 [%rd1], %r2;
  ret;
}
"""


def test_calls_of_addresses_come_back() -> None:
    """As calls of registers, with names of functions in memory."""
    text = FUNCTIONS + INDIRECT
    again = module_text(parse_module(text))
    assert ".u64 table[3] = {twice, 0, less};" in again
    assert re.search(r"mov\.b64 %rd\d, twice;", again)
    assert re.search(r"call \(\w+\), %rd\d, \(\w+\), called;", again) and "trap" not in again
    assert assemble(again, "sm_80").ok and module_text(parse_module(again)) == again
    for one in (text, again, str(parse_module(text)), tw.compile(text, arch="sm_80").ptx):
        given = np.zeros(4, np.int32)
        [result] = tw.interpret(one, "i", grid=(1,), block=(4,), args=[given], arch="sm_80")
        assert result.tolist() == [0, -2, -1, 0]


def test_calls_of_functions_that_take_other_parts_are_compared() -> None:
    """Their addresses are numbers, and so are those of all others."""
    text = FUNCTIONS + INDIRECT
    for name in ("twice", "less"):
        text = text.replace(f"{name}(.param .b32 in)", f"{name}(.param .align 4 .b8 in[4])")
    text = text.replace("(.param .b32 _);", "(.param .align 4 .b8 _[4]);")
    text = text.replace("{ .param .b32 a;", "{ .param .align 4 .b8 a[4];")
    before, _, after = text.rpartition("ld.param.b32 %r1, [in];")
    again = module_text(parse_module(f"{before}ld.param.u8 %r1, [in];{after}"))
    assert "called:" not in again and "twice;" not in again and "trap" in again
    assert assemble(again, "sm_80").ok
    given = np.zeros(4, np.int32)
    [result] = tw.interpret(again, "i", grid=(1,), block=(4,), args=[given], arch="sm_80")
    assert result.tolist() == [0, -2, -1, 0]
