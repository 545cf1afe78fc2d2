"""What is ordered in tensor memory without a wait, and who knows when something is over."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tilewright.dialects.cute_nvgpu.lattice.tmem import are_pipelined
from tilewright.lowering.interpreter.machine.tcgen05_streams import Stream

F16, TF32 = ("f16", 128, 64), ("tf32", 128, 64)
OPERATIONS = {
    "mma": ("mma", F16),
    "other mma": ("mma", TF32),
    "copy": ("cp", "32x128b"),
    "copy of 4 rows": ("cp", "4x256b"),
    "shift": ("shift", None),
}
# The PTX ISA's list of what is ordered implicitly, and mma -> cp, on which CUTLASS relies.
ORDERED = {
    ("mma", "mma"), ("other mma", "other mma"),
    *product(("copy", "copy of 4 rows", "shift"), ("mma", "other mma")),
    *product(("mma", "other mma"), ("shift", "copy", "copy of 4 rows")),
    ("shift", "copy of 4 rows"),
}  # fmt: skip


@pytest.mark.parametrize("pair", list(product(OPERATIONS, OPERATIONS)), ids=" -> ".join)
def test_are_pipelined(pair: tuple[str, str]):
    earlier, later = (OPERATIONS[name] for name in pair)
    assert are_pipelined(earlier, later) == (pair in ORDERED)


def known(**clocks: int) -> np.ndarray:
    """What is known of clocks 0 to 3: warps 0 and 1, and mbarriers 2 and 3."""
    return np.array([clocks.get(f"c{n}", 0) for n in range(4)], dtype=np.int32)


def test_commits_complete_all_before_them():
    stream = Stream(1, 0, None)
    stream.commit([(2, 0)])
    stream.commit([(3, 0)])
    assert stream.epoch == 3
    assert stream.complete_by_phase(known()) == 0
    assert stream.complete_by_phase(known(c2=1)) == 1
    assert stream.complete_by_phase(known(c3=1)) == 2, "the second commit covers the first"
    assert stream.complete(0, known(c3=1), 0) == stream.complete(1, known(c3=1), 0) == 2


def test_a_later_phase_of_one_mbarrier():
    stream = Stream(1, 0, None)
    stream.commit([(2, 0)])
    stream.commit([(2, 1)])
    assert [stream.complete_by_phase(known(c2=n)) for n in (0, 1, 2)] == [0, 1, 2]


def test_stores_of_a_warp():
    """Its own warp knows of the wait, another one of the fence that all threads executed."""
    stream, lanes = Stream(1, 0, "tmem.wait_store"), list(range(32))
    later = known(c0=8)
    assert stream.complete(0, later, 0) == 0
    stream.waits(lanes)
    assert (stream.complete(0, later, 0), stream.complete(1, later, 0)) == (1, 0)
    for lane in lanes[:-1]:
        stream.fence(lane, 5)
    assert stream.complete(1, later, 0) == 0, "one thread has not fenced"
    stream.fence(31, 6)
    assert (stream.complete(1, known(c0=6), 0), stream.complete(1, known(c0=7), 0)) == (0, 1)


def test_a_fence_covers_what_was_waited_for():
    stream = Stream(1, 0, "tmem.wait_load")
    stream.fence(0, 3)
    assert stream.fences == [], "nothing has been waited for"
    stream.waits([0])
    stream.fence(0, 4)
    stream.waits([0])
    assert stream.complete(1, known(c0=5), 0) == 1
