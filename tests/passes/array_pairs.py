"""Arguments of the tile level that threads access, and copies of boxes too."""

from __future__ import annotations

from hazard_kernels import SYNC, Pair

ARRAY = '!cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">'
ROWS = '!cute.memref<f32, gmem, align<16>, "(?,32):(?{i64 div=4},1)">'
BOX = '!cute.memref<f32, smem, align<1024>, "(8,32):(32,1)">'
PIPE = "!cute.pipeline<tma, stages = 1, producers = 1, consumers = 1, bytes = 1024>"
COPY = '#cute_nvgpu.tma<{}>, tile = "[8;32]", smem = "(8,32):(32,1)"'
FENCE = "cute_nvgpu.fence.proxy.async"
HEAD = f"""
  %c0 = arith.constant 0 : i32
  %c9 = arith.constant 9 : i32
  %one = arith.constant 1.0 : f32
  %tid = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %first = arith.cmpi eq, %t, %c0 : i32
  %copy, %boxes = cute.make_tma_copy<{COPY.format("load")}> (%x)
  %s = cute.memref.alloc() : {BOX}
  %pipe = cute.pipeline.create() : {PIPE}
  %tiler = cute.static : !cute.shape<"(8,32)">
  %corner = cute.static : !cute.coord<"(0,0)">
  %box = cute.local_tile (%boxes, %tiler, %corner)
  %c31 = arith.constant 31 : i32
  %column = arith.andi %t, %c31 : i32
  %at = cute.make_coord(%c0, %column) : (i32, i32) -> !cute.coord<"(?,?)">
  %below = cute.make_coord(%c9, %column) : (i32, i32) -> !cute.coord<"(?,?)">
"""
WRITE = "cute.memref.store(%one, %x, %at)"
LOAD = "cute.copy(%copy, %box, %s) pipeline %pipe[%c0]"
WAIT = "cute.pipeline.consumer_wait(%pipe, %c0)"
SENT = f"""
  %sender, %places = cute.make_tma_copy<{COPY.format("store")}> (%x)
  %to = cute.local_tile (%places, %tiler, %corner)
  cute.memref.store(%one, %s, %t)
  {FENCE}
  {SYNC}
  scf.if %first {{
    cute.copy(%sender, %s, %to) // OTHER
    cute_nvgpu.cp.async.bulk.commit_group
    cute_nvgpu.cp.async.bulk.wait_group 0 // RIGHT
    cute_nvgpu.cp.async.bulk.wait_group 0 read // WRONG
  }}
  {SYNC}
  %v = cute.memref.load(%x, %at) // HERE
  cute.memref.store(%v, %x, %below)"""


def copied(name: str, says: str, before: str, after: str = "", array: str = ARRAY) -> Pair:
    """A warp accesses the array before and after one of its threads copies a box of it."""
    body = f"""{before}
  scf.if %first {{
    cute.pipeline.producer_acquire(%pipe, %c0)
    {LOAD}{" // OTHER" if "HERE" in after else " // HERE"}
  }}
  {after or WAIT}"""
    return Pair(name, says, body, threads=32, head=HEAD, parameters=f"%x: {array}")


def written(fence: str = FENCE, *, sync: str = SYNC) -> str:
    return f"""
  {WRITE} // OTHER
  {fence}
  {sync}"""


UNSEEN = "expected elements of an argument that the async proxy sees"
UNORDERED = "expected elements of an argument that others are done with"

PAIRS = (
    copied("an array that is written and copied", UNSEEN, written(f"{FENCE} // RIGHT")),
    copied("one with rows of any length", UNSEEN, written(f"{FENCE} // RIGHT"), array=ROWS),
    copied("a fence of shared memory", UNSEEN,
        written(f'{FENCE} // RIGHT\n  {FENCE} in "shared::cta" // WRONG')),
    copied("a fence before the write", UNSEEN,
        f"\n  {FENCE} // WRONG" + written(f"{FENCE} // RIGHT")),
    copied("a fence and no barrier", UNORDERED, written(sync=f"{SYNC} // RIGHT")),
    copied("the box beside it", UNSEEN, f"""
  {WRITE} // WRONG OTHER
  {WRITE.replace("%at", "%below")} // RIGHT
  {SYNC}"""),
    copied("written before it is copied", UNORDERED, "", f"""
  {WAIT} // RIGHT
  {WRITE} // HERE
  {WAIT} // WRONG"""),
    Pair("read before it is sent", UNORDERED, SENT, threads=256, head=HEAD,
        parameters=f"%x: {ARRAY}"),
)  # fmt: skip
