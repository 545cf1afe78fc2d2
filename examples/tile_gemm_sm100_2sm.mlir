// C = A B' on the tensor cores of Blackwell, at the tile level, two SMs together.
//
//   A (M,K) and B (N,K), K contiguous, f16; C (M,N), f32; rows in multiples of 16 bytes; any
//   extents, K > 0
//
// A pair of CTAs computes 256 x 256 of C: each copies its 128 rows of A and of B, and gets its 128
// rows of C in its own tensor memory; the CTA of rank 0 issues the MMAs, which read the shared memory
// of both. The warps are those of tile_gemm_sm100.mlir.
//
//   grid = (2 * ceil(M / 256), ceil(N / 256), 1), block = (192, 1, 1), clusters of (2, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.sm100.mma<256x256x16, elem_type = (f16, f16, f32), ab_major = (k, k), frag_kind = ss, cta_group = 2>>
!smem = !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o ((128,16),1,4,4):((64,1),0,16,8192)">
!tmemC = !cute.memref<f32, tmem, "((128,256),1,1):((65536,1),0,0)">
!t2r = !cute.tiled_copy<#cute_nvgpu.copy<tmem_load, f32, 32x32b, x32>, layout_tv = "((32,4),32):((1,32),128)", tiler_mn = "[128;32]">
!loads = !cute.pipeline<tma_umma, stages = 4, producers = 1, bytes = 32768, ctas = 2>
!tiles = !cute.pipeline<umma_async, stages = 1, consumers = 4, ctas = 2>

func.func @gemm(%A: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">,
                %B: !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">,
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
  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%B)
  %tiler = cute.static : !cute.shape<"(128,256,64)">
  %cta = cute.make_coord(%bx, %by) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %gA = cute.local_tile<"(1,_,1)"> (%mA, %tiler, %cta)
  %tilerB = cute.static : !cute.shape<"(128,128,64)">
  %pairs = arith.addi %by, %by : i32
  %half = arith.addi %pairs, %rank : i32
  %ctaB = cute.make_coord(%bx, %half) : (i32, i32) -> !cute.coord<"(?,?,_)">
  %gB = cute.local_tile<"(_,1,1)"> (%mB, %tilerB, %ctaB)
  %gC = cute.local_tile<"(1,1,_)"> (%C, %tiler, %cta)
  %sA = cute.memref.alloc() : !smem
  %sB = cute.memref.alloc() : !smem
  %acc = cute.memref.alloc() {cta_group = 2 : i64} : !tmemC
  %boxes = cute.static : !cute.composed_layout<"S<3,3,3> o 0 o (128,64,4):(64,1,8192)">
  %lanes = cute.static : !cute.layout<"(128,256):(65536,1)">
  %boxesA = cute.make_view(%sA, %boxes)
  %boxesB = cute.make_view(%sB, %boxes)
  %cells = cute.make_view(%acc, %lanes)
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
        %toA = cute.slice(%boxesA, %to)
        %toB = cute.slice(%boxesB, %to)
        cute.pipeline.producer_acquire(%loads, %k)
        cute.copy(%tmaA, %fromA, %toA) pipeline %loads[%k]
        cute.copy(%tmaB, %fromB, %toB) pipeline %loads[%k]
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
      %tCrA = cute.mma.make_fragment A (%mma, %sA)
      %tCrB = cute.mma.make_fragment B (%mma, %sB)
      %tCrC = cute.mma.make_fragment C (%mma, %acc)
      cute.pipeline.producer_acquire(%tiles, %c0)
      scf.for %k = %c0 to %k_tiles step %c1 : i32 {
        %stage = cute.pipeline.stage(%loads, %k)
        %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a = cute.slice(%tCrA, %read)
        %b = cute.slice(%tCrB, %read)
        %adds = arith.cmpi ne, %k, %c0 : i32
        cute.pipeline.consumer_wait(%loads, %k)
        scf.if %issues {
          cute.gemm(%mma, %tCrC, %a, %b, %tCrC) accumulate %adds
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
  func.return
}
