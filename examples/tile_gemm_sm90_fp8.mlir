// C = A B' of fp8 on the tensor cores of sm_90a, at the tile level. They sum up fp8 with fewer bits
// than f32 has: tile_gemm_sm90_fp8_promoted.mlir adds up the sums of each tile of K in f32.
//
//   A (M,K) and B (N,K), K contiguous, e4m3, rows in multiples of 16 bytes; C (M,N), f32; any
//   extents
//
// Three warpgroups: the first one copies, the others compute 64 x 128 of the tile each.
//
//   grid = (ceil(M / 128), ceil(N / 128), 1), block = (384, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x32, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">
!smem = !cute.memref<f8E4M3FN, smem, align<1024>, "S<3,4,3> o 0 o (128,128,4):(128,1,16384)">
!pipe = !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 32768>

func.func @gemm(%A: !cute.memref<f8E4M3FN, gmem, align<16>, "(?,?):(?{i64 div=16},1)">,
                %B: !cute.memref<f8E4M3FN, gmem, align<16>, "(?,?):(?{i64 div=16},1)">,
                %C: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidy = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %bx = arith.index_cast %bidx : index to i32
  %by = arith.index_cast %bidy : index to i32

  // The CTA's blocks: coordinates of A and B for TMA, elements of C.
  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;128]", smem = "S<3,4,3> o 0 o (128,128):(128,1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;128]", smem = "S<3,4,3> o 0 o (128,128):(128,1)"> (%B)
  %tiler = cute.static : !cute.shape<"(128,128,128)">
  %cta = cute.make_coord(%bx, %by) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %gA = cute.local_tile<"(1,_,1)"> (%mA, %tiler, %cta)
  %gB = cute.local_tile<"(_,1,1)"> (%mB, %tiler, %cta)
  %gC = cute.local_tile<"(1,1,_)"> (%C, %tiler, %cta)
  %sA = cute.memref.alloc() : !smem
  %sB = cute.memref.alloc() : !smem
  %pipe = cute.pipeline.create() : !pipe
  %k_tiles_tuple = cute.size<[2]> (%gA)
  %k_tiles = cute.get_scalars(%k_tiles_tuple) : !cute.int_tuple<"?">

  %produces = arith.cmpi ult, %t, %c128 : i32
  scf.if %produces {
    cute_nvgpu.setmaxnreg dec 40
    %copies = arith.cmpi eq, %t, %c0 : i32
    scf.if %copies {
      scf.for %k = %c0 to %k_tiles step %c1 : i32 {
        %stage = cute.pipeline.stage(%pipe, %k)
        %from = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,?)">
        %to = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,?)">
        %fromA = cute.slice(%gA, %from)
        %fromB = cute.slice(%gB, %from)
        %toA = cute.slice(%sA, %to)
        %toB = cute.slice(%sB, %to)
        cute.pipeline.producer_acquire(%pipe, %k)
        cute.copy(%tmaA, %fromA, %toA) pipeline %pipe[%k]
        cute.copy(%tmaB, %fromB, %toB) pipeline %pipe[%k]
        cute.pipeline.producer_commit(%pipe, %k)
      }
    }
  } else {
    cute_nvgpu.setmaxnreg inc 232
    %thread = arith.subi %t, %c128 : i32
    %mma = cute.make_tiled_mma : !mma
    %tCsA = cute.tiled.mma.partition A (%mma, %sA, %thread)
    %tCsB = cute.tiled.mma.partition B (%mma, %sB, %thread)
    %tCgC = cute.tiled.mma.partition C (%mma, %gC, %thread)
    %tCrA = cute.mma.make_fragment A (%mma, %tCsA)
    %tCrB = cute.mma.make_fragment B (%mma, %tCsB)
    %tCrC = cute.mma.make_fragment C (%mma, %tCgC)
    cute.fill(%tCrC, %zero)
    scf.for %k = %c0 to %k_tiles step %c1 : i32 {
      %stage = cute.pipeline.stage(%pipe, %k)
      %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
      %a = cute.slice(%tCrA, %read)
      %b = cute.slice(%tCrB, %read)
      cute.pipeline.consumer_wait(%pipe, %k)
      cute_nvgpu.wgmma.fence
      cute.gemm(%mma, %tCrC, %a, %b, %tCrC)
      cute_nvgpu.wgmma.commit_group
      cute_nvgpu.wgmma.wait_group 0
      cute.pipeline.consumer_release(%pipe, %k)
    }

    %shapeC = cute.get_shape(%C)
    %mcC = cute.make_identity_tensor(%shapeC)
    %cC = cute.local_tile<"(1,1,_)"> (%mcC, %tiler, %cta)
    %tCcC = cute.tiled.mma.partition C (%mma, %cC, %thread)
    cute.copy(%tCrC, %tCgC) bounds(%tCcC, %shapeC)
  }
  func.return
}
