// C = A B' of fp8 on the tensor cores of sm_90a, at the tile level, by pairs of CTAs: a cluster of two
// computes one tile of 256 x 256 after the other, each CTA 128 rows of it. Both need the same tile of
// B: each loads one half of it for both, and so reads two thirds of what it would alone.
//
//   A (M,K) and B (N,K), e4m3, K contiguous, C (M,N), bf16, all in rows of multiples of 16 bytes; any
//   extents
//
// Three warpgroups: the first one copies, the others compute 64 x 256 of a tile each, round to
// bf16, and lay it down in shared memory, from where TMA stores it.
//
//   grid = (any even number, 1, 1), at best the SMs of the chip; block = (384, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x256x32, elem_type = (f8E4M3FN, f8E4M3FN, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">
!smemA = !cute.memref<f8E4M3FN, smem, align<1024>, "S<3,4,3> o 0 o (128,128,4):(128,1,16384)">
!smemB = !cute.memref<f8E4M3FN, smem, align<1024>, "S<3,4,3> o 0 o (256,128,4):(128,1,32768)">
!smemC = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,(64,(2,2))):(64,(1,(8192,0)))">
!pipe = !cute.pipeline<tma, stages = 4, producers = 1, consumers = 8, bytes = 49152, ctas = 2>

