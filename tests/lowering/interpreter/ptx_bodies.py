"""Bodies of PTX kernels of one word a thread, executed as they are and as they are written."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

import tilewright as tw
from tilewright.launch.ptxas import assemble
from tilewright.lowering.ptx.text import module_text
from tilewright.source.parsing import parse_module

HEAD = """\
.version 8.0
.target sm_80
.address_size 64
.const .align 4 .b32 table[4] = {10, 20, 30, 40};
.visible .entry k(.param .u64 k_out)
{
  .local .align 8 .b8 depot[16];
  .shared .align 4 .b8 tile[128];
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<30>; .reg .b64 %rd<20>; .reg .f32 %f<9>;
  ld.param.u64 %rd1, [k_out];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
"""
TAIL = "  st.global.u32 [%rd3], %r0;\n  ret;\n}\n"
LANE = np.arange(32)


def run(body: str, threads: int = 32, head: str = HEAD) -> NDArray[np.uint32]:
    """What each thread leaves in %r0; the text that we write of it runs alike, and assembles."""
    text = head + body + TAIL
    given = dict(grid=(1, 1, 1), block=(threads, 1, 1), args=[np.zeros(threads, np.uint32)])
    [result] = tw.interpret(text, **given)
    again = module_text(parse_module(text))
    [arch] = re.findall(r"\.target (\w+)", head)
    assert assemble(again, arch).ok
    np.testing.assert_array_equal(tw.interpret(again, **given)[0], result)
    return result
