// C[l] = A[l] B[l]' for every batch l on the tensor cores of sm_90a, at the tile level: TMA copies of
// tensors of three modes.
//
//   A (M,K,L) and B (N,K,L), K contiguous, bf16, strides in multiples of 16 bytes; C (M,N,L), f32;
//   any extents
//
// The warps are those of tile_gemm_sm90.mlir.
//
//   grid = (ceil(M / 128), ceil(N / 256), L), block = (384, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">
!smemA = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,3):(64,1,8192)">
!smemB = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (256,64,3):(64,1,16384)">
!pipe = !cute.pipeline<tma, stages = 3, producers = 1, consumers = 8, bytes = 49152>

func.func @gemm(%A: !cute.memref<bf16, gmem, align<16>, "(?,?,?):(?{i64 div=8},1,?{i64 div=8})">,
                %B: !cute.memref<bf16, gmem, align<16>, "(?,?,?):(?{i64 div=8},1,?{i64 div=8})">,
                %C: !cute.memref<f32, gmem, "(?,?,?):(?{i64},1,?{i64})">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidy = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %bidz = "gpu.block_id"() <{dimension = #gpu<dim z>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %bx = arith.index_cast %bidx : index to i32
  %by = arith.index_cast %bidy : index to i32
  %bz = arith.index_cast %bidz : index to i32

  // The CTA's blocks: coordinates of A and B for TMA, elements of C.
  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[256;64]", smem = "S<3,3,3> o 0 o (256,64):(64,1)"> (%B)
  %tiler = cute.static : !cute.shape<"(128,256,64)">
  %cta = cute.make_coord(%bx, %by) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %batch = cute.make_coord(%bz) : (i32) -> !cute.coord<"(_,_,?)">
  %oneA = cute.slice(%mA, %batch)
  %oneB = cute.slice(%mB, %batch)
  %oneC = cute.slice(%C, %batch)
  %gA = cute.local_tile<"(1,_,1)"> (%oneA, %tiler, %cta)
  %gB = cute.local_tile<"(_,1,1)"> (%oneB, %tiler, %cta)
  %gC = cute.local_tile<"(1,1,_)"> (%oneC, %tiler, %cta)
  %sA = cute.memref.alloc() : !smemA
  %sB = cute.memref.alloc() : !smemB
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

    %shapeC = cute.get_shape(%oneC)
    %mcC = cute.make_identity_tensor(%shapeC)
    %cC = cute.local_tile<"(1,1,_)"> (%mcC, %tiler, %cta)
    %tCcC = cute.tiled.mma.partition C (%mma, %cC, %thread)
    cute.copy(%tCrC, %tCgC) bounds(%tCcC, %shapeC)
  }
  func.return
}
