"""Calls of the driver's functions, in PTX as nvcc writes it."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright.launch.ptxas import assemble
from tilewright.lowering.ptx.text import module_text
from tilewright.source.diagnostic import CompileError, ExecutionError
from tilewright.source.parsing import parse_module

KERNEL = """\
.version 8.0
.target sm_80
.address_size 64
.extern .func  (.param .b32 func_retval0) vprintf
(
  .param .b64 vprintf_param_0,
  .param .b64 vprintf_param_1
)
;
.extern .func __assertfail (
  .param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e
) .noreturn;
.global .align 1 .b8 $str[21] = {
  116, 104, 114, 101, 97, 100, 32, 37, 100, 32, 111, 102, 32, 37, 100, 58, 32, 37, 102, 10};
.global .align 1 .b8 __unnamed_1[4] = {102, 40, 41};
.visible .entry k(.param .u64 k_out)
{
  .local .align 8 .b8 depot[16];
  .reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1, [k_out];
  mov.u32 %r1, %tid.x;
  setp.ne.s32 %p1, %r1, 3;
  @%p1 bra L;
  mov.u64 %rd2, depot; cvta.local.u64 %rd3, %rd2;
  st.local.v2.u32 [depot], {%r1, %r1};
  mov.u64 %rd4, 4609434218613702656;
  st.local.u64 [depot+8], %rd4;
  mov.u64   %rd5, $str;
  cvta.global.u64   %rd6, %rd5;
  { // callseq 3, 0
  .reg .b32 temp_param_reg;
  .param .b64 param0;
  st.param.b64   [param0+0], %rd6;
  .param .b64 param1;
  st.param.b64   [param1+0], %rd3;
  .param .b32 retval0;
  call.uni (retval0), 
  vprintf, 
  (
  param0, 
  param1
  );
  ld.param.b32   %r4, [retval0+0];
  } // callseq 3
  st.global.u32 [%rd1], %r4;
  setp.eq.u32 %p2, %r1, 3;
  @!%p2 bra L;
  mov.u64 %rd7, __unnamed_1; cvta.global.u64 %rd8, %rd7;
  { .param .b64 param0; st.param.b64 [param0+0], %rd8;
  .param .b64 param1; st.param.b64 [param1+0], %rd8;
  .param .b32 param2; st.param.b32 [param2+0], 7;
  .param .b64 param3; st.param.b64 [param3+0], %rd8;
  .param .b64 param4; st.param.b64 [param4+0], 1;
  call.uni __assertfail, (param0, param1, param2, param3, param4); }
L: ret;
}
"""
PRINTED = "thread 3 of 3: 1.500000\n"
FAILED = "f():7: f(): block: [0,0,0], thread: [3,0,0] Assertion `f()` failed.\n"


def run(text: str) -> int:
    """What the kernel leaves."""
    [result] = tw.interpret(text, grid=(1, 1, 1), block=(32, 1, 1), args=[np.zeros(1, np.uint32)])
    return int(result[0])


def test_a_format_of_the_module_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    text = KERNEL.replace("%r1, 3;\n  @!%p2", "%r1, 4;\n  @!%p2")
    assert run(text) == 3  # values
    again = module_text(parse_module(text))
    assert assemble(again, "sm_80").ok
    assert run(again) == 3
    assert capfd.readouterr().out == 2 * PRINTED


def test_a_text_of_the_module_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    """The value is the address of a text."""
    text = KERNEL.replace("%r1, 3;\n  @!%p2", "%r1, 4;\n  @!%p2").replace(
        "37, 102, 10", "37, 115, 10"
    )
    of_text = "mov.u64 %rd4, __unnamed_1; cvta.global.u64 %rd4, %rd4;"
    text = text.replace("mov.u64 %rd4, 4609434218613702656;", of_text)
    assert run(text) == 3
    assert capfd.readouterr().out == PRINTED.replace("1.500000", "f()")
    with pytest.raises(ExecutionError, match="read of a text out of bounds"):
        run(text.replace(of_text, "mov.u64 %rd4, 64;"))


@pytest.mark.parametrize("number, printed", [(0, "(nil)"), (0x1234, "0x1234")])
def test_an_address_is_printed(
    number: int, printed: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """As the C library of the host has it, which prints what a GPU hands over."""
    text = KERNEL.replace("%r1, 3;\n  @!%p2", "%r1, 4;\n  @!%p2").replace(
        "37, 102, 10", "37, 112, 10"
    )
    assert run(text.replace("4609434218613702656", str(number))) == 3
    assert capfd.readouterr().out == PRINTED.replace("1.500000", printed)


def test_an_assertion_that_fails_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ExecutionError, match=r"'ptx.call' fails: f\(\)"):
        run(KERNEL)
    assert capfd.readouterr().out == PRINTED + FAILED


def test_a_format_that_is_computed_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    text = KERNEL.replace("%r1, 3;\n  @!%p2", "%r1, 4;\n  @!%p2")
    assert run(text.replace("cvta.global.u64   %rd6, %rd5", "add.u64 %rd6, %rd5, 1")) == 3
    assert capfd.readouterr().out == PRINTED[1:]
    with pytest.raises(ExecutionError, match="read of a text out of bounds"):
        run(text.replace("cvta.global.u64   %rd6, %rd5", "mov.u64 %rd6, 64"))


@pytest.mark.parametrize("call", ["vprintf", "__assertfail, (a)", "vprintf, (a, a, a)"])
def test_arguments_are_counted(call: str) -> None:
    head, _, _ = KERNEL.partition("  mov.u32 %r1, %tid.x;")
    with pytest.raises(CompileError, match=r"expected [25] arguments of"):
        parse_module(f"{head}call {call};\nret;\n}}\n")


def test_a_text_without_values_takes_no_memory() -> None:
    head, _, rest = KERNEL.partition(".visible .entry k")
    text = (
        f"{head}.visible .entry k(.param .u64 p)\n{{\n.reg .b64 %rd<9>;\n"
        "mov.u64 %rd1, __unnamed_1;\ncvta.global.u64 %rd1, %rd1;\n{\n"
        ".param .b64 a; .param .b64 b; .param .b32 r;\n"
        "st.param.b64 [a], %rd1; st.param.b64 [b], 0;\ncall.uni (r), vprintf, (a, b);\n}\nret;\n}\n"
    )
    assert rest and "local" not in (again := module_text(parse_module(text)))
    assert assemble(again, "sm_80").ok


def test_what_is_deleted_is_freed() -> None:
    """nvcc makes a destructor that frees for each class whose destructor is virtual."""
    head, _, _ = KERNEL.partition("  mov.u32 %r1, %tid.x;")
    head = head.replace(".global", ".extern .func free (.param .b64 p);\n.global", 1)
    call = "{ .param .b64 p; st.param.b64 [p], 0; call.uni free, (p); }"
    text = f"{head}{call}\nst.global.u32 [%rd1], 5;\nret;\n}}\n"
    assert run(text) == 5
    again = module_text(parse_module(text))
    assert "call.uni free, (" in again and assemble(again, "sm_80").ok


def test_memory_of_the_heap() -> None:
    """Each thread has as many bytes as it asks for."""
    head, _, _ = KERNEL.partition("  setp.ne.s32 %p1, %r1, 3;")
    declared = ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.global"
    body = """shl.b32 %r2, %r1, 2; add.s32 %r2, %r2, 4; cvt.u64.u32 %rd2, %r2;
      { .param .b64 n; .param .b64 r; st.param.b64 [n], %rd2; call.uni (r), malloc, (n);
      ld.param.b64 %rd3, [r]; }
      cvt.u64.u32 %rd4, %r1; shl.b64 %rd4, %rd4, 2; add.u64 %rd4, %rd4, %rd3;
      st.u32 [%rd4], %r1; ld.u32 %r3, [%rd4]; setp.ne.u32 %p1, %r1, 7;
      @%p1 bra L; st.global.u32 [%rd1], %r3; L: ret; }"""
    text = head.replace(".global", declared, 1) + body
    assert run(text) == 7
    assert run(module_text(parse_module(text))) == 7
    with pytest.raises(ExecutionError, match="out of bounds"):
        run(text.replace("add.s32 %r2, %r2, 4;", ""))
