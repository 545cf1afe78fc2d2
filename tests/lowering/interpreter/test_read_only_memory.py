"""`ld.global.nc`, of memory that nobody writes while the kernel runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_ptx_text import HEAD, TAIL

import tilewright as tw
from tilewright import CompileError, ExecutionError


@pytest.mark.parametrize("engine", ["numpy", "compiled"])
@pytest.mark.parametrize("body, said", [
    ("st.global.u32 [%rd3], %r1;\nbar.sync 0;\nxor.b32 %r2, %r1, 32;\nmul.wide.u32 %rd2, %r2, 4;\n"
     "add.s64 %rd3, %rd1, %rd2;\nld.global.nc.u32 %r0, [%rd3];\n",
     r"reads by ld\.global\.nc what 'ptx\.st' at <string>:\d+ in thread 32 wrote"),
    ("ld.global.nc.u32 %r0, [%rd3];\nbar.sync 0;\nadd.u32 %r0, %r0, 5;\n",
     r"'ptx\.st' writes what ld\.global\.nc has read"),
])  # fmt: skip
def test_nobody_writes_what_is_read_as_read_only(body: str, said: str, engine: Any):
    """PTX ISA, ld.global.nc: for as long as the kernel runs, whatever orders the threads."""
    text = HEAD + body + TAIL
    args = [np.zeros(64, np.uint32)]
    with pytest.raises(ExecutionError, match=said):
        tw.interpret(text, grid=(1,), block=(64,), args=args, engine=engine)
    tw.interpret(text.replace(".nc", ""), grid=(1,), block=(64,), args=args, engine=engine)
    if "writes" in said:
        with pytest.raises(CompileError, match="read-only for as long as the kernel runs"):
            tw.compile(text, arch="sm_90a")
