// C = A B' on the tensor cores of sm_90a, at the tile level, by as many CTAs as there are SMs: each
// computes one tile after the other. Loads of the next tile begin while the last one is still
// multiplied and stored.
//
//   A (M,K) and B (N,K), K contiguous, C (M,N), all bf16 in rows of multiples of 16 bytes; any
//   extents
//
// Three warpgroups: the first one copies, the others compute 64 x 256 of a tile each, round to
// bf16, and lay it down in shared memory, from where TMA stores it.
//
//   grid = (any, 1, 1), at best the SMs of the chip; block = (384, 1, 1)

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x256x16, elem_type = (bf16, bf16, f32), ab_major = (k, k), frag_kind = ss>, atom_layout_MNK = "(2,1,1):(1,0,0)">
!smemA = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,64,3):(64,1,8192)">
!smemB = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (256,64,3):(64,1,16384)">
!smemC = !cute.memref<bf16, smem, align<1024>, "S<3,3,3> o 0 o (128,(64,4)):(64,(1,8192))">
!pipe = !cute.pipeline<tma, stages = 3, producers = 1, consumers = 8, bytes = 49152>

func.func @gemm(%A: !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">,
                %B: !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">,
                %C: !cute.memref<bf16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">)
    attributes {gpu.kernel, "gpu.known_block_size" = array<i32: 384, 1, 1>} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %zero = arith.constant 0.0 : f32
  %tid = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
  %t = arith.index_cast %tid : index to i32

  %tmaA, %mA = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[128;64]", smem = "S<3,3,3> o 0 o (128,64):(64,1)"> (%A)
  %tmaB, %mB = cute.make_tma_copy<#cute_nvgpu.tma<load>, tile = "[256;64]", smem = "S<3,3,3> o 0 o (256,64):(64,1)"> (%B)
  %tmaC, %mC = cute.make_tma_copy<#cute_nvgpu.tma<store>, tile = "[128;256]", smem = "S<3,3,3> o 0 o (128,(64,4)):(64,(1,8192))"> (%C)
  %sA = cute.memref.alloc() : !smemA
  %sB = cute.memref.alloc() : !smemB
  %sC = cute.memref.alloc() : !smemC
  %pipe = cute.pipeline.create() : !pipe
  %tilerA = cute.static : !cute.shape<"(128,64)">
  %tilerB = cute.static : !cute.shape<"(256,64)">
  %tilerC = cute.static : !cute.shape<"(128,256)">

  // The tiles of C, and every how manieth is this CTA's; tiles of K, which count the pipeline's uses.
  %shapeC = cute.get_shape(%C)
  %tiles = cute.ceil_div(%shapeC, %tilerC)
  %first, %end, %step = cute.tile_scheduler.bounds<persistent> (%tiles)
  %some = cute.make_coord(%c0) : (i32) -> !cute.coord<"(?,_)">
  %rowA = cute.local_tile(%mA, %tilerA, %some)
  %k_tiles_tuple = cute.size<[2]> (%rowA)
  %k_tiles = cute.get_scalars(%k_tiles_tuple) : !cute.int_tuple<"?">

  %produces = arith.cmpi ult, %t, %c128 : i32
  scf.if %produces {
    cute_nvgpu.setmaxnreg dec 40
    %copies = arith.cmpi eq, %t, %c0 : i32
    scf.if %copies {
      %last = scf.for %tile = %first to %end step %step iter_args(%uses = %c0) -> (i32) : i32 {
        %coord = cute.tile_scheduler.coord<8> (%tile, %tiles)
        %m, %n = cute.get_scalars(%coord) : !cute.coord<"(?,?)">
        %atA = cute.make_coord(%m) : (i32) -> !cute.coord<"(?,_)">
        %atB = cute.make_coord(%n) : (i32) -> !cute.coord<"(?,_)">
        %gA = cute.local_tile(%mA, %tilerA, %atA)
        %gB = cute.local_tile(%mB, %tilerB, %atB)
        scf.for %k = %c0 to %k_tiles step %c1 : i32 {
          %use = arith.addi %uses, %k : i32
          %stage = cute.pipeline.stage(%pipe, %use)
          %from = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,?)">
          %to = cute.make_coord(%stage) : (i32) -> !cute.coord<"(_,_,?)">
          %fromA = cute.slice(%gA, %from)
          %fromB = cute.slice(%gB, %from)
          %toA = cute.slice(%sA, %to)
          %toB = cute.slice(%sB, %to)
          cute.pipeline.producer_acquire(%pipe, %use)
          cute.copy(%tmaA, %fromA, %toA) pipeline %pipe[%use]
          cute.copy(%tmaB, %fromB, %toB) pipeline %pipe[%use]
          cute.pipeline.producer_commit(%pipe, %use)
        }
        %next = arith.addi %uses, %k_tiles : i32
        scf.yield %next : i32
      }
    }
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
    %rC = cute.make_fragment_like(%tCsC)
    %r2s = cute.make_tiled_copy_C<#cute_nvgpu.copy<stmatrix, bf16, x4>> (%mma)
    %fromC = cute.tiled.copy.retile(%r2s, %rC)
    %toC = cute.tiled.copy.partition_D(%r2s, %sC, %thread)

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
      scf.if %stores {
        cute_nvgpu.cp.async.bulk.wait_group 0 read
      }
      cute_nvgpu.bar.sync 1 threads 256
      cute.copy(%r2s, %fromC, %toC)
      cute_nvgpu.fence.proxy.async in "shared::cta"
      cute_nvgpu.bar.sync 1 threads 256
      scf.if %stores {
        %coord = cute.tile_scheduler.coord<8> (%tile, %tiles)
        %gC = cute.local_tile(%mC, %tilerC, %coord)
        cute.copy(%tmaC, %sC, %gC)
        cute_nvgpu.cp.async.bulk.commit_group
      }
      scf.yield %next : i32
    }
    scf.if %stores {
      cute_nvgpu.cp.async.bulk.wait_group 0
    }
  }
  func.return
}
