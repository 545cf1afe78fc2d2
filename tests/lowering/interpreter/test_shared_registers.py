"""Values whose registers others share in part: what an op has overwritten is lost, and no more."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue

import tilewright as tw
from tilewright.lowering.ptx.registers import RegisterNames

READS = {
    "the other one": ("  %g = ptx.list.get %l[1] : !pair -> !reg\n", False),
    "itself": ("  %g = ptx.list.get %l[0] : !pair -> !reg\n", True),
    "the list": ('  ptx.st "global" "b32" %p, 0, %l : !ptx.reg<b64>, !pair\n'
                 "  %g = ptx.add s32 %n, %n\n", True),
    "by other names": ("  %m = ptx.list.make %n, %l : !reg, !pair -> !ptx.reg<b32 x 3>\n"
                       "  %g = ptx.list.get %m[2] : !ptx.reg<b32 x 3> -> !reg\n", False),
    "itself by other names": ("  %m = ptx.list.make %n, %l : !reg, !pair -> !ptx.reg<b32 x 3>\n"
                              "  %g = ptx.list.get %m[1] : !ptx.reg<b32 x 3> -> !reg\n", True),
    "by names that nothing reads": ("  %d = ptx.list.get %l[0] : !pair -> !reg\n"
                                    "  %m = ptx.list.make %d, %d : !reg, !reg -> !pair\n"
                                    "  %g = ptx.list.get %l[1] : !pair -> !reg\n", False),
}  # fmt: skip


def kernel(read: str) -> str:
    """The second register of the list, or what is read, after some threads have made %x."""
    return f"""!reg = !ptx.reg<b32>
!pair = !ptx.reg<b32 x 2>
ptx.entry @k(%p: u64, %n: u32) {{
  %a = ptx.add s32 %n, %n
  %b = ptx.add s32 %a, %n
  %l = ptx.list.make %a, %b : !reg, !reg -> !pair
  %t = ptx.sreg "tid.x"
  %some = ptx.setp lt.u32 %t, %n
  ptx.cond_bra %some, ^some, ^all
^some:
  %x = ptx.sub s32 %b, %a
  ptx.st "global" "b32" %p, 0, %x : !ptx.reg<b64>, !reg
  ptx.bra ^all
^all:
{read}  ptx.st "global" "b32" %p, 4, %g : !ptx.reg<b64>, !reg
  ptx.ret
}}"""


def run(read: str, threads: int) -> Any:
    args = [np.zeros(2, np.uint32), 5]
    return tw.interpret(kernel(read), grid=(1,), block=(threads,), args=args, arch="sm_80")[0]


@pytest.mark.parametrize("threads", [4, 32])
@pytest.mark.parametrize("name", READS)
def test_one_of_two_registers_is_given_away(
    name: str, threads: int, monkeypatch: pytest.MonkeyPatch
):
    """%x gets the register of %a, the first of the list."""
    registers, of = RegisterNames.registers, dict[str | None, SSAValue]()

    def wrong(self: RegisterNames, value: SSAValue) -> Any:
        of.setdefault(value.name_hint, value)
        return registers(self, of["a"] if value.name_hint == "x" else value)

    read, is_lost = READS[name]
    monkeypatch.setattr(RegisterNames, "registers", wrong)
    if is_lost:
        with pytest.raises(tw.ExecutionError, match="register") as caught:
            run(read, threads)
        assert "'ptx.sub'" in str(caught.value)
    else:
        assert list(run(read, threads)) == [5, 15]
