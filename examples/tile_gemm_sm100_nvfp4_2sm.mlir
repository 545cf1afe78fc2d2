// C = A B' of nvfp4 on the tensor cores of Blackwell, at the tile level, two SMs together.
//
//   A (M,K) and B (N,K), K contiguous, e2m1, two a byte; SFA and SFB as CUTLASS and cuBLAS lay scale factors out,
//   in blocks of 128 rows x 4 factors, 512 bytes as rows of 256; C (M,N), f32; M and N in multiples
//   of 256, K of 256
//
// The pairs are those of tile_gemm_sm100_2sm.mlir, the factors those of tile_gemm_sm100_nvfp4.mlir: each
// CTA copies those of its 128 rows of A, and those of all 256 columns of C.
//
//   grid = (M / 128, N / 256, 1), block = (192, 1, 1), clusters of (2, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.sm100.mma_bs<256x256x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2, kind = mxf4nvf4, scale_vec = 4, scale_type = f8E4M3FN>>
!smem = !cute.memref<i8, smem, align<1024>, "S<3,4,3> o 0 o ((128,32),1,4,3):((128,1),0,32,16384)">
!smem_sfa = !cute.memref<f8E4M3FN, smem, align<128>, "(8,256,3):(256,1,2048)">
!smem_sfb = !cute.memref<f8E4M3FN, smem, align<128>, "(8,256,2,3):(256,1,2048,4096)">
!tmemC = !cute.memref<f32, tmem, "((128,256),1,1):((65536,1),0,0)">
!tmem_sfa = !cute.memref<f8E4M3FN, tmem, "(((32,4),4),1,4,3):(((262144,4),1),0,16,64)">
!tmem_sfb = !cute.memref<f8E4M3FN, tmem, "(((32,8),4),1,4,3):(((262144,4),1),0,32,128)">
!s2t = !cute.tiled_copy<#cute_nvgpu.copy<tmem_copy, f8E4M3FN, 32x128b warpx4, cta_group = 2>, layout_tv = "(1,((4,4),32)):(0,((128,32),1))", tiler_mn = "[128;4]">
!t2r = !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 32x32b, x32>, layout_tv = "((32,4),32):((1,32),128)", tiler_mn = "[128;32]">
!loads = !cute.pipeline<tma_umma, stages = 3, producers = 1, bytes = 38912, ctas = 2>
!tiles = !cute.pipeline<umma_async, stages = 1, consumers = 4, ctas = 2>

