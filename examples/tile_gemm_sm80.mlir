// C = A B' on the tensor cores of sm_80, at the tile level: CuTe's sgemm_sm80.
//
//   A (M,K) and B (N,K), K contiguous, f16; C (M,N), f32; any extents, K and rows in multiples of
//   16 bytes
//
//   grid = (ceil(M / 128), ceil(N / 128), 1), block = (128, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32;32;16]">
!g2s = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32;32]">
!smem = !cute.memref<f16, smem, align<128>, "S<2,3,3> o 0 o (128,32,3):(32,1,4096)">
!pipe = !cute.pipeline<cp_async, stages = 3>

func.func @gemm(%A: !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">,
                %B: !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">,
                %C: !cute.memref<f32, gmem, "(?,?):(?,1)">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidy = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %bx = arith.index_cast %bidx : index to i32
  %by = arith.index_cast %bidy : index to i32

  // The CTA's blocks of the matrices, and of their coordinates.
  %tiler = cute.static : !cute.shape<"(128,128,32)">
  %cta = cute.make_coord(%bx, %by) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %shapeA = cute.get_shape(%A)
  %shapeB = cute.get_shape(%B)
  %shapeC = cute.get_shape(%C)
  %mcA = cute.make_identity_tensor(%shapeA)
  %mcB = cute.make_identity_tensor(%shapeB)
  %mcC = cute.make_identity_tensor(%shapeC)
  %gA = cute.local_tile<"(1,_,1)"> (%A, %tiler, %cta)
  %gB = cute.local_tile<"(_,1,1)"> (%B, %tiler, %cta)
  %gC = cute.local_tile<"(1,1,_)"> (%C, %tiler, %cta)
  %cA = cute.local_tile<"(1,_,1)"> (%mcA, %tiler, %cta)
  %cB = cute.local_tile<"(_,1,1)"> (%mcB, %tiler, %cta)
  %cC = cute.local_tile<"(1,1,_)"> (%mcC, %tiler, %cta)
  %sA = cute.memref.alloc() : !smem
  %sB = cute.memref.alloc() : !smem

  // Global to shared memory.
  %g2s = cute.make_tiled_copy : !g2s
  %tAgA = cute.tiled.copy.partition_S(%g2s, %gA, %t)
  %tBgB = cute.tiled.copy.partition_S(%g2s, %gB, %t)
  %tAcA = cute.tiled.copy.partition_S(%g2s, %cA, %t)
  %tBcB = cute.tiled.copy.partition_S(%g2s, %cB, %t)
  %tAsA = cute.tiled.copy.partition_D(%g2s, %sA, %t)
  %tBsB = cute.tiled.copy.partition_D(%g2s, %sB, %t)

  // Shared memory to registers, and what the MMAs read of them.
  %mma = cute.make_tiled_mma : !mma
  %stage0 = cute.make_coord(%c0) : (i32) -> !cute.coord<"(_,_,?)">
  %sA0 = cute.slice(%sA, %stage0)
  %sB0 = cute.slice(%sB, %stage0)
  %tCsA = cute.tiled.mma.partition A (%mma, %sA0, %t)
  %tCsB = cute.tiled.mma.partition B (%mma, %sB0, %t)
  %tCgC = cute.tiled.mma.partition C (%mma, %gC, %t)
  %tCcC = cute.tiled.mma.partition C (%mma, %cC, %t)
  %tCrA = cute.mma.make_fragment A (%mma, %tCsA)
  %tCrB = cute.mma.make_fragment B (%mma, %tCsB)
  %tCrC = cute.mma.make_fragment C (%mma, %tCgC)
  %s2rA = cute.make_tiled_copy_A<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
  %s2rB = cute.make_tiled_copy_B<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
  %tXsA = cute.tiled.copy.partition_S(%s2rA, %sA, %t)
  %tXsB = cute.tiled.copy.partition_S(%s2rB, %sB, %t)
  %tXrA = cute.tiled.copy.retile(%s2rA, %tCrA)
  %tXrB = cute.tiled.copy.retile(%s2rB, %tCrB)

  // Fill all stages but the last.
  %pipe = cute.pipeline.create() : !pipe
  %k_tiles_tuple = cute.size<[3]> (%tAgA)
  %k_tiles = cute.get_scalars(%k_tiles_tuple) : !cute.int_tuple<"?">
  cute.fill(%tCrC, %zero)
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    %tile = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,_,?)">
    %srcA = cute.slice(%tAgA, %tile)
    %srcB = cute.slice(%tBgB, %tile)
    %atA = cute.slice(%tAcA, %tile)
    %atB = cute.slice(%tBcB, %tile)
    %dstA = cute.slice(%tAsA, %tile)
    %dstB = cute.slice(%tBsB, %tile)
    cute.copy(%g2s, %srcA, %dstA) bounds(%atA, %shapeA)
    cute.copy(%g2s, %srcB, %dstB) bounds(%atB, %shapeB)
    cute.pipeline.producer_commit(%pipe, %i)
  }

  scf.for %k = %c0 to %k_tiles step %c1 : i32 {
    cute.pipeline.consumer_wait(%pipe, %k)

    // The stage that was read before this one takes the tile after the next.
    %next = arith.addi %k, %c2 : i32
    %from = cute.make_coord(%next) : (i32) -> !cute.coord<"(_,_,_,?)">
    %free = cute.pipeline.stage(%pipe, %next)
    %to = cute.make_coord(%free) : (i32) -> !cute.coord<"(_,_,_,?)">
    %srcA = cute.slice(%tAgA, %from)
    %srcB = cute.slice(%tBgB, %from)
    %atA = cute.slice(%tAcA, %from)
    %atB = cute.slice(%tBcB, %from)
    %dstA = cute.slice(%tAsA, %to)
    %dstB = cute.slice(%tBsB, %to)
    cute.copy(%g2s, %srcA, %dstA) bounds(%atA, %shapeA)
    cute.copy(%g2s, %srcB, %dstB) bounds(%atB, %shapeB)
    cute.pipeline.producer_commit(%pipe, %next)

    %stage = cute.pipeline.stage(%pipe, %k)
    %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
    %nowA = cute.slice(%tXsA, %read)
    %nowB = cute.slice(%tXsB, %read)
    cute.copy(%s2rA, %nowA, %tXrA)
    cute.copy(%s2rB, %nowB, %tXrB)
    cute.gemm(%mma, %tCrC, %tCrA, %tCrB, %tCrC)
  }

  cute.copy(%tCrC, %tCgC) bounds(%tCcC, %shapeC)
  func.return
}