func.func @gemm(%A: !cute.memref<f8E4M3FN, gmem, align<16>, "(?,?):(?{i64 div=16},1)">,
                %B: !cute.memref<f8E4M3FN, gmem, align<16>, "(?,?):(?{i64 div=16},1)">,
                %C: !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 384, 1, 1>, gpu.known_cluster_size = array<i32: 2, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c128 = arith.constant 128 : i32
  %both = arith.constant 3 : i16
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %tid : index to i32

  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;128]", smem = "S<3,4,3> o 0 o (128,128):(128,1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load, multicast>, tile = "[128;128]", smem = "S<3,4,3> o 0 o (128,128):(128,1)"> (%B)
  %tmaC, %mC = cute.make_tma_copy<#cute_nvgpu.tma<store>, tile = "[128;128]", smem = "S<3,3,3> o 0 o (128,(64,2)):(64,(1,8192))"> (%C)
  %sA = cute.memref.alloc() : !smemA
  %sB = cute.memref.alloc() : !smemB
  %sC = cute.memref.alloc() : !smemC
  %pipe = cute.pipeline.create() : !pipe
  %tilerA = cute.static : !cute.shape<"(128,128)">
  %tilerC = cute.static : !cute.shape<"(128,128)">
  %tiler = cute.static : !cute.shape<"(256,256)">

  // The tiles of C, and every how manieth is this pair's; tiles of K, which count the pipeline's uses.
  %rank = cute_nvgpu.cluster.rank
  %shapeC = cute.get_shape(%C)
  %tiles = cute.ceil_div(%shapeC, %tiler)
  %cta, %end, %ctas = cute.tile_scheduler.bounds<persistent> (%tiles)
  %first = arith.divui %cta, %c2 : i32
  %step = arith.divui %ctas, %c2 : i32
  %some = cute.make_coord(%c0) : (i32) -> !cute.coord<"(?,_)">
  %rowA = cute.local_tile(%mA, %tilerA, %some)
  %k_tiles_tuple = cute.size<[2]> (%rowA)
  %k_tiles = cute.get_scalars(%k_tiles_tuple) : !cute.int_tuple<"?">

  %half_of = cute.make_coord(%rank) : (i32) -> !cute.coord<"(?,0,_)">
  %half_sB = cute.local_tile(%sB, %tilerA, %half_of)

  %produces = arith.cmpi ult, %t, %c128 : i32
  scf.if %produces {
    cute_nvgpu.setmaxnreg dec 40
    %copies = arith.cmpi eq, %t, %c0 : i32
    scf.if %copies {
      %last = scf.for %tile = %first to %end step %step iter_args(%uses = %c0) -> (i32) : i32 {
        %coord = cute.tile_scheduler.coord<8> (%tile, %tiles)
        %pair, %n = cute.get_scalars(%coord) : !cute.coord<"(?,?)">
        %pairs = arith.muli %pair, %c2 : i32
        %m = arith.addi %pairs, %rank : i32
        %halves = arith.muli %n, %c2 : i32
        %half = arith.addi %halves, %rank : i32
        %atA = cute.make_coord(%m) : (i32) -> !cute.coord<"(?,_)">
        %atB = cute.make_coord(%half) : (i32) -> !cute.coord<"(?,_)">
        %gA = cute.local_tile(%mA, %tilerA, %atA)
        %gB = cute.local_tile(%mB, %tilerA, %atB)
        scf.for %k = %c0 to %k_tiles step %c1 : i32 {
          %use = arith.addi %uses, %k : i32
          %stage = cute.pipeline.stage(%pipe, %use)
          %from = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,?)">
          %to = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,?)">
          %fromA = cute.slice(%gA, %from)
          %fromB = cute.slice(%gB, %from)
          %toA = cute.slice(%sA, %to)
          %toB = cute.slice(%half_sB, %to)
          cute.pipeline.producer_acquire(%pipe, %use)
          cute.copy(%tmaA, %fromA, %toA) pipeline %pipe[%use]
          cute.copy(%tmaB, %fromB, %toB) pipeline %pipe[%use] multicast %both
          cute.pipeline.producer_commit(%pipe, %use)
        }
        %next = arith.addi %uses, %k_tiles : i32
        scf.yield %next : i32
      }
    }
    cute_nvgpu.bar.warp.sync
  } else {
    cute_nvgpu.setmaxnreg inc 232
    %thread = arith.subi %t, %c128 : i32
    %stores = arith.cmpi eq, %thread, %c0 : i32
    %mma = cute.make_tiled_mma : !mma
    %tCsA = cute.tiled.mma.partition A (%mma, %sA, %thread)
    %tCsB = cute.tiled.mma.partition B (%mma, %sB, %thread)
    %tCsC = cute.tiled.mma.partition C (%mma, %sC, %thread)
    %tCrA = cute.mma.make_fragment A (%mma, %tCsA)
    %tCrB = cute.mma.make_fragment B (%mma, %tCsB)
    %acc = cute.memref.alloca() : !cute.memref<f32, rmem, "((2,2,32),1,1):((1,2,4),0,0)">
    %rC = cute.memref.alloca() : !cute.memref<bf16, rmem, "((2,2,32),1,1):((1,2,4),0,0)">
    %r2s = cute.make_tiled_copy_C<#cute_nvgpu.copy<stmatrix, bf16, x4>> (%mma)
    %fromC = cute.tiled.copy.retile(%r2s, %rC)
    %toC = cute.tiled.copy.partition_D(%r2s, %sC, %thread)
    %columns = cute.static : !cute.shape<"(64,1,1)">
    %first_half = cute.static : !cute.coord<"(0,0,0)">
    %second_half = cute.static : !cute.coord<"(1,0,0)">
    %sHcoord = cute.static : !cute.coord<"(0,0)">
    %sH = cute.local_tile(%sC, %tilerC, %sHcoord)

    %last = scf.for %tile = %first to %end step %step iter_args(%uses = %c0) -> (i32) : i32 {
      cute.fill(%acc, %zero)
      scf.for %k = %c0 to %k_tiles step %c1 : i32 {
        %use = arith.addi %uses, %k : i32
        %stage = cute.pipeline.stage(%pipe, %use)
        %read = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a = cute.slice(%tCrA, %read)
        %b = cute.slice(%tCrB, %read)
        cute.pipeline.consumer_wait(%pipe, %use)
        cute_nvgpu.wgmma.fence
        cute.gemm(%mma, %acc, %a, %b, %acc)
        cute_nvgpu.wgmma.commit_group
        // One group stays in flight: the stage before it has been read.
        cute_nvgpu.wgmma.wait_group 1
        %follows = arith.cmpi ne, %k, %c0 : i32
        scf.if %follows {
          %before = arith.subi %use, %c1 : i32
          cute.pipeline.consumer_release(%pipe, %before)
        }
      }
      cute_nvgpu.wgmma.wait_group 0
      %next = arith.addi %uses, %k_tiles : i32
      %any = arith.cmpi ne, %k_tiles, %c0 : i32
      scf.if %any {
        %before = arith.subi %next, %c1 : i32
        cute.pipeline.consumer_release(%pipe, %before)
      }

      // The tile before has left shared memory when this one is laid down there.
      %held = cute.memref.load_vec(%acc)
      %rounded = arith.truncf %held : vector<128xf32> to vector<128xbf16>
      cute.memref.store_vec(%rounded, %rC)
      %coord = cute.tile_scheduler.coord<8> (%tile, %tiles)
      %pair, %n = cute.get_scalars(%coord) : !cute.coord<"(?,?)">
      %pairs = arith.muli %pair, %c2 : i32
      %m = arith.addi %pairs, %rank : i32
      %left = arith.muli %n, %c2 : i32
      %right = arith.addi %left, %c1 : i32
      %atLeft = cute.make_coord(%m, %left) : (i32, i32) -> !cute.coord<"(?,?)">
      %atRight = cute.make_coord(%m, %right) : (i32, i32) -> !cute.coord<"(?,?)">
      scf.if %stores {
        cute_nvgpu.cp.async.bulk.wait_group 0 read
      }
      cute_nvgpu.bar.sync 1 threads 256
      %from0 = cute.local_tile(%fromC, %columns, %first_half)
      %to0 = cute.local_tile(%toC, %columns, %first_half)
      cute.copy(%r2s, %from0, %to0)
      cute_nvgpu.fence.proxy.async in "shared::cta"
      cute_nvgpu.bar.sync 1 threads 256
      scf.if %stores {
        %gC0 = cute.local_tile(%mC, %tilerC, %atLeft)
        cute.copy(%tmaC, %sH, %gC0)
        cute_nvgpu.cp.async.bulk.commit_group
      }
      scf.if %stores {
        cute_nvgpu.cp.async.bulk.wait_group 0 read
      }
      cute_nvgpu.bar.sync 1 threads 256
      %from1 = cute.local_tile(%fromC, %columns, %second_half)
      %to1 = cute.local_tile(%toC, %columns, %second_half)
      cute.copy(%r2s, %from1, %to1)
      cute_nvgpu.fence.proxy.async in "shared::cta"
      cute_nvgpu.bar.sync 1 threads 256
      scf.if %stores {
        %gC1 = cute.local_tile(%mC, %tilerC, %atRight)
        cute.copy(%tmaC, %sH, %gC1)
        cute_nvgpu.cp.async.bulk.commit_group
      }
      scf.yield %next : i32
    }
    scf.if %stores {
      cute_nvgpu.cp.async.bulk.wait_group 0
    }
  }
  // Neither leaves while the other may still reach its memory.
  cute_nvgpu.cluster.arrive
  cute_nvgpu.cluster.wait
  func.return
}
