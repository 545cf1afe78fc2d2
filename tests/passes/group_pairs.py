"""Groups of asynchronous copies, and who learns that they are complete."""

from __future__ import annotations

from hazard_kernels import BOXES, LINE, MAP, WARP_SYNC, Pair, load

FILL = f"""    scf.if %half {{
      scf.for %row = %c0 to %c8 step %c1 {{
        memref.store %n, %x[%c0, %row, %lane] : {BOXES} // HERE
      }}
    }}
    cute_nvgpu.fence.proxy.async
    {WARP_SYNC}
"""
SEND = f"cute_nvgpu.tma.store %x[%c0, %c0, %c0] to %map[%c0, %c0] : {BOXES} to {MAP}"
COMMIT = "cute_nvgpu.cp.async.bulk.commit_group"
COPY = f"cute_nvgpu.cp.async %p[%at] to %s[%at] size 4 cache ca : memref<?xi32> to {LINE}"

PAIRS = (
    Pair("a warp's box, sent in a loop", "expected shared memory that nothing reads", f"""
  scf.for %i = %c0 to %c4 step %c1 {{
{FILL}    scf.if %leads {{
      {SEND} // OTHER
      {COMMIT}
      cute_nvgpu.cp.async.bulk.wait_group 0 read
    }}
    {WARP_SYNC} // RIGHT
  }}""", threads=32),
    Pair("a warp's copies, the last groups empty", "expected shared memory that", f"""
  scf.for %i = %c0 to %c2 step %c1 {{
    %down = arith.muli %i, %c32 : index
    %at = arith.addi %down, %lane : index
    {COPY}
    cute_nvgpu.cp.async.commit_group
  }}
  scf.for %i = %c0 to %c8 step %c1 {{
    cute_nvgpu.cp.async.wait_group 1
    {WARP_SYNC}
    %stage = arith.remui %i, %c2 : index
    %down = arith.muli %stage, %c32 : index
    %other = arith.xori %lane, %c1 : index
    %from = arith.addi %down, %other : index
    {load("v", at="%from")} // OTHER
    memref.store %v, %p[%from] : memref<?xi32>
    {WARP_SYNC} // RIGHT
    %ahead = arith.addi %i, %c2 : index
    %more = arith.cmpi ult, %ahead, %c8 : index
    scf.if %more {{
      %at = arith.addi %down, %lane : index
      {COPY} // HERE
    }}
    cute_nvgpu.cp.async.commit_group
  }}""", threads=32),
    Pair("the last groups are not empty but missing", "expected shared memory that is copied", f"""
  scf.for %i = %c0 to %c2 step %c1 {{
    %down = arith.muli %i, %c32 : index
    %at = arith.addi %down, %lane : index
    {COPY} // OTHER
    cute_nvgpu.cp.async.commit_group
  }}
  scf.for %i = %c0 to %c2 step %c1 {{
    cute_nvgpu.cp.async.wait_group 1
    {WARP_SYNC}
    %down = arith.muli %i, %c32 : index
    %other = arith.xori %lane, %c1 : index
    %from = arith.addi %down, %other : index
    {load("v", at="%from")} // HERE
    memref.store %v, %p[%from] : memref<?xi32>
    cute_nvgpu.cp.async.commit_group // RIGHT
  }}""", threads=32),
    Pair("a group that is open is waited for", "expected shared memory that is copied", f"""
  %at = arith.addi %lane, %c0 : index
  {COPY} // OTHER
  cute_nvgpu.cp.async.commit_group // RIGHT
  cute_nvgpu.cp.async.wait_group 0
  {WARP_SYNC}
  {load("v", at="%next")} // HERE
  memref.store %v, %p[%t] : memref<?xi32>""", threads=32),
    Pair("waited for by another lane", "expected shared memory that is copied", f"""
  %at = arith.addi %lane, %c0 : index
  {COPY} // OTHER
  cute_nvgpu.cp.async.commit_group
  cute_nvgpu.cp.async.wait_group 0 // RIGHT
  scf.if %leads {{
    cute_nvgpu.cp.async.wait_group 0 // WRONG
  }}
  {WARP_SYNC}
  {load("v", at="%next")} // HERE
  memref.store %v, %p[%t] : memref<?xi32>""", threads=32),
    Pair("a box that is not sent before the end", "expected to end with no copy in flight", f"""
{FILL.replace("// HERE", "")}
  scf.if %leads {{
    {SEND} // OTHER
    {COMMIT} // RIGHT
    cute_nvgpu.cp.async.bulk.wait_group 0
    {COMMIT} // WRONG HERE
  }}""", threads=32),
    Pair("a box sent before all of it is there", "expected memory that the async proxy", f"""
  scf.if %half {{
    scf.for %row = %c0 to %c8 step %c1 {{
      memref.store %n, %x[%c0, %row, %lane] : {BOXES} // OTHER
    }}
  }}
  scf.if %leads {{
    cute_nvgpu.fence.proxy.async // WRONG
  }}
  cute_nvgpu.fence.proxy.async // RIGHT
  {WARP_SYNC}
  scf.if %leads {{
    {SEND} // HERE
    {COMMIT}
    cute_nvgpu.cp.async.bulk.wait_group 0
  }}""", threads=32),
    Pair("the fence is behind the barrier", "expected memory that the async proxy sees", f"""
  scf.if %half {{
    scf.for %row = %c0 to %c8 step %c1 {{
      memref.store %n, %x[%c0, %row, %lane] : {BOXES} // OTHER
    }}
  }}
  cute_nvgpu.fence.proxy.async // RIGHT
  {WARP_SYNC}
  scf.if %leads {{
    cute_nvgpu.fence.proxy.async // WRONG
    {SEND} // HERE
    {COMMIT}
    cute_nvgpu.cp.async.bulk.wait_group 0
  }}""", threads=32),
)  # fmt: skip
