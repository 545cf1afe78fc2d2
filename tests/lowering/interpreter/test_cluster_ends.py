"""CTAs that end while others of their cluster may still reach their shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import test_multicast
from run_levels import at_levels
from test_clusters import BARRIERS, CLUSTER_SYNC, WAIT, bad, both, kernel
from tmem_kernels import SMEM

import tilewright as tw
from tilewright.lowering.interpreter.errors import Fault
from tilewright.lowering.interpreter.machine.clocks import Clocks
from tilewright.lowering.interpreter.machine.remote_accesses import RemoteAccesses
from tilewright.lowering.interpreter.machine.tcgen05_streams import Stream

TILE = f"memref<4xi32, {SMEM}>"
OUT = "%p: memref<64xi32>"
MAKE = f"""  scf.if %first {{
    cute_nvgpu.mbarrier.init %b[%c0] count 1 : {BARRIERS}
    cute_nvgpu.fence.mbarrier_init
  }}
  {CLUSTER_SYNC}"""


def handed(sync: str, end: str, rank: str = "%rank") -> str:
    """Each CTA reads what the other one has written to its own shared memory."""
    there = "memref<4xi32, #cute<space dsmem>>"
    return kernel(
        f"""
  %s = memref.alloc() : {TILE}
  %one = arith.constant 1 : i32
  %other = arith.xori {rank}, %one : i32
  scf.if %first {{
    memref.store %rank, %s[%c0] : {TILE}
  }}
  {sync}
  scf.if %first {{
    %there = cute_nvgpu.cluster.map %s rank %other : {TILE} -> {there}
    %v = memref.load %there[%c0] : {there} // READ
    %at = arith.index_cast %rank : i32 to index
    memref.store %v, %p[%at] : memref<64xi32>
  }}
  {end}""",
        OUT,
    ).replace("  func.return", "  func.return // END")


@pytest.mark.usefixtures("unchecked")
def test_reads_of_the_memory_of_another_cta():
    [out] = both(handed(CLUSTER_SYNC, CLUSTER_SYNC), np.zeros(64, np.int32), grid=(2,))
    assert list(out[:2]) == [1, 0]
    begun = handed("", CLUSTER_SYNC).replace("READ", "HERE")
    bad(begun, "which may not have begun", grid=(2,))
    bad(handed(CLUSTER_SYNC, "").replace("END", "HERE"), "may still", grid=(2,))
    five = handed(CLUSTER_SYNC, CLUSTER_SYNC, "%five").replace("READ", "HERE")
    text = five.replace("  %other", "  %five = arith.constant 5 : i32\n  %other")
    bad(text, "expected a rank below 2", grid=(2,))


def arrival(end: str) -> str:
    """CTA 1 arrives at the mbarrier of CTA 0, which waits for it or not."""
    return f"""{MAKE}
  scf.if %lead {{
    BEFORE
  }} else {{
    scf.if %first {{
      cute_nvgpu.cluster.mbarrier_arrive %b[%c0] rank %even : {BARRIERS}
    }}
  }}
  {end}"""


def text(body: str) -> str:
    """The kernel, its end marked."""
    return kernel(body, OUT).replace("  func.return", "  func.return // HERE")


def test_an_arrival_at_the_mbarrier_of_a_cta_that_ends():
    body = arrival("").replace("BEFORE", "")
    with pytest.raises(tw.ExecutionError, match="another CTA of its cluster"):
        both(text(body), np.zeros(64, np.int32), grid=(2,))
    both(text(arrival("").replace("BEFORE", WAIT)), np.zeros(64, np.int32), grid=(2,))
    both(text(arrival(CLUSTER_SYNC).replace("BEFORE", "")), np.zeros(64, np.int32), grid=(2,))


@pytest.mark.usefixtures("unchecked")
@at_levels()
def test_a_copy_to_a_cta_that_ends(level: str):
    """CTA 1 sends CTA 0 a box, whose mbarrier CTA 0 alone can wait for: no barrier says as much."""
    wait = f"cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : {test_multicast.BARRIER}"
    some = f"""%one = arith.constant 1 : i32
  %other = arith.cmpi eq, %rank32, %one : i32
  scf.if %other {{
    {wait}
  }}"""
    for waits, message in ((wait, None), (some, r"ends the kernel while .*(tma|bulk)")):
        written = test_multicast.kernel(waits=waits)
        first, last = written.index("  %stage ="), written.rindex(test_multicast.SYNC)
        ending = written[:first] + "  " + written[last:]
        if message is None:
            test_multicast.run(
                ending.replace(test_multicast.SYNC + "\n  func", "func"), level, ctas=2
            )
            continue
        with pytest.raises(tw.ExecutionError, match=message):
            test_multicast.run(ending, level, ctas=2)


@pytest.mark.usefixtures("unchecked")
def test_the_barrier_of_the_cluster_is_waited_for_once_an_arrival():
    wait: Any = "cute_nvgpu.cluster.wait"
    bad(kernel(f"{CLUSTER_SYNC}\n  {wait} // HERE", OUT), "without having arrived", grid=(2,))
    twice = f"cute_nvgpu.cluster.arrive\n  cute_nvgpu.cluster.arrive // HERE\n  {wait}"
    bad(kernel(twice, OUT), "twice in one phase", grid=(2,))


def test_operands_of_a_cta_that_ends():
    """An MMA of CTA 0 reads the shared memory of CTA 1 until its commit is known there."""
    lanes = np.arange(64)
    for committed, learned in ((False, False), (True, False), (True, True)):
        clocks = Clocks(1, 2, lanes)
        remote, stream, phase = RemoteAccesses(clocks, 32, 32), Stream(1, 0, None), 0
        with pytest.raises(Fault, match="which may not have begun"):
            remote.note_operand(0, 1, stream, "an MMA")
        clocks.learn(lanes[:1], clocks.publish(lanes[32:]))
        remote.note_operand(0, 1, stream, "an MMA")
        remote.note_operand(0, 0, stream, "an MMA")
        remote.exit(lanes[:32])
        column = clocks.add_column()
        if committed:
            stream.commit([(column, phase)])
        if learned:
            clocks.learn_of(lanes[40:41], column, np.array([phase + 1]))
            remote.exit(lanes[32:])
            continue
        with pytest.raises(Fault, match="while an MMA of another CTA of its cluster may still"):
            remote.exit(lanes[32:])
