// C = A B' of nvfp4 on the tensor cores of sm_120a, at the tile level: blocks of 16 e2m1 share a
// scale factor, e4m3 without a sign.
//
//   A (M,K) and B (N,K), K contiguous, two e2m1 a byte; SFA and SFB as CUTLASS and cuBLAS lay scale
//   factors out, in blocks of 128 rows x 4 factors; C (M,N), f32; M, N and K in multiples of 128
//
// tw.quantize gives elements and factors. A block of factors is 512 bytes, those of row r and block
// s of K at 16 (r % 32) + 4 (r / 32) + s; blocks follow each other along K first.
//
//   grid = (M / 128, N / 128, 1), block = (128, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.SM120.mma_bs<16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN>, atom_layout_MNK = "(2,2,1):(1,2,0)", permutation_MNK = "[32;32;_]">
!g2s = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f4E2M1FN, 128, cache = cg>, layout_tv = "((4,32),32):((1024,1),32)", tiler_mn = "[32;128]">
!g2s_sf = !cute.tiled_copy<#cute_nvgpu.copy<cp_async, f8E4M3FN, 128, cache = cg>, layout_tv = "(64,16):(16,1)", tiler_mn = "[1024]">
!smem = !cute.memref<f4E2M1FN, smem, align<128>, "S<2,5,3> o 0 o (128,128,3):(128,1,16384)">
!line_sf = !cute.memref<f8E4M3FN, smem, align<128>, "(1024,3):(1,1024)">
!pipe = !cute.pipeline<cp_async, stages = 3>

