// C = A B' on the tensor cores of Blackwell, at the tile level: accumulators in tensor memory, warps
// of their own for the copies and for the MMAs.
//
//   A (M,K) and B (N,K), K contiguous, f16; C (M,N), f32; rows in multiples of 16 bytes; any
//   extents, K > 0
//
// Six warps: one thread of warp 4 copies, one of warp 5 multiplies 128 x 256 of C, and warps 0 to 3
// carry that from tensor memory through registers to C, 32 columns at a time.
//
//   grid = (ceil(M / 128), ceil(N / 256), 1), block = (192, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.sm100.mma<128x256x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>>
!smemA = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">
!smemB = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (256,64,4):(64,1,16384)">
!tmemC = !cute.memref<f32, tmem, "(128,256):(65536,1)">
!t2r = !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 32x32b, x32>, layout_tv = "((32,4),32):((1,32),128)", tiler_mn = "[128;32]">
!loads = !cute.pipeline<tma_umma, stages = 4, producers = 1, bytes = 49152>
!tiles = !cute.pipeline<umma_async, stages = 1, consumers = 4>

func.func @gemm(%A: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">,
                %B: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">,
                %C: !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64 div=4},1)">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 192, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c5 = arith.constant 5 : i32
  %c8 = arith.constant 8 : i32
  %c32 = arith.constant 32 : i32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidy = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %bx = arith.index_cast %bidx : index to i32
  %by = arith.index_cast %bidy : index to i32
  %warp = arith.divui %t, %c32 : i32

  // The CTA's blocks: coordinates of A and B for TMA, elements of C.
  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[256;64]", smem = "S<3,3,3> o 0 o (256,64):(64,1)"> (%B)
  %tiler = cute.static : !cute.shape<"(128,256,64)">
  %cta = cute.make_coord(%bx, %by) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %gA = cute.local_tile<"(1,_,1)"> (%mA, %tiler, %cta)
  %gB = cute.local_tile<"(_,1,1)"> (%mB, %tiler, %cta)
  %gC = cute.local_tile<"(1,1,_)"> (%C, %tiler, %cta)
  %sA = cute.memref.alloc() : !smemA
  %sB = cute.memref.alloc() : !smemB
  %acc = cute.memref.alloc() : !tmemC
  %loads = cute.pipeline.create() : !loads
  %tiles = cute.pipeline.create() : !tiles
  %k_tiles_tuple = cute.size<[2]> (%gA)
  %k_tiles = cute.get_scalars(%k_tiles_tuple) : !cute.int_tuple<"?">

  %copies = arith.cmpi eq, %warp, %c4 : i32
  scf.if %copies {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      scf.for %k = %c0 to %k_tiles step %c1 : i32 {
        %stage = cute.pipeline.stage(%loads, %k)
        %from = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,?)">
        %to = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,?)">
        %fromA = cute.slice(%gA, %from)
        %fromB = cute.slice(%gB, %from)
        %toA = cute.slice(%sA, %to)
        %toB = cute.slice(%sB, %to)
        cute.pipeline.producer_acquire(%loads, %k)
        cute.copy(%tmaA, %fromA, %toA) pipeline %loads[%k]
        cute.copy(%tmaB, %fromB, %toB) pipeline %loads[%k]
        cute.pipeline.producer_commit(%loads, %k)
      }
    }
  }

  // The first MMAs write the accumulators, the others add to them.
  %multiplies = arith.cmpi eq, %warp, %c5 : i32
  scf.if %multiplies {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      %mma = cute.make_tiled_mma : !mma
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %c0)
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %c0)
      %tCtC = cute.tiled.mma.partition C (%mma, %acc, %c0)
      %tCrA = cute.mma.make_fragment A (%mma, %tCsA)
      %tCrB = cute.mma.make_fragment B (%mma, %tCsB)
      %tCrC = cute.mma.make_fragment C (%mma, %tCtC)
      cute.pipeline.producer_acquire(%tiles, %c0)
      scf.for %k = %c0 to %k_tiles step %c1 : i32 {
        %stage = cute.pipeline.stage(%loads, %k)
        %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a = cute.slice(%tCrA, %read)
        %b = cute.slice(%tCrB, %read)
        %adds = arith.cmpi ne, %k, %c0 : i32
        cute.pipeline.consumer_wait(%loads, %k)
        cute.gemm(%mma, %tCrC, %a, %b, %tCrC) accumulate %adds
        cute.pipeline.consumer_release(%loads, %k)
      }
      cute.pipeline.producer_commit(%tiles, %c0)
    }
  }

  %carries = arith.cmpi ult, %warp, %c4 : i32
  scf.if %carries {
    %t2r = cute.make_tiled_copy : !t2r
    %shapeC = cute.get_shape(%C)
    %mcC = cute.make_identity_tensor(%shapeC)
    %cC = cute.local_tile<"(1,1,_)"> (%mcC, %tiler, %cta)
    %tDtC = cute.tiled.copy.partition_S(%t2r, %acc, %t)
    %tDgC = cute.tiled.copy.partition_D(%t2r, %gC, %t)
    %tDcC = cute.tiled.copy.partition_D(%t2r, %cC, %t)
    cute.pipeline.consumer_wait(%tiles, %c0)
    scf.for %i = %c0 to %c8 step %c1 : i32 {
      %at = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,?)">
      %from = cute.slice(%tDtC, %at)
      %to = cute.slice(%tDgC, %at)
      %where = cute.slice(%tDcC, %at)
      %held = cute.make_fragment_like(%to)
      cute.copy(%t2r, %from, %held)
      cute.copy(%held, %to) bounds(%where, %shapeC)
    }
    cute.pipeline.consumer_release(%tiles, %c0)
  }
  cute.memref.dealloc(%acc)
  func.return
}
