"""The warp that issues MMAs in tensor memory: all of its threads wait, one issues."""

from __future__ import annotations

import re

from attention_kernel import GIVEN, attention
from hazards import at_levels, hazards

import tilewright as tw
from tilewright.dialects.cute_nvgpu.ops.sync import WarpSyncOp
from tilewright.dialects.ptx.control_flow import GUARDED

ARCH = "sm_100a"
TEXT = attention(64, 64, 64, GIVEN)


def issuer() -> tuple[str, str]:
    """The PTX of that warp, in front of its loop and in it."""
    ptx = tw.compile(TEXT, ARCH).ptx
    begin, end = ptx.index("elect.sync"), ptx.rindex("tcgen05.mma")
    before, _, loop = ptx[begin:end].partition("\n$for")
    return before, loop


def test_one_thread_issues_by_a_predicate() -> None:
    """What is computed has none: ptxas has it in uniform registers. No branch is around MMAs, or
    else their descriptors would go through registers of threads."""
    _, loop = issuer()
    guarded = set(re.findall(r"^\t@%p\d+ ([a-z0-9]+\.[a-z]+)", loop, re.MULTILINE))
    assert guarded == {"tcgen05.mma", "tcgen05.commit"}
    assert not re.search(r"^\ttcgen05\.(mma|commit)", loop, re.MULTILINE)


def test_what_stays_is_in_front_of_the_loop() -> None:
    """Queries are waited for once, as those who compute are. A descriptor is that of the first
    stage and a multiple of the stage, and the loop is counted in 32 bits."""
    before, loop = issuer()
    assert before.count("mbarrier.try_wait") == 2 and loop.count("mbarrier.try_wait") == 3
    assert "and.b32" in before and "and.b32" not in loop and "shr.u32" not in loop
    assert ".s64" not in loop


def test_its_threads_meet_behind_their_waits() -> None:
    """A thread that is late would miss a phase that is over once MMAs are."""
    module = at_levels(TEXT, ARCH)["atom"]
    assert hazards(module) == []
    for op in [*module.walk()]:
        if isinstance(op, WarpSyncOp) and op.next_op and GUARDED in op.next_op.attributes:
            op.detach()
    assert "expected to see each phase before the next one is over" in hazards(module)[0]
