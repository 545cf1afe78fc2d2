// C = A B' with a structured-sparse A (2:4) on the tensor cores of sm_90a, at the tile level.
//
//   A (M,K), f16: values (M,K/2), and metadata as tw.sparsify gives them for the atom below, of A in
//   tiles [M / 64, K / 32, 64, 32]; B (N,K), K contiguous, f16; C (M,N), f32; M in multiples of 128,
//   K of 64, any N
//
// Three warpgroups: the first one copies values and B, the others compute 64 x 128 of the tile each,
// and take their metadata, a word for each MMA, from global memory while they wait.
//
//   grid = (M / 128, ceil(N / 128), 1), block = (384, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.sparse_mma<64x128x32, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">
!smemA = !cute.memref<f16, smem, align<1024>, "S<2,3,3> o 0 o (128,32,4):(32,1,4096)">
!smemB = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,4):(64,1,8192)">
!pipe = !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 24576>

func.func @gemm(%A: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">,
                %metadata: !cute.memref<ui2, gmem, align<4>, "?:1">,
                %B: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">,
                %C: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c4096 = arith.constant 4096 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidy = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %bx = arith.index_cast %bidx : index to i32
  %by = arith.index_cast %bidy : index to i32

  // The CTA's blocks: coordinates of A and B for TMA, elements of C.
  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;32]", smem = "S<2,3,3> o 0 o (128,32):(32,1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%B)
  %tiler = cute.static : !cute.shape<"(128,128,64)">
  %stored = cute.static : !cute.shape<"(128,128,32)">
  %cta = cute.make_coord(%bx, %by) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %gA = cute.local_tile<"(1,_,1)"> (%mA, %stored, %cta)
  %gB = cute.local_tile<"(_,1,1)"> (%mB, %tiler, %cta)
  %gC = cute.local_tile<"(1,1,_)"> (%C, %tiler, %cta)

  // (m, index) of the metadata: the words of 128 threads for 64 rows and K = 32.
  %k_tiles_tuple = cute.size<[2]> (%gB)
  %k_tiles = cute.get_scalars(%k_tiles_tuple) : !cute.int_tuple<"?">
  %m_tuple = cute.size<[0]> (%A)
  %m = cute.get_scalars(%m_tuple) : !cute.int_tuple<"?">
  %m_tiles = arith.divui %m, %c64 : i32
  %row = arith.muli %k_tiles, %c4096 : i32
  %k_atoms = arith.addi %k_tiles, %k_tiles : i32
  %shapeE = cute.make_shape(%m_tiles, %k_atoms) : (i32, i32) -> !cute.shape<"((8,2,4,?),(8,2,?))">
  %strideE = cute.make_stride(%row) : (i32) -> !cute.stride<"((64,8,512,?{div=4096}),(1,16,2048))">
  %layoutE = cute.make_layout(%shapeE, %strideE)
  %E = cute.make_view(%metadata, %layoutE)
  %gE = cute.local_tile<"(1,_,1)"> (%E, %stored, %cta)
  %sA = cute.memref.alloc() : !smemA
  %sB = cute.memref.alloc() : !smemB
  %pipe = cute.pipeline.create() : !pipe

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
    %tCgE = cute.tiled.mma.partition E (%mma, %gE, %thread)
    %none = cute.make_coord(%c0) : (i32) -> !cute.coord<"(_,_,_,?)">
    %tCgE0 = cute.slice(%tCgE, %none)
    %tCrE = cute.mma.make_fragment E (%mma, %tCgE0)
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
      %now = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,_,?)">
      %metadata_now = cute.slice(%tCgE, %now)
      cute.copy(%metadata_now, %tCrE)
      cute.pipeline.consumer_wait(%pipe, %k)
      cute_nvgpu.wgmma.fence
      cute.gemm(%mma, %tCrC, %a, %b, %tCrC, E = %tCrE)
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
