"""GEMMs written in tiles that copy with TMA: parts of K reduced in memory, and tiles that go to
both CTAs of a cluster.

A (M,K) and B (N,K) are f16, K contiguous; C (M,N) is f32. A CTA computes 64 x 64 of C; its first
warpgroup copies, the second one multiplies.
"""

from __future__ import annotations

from tile_levels import memref

THREADS = 256
ROWS = memref("f16", "gmem", "(?,?):(?{i64 div=8},1)", 16)
RESULT = memref("f32", "gmem", "(?,?):(?{i64 div=4},1)", 16)
STAGES = memref("f16", "smem", "S<3,3,3> o 0 o (64,64,2):(64,1,4096)", 1024)
TILE_C = "S<3,2,3> o 0 o (64,(32,2)):(32,(1,2048))"
HEAD = f"""
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %bidx = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
  %bidy = "gpu.block_id"() <{{dimension = #gpu<dim y>}}> : () -> index
  %bidz = "gpu.block_id"() <{{dimension = #gpu<dim z>}}> : () -> index
  %gdimz = "gpu.grid_dim"() <{{dimension = #gpu<dim z>}}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %bx = arith.index_cast %bidx : index to i32
  %by = arith.index_cast %bidy : index to i32
  %bz = arith.index_cast %bidz : index to i32
  %parts = arith.index_cast %gdimz : index to i32
  %tiler = cute.static : !cute.shape<"(64,64,64)">
  %cta = cute.make_coord(%bx, %by) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %sA = cute.memref.alloc() : {STAGES}
  %sB = cute.memref.alloc() : {STAGES}
"""
CONSUME = """
    %thread = arith.subi %t, %c128 : i32
    %mma = cute.make_tiled_mma : !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, elem_type = \
(f16, f16, f32), ab_major = (k, k), frag_kind = ss>>
    %tCsA = cute.tiled.mma.partition A (%mma, %sA, %thread)
    %tCsB = cute.tiled.mma.partition B (%mma, %sB, %thread)
    %tCgC = cute.tiled.mma.partition C (%mma, %gC, %thread)
    %tCrA = cute.mma.make_fragment A (%mma, %tCsA)
    %tCrB = cute.mma.make_fragment B (%mma, %tCsB)
    %tCrC = cute.mma.make_fragment C (%mma, %tCgC)
    cute.fill(%tCrC, %zero)
    scf.for %i = %c0 to %mine step %c1 : i32 {
      %stage = cute.pipeline.stage(%pipe, %i)
      %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
      %a = cute.slice(%tCrA, %read)
      %b = cute.slice(%tCrB, %read)
      cute.pipeline.consumer_wait(%pipe, %i)
      cute_nvgpu.wgmma.fence
      cute.gemm(%mma, %tCrC, %a, %b, %tCrC)
      cute_nvgpu.wgmma.commit_group
      cute_nvgpu.wgmma.wait_group 0
      cute.pipeline.consumer_release(%pipe, %i)
    }
"""


def _kernel(body: str, cluster: int = 1) -> str:
    clustered = f", gpu.known_cluster_size = array<i32: {cluster}, 1, 1>" if cluster > 1 else ""
    return f"""func.func @gemm(%A: {ROWS}, %B: {ROWS}, %C: {RESULT})
    attributes {{gpu.kernel, "gpu.known_block_size" = array<i32: {THREADS}, 1, 1>{clustered}}} {{
{HEAD}{body}
  func.return
}}"""


