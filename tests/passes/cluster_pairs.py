"""Clusters: shared memory of other CTAs, which have to have begun and may not have ended."""

from __future__ import annotations

from hazard_kernels import (
    BARS,
    BOXES,
    CLUSTER_SYNC,
    INIT,
    LINE,
    MAP,
    THERE,
    Pair,
    load,
    store,
    wait,
)

MAPPED = f"%there = cute_nvgpu.cluster.map %s rank %peer : {LINE} -> {THERE}"
SYNC_RIGHT = "cute_nvgpu.cluster.arrive // RIGHT\n  cute_nvgpu.cluster.wait // RIGHT"
TELL = f"cute_nvgpu.cluster.mbarrier_arrive %bar[%c0] rank %peer : {BARS}"
HANDED_OVER = wait().replace(":", "cluster :")
RESULT = f"{load('v')}\n  memref.store %v, %p[%t] : memref<?xi32>"


def pair(name: str, says: str, body: str) -> Pair:
    """Of two CTAs of a warp."""
    return Pair(name, says, body, threads=32, ctas=2)


PAIRS = (
    pair("a store to a peer that may not have begun", "of the cluster that has begun", f"""
  {MAPPED}
  {SYNC_RIGHT}
  {store("%there", type_=THERE)} // HERE
  {CLUSTER_SYNC}
  {RESULT}"""),
    pair("a store before all have arrived", "of the cluster that has begun", f"""
  {MAPPED}
  cute_nvgpu.cluster.arrive
  {store("%there", type_=THERE)} // WRONG HERE
  cute_nvgpu.cluster.wait
  {store("%there", type_=THERE)} // RIGHT
  {CLUSTER_SYNC}
  {RESULT}"""),
    pair("a peer that may have ended", "when other CTAs of the cluster are done", f"""
  {store()}
  {CLUSTER_SYNC}
  {MAPPED}
  {load("v", "%there", type_=THERE)} // HERE OTHER
  memref.store %v, %p[%t] : memref<?xi32>
  {SYNC_RIGHT}"""),
    pair("read before the peer has written", "expected shared memory that other threads", f"""
  {CLUSTER_SYNC}
  {MAPPED}
  {store()} // OTHER
  {SYNC_RIGHT}
  {load("v", "%there", type_=THERE)} // HERE
  memref.store %v, %p[%t] : memref<?xi32>
  {CLUSTER_SYNC}"""),
    pair("read by its owner before the peer has written", "expected shared memory that", f"""
  {CLUSTER_SYNC}
  {MAPPED}
  {store("%there", type_=THERE)} // OTHER
  {SYNC_RIGHT}
  {load("v")} // HERE
  memref.store %v, %p[%t] : memref<?xi32>
  {CLUSTER_SYNC}"""),
    pair("written to by both", "expected shared memory that other threads", f"""
  {CLUSTER_SYNC}
  {MAPPED}
  scf.if %lead {{
    {store()} // OTHER
  }}
  {SYNC_RIGHT}
  scf.if %lead {{
  }} else {{
    {store("%there", type_=THERE)} // HERE
  }}
  {CLUSTER_SYNC}
  scf.if %lead {{
    {RESULT}
  }}"""),
    pair("told before it is written", "expected shared memory that other threads", f"""
{INIT.replace("count 1", "count 32")}  {CLUSTER_SYNC}
  {MAPPED}
  {TELL} // WRONG
  {store("%there", type_=THERE)} // OTHER
  {TELL} // RIGHT
  {HANDED_OVER}
  {load("v")} // HERE
  memref.store %v, %p[%t] : memref<?xi32>
  {CLUSTER_SYNC}"""),
    pair("told of what was read alone", "expected shared memory that other threads", f"""
{INIT.replace("count 1", "count 32")}  {CLUSTER_SYNC}
  {MAPPED}
  {store("%there", type_=THERE)} // OTHER
  {TELL} // RIGHT
  {TELL.replace("%peer", "%peer reads")} // WRONG
  {HANDED_OVER}
  {load("v")} // HERE
  memref.store %v, %p[%t] : memref<?xi32>
  {CLUSTER_SYNC}"""),
    pair("told to a wait of its own CTA", "expected shared memory that other threads", f"""
{INIT.replace("count 1", "count 32")}  {CLUSTER_SYNC}
  {MAPPED}
  {store("%there", type_=THERE)} // OTHER
  {TELL}
  {HANDED_OVER} // RIGHT
  {wait()} // WRONG
  {load("v")} // HERE
  memref.store %v, %p[%t] : memref<?xi32>
  {CLUSTER_SYNC}"""),
    pair("copied, and told to a wait of its own CTA", "no wait of scope cluster", f"""
  scf.if %first {{
    cute_nvgpu.mbarrier.init %bar[%c0] count 1 : {BARS}
    cute_nvgpu.mbarrier.init %bar[%c1] count 32 : {BARS}
    cute_nvgpu.fence.mbarrier_init
  }}
  {CLUSTER_SYNC}
  scf.if %first {{
    cute_nvgpu.mbarrier.arrive.expect_tx %bar[%c0] bytes 512 : {BARS}
    cute_nvgpu.tma.load %map[%c0, %c0] to %x[%c0, %c0, %c0] mbarrier %bar[%c0] : {MAP} to {BOXES}, {BARS} // OTHER
  }}
  {wait()}
  {TELL.replace("%c0", "%c1")}
  {HANDED_OVER.replace("%c0", "%c1")} // RIGHT
  {wait(1)} // WRONG
  %there = cute_nvgpu.cluster.map %x rank %peer : {BOXES} -> {BOXES.replace("smem", "dsmem")}
  %v = memref.load %there[%c0, %c0, %c1] : {BOXES.replace("smem", "dsmem")} // HERE
  memref.store %v, %p[%t] : memref<?xi32>
  {CLUSTER_SYNC}"""),  # noqa: E501
    pair("an mbarrier that the peer may not have made", "expected an mbarrier that is made", f"""
{INIT.replace("count 1", "count 32").replace(BARS, f"{BARS} // OTHER")}
  {SYNC_RIGHT}
  {TELL} // HERE
  {wait()}
  {CLUSTER_SYNC}"""),
    pair("arrived twice", "an arrival at the barrier of the cluster before each wait", """
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait // RIGHT
  cute_nvgpu.cluster.arrive // HERE
  cute_nvgpu.cluster.wait"""),
    pair("waited for without an arrival", "an arrival at the barrier of the cluster before", """
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  cute_nvgpu.cluster.arrive // RIGHT
  cute_nvgpu.cluster.wait // HERE"""),
    pair("arrived by half a warp", "expected all threads of a warp", """
  cute_nvgpu.cluster.arrive // RIGHT
  scf.if %half {
    cute_nvgpu.cluster.arrive // WRONG HERE
  }
  scf.if %half {
  } else {
    cute_nvgpu.cluster.arrive // WRONG
  }
  cute_nvgpu.cluster.wait"""),
)  # fmt: skip