func.func @gemm(%A: !cute.memref<i8, gmem, align<16>, "(?,?):(?{i64 div=16},1)">,
                %B: !cute.memref<i8, gmem, align<16>, "(?,?):(?{i64 div=16},1)">,
                %SFA: !cute.memref<f8E4M3FN, gmem, align<16>, "(?,256):(256,1)">,
                %SFB: !cute.memref<f8E4M3FN, gmem, align<16>, "(?,256):(256,1)">,
                %C: !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64 div=4},1)">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 192, 1, 1>, "gpu.known_cluster_size" = array<i32: 2, 1, 1>} {
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
  %rank = cute_nvgpu.cluster.rank
  %issues = arith.cmpi eq, %rank, %c0 : i32

  // The CTA's blocks: coordinates of its halves of A and B for TMA, elements of C.
  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;128]", smem = "S<3,4,3> o 0 o (128,128):(128,1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;128]", smem = "S<3,4,3> o 0 o (128,128):(128,1)"> (%B)
  %tmaSFA, %mSFA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[8;256]", smem = "(8,256):(256,1)"> (%SFA)
  %tmaSFB, %mSFB = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[8;256]", smem = "(8,256):(256,1)"> (%SFB)
  %tiler = cute.static : !cute.shape<"(128,256,128)">
  %cta = cute.make_coord(%bx, %by) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %gA = cute.local_tile<"(1,_,1)"> (%mA, %tiler, %cta)
  %tilerB = cute.static : !cute.shape<"(128,128,128)">
  %pairs = arith.addi %by, %by : i32
  %half = arith.addi %pairs, %rank : i32
  %ctaB = cute.make_coord(%bx, %half) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %gB = cute.local_tile<"(_,1,1)"> (%mB, %tilerB, %ctaB)
  %gC = cute.local_tile<"(1,1,_)"> (%C, %tiler, %cta)
  %sA = cute.memref.alloc() : !smem
  %sB = cute.memref.alloc() : !smem
  %sSFA = cute.memref.alloc() : !smem_sfa
  %sSFB = cute.memref.alloc() : !smem_sfb
  %acc = cute.memref.alloc() {cta_group = 2 : i64} : !tmemC
  %tSFB = cute.memref.alloc() {cta_group = 2 : i64} : !tmem_sfb
  %tSFA = cute.memref.alloc() {cta_group = 2 : i64} : !tmem_sfa
  %boxes = cute.static : !cute.composed_layout<"S<3,4,3> o 0 o (128,128,3):(128,1,16384)">
  %lanes = cute.static : !cute.layout<"(128,256):(65536,1)">
  %boxesA = cute.make_view(%sA, %boxes)
  %boxesB = cute.make_view(%sB, %boxes)
  %cells = cute.make_view(%acc, %lanes)
  %loads = cute.pipeline.create() : !loads
  %tiles = cute.pipeline.create() : !tiles
  %k_tiles_tuple = cute.size<[2]> (%gA)
  %k_tiles = cute.get_scalars(%k_tiles_tuple) : !cute.int_tuple<"?">

  // Blocks of factors, those along K one after the other: 128 rows of A, twice 128 of B, which are
  // whole in both CTAs.
  %block = cute.static : !cute.shape<"(8,256)">
  %every = cute.static : !cute.coord<"(_,0)">
  %gSFA = cute.local_tile(%mSFA, %block, %every)
  %gSFB = cute.local_tile(%mSFB, %block, %every)
  %firstA = arith.muli %bx, %k_tiles : i32
  %firstB = arith.muli %pairs, %k_tiles : i32

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
        %toA = cute.slice(%boxesA, %to)
        %toB = cute.slice(%boxesB, %to)
        cute.pipeline.producer_acquire(%loads, %k)
        cute.copy(%tmaA, %fromA, %toA) pipeline %loads[%k]
        cute.copy(%tmaB, %fromB, %toB) pipeline %loads[%k]
        %blockA = arith.addi %firstA, %k : i32
        %blockB = arith.addi %firstB, %k : i32
        %otherB = arith.addi %blockB, %k_tiles : i32
        %atA = cute.make_coord(%blockA) : (i32) -> !cute.coord<"(_,_,?)">
        %atB = cute.make_coord(%blockB) : (i32) -> !cute.coord<"(_,_,?)">
        %atB2 = cute.make_coord(%otherB) : (i32) -> !cute.coord<"(_,_,?)">
        %lower = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,0,?)">
        %upper = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,1,?)">
        %fromSFA = cute.slice(%gSFA, %atA)
        %fromSFB = cute.slice(%gSFB, %atB)
        %fromSFB2 = cute.slice(%gSFB, %atB2)
        %toSFA = cute.slice(%sSFA, %to)
        %toSFB = cute.slice(%sSFB, %lower)
        %toSFB2 = cute.slice(%sSFB, %upper)
        cute.copy(%tmaSFA, %fromSFA, %toSFA) pipeline %loads[%k]
        cute.copy(%tmaSFB, %fromSFB, %toSFB) pipeline %loads[%k]
        cute.copy(%tmaSFB, %fromSFB2, %toSFB2) pipeline %loads[%k]
        cute.pipeline.producer_commit(%loads, %k)
      }
      // No CTA ends before all that the other one's commits signal here has come.
      cute.pipeline.producer_tail(%loads, %k_tiles)
    }
  }

  // The first MMAs write the accumulators, the others add to them.
  %multiplies = arith.cmpi eq, %warp, %c5 : i32
  scf.if %multiplies {
    %elected = cute_nvgpu.elect.sync
    scf.if %elected {
      %mma = cute.make_tiled_mma : !mma
      %elementsA = cute.recast<f4E2M1FN> (%sA)
      %elementsB = cute.recast<f4E2M1FN> (%sB)
      %tCrA = cute.mma.make_fragment A (%mma, %elementsA)
      %tCrB = cute.mma.make_fragment B (%mma, %elementsB)
      %tCrC = cute.mma.make_fragment C (%mma, %acc)
      %fSFA = cute.mma.make_fragment SFA (%mma, %tSFA)
      %fSFB = cute.mma.make_fragment SFB (%mma, %tSFB)

      // (row, factor) of the blocks, in shared and in tensor memory.
      %s2t = cute.make_tiled_copy : !s2t
      %thereA = cute.static : !cute.layout<"((32,4),(4,4),3):((16,4),(1,512),2048)">
      %hereA = cute.static : !cute.layout<"((32,4),(4,4),3):((262144,4),(1,16),64)">
      %thereB = cute.static : !cute.layout<"(((32,4),2),(4,4),3):(((16,4),2048),(1,512),4096)">
      %hereB = cute.static : !cute.layout<"(((32,4),2),(4,4),3):(((262144,4),16),(1,32),128)">
      %rowsA = cute.make_view(%sSFA, %thereA)
      %rowsB = cute.make_view(%sSFB, %thereB)
      %cellsA = cute.make_view(%tSFA, %hereA)
      %cellsB = cute.make_view(%tSFB, %hereB)
      %tXsSFA = cute.tiled.copy.partition_S(%s2t, %rowsA, %c0)
      %tXsSFB = cute.tiled.copy.partition_S(%s2t, %rowsB, %c0)
      %tXtSFA = cute.tiled.copy.partition_D(%s2t, %cellsA, %c0)
      %tXtSFB = cute.tiled.copy.partition_D(%s2t, %cellsB, %c0)
      cute.pipeline.producer_acquire(%tiles, %c0)
      scf.for %k = %c0 to %k_tiles step %c1 : i32 {
        %stage = cute.pipeline.stage(%loads, %k)
        %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a = cute.slice(%tCrA, %read)
        %b = cute.slice(%tCrB, %read)
        %adds = arith.cmpi ne, %k, %c0 : i32
        cute.pipeline.consumer_wait(%loads, %k)
        scf.if %issues {
          %nowSFA = cute.slice(%tXsSFA, %read)
          %nowSFB = cute.slice(%tXsSFB, %read)
          %intoSFA = cute.slice(%tXtSFA, %read)
          %intoSFB = cute.slice(%tXtSFB, %read)
          %sfa = cute.slice(%fSFA, %read)
          %sfb = cute.slice(%fSFB, %read)
          cute.copy(%s2t, %nowSFA, %intoSFA)
          cute.copy(%s2t, %nowSFB, %intoSFB)
          cute.gemm(%mma, %tCrC, %a, %b, %tCrC, SFA = %sfa, SFB = %sfb) accumulate %adds
          cute.pipeline.consumer_release(%loads, %k)
        }
      }
      scf.if %issues {
        cute.pipeline.producer_commit(%tiles, %c0)
      }
    }
  }

  %carries = arith.cmpi ult, %warp, %c4 : i32
  scf.if %carries {
    %t2r = cute.make_tiled_copy : !t2r
    %shapeC = cute.get_shape(%C)
    %mcC = cute.make_identity_tensor(%shapeC)
    %cC = cute.local_tile<"(1,1,_)"> (%mcC, %tiler, %cta)
    %tDtC = cute.tiled.copy.partition_S(%t2r, %cells, %t)
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
  cute.memref.dealloc(%tSFA)
  cute.memref.dealloc(%tSFB)
  func.return
}
