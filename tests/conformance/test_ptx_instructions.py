"""Of the instructions that ptxas takes these alone are not read; the command has the whole list."""

import re

from ptx_instructions import instructions, judged

UNREAD = r"cvt\..*s2f6x2"  # fixed point


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
