// C = A B' with a structured-sparse A (2:4) on the tensor cores of sm_80, at the tile level.
//
//   A (M,K), f16: values and metadata as tw.sparsify gives them for the atom below, of A in tiles
//   [M / 16, K / 32, 16, 32]; B (N,K), K contiguous, f16; C (M,N), f32; M in multiples of 128, K of
//   32, any N
//
// What a thread holds of a tile of A is 16 bytes in a row, and of its metadata a word: they go to
// registers at once. B goes through shared memory.
//
//   grid = (M / 128, ceil(N / 128), 1), block = (128, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.sparse_mma<16x8x32, elem_type = (f16, f16, f32), ordered_metadata>, atom_layout_MNK = "(2,2,1):(1,2,0)">
!g2s = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f16, 128, cache = cg>, layout_tv = "((4,32),8):((256,1),32)", tiler_mn = "[32;32]">
!smem = !cute.memref<f16, smem, align<128>, "S<2,3,3> o 0 o (128,32,3):(32,1,4096)">
!pipe = !cute.pipeline<cp_async, stages = 3>

func.func @gemm(%values: !cute.memref<f16, gmem, align<16>, "?:1">,
                %metadata: !cute.memref<ui2, gmem, align<4>, "?:1">,
                %B: !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">,
                %C: !cute.memref<f32, gmem, "(?,?):(?,1)">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %c256 = arith.constant 256 : i32
  %c512 = arith.constant 512 : i32
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidy = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %bx = arith.index_cast %bidx : index to i32
  %by = arith.index_cast %bidy : index to i32

  // The CTA's blocks of B and C, and of their coordinates.
  %tiler = cute.static : !cute.shape<"(128,128,32)">
  %cta = cute.make_coord(%bx, %by) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %shapeB = cute.get_shape(%B)
  %shapeC = cute.get_shape(%C)
  %mcB = cute.make_identity_tensor(%shapeB)
  %mcC = cute.make_identity_tensor(%shapeC)
  %gB = cute.local_tile<"(_,1,1)"> (%B, %tiler, %cta)
  %gC = cute.local_tile<"(1,1,_)"> (%C, %tiler, %cta)
  %cB = cute.local_tile<"(_,1,1)"> (%mcB, %tiler, %cta)
  %cC = cute.local_tile<"(1,1,_)"> (%mcC, %tiler, %cta)
  %sB = cute.memref.alloc() : !smem

  // (m, stored k) and (m, index) of the tiles' words: 256 values and 512 indices each.
  %k_tiles_tuple = cute.size<[2]> (%gB)
  %k_tiles = cute.get_scalars(%k_tiles_tuple) : !cute.int_tuple<"?">
  %m_tuple = cute.size<[0]> (%C)
  %m = cute.get_scalars(%m_tuple) : !cute.int_tuple<"?">
  %m_tiles = arith.divui %m, %c16 : i32
  %row_of_values = arith.muli %k_tiles, %c256 : i32
  %row_of_indices = arith.muli %k_tiles, %c512 : i32
  %shapeA = cute.make_shape(%m_tiles, %k_tiles) : (i32, i32) -> !cute.shape<"((8,2,?),(2,4,2,?))">
  %strideA = cute.make_stride(%row_of_values) : (i32) -> !cute.stride<"((32,2,?{div=256}),(1,8,4,256))">
  %layoutA = cute.make_layout(%shapeA, %strideA)
  %A = cute.make_view(%values, %layoutA)
  %shapeE = cute.make_shape(%m_tiles, %k_tiles) : (i32, i32) -> !cute.shape<"((8,2,?),(8,2,?))">
  %strideE = cute.make_stride(%row_of_indices) : (i32) -> !cute.stride<"((64,8,?{div=512}),(1,16,512))">
  %layoutE = cute.make_layout(%shapeE, %strideE)
  %E = cute.make_view(%metadata, %layoutE)
  %stored = cute.static : !cute.shape<"(128,128,16)">
  %gA = cute.local_tile<"(1,_,1)"> (%A, %stored, %cta)
  %gE = cute.local_tile<"(1,_,1)"> (%E, %stored, %cta)

  // Global to shared memory.
  %g2s = cute.make_tiled_copy : !g2s
  %tBgB = cute.tiled.copy.partition_S(%g2s, %gB, %t)
  %tBcB = cute.tiled.copy.partition_S(%g2s, %cB, %t)
  %tBsB = cute.tiled.copy.partition_D(%g2s, %sB, %t)

  // What the MMAs read.
  %mma = cute.make_tiled_mma : !mma
  %none = cute.make_coord(%c0) : (i32) -> !cute.coord<"(_,_,?)">
  %gA0 = cute.slice(%gA, %none)
  %gE0 = cute.slice(%gE, %none)
  %sB0 = cute.slice(%sB, %none)
  %tCgA = cute.tiled.mma.partition A (%mma, %gA, %t)
  %tCgE = cute.tiled.mma.partition E (%mma, %gE, %t)
  %tCgA0 = cute.tiled.mma.partition A (%mma, %gA0, %t)
  %tCgE0 = cute.tiled.mma.partition E (%mma, %gE0, %t)
  %tCsB = cute.tiled.mma.partition B (%mma, %sB0, %t)
  %tCgC = cute.tiled.mma.partition C (%mma, %gC, %t)
  %tCcC = cute.tiled.mma.partition C (%mma, %cC, %t)
  %tCrA = cute.mma.make_fragment A (%mma, %tCgA0)
  %tCrE = cute.mma.make_fragment E (%mma, %tCgE0)
  %tCrB = cute.mma.make_fragment B (%mma, %tCsB)
  %tCrC = cute.mma.make_fragment C (%mma, %tCgC)
  %s2rB = cute.make_tiled_copy_B<#cute_nvgpu.copy<ldmatrix, f16, x4>> (%mma)
  %tXsB = cute.tiled.copy.partition_S(%s2rB, %sB, %t)
  %tXrB = cute.tiled.copy.retile(%s2rB, %tCrB)

  // Fill all stages but the last.
  %pipe = cute.pipeline.create() : !pipe
  cute.fill(%tCrC, %zero)
  scf.for %i = %c0 to %c2 step %c1 : i32 {
    %tile = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,_,?)">
    %srcB = cute.slice(%tBgB, %tile)
    %atB = cute.slice(%tBcB, %tile)
    %dstB = cute.slice(%tBsB, %tile)
    cute.copy(%g2s, %srcB, %dstB) bounds(%atB, %shapeB)
    cute.pipeline.producer_commit(%pipe, %i)
  }

  scf.for %k = %c0 to %k_tiles step %c1 : i32 {
    %now = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,_,?)">
    %values_now = cute.slice(%tCgA, %now)
    %metadata_now = cute.slice(%tCgE, %now)
    cute.copy(%values_now, %tCrA)
    cute.copy(%metadata_now, %tCrE)
    cute.pipeline.consumer_wait(%pipe, %k)

    // The stage that was read before this one takes the tile after the next.
    %next = arith.addi %k, %c2 : i32
    %from = cute.make_coord(%next) : (i32) -> !cute.coord<"(_,_,_,?)">
    %free = cute.pipeline.stage(%pipe, %next)
    %to = cute.make_coord(%free) : (i32) -> !cute.coord<"(_,_,_,?)">
    %srcB = cute.slice(%tBgB, %from)
    %atB = cute.slice(%tBcB, %from)
    %dstB = cute.slice(%tBsB, %to)
    cute.copy(%g2s, %srcB, %dstB) bounds(%atB, %shapeB)
    cute.pipeline.producer_commit(%pipe, %next)

    %stage = cute.pipeline.stage(%pipe, %k)
    %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
    %nowB = cute.slice(%tXsB, %read)
    cute.copy(%s2rB, %nowB, %tXrB)
    cute.gemm(%mma, %tCrC, %tCrA, %tCrB, %tCrC, E = %tCrE)
  }

  cute.copy(%tCrC, %tCgC) bounds(%tCcC, %shapeC)
  func.return
}
