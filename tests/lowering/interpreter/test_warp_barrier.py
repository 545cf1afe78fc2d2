"""`bar.warp.sync`: threads of a warp that come one after the other wait for each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from run_levels import at_levels

import tilewright as tw

BARRIER = "memref<1xi64, #cute<space smem>>"
WORD = "memref<1xi32, #cute<space smem>>"


def kernel(sync: str) -> str:
    """Thread 0 alone waits for the second warp, then stores what its whole warp loads."""
    return f"""func.func @k(%out: memref<?xi32>) attributes {{gpu.kernel}} {{
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %even = arith.constant 0 : i32
  %value = arith.constant 7 : i32
  %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %first = arith.cmpi eq, %t, %c0 : index
  %low = arith.cmpi ult, %t, %c32 : index
  %s = memref.alloc() : {WORD}
  %bar = memref.alloc() : {BARRIER}
  scf.if %first {{
    cute_nvgpu.mbarrier.init %bar[%c0] count 32 : {BARRIER}
    cute_nvgpu.fence.mbarrier_init
  }}
  "gpu.barrier"() : () -> ()
  scf.if %low {{
    scf.if %first {{
      cute_nvgpu.mbarrier.wait %bar[%c0] parity %even : {BARRIER}
      memref.store %value, %s[%c0] : {WORD}
    }}
    {sync}
    %v = memref.load %s[%c0] : {WORD}
    memref.store %v, %out[%t] : memref<?xi32>
  }} else {{
    cute_nvgpu.mbarrier.arrive %bar[%c0] : {BARRIER}
  }}
  func.return
}}"""


def run(text: str, level: Any) -> np.ndarray:
    return tw.interpret(text, args=[np.zeros(32, np.int32)], grid=(3,), block=(64,), level=level)[0]


@at_levels()
def test_threads_wait_for_the_rest_of_their_warp(level: Any):
    assert (run(kernel("cute_nvgpu.bar.warp.sync"), level) == 7).all()


@pytest.mark.usefixtures("unchecked")
@at_levels()
def test_without_it_they_read_too_early(level: Any):
    with pytest.raises(tw.ExecutionError, match=r"nothing has written|race on shared memory"):
        run(kernel(""), level)
