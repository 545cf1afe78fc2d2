"""Of the instructions that ptxas takes these alone are not read; the command has the whole list."""

import re

import pytest
from ptx_instructions import instructions, judged, taken_for

from tilewright.tools.instructions.judge import is_legal, why_illegal

UNREAD = r"cvt\..*s2f6x2\.\w+"  # to fixed point


def test_the_list() -> None:
    """Every 29th of it: each is read, and ptxas takes what is written of it."""
    targets, why = judged(instructions()[::29])
    assert len(targets) > 200
    left = [
        f"{one.text} {what}"
        for one, what in why.items()
        if one.chapter != "by name" and not re.match(UNREAD, one.text)
    ]
    assert left == []


ELSEWHERE = r"mov\.u64 d\d, ?k|cvta\.const\.u64 d\d,gv|ld\.param\.u8 h\d,p0\["
"""Where the kernel around an instruction makes it illegal."""
ADVISED = r"cp\.async\.bulk.*multicast::cluster"
"""Illegal on targets that the ISA advises against, which ptxas takes."""


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_100a", "sm_120a"])
def test_they_are_judged_as_ptxas_does(target: str) -> None:
    """Every 23rd of them, with its operands."""
    listed = [one for one in instructions()[::23] if not re.match(ELSEWHERE, one.text)]
    taken = {one.text for one in taken_for(listed, target)}
    for one in listed:
        line = one.text.removesuffix(";")
        legal, why = is_legal(line, target), why_illegal(line, target) or ""
        if one.chapter == "by name" or re.match(UNREAD, line):
            assert legal is not False or one.text not in taken, line
        elif legal or ("undocumented" not in why and not re.match(ADVISED, line)):
            assert bool(legal) is (one.text in taken), (line, why)
    assert len(taken) > 150