# C += A B', each CTA with every gridDim.z-th tile of K
SPLIT_K = _kernel(f"""
  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[64;64]", \
smem = "S<3,3,3> o 0 o (64,64):(64,1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[64;64]", \
smem = "S<3,3,3> o 0 o (64,64):(64,1)"> (%B)
  %tmaC, %mC = cute.make_tma_copy<#cute_nvgpu.tma<reduce, add>, tile = "[64;64]", \
smem = "{TILE_C}"> (%C)
  %gA = cute.local_tile<"(1,_,1)"> (%mA, %tiler, %cta)
  %gB = cute.local_tile<"(_,1,1)"> (%mB, %tiler, %cta)
  %gC = cute.local_tile<"(1,1,_)"> (%C, %tiler, %cta)
  %cC = cute.local_tile<"(1,1,_)"> (%mC, %tiler, %cta)
  %sC = cute.memref.alloc() : {memref("f32", "smem", TILE_C, 1024)}
  %pipe = cute.pipeline.create() : !cute.pipeline<tma, stages = 2, producers = 1, consumers = 4, \
bytes = 16384>
  %tiles_tuple = cute.size<[2]> (%gA)
  %tiles = cute.get_scalars(%tiles_tuple) : !cute.int_tuple<"?">
  %left = arith.subi %tiles, %bz : i32
  %round = arith.addi %left, %parts : i32
  %rounded = arith.subi %round, %c1 : i32
  %mine = arith.divui %rounded, %parts : i32
  %produces = arith.cmpi ult, %t, %c128 : i32
  scf.if %produces {{
    %copies = arith.cmpi eq, %t, %c0 : i32
    scf.if %copies {{
      scf.for %i = %c0 to %mine step %c1 : i32 {{
        %ahead = arith.muli %i, %parts : i32
        %k = arith.addi %ahead, %bz : i32
        %stage = cute.pipeline.stage(%pipe, %i)
        %from = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,?)">
        %to = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,?)">
        %fromA = cute.slice(%gA, %from)
        %fromB = cute.slice(%gB, %from)
        %toA = cute.slice(%sA, %to)
        %toB = cute.slice(%sB, %to)
        cute.pipeline.producer_acquire(%pipe, %i)
        cute.copy(%tmaA, %fromA, %toA) pipeline %pipe[%i]
        cute.copy(%tmaB, %fromB, %toB) pipeline %pipe[%i]
        cute.pipeline.producer_commit(%pipe, %i)
      }}
    }}
  }} else {{{CONSUME}
    %tCsC = cute.tiled.mma.partition C (%mma, %sC, %thread)
    cute.copy(%tCrC, %tCsC)
    cute_nvgpu.fence.proxy.async
    cute_nvgpu.bar.sync 1 threads 128
    %stores = arith.cmpi eq, %t, %c128 : i32
    scf.if %stores {{
      cute.copy(%tmaC, %sC, %cC)
      cute_nvgpu.cp.async.bulk.commit_group
      cute_nvgpu.cp.async.bulk.wait_group 0
    }}
  }}""")

# C = A B', clusters of two CTAs along M that share their tile of B: each loads half of it for both
MULTICAST = _kernel(
    f"""
  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[64;64]", \
smem = "S<3,3,3> o 0 o (64,64):(64,1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load, multicast>, tile = "[32;64]", \
smem = "S<3,3,3> o 0 o (32,64):(64,1)"> (%B)
  %gA = cute.local_tile<"(1,_,1)"> (%mA, %tiler, %cta)
  %gC = cute.local_tile<"(1,1,_)"> (%C, %tiler, %cta)
  %rank = cute_nvgpu.cluster.rank
  %c2 = arith.constant 2 : i32
  %both = arith.constant 3 : i16
  %halves = arith.muli %by, %c2 : i32
  %half = arith.addi %halves, %rank : i32
  %half_tiler = cute.static : !cute.shape<"(32,64)">
  %at = cute.make_coord(%half) : (i32) -> !cute.coord<"(?,_)">
  %gB = cute.local_tile(%mB, %half_tiler, %at)
  %split = cute.static : !cute.shape<"(32,64)">
  %my = cute.make_coord(%rank) : (i32) -> !cute.coord<"(?,0,_)">
  %my_sB = cute.local_tile(%sB, %split, %my)
  %pipe = cute.pipeline.create() : !cute.pipeline<tma, stages = 2, producers = 1, consumers = 4, \
bytes = 16384, ctas = 2>
  %tiles_tuple = cute.size<[2]> (%gA)
  %mine = cute.get_scalars(%tiles_tuple) : !cute.int_tuple<"?">
  %produces = arith.cmpi ult, %t, %c128 : i32
  scf.if %produces {{
    %copies = arith.cmpi eq, %t, %c0 : i32
    scf.if %copies {{
      scf.for %i = %c0 to %mine step %c1 : i32 {{
        %stage = cute.pipeline.stage(%pipe, %i)
        %from = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,?)">
        %to = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,?)">
        %fromA = cute.slice(%gA, %from)
        %fromB = cute.slice(%gB, %from)
        %toA = cute.slice(%sA, %to)
        %toB = cute.slice(%my_sB, %to)
        cute.pipeline.producer_acquire(%pipe, %i)
        cute.copy(%tmaA, %fromA, %toA) pipeline %pipe[%i]
        cute.copy(%tmaB, %fromB, %toB) pipeline %pipe[%i] multicast %both
        cute.pipeline.producer_commit(%pipe, %i)
      }}
    }}
    cute_nvgpu.bar.warp.sync
  }} else {{{CONSUME}
    %shapeC = cute.get_shape(%C)
    %mcC = cute.make_identity_tensor(%shapeC)
    %cC = cute.local_tile<"(1,1,_)"> (%mcC, %tiler, %cta)
    %tCcC = cute.tiled.mma.partition C (%mma, %cC, %thread)
    cute.copy(%tCrC, %tCgC) bounds(%tCcC, %shapeC)
  }}
  // Neither leaves while the other may still reach its memory.
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait""",
    cluster=2,
)
