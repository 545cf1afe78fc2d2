"""Of the instructions that ptxas takes these alone are not read; the command has the whole list."""

import re

from ptx_instructions import instructions, judged

UNREAD = (
    r"cvta\..*u32",  # addresses of 32 bits
    r"(bar|barrier)\.(cta\.)?red\.",  # a barrier that a register names
    r"cvt\..*(s2f6x2|satfinite\.bf16x2\.e\dm\dx2)",  # fixed point
    r"multimem\.st\.async\..*b8",
    r"mov\.u64 d1,(k|p0);",  # the address of a kernel, and of a number among its arguments
)


def test_the_list() -> None:
    """Every 29th of it: each is read, and ptxas takes what is written of it."""
    targets, why = judged(instructions()[::29])
    assert len(targets) > 200
    left = [
        f"{one.text} {what}"
        for one, what in why.items()
        if one.chapter != "by name" and not any(re.match(name, one.text) for name in UNREAD)
    ]
    assert left == []
