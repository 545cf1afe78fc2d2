// C = A B' without tensor cores, at the tile level: CuTe's sgemm, one fma.rn.f32 a product.
//
//   A (M,K) and B (N,K), M and N contiguous, f32; C (M,N), M contiguous, f32; M and N multiples of
//   4, any K
//
//   grid = (ceil(M / 128), ceil(N / 128), 1), block = (256, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.universal_fma<1x1x1, elem_type = (f32, f32, f32)>, atom_layout_MNK = "(16,16,1):(1,16,0)", permutation_MNK = "[(16,4):(4,1);(16,4):(4,1);_]">
!g2s = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f32, 128, cache = cg>, layout_tv = "((32,8),4):((4,128),1)", tiler_mn = "[128;8]">
!smem = !cute.memref<f32, smem, align<128>, "(128,8,3):(1,128,1024)">
!pipe = !cute.pipeline<cp_async, stages = 3>

func.func @gemm(%A: !cute.memref<f32, gmem, align<16>, "(?{div=4},?):(1,?{div=4})">,
                %B: !cute.memref<f32, gmem, align<16>, "(?{div=4},?):(1,?{div=4})">,
                %C: !cute.memref<f32, gmem, align<16>, "(?{div=4},?{div=4}):(1,?{div=4})">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 256, 1, 1>} {
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
  %tiler = cute.static : !cute.shape<"(128,128,8)">
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

  // What each thread multiplies: 8 rows, 8 columns, 4 neighbours at a time.
  %mma = cute.make_tiled_mma : !mma
  %stage0 = cute.make_coord(%c0) : (i32) -> !cute.coord<"(_,_,?)">
  %sA0 = cute.slice(%sA, %stage0)
  %sB0 = cute.slice(%sB, %stage0)
  %tCsA = cute.tiled.mma.partition A (%mma, %sA, %t)
  %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t)
  %tCsA0 = cute.tiled.mma.partition A (%mma, %sA0, %t)
  %tCsB0 = cute.tiled.mma.partition B (%mma, %sB0, %t)
  %tCgC = cute.tiled.mma.partition C (%mma, %gC, %t)
  %tCcC = cute.tiled.mma.partition C (%mma, %cC, %t)
  %tCrA = cute.mma.make_fragment A (%mma, %tCsA0)
  %tCrB = cute.mma.make_fragment B (%mma, %tCsB0)
  %tCrC = cute.mma.make_fragment C (%mma, %tCgC)

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
    %nowA = cute.slice(%tCsA, %read)
    %nowB = cute.slice(%tCsB, %read)
    cute.copy(%nowA, %tCrA)
    cute.copy(%nowB, %tCrB)
    cute.gemm(%mma, %tCrC, %tCrA, %tCrB, %tCrC)
  }

  cute.copy(%tCrC, %tCgC) bounds(%tCcC, %shapeC)
  func.return
}