func.func @gemm(%A: !cute.memref<f4E2M1FN, gmem, align<16>, "(?{div=128},?{div=128}):(?{div=128},1)">,
                %B: !cute.memref<f4E2M1FN, gmem, align<16>, "(?{div=128},?{div=128}):(?{div=128},1)">,
                %SFA: !cute.memref<f8E4M3FN, gmem, align<16>, "?:1">,
                %SFB: !cute.memref<f8E4M3FN, gmem, align<16>, "?:1">,
                %C: !cute.memref<f32, gmem, align<16>, "(?{div=128},?{div=128}):(?{div=128},1)">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 128, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %c1024 = arith.constant 1024 : i32
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidx = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %bidy = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %t = arith.index_cast %tid : index to i32
  %bx = arith.index_cast %bidx : index to i32
  %by = arith.index_cast %bidy : index to i32

  // The CTA's blocks.
  %tiler = cute.static : !cute.shape<"(128,128,128)">
  %cta = cute.make_coord(%bx, %by) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %gA = cute.local_tile<"(1,_,1)"> (%A, %tiler, %cta)
  %gB = cute.local_tile<"(_,1,1)"> (%B, %tiler, %cta)
  %gC = cute.local_tile<"(1,1,_)"> (%C, %tiler, %cta)
  %sA = cute.memref.alloc() : !smem
  %sB = cute.memref.alloc() : !smem
  %lineA = cute.memref.alloc() : !line_sf
  %lineB = cute.memref.alloc() : !line_sf
  %k_tiles_tuple = cute.size<[2]> (%gA)
  %k_tiles = cute.get_scalars(%k_tiles_tuple) : !cute.int_tuple<"?">

  // Factors of a CTA's rows for a tile of K are two blocks side by side.
  %row_of_blocks = arith.muli %k_tiles, %c1024 : i32
  %shape_sf = cute.make_shape(%k_tiles, %k_tiles) : (i32, i32) -> !cute.shape<"(1024,?,?)">
  %stride_sf = cute.make_stride(%row_of_blocks) : (i32) -> !cute.stride<"(1,1024,?{div=1024})">
  %layout_sf = cute.make_layout(%shape_sf, %stride_sf)
  %blocksA = cute.make_view(%SFA, %layout_sf)
  %blocksB = cute.make_view(%SFB, %layout_sf)
  %rowA = cute.make_coord(%bx) : (i32) -> !cute.coord<"(_,_,?)">
  %rowB = cute.make_coord(%by) : (i32) -> !cute.coord<"(_,_,?)">
  %gSFA = cute.slice(%blocksA, %rowA)
  %gSFB = cute.slice(%blocksB, %rowB)

  // Global to shared memory.
  %g2s = cute.make_tiled_copy : !g2s
  %tAgA = cute.tiled.copy.partition_S(%g2s, %gA, %t)
  %tBgB = cute.tiled.copy.partition_S(%g2s, %gB, %t)
  %tAsA = cute.tiled.copy.partition_D(%g2s, %sA, %t)
  %tBsB = cute.tiled.copy.partition_D(%g2s, %sB, %t)
  %g2s_sf = cute.make_tiled_copy : !g2s_sf
  %part = arith.remui %t, %c64 : i32
  %tAgS = cute.tiled.copy.partition_S(%g2s_sf, %gSFA, %part)
  %tBgS = cute.tiled.copy.partition_S(%g2s_sf, %gSFB, %part)
  %tAsS = cute.tiled.copy.partition_D(%g2s_sf, %lineA, %part)
  %tBsS = cute.tiled.copy.partition_D(%g2s_sf, %lineB, %part)
  %of_a = arith.cmpi ult, %t, %c64 : i32

  // Shared memory to registers, and what the MMAs read of them.
  %factors = cute.static : !cute.layout<"((32,4),(4,2),3):((16,4),(1,512),1024)">
  %sSFA = cute.make_view(%lineA, %factors)
  %sSFB = cute.make_view(%lineB, %factors)
  %mma = cute.make_tiled_mma : !mma
  %stage0 = cute.make_coord(%c0) : (i32) -> !cute.coord<"(_,_,?)">
  %sA0 = cute.slice(%sA, %stage0)
  %sB0 = cute.slice(%sB, %stage0)
  %sSFA0 = cute.slice(%sSFA, %stage0)
  %sSFB0 = cute.slice(%sSFB, %stage0)
  %tCsA = cute.tiled.mma.partition A (%mma, %sA0, %t)
  %tCsB = cute.tiled.mma.partition B (%mma, %sB0, %t)
  %tCsSFA0 = cute.tiled.mma.partition SFA (%mma, %sSFA0, %t)
  %tCsSFB0 = cute.tiled.mma.partition SFB (%mma, %sSFB0, %t)
  %tCsSFA = cute.tiled.mma.partition SFA (%mma, %sSFA, %t)
  %tCsSFB = cute.tiled.mma.partition SFB (%mma, %sSFB, %t)
  %tCgC = cute.tiled.mma.partition C (%mma, %gC, %t)
  %tCrA = cute.mma.make_fragment A (%mma, %tCsA)
  %tCrB = cute.mma.make_fragment B (%mma, %tCsB)
  %tCrC = cute.mma.make_fragment C (%mma, %tCgC)
  %tCrSFA = cute.mma.make_fragment SFA (%mma, %tCsSFA0)
  %tCrSFB = cute.mma.make_fragment SFB (%mma, %tCsSFB0)
  %s2rA = cute.make_tiled_copy_A<#cute_nvgpu.copy<ldmatrix, f4E2M1FN, x4>> (%mma)
  %s2rB = cute.make_tiled_copy_B<#cute_nvgpu.copy<ldmatrix, f4E2M1FN, x4>> (%mma)
  %tXsA = cute.tiled.copy.partition_S(%s2rA, %sA, %t)
  %tXsB = cute.tiled.copy.partition_S(%s2rB, %sB, %t)
  %tXrA = cute.tiled.copy.retile(%s2rA, %tCrA)
  %tXrB = cute.tiled.copy.retile(%s2rB, %tCrB)

  // Each iteration copies a tile and multiplies the one of two iterations before.
  %pipe = cute.pipeline.create() : !pipe
  %last = arith.addi %k_tiles, %c2 : i32
  cute.fill(%tCrC, %zero)
  scf.for %i = %c0 to %last step %c1 : i32 {
    %before = arith.cmpi uge, %i, %c2 : i32
    %k = arith.subi %i, %c2 : i32
    scf.if %before {
      cute.pipeline.consumer_wait(%pipe, %k)
    }
    %copies = arith.cmpi ult, %i, %k_tiles : i32
    scf.if %copies {
      %free = cute.pipeline.stage(%pipe, %i)
      %from = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,_,?)">
      %to = cute.make_coord(%free) : (i32) -> !cute.coord<"(_,_,_,?)">
      %srcA = cute.slice(%tAgA, %from)
      %srcB = cute.slice(%tBgB, %from)
      %dstA = cute.slice(%tAsA, %to)
      %dstB = cute.slice(%tBsB, %to)
      cute.copy(%g2s, %srcA, %dstA)
      cute.copy(%g2s, %srcB, %dstB)
      %from_sf = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,?)">
      %to_sf = cute.make_coord(%free) : (i32) -> !cute.coord<"(_,_,?)">
      scf.if %of_a {
        %src = cute.slice(%tAgS, %from_sf)
        %dst = cute.slice(%tAsS, %to_sf)
        cute.copy(%g2s_sf, %src, %dst)
      } else {
        %src = cute.slice(%tBgS, %from_sf)
        %dst = cute.slice(%tBsS, %to_sf)
        cute.copy(%g2s_sf, %src, %dst)
      }
    }
    cute.pipeline.producer_commit(%pipe, %i)

    scf.if %before {
      %stage = cute.pipeline.stage(%pipe, %k)
      %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
      %nowA = cute.slice(%tXsA, %read)
      %nowB = cute.slice(%tXsB, %read)
      %nowSFA = cute.slice(%tCsSFA, %read)
      %nowSFB = cute.slice(%tCsSFB, %read)
      cute.copy(%s2rA, %nowA, %tXrA)
      cute.copy(%s2rB, %nowB, %tXrB)
      cute.copy(%nowSFA, %tCrSFA)
      cute.copy(%nowSFB, %tCrSFB)
      cute.gemm(%mma, %tCrC, %tCrA, %tCrB, %tCrC, SFA = %tCrSFA, SFB = %tCrSFB)
    }
  }

  cute.copy(%tCrC, %tCgC)
  func.return
}
